//! Rule 21: extended instructions of GLSL.std.450 and OpenCL.std, as tables by name.

use super::context::{VerifyContext, VerifyResult, ensure, make_fault};
use super::rules::VerifyRule;
use super::signature_table::{OperandRelation, TypeConstraint};
use super::signatures::{self, get_components};
use crate::grammar::{ExtInstSet, Op, SpirvVersion};
use crate::ir::InstRef;
use std::sync::OnceLock;

type ExtendedRow = (
    &'static [&'static str],
    TypeConstraint,
    &'static [OperandRelation],
);

use OperandRelation::{IntSame, Result as R};

const GLSL: &[ExtendedRow] = &[
    (
        &[
            "Round",
            "RoundEven",
            "Trunc",
            "FAbs",
            "FSign",
            "Floor",
            "Ceil",
            "Fract",
            "Sqrt",
            "InverseSqrt",
            "Normalize",
        ],
        TypeConstraint::Float,
        &[R],
    ),
    (
        &["FMin", "FMax", "Step", "Reflect", "NMin", "NMax"],
        TypeConstraint::Float,
        &[R, R],
    ),
    (
        &[
            "FClamp",
            "FMix",
            "SmoothStep",
            "Fma",
            "FaceForward",
            "NClamp",
        ],
        TypeConstraint::Float,
        &[R, R, R],
    ),
    (
        &[
            "Radians", "Degrees", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh",
            "Tanh", "Asinh", "Acosh", "Atanh", "Exp", "Log", "Exp2", "Log2",
        ],
        TypeConstraint::ShortFloat,
        &[R],
    ),
    (&["Atan2", "Pow"], TypeConstraint::ShortFloat, &[R, R]),
    (&["SAbs", "SSign"], TypeConstraint::Int, &[IntSame]),
    (
        &["UMin", "SMin", "UMax", "SMax"],
        TypeConstraint::Int,
        &[IntSame, IntSame],
    ),
    (
        &["UClamp", "SClamp"],
        TypeConstraint::Int,
        &[IntSame, IntSame, IntSame],
    ),
    (
        &["FindILsb", "FindSMsb", "FindUMsb"],
        TypeConstraint::Int,
        &[OperandRelation::IntCount],
    ),
];

const OPENCL: &[ExtendedRow] = &[
    (
        &[
            "acos",
            "acosh",
            "acospi",
            "asin",
            "asinh",
            "asinpi",
            "atan",
            "atanh",
            "atanpi",
            "cbrt",
            "ceil",
            "cos",
            "cosh",
            "cospi",
            "erfc",
            "erf",
            "exp",
            "exp2",
            "exp10",
            "expm1",
            "fabs",
            "floor",
            "log",
            "log2",
            "log10",
            "log1p",
            "logb",
            "rint",
            "round",
            "rsqrt",
            "sin",
            "sinh",
            "sinpi",
            "sqrt",
            "tan",
            "tanh",
            "tanpi",
            "tgamma",
            "trunc",
            "half_cos",
            "half_exp",
            "half_exp2",
            "half_exp10",
            "half_log",
            "half_log2",
            "half_log10",
            "half_recip",
            "half_rsqrt",
            "half_sin",
            "half_sqrt",
            "half_tan",
            "native_cos",
            "native_exp",
            "native_exp2",
            "native_exp10",
            "native_log",
            "native_log2",
            "native_log10",
            "native_recip",
            "native_rsqrt",
            "native_sin",
            "native_sqrt",
            "native_tan",
            "degrees",
            "radians",
            "sign",
            "lgamma",
        ],
        TypeConstraint::Float,
        &[R],
    ),
    (
        &[
            "atan2",
            "atan2pi",
            "copysign",
            "fdim",
            "fmax",
            "fmin",
            "fmod",
            "maxmag",
            "minmag",
            "hypot",
            "nextafter",
            "pow",
            "powr",
            "remainder",
            "half_divide",
            "half_powr",
            "native_divide",
            "native_powr",
            "fmax_common",
            "fmin_common",
            "step",
        ],
        TypeConstraint::Float,
        &[R, R],
    ),
    (
        &["fma", "mad", "fclamp", "mix", "smoothstep"],
        TypeConstraint::Float,
        &[R, R, R],
    ),
    (
        &["ldexp", "pown", "rootn"],
        TypeConstraint::Float,
        &[R, OperandRelation::Int32Count],
    ),
    (
        &["s_abs", "clz", "ctz", "popcount", "u_abs"],
        TypeConstraint::Int,
        &[R],
    ),
    (
        &[
            "s_abs_diff",
            "u_abs_diff",
            "s_add_sat",
            "u_add_sat",
            "s_hadd",
            "u_hadd",
            "s_rhadd",
            "u_rhadd",
            "s_max",
            "u_max",
            "s_min",
            "u_min",
            "s_mul_hi",
            "u_mul_hi",
            "rotate",
            "s_sub_sat",
            "u_sub_sat",
        ],
        TypeConstraint::Int,
        &[R, R],
    ),
    (
        &[
            "s_clamp",
            "u_clamp",
            "s_mad_hi",
            "u_mad_hi",
            "s_mad_sat",
            "u_mad_sat",
        ],
        TypeConstraint::Int,
        &[R, R, R],
    ),
    (&["s_mul24", "u_mul24"], TypeConstraint::Int32, &[R, R]),
    (&["s_mad24", "u_mad24"], TypeConstraint::Int32, &[R, R, R]),
    (
        &["normalize", "fast_normalize"],
        TypeConstraint::Float,
        &[R],
    ),
    (&["bitselect"], TypeConstraint::Number, &[R, R, R]),
    (
        &["ilogb"],
        TypeConstraint::Int32,
        &[OperandRelation::FloatCount],
    ),
    (&["nan"], TypeConstraint::Float, &[IntSame]),
    (&["select"], TypeConstraint::Number, &[R, R, IntSame]),
];

/// `DebugLine` of the shaders' debug information.
const DEBUG_LINE: u32 = crate::grammar::shader_debug_info_100::DEBUG_LINE;

/// Rows of a set's instructions by number.
struct ExtendedRowIndex(Vec<Option<(TypeConstraint, &'static [OperandRelation])>>);

impl ExtendedRowIndex {
    fn from_rows(set: &str, rows: &[ExtendedRow]) -> Self {
        let Some(set) = ExtInstSet::by_name(set) else {
            return ExtendedRowIndex(Vec::new());
        };
        let last = set.instructions.last().map_or(0, |i| i.number);
        let mut index = vec![None; last as usize + 1];
        for (names, is, likes) in rows {
            for name in *names {
                if let Some(row) = set.instruction_by_name(name) {
                    index[row.number as usize] = Some((*is, *likes));
                }
            }
        }
        ExtendedRowIndex(index)
    }
}

fn find_row_index(set: &str) -> Option<&'static ExtendedRowIndex> {
    static GLSL_INDEX: OnceLock<ExtendedRowIndex> = OnceLock::new();
    static OPENCL_INDEX: OnceLock<ExtendedRowIndex> = OnceLock::new();
    match set {
        "GLSL.std.450" => Some(GLSL_INDEX.get_or_init(|| ExtendedRowIndex::from_rows(set, GLSL))),
        "OpenCL.std" => Some(OPENCL_INDEX.get_or_init(|| ExtendedRowIndex::from_rows(set, OPENCL))),
        _ => None,
    }
}

/// Checks an import: non-semantic sets need their extension.
pub(super) fn verify_import(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let name = inst.string_operand(0);
    ensure(
        VerifyRule::Versions,
        !name.starts_with("NonSemantic.")
            || cx.version >= SpirvVersion::new(1, 6)
            || cx.has_extension("SPV_KHR_non_semantic_info"),
        || format!("{name} needs the extension SPV_KHR_non_semantic_info"),
    )?;
    let known = ExtInstSet::by_name(&name).is_some()
        || name.starts_with("NonSemantic.")
        || name.starts_with("SPV_");
    ensure(VerifyRule::ExtendedInstructions, known, || {
        format!("no set of extended instructions is named {name}")
    })
}

/// Checks an extended instruction.
pub(super) fn verify_extended_inst(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let Some(set) = cx.ids.ext_inst_set(inst) else {
        return Ok(());
    };
    let number = inst.operand_word(1);
    let result = inst.words()[0];
    if super::ids::is_debug(cx, inst) {
        if set.name == "NonSemantic.Shader.DebugInfo.100"
            && let (DEBUG_LINE, Some(line)) = (number, inst.operands().get(3))
        {
            ensure(
                VerifyRule::ExtendedInstructions,
                cx.constant_value(*line) != Some(0),
                || "lines are counted from 1".to_owned(),
            )?;
        }
        return ensure(
            VerifyRule::ExtendedInstructions,
            cx.defining_op(result) == Op::TypeVoid || !set.name.contains("DebugInfo"),
            || "the result is not void".to_owned(),
        );
    }
    let operands = &inst.operands()[2..];
    let Some(rows) = find_row_index(set.name) else {
        return Ok(());
    };
    let mut types = [0; 4];
    for (ty, operand) in types.iter_mut().zip(operands) {
        *ty = cx.type_of(*operand);
    }
    let types = &types[..operands.len().min(4)];
    let name = set.instruction_by_number(number).map_or("", |i| i.name);
    if let Some(Some((is, likes))) = rows.0.get(number as usize) {
        return signatures::verify_operand_types(
            cx,
            VerifyRule::ExtendedInstructions,
            result,
            *is,
            likes,
            types,
        )
        .map_err(|f| make_fault(f.rule, format!("{name}: {}", f.message)));
    }
    verify_special_operands(cx, name, result, types)
        .map_err(|f| make_fault(f.rule, format!("{name}: {}", f.message)))
}

/// Instructions whose operands differ in shape.
fn verify_special_operands(
    cx: &VerifyContext<'_>,
    name: &str,
    result: u32,
    types: &[u32],
) -> VerifyResult {
    let own = get_components(cx, result);
    let ty = |n: usize| types.get(n).copied().unwrap_or(0);
    let of = |n: usize| get_components(cx, ty(n));
    let say = |holds: bool, what: &str| {
        ensure(VerifyRule::ExtendedInstructions, holds, || what.to_owned())
    };
    let float = |n: usize| of(n).part.op == Op::TypeFloat;
    let floats = own.part.op == Op::TypeFloat;
    match name {
        "Length" | "length" | "fast_length" => say(
            floats && own.count == 0 && float(0) && get_component_type(cx, ty(0)) == result,
            "the result is not the component of the operand's floats",
        ),
        "Distance" | "distance" | "fast_distance" => say(
            floats
                && own.count == 0
                && float(0)
                && get_component_type(cx, ty(0)) == result
                && ty(0) == ty(1),
            "the result is not the component of the operands' floats",
        ),
        "Cross" => say(
            floats && own.count == 3 && ty(0) == result && ty(1) == result,
            "result and operands are not vectors of three floats",
        ),
        "cross" => say(
            floats && matches!(own.count, 3 | 4) && ty(0) == result && ty(1) == result,
            "result and operands are not vectors of three or four floats",
        ),
        "Refract" => say(
            floats && ty(0) == result && ty(1) == result && float(2) && of(2).count == 0,
            "result and operands are not floats, and a scalar",
        ),
        "Determinant" | "MatrixInverse" => verify_matrix_function(cx, name, result, ty(0)),
        "Modf" | "fract" | "modf" | "sincos" | "Frexp" | "frexp" | "lgamma_r" | "remquo" => {
            with_pointer(cx, name, result, types)
        }
        "Ldexp" => say(
            floats && ty(0) == result && of(1).part.op == Op::TypeInt && of(1).count == own.count,
            "the operands are not floats of the result's type and as many integers",
        ),
        "ModfStruct" | "FrexpStruct" => verify_struct_result(cx, name, result, ty(0)),
        "InterpolateAtCentroid" | "InterpolateAtSample" | "InterpolateAtOffset" => {
            let pointer = cx.type_shape(ty(0));
            let input = crate::grammar::enumerants::StorageClass::Input;
            say(
                floats
                    && own.part.width == 32
                    && pointer.op == Op::TypePointer
                    && pointer.class == input
                    && pointer.part == result,
                "the operand is no pointer to an input of the result's floats",
            )
        }
        _ => verify_packing(cx, name, result, ty(0)),
    }
}

/// Functions that pack components into a word, and unpack them.
fn verify_packing(cx: &VerifyContext<'_>, name: &str, result: u32, operand: u32) -> VerifyResult {
    let own = get_components(cx, result);
    let from = get_components(cx, operand);
    let say = |holds: bool, what: &str| {
        ensure(VerifyRule::ExtendedInstructions, holds, || what.to_owned())
    };
    match name {
        "PackSnorm4x8" | "PackUnorm4x8" => verify_packed(cx, result, operand, 4, 32),
        "PackSnorm2x16" | "PackUnorm2x16" | "PackHalf2x16" => {
            verify_packed(cx, result, operand, 2, 32)
        }
        "UnpackSnorm4x8" | "UnpackUnorm4x8" => verify_packed(cx, operand, result, 4, 32),
        "UnpackSnorm2x16" | "UnpackUnorm2x16" | "UnpackHalf2x16" => {
            verify_packed(cx, operand, result, 2, 32)
        }
        "PackDouble2x32" => say(
            own.part.op == Op::TypeFloat
                && own.part.width == 64
                && own.count == 0
                && from.part.op == Op::TypeInt
                && from.count == 2,
            "two integers of 32 bits do not make the result",
        ),
        "UnpackDouble2x32" => say(
            own.part.op == Op::TypeInt
                && own.count == 2
                && from.part.op == Op::TypeFloat
                && from.part.width == 64
                && from.count == 0,
            "the operand is no float of 64 bits, or the result no two integers",
        ),
        _ => Ok(()),
    }
}

/// Functions of square matrices.
fn verify_matrix_function(
    cx: &VerifyContext<'_>,
    name: &str,
    result: u32,
    operand: u32,
) -> VerifyResult {
    let say = |holds: bool, what: &str| {
        ensure(VerifyRule::ExtendedInstructions, holds, || what.to_owned())
    };
    match name {
        "Determinant" => {
            let matrix = cx.type_shape(operand);
            let column = cx.type_shape(matrix.part);
            say(
                matrix.op == Op::TypeMatrix
                    && matrix.count == column.count
                    && column.part == result,
                "the result is not the component of a square matrix",
            )
        }
        "MatrixInverse" => {
            let matrix = cx.type_shape(result);
            say(
                matrix.op == Op::TypeMatrix
                    && matrix.count == cx.type_shape(matrix.part).count
                    && operand == result,
                "result and operand are not the same square matrix",
            )
        }
        _ => Ok(()),
    }
}

/// Functions with a second result, after a pointer.
fn with_pointer(cx: &VerifyContext<'_>, name: &str, result: u32, types: &[u32]) -> VerifyResult {
    let own = get_components(cx, result);
    let floats = own.part.op == Op::TypeFloat;
    let ty = |n: usize| types.get(n).copied().unwrap_or(0);
    let say = |holds: bool, what: &str| {
        ensure(VerifyRule::ExtendedInstructions, holds, || what.to_owned())
    };
    match name {
        "Modf" | "fract" | "modf" | "sincos" => {
            let pointer = cx.type_shape(ty(1));
            say(
                floats
                    && ty(0) == result
                    && super::memory::is_pointer(pointer.op)
                    && (pointer.op != Op::TypePointer || pointer.part == result),
                "result, operand and pointee are not of the same floats",
            )
        }
        "Frexp" | "frexp" | "lgamma_r" => {
            let pointer = cx.type_shape(ty(1));
            let pointee = get_components(cx, pointer.part);
            say(
                floats
                    && ty(0) == result
                    && super::memory::is_pointer(pointer.op)
                    && (pointer.op != Op::TypePointer
                        || pointee.part.op == Op::TypeInt
                            && pointee.part.width == 32
                            && pointee.count == own.count),
                "the pointer does not point to as many integers of 32 bits",
            )
        }
        "remquo" => {
            let pointee = get_components(cx, cx.type_shape(ty(2)).part);
            say(
                floats
                    && ty(0) == result
                    && ty(1) == result
                    && pointee.part.op == Op::TypeInt
                    && pointee.count == own.count,
                "the pointer does not point to as many integers",
            )
        }
        _ => Ok(()),
    }
}

fn get_component_type(cx: &VerifyContext<'_>, ty: u32) -> u32 {
    match cx.defining_op(ty) {
        Op::TypeVector => cx.type_shape(ty).part,
        _ => ty,
    }
}

/// An integer of as many bits as the components of a vector of floats of 32 bits have together.
fn verify_packed(
    cx: &VerifyContext<'_>,
    int: u32,
    floats: u32,
    count: u32,
    width: u32,
) -> VerifyResult {
    let (i, f) = (get_components(cx, int), get_components(cx, floats));
    ensure(
        VerifyRule::ExtendedInstructions,
        i.part.op == Op::TypeInt
            && i.count == 0
            && i.part.width == width
            && f.part.op == Op::TypeFloat
            && f.part.width == 32
            && f.count == count,
        || format!("not an integer of {width} bits and {count} floats of 32 bits"),
    )
}

fn verify_struct_result(
    cx: &VerifyContext<'_>,
    name: &str,
    result: u32,
    operand: u32,
) -> VerifyResult {
    let &[first, second] = cx.struct_members(result) else {
        return Err(make_fault(
            VerifyRule::ExtendedInstructions,
            "the result is no structure of two members",
        ));
    };
    let (a, b) = (get_components(cx, first), get_components(cx, second));
    let fits = if name == "ModfStruct" {
        first == second
    } else {
        b.part.op == Op::TypeInt && b.part.width == 32 && a.count == b.count
    };
    ensure(
        VerifyRule::ExtendedInstructions,
        a.part.op == Op::TypeFloat && fits && operand == first,
        || "the result's members do not fit the operand".to_owned(),
    )
}

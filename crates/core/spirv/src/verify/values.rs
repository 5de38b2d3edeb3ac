//! Rule 10 where a row cannot say it: selection and products; composites and casts stand by themselves.

use super::context::{TypeContents, VerifyContext, VerifyResult, ensure, fault};
use super::rules::Rule;
use super::signatures::{self, parts};
use super::{casts, composites, cooperative};
use crate::grammar::enumerants::Capability;
use crate::grammar::{InstructionClass, Op};
use crate::ir::InstRef;

/// Checks an instruction that computes a value from values.
pub(super) fn check(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    if changes_kind(inst.op()) {
        small_composite(cx, inst.words()[0])?;
        small_composite(cx, cx.ty(inst.word(0)))?;
    }
    if let Some((_, is, likes)) = signatures::row(inst.op()) {
        if cx.is_shader {
            bits_in_vulkan(cx, inst)?;
        }
        let operands = inst.operands();
        let mut types = [0; 4];
        for (ty, operand) in types.iter_mut().zip(operands) {
            *ty = cx.ty(*operand);
        }
        let types = &types[..operands.len().min(4)];
        shapes_of_matrices(cx, inst, types)?;
        return signatures::types(cx, Rule::Values, inst.words()[0], *is, likes, types);
    }
    match inst.op() {
        Op::Undef => ensure(Rule::Values, cx.op(inst.words()[0]) != Op::TypeVoid, || {
            "void has no values".to_owned()
        }),
        Op::Select => select(cx, inst),
        Op::Dot => dot(cx, inst),
        Op::MatrixTimesScalar
        | Op::VectorTimesMatrix
        | Op::MatrixTimesVector
        | Op::MatrixTimesMatrix
        | Op::OuterProduct
        | Op::Transpose => matrices(cx, inst),
        Op::IAddCarry | Op::ISubBorrow | Op::UMulExtended | Op::SMulExtended => extended(cx, inst),
        Op::VectorExtractDynamic => composites::extract_dynamic(cx, inst),
        Op::VectorInsertDynamic => composites::insert_dynamic(cx, inst),
        Op::VectorShuffle => composites::shuffle(cx, inst),
        Op::CompositeConstruct => composites::construct(cx, inst),
        Op::CompositeConstructReplicateEXT => {
            composites::replicated(cx, Rule::Values, inst.words()[0], inst.word(0))
        }
        Op::CompositeExtract => {
            let found = composites::walk(cx, cx.ty(inst.word(0)), &inst.operands()[1..])?;
            same(cx, "the part", found, inst.words()[0])
        }
        Op::CompositeInsert => {
            let result = inst.words()[0];
            same(cx, "the composite", cx.ty(inst.word(1)), result)?;
            let found = composites::walk(cx, result, &inst.operands()[2..])?;
            same(cx, "the object", cx.ty(inst.word(0)), found)
        }
        Op::CopyObject => same(cx, "the operand", cx.ty(inst.word(0)), inst.words()[0]),
        Op::CopyLogical => composites::logical(cx, inst),
        Op::Bitcast => casts::bitcast(cx, inst),
        Op::ConvertPtrToU | Op::ConvertUToPtr => casts::pointer_and_int(cx, inst),
        Op::PtrCastToGeneric | Op::GenericCastToPtr | Op::GenericCastToPtrExplicit => {
            casts::generic(cx, inst)
        }
        Op::SDot | Op::UDot | Op::SUDot | Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat => {
            integer_dot(cx, inst)
        }
        _ => Ok(()),
    }
}

/// Matrices that an instruction takes component by component have the shape of its result.
fn shapes_of_matrices(cx: &VerifyContext<'_>, inst: InstRef<'_>, types: &[u32]) -> VerifyResult {
    let result = inst.words()[0];
    let converts = inst.op().info().map(|i| i.class) == Some(InstructionClass::Conversion);
    let matrices = types
        .iter()
        .filter(|ty| cooperative::is_matrix(cx.op(**ty)));
    for ty in matrices {
        cooperative::same_shape(cx, result, *ty, converts)?;
    }
    Ok(())
}

/// Checks an operation on constants by the row of its opcode.
pub(super) fn operation(
    cx: &VerifyContext<'_>,
    op: Op,
    result: u32,
    operands: &[u32],
) -> VerifyResult {
    let Some((_, is, likes)) = signatures::row(op) else {
        return Ok(());
    };
    let types: Vec<u32> = operands.iter().take(4).map(|id| cx.ty(*id)).collect();
    signatures::types(cx, Rule::Values, result, *is, likes, &types)
}

/// Vulkan has the operations on bit fields for integers of 32 bits.
fn bits_in_vulkan(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let base = match inst.op() {
        Op::BitFieldInsert
        | Op::BitFieldSExtract
        | Op::BitFieldUExtract
        | Op::BitReverse
        | Op::BitCount => inst.word(0),
        _ => return Ok(()),
    };
    let part = parts(cx, cx.ty(base)).part;
    ensure(
        Rule::Values,
        !cx.is_vulkan() || part.op != Op::TypeInt || part.width == 32,
        || "the base is not of 32 bits, as Vulkan demands".to_owned(),
    )
}

pub(super) fn same(cx: &VerifyContext<'_>, what: &str, found: u32, wanted: u32) -> VerifyResult {
    ensure(Rule::Values, found == wanted, || {
        format!(
            "{what} is of {}, not of {}",
            cx.describe(found),
            cx.describe(wanted)
        )
    })
}

fn select(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let result = inst.words()[0];
    let shape = cx.shape(result);
    let condition = parts(cx, cx.ty(inst.word(0)));
    let count = match shape.op {
        Op::TypePointer | Op::TypeUntypedPointerKHR => {
            ensure(
                Rule::Values,
                !cx.is_logical() || cx.variable_pointers() || cx.is_kernel,
                || "pointers are selected with variable pointers only".to_owned(),
            )?;
            0
        }
        Op::TypeVector => shape.count,
        Op::TypeBool | Op::TypeInt | Op::TypeFloat => 0,
        _ if cx.version >= crate::grammar::SpirvVersion::new(1, 4) => {
            ensure(
                Rule::Values,
                matches!(
                    shape.op,
                    Op::TypeMatrix
                        | Op::TypeArray
                        | Op::TypeStruct
                        | Op::TypeCooperativeMatrixKHR
                        | Op::TypeCooperativeMatrixNV
                        | Op::TypeVectorIdEXT
                ),
                || format!("{} cannot be selected", cx.describe(result)),
            )?;
            0
        }
        _ => {
            let message = format!("{} is neither a scalar nor a vector", cx.describe(result));
            return Err(fault(Rule::Values, message));
        }
    };
    ensure(
        Rule::Values,
        condition.part.op == Op::TypeBool
            && (condition.count == count
                || condition.count == 0 && cx.version >= crate::grammar::SpirvVersion::new(1, 4)),
        || "the condition is not as many booleans as the result has components".to_owned(),
    )?;
    same(cx, "object 1", cx.ty(inst.word(1)), result)?;
    same(cx, "object 2", cx.ty(inst.word(2)), result)
}

fn dot(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let result = inst.words()[0];
    ensure(Rule::Values, cx.op(result) == Op::TypeFloat, || {
        "the result is no float".to_owned()
    })?;
    let first = cx.ty(inst.word(0));
    ensure(
        Rule::Values,
        matches!(cx.op(first), Op::TypeVector | Op::TypeVectorIdEXT)
            && cx.shape(first).part == result,
        || format!("vector 1 is no vector of {}", cx.describe(result)),
    )?;
    same(cx, "vector 2", cx.ty(inst.word(1)), first)
}

/// Components of a column and number of columns.
fn matrix(cx: &VerifyContext<'_>, ty: u32) -> Option<(u32, u32, u32)> {
    let shape = cx.shape(ty);
    if shape.op != Op::TypeMatrix {
        return None;
    }
    let column = cx.shape(shape.part);
    Some((column.part, column.count, shape.count))
}

pub(super) fn vector(cx: &VerifyContext<'_>, ty: u32) -> Option<(u32, u32)> {
    let shape = cx.shape(ty);
    (shape.op == Op::TypeVector).then_some((shape.part, shape.count))
}

fn matrices(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let result = inst.words()[0];
    let left = cx.ty(inst.word(0));
    let right = inst.operands().get(1).map_or(0, |id| cx.ty(*id));
    if cooperative::is_matrix(cx.op(result)) {
        let fits =
            inst.op() == Op::MatrixTimesScalar && left == result && right == cx.shape(result).part;
        return ensure(Rule::CooperativeMatrices, fits, || {
            "a cooperative matrix is scaled by a number like its components".to_owned()
        });
    }
    let fits = match inst.op() {
        Op::MatrixTimesScalar => {
            matrix(cx, result).is_some_and(|(part, ..)| left == result && right == part)
        }
        // The vector has as many components as a column, the result as many as there are columns.
        Op::VectorTimesMatrix => {
            matches!((vector(cx, result), vector(cx, left), matrix(cx, right)),
                (Some((p, n)), Some((q, m)), Some((s, rows, columns)))
                    if p == q && q == s && m == rows && n == columns)
        }
        Op::MatrixTimesVector => {
            matches!((vector(cx, result), matrix(cx, left), vector(cx, right)),
                (Some((p, n)), Some((q, rows, columns)), Some((s, m)))
                    if p == q && q == s && n == rows && m == columns)
        }
        Op::MatrixTimesMatrix => {
            matches!((matrix(cx, result), matrix(cx, left), matrix(cx, right)),
                (Some((p, n, m)), Some((q, rows, inner)), Some((s, other, columns)))
                    if p == q && q == s && n == rows && m == columns && inner == other)
        }
        Op::OuterProduct => {
            matches!((matrix(cx, result), vector(cx, left), vector(cx, right)),
                (Some((p, n, m)), Some((q, rows)), Some((s, columns)))
                    if p == q && q == s && n == rows && m == columns)
        }
        _ => {
            matches!((matrix(cx, result), matrix(cx, left)),
                (Some((p, n, m)), Some((q, rows, columns)))
                    if p == q && n == columns && m == rows)
        }
    };
    ensure(Rule::Values, fits, || {
        format!(
            "{} and {} do not make {}",
            cx.describe(left),
            cx.describe(right),
            cx.describe(result)
        )
    })
}

fn extended(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let members = cx.members(inst.words()[0]);
    let &[low, high] = members else {
        return Err(fault(
            Rule::Values,
            "the result is no structure of two members",
        ));
    };
    let part = parts(cx, low).part;
    ensure(Rule::Values, low == high && part.op == Op::TypeInt, || {
        "the result's members are not the same integers".to_owned()
    })?;
    ensure(
        Rule::Values,
        inst.op() == Op::SMulExtended || !part.signed,
        || "the result's members are signed".to_owned(),
    )?;
    same(cx, "operand 1", cx.ty(inst.word(0)), low)?;
    same(cx, "operand 2", cx.ty(inst.word(1)), low)
}

/// Whether a conversion changes more than the width: what can only be stored can be made wider or narrower.
fn changes_kind(op: Op) -> bool {
    matches!(
        op,
        Op::ConvertFToU | Op::ConvertFToS | Op::ConvertSToF | Op::ConvertUToF | Op::Bitcast
    )
}

/// Numbers of 8 or 16 bits are no parts or constants, and are converted to no other kind, where such numbers are
/// only stored.
pub(super) fn small_composite(cx: &VerifyContext<'_>, ty: u32) -> VerifyResult {
    ensure(
        Rule::Values,
        !cx.is_shader || !is_storage_only(cx, ty),
        || "numbers of this width can be stored and converted only".to_owned(),
    )
}

/// Whether a scalar or vector's component is of a width that the module can only store.
pub(super) fn is_storage_only(cx: &VerifyContext<'_>, ty: u32) -> bool {
    let part = parts(cx, ty).part;
    match (part.op, part.width) {
        (Op::TypeInt, 8) => !cx.has(Capability::Int8),
        (Op::TypeInt, 16) => {
            !cx.has(Capability::Int16) && !cx.has_extension("SPV_AMD_gpu_shader_int16")
        }
        (Op::TypeFloat, 16) => {
            !cx.has(Capability::Float16)
                && !cx.has_extension("SPV_AMD_gpu_shader_half_float")
                && !cx.has(Capability::BFloat16TypeKHR)
        }
        _ => false,
    }
}

/// What composites hold that the module can only store.
pub(super) fn storage_only(cx: &VerifyContext<'_>) -> TypeContents {
    let mut found = TypeContents::NOTHING;
    if !cx.has(Capability::Int8) {
        found = found.and(TypeContents::INT8);
    }
    if !cx.has(Capability::Int16) && !cx.has_extension("SPV_AMD_gpu_shader_int16") {
        found = found.and(TypeContents::INT16);
    }
    if !cx.has(Capability::Float16) && !cx.has_extension("SPV_AMD_gpu_shader_half_float") {
        found = found.and(TypeContents::FLOAT16);
    }
    found
}

fn integer_dot(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let result = cx.shape(inst.words()[0]);
    let (a, b) = (cx.ty(inst.word(0)), cx.ty(inst.word(1)));
    let (x, y) = (parts(cx, a), parts(cx, b));
    ensure(Rule::Values, result.op == Op::TypeInt, || {
        "the result is no integer".to_owned()
    })?;
    ensure(
        Rule::Values,
        !matches!(inst.op(), Op::UDot | Op::UDotAccSat)
            || !result.signed && !x.part.signed && !y.part.signed,
        || "result and operands are not all without sign".to_owned(),
    )?;
    ensure(
        Rule::Values,
        x.part.op == Op::TypeInt && y.part.op == Op::TypeInt && x.count == y.count,
        || "the operands are not as many integers".to_owned(),
    )?;
    ensure(Rule::Values, x.part.width == y.part.width, || {
        "the operands are of different widths".to_owned()
    })?;
    let saturates = matches!(inst.op(), Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat);
    if saturates {
        same(cx, "the accumulator", cx.ty(inst.word(2)), inst.words()[0])?;
    }
    let packed = inst.operands().len() > 2 + usize::from(saturates);
    if x.count == 0 {
        ensure(Rule::Values, packed && x.part.width == 32, || {
            "scalars are of 32 bits and say how vectors are packed in them".to_owned()
        })?;
        let taken = cx.has(Capability::DotProductInput4x8BitPacked);
        ensure(Rule::Capabilities, taken, || {
            "scalars need the capability DotProductInput4x8BitPacked".to_owned()
        })?;
        return ensure(Rule::Values, result.width >= 8, || {
            "the result is too narrow".to_owned()
        });
    }
    ensure(Rule::Values, !packed, || {
        "vectors are not packed".to_owned()
    })?;
    ensure(Rule::Values, result.width >= x.part.width, || {
        "the result is narrower than the components".to_owned()
    })
}

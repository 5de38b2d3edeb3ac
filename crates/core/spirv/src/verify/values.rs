//! Rule 10 for conditions that a row cannot express: selections and products. Composites and casts have files of
//! their own.

use super::context::{TypeContents, VerifyContext, VerifyResult, ensure, make_fault};
use super::rules::VerifyRule;
use super::signatures::{self, get_components};
use super::{casts, composites, cooperative};
use crate::grammar::enumerants::Capability;
use crate::grammar::{InstructionClass, Op};
use crate::ir::InstRef;

/// Checks an instruction that computes a value from values.
pub(super) fn verify_value(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    if changes_kind(inst.op()) {
        small_composite(cx, inst.words()[0])?;
        small_composite(cx, cx.type_of(inst.operand_word(0)))?;
    }
    match signatures::find_signature(inst.op()) {
        Some(row) => verify_by_signature(cx, inst, row),
        None => verify_by_rule(cx, inst),
    }
}

/// Checks an instruction whose operands and result have a signature.
fn verify_by_signature(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    row: &super::signature_table::SignatureRow,
) -> VerifyResult {
    if cx.is_shader {
        bits_in_vulkan(cx, inst)?;
    }
    let operands = inst.operands();
    let mut types = [0; 4];
    for (ty, operand) in types.iter_mut().zip(operands) {
        *ty = cx.type_of(*operand);
    }
    let types = &types[..operands.len().min(4)];
    shapes_of_matrices(cx, inst, types)?;
    let result = inst.words()[0];
    signatures::verify_operand_types(cx, VerifyRule::Values, result, row.1, row.2, types)
}

/// Checks an instruction by the function of its opcode.
fn verify_by_rule(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    match inst.op() {
        Op::Undef => ensure(
            VerifyRule::Values,
            cx.defining_op(inst.words()[0]) != Op::TypeVoid,
            || "void has no values".to_owned(),
        ),
        Op::Select => verify_select(cx, inst),
        Op::Dot => verify_dot(cx, inst),
        Op::MatrixTimesScalar
        | Op::VectorTimesMatrix
        | Op::MatrixTimesVector
        | Op::MatrixTimesMatrix
        | Op::OuterProduct
        | Op::Transpose => verify_matrix_operation(cx, inst),
        Op::IAddCarry | Op::ISubBorrow | Op::UMulExtended | Op::SMulExtended => {
            verify_extended_arithmetic(cx, inst)
        }
        Op::VectorExtractDynamic => composites::extract_dynamic(cx, inst),
        Op::VectorInsertDynamic => composites::insert_dynamic(cx, inst),
        Op::VectorShuffle => composites::verify_shuffle(cx, inst),
        Op::CompositeConstruct => composites::verify_composite_construct(cx, inst),
        Op::CompositeConstructReplicateEXT => composites::verify_replicated_composite(
            cx,
            VerifyRule::Values,
            inst.words()[0],
            inst.operand_word(0),
        ),
        Op::CompositeExtract => {
            let found = composites::resolve_index_path(
                cx,
                cx.type_of(inst.operand_word(0)),
                &inst.operands()[1..],
            )?;
            ensure_same_type(cx, "the part", found, inst.words()[0])
        }
        Op::CompositeInsert => {
            let result = inst.words()[0];
            ensure_same_type(
                cx,
                "the composite",
                cx.type_of(inst.operand_word(1)),
                result,
            )?;
            let found = composites::resolve_index_path(cx, result, &inst.operands()[2..])?;
            ensure_same_type(cx, "the object", cx.type_of(inst.operand_word(0)), found)
        }
        Op::CopyObject => ensure_same_type(
            cx,
            "the operand",
            cx.type_of(inst.operand_word(0)),
            inst.words()[0],
        ),
        Op::CopyLogical => composites::verify_copy_logical(cx, inst),
        Op::Bitcast => casts::verify_bitcast(cx, inst),
        Op::ConvertPtrToU | Op::ConvertUToPtr => casts::pointer_and_int(cx, inst),
        Op::PtrCastToGeneric | Op::GenericCastToPtr | Op::GenericCastToPtrExplicit => {
            casts::verify_generic_cast(cx, inst)
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
        .filter(|ty| cooperative::is_matrix(cx.defining_op(**ty)));
    for ty in matrices {
        cooperative::same_shape(cx, result, *ty, converts)?;
    }
    Ok(())
}

/// Checks an operation on constants by the row of its opcode.
pub(super) fn verify_operation_types(
    cx: &VerifyContext<'_>,
    op: Op,
    result: u32,
    operands: &[u32],
) -> VerifyResult {
    let Some((_, is, likes)) = signatures::find_signature(op) else {
        return Ok(());
    };
    let types: Vec<u32> = operands.iter().take(4).map(|id| cx.type_of(*id)).collect();
    signatures::verify_operand_types(cx, VerifyRule::Values, result, *is, likes, &types)
}

/// Vulkan has the operations on bit fields for integers of 32 bits.
fn bits_in_vulkan(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let base = match inst.op() {
        Op::BitFieldInsert
        | Op::BitFieldSExtract
        | Op::BitFieldUExtract
        | Op::BitReverse
        | Op::BitCount => inst.operand_word(0),
        _ => return Ok(()),
    };
    let part = get_components(cx, cx.type_of(base)).part;
    ensure(
        VerifyRule::Values,
        !cx.is_vulkan() || part.op != Op::TypeInt || part.width == 32,
        || "the base is not of 32 bits, as Vulkan demands".to_owned(),
    )
}

pub(super) fn ensure_same_type(
    cx: &VerifyContext<'_>,
    what: &str,
    found: u32,
    wanted: u32,
) -> VerifyResult {
    ensure(VerifyRule::Values, found == wanted, || {
        format!(
            "{what} is of {}, not of {}",
            cx.describe_type(found),
            cx.describe_type(wanted)
        )
    })
}

fn verify_select(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let result = inst.words()[0];
    let shape = cx.type_shape(result);
    let condition = get_components(cx, cx.type_of(inst.operand_word(0)));
    let count = match shape.op {
        Op::TypePointer | Op::TypeUntypedPointerKHR => {
            ensure(
                VerifyRule::Values,
                !cx.is_logical() || cx.variable_pointers() || cx.is_kernel,
                || "pointers are selected with variable pointers only".to_owned(),
            )?;
            0
        }
        Op::TypeVector => shape.count,
        Op::TypeBool | Op::TypeInt | Op::TypeFloat => 0,
        _ if cx.version >= crate::grammar::SpirvVersion::new(1, 4) => {
            ensure(
                VerifyRule::Values,
                matches!(
                    shape.op,
                    Op::TypeMatrix
                        | Op::TypeArray
                        | Op::TypeStruct
                        | Op::TypeCooperativeMatrixKHR
                        | Op::TypeCooperativeMatrixNV
                        | Op::TypeVectorIdEXT
                ),
                || format!("{} cannot be selected", cx.describe_type(result)),
            )?;
            0
        }
        _ => {
            let message = format!(
                "{} is neither a scalar nor a vector",
                cx.describe_type(result)
            );
            return Err(make_fault(VerifyRule::Values, message));
        }
    };
    ensure(
        VerifyRule::Values,
        condition.part.op == Op::TypeBool
            && (condition.count == count
                || condition.count == 0 && cx.version >= crate::grammar::SpirvVersion::new(1, 4)),
        || "the condition is not as many booleans as the result has components".to_owned(),
    )?;
    ensure_same_type(cx, "object 1", cx.type_of(inst.operand_word(1)), result)?;
    ensure_same_type(cx, "object 2", cx.type_of(inst.operand_word(2)), result)
}

fn verify_dot(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let result = inst.words()[0];
    ensure(
        VerifyRule::Values,
        cx.defining_op(result) == Op::TypeFloat,
        || "the result is no float".to_owned(),
    )?;
    let first = cx.type_of(inst.operand_word(0));
    ensure(
        VerifyRule::Values,
        matches!(cx.defining_op(first), Op::TypeVector | Op::TypeVectorIdEXT)
            && cx.type_shape(first).part == result,
        || format!("vector 1 is no vector of {}", cx.describe_type(result)),
    )?;
    ensure_same_type(cx, "vector 2", cx.type_of(inst.operand_word(1)), first)
}

/// Components of a column and number of columns.
fn decompose_matrix(cx: &VerifyContext<'_>, ty: u32) -> Option<(u32, u32, u32)> {
    let shape = cx.type_shape(ty);
    if shape.op != Op::TypeMatrix {
        return None;
    }
    let column = cx.type_shape(shape.part);
    Some((column.part, column.count, shape.count))
}

pub(super) fn decompose_vector(cx: &VerifyContext<'_>, ty: u32) -> Option<(u32, u32)> {
    let shape = cx.type_shape(ty);
    (shape.op == Op::TypeVector).then_some((shape.part, shape.count))
}

fn verify_matrix_operation(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let result = inst.words()[0];
    let left = cx.type_of(inst.operand_word(0));
    let right = inst.operands().get(1).map_or(0, |id| cx.type_of(*id));
    if cooperative::is_matrix(cx.defining_op(result)) {
        let fits = inst.op() == Op::MatrixTimesScalar
            && left == result
            && right == cx.type_shape(result).part;
        return ensure(VerifyRule::CooperativeMatrices, fits, || {
            "a cooperative matrix is scaled by a number like its components".to_owned()
        });
    }
    let fits = match inst.op() {
        Op::MatrixTimesScalar => {
            decompose_matrix(cx, result).is_some_and(|(part, ..)| left == result && right == part)
        }
        // The vector has as many components as a column, the result as many as there are columns.
        Op::VectorTimesMatrix => {
            matches!((decompose_vector(cx, result), decompose_vector(cx, left), decompose_matrix(cx, right)),
                (Some((p, n)), Some((q, m)), Some((s, rows, columns)))
                    if p == q && q == s && m == rows && n == columns)
        }
        Op::MatrixTimesVector => {
            matches!((decompose_vector(cx, result), decompose_matrix(cx, left), decompose_vector(cx, right)),
                (Some((p, n)), Some((q, rows, columns)), Some((s, m)))
                    if p == q && q == s && n == rows && m == columns)
        }
        Op::MatrixTimesMatrix => {
            matches!((decompose_matrix(cx, result), decompose_matrix(cx, left), decompose_matrix(cx, right)),
                (Some((p, n, m)), Some((q, rows, inner)), Some((s, other, columns)))
                    if p == q && q == s && n == rows && m == columns && inner == other)
        }
        Op::OuterProduct => {
            matches!((decompose_matrix(cx, result), decompose_vector(cx, left), decompose_vector(cx, right)),
                (Some((p, n, m)), Some((q, rows)), Some((s, columns)))
                    if p == q && q == s && n == rows && m == columns)
        }
        _ => {
            matches!((decompose_matrix(cx, result), decompose_matrix(cx, left)),
                (Some((p, n, m)), Some((q, rows, columns)))
                    if p == q && n == columns && m == rows)
        }
    };
    ensure(VerifyRule::Values, fits, || {
        format!(
            "{} and {} do not make {}",
            cx.describe_type(left),
            cx.describe_type(right),
            cx.describe_type(result)
        )
    })
}

fn verify_extended_arithmetic(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let members = cx.struct_members(inst.words()[0]);
    let &[low, high] = members else {
        return Err(make_fault(
            VerifyRule::Values,
            "the result is no structure of two members",
        ));
    };
    let part = get_components(cx, low).part;
    ensure(
        VerifyRule::Values,
        low == high && part.op == Op::TypeInt,
        || "the result's members are not the same integers".to_owned(),
    )?;
    ensure(
        VerifyRule::Values,
        inst.op() == Op::SMulExtended || !part.signed,
        || "the result's members are signed".to_owned(),
    )?;
    ensure_same_type(cx, "operand 1", cx.type_of(inst.operand_word(0)), low)?;
    ensure_same_type(cx, "operand 2", cx.type_of(inst.operand_word(1)), low)
}

/// Whether a conversion changes more than the width. Numbers that can only be stored may be extended or
/// truncated.
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
        VerifyRule::Values,
        !cx.is_shader || !is_storage_only(cx, ty),
        || "numbers of this width can be stored and converted only".to_owned(),
    )
}

/// Whether a scalar or vector's component is of a width that the module can only store.
pub(super) fn is_storage_only(cx: &VerifyContext<'_>, ty: u32) -> bool {
    let part = get_components(cx, ty).part;
    match (part.op, part.width) {
        (Op::TypeInt, 8) => !cx.has_capability(Capability::Int8),
        (Op::TypeInt, 16) => {
            !cx.has_capability(Capability::Int16) && !cx.has_extension("SPV_AMD_gpu_shader_int16")
        }
        (Op::TypeFloat, 16) => {
            !cx.has_capability(Capability::Float16)
                && !cx.has_extension("SPV_AMD_gpu_shader_half_float")
                && !cx.has_capability(Capability::BFloat16TypeKHR)
        }
        _ => false,
    }
}

/// The storage-only numbers that composites contain.
pub(super) fn storage_only(cx: &VerifyContext<'_>) -> TypeContents {
    let mut found = TypeContents::NOTHING;
    if !cx.has_capability(Capability::Int8) {
        found = found.union(TypeContents::INT8);
    }
    if !cx.has_capability(Capability::Int16) && !cx.has_extension("SPV_AMD_gpu_shader_int16") {
        found = found.union(TypeContents::INT16);
    }
    if !cx.has_capability(Capability::Float16) && !cx.has_extension("SPV_AMD_gpu_shader_half_float")
    {
        found = found.union(TypeContents::FLOAT16);
    }
    found
}

fn integer_dot(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let result = cx.type_shape(inst.words()[0]);
    let (a, b) = (
        cx.type_of(inst.operand_word(0)),
        cx.type_of(inst.operand_word(1)),
    );
    let (x, y) = (get_components(cx, a), get_components(cx, b));
    ensure(VerifyRule::Values, result.op == Op::TypeInt, || {
        "the result is no integer".to_owned()
    })?;
    ensure(
        VerifyRule::Values,
        !matches!(inst.op(), Op::UDot | Op::UDotAccSat)
            || !result.signed && !x.part.signed && !y.part.signed,
        || "result and operands are not all without sign".to_owned(),
    )?;
    ensure(
        VerifyRule::Values,
        x.part.op == Op::TypeInt && y.part.op == Op::TypeInt && x.count == y.count,
        || "the operands are not as many integers".to_owned(),
    )?;
    ensure(VerifyRule::Values, x.part.width == y.part.width, || {
        "the operands are of different widths".to_owned()
    })?;
    let saturates = matches!(inst.op(), Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat);
    if saturates {
        ensure_same_type(
            cx,
            "the accumulator",
            cx.type_of(inst.operand_word(2)),
            inst.words()[0],
        )?;
    }
    let packed = inst.operands().len() > 2 + usize::from(saturates);
    if x.count == 0 {
        ensure(VerifyRule::Values, packed && x.part.width == 32, || {
            "scalars are of 32 bits and say how vectors are packed in them".to_owned()
        })?;
        let taken = cx.has_capability(Capability::DotProductInput4x8BitPacked);
        ensure(VerifyRule::Capabilities, taken, || {
            "scalars need the capability DotProductInput4x8BitPacked".to_owned()
        })?;
        return ensure(VerifyRule::Values, result.width >= 8, || {
            "the result is too narrow".to_owned()
        });
    }
    ensure(VerifyRule::Values, !packed, || {
        "vectors are not packed".to_owned()
    })?;
    ensure(VerifyRule::Values, result.width >= x.part.width, || {
        "the result is narrower than the components".to_owned()
    })
}

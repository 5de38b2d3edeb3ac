//! Rule 10 where a row cannot say it: composites, selection, products, conversions of bits and
//! pointers.

use super::context::{Check, Cx, Holds, ensure, fault};
use super::rules::Rule;
use super::signatures::{self, parts};
use crate::grammar::Op;
use crate::grammar::enumerants::{AddressingModel, Capability, StorageClass};
use crate::ir::InstRef;

/// Checks an instruction that computes a value from values.
pub(super) fn check(cx: &Cx<'_>, inst: InstRef<'_>) -> Check {
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
        Op::VectorExtractDynamic => extract_dynamic(cx, inst),
        Op::VectorInsertDynamic => insert_dynamic(cx, inst),
        Op::VectorShuffle => shuffle(cx, inst),
        Op::CompositeConstruct => construct(cx, inst),
        Op::CompositeConstructReplicateEXT => {
            let wanted = cx.shape(inst.words()[0]).part;
            ensure(
                Rule::Values,
                wanted == 0 || cx.ty(inst.word(0)) == wanted,
                || "the value is not of the result's element type".to_owned(),
            )
        }
        Op::CompositeExtract => {
            let found = walk(cx, cx.ty(inst.word(0)), &inst.operands()[1..])?;
            same(cx, "the part", found, inst.words()[0])
        }
        Op::CompositeInsert => {
            let result = inst.words()[0];
            same(cx, "the composite", cx.ty(inst.word(1)), result)?;
            let found = walk(cx, result, &inst.operands()[2..])?;
            same(cx, "the object", cx.ty(inst.word(0)), found)
        }
        Op::CopyObject => same(cx, "the operand", cx.ty(inst.word(0)), inst.words()[0]),
        Op::CopyLogical => logical(cx, inst),
        Op::Bitcast => bitcast(cx, inst),
        Op::ConvertPtrToU | Op::ConvertUToPtr => pointer_and_int(cx, inst),
        Op::PtrCastToGeneric | Op::GenericCastToPtr | Op::GenericCastToPtrExplicit => {
            generic(cx, inst)
        }
        Op::SDot | Op::UDot | Op::SUDot | Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat => {
            integer_dot(cx, inst)
        }
        _ => Ok(()),
    }
}

/// Checks an operation on constants by the row of its opcode.
pub(super) fn operation(cx: &Cx<'_>, op: Op, result: u32, operands: &[u32]) -> Check {
    let Some((_, is, likes)) = signatures::row(op) else {
        return Ok(());
    };
    let types: Vec<u32> = operands.iter().take(4).map(|id| cx.ty(*id)).collect();
    signatures::types(cx, Rule::Values, result, *is, likes, &types)
}

/// Vulkan has the operations on bit fields for integers of 32 bits.
fn bits_in_vulkan(cx: &Cx<'_>, inst: InstRef<'_>) -> Check {
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

fn same(cx: &Cx<'_>, what: &str, found: u32, wanted: u32) -> Check {
    ensure(Rule::Values, found == wanted, || {
        format!(
            "{what} is of {}, not of {}",
            cx.describe(found),
            cx.describe(wanted)
        )
    })
}

fn select(cx: &Cx<'_>, inst: InstRef<'_>) -> Check {
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
        _ if cx.version >= crate::grammar::Version::new(1, 4) => {
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
                || condition.count == 0 && cx.version >= crate::grammar::Version::new(1, 4)),
        || "the condition is not as many booleans as the result has components".to_owned(),
    )?;
    same(cx, "object 1", cx.ty(inst.word(1)), result)?;
    same(cx, "object 2", cx.ty(inst.word(2)), result)
}

fn dot(cx: &Cx<'_>, inst: InstRef<'_>) -> Check {
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
fn matrix(cx: &Cx<'_>, ty: u32) -> Option<(u32, u32, u32)> {
    let shape = cx.shape(ty);
    if shape.op != Op::TypeMatrix {
        return None;
    }
    let column = cx.shape(shape.part);
    Some((column.part, column.count, shape.count))
}

fn vector(cx: &Cx<'_>, ty: u32) -> Option<(u32, u32)> {
    let shape = cx.shape(ty);
    (shape.op == Op::TypeVector).then_some((shape.part, shape.count))
}

fn matrices(cx: &Cx<'_>, inst: InstRef<'_>) -> Check {
    let result = inst.words()[0];
    if matches!(
        cx.op(result),
        Op::TypeCooperativeMatrixKHR | Op::TypeCooperativeMatrixNV
    ) {
        return Ok(());
    }
    let left = cx.ty(inst.word(0));
    let right = inst.operands().get(1).map_or(0, |id| cx.ty(*id));
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

fn extended(cx: &Cx<'_>, inst: InstRef<'_>) -> Check {
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

fn index(cx: &Cx<'_>, id: u32) -> Check {
    ensure(Rule::Values, cx.value_shape(id).op == Op::TypeInt, || {
        "the index is no integer".to_owned()
    })
}

fn extract_dynamic(cx: &Cx<'_>, inst: InstRef<'_>) -> Check {
    let shape = cx.value_shape(inst.word(0));
    if shape.op == Op::TypeVectorIdEXT {
        return Ok(());
    }
    ensure(
        Rule::Values,
        matches!(shape.op, Op::TypeVector | Op::TypeVectorIdEXT),
        || "the first operand is no vector".to_owned(),
    )?;
    same(cx, "the component", shape.part, inst.words()[0])?;
    index(cx, inst.word(1))?;
    small_composite(cx, inst.words()[0])
}

fn insert_dynamic(cx: &Cx<'_>, inst: InstRef<'_>) -> Check {
    let result = inst.words()[0];
    let shape = cx.shape(result);
    if shape.op == Op::TypeVectorIdEXT {
        return Ok(());
    }
    ensure(
        Rule::Values,
        matches!(shape.op, Op::TypeVector | Op::TypeVectorIdEXT),
        || "the result is no vector".to_owned(),
    )?;
    same(cx, "the vector", cx.ty(inst.word(0)), result)?;
    same(cx, "the component", cx.ty(inst.word(1)), shape.part)?;
    index(cx, inst.word(2))
}

/// Parts of 8 or 16 bits are not taken where such numbers are only stored.
fn small_composite(cx: &Cx<'_>, ty: u32) -> Check {
    ensure(
        Rule::Values,
        !cx.is_shader || !is_storage_only(cx, ty),
        || "numbers of this width can be stored and converted only".to_owned(),
    )
}

/// Whether a scalar or vector's component is of a width that the module can only store.
pub(super) fn is_storage_only(cx: &Cx<'_>, ty: u32) -> bool {
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
pub(super) fn storage_only(cx: &Cx<'_>) -> Holds {
    let mut found = Holds::NOTHING;
    if !cx.has(Capability::Int8) {
        found = found.and(Holds::INT8);
    }
    if !cx.has(Capability::Int16) && !cx.has_extension("SPV_AMD_gpu_shader_int16") {
        found = found.and(Holds::INT16);
    }
    if !cx.has(Capability::Float16) && !cx.has_extension("SPV_AMD_gpu_shader_half_float") {
        found = found.and(Holds::FLOAT16);
    }
    found
}

fn shuffle(cx: &Cx<'_>, inst: InstRef<'_>) -> Check {
    let result = cx.shape(inst.words()[0]);
    let (a, b) = (cx.value_shape(inst.word(0)), cx.value_shape(inst.word(1)));
    if [result.op, a.op, b.op].contains(&Op::TypeVectorIdEXT) {
        return Ok(());
    }
    ensure(
        Rule::Values,
        [result.op, a.op, b.op] == [Op::TypeVector; 3],
        || "result and operands are not all vectors".to_owned(),
    )?;
    ensure(
        Rule::Values,
        result.part == a.part && result.part == b.part,
        || "the vectors have different components".to_owned(),
    )?;
    let picks = &inst.operands()[2..];
    ensure(Rule::Values, picks.len() == result.count as usize, || {
        format!("{} literals for {} components", picks.len(), result.count)
    })?;
    // Numbers of components that are too large are faults of the types.
    let count = a.count.saturating_add(b.count);
    for pick in picks {
        ensure(Rule::Values, *pick == u32::MAX || *pick < count, || {
            format!("component {pick} of {count}")
        })?;
    }
    small_composite(cx, inst.words()[0])
}

fn construct(cx: &Cx<'_>, inst: InstRef<'_>) -> Check {
    let result = inst.words()[0];
    let shape = cx.shape(result);
    let given = inst.operands();
    let each = |wanted: &dyn Fn(usize) -> u32, count: usize| {
        ensure(Rule::Values, given.len() == count, || {
            format!(
                "{} constituents; {} has {count}",
                given.len(),
                cx.describe(result)
            )
        })?;
        for (n, id) in given.iter().enumerate() {
            same(cx, &format!("constituent {n}"), cx.ty(*id), wanted(n))?;
        }
        Ok(())
    };
    match shape.op {
        Op::TypeVector => {
            let mut count = 0;
            for id in given {
                let Some(own) = vector(cx, cx.ty(*id)) else {
                    same(cx, "a constituent", cx.ty(*id), shape.part)?;
                    count += 1;
                    continue;
                };
                same(cx, "a constituent's component", own.0, shape.part)?;
                count += own.1;
            }
            ensure(
                Rule::Values,
                count == shape.count && given.len() > 1,
                || format!("{count} components; the result has {}", shape.count),
            )?;
        }
        Op::TypeMatrix => each(&|_| shape.part, shape.count as usize)?,
        Op::TypeArray => {
            let length = cx.inst(result).map_or(0, |t| t.word(1));
            let length = cx.constant(length).map_or(given.len(), |n| n as usize);
            each(&|_| shape.part, length)?;
        }
        Op::TypeStruct => {
            let members = cx.members(result);
            each(&|n| members[n], members.len())?;
        }
        Op::TypeCooperativeMatrixKHR | Op::TypeCooperativeMatrixNV => each(&|_| shape.part, 1)?,
        Op::TypeVectorIdEXT => return Ok(()),
        _ => {
            let message = format!("{} is no composite", cx.describe(result));
            return Err(fault(Rule::Values, message));
        }
    }
    small_composite(cx, result)
}

/// The type that literal indices lead to.
fn walk(cx: &Cx<'_>, mut ty: u32, path: &[u32]) -> Result<u32, super::context::Fault> {
    if path.len() > 255 {
        return Err(fault(
            Rule::Limits,
            format!("{} indices; there may be 255", path.len()),
        ));
    }
    ensure(Rule::Values, !path.is_empty(), || {
        "there are no indices".to_owned()
    })?;
    for at in path {
        let shape = cx.shape(ty);
        let beyond = |count: u64| {
            ensure(Rule::Values, u64::from(*at) < count, || {
                format!("index {at} of {count}")
            })
        };
        ty = match shape.op {
            Op::TypeVector | Op::TypeMatrix => {
                beyond(shape.count.into())?;
                shape.part
            }
            Op::TypeArray => {
                let length = cx.inst(ty).map_or(0, |t| t.word(1));
                if let Some(length) = cx.constant(length) {
                    beyond(length)?;
                }
                shape.part
            }
            Op::TypeRuntimeArray
            | Op::TypeCooperativeMatrixKHR
            | Op::TypeCooperativeMatrixNV
            | Op::TypeVectorIdEXT => shape.part,
            Op::TypeStruct => {
                let members = cx.members(ty);
                beyond(members.len() as u64)?;
                members[*at as usize]
            }
            _ => {
                let message = format!("{} has no parts", cx.describe(ty));
                return Err(fault(Rule::Values, message));
            }
        };
    }
    Ok(ty)
}

fn logical(cx: &Cx<'_>, inst: InstRef<'_>) -> Check {
    let (result, source) = (inst.words()[0], cx.ty(inst.word(0)));
    ensure(Rule::Values, result != source, || {
        "the operand is of the result's type; OpCopyObject copies that".to_owned()
    })?;
    ensure(Rule::Values, matches_logically(cx, result, source), || {
        "the operand does not match the result member by member".to_owned()
    })
}

/// Most pairs of types that are compared; modules with more are taken as they are.
const PAIRS: u32 = 1 << 14;

fn matches_logically(cx: &Cx<'_>, a: u32, b: u32) -> bool {
    let mut pairs = 0;
    let mut stack = vec![(a, b)];
    while let Some((a, b)) = stack.pop() {
        pairs += 1;
        if a == b || pairs > PAIRS {
            continue;
        }
        let (x, y) = (cx.shape(a), cx.shape(b));
        match (x.op, y.op) {
            (Op::TypeArray, Op::TypeArray) => {
                let length = |ty| cx.inst(ty).map_or(0, |t| t.word(1));
                let (n, m) = (length(a), length(b));
                if n != m && (cx.constant(n).is_none() || cx.constant(n) != cx.constant(m)) {
                    return false;
                }
                stack.push((x.part, y.part));
            }
            (Op::TypeStruct, Op::TypeStruct) => {
                let (p, q) = (cx.members(a), cx.members(b));
                if p.len() != q.len() {
                    return false;
                }
                stack.extend(p.iter().copied().zip(q.iter().copied()));
            }
            _ => return false,
        }
    }
    true
}

fn is_pointer(op: Op) -> bool {
    matches!(op, Op::TypePointer | Op::TypeUntypedPointerKHR)
}

fn bitcast(cx: &Cx<'_>, inst: InstRef<'_>) -> Check {
    let (result, source) = (inst.words()[0], cx.ty(inst.word(0)));
    let (to, from) = (parts(cx, result), parts(cx, source));
    let numeric = |op| matches!(op, Op::TypeInt | Op::TypeFloat);
    let castable = |op| numeric(op) || is_pointer(op);
    ensure(
        Rule::Values,
        castable(to.part.op) || cx.op(result) == Op::TypeVectorIdEXT,
        || format!("the result is of {}", cx.describe(result)),
    )?;
    ensure(
        Rule::Values,
        castable(from.part.op) || cx.op(source) == Op::TypeVectorIdEXT,
        || format!("the operand is of {}", cx.describe(source)),
    )?;
    let (p, q) = (is_pointer(to.part.op), is_pointer(from.part.op));
    if p && q || [to.part.op, from.part.op].contains(&Op::TypeVectorIdEXT) {
        return Ok(());
    }
    if p || q {
        let other = if p { &from } else { &to };
        let as_words = cx.version >= crate::grammar::Version::new(1, 5)
            || cx.has_extension("SPV_KHR_physical_storage_buffer");
        let fits = other.part.op == Op::TypeInt
            && (other.count == 0 || as_words && other.part.width == 32 && other.count == 2);
        return ensure(Rule::Values, fits, || {
            "pointers are cast to and from an integer or two of 32 bits".to_owned()
        });
    }
    let bits = |p: &signatures::Parts| match p.count {
        u32::MAX => None,
        0 => Some(p.part.width),
        n => n.checked_mul(p.part.width),
    };
    ensure(Rule::Values, bits(&to) == bits(&from), || {
        format!(
            "{} and {} differ in size",
            cx.describe(result),
            cx.describe(source)
        )
    })
}

fn pointer_and_int(cx: &Cx<'_>, inst: InstRef<'_>) -> Check {
    let (result, source) = (cx.shape(inst.words()[0]), cx.value_shape(inst.word(0)));
    let (pointer, int) = match inst.op() {
        Op::ConvertPtrToU => (source, result),
        _ => (result, source),
    };
    let to_int = inst.op() == Op::ConvertPtrToU;
    ensure(
        Rule::Values,
        int.op == Op::TypeInt && (!to_int || !int.signed) && is_pointer(pointer.op),
        || "one side is a pointer, the other an integer without sign".to_owned(),
    )?;
    ensure(Rule::Values, !cx.is_logical(), || {
        "pointers have no number in logical addressing".to_owned()
    })?;
    if cx.addressing == AddressingModel::PhysicalStorageBuffer64 {
        ensure(
            Rule::Values,
            pointer.class == StorageClass::PhysicalStorageBuffer,
            || "the pointer's storage class is not PhysicalStorageBuffer".to_owned(),
        )?;
        ensure(Rule::Values, !cx.is_vulkan() || int.width == 64, || {
            "the integer is not of 64 bits".to_owned()
        })?;
    }
    Ok(())
}

fn generic(cx: &Cx<'_>, inst: InstRef<'_>) -> Check {
    let (result, source) = (cx.shape(inst.words()[0]), cx.value_shape(inst.word(0)));
    let (wide, narrow) = match inst.op() {
        Op::PtrCastToGeneric => (result, source),
        _ => (source, result),
    };
    ensure(
        Rule::Values,
        is_pointer(wide.op) && wide.class == StorageClass::Generic,
        || "the pointer to anywhere is not of the class Generic".to_owned(),
    )?;
    ensure(
        Rule::Values,
        is_pointer(narrow.op)
            && matches!(
                narrow.class,
                StorageClass::Workgroup | StorageClass::CrossWorkgroup | StorageClass::Function
            ),
        || "the other pointer is not of the class Workgroup, CrossWorkgroup or Function".to_owned(),
    )?;
    ensure(Rule::Values, wide.part == narrow.part, || {
        "the pointers point to different types".to_owned()
    })?;
    if inst.op() == Op::GenericCastToPtrExplicit {
        ensure(Rule::Values, inst.word(1) == narrow.class.0, || {
            "the storage class is not that of the result".to_owned()
        })?;
    }
    Ok(())
}

fn integer_dot(cx: &Cx<'_>, inst: InstRef<'_>) -> Check {
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

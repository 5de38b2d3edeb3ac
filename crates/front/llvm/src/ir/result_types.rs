//! Result types of instructions and constant expressions, as LLVM's reference manual defines them.

use super::{
    ConstKind, ExprExtra, LlvmConst, LlvmConstants, LlvmOpcode, LlvmType, LlvmTypeKind, LlvmTypes,
};
use crate::{LlvmResult, make_refusal};

/// Greatest length of a shuffle mask; LLVM's targets have vectors of at most 2048 elements.
const MAX_MASK: u32 = 1 << 16;

/// Result type of a comparison of operands of type `operand`.
pub fn compare_type(types: &mut LlvmTypes, operand: LlvmType) -> LlvmType {
    types.with_shape_of(operand, LlvmType::I1)
}

/// Type of the member that a path of indices selects in an aggregate (`extractvalue`).
pub fn member_type(types: &LlvmTypes, aggregate: LlvmType, path: &[u32]) -> Option<LlvmType> {
    path.iter()
        .try_fold(aggregate, |ty, &index| match types.kind(ty) {
            LlvmTypeKind::Struct { .. } | LlvmTypeKind::Array { .. } => {
                types.element_type(ty, u64::from(index))
            }
            _ => None,
        })
}

/// Result type of a `getelementptr` over `source`, or the reason why there is none. `indices` has
/// the type of each index, and the constant if the index is constant.
pub fn address_type(
    types: &mut LlvmTypes,
    consts: &LlvmConstants,
    source: LlvmType,
    base: LlvmType,
    indices: impl IntoIterator<Item = (LlvmType, Option<LlvmConst>)>,
) -> LlvmResult<LlvmType> {
    let LlvmTypeKind::Pointer { space, pointee } = *types.kind(types.scalar_type(base)) else {
        return Err(make_refusal("the base of the address is not a pointer"));
    };
    let mut shape = base;
    let mut ty = source;
    for (position, (index, constant)) in indices.into_iter().enumerate() {
        if types.int_width(types.scalar_type(index)).is_none() {
            return Err(make_refusal("an index of the address is not an integer"));
        }
        if matches!(types.kind(index), LlvmTypeKind::Vector { .. }) {
            shape = index;
        }
        if position > 0 {
            ty = step_into_type(types, consts, ty, constant).ok_or_else(|| {
                make_refusal("the indices do not select a member of the address's type")
            })?;
        }
    }
    let pointee = pointee.map(|_| ty);
    let pointer = types.intern_type(LlvmTypeKind::Pointer { space, pointee });
    Ok(types.with_shape_of(shape, pointer))
}

fn step_into_type(
    types: &LlvmTypes,
    consts: &LlvmConstants,
    ty: LlvmType,
    index: Option<LlvmConst>,
) -> Option<LlvmType> {
    match types.kind(ty) {
        LlvmTypeKind::Array { element, .. } | LlvmTypeKind::Vector { element, .. } => {
            Some(*element)
        }
        LlvmTypeKind::Struct { .. } => {
            types.element_type(ty, uniform_index(types, consts, index?)?)
        }
        _ => None,
    }
}

/// The value of a constant index. For a vector, the value that all elements share.
fn uniform_index(types: &LlvmTypes, consts: &LlvmConstants, index: LlvmConst) -> Option<u64> {
    match consts.kind(index) {
        ConstKind::Int(value) => Some(*value),
        ConstKind::Zero => Some(0),
        ConstKind::Splat(element) => consts.as_u64(*element),
        ConstKind::Data(_) => {
            let mut elements = consts.data_elements(types, index)?;
            let first = elements.next()?;
            elements.all(|element| element == first).then_some(first)
        }
        _ => None,
    }
}

/// The mask that a constant vector denotes for `shufflevector`; `u32::MAX` is an undefined element.
pub fn shuffle_mask(
    types: &LlvmTypes,
    consts: &LlvmConstants,
    mask: LlvmConst,
) -> Option<Vec<u32>> {
    let LlvmTypeKind::Vector {
        element: LlvmType::I32,
        len,
        ..
    } = *types.kind(consts.ty(mask))
    else {
        return None;
    };
    if len > MAX_MASK {
        return None;
    }
    let len = len as usize;
    match consts.kind(mask) {
        ConstKind::Zero => Some(vec![0; len]),
        ConstKind::Undef | ConstKind::Poison => Some(vec![u32::MAX; len]),
        ConstKind::Data(_) => Some(
            consts
                .data_elements(types, mask)?
                .map(|element| element as u32)
                .collect(),
        ),
        ConstKind::Aggregate(elements) => elements
            .iter()
            .map(|&element| match consts.kind(element) {
                ConstKind::Int(value) => Some(*value as u32),
                ConstKind::Undef | ConstKind::Poison => Some(u32::MAX),
                _ => None,
            })
            .collect(),
        _ => None,
    }
}

/// Result type of a shuffle of vectors of type `operand` by a mask of `len` elements.
pub fn shuffle_type(types: &mut LlvmTypes, operand: LlvmType, len: usize) -> Option<LlvmType> {
    match *types.kind(operand) {
        LlvmTypeKind::Vector {
            element, scalable, ..
        } => Some(types.make_vector(element, u32::try_from(len).ok()?, scalable)),
        _ => None,
    }
}

/// Type of a constant expression that is not a cast, or the reason why there is none.
pub fn expression_type(
    types: &mut LlvmTypes,
    consts: &LlvmConstants,
    opcode: LlvmOpcode,
    operands: &[LlvmConst],
    extra: &ExprExtra,
) -> LlvmResult<LlvmType> {
    let ty = |index: usize| operands.get(index).map(|&operand| consts.ty(operand));
    let first = ty(0).ok_or_else(|| make_refusal("a constant expression without operands"))?;
    match (opcode, extra) {
        (LlvmOpcode::GetElementPtr, ExprExtra::SourceType(source)) => {
            let indices = operands[1..]
                .iter()
                .map(|&index| (consts.ty(index), Some(index)));
            address_type(types, consts, *source, first, indices)
        }
        (LlvmOpcode::ICmp | LlvmOpcode::FCmp, _) => Ok(compare_type(types, first)),
        (LlvmOpcode::Select, _) => ty(1).ok_or_else(|| make_refusal("a select without operands")),
        (LlvmOpcode::ExtractElement, _) => match *types.kind(first) {
            LlvmTypeKind::Vector { element, .. } => Ok(element),
            _ => Err(make_refusal("an element of a value that is not a vector")),
        },
        (LlvmOpcode::ShuffleVector, ExprExtra::Mask(mask)) => {
            shuffle_type(types, first, mask.len())
                .ok_or_else(|| make_refusal("a shuffle of a value that is not a vector"))
        }
        (LlvmOpcode::ExtractValue, ExprExtra::Indices(path)) => member_type(types, first, path)
            .ok_or_else(|| make_refusal("the indices do not select a member of the aggregate")),
        _ => Ok(first),
    }
}

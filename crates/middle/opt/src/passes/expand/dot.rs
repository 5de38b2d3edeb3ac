//! Expansion of integer dot products, packed ones included, and of their saturating sums
//! (`SPV_KHR_integer_dot_product`).

use super::InstExpander;
use crate::values::MOST_COMPONENTS;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

/// How a factor is interpreted.
#[derive(Clone, Copy)]
struct DotFactor {
    value: Id,
    signed: bool,
    /// The type of its components, or of the word that packs them.
    ty: Id,
    packed: bool,
}

/// Number of components of a packed vector, and the bits of each.
const PACKED: (u32, u32) = (4, 8);

pub fn expand_dot(e: &mut InstExpander<'_>) -> Option<()> {
    let inst = e.module.inst(e.at);
    let (op, ty) = (inst.op(), inst.result_type()?);
    let signs = match op {
        Op::SDot | Op::SDotAccSat => [true, true],
        Op::SUDot | Op::SUDotAccSat => [true, false],
        _ => [false, false],
    };
    let count = match e
        .facts
        .def_of(e.module, e.type_of(e.value_operand(0)?)?, Op::TypeVector)
    {
        Some(vector) => Some(vector.operand_word(1)).filter(|n| *n <= MOST_COMPONENTS)?,
        None => PACKED.0,
    };
    let (a, b) = (read_factor(e, 0, signs[0])?, read_factor(e, 1, signs[1])?);
    let mut sum = None;
    for at in 0..count {
        let (a, b) = (
            extract_widened_component(e, a, at, ty)?,
            extract_widened_component(e, b, at, ty)?,
        );
        let product = e.emit_op(Op::IMul, ty, &[a, b]);
        sum = Some(match sum {
            Some(sum) => e.emit_op(Op::IAdd, ty, &[sum, product]),
            None => product,
        });
    }
    let sum = sum?;
    if matches!(op, Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat) {
        let before = e.value_operand(2)?;
        return emit_saturating_add(e, ty, [before, sum], signs[0]);
    }
    e.rewrite_as(Op::CopyObject, &[sum.word()])
}

fn read_factor(e: &InstExpander<'_>, at: usize, signed: bool) -> Option<DotFactor> {
    let value = e.value_operand(at)?;
    let ty = e.type_of(value)?;
    let vector = e.facts.def_of(e.module, ty, Op::TypeVector);
    Some(DotFactor {
        value,
        signed,
        ty: vector.map_or(ty, |v| v.id_operand(0)),
        packed: vector.is_none(),
    })
}

/// A component of a factor, extended to the width of the result.
fn extract_widened_component(
    e: &mut InstExpander<'_>,
    factor: DotFactor,
    at: u32,
    result: Id,
) -> Option<Id> {
    let DotFactor {
        value,
        signed,
        ty,
        packed,
    } = factor;
    let part = if packed {
        unpack_component(e, factor, at)?
    } else {
        e.emit_extract(ty, value, at)
    };
    let width = e.integer_width(result)?;
    if e.integer_width(ty)? == width {
        return Some(part);
    }
    let wide = e
        .facts
        .intern_type(e.module, Op::TypeInt, &[width, u32::from(signed)]);
    let op = if signed { Op::SConvert } else { Op::UConvert };
    Some(e.emit_op(op, wide, &[part]))
}

fn unpack_component(e: &mut InstExpander<'_>, factor: DotFactor, at: u32) -> Option<Id> {
    let DotFactor {
        value, signed, ty, ..
    } = factor;
    let (_, bits) = PACKED;
    if signed {
        let (left, right) = (32 - bits * (at + 1), 32 - bits);
        let (left, right) = (
            e.splat_constant(ty, left.into())?,
            e.splat_constant(ty, right.into())?,
        );
        let high = e.emit_op(Op::ShiftLeftLogical, ty, &[value, left]);
        return Some(e.emit_op(Op::ShiftRightArithmetic, ty, &[high, right]));
    }
    let (right, mask) = (
        e.splat_constant(ty, (bits * at).into())?,
        e.splat_constant(ty, (1 << bits) - 1)?,
    );
    let low = e.emit_op(Op::ShiftRightLogical, ty, &[value, right]);
    Some(e.emit_op(Op::BitwiseAnd, ty, &[low, mask]))
}

/// The saturated sum of two numbers.
fn emit_saturating_add(
    e: &mut InstExpander<'_>,
    ty: Id,
    [a, b]: [Id; 2],
    signed: bool,
) -> Option<()> {
    let (truth, width) = (e.comparison_type(ty), e.integer_width(ty)?);
    let all = u64::MAX >> (64 - width);
    let sum = e.emit_op(Op::IAdd, ty, &[a, b]);
    let (over, limit) = if signed {
        let (zero, most) = (e.splat_constant(ty, 0)?, e.splat_constant(ty, all >> 1)?);
        let last = e.splat_constant(ty, u64::from(width - 1))?;
        // Overflow: both operands have the same sign and the sum has the other.
        let a_differs = e.emit_op(Op::BitwiseXor, ty, &[a, sum]);
        let b_differs = e.emit_op(Op::BitwiseXor, ty, &[b, sum]);
        let both = e.emit_op(Op::BitwiseAnd, ty, &[a_differs, b_differs]);
        let sign = e.emit_op(Op::ShiftRightArithmetic, ty, &[a, last]);
        (
            e.emit_op(Op::SLessThan, truth, &[both, zero]),
            e.emit_op(Op::BitwiseXor, ty, &[sign, most]),
        )
    } else {
        (
            e.emit_op(Op::ULessThan, truth, &[sum, a]),
            e.splat_constant(ty, all)?,
        )
    };
    e.rewrite_as(Op::Select, &[over.word(), limit.word(), sum.word()])
}

//! Rules of operations that compute each element from the elements at its place.

use super::context::{RuleContext, RuleRow};
use crate::rule::ShardingRule;
use spirula_stablehlo::MlirOpcode as Op;

pub(super) const RULES: &[RuleRow] = &[
    (ELEMENTWISE, match_equal_shapes),
    (
        &[Op::OptimizationBarrier, Op::UnrealizedConversionCast],
        pair_operands,
    ),
    (&[Op::Constant, Op::Iota], split_freely),
    (&[Op::BitcastConvert], keep_leading_dimensions),
];

const ELEMENTWISE: &[Op] = &[
    Op::Abs,
    Op::Add,
    Op::And,
    Op::Atan2,
    Op::Cbrt,
    Op::Ceil,
    Op::Clamp,
    Op::Compare,
    Op::Complex,
    Op::Convert,
    Op::Cosine,
    Op::CountLeadingZeros,
    Op::Divide,
    Op::Exponential,
    Op::ExponentialMinusOne,
    Op::Floor,
    Op::Imag,
    Op::IsFinite,
    Op::Log,
    Op::LogPlusOne,
    Op::Logistic,
    Op::Map,
    Op::Maximum,
    Op::Minimum,
    Op::Multiply,
    Op::Negate,
    Op::Not,
    Op::Or,
    Op::Popcnt,
    Op::Power,
    Op::Real,
    Op::ReducePrecision,
    Op::Remainder,
    Op::RoundNearestAfz,
    Op::RoundNearestEven,
    Op::Rsqrt,
    Op::Select,
    Op::ShiftLeft,
    Op::ShiftRightArithmetic,
    Op::ShiftRightLogical,
    Op::Sign,
    Op::Sine,
    Op::Sqrt,
    Op::Subtract,
    Op::Tan,
    Op::Tanh,
    Op::UniformDequantize,
    Op::UniformQuantize,
    Op::Xor,
    Op::ChloAcos,
    Op::ChloAcosh,
    Op::ChloAsin,
    Op::ChloAsinh,
    Op::ChloAtan,
    Op::ChloAtanh,
    Op::ChloBesselI1e,
    Op::ChloConj,
    Op::ChloCosh,
    Op::ChloDigamma,
    Op::ChloErf,
    Op::ChloErfInv,
    Op::ChloErfc,
    Op::ChloIsInf,
    Op::ChloIsNegInf,
    Op::ChloIsPosInf,
    Op::ChloLgamma,
    Op::ChloMulhi,
    Op::ChloNextAfter,
    Op::ChloPolygamma,
    Op::ChloSinh,
    Op::ChloSquare,
    Op::ChloTan,
    Op::ChloZeta,
];

/// Tensors of the result's shape correspond. Others are scalars, which are whole.
pub(super) fn match_equal_shapes(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let shape = context.result(0)?;
    let mut rule = context.cheap_rule();
    for (at, size) in shape.iter().enumerate() {
        let tensors = context.shapes.iter().enumerate();
        let equal = tensors.filter(|(_, other)| other.as_slice() == shape);
        let dimensions: Vec<(usize, usize)> = equal.map(|(tensor, _)| (tensor, at)).collect();
        rule.join_dimensions(*size, &dimensions);
    }
    Some(rule)
}

/// Each operand is a result.
pub(super) fn pair_operands(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let mut rule = context.cheap_rule();
    for tensor in 0..context.operands.min(context.result_count()) {
        for (at, size) in context.operand(tensor)?.iter().enumerate() {
            let dimensions = [(tensor, at), (context.operands + tensor, at)];
            rule.join_dimensions(*size, &dimensions);
        }
    }
    Some(rule)
}

/// Any part of the result can be made by itself.
fn split_freely(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let mut rule = context.cheap_rule();
    for (at, size) in context.result(0)?.iter().enumerate() {
        rule.join_dimensions(*size, &[(0, at)]);
    }
    Some(rule)
}

/// The last dimension is whole where the widths of the elements differ.
fn keep_leading_dimensions(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let (from, to) = (context.operand(0)?, context.result(0)?);
    let mut rule = context.cheap_rule();
    for (at, (size, _)) in from.iter().zip(to).enumerate() {
        rule.join_dimensions(*size, &[(0, at), (1, at)]);
    }
    Some(rule)
}

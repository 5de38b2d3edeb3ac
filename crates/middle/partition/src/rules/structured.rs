//! Rules of operations that keep some dimensions whole: sorts, linear algebra and others.

use super::context::{RuleContext, RuleRow};
use crate::rule::ShardingRule;
use spirula_stablehlo::MlirOpcode as Op;

pub(super) const RULES: &[RuleRow] = &[
    (&[Op::Sort], sort_dimensions),
    (&[Op::Cholesky], decompose_matrices),
    (&[Op::TriangularSolve], solve_systems),
    (&[Op::Fft], transform_dimensions),
    (&[Op::ChloTopK], select_largest),
    (
        &[
            Op::BatchNormTraining,
            Op::BatchNormGrad,
            Op::BatchNormInference,
        ],
        normalise_features,
    ),
    // All devices compute all of them, since each number follows from the state and its place.
    (
        &[
            Op::Rng,
            Op::RngBitGenerator,
            Op::PartitionId,
            Op::ReplicaId,
            Op::CreateToken,
            Op::AfterAll,
            Op::GetDimensionSize,
        ],
        keep_whole,
    ),
];

fn keep_whole(context: &RuleContext<'_>) -> Option<ShardingRule> {
    Some(context.whole_rule())
}

/// Joins some dimensions of all tensors that have them.
fn join_everywhere(
    context: &RuleContext<'_>,
    rule: &mut ShardingRule,
    dimensions: impl Iterator<Item = usize>,
) {
    let Some(shape) = context.shapes.first() else {
        return;
    };
    for at in dimensions {
        let tensors = context.shapes.iter().enumerate();
        let equal = tensors.filter(|(_, other)| other.get(at) == shape.get(at));
        let joined: Vec<(usize, usize)> = equal.map(|(tensor, _)| (tensor, at)).collect();
        if let Some(size) = shape.get(at) {
            rule.join_dimensions(*size, &joined);
        }
    }
}

fn sort_dimensions(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let mut rule = context.whole_rule();
    let rank = context.operand(0)?.len();
    // An absent or negative dimension counts from the last.
    let attr = context.module.find_attribute(context.op, "dimension");
    let dimension = attr.map_or(Some(-1), |attr| context.module.as_integer(attr))?;
    let sorted = match usize::try_from(dimension) {
        Ok(at) => at,
        Err(_) => rank.checked_add_signed(isize::try_from(dimension).ok()?)?,
    };
    join_everywhere(context, &mut rule, (0..rank).filter(|at| *at != sorted));
    Some(rule)
}

/// All dimensions but the last two.
fn decompose_matrices(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let mut rule = context.whole_rule();
    let batches = context.operand(0)?.len().checked_sub(2)?;
    join_everywhere(context, &mut rule, 0..batches);
    Some(rule)
}

/// Batches, and the systems of one matrix.
fn solve_systems(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let mut rule = decompose_matrices(context)?;
    let shape = context.operand(1)?;
    let batches = shape.len().checked_sub(2)?;
    let left = context.module.find_attribute(context.op, "left_side")?;
    let is_left = context.module.as_integer(left)? != 0;
    let systems = if is_left { batches + 1 } else { batches };
    rule.join_dimensions(shape[systems], &[(1, systems), (2, systems)]);
    Some(rule)
}

/// All dimensions but those that are transformed, which are the last.
fn transform_dimensions(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let mut rule = context.whole_rule();
    let transformed = context.positions("fft_length")?.len();
    let batches = context.operand(0)?.len().checked_sub(transformed)?;
    join_everywhere(context, &mut rule, 0..batches);
    Some(rule)
}

/// All dimensions but the last.
pub(super) fn select_largest(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let mut rule = context.whole_rule();
    let batches = context.operand(0)?.len().checked_sub(1)?;
    join_everywhere(context, &mut rule, 0..batches);
    Some(rule)
}

/// Features are independent. Statistics are over the whole of the others.
fn normalise_features(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let mut rule = context.whole_rule();
    let shape = context.operand(0)?;
    let feature = context.position("feature_index")?;
    let is_inference = context.module.opcode(context.op) == Some(Op::BatchNormInference);
    for (at, size) in shape.iter().enumerate() {
        if at != feature && !is_inference {
            continue;
        }
        let tensors = context.shapes.iter().enumerate();
        let dimensions = tensors.filter_map(|(tensor, other)| {
            if other.len() == shape.len() && other.len() > 1 {
                return Some((tensor, at));
            }
            (at == feature).then_some((tensor, 0))
        });
        let dimensions: Vec<(usize, usize)> = dimensions.collect();
        rule.join_dimensions(*size, &dimensions);
    }
    Some(rule)
}

//! Rules of products and reductions.

use super::combiner::RegionCombiner;
use super::context::{RuleContext, RuleRow};
use crate::rule::{PartialCombination, ShardingRule};
use spirula_stablehlo::MlirOpcode as Op;

pub(super) const RULES: &[RuleRow] = &[
    (&[Op::DotGeneral], multiply_tensors),
    (&[Op::Dot], multiply_matrices),
    (&[Op::Reduce], reduce_dimensions),
];

fn multiply_tensors(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let field = |name| context.field_positions("dot_dimension_numbers", name);
    let batching = [
        field("lhs_batching_dimensions")?,
        field("rhs_batching_dimensions")?,
    ];
    let contracting = [
        field("lhs_contracting_dimensions")?,
        field("rhs_contracting_dimensions")?,
    ];
    join_product(context, &batching, &contracting)
}

/// The factors of a product: batches come first in the result, then the other dimensions of both operands.
fn join_product(
    context: &RuleContext<'_>,
    batching: &[Vec<usize>; 2],
    contracting: &[Vec<usize>; 2],
) -> Option<ShardingRule> {
    let mut rule = context.whole_rule();
    let sides = [context.operand(0)?, context.operand(1)?];
    let mut next = 0;
    for (left, right) in batching[0].iter().zip(&batching[1]) {
        let dimensions = [(0, *left), (1, *right), (2, next)];
        rule.join_dimensions(*sides[0].get(*left)?, &dimensions);
        next += 1;
    }
    for (side, shape) in sides.iter().enumerate() {
        for (at, size) in shape.iter().enumerate() {
            if !batching[side].contains(&at) && !contracting[side].contains(&at) {
                rule.join_dimensions(*size, &[(side, at), (2, next)]);
                next += 1;
            }
        }
    }
    for (left, right) in contracting[0].iter().zip(&contracting[1]) {
        let factor = rule.add_reduced_factor(*sides[0].get(*left)?);
        rule.set_factor(0, *left, factor);
        rule.set_factor(1, *right, factor);
    }
    Some(rule)
}

/// `dot`: the last dimension of the left operand and the first of the right one.
fn multiply_matrices(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let last = context.operand(0)?.len().checked_sub(1)?;
    join_product(context, &[vec![], vec![]], &[vec![last], vec![0]])
}

/// The dimensions that remain, and those that are reduced: partial results are combined by the region where it is one operation
/// of both elements, and else reduced again.
fn reduce_dimensions(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let mut rule = context.cheap_rule();
    let reduced = context.positions("dimensions")?;
    let count = context.operands / 2;
    let region = RegionCombiner::find(context.module, context.op).filter(|_| count == 1);
    let mut next = 0;
    for (at, size) in context.operand(0)?.iter().enumerate() {
        if !reduced.contains(&at) {
            let inputs = (0..count).map(|input| (input, at));
            let results = (0..count).map(|result| (context.operands + result, next));
            let dimensions: Vec<(usize, usize)> = inputs.chain(results).collect();
            rule.join_dimensions(*size, &dimensions);
            next += 1;
        } else {
            let factor = rule.add_reduced_factor(*size);
            for input in 0..count {
                rule.set_factor(input, at, factor);
            }
        }
    }
    rule.combination = PartialCombination::Again;
    if let Some(region) = region
        && let Some(initial) = region.find_initial(context, 1..2)
    {
        rule.combination = PartialCombination::Region;
        rule.initial = initial;
    }
    Some(rule)
}

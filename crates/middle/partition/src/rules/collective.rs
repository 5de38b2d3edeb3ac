//! Rules of collectives that stand in manual computations. Their groups differ along manual axes alone, so that parts along the
//! other axes stay where they are.

use super::context::{RuleContext, RuleRow};
use crate::rule::ShardingRule;
use spirula_stablehlo::MlirOpcode as Op;

pub(super) const RULES: &[RuleRow] = &[(
    &[
        Op::AllGather,
        Op::AllReduce,
        Op::AllToAll,
        Op::CollectiveBroadcast,
        Op::CollectivePermute,
        Op::ReduceScatter,
    ],
    keep_other_dimensions,
)];

/// Properties with dimensions that a collective puts together or splits.
const CHANGED: &[&str] = &[
    "all_gather_dim",
    "concat_dimension",
    "scatter_dimension",
    "split_dimension",
];

/// Each operand is a result but for the dimensions that change.
fn keep_other_dimensions(context: &RuleContext<'_>) -> Option<ShardingRule> {
    if !context.is_manual || context.operands != context.result_count() {
        return None;
    }
    let mut rule = context.cheap_rule();
    let changed: Vec<usize> = CHANGED
        .iter()
        .filter_map(|name| context.position(name))
        .collect();
    for tensor in 0..context.operands {
        for (at, size) in context.operand(tensor)?.iter().enumerate() {
            if !changed.contains(&at) {
                rule.join_dimensions(*size, &[(tensor, at), (context.operands + tensor, at)]);
            }
        }
    }
    Some(rule)
}

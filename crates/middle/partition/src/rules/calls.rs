//! Rules of custom calls.

use super::context::{RuleContext, RuleRow};
use super::elementwise::{match_equal_shapes, pair_operands};
use super::structured::select_largest;
use crate::rule::ShardingRule;
use spirula_stablehlo::MlirOpcode as Op;

pub(super) const RULES: &[RuleRow] = &[(&[Op::CustomCall], match_target)];

/// Functions of one element that XLA writes as calls.
const FUNCTIONS: &[&str] = &[
    "mhlo.acos",
    "mhlo.acosh",
    "mhlo.asin",
    "mhlo.asinh",
    "mhlo.atanh",
    "mhlo.cosh",
    "mhlo.erf",
    "mhlo.sinh",
    "mhlo.tan",
];

fn match_target(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let target = context.module.find_text(context.op, "call_target_name")?;
    match target {
        "Sharding" | "LayoutConstraint" | "annotate_device_placement" | "InspectSharding" => {
            pair_operands(context)
        }
        "mhlo.topk" => select_largest(context),
        "tridiagonal_solve_perturbed_ffi" => join_batches(context, 1),
        _ if FUNCTIONS.contains(&target) => match_equal_shapes(context),
        _ => {
            let routine = target.strip_prefix("lapack_")?;
            routine.ends_with("_ffi").then_some(())?;
            let has_vectors = routine.ends_with("gtsv_ffi");
            join_batches(context, if has_vectors { 1 } else { 2 })
        }
    }
}

/// Routines of linear algebra: all tensors have the batches first. This is the number of the other dimensions of the first operand.
fn join_batches(context: &RuleContext<'_>, own: usize) -> Option<ShardingRule> {
    let mut rule = context.whole_rule();
    let shape = context.operand(0)?;
    let batches = shape.get(..shape.len().checked_sub(own)?)?;
    if !context
        .shapes
        .iter()
        .all(|shape| shape.starts_with(batches))
    {
        return None;
    }
    for (at, size) in batches.iter().enumerate() {
        let dimensions: Vec<(usize, usize)> = (0..context.shapes.len())
            .map(|tensor| (tensor, at))
            .collect();
        rule.join_dimensions(*size, &dimensions);
    }
    // A device computes whole matrices.
    rule.add_factor(shape[batches.len()..].iter().product());
    Some(rule)
}

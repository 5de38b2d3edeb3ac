//! Rules of convolutions and windows.

use super::context::{RuleContext, RuleRow};
use super::halo::WindowGeometry;
use crate::rule::{CountedFactor, ShardingRule, WindowHalo};
use spirula_stablehlo::MlirOpcode as Op;

pub(super) const RULES: &[RuleRow] = &[
    (&[Op::Convolution], convolve_tensors),
    (&[Op::ReduceWindow], reduce_windows),
    (&[Op::SelectAndScatter], select_and_scatter),
];

/// Batches, features and spatial dimensions.
fn convolve_tensors(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let numbers = context
        .module
        .find_attribute(context.op, "dimension_numbers")?;
    let field = |name| usize::try_from(context.module.field_integer(numbers, name)).ok();
    let mut rule = context.whole_rule();
    let (input, kernel) = (context.operand(0)?, context.operand(1)?);
    let batch = field("input_batch_dimension")?;
    let feature = field("input_feature_dimension")?;
    let outputs = [
        (1, field("kernel_output_feature_dimension")?),
        (2, field("output_feature_dimension")?),
    ];
    let (mut batches, mut features) = (*input.get(batch)?, *input.get(feature)?);
    let mut results = *kernel.get(outputs[0].1)?;
    // Groups of batches or of features are the outermost factor of their dimension, and of the features of the result.
    for (property, dimension, size) in [
        ("batch_group_count", batch, &mut batches),
        ("feature_group_count", feature, &mut features),
    ] {
        let groups = u64::try_from(context.position(property).unwrap_or(1)).ok()?;
        if groups > 1 {
            let factor = rule.add_factor(groups);
            for (tensor, dimension) in [(0, dimension), outputs[0], outputs[1]] {
                rule.set_factor(tensor, dimension, factor);
            }
            *size /= groups;
            results /= groups;
            rule.counted = Some(CountedFactor { property, factor });
        }
    }
    rule.join_dimensions(
        batches,
        &[(0, batch), (2, field("output_batch_dimension")?)],
    );
    rule.join_dimensions(results, &outputs);
    let factor = rule.add_reduced_factor(features);
    rule.set_factor(0, feature, factor);
    rule.set_factor(1, field("kernel_input_feature_dimension")?, factor);
    join_spatial_dimensions(context, &mut rule)?;
    Some(rule)
}

/// The spatial dimensions of input, kernel and output. Devices share the output where its windows begin at the same elements
/// of each part. They share the kernel where that holds for it: so it is for the gradient of a kernel.
fn join_spatial_dimensions(context: &RuleContext<'_>, rule: &mut ShardingRule) -> Option<()> {
    let list = |name| context.field_positions("dimension_numbers", name);
    let inputs = list("input_spatial_dimensions")?;
    let kernels = list("kernel_spatial_dimensions")?;
    let outputs = list("output_spatial_dimensions")?;
    let count = inputs.len();
    let [strides, base, dilation] = ["window_strides", "lhs_dilation", "rhs_dilation"]
        .map(|name| context.integers_or(name, 1, count));
    let padding = context.integers_or("padding", 0, 2 * count);
    let reversed = context.integers_or("window_reversal", 0, count);
    for row in 0..count {
        let (at, window, to) = (*inputs.get(row)?, *kernels.get(row)?, *outputs.get(row)?);
        let size =
            |tensor: usize, dimension: usize| context.shapes.get(tensor)?.get(dimension).copied();
        let (input, kernel, output) = (size(0, at)?, size(1, window)?, size(2, to)?);
        let reach = |size: u64, step: i64| {
            let steps = i64::try_from(size).ok()?.checked_sub(1)?;
            steps.checked_mul(step)?.checked_add(1)
        };
        let by_output = WindowGeometry {
            input,
            output,
            extent: reach(kernel, *dilation.get(row)?).unwrap_or(0),
            step: *strides.get(row)?,
            base: *base.get(row)?,
            low: *padding.get(2 * row)?,
            row,
            rows: count,
        };
        let by_kernel = WindowGeometry {
            output: kernel,
            extent: reach(output, by_output.step).unwrap_or(0),
            step: *dilation.get(row)?,
            ..by_output
        };
        let is_plain = reversed.get(row) == Some(&0);
        let (factor, shared) = if let Some(parts) = by_output.find_parts() {
            let factor = rule.add_factor(parts);
            rule.halos.extend(by_output.find_halo(factor, 1, at));
            (factor, [(0, at), (2, to)])
        } else if let Some(parts) = by_kernel.find_parts().filter(|_| is_plain) {
            let factor = rule.add_reduced_factor(parts);
            rule.halos.extend(by_kernel.find_halo(factor, 1, at));
            (factor, [(0, at), (1, window)])
        } else {
            // No device shares the work.
            rule.add_factor(kernel);
            rule.add_factor(output);
            continue;
        };
        let parts = rule.factors[factor].size;
        if rule.find_halo(factor).is_some() {
            for (tensor, dimension) in shared {
                rule.set_factor(tensor, dimension, factor);
            }
        }
        rule.add_factor(kernel.saturating_mul(output) / parts);
    }
    Some(())
}

/// The windows of each dimension of an operation, of which operand and result have these shapes.
fn list_geometries(
    context: &RuleContext<'_>,
    input: &[u64],
    output: &[u64],
) -> Option<Vec<WindowGeometry>> {
    let rank = input.len();
    let window = context.integers_or("window_dimensions", 1, rank);
    let strides = context.integers_or("window_strides", 1, rank);
    let base = context.integers_or("base_dilations", 1, rank);
    let dilation = context.integers_or("window_dilations", 1, rank);
    let padding = context.integers_or("padding", 0, 2 * rank);
    let geometry = |at: usize| {
        let steps = window.get(at)?.checked_sub(1)?;
        Some(WindowGeometry {
            input: *input.get(at)?,
            output: *output.get(at)?,
            extent: steps.checked_mul(*dilation.get(at)?)?.checked_add(1)?,
            step: *strides.get(at)?,
            base: *base.get(at)?,
            low: *padding.get(2 * at)?,
            row: at,
            rows: rank,
        })
    };
    (0..rank).map(geometry).collect()
}

fn reduce_windows(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let mut rule = context.whole_rule();
    let count = context.operands / 2;
    let geometries = list_geometries(context, context.operand(0)?, context.result(0)?)?;
    for (at, geometry) in geometries.iter().enumerate() {
        let Some(parts) = geometry.find_parts() else {
            continue;
        };
        let factor = rule.add_factor(parts);
        if let Some(halo) = geometry.find_halo(factor, count, at) {
            rule.halos.push(WindowHalo {
                has_fill: true,
                ..halo
            });
            for tensor in (0..count).chain(context.operands..context.shapes.len()) {
                rule.set_factor(tensor, at, factor);
            }
        }
    }
    Some(rule)
}

/// Dimensions whose windows do not overlap.
fn select_and_scatter(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let mut rule = context.whole_rule();
    let geometries = list_geometries(context, context.operand(0)?, context.operand(1)?)?;
    for (at, geometry) in geometries.iter().enumerate() {
        let is_apart = geometry.extent == geometry.step && geometry.low == 0;
        let Some(parts) = geometry.find_parts().filter(|_| is_apart) else {
            continue;
        };
        let factor = rule.add_factor(parts);
        rule.halos.extend(geometry.find_halo(factor, 1, at));
        for tensor in [0, 1, 3] {
            rule.set_factor(tensor, at, factor);
        }
    }
    Some(rule)
}

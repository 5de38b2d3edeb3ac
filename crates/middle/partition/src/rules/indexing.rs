//! Rules of slices, gathers and scatters.

use super::combiner::RegionCombiner;
use super::context::{RuleContext, RuleRow};
use super::halo::WindowGeometry;
use crate::rule::{
    PartialCombination, PropagationStage, SelectedFactor, ShardingRule, WindowHalo, WindowProperty,
};
use spirula_stablehlo::MlirOpcode as Op;

pub(super) const RULES: &[RuleRow] = &[
    (&[Op::Slice], slice_dimensions),
    (&[Op::DynamicSlice], slice_dynamically),
    (&[Op::DynamicUpdateSlice], update_slice),
    (&[Op::Gather], gather_slices),
    (&[Op::Scatter], scatter_windows),
];

/// Dimensions that are taken as a whole correspond, and those of which each part gives as many elements.
fn slice_dimensions(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let mut rule = context.cheap_rule();
    let rank = context.operand(0)?.len();
    let strides = context.integers_or("strides", 1, rank);
    let starts = context.integers_or("start_indices", 0, rank);
    let pairs = context.operand(0)?.iter().zip(context.result(0)?);
    for (at, (from, to)) in pairs.enumerate() {
        if from == to && strides.get(at) == Some(&1) {
            rule.join_dimensions(*from, &[(0, at), (1, at)]);
            continue;
        }
        let geometry = WindowGeometry {
            input: *from,
            output: *to,
            extent: 1,
            step: *strides.get(at)?,
            base: 1,
            low: starts.get(at)?.checked_neg()?,
            row: at,
            rows: rank,
        };
        let Some(parts) = geometry.find_parts() else {
            continue;
        };
        let factor = rule.add_factor(parts);
        if let Some(halo) = geometry.find_halo(factor, 1, at) {
            let property = WindowProperty::Bounds;
            rule.halos.push(WindowHalo { property, ..halo });
            rule.set_factor(0, at, factor);
            rule.set_factor(1, at, factor);
        }
    }
    rule.size_list = Some("limit_indices");
    Some(rule)
}

/// Dimensions that are taken as a whole, and those of which one element is taken: the device that has it gives it to the others.
fn slice_dynamically(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let mut rule = context.cheap_rule();
    let has_zero = context.has_zero(0);
    let pairs = context.operand(0)?.iter().zip(context.result(0)?);
    for (at, (from, to)) in pairs.enumerate() {
        if from == to {
            rule.join_dimensions(*from, &[(0, at), (context.operands, at)]);
        } else if *to == 1 && has_zero {
            let factor = rule.add_reduced_factor(*from);
            rule.set_factor(0, at, factor);
            rule.selected.push(SelectedFactor {
                factor,
                dimension: at,
                indices: 1 + at,
                component: 0,
            });
        }
    }
    rule.size_list = Some("slice_sizes");
    Some(rule)
}

/// Dimensions that are replaced as a whole, and those of which one element is replaced, by the device that has it.
fn update_slice(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let mut rule = context.cheap_rule();
    let pairs = context.operand(0)?.iter().zip(context.operand(1)?);
    for (at, (whole, update)) in pairs.enumerate() {
        if whole == update {
            rule.join_dimensions(*whole, &[(0, at), (1, at), (context.operands, at)]);
        } else if *update == 1 {
            let factor = rule.add_factor(*whole);
            rule.set_factor(0, at, factor);
            rule.set_factor(context.operands, at, factor);
            rule.selected.push(SelectedFactor {
                factor,
                dimension: at,
                indices: 2 + at,
                component: 0,
            });
        }
    }
    Some(rule)
}

/// Dimensions of a tensor that are in none of some lists.
fn other_dimensions(rank: usize, lists: [&[usize]; 2]) -> Vec<usize> {
    let is_other = |at: &usize| lists.iter().all(|list| !list.contains(at));
    (0..rank).filter(is_other).collect()
}

/// The dimensions of indices that are no components of an index.
fn batch_of_indices(rank: usize, vector: usize) -> Vec<usize> {
    (0..rank).filter(|at| *at != vector).collect()
}

/// Slices that take a dimension as a whole, and the dimensions of the indices. Along a dimension of which a slice has one element,
/// each device looks up what it has.
fn gather_slices(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let field = |name| context.field_positions("dimension_numbers", name);
    let mut rule = context.cheap_rule();
    let (operand, indices) = (context.operand(0)?, context.operand(1)?);
    let result = context.result(0)?;
    let offsets = field("offset_dims")?;
    let collapsed = field("collapsed_slice_dims")?;
    let batching = field("operand_batching_dims")?;
    let paired = field("start_indices_batching_dims")?;
    let numbers = context
        .module
        .find_attribute(context.op, "dimension_numbers")?;
    let vector = context.module.field_integer(numbers, "index_vector_dim");
    let sizes = context.positions("slice_sizes")?;
    let kept = other_dimensions(operand.len(), [&collapsed, &batching]);
    for (from, to) in kept.iter().zip(&offsets) {
        if sizes.get(*from).copied() == usize::try_from(operand[*from]).ok() {
            rule.join_dimensions(operand[*from], &[(0, *from), (2, *to)]);
        }
    }
    let outer = other_dimensions(result.len(), [&offsets, &[]]);
    let of_indices = batch_of_indices(indices.len(), usize::try_from(vector).ok()?);
    for (from, to) in of_indices.iter().zip(&outer) {
        let mut dimensions = vec![(1, *from), (2, *to)];
        let pair = paired.iter().position(|at| at == from);
        if let Some(pair) = pair {
            dimensions.push((0, *batching.get(pair)?));
        }
        rule.join_dimensions(indices[*from], &dimensions);
    }
    let selected = field("start_index_map")?;
    let selected = selected.iter().enumerate();
    for (component, dimension) in selected.filter(|_| context.has_zero(0)) {
        let size = *operand.get(*dimension)?;
        if size > 1 && sizes.get(*dimension) == Some(&1) {
            let factor = rule.add_reduced_factor(size);
            rule.set_factor(0, *dimension, factor);
            rule.selected.push(SelectedFactor {
                factor,
                dimension: *dimension,
                indices: 1,
                component,
            });
        }
    }
    rule.size_list = Some("slice_sizes");
    Some(rule)
}

/// Windows that cover a dimension which no index selects, and batches. Along a dimension of which a window has one element, each
/// device writes what it has. Devices share the indices where their results can be combined.
fn scatter_windows(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let field = |name| context.field_positions("scatter_dimension_numbers", name);
    let mut rule = context.cheap_rule();
    rule.stage = PropagationStage::Work;
    let count = (context.operands - 1) / 2;
    let (input, indices) = (context.operand(0)?, context.operand(count)?);
    let update = context.operand(count + 1)?;
    let windows = field("update_window_dims")?;
    let inserted = field("inserted_window_dims")?;
    let batching = field("input_batching_dims")?;
    let paired = field("scatter_indices_batching_dims")?;
    let selected = field("scatter_dims_to_operand_dims")?;
    let numbers = context
        .module
        .find_attribute(context.op, "scatter_dimension_numbers")?;
    let vector = context.module.field_integer(numbers, "index_vector_dim");
    let every = |input: Option<usize>, update: Option<usize>| {
        let mut dimensions = Vec::new();
        for at in 0..count {
            dimensions.extend(input.map(|dimension| (at, dimension)));
            dimensions.extend(update.map(|dimension| (count + 1 + at, dimension)));
            dimensions.extend(input.map(|dimension| (context.operands + at, dimension)));
        }
        dimensions
    };
    let kept = other_dimensions(input.len(), [&inserted, &batching]);
    for (to, from) in kept.iter().zip(&windows) {
        if update.get(*from) == Some(&input[*to]) && !selected.contains(to) {
            rule.join_dimensions(input[*to], &every(Some(*to), Some(*from)));
        }
    }
    for (component, dimension) in selected.iter().enumerate() {
        let window = kept.iter().position(|at| at == dimension);
        let window = window.and_then(|at| update.get(*windows.get(at)?));
        let size = *input.get(*dimension)?;
        if size > 1 && window.is_none_or(|window| *window == 1) {
            let factor = rule.add_factor(size);
            for (tensor, dimension) in every(Some(*dimension), None) {
                rule.set_factor(tensor, dimension, factor);
            }
            rule.selected.push(SelectedFactor {
                factor,
                dimension: *dimension,
                indices: count,
                component,
            });
        }
    }
    let combiner = RegionCombiner::find(context.module, context.op).filter(|_| count == 1);
    let initial = combiner.and_then(|combiner| combiner.find_initial(context, 0..1));
    let outer = other_dimensions(update.len(), [&windows, &[]]);
    let of_indices = batch_of_indices(indices.len(), usize::try_from(vector).ok()?);
    for (from, to) in of_indices.iter().zip(&outer) {
        let Some(pair) = paired.iter().position(|at| at == from) else {
            if initial.is_some() {
                let factor = rule.add_reduced_factor(indices[*from]);
                rule.set_factor(count, *from, factor);
                rule.set_factor(count + 1, *to, factor);
            }
            continue;
        };
        let mut dimensions = every(Some(*batching.get(pair)?), Some(*to));
        dimensions.push((count, *from));
        rule.join_dimensions(indices[*from], &dimensions);
    }
    rule.combination = PartialCombination::Region;
    rule.initial = initial.flatten();
    Some(rule)
}

//! Entry and exit of manual computations.

use super::value::{ShardContext, ShardState, ShardedValue, join_tensors};
use crate::dialect::records::ManualComputationAttributes;
use crate::mlir::MlirOp;
use crate::sharding::{TensorSharding, read_manual_axes, read_sharding_list};
use crate::translate::error::TranslateResult;
use crate::translate::reduction::find_wide_format;
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::scalar_region::promote_element;
use crate::translate::translator::{StablehloTranslator, TranslatedValue, TypedTensor};
use spirula_tensor::ir::{DimExtent, TensorShape};
use std::rc::Rc;

/// Most shards of a program.
const MOST_SHARDS: usize = 1024;

/// `sdy.manual_computation`
pub(in crate::translate) fn translate_manual_computation(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let attributes: ManualComputationAttributes = t.read_attributes(op)?;
    let malformed = |name| t.invalid_error(op, format!("`{name}` is malformed"));
    let axes = read_manual_axes(t.module, attributes.manual_axes);
    let axes = axes.ok_or_else(|| malformed("manual_axes"))?;
    let inputs = read_sharding_list(t.module, attributes.in_shardings);
    let inputs = inputs.ok_or_else(|| malformed("in_shardings"))?;
    let outputs = read_sharding_list(t.module, attributes.out_shardings);
    let outputs = outputs.ok_or_else(|| malformed("out_shardings"))?;
    let operands = t.sharded_operands(op)?;
    let fits = inputs.len() == operands.len() && outputs.len() == t.module.results(op).len();
    t.ensure_holds(op, fits, "has too few or many shardings")?;
    let body = t.region_block(op, 0)?;
    let outer_count = t.shards.count();
    let context = enter_context(t, op, &axes, inputs.iter().chain(&outputs))?;
    let mut arguments = Vec::new();
    for (operand, sharding) in operands.iter().zip(&inputs) {
        let sharding = restrict_sharding(sharding, &axes);
        arguments.push(cut_operand(t, op, operand, &sharding, &context)?);
    }
    let outer = std::mem::take(&mut t.shards);
    t.shards = ShardState {
        context: Some(context.clone()),
        current: None,
        active: outer.active.clone().map(|active| {
            let ratio = context.points.len() / outer_count;
            let all = active.iter().flat_map(|one| vec![*one; ratio]);
            all.collect()
        }),
    };
    t.bind_arguments_in_step(op, body, arguments)?;
    t.progress.nesting += usize::from(outer.context.is_some());
    let results = t.translate_in_step(body)?;
    t.progress.nesting -= usize::from(outer.context.is_some());
    let mut joined = Vec::new();
    for (result, sharding) in results.iter().zip(&outputs) {
        let sharding = restrict_sharding(sharding, &axes);
        joined.push(join_result(
            t,
            op,
            result,
            &sharding,
            &context,
            outer_count,
        )?);
    }
    t.shards = outer;
    t.bind_sharded_results(op, joined)
}

/// The shards of a computation that makes axes manual.
fn enter_context<'s>(
    t: &StablehloTranslator<'_>,
    op: MlirOp,
    axes: &[String],
    mut shardings: impl Iterator<Item = &'s TensorSharding>,
) -> TranslateResult<Rc<ShardContext>> {
    let outer = t.shards.context.as_deref();
    let first = shardings.next().map(|sharding| sharding.mesh.clone());
    let mesh = first.or_else(|| outer.map(|outer| outer.mesh.clone()));
    let mesh = mesh.unwrap_or_default();
    let mut is_one = shardings.all(|sharding| sharding.mesh.axes == mesh.axes);
    is_one &= outer.is_none_or(|outer| outer.mesh.axes == mesh.axes);
    if !is_one {
        return Err(t.unsupported_error(op, "manual computation over several meshes"));
    }
    let mut manual = outer.map_or_else(Vec::new, |outer| outer.manual.clone());
    let mut points = match outer {
        Some(outer) => outer.points.clone(),
        None => vec![vec![0; mesh.axes.len()]],
    };
    for name in axes {
        let at = mesh.find_axis(name).filter(|_| !manual.contains(name));
        let at = at.ok_or_else(|| {
            t.invalid_error(op, format!("there is no axis {name:?} to make manual"))
        })?;
        manual.push(name.clone());
        let size = mesh.axes[at].size;
        let along = points.iter().flat_map(|point| {
            (0..size).map(move |coordinate| {
                let mut point = point.clone();
                point[at] = coordinate;
                point
            })
        });
        points = along.collect();
        if points.len() > MOST_SHARDS {
            return Err(t.unsupported_error(
                op,
                format!("manual computation of more than {MOST_SHARDS} shards"),
            ));
        }
    }
    Ok(Rc::new(ShardContext {
        mesh,
        manual,
        points,
    }))
}

/// A sharding without axes other than these.
fn restrict_sharding(sharding: &TensorSharding, axes: &[String]) -> TensorSharding {
    let mut sharding = sharding.clone();
    for dimension in &mut sharding.dimensions {
        dimension.retain(|axis| axes.contains(&axis.name));
    }
    sharding.unreduced.retain(|axis| axes.contains(&axis.name));
    sharding
}

/// An operand on all shards.
fn cut_operand(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    operand: &ShardedValue,
    sharding: &TensorSharding,
    context: &ShardContext,
) -> TranslateResult<ShardedValue> {
    let count = context.points.len();
    if sharding.is_replicated() {
        let expanded = (0..count).filter_map(|shard| operand.of_shard(shard, count).cloned());
        return Ok(match operand {
            ShardedValue::Shared(_) => operand.clone(),
            ShardedValue::Each(_) => ShardedValue::Each(expanded.collect()),
        });
    }
    let mut shards = Vec::new();
    for (shard, point) in context.points.iter().enumerate() {
        let Some(TranslatedValue::Tensor(whole)) = operand.of_shard(shard, count).cloned() else {
            return Err(t.invalid_error(op, "a tensor is expected as operand"));
        };
        let sizes = t.static_sizes(op, &whole)?;
        let Some(own) = sharding.shard_sizes(&sizes) else {
            return Err(t.unsupported_error(op, "shards of different sizes"));
        };
        let position = sharding.shard_position(point);
        let starts: Vec<u64> = position
            .iter()
            .zip(&own)
            .map(|(at, size)| at * size)
            .collect();
        let mut tensor = t.cut_tensor(&whole, &starts, &own)?;
        // The first of the shards with summands has the whole sum.
        if sharding.summand_position(point).0 > 0 {
            tensor = t.emit_zeros(tensor.element, &t.tensor_shape(&tensor));
        }
        shards.push(TranslatedValue::Tensor(tensor));
    }
    Ok(ShardedValue::Each(shards))
}

/// A result of all shards, put together for the shards of the computation outside.
fn join_result(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    result: &ShardedValue,
    sharding: &TensorSharding,
    context: &ShardContext,
    outer_count: usize,
) -> TranslateResult<ShardedValue> {
    let counts = sharding.shard_counts();
    if sharding.is_replicated() && matches!(result, ShardedValue::Shared(_)) {
        return Ok(result.clone());
    }
    let values = t.expand_value(result);
    let ratio = values.len() / outer_count;
    let mut joined = Vec::new();
    for (own, points) in values.chunks(ratio).zip(context.points.chunks(ratio)) {
        // Tokens are replicated.
        let Some(tensors) = own.iter().map(as_tensor).collect::<Option<Vec<_>>>() else {
            return Ok(ShardedValue::Shared(own[0].clone()));
        };
        let positions: Vec<(Vec<u64>, u64)> = points
            .iter()
            .map(|point| {
                let (summand, _) = sharding.summand_position(point);
                (sharding.shard_position(point), summand)
            })
            .collect();
        joined.push(join_shards(t, op, &tensors, &positions, &counts)?);
    }
    Ok(join_tensors(joined))
}

fn as_tensor(value: &TranslatedValue) -> Option<TypedTensor> {
    match value {
        TranslatedValue::Tensor(tensor) => Some(tensor.clone()),
        _ => None,
    }
}

/// The tensor whose shards stand at positions of a grid of these sizes; those of one position with other numbers are summands.
fn join_shards(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    tensors: &[TypedTensor],
    positions: &[(Vec<u64>, u64)],
    counts: &[u64],
) -> TranslateResult<TypedTensor> {
    let mut grid = Vec::new();
    let total: u64 = counts.iter().product();
    for index in 0..total {
        let mut rest = index;
        let mut position = vec![0; counts.len()];
        for (at, count) in position.iter_mut().zip(counts).rev() {
            *at = rest % count;
            rest /= count;
        }
        let mut summands = Vec::new();
        while let Some(found) = positions
            .iter()
            .position(|own| own.0 == position && own.1 == summands.len() as u64)
        {
            summands.push(tensors[found].clone());
        }
        t.ensure_holds(op, !summands.is_empty(), "lacks a shard of a result")?;
        grid.push(sum_tensors(t, op, &summands)?);
    }
    for (dimension, count) in counts
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, count)| **count > 1)
    {
        let mut rows = Vec::new();
        for row in grid.chunks(*count as usize) {
            rows.push(t.concatenate_tensors(op, row, dimension)?);
        }
        grid = rows;
    }
    Ok(grid.remove(0))
}

/// The sum of tensors of one type.
fn sum_tensors(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    tensors: &[TypedTensor],
) -> TranslateResult<TypedTensor> {
    let [first, rest @ ..] = tensors else {
        return Err(t.invalid_error(op, "a sum has no summands"));
    };
    if rest.is_empty() {
        return Ok(first.clone());
    }
    let element = first.element;
    let inner = promote_element(element, find_wide_format(&[element]));
    let shape = t.tensor_shape(first);
    t.map_points(&shape, |t, s, point| {
        let mut sum: Option<ElementValue> = None;
        for tensor in tensors {
            let value = t.read_element(s, tensor, point);
            let mut c = ScalarBuilder::new(&mut s.body);
            let value = c.convert_value(&value, inner);
            let value = value.ok_or_else(|| t.unsupported_error(op, "type in a sum"))?;
            sum = Some(match sum {
                None => value,
                Some(sum) => {
                    let pairs = sum.nodes.iter().zip(&value.nodes);
                    ElementValue {
                        element: inner,
                        nodes: pairs.map(|(a, b)| c.add(*a, *b)).collect(),
                    }
                }
            });
        }
        let mut c = ScalarBuilder::new(&mut s.body);
        let sum = sum.and_then(|sum| c.convert_value(&sum, element));
        sum.ok_or_else(|| t.unsupported_error(op, "type in a sum"))
    })
}

impl StablehloTranslator<'_> {
    /// A part of a tensor.
    pub(super) fn cut_tensor(
        &mut self,
        tensor: &TypedTensor,
        starts: &[u64],
        sizes: &[u64],
    ) -> TranslateResult<TypedTensor> {
        let shape: TensorShape = sizes.iter().map(|size| DimExtent::Static(*size)).collect();
        if shape == self.tensor_shape(tensor) {
            return Ok(tensor.clone());
        }
        self.gather_elements(tensor, &shape, |c, point| {
            let pairs = point.iter().zip(starts);
            pairs
                .map(|(index, start)| c.add_constant(*index, *start as f64))
                .collect()
        })
    }
}

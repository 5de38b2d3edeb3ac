//! Collectives over groups of shards.

use super::value::join_tensors;
use crate::dialect::MlirOpcode;
use crate::dialect::NamedInteger;
use crate::dialect::records::{
    AllToAllAttributes, CollectiveAttributes, CollectivePermuteAttributes,
    GatherDimensionAttributes, ScatterDimensionAttributes,
};
use crate::mlir::{MlirBlock, MlirOp};
use crate::sharding::read_replica_groups;
use crate::translate::error::TranslateResult;
use crate::translate::reduction::find_wide_format;
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::scalar_region::{promote_element, translate_scalar_region};
use crate::translate::translator::{StablehloTranslator, TypedTensor};

/// Whether an operation combines values of several devices.
pub(super) fn is_collective(opcode: MlirOpcode) -> bool {
    use MlirOpcode as Op;
    matches!(
        opcode,
        Op::AllReduce
            | Op::AllGather
            | Op::AllToAll
            | Op::ReduceScatter
            | Op::CollectiveBroadcast
            | Op::CollectivePermute
            | Op::CrossReplicaSum
    )
}

/// Translates a collective for all shards.
pub(super) fn translate_collective(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    opcode: MlirOpcode,
) -> TranslateResult<()> {
    let mut results = Vec::new();
    for operand in t.sharded_operands(op)? {
        let tensors = t.expand_tensors(op, &operand)?;
        results.push(match opcode {
            MlirOpcode::CollectivePermute => permute_shards(t, op, tensors)?,
            _ => combine_groups(t, op, opcode, tensors)?,
        });
    }
    let count = t.module.results(op).len();
    t.ensure_holds(op, count == results.len(), "has another number of results")?;
    let items = results.into_iter().map(join_tensors).collect();
    t.bind_sharded_results(op, items)
}

/// The shards of each group. Groups name devices of the whole mesh; those that only differ along axes that are not manual
/// are the same group of shards.
fn read_groups(t: &StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<Vec<Vec<usize>>> {
    let CollectiveAttributes {
        replica_groups,
        channel_handle,
    } = t.read_attributes(op)?;
    let groups = replica_groups.and_then(|groups| read_replica_groups(t.module, groups));
    let groups = groups.ok_or_else(|| t.unsupported_error(op, "form of replica groups"))?;
    if channel_handle.is_none() {
        // The groups are of replicas, of which there is one.
        return Ok((0..t.shards.count()).map(|shard| vec![shard]).collect());
    }
    let shards = shards_of_devices(t);
    let find = |id: &u64| shards.iter().position(|device| device == id);
    let groups = groups.iter();
    let groups = groups.map(|group| group.iter().filter_map(find).collect());
    Ok(groups
        .filter(|group: &Vec<usize>| !group.is_empty())
        .collect())
}

/// The device of each shard.
fn shards_of_devices(t: &StablehloTranslator<'_>) -> Vec<u64> {
    match &t.shards.context {
        Some(context) => {
            let points = context.points.iter();
            points.map(|point| context.mesh.device_at(point)).collect()
        }
        None => vec![0],
    }
}

/// A collective whose groups work by themselves.
fn combine_groups(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    opcode: MlirOpcode,
    tensors: Vec<TypedTensor>,
) -> TranslateResult<Vec<TypedTensor>> {
    let mut results = tensors.clone();
    for group in read_groups(t, op)? {
        let own: Vec<TypedTensor> = group.iter().map(|shard| tensors[*shard].clone()).collect();
        let combined = match opcode {
            MlirOpcode::AllReduce => {
                let sum = reduce_tensors(t, op, &own)?;
                vec![sum; own.len()]
            }
            MlirOpcode::ReduceScatter => {
                let sum = reduce_tensors(t, op, &own)?;
                let ScatterDimensionAttributes { scatter_dimension } = t.read_attributes(op)?;
                split_tensor(t, op, &sum, scatter_dimension, own.len())?
            }
            MlirOpcode::AllGather => {
                let GatherDimensionAttributes { all_gather_dim } = t.read_attributes(op)?;
                let rank = t.tensor_shape(&own[0]).len();
                let dimension = t.check_dimension(op, all_gather_dim, rank)?;
                let all = t.concatenate_tensors(op, &own, dimension)?;
                vec![all; own.len()]
            }
            MlirOpcode::AllToAll => exchange_parts(t, op, &own)?,
            MlirOpcode::CollectiveBroadcast => vec![own[0].clone(); own.len()],
            _ => {
                let name = opcode.name();
                return Err(t.unsupported_error(op, format!("{name} among several devices")));
            }
        };
        for (shard, tensor) in group.into_iter().zip(combined) {
            results[shard] = tensor;
        }
    }
    Ok(results)
}

/// The elements of tensors of one type combined by the region of an operation.
fn reduce_tensors(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    tensors: &[TypedTensor],
) -> TranslateResult<TypedTensor> {
    let block: MlirBlock = t.region_block(op, 0)?;
    let element = tensors[0].element;
    let wide = find_wide_format(&[element]);
    let inner = promote_element(element, wide);
    let shape = t.tensor_shape(&tensors[0]);
    t.map_points(&shape, |t, s, point| {
        let convert = |s: &mut spirula_tensor::ir::StructuredOp, value: &ElementValue, to| {
            ScalarBuilder::new(&mut s.body).convert_value(value, to)
        };
        let mut sum: Option<ElementValue> = None;
        for tensor in tensors {
            let value = t.read_element(s, tensor, point);
            let value = convert(s, &value, inner);
            let value = value.ok_or_else(|| t.unsupported_error(op, "type in a reduction"))?;
            sum = Some(match sum {
                None => value,
                Some(sum) => {
                    let arguments = vec![sum, value];
                    let results = translate_scalar_region(t, &mut s.body, block, arguments, wide)?;
                    let [result] = results.as_slice() else {
                        return Err(t.invalid_error(op, "a reduction has a region of another type"));
                    };
                    result.clone()
                }
            });
        }
        let sum = sum.and_then(|sum| convert(s, &sum, element));
        sum.ok_or_else(|| t.unsupported_error(op, "type in a reduction"))
    })
}

/// Equal parts of a tensor along a dimension.
fn split_tensor(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    tensor: &TypedTensor,
    dimension: NamedInteger,
    count: usize,
) -> TranslateResult<Vec<TypedTensor>> {
    let mut sizes = t.static_sizes(op, tensor)?;
    let dimension = t.check_dimension(op, dimension, sizes.len())?;
    let fits = sizes[dimension] % count as u64 == 0;
    t.ensure_holds(
        op,
        fits,
        "splits a dimension that its group does not divide",
    )?;
    sizes[dimension] /= count as u64;
    let mut parts = Vec::new();
    for at in 0..count as u64 {
        let mut starts = vec![0; sizes.len()];
        starts[dimension] = at * sizes[dimension];
        parts.push(t.cut_tensor(tensor, &starts, &sizes)?);
    }
    Ok(parts)
}

/// `all_to_all`: each shard gets a part of every shard.
fn exchange_parts(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    tensors: &[TypedTensor],
) -> TranslateResult<Vec<TypedTensor>> {
    let AllToAllAttributes {
        split_dimension,
        concat_dimension,
    } = t.read_attributes(op)?;
    let rank = t.tensor_shape(&tensors[0]).len();
    let dimension = t.check_dimension(op, concat_dimension, rank)?;
    let mut parts = Vec::new();
    for tensor in tensors {
        parts.push(split_tensor(t, op, tensor, split_dimension, tensors.len())?);
    }
    let mut results = Vec::new();
    for at in 0..tensors.len() {
        let own: Vec<TypedTensor> = parts.iter().map(|of| of[at].clone()).collect();
        results.push(t.concatenate_tensors(op, &own, dimension)?);
    }
    Ok(results)
}

/// `collective_permute`: a shard that nobody sends to gets zeros.
fn permute_shards(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    tensors: Vec<TypedTensor>,
) -> TranslateResult<Vec<TypedTensor>> {
    let CollectivePermuteAttributes {
        source_target_pairs,
        channel_handle,
    } = t.read_attributes(op)?;
    if channel_handle.is_none() {
        // Replicas send, of which there is one.
        let sends = source_target_pairs.0.values == [0, 0];
        t.ensure_holds(op, sends, "sends to other replicas")?;
        return Ok(tensors);
    }
    let devices = shards_of_devices(t);
    let find = |id: i64| {
        devices
            .iter()
            .position(|device| i64::try_from(*device) == Ok(id))
    };
    let shape = t.tensor_shape(&tensors[0]);
    let zeros = t.emit_zeros(tensors[0].element, &shape);
    let mut results = vec![zeros; tensors.len()];
    for pair in source_target_pairs.0.values.chunks_exact(2) {
        if let (Some(source), Some(target)) = (find(pair[0]), find(pair[1])) {
            results[target] = tensors[source].clone();
        }
    }
    Ok(results)
}

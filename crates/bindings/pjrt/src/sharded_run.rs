//! Executions on several logical devices: arguments are put together of shards, results are cut into shards. A partitioned program
//! takes and gives the shards as they are.

use crate::buffer::upload_value;
use crate::device_state::{DeviceArrayId, DeviceState};
use crate::element::ArrayType;
use crate::error::PluginResult;
use crate::execute::{
    ResultList, ShardedArguments, ShardedResults, call_program, own_value, take_argument,
};
use crate::ffi::SharedUserData;
use crate::host_array::make_zeros;
use crate::host_call::RunningProgram;
use crate::module::CompiledModule;
use crate::module_sharding::{ArrayShards, ShardPlace};
use crate::queue::JobProgress;
use spirula_program::ResidentValue;
use std::sync::Arc;

/// Runs a program once for all devices, and stores the shards of its results.
pub fn run_sharded(
    state: &mut DeviceState,
    module: &Arc<CompiledModule>,
    arguments: ShardedArguments,
    results: ShardedResults,
    user_data: Vec<SharedUserData>,
) -> PluginResult<JobProgress> {
    let mut given: Vec<ResidentValue> = Vec::new();
    let gathered = gather_arguments(state, module, &arguments, &mut given);
    if let Err(error) = gathered {
        let values = given.into_iter();
        values.for_each(|value| state.heap.release_value(value));
        return Err(error);
    }
    let of_end = module.clone();
    let running = RunningProgram {
        module: module.clone(),
        user_data,
        end: move |state: &mut DeviceState, values| {
            store_results(state, &of_end, &arguments, &results, values)
        },
    };
    call_program(state, running, given)
}

/// Stores the shards of all results.
fn store_results(
    state: &mut DeviceState,
    module: &CompiledModule,
    arguments: &ShardedArguments,
    results: &[ResultList],
    values: Vec<ResidentValue>,
) -> PluginResult<()> {
    let kept = arguments
        .iter()
        .flatten()
        .filter(|argument| !argument.is_donated);
    let kept: Vec<DeviceArrayId> = kept.map(|argument| argument.id).collect();
    if module.facts.shardings.is_partitioned {
        return store_parts(state, module, kept, results, values);
    }
    for (at, value) in values.into_iter().enumerate() {
        // Further results are those of checks.
        let Some(shards) = module.shards.results.get(at) else {
            state.heap.release_value(value);
            continue;
        };
        let whole = &module.results[at];
        match &shards.places {
            None => store_copies(state, value, &kept, results, at)?,
            Some(places) => {
                let stored = store_shards(state, &value, whole, shards, places, results, at);
                state.heap.release_value(value);
                stored?;
            }
        }
    }
    Ok(())
}

/// Stores the results of a partitioned program, which are shards.
fn store_parts(
    state: &mut DeviceState,
    module: &CompiledModule,
    kept: Vec<DeviceArrayId>,
    results: &[ResultList],
    values: Vec<ResidentValue>,
) -> PluginResult<()> {
    let mut values = values.into_iter();
    let stored = store_next_parts(state, module, kept, results, &mut values);
    // Further results are those of checks.
    values.for_each(|value| state.heap.release_value(value));
    stored
}

fn store_next_parts(
    state: &mut DeviceState,
    module: &CompiledModule,
    mut kept: Vec<DeviceArrayId>,
    results: &[ResultList],
    values: &mut impl Iterator<Item = ResidentValue>,
) -> PluginResult<()> {
    for (at, shards) in module.shards.results.iter().enumerate() {
        if shards.places.is_none() {
            if let Some(value) = values.next() {
                store_copies(state, value, &kept, results, at)?;
            }
            kept.extend(results.iter().map(|own| own[at]));
            continue;
        }
        for (own, value) in results.iter().zip(values.by_ref()) {
            let value = own_value(state, &kept, value)?;
            state.store_array(own[at], Ok(value));
            kept.push(own[at]);
        }
    }
    Ok(())
}

/// Stores the shards of a result.
fn store_shards(
    state: &mut DeviceState,
    value: &ResidentValue,
    whole: &ArrayType,
    shards: &ArrayShards,
    places: &[ShardPlace],
    results: &[ResultList],
    at: usize,
) -> PluginResult<()> {
    let mut bytes = Vec::new();
    for (own, place) in results.iter().zip(places) {
        let mut part = make_zeros(shards.array.byte_count())?;
        // The first summand is the sum, the others are zeros.
        if place.summand == 0 {
            if let Some(offset) = find_rows(whole, &shards.array, &place.starts) {
                state.heap.read_resident(value, offset, &mut part)?;
            } else {
                if bytes.is_empty() {
                    bytes = make_zeros(whole.byte_count())?;
                    state.heap.read_resident(value, 0, &mut bytes)?;
                }
                cut_bytes(&bytes, whole, &shards.array, &place.starts, &mut part);
            }
        }
        let value = upload_value(state, &shards.array, &part)?;
        state.store_array(own[at], Ok(value));
    }
    Ok(())
}

/// The offset in bytes of a shard whose elements follow each other in the whole array, as it consists of rows.
fn find_rows(whole: &ArrayType, part: &ArrayType, starts: &[u64]) -> Option<u64> {
    let starts = whole.permute(starts);
    let (whole, part) = (whole.to_rows(), part.to_rows());
    let ([_, rest @ ..], [_, own @ ..]) = (&whole.sizes[..], &part.sizes[..]) else {
        return None;
    };
    let stride = whole.byte_strides(&whole.minor_to_major())[0];
    (rest == own && !whole.sizes.contains(&0)).then(|| starts[0] * stride.unsigned_abs())
}

/// Puts the arguments together. Donated shards are released.
fn gather_arguments(
    state: &mut DeviceState,
    module: &CompiledModule,
    arguments: &ShardedArguments,
    given: &mut Vec<ResidentValue>,
) -> PluginResult<()> {
    for (at, (whole, shards)) in module
        .parameters
        .iter()
        .zip(&module.shards.parameters)
        .enumerate()
    {
        let value = match &shards.places {
            None => take_argument(state, &arguments[0][at])?,
            Some(_) if module.facts.shardings.is_partitioned => {
                for own in arguments {
                    given.push(take_argument(state, &own[at])?);
                }
                continue;
            }
            Some(places) => gather_argument(state, whole, shards, places, arguments, at)?,
        };
        given.push(value);
        let rest = match shards.places {
            None => &arguments[1..],
            Some(_) => arguments,
        };
        for own in rest.iter().filter(|own| own[at].is_donated) {
            state.release_array(own[at].id);
        }
    }
    Ok(())
}

fn gather_argument(
    state: &mut DeviceState,
    whole: &ArrayType,
    shards: &ArrayShards,
    places: &[ShardPlace],
    arguments: &ShardedArguments,
    at: usize,
) -> PluginResult<ResidentValue> {
    let mut bytes = make_zeros(whole.byte_count())?;
    let mut part = make_zeros(shards.array.byte_count())?;
    let mut seen: Vec<&ShardPlace> = Vec::new();
    let is_sum = places.iter().any(|place| place.summand > 0);
    let mut sums = Ok(());
    for (own, place) in arguments.iter().zip(places) {
        let (heap, value) = state.split_array(own[at].id)?;
        // Other devices may have the same shard.
        if seen.contains(&place) {
            continue;
        }
        seen.push(place);
        if let Some(offset) = find_rows(whole, &shards.array, &place.starts).filter(|_| !is_sum) {
            let rows = offset as usize..offset as usize + part.len();
            heap.read_resident(value, 0, &mut bytes[rows])?;
            continue;
        }
        heap.read_resident(value, 0, &mut part)?;
        let format = whole.format;
        walk_shard(
            whole,
            &shards.array,
            &place.starts,
            |in_part, in_whole, length| {
                let to = &mut bytes[in_whole..in_whole + length];
                let from = &part[in_part..in_part + length];
                if !is_sum {
                    to.copy_from_slice(from);
                } else if sums.is_ok() {
                    sums = format.add_elements(to, from);
                }
            },
        );
    }
    sums?;
    upload_value(state, whole, &bytes)
}

/// Stores a result that every device has.
fn store_copies(
    state: &mut DeviceState,
    value: ResidentValue,
    kept: &[DeviceArrayId],
    results: &[ResultList],
    at: usize,
) -> PluginResult<()> {
    let mut others = kept.to_vec();
    others.extend_from_slice(&results[0][..at]);
    let value = own_value(state, &others, value)?;
    for own in &results[1..] {
        let copy = state.heap.copy_value(&value);
        match copy {
            Ok(copy) => state.store_array(own[at], Ok(copy)),
            Err(error) => {
                state.heap.release_value(value);
                return Err(error.into());
            }
        }
    }
    state.store_array(results[0][at], Ok(value));
    Ok(())
}

/// Copies the bytes of a shard.
fn cut_bytes(bytes: &[u8], whole: &ArrayType, part: &ArrayType, starts: &[u64], out: &mut [u8]) {
    walk_shard(whole, part, starts, |in_part, in_whole, length| {
        out[in_part..in_part + length].copy_from_slice(&bytes[in_whole..in_whole + length]);
    });
}

/// Calls a function with the offsets in bytes, in a shard and in the whole array, of each run of elements.
fn walk_shard(
    whole: &ArrayType,
    part: &ArrayType,
    starts: &[u64],
    mut visit: impl FnMut(usize, usize, usize),
) {
    if part.sizes.contains(&0) {
        return;
    }
    let starts = whole.permute(starts);
    let (whole, part) = (whole.to_rows(), part.to_rows());
    let strides = whole.byte_strides(&whole.minor_to_major());
    let sizes: Vec<usize> = part.sizes.iter().map(|size| *size as usize).collect();
    let pairs = starts.iter().zip(&strides);
    let base: usize = pairs
        .map(|(start, stride)| *start as usize * *stride as usize)
        .sum();
    let outer = sizes.len().saturating_sub(1);
    let run = sizes.last().copied().unwrap_or(1) * whole.format.size() as usize;
    let rows: usize = sizes[..outer].iter().product();
    for row in 0..rows {
        let (mut rest, mut offset) = (row, base);
        for at in (0..outer).rev() {
            offset += rest % sizes[at] * strides[at] as usize;
            rest /= sizes[at];
        }
        visit(row * run, offset, run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::ElementFormat;

    #[test]
    fn shards_are_blocks_of_rows() {
        let format = ElementFormat::from_name("i8").unwrap();
        let whole = ArrayType::new(format, vec![2, 4, 2]).unwrap();
        let part = ArrayType::new(format, vec![2, 2, 1]).unwrap();
        let bytes: Vec<u8> = (0..16).collect();
        let cut = |starts: &[u64]| {
            let mut out = vec![0; 4];
            cut_bytes(&bytes, &whole, &part, starts, &mut out);
            out
        };
        assert_eq!(cut(&[0, 0, 0]), [0, 2, 8, 10]);
        assert_eq!(cut(&[0, 2, 1]), [5, 7, 13, 15]);
        assert_eq!(find_rows(&whole, &part, &[0, 2, 1]), None);
        let rows = ArrayType::new(format, vec![1, 4, 2]).unwrap();
        assert_eq!(find_rows(&whole, &rows, &[1, 0, 0]), Some(8));
        let scalar = ArrayType::new(format, vec![]).unwrap();
        let mut out = [0];
        cut_bytes(&[7], &scalar, &scalar, &[], &mut out);
        assert_eq!(out, [7]);
    }
}

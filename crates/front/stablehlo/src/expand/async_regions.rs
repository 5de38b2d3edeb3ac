//! Asynchronous operations as ordinary ones.
//!
//! The region of `async_start` runs where it stands, and `async_done` has its results. Programs for one queue gain nothing from
//! a later end. Futures that are arguments of functions or of other regions stay.

use crate::dialect::MlirOpcode;
use crate::mlir::{MlirBlock, MlirModule, MlirOp, MlirValue};
use rustc_hash::{FxHashMap, FxHashSet};

/// The values that stand for others.
type AsyncBindings = FxHashMap<MlirValue, MlirValue>;

/// The beginnings of asynchronous operations.
pub(super) fn list_starts(module: &MlirModule) -> FxHashSet<MlirOp> {
    let starts = list_operations_of(module, MlirOpcode::AsyncStart);
    let starts = starts.filter(|op| find_body(module, *op).is_some());
    starts.collect()
}

/// Puts the regions of asynchronous operations in their places.
pub(super) fn inline_regions(module: &mut MlirModule, starts: &FxHashSet<MlirOp>) {
    let mut replacements = FxHashMap::default();
    for start in starts {
        bind_body(module, *start, &mut replacements);
    }
    for op in list_operations_of(module, MlirOpcode::AsyncDone) {
        let futures = module.operands(op).iter();
        let known = futures.filter(|future| replacements.contains_key(*future));
        let known: Vec<MlirValue> = known.copied().collect();
        replacements.extend(module.results(op).zip(known));
    }
    for block in list_outer_blocks(module, starts) {
        let mut ops = Vec::new();
        collect_operations(module, block, &replacements, &mut ops);
        module.set_ops(block, &ops);
    }
    let replaced: Vec<(MlirValue, MlirValue)> = replacements
        .keys()
        .map(|value| (*value, resolve_value(*value, &replacements)))
        .collect();
    module.replace_operands(&replaced);
}

fn list_operations_of(
    module: &MlirModule,
    opcode: MlirOpcode,
) -> impl Iterator<Item = MlirOp> + '_ {
    let ops = module.all_ops();
    ops.filter(move |op| module.opcode(*op) == Some(opcode))
}

/// The block of an asynchronous region that ends in a return.
fn find_body(module: &MlirModule, start: MlirOp) -> Option<MlirBlock> {
    let region = module.regions(start).next()?;
    let [block] = module.blocks(region) else {
        return None;
    };
    let last = module.ops(*block).last()?;
    let fits = module.is_return(*last)
        && module.operands(*last).len() == module.results(start).len()
        && module.arguments(*block).len() == module.operands(start).len();
    fits.then_some(*block)
}

/// Lets the operands stand for the arguments of the region, and the returned value for the future.
fn bind_body(module: &MlirModule, start: MlirOp, replacements: &mut AsyncBindings) {
    let Some(block) = find_body(module, start) else {
        return;
    };
    let operands = module.operands(start).iter().copied();
    replacements.extend(module.arguments(block).zip(operands));
    if let Some(last) = module.ops(block).last() {
        let returned = module.operands(*last).iter().copied();
        replacements.extend(module.results(start).zip(returned));
    }
}

/// The blocks with asynchronous operations that are in no other asynchronous region.
fn list_outer_blocks(module: &MlirModule, starts: &FxHashSet<MlirOp>) -> Vec<MlirBlock> {
    let done = list_operations_of(module, MlirOpcode::AsyncDone);
    let ops = starts.iter().copied().chain(done);
    let mut blocks: Vec<MlirBlock> = ops
        .filter_map(|op| module.block_of(op))
        .filter(|block| {
            let parent = module.region_parent(module.region_of(*block));
            !starts.contains(&parent)
        })
        .collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks
}

/// The operations of a block, with those of asynchronous regions in their places.
fn collect_operations(
    module: &MlirModule,
    block: MlirBlock,
    replacements: &AsyncBindings,
    ops: &mut Vec<MlirOp>,
) {
    for op in module.ops(block) {
        let is_replaced = module
            .results(*op)
            .any(|result| replacements.contains_key(&result));
        match module.opcode(*op) {
            Some(MlirOpcode::AsyncStart) if is_replaced => {
                if let Some(body) = find_body(module, *op) {
                    collect_operations(module, body, replacements, ops);
                    ops.pop();
                }
            }
            Some(MlirOpcode::AsyncDone) if is_replaced => {}
            _ => ops.push(*op),
        }
    }
}

/// The value that stands for another in the end.
fn resolve_value(value: MlirValue, replacements: &AsyncBindings) -> MlirValue {
    let mut value = value;
    // A cycle would need a use before the definition.
    for _ in 0..=replacements.len() {
        match replacements.get(&value) {
            Some(other) => value = *other,
            None => break,
        }
    }
    value
}

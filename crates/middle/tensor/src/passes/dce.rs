//! Dead code elimination: operations, and results and reductions of structured operations, that nothing uses.
//!
//! Loops are kept, because it is not known whether they end. Assertions are kept too, and branches that contain either.

use crate::ir::{
    NodeData, NodeGraph, OpKind, ScalarNode, StructuredOp, TensorFunction, TensorOp, TensorValue,
};
use std::ops::Range;

/// Marks used values from the end of each block backwards, then removes the rest.
pub(super) fn eliminate_dead_code(function: &mut TensorFunction) {
    let mut live = vec![false; function.value_count()];
    for demand in &function.demands {
        let sizes = demand.sizes.iter().filter_map(|dim| dim.as_value());
        sizes.for_each(|size| live[size.index()] = true);
    }
    let effects = blocks_with_effects(function);
    mark_block(function, &effects, &mut live);
    for block in function.block_ids() {
        let ops = std::mem::take(&mut function.block_mut(block).ops);
        let kept = ops
            .into_iter()
            .filter_map(|op| retain_live(op, &effects, &live));
        function.block_mut(block).ops = kept.collect();
    }
}

/// Whether each block contains, at any depth, an operation with an effect.
fn blocks_with_effects(function: &TensorFunction) -> Vec<bool> {
    let mut effects = vec![false; function.block_ids().count()];
    let ids: Vec<_> = function.block_ids().collect();
    // Inner blocks come after those around them.
    for block in ids.into_iter().rev() {
        let ops = &function.block(block).ops;
        effects[block.index()] = ops.iter().any(|op| has_effect(&op.kind, &effects));
    }
    effects
}

fn has_effect(kind: &OpKind, effects: &[bool]) -> bool {
    kind.has_effect() || kind.blocks().any(|block| effects[block.index()])
}

/// Marks used values. The blocks of an operation are marked with it, so that uses are visited before definitions.
fn mark_block(function: &TensorFunction, effects: &[bool], live: &mut [bool]) {
    let block = function.body();
    let mut open = vec![(block, function.block(block).ops.len())];
    mark_values(function, &function.block(block).results, live);
    while let Some((block, at)) = open.pop() {
        let Some(at) = at.checked_sub(1) else {
            continue;
        };
        open.push((block, at));
        let op = &function.block(block).ops[at];
        if has_effect(&op.kind, effects) || op.results.iter().any(|v| live[v.index()]) {
            mark_values(function, &op.kind.collect_operands(), live);
            for inner in op.kind.blocks() {
                mark_values(function, &function.block(inner).results, live);
                open.push((inner, function.block(inner).ops.len()));
            }
        }
    }
}

/// Marks values and their sizes.
fn mark_values(function: &TensorFunction, values: &[TensorValue], live: &mut [bool]) {
    for value in values {
        live[value.index()] = true;
        for size in function.ty(*value).dynamic_sizes() {
            live[size.index()] = true;
        }
    }
}

fn retain_live(mut op: TensorOp, effects: &[bool], live: &[bool]) -> Option<TensorOp> {
    let is_live = |v: &TensorValue| live[v.index()];
    if has_effect(&op.kind, effects) {
        return Some(op);
    }
    if !op.results.iter().any(is_live) {
        return None;
    }
    if let OpKind::Structured(structured) = &mut op.kind {
        let mut at = 0;
        structured.yields.retain(|_| {
            at += 1;
            is_live(&op.results[at - 1])
        });
        op.results.retain(is_live);
        remove_dead_reductions(structured);
    }
    Some(op)
}

/// Removes reductions on which no result depends. One of them stays, because reduced axes need it.
fn remove_dead_reductions(op: &mut StructuredOp) {
    let ranges = op.accumulator_ranges();
    let mut roots: Vec<ScalarNode> = op.yields.iter().map(|y| y.value).collect();
    let positions = op.yields.iter().flat_map(|y| y.destination.indices());
    roots.extend(positions);
    let mut is_live = vec![op.is_scan(); op.reductions.len()];
    // A reduction may depend on those before it.
    for (at, reduction) in op.reductions.iter().enumerate().rev() {
        let needed = op.body.mark_reachable(&roots);
        let mut nodes = op.body.node_ids().filter(|n| needed[n.index()]);
        is_live[at] |= nodes.any(|node| match op.body.node(node) {
            NodeData::Reduced(number) => ranges[at].contains(&(*number as usize)),
            _ => false,
        });
        if is_live[at] {
            roots.extend(reduction.initial.iter().chain(&reduction.values));
        }
    }
    if is_live.iter().all(|live| *live) || !is_live.contains(&true) {
        return;
    }
    let mut live = is_live.iter().copied();
    op.reductions.retain(|_| live.next().unwrap_or(true));
    renumber_accumulators(op, &ranges, &is_live);
}

/// Numbers the accumulators of the reductions that stayed, of those that had the numbers `ranges`.
fn renumber_accumulators(op: &mut StructuredOp, ranges: &[Range<usize>], is_live: &[bool]) {
    let kept = ranges.iter().zip(is_live).filter(|(_, live)| **live);
    let pairs: Vec<(u32, u32)> = kept
        .zip(op.accumulator_ranges())
        .map(|((before, _), now)| (before.start as u32, now.start as u32))
        .collect();
    let mut body = NodeGraph::default();
    let copies = body.import_nodes(&op.body, &op.collect_roots(), |body, node, data| {
        let NodeData::Reduced(number) = data else {
            return None;
        };
        let (before, now) = pairs.iter().rev().find(|(before, _)| before <= number)?;
        Some(body.intern_accumulator(now + number - before, op.body.ty(node)))
    });
    op.body = body;
    let mut copies = copies.into_iter();
    op.replace_roots(|_| copies.next());
}

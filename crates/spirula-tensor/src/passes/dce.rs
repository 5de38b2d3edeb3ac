//! Dead code: operations whose values nothing uses, and results of structured operations likewise.
//!
//! Loops are kept: that one ends is nothing that is known here.

use crate::ir::{Block, Function, Op, OpKind, Value};

/// Marks what is used from the end of each block backwards, then removes the rest.
pub(super) fn run(function: &mut Function) {
    let mut live = vec![false; function.value_count()];
    for demand in &function.demands {
        let sizes = demand.sizes.iter().filter_map(|dim| dim.value());
        sizes.for_each(|size| live[size.index()] = true);
    }
    mark(function, function.body(), &mut live);
    for block in function.block_ids() {
        let ops = std::mem::take(&mut function.block_mut(block).ops);
        let kept = ops.into_iter().filter_map(|op| keep(op, &live));
        function.block_mut(block).ops = kept.collect();
    }
}

/// A block's blocks are marked with the operation that has them, so that uses come before makers.
fn mark(function: &Function, block: Block, live: &mut [bool]) {
    let mut open = vec![(block, function.block(block).ops.len())];
    mark_values(function, &function.block(block).results, live);
    while let Some((block, at)) = open.pop() {
        let Some(at) = at.checked_sub(1) else {
            continue;
        };
        open.push((block, at));
        let op = &function.block(block).ops[at];
        let is_loop = matches!(op.kind, OpKind::While { .. });
        if is_loop || op.results.iter().any(|v| live[v.index()]) {
            mark_values(function, &op.kind.operands(), live);
            for inner in op.kind.blocks() {
                mark_values(function, &function.block(inner).results, live);
                open.push((inner, function.block(inner).ops.len()));
            }
        }
    }
}

/// Marks values and what holds their sizes.
fn mark_values(function: &Function, values: &[Value], live: &mut [bool]) {
    for value in values {
        live[value.index()] = true;
        for size in function.ty(*value).sizes() {
            live[size.index()] = true;
        }
    }
}

fn keep(mut op: Op, live: &[bool]) -> Option<Op> {
    let is_live = |v: &Value| live[v.index()];
    if matches!(op.kind, OpKind::While { .. }) {
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
    }
    Some(op)
}

//! Host scalars: tensors of rank 0 that are variables of the host program.
//!
//! Parameters, constants, results of foreign calls, and values that are computed of them are host scalars. Results of reductions and elements that are
//! read from memory are in the device's memory. A result of a loop or a branch is a host scalar if all its possible values
//! are. Results of loops within kernels are in memory.

use super::kernel_loop::KernelLoops;
use crate::ir::{NodeData, OpKind, StructuredOp, TensorBlock, TensorFunction, TensorValue};

/// Whether each value is a scalar of the host.
pub(super) fn find_host_scalars(
    function: &TensorFunction,
    kernel_loops: &KernelLoops,
) -> Vec<bool> {
    let values = (0..function.value_count()).map(TensorValue::new);
    let mut host: Vec<bool> = values.map(|v| function.ty(v).rank() == 0).collect();
    // Values only ever leave the host, so this ends. Each sweep propagates a change through one loop.
    while sweep_block(function, kernel_loops, function.body(), &mut host) {}
    host
}

/// Moves values that cannot be on the host to the device. Returns whether one moved.
fn sweep_block(
    function: &TensorFunction,
    kernel_loops: &KernelLoops,
    block: TensorBlock,
    host: &mut [bool],
) -> bool {
    let mut moved = false;
    for (at, op) in function.block(block).ops.iter().enumerate() {
        if kernel_loops.contains_key(&(block, at)) {
            moved |= demote_values(&op.results, |_| false, host);
            continue;
        }
        for inner in op.kind.blocks() {
            moved |= sweep_block(function, kernel_loops, inner, host);
        }
        match &op.kind {
            OpKind::Structured(structured) => {
                let stays = is_scalar(structured, host);
                moved |= demote_values(&op.results, |_| stays, host);
            }
            OpKind::Reshape(source) => {
                let stays = host[source.index()];
                moved |= demote_values(&op.results, |_| stays, host);
            }
            OpKind::Sort(_) | OpKind::RadixSort(_) | OpKind::WordSelection(_) => {
                moved |= demote_values(&op.results, |_| false, host)
            }
            OpKind::Constant(_) | OpKind::Assert(_) | OpKind::Foreign(_) => {}
            OpKind::If {
                then, otherwise, ..
            } => {
                let given = [then, otherwise]
                    .map(|b| collect_host_flags(&function.block(*b).results, host));
                moved |= demote_values(&op.results, |at| given[0][at] && given[1][at], host);
            }
            OpKind::While {
                initial,
                condition,
                body,
            } => {
                let parameters = &function.block(*body).parameters;
                let begin = collect_host_flags(initial, host);
                let next = collect_host_flags(&function.block(*body).results, host);
                moved |= demote_values(parameters, |at| begin[at] && next[at], host);
                let carried = collect_host_flags(parameters, host);
                let condition = &function.block(*condition).parameters;
                moved |= demote_values(condition, |at| carried[at], host);
                moved |= demote_values(&op.results, |at| carried[at], host);
            }
        }
    }
    moved
}

fn collect_host_flags(values: &[TensorValue], host: &[bool]) -> Vec<bool> {
    values.iter().map(|v| host[v.index()]).collect()
}

fn demote_values(values: &[TensorValue], stays: impl Fn(usize) -> bool, host: &mut [bool]) -> bool {
    let mut moved = false;
    for (at, value) in values.iter().enumerate() {
        if host[value.index()] && !stays(at) {
            host[value.index()] = false;
            moved = true;
        }
    }
    moved
}

/// Whether an operation is scalar arithmetic on scalars of the host.
fn is_scalar(op: &StructuredOp, host: &[bool]) -> bool {
    let on_host = |node| match op.body.node(node) {
        NodeData::Element(value, _) | NodeData::Size(value) => host[value.index()],
        _ => true,
    };
    op.axes.is_empty() && op.is_map() && op.body.node_ids().all(on_host)
}

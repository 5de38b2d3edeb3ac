//! Launches: how many workgroups, and what they are given.

use super::super::node_emitter::{NodeEmitter, TensorStorage};
use crate::ir::{ScalarNode, TensorFunction, TensorValue};
use crate::schedule::TensorDispatch;
use rustc_hash::FxHashMap;
use spirula_kernel::ProgramBuilder;
use spirula_kernel::ir::{ExprId, KernelCapture};

/// The rounds of a loop over workgroups, of sizes that the host has.
pub(super) fn rounds_on_host(
    b: &mut ProgramBuilder,
    dispatch: &TensorDispatch,
    rounds: ScalarNode,
    sources: &FxHashMap<TensorValue, TensorStorage>,
) -> ExprId {
    let mut e = NodeEmitter::new(b);
    e.sources = sources.clone();
    let roots = e
        .body
        .import_nodes(&dispatch.points, &[rounds], |_, _, _| None);
    e.emit_nodes(&roots)[0]
}

/// What a kernel uses of the host: tensors, and sizes that are known only when run.
pub(super) fn collect_uses(
    function: &TensorFunction,
    dispatch: &TensorDispatch,
    sources: &FxHashMap<TensorValue, TensorStorage>,
) -> Vec<KernelCapture> {
    let read: Vec<TensorValue> = dispatch.op.body.values_read().collect();
    let mut values = dispatch.op.collect_operands();
    values.retain(|v| read.contains(v));
    values.extend(&dispatch.results);
    let sized: Vec<TensorValue> = values.clone();
    for value in sized {
        values.extend(function.ty(value).dynamic_sizes());
    }
    values.extend(dispatch.op.dynamic_sizes());
    let mut uses = Vec::new();
    for value in values {
        let used = match sources.get(&value) {
            Some(TensorStorage::Memory(var)) => KernelCapture::Memory(*var),
            Some(TensorStorage::Scalar(var)) => KernelCapture::Scalar(*var),
            None => continue,
        };
        if !uses.contains(&used) {
            uses.push(used);
        }
    }
    uses
}

//! Launch arguments: numbers of workgroups, and the host's values that a kernel captures.

use super::super::node_emitter::{NodeEmitter, TensorStorage};
use crate::ir::{ScalarNode, TensorFunction, TensorValue};
use crate::schedule::{TensorDispatch, TensorLoopNest};
use rustc_hash::FxHashMap;
use spirula_kernel::ProgramBuilder;
use spirula_kernel::ir::{ExprId, KernelCapture};

/// Computes a number of workgroups on the host, from sizes that are known at run time.
pub(super) fn emit_dynamic_workgroups(
    b: &mut ProgramBuilder,
    nest: &TensorLoopNest,
    count: ScalarNode,
    sources: &FxHashMap<TensorValue, TensorStorage>,
) -> ExprId {
    let mut e = NodeEmitter::new(b);
    e.sources = sources.clone();
    let roots = e.body.import_nodes(&nest.points, &[count], |_, _, _| None);
    e.emit_nodes(&roots)[0]
}

/// The values that a kernel captures: tensors, and sizes that are known only at run time.
pub(super) fn collect_captures(
    function: &TensorFunction,
    dispatch: &TensorDispatch,
    sources: &FxHashMap<TensorValue, TensorStorage>,
) -> Vec<KernelCapture> {
    let op = &dispatch.nest.op;
    let read: Vec<TensorValue> = op.body.values_read().collect();
    let mut values = op.collect_operands();
    values.retain(|v| read.contains(v));
    values.extend(&dispatch.results);
    let sized: Vec<TensorValue> = values.clone();
    for value in sized {
        values.extend(function.ty(value).dynamic_sizes());
    }
    values.extend(op.dynamic_sizes());
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

//! Unit axes of reductions are dropped.
//!
//! Reduced axes of size 1 are removed. A reduction without other reduced axes becomes a map of its values combined with
//! its initial values.

use crate::ir::{
    AxisKind, DimExtent, IterationAxis, NodeData, OpKind, ScalarNode, StructuredOp, TensorFunction,
};

/// Simplifies all operations.
pub(super) fn simplify_unit_folds(function: &mut TensorFunction) {
    for block in function.block_ids() {
        for op in &mut function.block_mut(block).ops {
            if let OpKind::Structured(structured) = &mut op.kind
                && let Some(simple) = remove_unit_folds(structured)
            {
                **structured = simple;
            }
        }
    }
}

/// An operation without reduced axes of size 1, if it has such.
fn remove_unit_folds(op: &StructuredOp) -> Option<StructuredOp> {
    let is_fold = |axis: &IterationAxis| axis.kind == AxisKind::Reduction;
    let is_single = |axis: &IterationAxis| is_fold(axis) && axis.extent == DimExtent::Static(1);
    let is_wide = |axis: &IterationAxis| is_fold(axis) && !is_single(axis);
    let folds_nothing = !op.reductions.is_empty() && !op.axes.iter().any(is_wide);
    if !op.axes.iter().any(is_single) && !folds_nothing {
        return None;
    }
    let mut simple = StructuredOp::default();
    let mut indices = Vec::with_capacity(op.axes.len());
    for axis in &op.axes {
        indices.push(if is_single(axis) {
            simple.body.intern_i64(0)
        } else {
            simple.add_axis(axis.extent, axis.kind)
        });
    }
    let mut rest = op.clone();
    let mut known: Vec<ScalarNode> = Vec::new();
    if folds_nothing {
        for reduction in std::mem::take(&mut rest.reductions) {
            let roots = [&reduction.initial[..], &reduction.values].concat();
            let arguments = copy_nodes(&mut simple, op, &roots, &indices, &known);
            let combiner = &reduction.combiner;
            let combined = simple.body.import_nodes(
                &combiner.body,
                &combiner.results,
                |_, _, data| match data {
                    NodeData::Argument(number) => arguments.get(*number as usize).copied(),
                    _ => None,
                },
            );
            known.extend(combined);
        }
    }
    let copies = copy_nodes(&mut simple, op, &rest.collect_roots(), &indices, &known);
    let mut copies = copies.into_iter();
    rest.replace_roots(|_| copies.next());
    simple.reductions = rest.reductions;
    simple.yields = rest.yields;
    simple.precision = rest.precision;
    Some(simple)
}

/// Copies nodes at other indices, with known results of reductions.
fn copy_nodes(
    to: &mut StructuredOp,
    op: &StructuredOp,
    roots: &[ScalarNode],
    indices: &[ScalarNode],
    known: &[ScalarNode],
) -> Vec<ScalarNode> {
    to.body
        .import_nodes(&op.body, roots, |_, _, data| match data {
            NodeData::Index(axis) => indices.get(*axis as usize).copied(),
            NodeData::Reduced(number) => known.get(*number as usize).copied(),
            _ => None,
        })
}

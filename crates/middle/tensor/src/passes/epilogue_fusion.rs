//! Epilogue fusion: maps over the results of a reduction become part of it.
//!
//! A map is fused if it reads the results of a reduction at its own point, and no other operation reads them. Examples
//! are the bias, the normalisation, the residual and the activation after a product or a convolution. Another is the
//! step of an optimiser after a gradient. The map may have the axes in another order; the results are then written in
//! it. Axes of size 1 make no difference.

use super::use_def::{TensorOpPosition, TensorUses};
use crate::ir::{
    AxisKind, DimExtent, NodeData, OpKind, ScalarNode, StructuredOp, StructuredYield,
    TensorFunction, TensorValue, YieldDestination,
};

/// Most nodes of an epilogue. An invocation that has several points of a tile computes them for each.
const NODES: usize = 192;

/// Whether the epilogue of an operation is small enough; without reductions it always is.
pub(super) fn is_small(op: &StructuredOp) -> bool {
    let yields: Vec<ScalarNode> = op.yields.iter().map(|y| y.value).collect();
    let is_needed = op.body.mark_reachable(&yields).into_iter();
    op.reductions.is_empty() || is_needed.filter(|needed| *needed).count() <= NODES
}

/// The map at a position with the reduction whose results it alone reads, if there is one.
pub(super) fn fuse_epilogue(
    function: &TensorFunction,
    uses: &TensorUses,
    position: TensorOpPosition,
) -> Option<StructuredOp> {
    let (block, at) = position;
    let OpKind::Structured(map) = &function.block(block).ops[at].kind else {
        return None;
    };
    let map: &StructuredOp = map;
    if !map.is_map() {
        return None;
    }
    let read = map.collect_operands();
    let folds = read.iter().filter_map(|value| {
        let ((maker_block, fold_at), _) = uses.defining_op(*value)?;
        let op = &function.block(block).ops.get(fold_at)?;
        let OpKind::Structured(fold) = &op.kind else {
            return None;
        };
        let alone = op
            .results
            .iter()
            .all(|v| uses.use_count(*v) == u32::from(read.contains(v)));
        (maker_block == block && alone).then_some((&**fold, &op.results[..]))
    });
    let mut joined = folds.filter_map(|(fold, results)| build_epilogue(map, fold, results));
    joined.next()
}

/// A reduction and the map that follows it, over the map's axes and the reduced ones.
fn build_epilogue(
    map: &StructuredOp,
    fold: &StructuredOp,
    results: &[TensorValue],
) -> Option<StructuredOp> {
    let at_point = |y: &StructuredYield| matches!(y.destination, YieldDestination::Point);
    if fold.reductions.is_empty() || !fold.yields.iter().all(at_point) {
        return None;
    }
    let axes = match_axes(map, fold, results)?;
    if !reads_at_point(map, results, &axes) {
        return None;
    }
    let mut joined = StructuredOp::default();
    let own: Vec<ScalarNode> = map
        .axes
        .iter()
        .map(|axis| joined.add_axis(axis.extent, AxisKind::Parallel))
        .collect();
    let mut matches = axes.iter();
    let mut indices = Vec::with_capacity(fold.axes.len());
    for axis in &fold.axes {
        indices.push(match axis.kind {
            AxisKind::Reduction => joined.add_axis(axis.extent, AxisKind::Reduction),
            AxisKind::Parallel => match matches.next()? {
                Some(at) => own[*at],
                None => joined.body.intern_i64(0),
            },
        });
    }
    let body = &mut joined.body;
    let copies = body.import_nodes(&fold.body, &fold.collect_roots(), |_, _, data| match data {
        NodeData::Index(axis) => indices.get(*axis as usize).copied(),
        _ => None,
    });
    let mut copies = copies.into_iter();
    let mut folded = fold.clone();
    folded.replace_roots(|_| copies.next());
    let roots: Vec<ScalarNode> = map.yields.iter().map(|y| y.value).collect();
    let values = body.import_nodes(&map.body, &roots, |_, _, data| {
        let NodeData::Element(read, _) = data else {
            return None;
        };
        let number = results.iter().position(|v| v == read)?;
        Some(folded.yields[number].value)
    });
    joined.reductions = folded.reductions;
    joined.precision = folded.precision;
    for value in values {
        joined.add_yield(value);
    }
    is_small(&joined).then_some(joined)
}

/// For each parallel axis of a reduction, the axis of the map at which it reads the results; none for axes of size 1.
fn match_axes(
    map: &StructuredOp,
    fold: &StructuredOp,
    results: &[TensorValue],
) -> Option<Vec<Option<usize>>> {
    let is_wide = |extent: DimExtent| extent != DimExtent::Static(1);
    let mut nodes = map.body.node_ids();
    let position = nodes.find_map(|node| match map.body.node(node) {
        NodeData::Element(read, position) if results.contains(read) => Some(position),
        _ => None,
    })?;
    let mut is_open: Vec<bool> = map.axes.iter().map(|axis| is_wide(axis.extent)).collect();
    let mut axes = Vec::with_capacity(position.len());
    for (extent, index) in fold.parallel_shape().zip(position) {
        if !is_wide(extent) {
            axes.push(None);
            continue;
        }
        let at = map.body.as_index(*index)? as usize;
        if map.axes[at].extent != extent || !std::mem::take(&mut is_open[at]) {
            return None;
        }
        axes.push(Some(at));
    }
    is_open.iter().all(|open| !open).then_some(axes)
}

/// Whether a map reads some tensors only at its own point, whose axes are `axes`.
fn reads_at_point(map: &StructuredOp, values: &[TensorValue], axes: &[Option<usize>]) -> bool {
    map.body.node_ids().all(|node| match map.body.node(node) {
        NodeData::Element(read, position) if values.contains(read) => {
            let mut pairs = position.iter().zip(axes);
            pairs.all(|(index, axis)| match axis {
                Some(at) => map.body.as_index(*index) == Some(*at as u32),
                None => true,
            })
        }
        _ => true,
    })
}

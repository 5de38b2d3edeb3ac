//! Contractions: sums of products whose factors each lack one of the parallel axes.

use super::subgroup_fold::has_idle_invocations;
use super::tile_loops::{choose_staged_splits, multiply_extents};
use super::{CrossLaneAxes, ScheduleProfile, direct_tile, strategies};
use crate::ir::{AxisKind, NodeData, ScalarNode, StructuredOp};
use spirula_program::ScalarOp;

/// The axes of a contraction.
#[derive(Clone, Debug)]
pub(crate) struct ContractionAxes {
    /// The factors, nodes of the body.
    pub factors: [ScalarNode; 2],
    /// Parallel axes that only the first factor has.
    pub rows: Vec<usize>,
    /// Parallel axes that only the second factor has.
    pub columns: Vec<usize>,
    /// Reduced axes that both have.
    pub steps: Vec<usize>,
}

impl ContractionAxes {
    /// Rows and columns.
    pub fn tiled_axes(&self) -> Vec<usize> {
        [&self.rows[..], &self.columns].concat()
    }

    /// The number of rows times that of columns; none where it is not known.
    pub fn count_results(&self, op: &StructuredOp) -> Option<u64> {
        op.count_static_points(self.tiled_axes())
    }

    /// Whether the first factor is one row, or a row for each matrix of a batch.
    pub fn has_single_row(&self, op: &StructuredOp) -> bool {
        op.count_static_points(self.rows.iter().copied()) == Some(1)
    }
}

/// Fewest points of a reduction that are worth tiles.
const LEAST: u64 = 4;

/// The axes of an operation as a contraction, if it is one.
pub(crate) fn match_contraction(op: &StructuredOp) -> Option<ContractionAxes> {
    if op.is_scan() {
        return None;
    }
    let [reduction] = &op.reductions[..] else {
        return None;
    };
    let [value] = reduction.values[..] else {
        return None;
    };
    if !matches!(
        reduction.combiner.as_operator(),
        Some(ScalarOp::FAdd | ScalarOp::Add)
    ) {
        return None;
    }
    let (operator, operands) = op.body.as_apply(value)?;
    let [a, b] = *operands else { return None };
    if !matches!(operator.op, ScalarOp::FMul | ScalarOp::Mul) {
        return None;
    }
    let (first, second) = (find_node_axes(op, a), find_node_axes(op, b));
    let axes = |kind, in_first: bool, in_second: bool| -> Vec<usize> {
        let has = |at: &usize| {
            op.axes[*at].kind == kind && first[*at] == in_first && second[*at] == in_second
        };
        (0..op.axes.len()).filter(has).collect()
    };
    let mut contraction = ContractionAxes {
        factors: [a, b],
        rows: axes(AxisKind::Parallel, true, false),
        columns: axes(AxisKind::Parallel, false, true),
        steps: axes(AxisKind::Reduction, true, true),
    };
    // Columns are contiguous in the result.
    if contraction.rows.last() > contraction.columns.last() {
        let ContractionAxes { rows, columns, .. } = &mut contraction;
        std::mem::swap(rows, columns);
        contraction.factors = [b, a];
    }
    let length = op.count_static_points(contraction.steps.iter().copied())?;
    let is_wide = !contraction.rows.is_empty() || !contraction.columns.is_empty();
    let is_tileable = is_wide && !is_along_batch(op, &contraction);
    (length >= LEAST && is_tileable).then_some(contraction)
}

/// Whether adjacent results are of other matrices of a batch, of a row each, as in a convolution of separate channels that are
/// adjacent. Invocations read along the batch, and tiles of rows or columns would be scattered.
fn is_along_batch(op: &StructuredOp, contraction: &ContractionAxes) -> bool {
    let is_wide = |at: &usize| op.axes[*at].extent.as_static() != Some(1);
    let parallel = (0..op.parallel_rank()).rev();
    let mut parallel = parallel.filter(is_wide);
    let last = parallel.next();
    let is_batch = last.is_some_and(|at| !contraction.tiled_axes().contains(&at));
    is_batch && contraction.has_single_row(op)
}

/// Whether a node depends on each axis.
pub(crate) fn find_node_axes(op: &StructuredOp, node: ScalarNode) -> Vec<bool> {
    let needed = op.body.mark_reachable(&[node]);
    let mut axes = vec![false; op.axes.len()];
    for node in op.body.node_ids().filter(|n| needed[n.index()]) {
        if let NodeData::Index(axis) = op.body.node(node) {
            axes[*axis as usize] = true;
        }
    }
    axes
}

/// How the factors of a contraction will be read. Fusion needs it before there are tiles.
pub(crate) struct ContractionReads {
    /// The contraction.
    pub contraction: ContractionAxes,
    /// Number of tiles along rows and columns.
    pub tiles: [u64; 2],
    /// Whether factors are read from the device's memory.
    pub is_direct: bool,
    /// Whether subgroups multiply matrices.
    pub is_in_matrices: bool,
    /// Whether they do so in parts.
    pub is_in_parts: bool,
}

/// Most points of a contraction that is reduced as other operations are.
const SMALL: u64 = 1 << 18;

/// Whether a contraction is so small that a device has an invocation for each of a few of its points. Tiles would be few, and
/// each would wait for many steps.
pub(crate) fn is_small_contraction(op: &StructuredOp, profile: &ScheduleProfile) -> bool {
    let points = op.count_static_points(0..op.axes.len());
    points.is_some_and(|points| points <= SMALL) && has_idle_invocations(op, profile)
}

/// How the factors of an operation will be read, if it is a contraction that is tiled.
pub(crate) fn plan_reads(op: &StructuredOp, profile: &ScheduleProfile) -> Option<ContractionReads> {
    let extents = op.axes.iter().map(|axis| axis.extent.as_static());
    let extents: Vec<u64> = extents.collect::<Option<_>>()?;
    let contraction = match_contraction(op)?;
    if extents.contains(&0) {
        return None;
    }
    let sizes =
        [&contraction.rows, &contraction.columns].map(|axes| multiply_extents(&extents, axes));
    if CrossLaneAxes::from_op(op, profile).is_some() {
        return Some(ContractionReads {
            contraction,
            tiles: sizes,
            is_direct: true,
            is_in_matrices: false,
            is_in_parts: false,
        });
    }
    if direct_tile::is_scattered_row(op, profile, &contraction) || is_small_contraction(op, profile)
    {
        return None;
    }
    let direct = direct_tile::choose_direct_splits(op, profile, &contraction, sizes);
    let [down, across] = choose_staged_splits(op, profile, &contraction, &extents);
    let matrices = strategies::plan_matrix_tiling(op, profile);
    let tiles = match &matrices {
        Some(tiling) => tiling.counts,
        None => [down.tile_count(sizes[0]), across.tile_count(sizes[1])],
    };
    Some(ContractionReads {
        contraction,
        tiles,
        is_direct: direct.is_some(),
        is_in_matrices: matrices.is_some(),
        is_in_parts: matrices.is_some_and(|tiling| tiling.is_in_parts),
    })
}

//! Tiles of products of a single row with a matrix that is too large for caches.
//!
//! Such a product is as fast as memory gives the matrix, which it does best in long pieces, several at
//! once. Sums that stay in registers over the whole fold allow only narrow tiles, whose rows lie far from
//! each other. Here tiles are wide, and a few rows are added to all sums before the next ones are read;
//! the sums are in the workgroup's memory meanwhile.

use super::tile::{
    ContractionAxes, add_batch_loop, add_tile, multiply_extents, other_folds, sum_scaled_counters,
    tile_of,
};
use super::{DispatchStep, LoopMapping, TensorDispatch, WorkgroupAccumulators, direct, nest_loops};
use crate::ir::StructuredOp;

/// Bytes of a matrix from which on the nearest caches do not hold it.
const LARGE: u64 = 1 << 20;
/// Tiles that there should be, and fewest and most columns of one.
const TILES: u64 = 4;
const COLUMNS: [u64; 2] = [256, 2048];
/// Fewest and most rows of the matrix that are added at once.
const ROWS: [u64; 2] = [4, 8];
/// Most groups of neighbouring columns that an invocation has at once.
const GROUPS: u64 = 4;

/// Sizes of such tiles.
pub(super) struct StreamingTile {
    columns: u64,
    /// Invocations along them.
    lanes: u64,
    /// Groups of as many columns that are added to at once.
    groups: u64,
    /// Rows of the matrix that are added at once.
    rows: u64,
}

impl StreamingTile {
    /// The sizes for a contraction whose factors are read where they are; none where it is better tiled
    /// otherwise.
    pub fn from_contraction(
        op: &StructuredOp,
        contraction: &ContractionAxes,
        extents: &[u64],
        lanes: u64,
    ) -> Option<StreamingTile> {
        let columns = multiply_extents(extents, &contraction.columns);
        let last = extents[*contraction.steps.last()?];
        let element = op.body.ty(contraction.factors[1]).size();
        let bytes = extents.iter().product::<u64>().checked_mul(element)?;
        if multiply_extents(extents, &contraction.rows) != 1 || bytes < LARGE {
            return None;
        }
        let width = (columns / TILES).clamp(COLUMNS[0], COLUMNS[1]) / lanes;
        let blocks = direct::largest_divisor(columns / lanes, width);
        let rows = direct::largest_divisor(last, ROWS[1]);
        let fits = columns.is_multiple_of(lanes) && blocks * lanes * 2 >= COLUMNS[0];
        (fits && rows >= ROWS[0]).then_some(StreamingTile {
            columns: blocks * lanes,
            lanes,
            groups: direct::largest_divisor(blocks, GROUPS),
            rows,
        })
    }

    /// Tiles a dispatch whose loops are gone.
    pub fn tile_dispatch(
        &self,
        dispatch: &mut TensorDispatch,
        contraction: &ContractionAxes,
        extents: &[u64],
    ) {
        let batch = add_batch_loop(dispatch, &contraction.tiled_axes(), extents);
        for axis in &contraction.rows {
            dispatch.indices[*axis] = dispatch.points.intern_i64(0);
        }
        let count = multiply_extents(extents, &contraction.columns) / self.columns;
        let outer = dispatch.add_loop(count, LoopMapping::Parallel);
        let across = dispatch.add_loop(self.lanes, LoopMapping::Parallel);
        let visited = self.lanes * self.groups;
        let visit = dispatch.add_loop(self.columns / visited, LoopMapping::Sequential);
        let group = dispatch.add_loop(self.groups, LoopMapping::Unrolled);
        let base = sum_scaled_counters(dispatch, &[(outer, self.columns)]);
        let local = [(visit, visited), (group, self.lanes), (across, 1)];
        let local = sum_scaled_counters(dispatch, &local);
        dispatch.kept = Some(WorkgroupAccumulators {
            place: local,
            size: self.columns,
        });
        let columns = tile_of(&contraction.columns, extents, base, local, self.columns);
        add_tile(dispatch, columns);

        let axis = &contraction.steps[contraction.steps.len() - 1..];
        let mut folds = other_folds(dispatch, axis, extents);
        let rounds = dispatch.add_loop(
            multiply_extents(extents, axis) / self.rows,
            LoopMapping::Sequential,
        );
        let row = dispatch.add_loop(self.rows, LoopMapping::Repeated);
        let base = sum_scaled_counters(dispatch, &[(rounds, self.rows)]);
        let local = sum_scaled_counters(dispatch, &[(row, 1)]);
        add_tile(dispatch, tile_of(axis, extents, base, local, self.rows));
        folds.push(rounds);

        let over_tile = [visit, across];
        let mut visited = vec![DispatchStep::Recall];
        visited.extend(nest_loops(&[row], vec![DispatchStep::Accumulate]));
        visited.push(DispatchStep::Keep);
        let mut steps = nest_loops(
            &over_tile,
            vec![DispatchStep::Initialise, DispatchStep::Keep],
        );
        steps.extend(nest_loops(&folds, nest_loops(&over_tile, visited)));
        steps.extend(nest_loops(
            &over_tile,
            vec![DispatchStep::Recall, DispatchStep::Store],
        ));
        let outermost: Vec<u32> = batch.into_iter().chain([outer]).collect();
        dispatch.steps = nest_loops(&outermost, steps);
    }
}

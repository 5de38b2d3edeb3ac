//! Streaming tiles: tiles of products of a single row with a matrix that is too large for caches.
//!
//! Such a product is limited by the memory's bandwidth, which is highest for several long contiguous reads at once.
//! Sums that stay in registers over the whole reduction allow only narrow tiles, whose rows lie far from each other.
//! Here tiles are wide, and a few rows are added to all sums before the next ones are read. The sums are saved in the
//! workgroup's memory in between.

use super::direct_tile::find_largest_divisor;
use super::dispatch::nest_loops;
use super::tile_loops::{
    add_batch_loop, add_tile, add_untiled_folds, multiply_extents, sum_scaled_counters,
};
use super::{
    AxisTile, ContractionAxes, DispatchStep, LoopMapping, SavedAccumulators, TensorLoopNest,
};
use crate::ir::StructuredOp;

/// Fewest bytes of a matrix that the nearest caches do not hold.
const LARGE: u64 = 1 << 20;
/// Number of tiles that there should be.
const TILES: u64 = 4;
/// Fewest and most columns of a tile.
const COLUMNS: [u64; 2] = [256, 2048];
/// Fewest and most rows of the matrix that are added at once.
const ROWS: [u64; 2] = [4, 8];
/// Most groups of neighbouring columns that an invocation has at once.
const GROUPS: u64 = 4;

/// The sizes of such a tile.
pub(super) struct StreamingTile {
    columns: u64,
    /// Number of invocations along the columns.
    lanes: u64,
    /// Number of groups of as many columns that are added to at once.
    groups: u64,
    /// Number of rows of the matrix that are added at once.
    rows: u64,
}

impl StreamingTile {
    /// The sizes for a contraction whose factors are read from the device's memory; none where another tile is
    /// better.
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
        let blocks = find_largest_divisor(columns / lanes, width);
        let rows = find_largest_divisor(last, ROWS[1]);
        let fits = columns.is_multiple_of(lanes) && blocks * lanes * 2 >= COLUMNS[0];
        (fits && rows >= ROWS[0]).then_some(StreamingTile {
            columns: blocks * lanes,
            lanes,
            groups: find_largest_divisor(blocks, GROUPS),
            rows,
        })
    }

    /// Adds the loops of the tile to a nest whose loops were removed.
    pub fn tile_nest(
        &self,
        nest: &mut TensorLoopNest,
        contraction: &ContractionAxes,
        extents: &[u64],
    ) {
        let batch = add_batch_loop(nest, &contraction.tiled_axes(), extents);
        for axis in &contraction.rows {
            nest.indices[*axis] = nest.points.intern_i64(0);
        }
        let count = multiply_extents(extents, &contraction.columns) / self.columns;
        let outer = nest.add_loop(count, LoopMapping::Parallel);
        let across = nest.add_loop(self.lanes, LoopMapping::Parallel);
        let visited = self.lanes * self.groups;
        let visit = nest.add_loop(self.columns / visited, LoopMapping::Sequential);
        let group = nest.add_loop(self.groups, LoopMapping::Unrolled);
        let base = sum_scaled_counters(nest, &[(outer, self.columns)]);
        let local = [(visit, visited), (group, self.lanes), (across, 1)];
        let local = sum_scaled_counters(nest, &local);
        nest.saved = Some(SavedAccumulators {
            place: local,
            size: self.columns,
        });
        let columns = AxisTile::new(&contraction.columns, extents, base, local, self.columns);
        add_tile(nest, columns);

        let axis = &contraction.steps[contraction.steps.len() - 1..];
        let mut folds = add_untiled_folds(nest, axis, extents);
        let rounds = nest.add_loop(
            multiply_extents(extents, axis) / self.rows,
            LoopMapping::Sequential,
        );
        let row = nest.add_loop(self.rows, LoopMapping::Repeated);
        let base = sum_scaled_counters(nest, &[(rounds, self.rows)]);
        let local = sum_scaled_counters(nest, &[(row, 1)]);
        add_tile(nest, AxisTile::new(axis, extents, base, local, self.rows));
        folds.push(rounds);

        let over_tile = [visit, across];
        let mut visited = vec![DispatchStep::Restore];
        visited.extend(nest_loops(&[row], vec![DispatchStep::Accumulate]));
        visited.push(DispatchStep::Save);
        let mut steps = nest_loops(
            &over_tile,
            vec![DispatchStep::Initialise, DispatchStep::Save],
        );
        steps.extend(nest_loops(&folds, nest_loops(&over_tile, visited)));
        steps.extend(nest_loops(
            &over_tile,
            vec![DispatchStep::Restore, DispatchStep::Store],
        ));
        let outermost: Vec<u32> = batch.into_iter().chain([outer]).collect();
        nest.steps = nest_loops(&outermost, steps);
    }
}

//! Tiled strategy: a workgroup for each tile of a contraction.
//!
//! The tile is computed in steps along a reduced axis. An invocation has a few points of the tile and keeps their
//! accumulators in registers. The factors are staged in the workgroup's memory, or read from the device's memory
//! where the profile asks for it ([`direct_tile`]).

use super::cooperative::is_long_fold;
use crate::schedule::dispatch::nest_loops;
use crate::schedule::distribute::{assign_loops, group_tile_rows};
use crate::schedule::promote::promote_factors;
use crate::schedule::streaming_tile::StreamingTile;
use crate::schedule::tile_loops::{
    TileSplit, add_batch_loop, add_line_loops, add_tile, add_tile_loops, add_untiled_folds,
    choose_staged_splits, choose_step_size, has_few_tiles, multiply_extents, sum_scaled_counters,
};
use crate::schedule::{
    AxisTile, ContractionAxes, DispatchStep, LoopMapping, SchedulePlan, ScheduleRequest,
    StagingPlan, TensorLoopNest, direct_tile, is_adjacent, is_small_contraction, match_contraction,
};

#[derive(Debug)]
struct TiledPlan {
    contraction: ContractionAxes,
    /// The loops over the tiles of rows and of columns, once tiled, where there are both.
    grid: Option<[u32; 2]>,
    /// The loop over the tiles of the reduced axes, where factors are staged in its iterations.
    staged_loop: Option<u32>,
    staging: Option<StagingPlan>,
}

/// Suits contractions.
pub(super) fn plan_tiled(request: &ScheduleRequest<'_>) -> Option<Box<dyn SchedulePlan>> {
    if !request.is_static() {
        return None;
    }
    let contraction = match_contraction(request.op)?;
    if is_weighted_sum(&contraction, request)
        || direct_tile::is_scattered_row(request.op, request.profile, &contraction)
        || is_small_contraction(request.op, request.profile)
    {
        return None;
    }
    Some(Box::new(TiledPlan {
        contraction,
        grid: None,
        staged_loop: None,
        staging: None,
    }))
}

/// Whether a contraction on a graphics card is a short sum of adjacent columns with weights, or sums of rows that several
/// invocations read along. No element of the matrix is used twice, so staging has no use.
fn is_weighted_sum(contraction: &ContractionAxes, request: &ScheduleRequest<'_>) -> bool {
    let (op, profile) = (request.op, request.profile);
    !profile.is_processor()
        && contraction.has_single_row(op)
        && if is_adjacent(op) {
            request.fold_length() < profile.long
        } else {
            is_long_fold(request)
        }
}

impl SchedulePlan for TiledPlan {
    fn tile(&mut self, nest: &mut TensorLoopNest) {
        let contraction = &self.contraction;
        let extents: Vec<u64> = nest.loops.iter().map(|l| l.extent).collect();
        let sizes =
            [&contraction.rows, &contraction.columns].map(|axes| multiply_extents(&extents, axes));
        let (op, profile) = (&nest.op, &nest.profile);
        let direct = direct_tile::choose_direct_splits(op, profile, contraction, sizes);
        let is_direct = direct.is_some();
        let stream = direct.as_ref().and_then(|[_, across]| {
            StreamingTile::from_contraction(op, contraction, &extents, across.invocations)
        });
        let [down, across] =
            direct.unwrap_or_else(|| choose_staged_splits(op, profile, contraction, &extents));
        let extents = nest.take_extents();
        if let Some(stream) = stream {
            return stream.tile_nest(nest, contraction, &extents);
        }
        let batch = add_batch_loop(nest, &contraction.tiled_axes(), &extents);
        let is_ragged = is_direct && !sizes[1].is_multiple_of(across.invocations);
        // Points of a column are neighbours where they have one condition.
        let lines =
            is_ragged.then(|| add_line_loops(nest, &contraction.columns, &extents, &across));
        let rows = add_tile_loops(nest, &contraction.rows, &extents, &down);
        let columns =
            lines.or_else(|| add_tile_loops(nest, &contraction.columns, &extents, &across));
        let tiled = match contraction.steps.split_last() {
            Some((last, _)) if is_direct => std::slice::from_ref(last),
            _ => &contraction.steps,
        };
        let mut folds = add_untiled_folds(nest, tiled, &extents);
        let total = multiply_extents(&extents, tiled);
        let size = choose_step_size(total, nest.profile.steps);
        let size = if is_direct {
            size
        } else {
            deepen_step(nest, contraction, &extents, [&down, &across], size)
        };
        let (outer, inner) = add_step_loops(nest, tiled, &extents, size);

        let (mut tiles, mut invocations, mut points) = (Vec::new(), Vec::new(), Vec::new());
        for loops in [rows, columns].into_iter().flatten() {
            tiles.push(loops.tiles);
            invocations.push(loops.invocations);
            points.extend(loops.points);
        }
        let over_tile: Vec<u32> = invocations.iter().chain(&points).copied().collect();
        let mut around = invocations;
        around.extend(inner);
        around.extend(&points);
        folds.push(outer);
        let mut steps = nest_loops(&over_tile, vec![DispatchStep::Initialise]);
        steps.extend(nest_loops(
            &folds,
            nest_loops(&around, vec![DispatchStep::Accumulate]),
        ));
        steps.extend(nest_loops(&over_tile, vec![DispatchStep::Store]));
        self.grid = <[u32; 2]>::try_from(&tiles[..]).ok();
        self.staged_loop = (!is_direct).then_some(outer);
        let mut outermost: Vec<u32> = batch.into_iter().collect();
        outermost.extend(tiles);
        nest.steps = nest_loops(&outermost, steps);
    }

    fn promote(&mut self, nest: &mut TensorLoopNest) {
        if let Some(outer) = self.staged_loop {
            self.staging = Some(promote_factors(nest, &self.contraction, None, outer));
        }
    }

    fn distribute(&mut self, nest: &mut TensorLoopNest) {
        group_tile_rows(nest, self.grid);
        assign_loops(nest);
    }

    fn staging(&self) -> Option<&StagingPlan> {
        self.staging.as_ref()
    }

    /// Tiles of contractions are a fifth slower with vectors on an NVIDIA H200, in the workgroup's memory too: 71 us and not 58
    /// for factors of 1024 by 1024. Products of 64 rows are 5 % faster.
    fn has_vectors(&self) -> bool {
        false
    }
}

/// A larger number of places of a tile of the reduced axes where workgroups are so few that nothing else hides the time that a
/// tile takes to arrive.
fn deepen_step(
    nest: &TensorLoopNest,
    contraction: &ContractionAxes,
    extents: &[u64],
    splits: [&TileSplit; 2],
    size: u64,
) -> u64 {
    let profile = &nest.profile;
    if !has_few_tiles(profile, contraction, extents, splits) {
        return size;
    }
    let total = multiply_extents(extents, &contraction.steps);
    let widths = contraction.factors.map(|node| nest.op.body.ty(node).size());
    let sides = splits
        .iter()
        .zip(widths)
        .map(|(split, width)| split.size() * width);
    let bytes: u64 = sides.sum();
    let mut deep = profile.deep;
    while deep > size && (!total.is_multiple_of(deep) || deep * bytes > profile.memory) {
        deep /= 2;
    }
    deep.max(size)
}

/// Loops of the reduced axes: one over their tiles, and those over the places of a tile, a few of which are unrolled.
fn add_step_loops(
    nest: &mut TensorLoopNest,
    axes: &[usize],
    extents: &[u64],
    size: u64,
) -> (u32, Vec<u32>) {
    let total = multiply_extents(extents, axes);
    let outer = nest.add_loop(total.div_ceil(size), LoopMapping::Sequential);
    let most = nest.profile.unroll;
    let unrolled = (1..=most)
        .rev()
        .find(|n| size.is_multiple_of(*n))
        .unwrap_or(1);
    let inner = nest.add_loop(size / unrolled, LoopMapping::Sequential);
    let mut within = vec![inner];
    let mut terms = vec![(inner, unrolled)];
    if unrolled > 1 {
        let pieces = nest.add_loop(unrolled, LoopMapping::Repeated);
        within.push(pieces);
        terms.push((pieces, 1));
    }
    let base = sum_scaled_counters(nest, &[(outer, size)]);
    let local = sum_scaled_counters(nest, &terms);
    let tile = AxisTile::new(axes, extents, base, local, size);
    let guard = add_tile(nest, tile);
    nest.fold_guards.extend(guard);
    (outer, within)
}

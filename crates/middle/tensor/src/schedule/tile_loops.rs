//! Tiling.
//!
//! A contraction folds sums of products whose factors each lack one of the parallel axes, so that
//! elements are read many times. It is split into tiles: one workgroup for each tile of the result,
//! in steps along a reduced axis; an invocation has a few points of the tile, whose accumulators it
//! keeps in registers. A long fold with few results is split across the invocations of a workgroup.

use super::stream::StreamingTile;
use super::{
    AxisTile, DispatchStep, LoopMapping, ScheduleProfile, ScheduleStrategy, TensorDispatch, direct,
    nest_loops,
};
use crate::ir::{
    AffineSum, AxisKind, NodeData, NodeGraph, ScalarNode, StructuredOp, unflatten_index,
};
use spirula_program::{ScalarOp, ScalarType};

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
}

/// Fewer points of a fold than this are not worth tiles.
const LEAST: u64 = 4;

/// How an operation is a contraction.
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
    let (first, second) = (axes_of(op, a), axes_of(op, b));
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
    // Columns are what lies next to each other in the result.
    if contraction.rows.last() > contraction.columns.last() {
        let ContractionAxes { rows, columns, .. } = &mut contraction;
        std::mem::swap(rows, columns);
        contraction.factors = [b, a];
    }
    let mut sizes = contraction
        .steps
        .iter()
        .map(|at| op.axes[*at].extent.as_static());
    let length = sizes.try_fold(1u64, |n, size| n.checked_mul(size?))?;
    let is_wide = !contraction.rows.is_empty() || !contraction.columns.is_empty();
    (length >= LEAST && is_wide).then_some(contraction)
}

/// The axes that a node depends on.
pub(crate) fn axes_of(op: &StructuredOp, node: ScalarNode) -> Vec<bool> {
    let needed = op.body.mark_reachable(&[node]);
    let mut axes = vec![false; op.axes.len()];
    for node in op.body.node_ids().filter(|n| needed[n.index()]) {
        if let NodeData::Index(axis) = op.body.node(node) {
            axes[*axis as usize] = true;
        }
    }
    axes
}

/// Tiles a dispatch as its strategy asks.
pub(super) fn tile_dispatch(dispatch: &mut TensorDispatch) {
    match dispatch.strategy {
        ScheduleStrategy::Tiled => {
            if let Some(contraction) = match_contraction(&dispatch.op) {
                tile_contraction(dispatch, &contraction);
            }
        }
        ScheduleStrategy::Matrices => super::matrices::tile_matrices(dispatch),
        ScheduleStrategy::Dense => super::dense::tile_large_fragments(dispatch),
        ScheduleStrategy::Across => super::across::tile_cross_lane(dispatch),
        ScheduleStrategy::Turned => super::turn::tile_transposition(dispatch),
        ScheduleStrategy::Cooperative | ScheduleStrategy::Rows => split_across_workgroup(dispatch),
        ScheduleStrategy::Subgroups | ScheduleStrategy::SubgroupRows => {
            super::subgroups::tile_subgroups(dispatch)
        }
        ScheduleStrategy::Scan => super::scan::tile_scan(dispatch),
        ScheduleStrategy::LookBack => super::scan::look_back(dispatch),
        ScheduleStrategy::Flat | ScheduleStrategy::Serial => {}
    }
}

/// The size of a tile: invocations, and points of each.
pub(super) struct TileSplit {
    pub invocations: u64,
    pub points: u64,
}

impl TileSplit {
    fn size(&self) -> u64 {
        self.invocations * self.points
    }

    /// For an axis of some size that so many invocations share, with so many points at most.
    fn from_extent(extent: u64, invocations: u64, most: u64) -> TileSplit {
        let points: u64 = match extent / invocations {
            0 | 1 => 1,
            2..8 => 2,
            8..16 => 4,
            _ => 8,
        };
        TileSplit {
            invocations,
            points: points.min(most),
        }
    }

    fn tile_count(&self, extent: u64) -> u64 {
        extent.div_ceil(self.size())
    }
}

/// The loops of axes that are tiled as one.
pub(super) struct TileLoops {
    pub tiles: u32,
    pub invocations: u32,
    pub points: Vec<u32>,
}

/// Rounds of the step of a tile: a divisor of the axis, so that no round is outside, where there is
/// one.
fn step_size(extent: u64, steps: &[u64]) -> u64 {
    let divides = |size: &&u64| extent.is_multiple_of(**size);
    let whole = steps.iter().find(divides).copied();
    whole.unwrap_or(8.min(extent))
}

/// Points of the axes of each kind together.
pub(super) fn multiply_extents(extents: &[u64], axes: &[usize]) -> u64 {
    axes.iter().map(|at| extents[*at]).product()
}

/// Rows and columns of the tiles of a contraction whose factors are put into the workgroup's memory:
/// smaller ones where there would be few, or they would not fit.
fn choose_splits(
    op: &StructuredOp,
    profile: &ScheduleProfile,
    contraction: &ContractionAxes,
    extents: &[u64],
) -> [TileSplit; 2] {
    let of = |axes: &[usize]| multiply_extents(extents, axes);
    let (rows, columns) = (of(&contraction.rows), of(&contraction.columns));
    let [most_across, invocations] = profile.tile;
    let across = match (contraction.rows.is_empty(), contraction.columns.is_empty()) {
        (true, _) => invocations,
        (_, true) => 1,
        _ => columns.next_power_of_two().min(most_across),
    };
    let batches = extents.iter().product::<u64>() / (rows * columns * of(&contraction.steps));
    let sizes = |points: u64| {
        [
            TileSplit::from_extent(rows, invocations / across, points),
            TileSplit::from_extent(columns, across, points),
        ]
    };
    let is_few = |[down, across]: &[TileSplit; 2]| {
        batches * down.tile_count(rows) * across.tile_count(columns) < profile.busy
    };
    let round = step_size(of(&contraction.steps), profile.steps);
    let widest = contraction.factors.map(|node| op.body.ty(node).size());
    let is_large = |[down, across]: &[TileSplit; 2]| {
        let elements = down.size() * round * widest[0] + across.size() * round * widest[1];
        elements > profile.memory
    };
    let is_too_much = |sizes: [TileSplit; 2]| is_few(&sizes) || is_large(&sizes);
    let mut points = profile.points;
    while points > 1 && is_too_much(sizes(points)) {
        points /= 2;
    }
    sizes(points)
}

/// How the factors of a contraction will be read: what fusion has to know of tiles before there are any.
pub(crate) struct ContractionReads {
    /// The contraction.
    pub contraction: ContractionAxes,
    /// How many tiles there are along rows and columns.
    pub tiles: [u64; 2],
    /// Whether factors are read where they are.
    pub is_direct: bool,
    /// Whether subgroups multiply matrices.
    pub is_in_matrices: bool,
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
    let direct = direct::choose_direct_splits(op, profile, &contraction, sizes);
    let [down, across] = choose_splits(op, profile, &contraction, &extents);
    if super::CrossLaneAxes::from_op(op, profile).is_some() {
        return Some(ContractionReads {
            contraction,
            tiles: sizes,
            is_direct: true,
            is_in_matrices: false,
        });
    }
    let matrices = super::matrices::count_tiles(op, profile);
    let tiles =
        matrices.unwrap_or_else(|| [down.tile_count(sizes[0]), across.tile_count(sizes[1])]);
    Some(ContractionReads {
        contraction,
        tiles,
        is_direct: direct.is_some(),
        is_in_matrices: matrices.is_some(),
    })
}

fn tile_contraction(dispatch: &mut TensorDispatch, contraction: &ContractionAxes) {
    let extents: Vec<u64> = dispatch.loops.iter().map(|l| l.extent).collect();
    let sizes =
        [&contraction.rows, &contraction.columns].map(|axes| multiply_extents(&extents, axes));
    let (op, profile) = (&dispatch.op, &dispatch.profile);
    let direct = direct::choose_direct_splits(op, profile, contraction, sizes);
    dispatch.is_direct = direct.is_some();
    let stream = direct.as_ref().and_then(|[_, across]| {
        let lanes = across.invocations;
        StreamingTile::from_contraction(op, contraction, &extents, lanes)
    });
    let [down, across] =
        direct.unwrap_or_else(|| choose_splits(op, profile, contraction, &extents));
    dispatch.loops.clear();
    dispatch.points = NodeGraph::default();
    if let Some(stream) = stream {
        return stream.tile_dispatch(dispatch, contraction, &extents);
    }
    let batch = add_batch_loop(dispatch, &contraction.tiled_axes(), &extents);
    let rows = add_tile_loops(dispatch, &contraction.rows, &extents, &down);
    let columns = add_tile_loops(dispatch, &contraction.columns, &extents, &across);
    let tiled = match (dispatch.is_direct, contraction.steps.split_last()) {
        (true, Some((last, _))) => std::slice::from_ref(last),
        _ => &contraction.steps,
    };
    let others = other_folds(dispatch, tiled, &extents);
    let (outer, inner) = split_steps(dispatch, tiled, &extents);

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
    dispatch.step_loop = Some(outer);
    let mut folds = others;
    folds.push(outer);
    let mut steps = nest_loops(&over_tile, vec![DispatchStep::Initialise]);
    steps.extend(nest_loops(
        &folds,
        nest_loops(&around, vec![DispatchStep::Accumulate]),
    ));
    steps.extend(nest_loops(&over_tile, vec![DispatchStep::Store]));
    dispatch.grid = <[u32; 2]>::try_from(&tiles[..]).ok();
    let mut outermost: Vec<u32> = batch.into_iter().collect();
    outermost.extend(tiles);
    dispatch.steps = nest_loops(&outermost, steps);
}

/// One loop for all parallel axes that are not tiled.
pub(super) fn add_batch_loop(
    dispatch: &mut TensorDispatch,
    tiled: &[usize],
    extents: &[u64],
) -> Option<u32> {
    let is_batch =
        |at: &usize| dispatch.op.axes[*at].kind == AxisKind::Parallel && !tiled.contains(at);
    let axes: Vec<usize> = (0..extents.len()).filter(is_batch).collect();
    if axes.is_empty() {
        return None;
    }
    let sizes: Vec<i64> = axes.iter().map(|at| extents[*at] as i64).collect();
    let number = dispatch.add_loop(sizes.iter().product::<i64>() as u64, LoopMapping::Parallel);
    let counter = dispatch.loop_counter(number);
    let position = unflatten_index(&mut dispatch.points, counter, &sizes);
    for (axis, index) in axes.iter().zip(position) {
        dispatch.indices[*axis] = index;
    }
    Some(number)
}

/// Loops of parallel axes that are tiled as one: over tiles, over invocations, over an invocation's
/// groups of adjacent points, which lie as far apart as there are invocations, and over the points of
/// a group.
pub(super) fn add_tile_loops(
    dispatch: &mut TensorDispatch,
    axes: &[usize],
    extents: &[u64],
    split: &TileSplit,
) -> Option<TileLoops> {
    if axes.is_empty() {
        return None;
    }
    let total = multiply_extents(extents, axes);
    let outer = dispatch.add_loop(total.div_ceil(split.size()), LoopMapping::Parallel);
    let middle = dispatch.add_loop(split.invocations, LoopMapping::Parallel);
    let adjacent = match split.points.is_multiple_of(dispatch.profile.adjacent) {
        true => dispatch.profile.adjacent,
        false => 1,
    };
    let inner = dispatch.add_loop(split.points / adjacent, LoopMapping::Unrolled);
    let mut points = vec![inner];
    let mut terms = vec![(inner, split.invocations * adjacent), (middle, adjacent)];
    if adjacent > 1 {
        let group = dispatch.add_loop(adjacent, LoopMapping::Unrolled);
        points.push(group);
        terms.push((group, 1));
    }
    let base = sum_scaled_counters(dispatch, &[(outer, split.size())]);
    let local = sum_scaled_counters(dispatch, &terms);
    let tile = tile_of(axes, extents, base, local, split.size());
    let guard = add_tile(dispatch, tile);
    dispatch.guards.extend(guard);
    Some(TileLoops {
        tiles: outer,
        invocations: middle,
        points,
    })
}

/// Loops of the reduced axes: over tiles, over the places of one, a few of which are written out.
fn split_steps(dispatch: &mut TensorDispatch, axes: &[usize], extents: &[u64]) -> (u32, Vec<u32>) {
    let total = multiply_extents(extents, axes);
    let size = step_size(total, dispatch.profile.steps);
    let outer = dispatch.add_loop(total.div_ceil(size), LoopMapping::Sequential);
    let most = dispatch.profile.unroll;
    let unrolled = (1..=most)
        .rev()
        .find(|n| size.is_multiple_of(*n))
        .unwrap_or(1);
    let inner = dispatch.add_loop(size / unrolled, LoopMapping::Sequential);
    let mut within = vec![inner];
    let mut terms = vec![(inner, unrolled)];
    if unrolled > 1 {
        let pieces = dispatch.add_loop(unrolled, LoopMapping::Repeated);
        within.push(pieces);
        terms.push((pieces, 1));
    }
    let base = sum_scaled_counters(dispatch, &[(outer, size)]);
    let local = sum_scaled_counters(dispatch, &terms);
    let tile = tile_of(axes, extents, base, local, size);
    let guard = add_tile(dispatch, tile);
    dispatch.fold_guards.extend(guard);
    (outer, within)
}

pub(super) fn tile_of(
    axes: &[usize],
    extents: &[u64],
    base: ScalarNode,
    local: ScalarNode,
    size: u64,
) -> AxisTile {
    AxisTile {
        axes: axes.to_vec(),
        extents: axes.iter().map(|at| extents[*at] as i64).collect(),
        base,
        local,
        size,
    }
}

/// Sum of counters times factors.
pub(super) fn sum_scaled_counters(
    dispatch: &mut TensorDispatch,
    terms: &[(u32, u64)],
) -> ScalarNode {
    let mut sum = AffineSum::default();
    for (number, factor) in terms {
        let counter = dispatch.loop_counter(*number);
        sum.add_scaled(
            &AffineSum::from_node(&dispatch.points, counter),
            *factor as i64,
        );
    }
    sum.into_node(&mut dispatch.points)
}

/// The sum of nodes times factors.
pub(super) fn sum_scaled_nodes(body: &mut NodeGraph, terms: &[(ScalarNode, u64)]) -> ScalarNode {
    let mut sum = AffineSum::default();
    for (node, factor) in terms {
        sum.add_scaled(&AffineSum::from_node(body, *node), *factor as i64);
    }
    sum.into_node(body)
}

/// Notes a tile; gives a guard where the last one is not full.
pub(super) fn add_tile(dispatch: &mut TensorDispatch, tile: AxisTile) -> Option<ScalarNode> {
    let points = &mut dispatch.points;
    let flat = points.apply_op(ScalarOp::Add, &[tile.base, tile.local]);
    let limit = points.intern_i64(tile.place_count());
    let guard = points.apply_op(ScalarOp::SLt, &[flat, limit]);
    let position = unflatten_index(points, flat, &tile.extents);
    for (axis, index) in tile.axes.iter().zip(position) {
        dispatch.indices[*axis] = index;
    }
    dispatch.tiles.push(tile);
    let is_known = dispatch.points.as_literal(guard).is_some();
    (!is_known).then_some(guard)
}

/// Sequential loops for the reduced axes that are not tiled.
pub(super) fn other_folds(
    dispatch: &mut TensorDispatch,
    tiled: &[usize],
    extents: &[u64],
) -> Vec<u32> {
    let mut numbers = Vec::new();
    for (axis, extent) in extents.iter().enumerate() {
        let is_fold = dispatch.op.axes[axis].kind == AxisKind::Reduction;
        if is_fold && !tiled.contains(&axis) {
            let number = dispatch.add_loop(*extent, LoopMapping::Sequential);
            dispatch.indices[axis] = dispatch.loop_counter(number);
            numbers.push(number);
        }
    }
    numbers
}

/// Fewest invocations of a workgroup that has a row, where it may have as many.
pub(super) const SUBGROUP: u64 = 32;

/// Most nodes that are written out for the points of a row that an invocation keeps.
pub(super) const WRITTEN_OUT: u64 = 4096;

/// Splits a fold across the invocations of a workgroup, all its axes as one.
fn split_across_workgroup(dispatch: &mut TensorDispatch) {
    let is_fold = |at: &usize| dispatch.op.axes[*at].kind == AxisKind::Reduction;
    let (folds, parallel): (Vec<usize>, Vec<usize>) =
        (0..dispatch.op.axes.len()).partition(is_fold);
    let sizes: Vec<i64> = folds
        .iter()
        .map(|at| dispatch.loops[*at].extent as i64)
        .collect();
    let total = sizes.iter().product::<i64>() as u64;
    let results = parallel.iter().map(|at| dispatch.loops[*at].extent);
    let results = results.fold(1u64, u64::saturating_mul);
    let most = dispatch.profile.fold;
    let lanes = fold_lanes(dispatch, total);
    let runs = total / lanes;
    let invocations = match dispatch.strategy {
        ScheduleStrategy::Rows => row_invocations(runs, lanes, &dispatch.profile),
        _ if results >= dispatch.profile.chunks => {
            let each = dispatch.profile.kept.max(lanes);
            let enough = (total / each).next_power_of_two();
            enough.clamp(SUBGROUP.min(most), most)
        }
        _ if total >= 4096 => 2 * most,
        _ => most,
    };
    let rounds = runs.div_ceil(invocations);
    let is_kept = runs.is_multiple_of(invocations)
        && rounds * lanes <= dispatch.profile.kept
        && rounds * lanes * dispatch.op.body.len() as u64 <= WRITTEN_OUT;
    let run = match is_kept {
        true => LoopMapping::Unrolled,
        false => LoopMapping::Sequential,
    };
    let rounds = dispatch.add_loop(rounds, run);
    let across = dispatch.add_loop(invocations, LoopMapping::Parallel);
    let lane = dispatch.add_loop(lanes, LoopMapping::Unrolled);
    add_subgroups(dispatch, invocations);
    let run = sum_scaled_counters(dispatch, &[(rounds, invocations), (across, 1)]);
    let limit = dispatch.points.intern_i64(runs as i64);
    let guard = dispatch.points.apply_op(ScalarOp::SLt, &[run, limit]);
    let flat = sum_scaled_counters(
        dispatch,
        &[(rounds, invocations * lanes), (across, lanes), (lane, 1)],
    );
    if dispatch.points.as_literal(guard).is_none() {
        dispatch.fold_guards.push(guard);
    }
    let position = unflatten_index(&mut dispatch.points, flat, &sizes);
    for (axis, index) in folds.iter().zip(position) {
        dispatch.indices[*axis] = index;
    }
    let fold = || {
        let mut steps = nest_loops(&[across], vec![DispatchStep::Initialise]);
        steps.extend(nest_loops(
            &[rounds, across],
            vec![DispatchStep::Accumulate],
        ));
        steps.push(DispatchStep::Combine(across));
        steps
    };
    let steps = match dispatch.strategy {
        ScheduleStrategy::Rows => {
            let reductions = 0..dispatch.op.reductions.len();
            let each = reductions.flat_map(|at| {
                let mut steps = vec![DispatchStep::Only(at)];
                steps.extend(fold());
                steps.push(DispatchStep::Share);
                steps
            });
            let store = nest_loops(&[rounds, across], vec![DispatchStep::Store]);
            each.chain(store).collect()
        }
        _ => fold().into_iter().chain([DispatchStep::Store]).collect(),
    };
    let parallel: Vec<u32> = parallel.iter().map(|at| *at as u32).collect();
    dispatch.steps = nest_loops(&parallel, steps);
}

/// Has subgroups fold by shuffles, where a workgroup is made of whole ones and they can with all
/// accumulators.
fn add_subgroups(dispatch: &mut TensorDispatch, invocations: u64) {
    let subgroup = dispatch.profile.subgroup;
    let fit = has_shuffles(&dispatch.op, &dispatch.profile);
    if fit && invocations.is_multiple_of(subgroup) {
        dispatch.add_loop(invocations / subgroup, LoopMapping::Subgroup);
        dispatch.add_loop(subgroup, LoopMapping::Lane);
    }
}

/// Whether invocations of a subgroup hand each other all accumulators of an operation.
pub(super) fn has_shuffles(op: &StructuredOp, profile: &ScheduleProfile) -> bool {
    let initial = op.reductions.iter().flat_map(|r| &r.initial);
    let mut types = initial.map(|node| op.body.ty(*node));
    profile.subgroup > 1 && types.all(|ty| !matches!(ty, ScalarType::Bool | ScalarType::Unit))
}

/// Invocations for a row: where they can keep it in their registers, so few that each has as much of it
/// as it can keep, half of that at most where all have as much.
fn row_invocations(runs: u64, lanes: u64, profile: &ScheduleProfile) -> u64 {
    let rounds = (profile.kept / (2 * lanes)).max(1);
    let (fewest, most) = (SUBGROUP.min(profile.rows), profile.rows);
    let enough = (runs / rounds).max(1);
    match enough.is_power_of_two() && runs.is_multiple_of(enough) && enough <= most {
        true => enough.max(fewest),
        false => runs.next_power_of_two().clamp(fewest, most),
    }
}

/// Points of each round of a fold that an invocation has, with accumulators of their own: those need
/// something to begin with.
pub(super) fn fold_lanes(dispatch: &TensorDispatch, total: u64) -> u64 {
    match has_neutral(&dispatch.op) {
        true => super::lanes::points_per_lane(dispatch, AxisKind::Reduction, total),
        false => 1,
    }
}

/// Whether every reduction of an operation has something to begin with that changes nothing.
pub(super) fn has_neutral(op: &StructuredOp) -> bool {
    op.reductions.iter().all(|reduction| {
        let ty = reduction.initial.first().map(|n| op.body.ty(*n));
        ty.is_some_and(|ty| reduction.combiner.neutral_element(ty).is_some())
    })
}

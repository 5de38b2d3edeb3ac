//! Loops of tiles: splits of axes, loops over tiles and over their places, and the indices that follow.

use super::{AxisTile, ContractionAxes, LoopMapping, ScheduleProfile, TensorLoopNest};
use crate::ir::{AffineSum, AxisKind, NodeGraph, ScalarNode, StructuredOp, unflatten_index};
use spirula_program::{ScalarOp, ScalarType};

/// The size of a tile along axes that are tiled as one.
pub(super) struct TileSplit {
    /// Number of invocations along it.
    pub invocations: u64,
    /// Number of points of each invocation.
    pub points: u64,
}

impl TileSplit {
    /// Number of places.
    pub fn size(&self) -> u64 {
        self.invocations * self.points
    }

    /// The split of `extent` places among `invocations`, of at most `most` points each.
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

    /// Number of tiles that cover `extent` places.
    pub fn tile_count(&self, extent: u64) -> u64 {
        extent.div_ceil(self.size())
    }
}

/// The loops of axes that are tiled as one.
pub(super) struct TileLoops {
    /// The loop over the tiles.
    pub tiles: u32,
    /// The loop over the invocations of a tile.
    pub invocations: u32,
    /// The loops over the points of an invocation.
    pub points: Vec<u32>,
}

/// Number of places of a tile of the reduced axes: a divisor of the extent where `steps` has one, so that no
/// iteration is outside.
pub(super) fn choose_step_size(extent: u64, steps: &[u64]) -> u64 {
    let divides = |size: &&u64| extent.is_multiple_of(**size);
    let whole = steps.iter().find(divides).copied();
    whole.unwrap_or(8.min(extent))
}

/// Number of points of some axes together.
pub(super) fn multiply_extents(extents: &[u64], axes: &[usize]) -> u64 {
    axes.iter().map(|at| extents[*at]).product()
}

/// Workgroups for each that keeps the device busy, below which they are few.
const FEW_WORKGROUPS: u64 = 4;

/// Number of tiles of a contraction.
fn count_tiles(contraction: &ContractionAxes, extents: &[u64], splits: [&TileSplit; 2]) -> u64 {
    let of = |axes: &[usize]| multiply_extents(extents, axes);
    let sides = [of(&contraction.rows), of(&contraction.columns)];
    let batches = extents.iter().product::<u64>() / (sides[0] * sides[1] * of(&contraction.steps));
    let counts = splits
        .iter()
        .zip(sides)
        .map(|(split, side)| split.tile_count(side));
    batches * counts.product::<u64>()
}

/// Whether the tiles of a contraction are so few that a processor of the device has only some workgroups at once.
pub(super) fn has_few_tiles(
    profile: &ScheduleProfile,
    contraction: &ContractionAxes,
    extents: &[u64],
    splits: [&TileSplit; 2],
) -> bool {
    count_tiles(contraction, extents, splits) < FEW_WORKGROUPS * profile.busy
}

/// Fewest points of an invocation that make good use of what it reads.
const ENOUGH_POINTS: u64 = 32;

/// Tiles along rows and columns of a contraction whose factors are staged in the workgroup's memory.
/// They are smaller where there would be too few, or where they would not fit. Where tiles are few, or invocations have few
/// points, half as many invocations have more points each, because these share what they read.
pub(super) fn choose_staged_splits(
    op: &StructuredOp,
    profile: &ScheduleProfile,
    contraction: &ContractionAxes,
    extents: &[u64],
) -> [TileSplit; 2] {
    let split =
        |invocations| split_among_invocations(op, profile, contraction, extents, invocations);
    let most = profile.tile[1];
    let [down, across] = split(most);
    let is_few = || has_few_tiles(profile, contraction, extents, [&down, &across]);
    if profile.deep > 1 && (down.points * across.points < ENOUGH_POINTS || is_few()) {
        split((most / 2).max(1))
    } else {
        [down, across]
    }
}

/// The tiles for workgroups of a number of invocations.
fn split_among_invocations(
    op: &StructuredOp,
    profile: &ScheduleProfile,
    contraction: &ContractionAxes,
    extents: &[u64],
    invocations: u64,
) -> [TileSplit; 2] {
    let of = |axes: &[usize]| multiply_extents(extents, axes);
    let (rows, columns) = (of(&contraction.rows), of(&contraction.columns));
    let across = if contraction.rows.is_empty() {
        invocations
    } else if contraction.columns.is_empty() {
        1
    } else {
        columns
            .next_power_of_two()
            .min(profile.tile[0])
            .min(invocations)
    };
    let sizes = |points: u64| {
        [
            TileSplit::from_extent(rows, invocations / across, points),
            TileSplit::from_extent(columns, across, points),
        ]
    };
    let is_few = |[down, across]: &[TileSplit; 2]| {
        count_tiles(contraction, extents, [down, across]) < profile.busy
    };
    let round = choose_step_size(of(&contraction.steps), profile.steps);
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

/// One loop for all parallel axes that are not tiled.
pub(super) fn add_batch_loop(
    nest: &mut TensorLoopNest,
    tiled: &[usize],
    extents: &[u64],
) -> Option<u32> {
    let is_batch = |at: &usize| nest.op.axes[*at].kind == AxisKind::Parallel && !tiled.contains(at);
    let axes: Vec<usize> = (0..extents.len()).filter(is_batch).collect();
    if axes.is_empty() {
        return None;
    }
    let sizes: Vec<i64> = axes.iter().map(|at| extents[*at] as i64).collect();
    let number = nest.add_loop(sizes.iter().product::<i64>() as u64, LoopMapping::Parallel);
    let counter = nest.loop_counter(number);
    let position = unflatten_index(&mut nest.points, counter, &sizes);
    for (axis, index) in axes.iter().zip(position) {
        nest.indices[*axis] = index;
    }
    Some(number)
}

/// Loops of parallel axes that are tiled as one.
///
/// They are loops over tiles, over invocations, over an invocation's groups of adjacent points, and over the points
/// of a group. Groups of an invocation lie as far apart as there are invocations.
pub(super) fn add_tile_loops(
    nest: &mut TensorLoopNest,
    axes: &[usize],
    extents: &[u64],
    split: &TileSplit,
) -> Option<TileLoops> {
    if axes.is_empty() {
        return None;
    }
    let total = multiply_extents(extents, axes);
    let outer = nest.add_loop(total.div_ceil(split.size()), LoopMapping::Parallel);
    let middle = nest.add_loop(split.invocations, LoopMapping::Parallel);
    let adjacent = if split.points.is_multiple_of(nest.profile.adjacent) {
        nest.profile.adjacent
    } else {
        1
    };
    let inner = nest.add_loop(split.points / adjacent, LoopMapping::Unrolled);
    let mut points = vec![inner];
    let mut terms = vec![(inner, split.invocations * adjacent), (middle, adjacent)];
    if adjacent > 1 {
        let group = nest.add_loop(adjacent, LoopMapping::Unrolled);
        points.push(group);
        terms.push((group, 1));
    }
    let base = sum_scaled_counters(nest, &[(outer, split.size())]);
    let local = sum_scaled_counters(nest, &terms);
    let tile = AxisTile::new(axes, extents, base, local, split.size());
    let guard = add_tile(nest, tile);
    nest.guards.extend(guard);
    Some(TileLoops {
        tiles: outer,
        invocations: middle,
        points,
    })
}

/// The same where each point of an invocation is one of a line of neighbouring places, one for each invocation. All
/// lines are whole. The last one begins earlier where they do not divide the axes, and its first places are results of
/// the line before.
pub(super) fn add_line_loops(
    nest: &mut TensorLoopNest,
    axes: &[usize],
    extents: &[u64],
    split: &TileSplit,
) -> TileLoops {
    let total = multiply_extents(extents, axes);
    let length = split.invocations;
    let count = total.div_ceil(length);
    let tiles = nest.add_loop(count.div_ceil(split.points), LoopMapping::Parallel);
    let invocations = nest.add_loop(length, LoopMapping::Parallel);
    let point = nest.add_loop(split.points, LoopMapping::Unrolled);
    let start = sum_scaled_counters(nest, &[(tiles, split.size()), (point, length)]);
    let local = nest.loop_counter(invocations);
    let points = &mut nest.points;
    let last = points.intern_i64(total.saturating_sub(length) as i64);
    let base = points.apply_op(ScalarOp::SMin, &[start, last]);
    let place = points.apply_op(ScalarOp::Add, &[base, local]);
    let is_new = points.apply_op(ScalarOp::SLe, &[start, place]);
    add_tile(nest, AxisTile::new(axes, extents, base, local, length));
    nest.add_guard(is_new);
    TileLoops {
        tiles,
        invocations,
        points: vec![point],
    }
}

/// The sum of counters times factors.
pub(super) fn sum_scaled_counters(nest: &mut TensorLoopNest, terms: &[(u32, u64)]) -> ScalarNode {
    let mut sum = AffineSum::default();
    for (number, factor) in terms {
        let counter = nest.loop_counter(*number);
        sum.add_scaled(&AffineSum::from_node(&nest.points, counter), *factor as i64);
    }
    sum.into_node(&mut nest.points)
}

/// The sum of nodes times factors.
pub(super) fn sum_scaled_nodes(body: &mut NodeGraph, terms: &[(ScalarNode, u64)]) -> ScalarNode {
    let mut sum = AffineSum::default();
    for (node, factor) in terms {
        sum.add_scaled(&AffineSum::from_node(body, *node), *factor as i64);
    }
    sum.into_node(body)
}

/// Adds a tile and sets the indices of its axes. Returns a guard where the last tile is not full.
pub(super) fn add_tile(nest: &mut TensorLoopNest, tile: AxisTile) -> Option<ScalarNode> {
    let points = &mut nest.points;
    let flat = points.apply_op(ScalarOp::Add, &[tile.base, tile.local]);
    let limit = points.intern_i64(tile.place_count());
    let guard = points.apply_op(ScalarOp::SLt, &[flat, limit]);
    let position = unflatten_index(points, flat, &tile.extents);
    for (axis, index) in tile.axes.iter().zip(position) {
        nest.indices[*axis] = index;
    }
    nest.tiles.push(tile);
    let is_known = nest.points.as_literal(guard).is_some();
    (!is_known).then_some(guard)
}

/// Sequential loops for the reduced axes that are not tiled.
pub(super) fn add_untiled_folds(
    nest: &mut TensorLoopNest,
    tiled: &[usize],
    extents: &[u64],
) -> Vec<u32> {
    let mut numbers = Vec::new();
    for (axis, extent) in extents.iter().enumerate() {
        let is_fold = nest.op.axes[axis].kind == AxisKind::Reduction;
        if is_fold && !tiled.contains(&axis) {
            let number = nest.add_loop(*extent, LoopMapping::Sequential);
            nest.indices[axis] = nest.loop_counter(number);
            numbers.push(number);
        }
    }
    numbers
}

/// Whether the invocations of a subgroup can exchange all accumulators of an operation by shuffles.
pub(super) fn has_shuffles(op: &StructuredOp, profile: &ScheduleProfile) -> bool {
    let initial = op.reductions.iter().flat_map(|r| &r.initial);
    let mut types = initial.map(|node| op.body.ty(*node));
    profile.subgroup > 1 && types.all(|ty| !matches!(ty, ScalarType::Bool | ScalarType::Unit))
}

/// Whether the combiner of every reduction has a neutral element.
pub(super) fn has_neutral_elements(op: &StructuredOp) -> bool {
    op.reductions.iter().all(|reduction| {
        let ty = reduction.initial.first().map(|n| op.body.ty(*n));
        ty.is_some_and(|ty| reduction.combiner.neutral_element(ty).is_some())
    })
}

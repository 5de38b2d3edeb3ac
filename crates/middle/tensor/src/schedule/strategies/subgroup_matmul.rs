//! Products of matrices by subgroups: which fragments a device multiplies, and tiles of them.
//!
//! A contraction whose factors are narrow numbers is computed in tiles as others are, but a subgroup
//! has a part of the tile together, as fragments (`spirula_kernel::ir::Fragment`): it loads those of the
//! factors from the workgroup's memory and adds their products to sums that it keeps. When all are
//! added, each sum goes through a patch of the workgroup's memory, from where each invocation takes the
//! points that it finishes as in any other schedule.

use super::tile::{add_batch_loop, add_tile, match_contraction, sum_scaled_counters, tile_of};
use super::{DispatchStep, LoopMapping, ScheduleProfile, TensorDispatch, nest_loops};
use crate::ir::{NodeGraph, ScalarNode, StructuredOp, unflatten_index};
use spirula_kernel::ir::FragmentElement;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};

/// Fragments that a device multiplies: sizes and types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentShape {
    /// Rows, columns, and points of the fold.
    pub size: [u32; 3],
    /// Types of the factors.
    pub factors: [FragmentElement; 2],
    /// Type of the sums.
    pub sum: FragmentElement,
}

/// What a device has for products of matrices, and how it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixProfile {
    /// Invocations of a subgroup.
    pub subgroup: u64,
    /// Bytes of the workgroup's memory.
    pub memory: u64,
    /// Rows, columns and points of the fold of a tile.
    pub tile: [u64; 3],
    /// Subgroups down and across a tile.
    pub grid: [u64; 2],
    /// Copies of tiles in the workgroup's memory: with two, one is filled while the other is used.
    pub buffers: u64,
    /// The size of fragments that is taken where there are several; the largest by default.
    pub preferred: Option<[u32; 3]>,
    shapes: [Option<FragmentShape>; MatrixProfile::SHAPES],
}

impl MatrixProfile {
    /// Most shapes that are known of a device.
    pub const SHAPES: usize = 24;

    /// For a device with subgroups of so many invocations and so much of the workgroup's memory; `None`
    /// where it has no fragments. Shapes beyond [`MatrixProfile::SHAPES`] are left out.
    pub fn new(
        subgroup: u64,
        memory: u64,
        shapes: impl IntoIterator<Item = FragmentShape>,
    ) -> Option<MatrixProfile> {
        let mut matrices = MatrixProfile {
            subgroup,
            memory,
            tile: [128, 128, 32],
            grid: [2, 2],
            buffers: 1,
            preferred: None,
            shapes: [None; MatrixProfile::SHAPES],
        };
        for (to, shape) in matrices.shapes.iter_mut().zip(shapes) {
            *to = Some(shape);
        }
        let is_usable = subgroup.is_power_of_two() && matrices.shapes[0].is_some();
        is_usable.then_some(matrices)
    }

    /// The fragments for factors and sums of some types.
    fn choose_shape(
        &self,
        factors: [FragmentElement; 2],
        sum: FragmentElement,
    ) -> Option<FragmentShape> {
        let fits = |shape: &FragmentShape| {
            let points = u64::from(shape.size[0] * shape.size[1]);
            // Rows and columns begin at multiples of 16 bytes, whichever lie next to each other.
            let narrowest = factors.iter().map(|n| n.storage_type().size()).min();
            let least = 16 / narrowest.unwrap_or(1);
            shape.factors == factors
                && shape.sum == sum
                && shape.size.iter().all(|n| u64::from(*n) >= least)
                && shape.size.iter().all(|n| n.is_power_of_two())
                && points.is_multiple_of(self.subgroup)
        };
        let all = || self.shapes.iter().flatten().filter(|s| fits(s));
        let preferred = all().find(|s| Some(s.size) == self.preferred);
        let largest = || all().max_by_key(|s| s.size.iter().product::<u32>());
        preferred.or_else(largest).copied()
    }
}

/// A product of matrices by subgroups.
#[derive(Clone, Copy, Debug)]
pub struct SubgroupMatmul {
    /// The fragments.
    pub shape: FragmentShape,
    /// The factors as they are kept in fragments; nodes of the operation's body.
    pub factors: [ScalarNode; 2],
    /// Tiles of the rows, the columns and the folded axes, by their numbers.
    pub tiles: [usize; 3],
    /// Subgroups down and across a tile.
    pub grid: [u64; 2],
    /// Fragments of a subgroup down and across.
    pub counts: [u64; 2],
    /// Fragments along the fold of a tile.
    pub depth: u64,
    /// Copies of tiles.
    pub buffers: u64,
    /// The loops over the subgroups, over the invocations of one, and over the fragments of one down
    /// and across.
    pub loops: [u32; 4],
    /// Points of a fragment that each invocation finishes.
    pub points: u64,
}

impl SubgroupMatmul {
    /// Elements between rows of a tile in memory that nothing uses, so that rows meet different banks.
    pub fn row_padding(ty: ScalarType) -> u64 {
        16 / ty.size()
    }
}

/// Whether an operation is a product that a device's subgroups compute.
pub(crate) fn is_matrix_product(op: &StructuredOp, profile: &ScheduleProfile) -> bool {
    plan_matmul(&mut op.clone(), profile).is_some()
}

/// How many tiles such a product has along rows and columns.
pub(super) fn count_tiles(op: &StructuredOp, profile: &ScheduleProfile) -> Option<[u64; 2]> {
    let plan = plan_matmul(&mut op.clone(), profile)?;
    Some([0, 1].map(|at| plan.extents[at].div_ceil(plan.tile[at])))
}

/// Sizes of a product by subgroups.
struct SubgroupMatmulPlan {
    shape: FragmentShape,
    factors: [ScalarNode; 2],
    /// Sizes of rows, columns and folded axes, all of each together.
    extents: [u64; 3],
    tile: [u64; 3],
    grid: [u64; 2],
    buffers: u64,
}

fn plan_matmul(op: &mut StructuredOp, profile: &ScheduleProfile) -> Option<SubgroupMatmulPlan> {
    let matrices = profile.matrices?;
    let contraction = match_contraction(op)?;
    let initial = op.body.as_literal(op.reductions[0].initial[0])?;
    let is_zero = initial.bits == 0;
    let folds = op.axes.len() - op.parallel_rank();
    if !is_zero || contraction.steps.len() != folds {
        return None;
    }
    let sum = match initial.ty {
        ScalarType::F32 => FragmentElement::F32,
        ScalarType::I32 => FragmentElement::I32,
        _ => return None,
    };
    let [a, b] = contraction.factors;
    let (a, b) = (
        match_narrow_factor(&mut op.body, a)?,
        match_narrow_factor(&mut op.body, b)?,
    );
    let shape = matrices.choose_shape([a.1, b.1], sum)?;
    let total = |axes: &[usize]| -> Option<u64> {
        let mut sizes = axes.iter().map(|at| op.axes[*at].extent.as_static());
        sizes.try_fold(1u64, |n, size| n.checked_mul(size?))
    };
    let extents = [
        total(&contraction.rows)?,
        total(&contraction.columns)?,
        total(&contraction.steps)?,
    ];
    let all = total(&(0..op.axes.len()).collect::<Vec<_>>())?;
    let batches = all.checked_div(extents.iter().product())?;
    let least = shape.size.map(u64::from);
    if extents
        .iter()
        .zip(least)
        .any(|(extent, least)| *extent < least)
    {
        return None;
    }
    let mut plan = SubgroupMatmulPlan {
        shape,
        factors: [a.0, b.0],
        extents,
        tile: matrices.tile,
        grid: matrices.grid,
        buffers: matrices.buffers,
    };
    plan.fit_tiles(&matrices, batches, profile.busy);
    Some(plan)
}

impl SubgroupMatmulPlan {
    /// Makes tiles smaller until there are enough, and they fit the memory.
    fn fit_tiles(&mut self, matrices: &MatrixProfile, batches: u64, busy: u64) {
        let least = self.shape.size.map(u64::from);
        for (at, least) in least.iter().enumerate() {
            let whole = self.extents[at].next_multiple_of(*least);
            self.tile[at] = self.tile[at].clamp(*least, whole.next_power_of_two());
        }
        self.tile[2] = self.tile[2].next_multiple_of(least[2]);
        loop {
            for (grid, (tile, least)) in self.grid.iter_mut().zip(self.tile.iter().zip(least)) {
                *grid = (*grid).min(tile / least).max(1);
            }
            let tiles = batches
                * self.extents[0].div_ceil(self.tile[0])
                * self.extents[1].div_ceil(self.tile[1]);
            let is_large = self.memory_bytes() > matrices.memory;
            if !is_large && tiles >= busy {
                return;
            }
            let larger = usize::from(self.tile[1] >= self.tile[0]);
            let sides = [larger, 1 - larger];
            let side = sides.into_iter().find(|at| self.tile[*at] > least[*at]);
            match side {
                _ if is_large && self.buffers > 1 => self.buffers = 1,
                Some(at) if self.tile[at] > 2 * least[at] || is_large => self.tile[at] /= 2,
                _ => return,
            }
        }
    }

    /// Bytes of the workgroup's memory that tiles and patches take.
    fn memory_bytes(&self) -> u64 {
        let sizes = self.shape.factors.map(|n| n.storage_type().size());
        let [rows, columns, depth] = self.tile;
        // A tile may lie either way.
        let kept = |side: u64, size: u64| (side * depth * size) + side.max(depth) * 16;
        let tiles = kept(rows, sizes[0]) + kept(columns, sizes[1]);
        let [m, n, _] = self.shape.size.map(u64::from);
        self.buffers * tiles + self.grid[0] * self.grid[1] * m * n * 4
    }
}

/// A factor as a narrow number that widening gives the factor of.
fn match_narrow_factor(
    body: &mut NodeGraph,
    node: ScalarNode,
) -> Option<(ScalarNode, FragmentElement)> {
    let (operator, operands) = body.as_apply(node)?;
    let operands = operands.to_vec();
    let types = (operator.op, operator.from, operator.to);
    match types {
        (ScalarOp::FConv, ScalarType::F16, ScalarType::F32) => {
            Some((operands[0], FragmentElement::F16))
        }
        (ScalarOp::SExt, ScalarType::I8, ScalarType::I32) => {
            Some((operands[0], FragmentElement::I8))
        }
        (ScalarOp::ZExt, ScalarType::I8, ScalarType::I32) => {
            Some((operands[0], FragmentElement::U8))
        }
        (ScalarOp::Bits, ScalarType::I32, ScalarType::F32) => match_bf16_factor(body, operands[0]),
        (ScalarOp::Cond, ..) => {
            let zero = |body: &NodeGraph, node| body.as_literal(node).is_some_and(|l| l.bits == 0);
            let (value, number) = match_narrow_factor(body, operands[1])?;
            if !zero(body, operands[2]) {
                return None;
            }
            let zero = body.intern_literal(ScalarLiteral::new(number.storage_type(), 0));
            Some((
                body.apply_op(ScalarOp::Cond, &[operands[0], value, zero]),
                number,
            ))
        }
        _ => None,
    }
}

/// The 16 bits whose place in a binary32 is the upper half.
fn match_bf16_factor(body: &NodeGraph, node: ScalarNode) -> Option<(ScalarNode, FragmentElement)> {
    let (shift, operands) = body.as_apply(node)?;
    let [wide, by] = *operands else { return None };
    let is_shift = shift.op == ScalarOp::Shl && body.as_literal(by)?.bits == 16;
    let (widen, operands) = body.as_apply(wide)?;
    let is_widening = (widen.op, widen.from) == (ScalarOp::ZExt, ScalarType::I16);
    (is_shift && is_widening).then_some((operands[0], FragmentElement::Bf16))
}

/// Tiles a product for subgroups.
pub(super) fn tile_matrices(dispatch: &mut TensorDispatch) {
    let profile = dispatch.profile;
    let Some(plan) = plan_matmul(&mut dispatch.op, &profile) else {
        return;
    };
    let (Some(contraction), Some(matrices)) = (match_contraction(&dispatch.op), profile.matrices)
    else {
        return;
    };
    let extents: Vec<u64> = dispatch.loops.iter().map(|l| l.extent).collect();
    let [m, n, k] = plan.shape.size.map(u64::from);
    let counts = [
        plan.tile[0] / (plan.grid[0] * m),
        plan.tile[1] / (plan.grid[1] * n),
    ];
    let points = m * n / matrices.subgroup;
    dispatch.loops.clear();
    dispatch.points = NodeGraph::default();
    let batch = add_batch_loop(dispatch, &contraction.tiled_axes(), &extents);
    let tiles = [0, 1].map(|at| {
        let count = plan.extents[at].div_ceil(plan.tile[at]);
        dispatch.add_loop(count, LoopMapping::Parallel)
    });
    let subgroups = plan.grid[0] * plan.grid[1];
    let subgroup = dispatch.add_loop(subgroups, LoopMapping::Subgroup);
    let lane = dispatch.add_loop(matrices.subgroup, LoopMapping::Lane);
    let down = dispatch.add_loop(counts[0], LoopMapping::Repeated);
    let across = dispatch.add_loop(counts[1], LoopMapping::Repeated);
    let point = dispatch.add_loop(points, LoopMapping::Unrolled);
    dispatch.add_loop(subgroups * matrices.subgroup, LoopMapping::Invocation(0));
    let outer = dispatch.add_loop(
        plan.extents[2].div_ceil(plan.tile[2]),
        LoopMapping::Sequential,
    );

    let within = sum_scaled_counters(dispatch, &[(lane, points), (point, 1)]);
    let within = unflatten_index(&mut dispatch.points, within, &[m as i64, n as i64]);
    let number = dispatch.loop_counter(subgroup);
    let grid = plan.grid.map(|n| n as i64);
    let of_grid = unflatten_index(&mut dispatch.points, number, &grid);
    let axes = [&contraction.rows, &contraction.columns];
    let mut numbers = [0; 3];
    for at in 0..2 {
        let base = sum_scaled_counters(dispatch, &[(tiles[at], plan.tile[at])]);
        let size = [m, n][at];
        let fragment = sum_scaled_counters(dispatch, &[([down, across][at], size)]);
        let points = &mut dispatch.points;
        let part = points.intern_i64((counts[at] * size) as i64);
        let part = points.apply_op(ScalarOp::Mul, &[of_grid[at], part]);
        let local = points.apply_op(ScalarOp::Add, &[part, fragment]);
        let local = points.apply_op(ScalarOp::Add, &[local, within[at]]);
        numbers[at] = dispatch.tiles.len();
        let tile = tile_of(axes[at], &extents, base, local, plan.tile[at]);
        let guard = add_tile(dispatch, tile);
        dispatch.guards.extend(guard);
    }
    let base = sum_scaled_counters(dispatch, &[(outer, plan.tile[2])]);
    let local = dispatch.points.intern_i64(0);
    numbers[2] = dispatch.tiles.len();
    let tile = tile_of(&contraction.steps, &extents, base, local, plan.tile[2]);
    add_tile(dispatch, tile);

    dispatch.step_loop = Some(outer);
    dispatch.matrix = Some(SubgroupMatmul {
        shape: plan.shape,
        factors: plan.factors,
        tiles: numbers,
        grid: plan.grid,
        counts,
        depth: plan.tile[2] / k,
        buffers: plan.buffers,
        loops: [subgroup, lane, down, across],
        points,
    });
    let mut steps = vec![DispatchStep::Clear];
    steps.extend(nest_loops(&[outer], vec![DispatchStep::Multiply]));
    steps.extend(nest_loops(
        &[down, across],
        vec![DispatchStep::Spill, DispatchStep::Store],
    ));
    dispatch.grid = Some(tiles);
    let mut outermost: Vec<u32> = batch.into_iter().collect();
    outermost.extend(tiles);
    dispatch.steps = nest_loops(&outermost, steps);
}

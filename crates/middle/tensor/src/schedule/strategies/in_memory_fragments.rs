//! In-memory fragments strategy: products by large fragments that are loaded from the device's memory.
//!
//! Processors have no matrix units. Spirula's CPU device, however, multiplies cooperative matrices of any size that
//! lie in memory: loads of fragments pack tiles there, once for many uses.
//!
//! A workgroup is one subgroup and has a tile as one fragment. It adds the products of an iteration of the reduction
//! at once, spills the sums to its memory, and finishes them row by row; invocation `i` of `n` has columns
//! `i`, `i + n`, …. Tiles that would extend beyond the space begin earlier. They leave out the points that another
//! tile has.
//!
//! Both factors must be matrices in memory ([`match_matrix_operand`]). The pass `materialise_factors` stores those
//! that are not.

use crate::ir::{
    AxisKind, DimExtent, ScalarNode, StructuredOp, TensorFunction, YieldDestination,
    unflatten_index,
};
use crate::schedule::dispatch::nest_loops;
use crate::schedule::distribute::{assign_loops, group_tile_rows};
use crate::schedule::matrix_operand::{FactorStrides, MatrixOperand, strip_widening};
use crate::schedule::tile_loops::{add_batch_loop, add_tile, sum_scaled_counters};
use crate::schedule::{
    AxisTile, ContractionAxes, DispatchStep, FragmentShape, FragmentSource, LoopMapping,
    SchedulePlan, ScheduleProfile, ScheduleRequest, SubgroupMatmul, TensorLoopNest,
    match_contraction, match_matrix_operand,
};
use spirula_kernel::ir::FragmentElement;
use spirula_program::{ScalarOp, ScalarType};

/// Number of invocations of a workgroup.
const LANES: u64 = 8;

/// Alignment of rows of numbers of 16 bits, in elements.
const VECTOR: u64 = 8;

/// Fewest rows that are worth packing; of columns, twice as many.
const LEAST: u64 = 8;

/// Fewest rows, columns and points of the reduction that are left for tiles where other axes become loops around them.
const LEFT: [u64; 3] = [24, 16, 16];

/// The tiles of a product by large fragments.
#[derive(Clone, Debug)]
pub(crate) struct LargeFragmentPlan {
    /// Its factors and the axes that are tiled. The other axes become loops around the tiles.
    pub contraction: ContractionAxes,
    /// Numbers of rows, columns and points of the reduction.
    extents: [u64; 3],
    /// The same of a tile.
    tile: [u64; 3],
}

impl LargeFragmentPlan {
    /// The axes of a factor: those of rows or columns, and those of the reduction.
    pub fn factor_axes(&self, side: usize) -> [&[usize]; 2] {
        let parts = &self.contraction;
        [[&parts.rows, &parts.columns][side], &parts.steps]
    }

    /// Whether both factors are matrices in memory.
    pub fn is_in_memory(&self, function: &TensorFunction, op: &StructuredOp) -> bool {
        [0, 1]
            .iter()
            .all(|side| self.match_operand(function, op, *side).is_some())
    }

    /// A factor as a matrix in memory that fragments can be loaded from.
    pub fn match_operand(
        &self,
        function: &TensorFunction,
        op: &StructuredOp,
        side: usize,
    ) -> Option<MatrixOperand> {
        let factor = self.contraction.factors[side];
        let patch = match_matrix_operand(function, op, factor, self.factor_axes(side))?;
        let is_narrow = op.body.ty(patch.element).size() < 4;
        let has_rows = |stride: &u64| *stride == 1 || stride.is_multiple_of(VECTOR);
        let fits = !is_narrow
            || (patch.strides.iter().all(has_rows) && self.is_aligned(function, op, side));
        fits.then_some(patch)
    }

    /// Whether all fragments of a factor and their rows begin at multiples of vectors.
    fn is_aligned(&self, function: &TensorFunction, op: &StructuredOp, side: usize) -> bool {
        let factor = self.contraction.factors[side];
        let Some(reads) = FactorStrides::from_factor(function, op, factor) else {
            return false;
        };
        let [own, steps] = self.factor_axes(side);
        let is_whole = |axis: &usize| {
            let at = if steps.contains(axis) { 2 } else { side };
            [self.tile[at], self.extents[at]]
                .iter()
                .all(|n| n.is_multiple_of(VECTOR))
        };
        let is_aligned = |axis: usize| {
            let is_one = op.axes[axis].extent == DimExtent::Static(1);
            let is_tiled = own.contains(&axis) || steps.contains(&axis);
            let is_stride_aligned = reads.strides[axis].is_multiple_of(VECTOR);
            is_one || is_stride_aligned || (is_tiled && is_whole(&axis))
        };
        reads.first.is_some_and(|first| first % VECTOR as i64 == 0)
            && (0..reads.strides.len()).all(is_aligned)
    }
}

/// The contraction restricted to those of its last axes whose strides are common, where enough points are left for
/// tiles.
fn restrict_axes(
    function: &TensorFunction,
    op: &StructuredOp,
    all: ContractionAxes,
) -> ContractionAxes {
    let reads = all
        .factors
        .map(|factor| FactorStrides::from_factor(function, op, factor));
    let [Some(left), Some(right)] = reads else {
        return all;
    };
    let end = |axes: &[usize], count: usize| axes[axes.len() - count..].to_vec();
    let last_of_left = |axes: &[usize]| left.count_last_axes(op, axes);
    let last_of_right = |axes: &[usize]| right.count_last_axes(op, axes);
    let steps = last_of_left(&all.steps).min(last_of_right(&all.steps));
    let narrowed = ContractionAxes {
        factors: all.factors,
        rows: end(&all.rows, last_of_left(&all.rows)),
        columns: end(&all.columns, last_of_right(&all.columns)),
        steps: end(&all.steps, steps),
    };
    let points = |axes: &Vec<usize>| {
        let extents = axes.iter().filter_map(|at| op.axes[*at].extent.as_static());
        extents.fold(1, u64::saturating_mul)
    };
    let left = [&narrowed.rows, &narrowed.columns, &narrowed.steps].map(points);
    if left.iter().zip(LEFT).all(|(n, least)| *n >= least) {
        narrowed
    } else {
        all
    }
}

/// The tiles of a product by large fragments, whether its factors are in memory or not.
pub(crate) fn plan_large_fragments(
    function: &TensorFunction,
    op: &StructuredOp,
    profile: &ScheduleProfile,
) -> Option<LargeFragmentPlan> {
    let most = profile.dense?;
    let contraction = match_contraction(op)?;
    let initial = op.body.as_literal(op.reductions[0].initial[0])?;
    let folds = op.axes.len() - op.parallel_rank();
    let is_point = |d: &YieldDestination| matches!(d, YieldDestination::Point);
    let fits = (initial.ty, initial.bits) == (ScalarType::F32, 0)
        && contraction.steps.len() == folds
        && op.dynamic_sizes().next().is_none()
        && op.yields.iter().all(|y| is_point(&y.destination));
    if !fits {
        return None;
    }
    let contraction = restrict_axes(function, op, contraction);
    let total = |axes: &[usize]| op.count_static_points(axes.iter().copied());
    let extents = [
        total(&contraction.rows)?,
        total(&contraction.columns)?,
        total(&contraction.steps)?,
    ];
    let [rows, columns, depth] = extents;
    if rows < LEAST || columns < 2 * LEAST || depth < LEAST {
        return None;
    }
    let equal = |extent: u64, most: u64| extent.div_ceil(extent.div_ceil(most));
    let round = (LEAST..=most[2].min(depth)).rev();
    let round = round.into_iter().find(|n| depth.is_multiple_of(*n))?;
    Some(LargeFragmentPlan {
        contraction,
        extents,
        tile: [
            equal(rows, most[0]),
            (equal(columns, most[1]).next_multiple_of(LANES)).min(columns / LANES * LANES),
            round,
        ],
    })
}

#[derive(Debug)]
struct InMemoryPlan {
    fragments: LargeFragmentPlan,
    /// The loops over the tiles of rows and of columns, once tiled.
    grid: Option<[u32; 2]>,
    matmul: Option<SubgroupMatmul>,
}

/// Suits products whose factors are matrices in memory, on devices that multiply such fragments of any size.
pub(super) fn plan_in_memory(request: &ScheduleRequest<'_>) -> Option<Box<dyn SchedulePlan>> {
    let fragments = plan_large_fragments(request.function, request.op, request.profile)?;
    if !fragments.is_in_memory(request.function, request.op) {
        return None;
    }
    Some(Box::new(InMemoryPlan {
        fragments,
        grid: None,
        matmul: None,
    }))
}

impl SchedulePlan for InMemoryPlan {
    fn tile(&mut self, nest: &mut TensorLoopNest) {
        let plan = &self.fragments;
        let contraction = &plan.contraction;
        let extents = nest.take_extents();
        let batch = add_batch_loop(nest, &contraction.tiled_axes(), &extents);
        let grid = [0, 1].map(|at| {
            let count = plan.extents[at].div_ceil(plan.tile[at]);
            nest.add_loop(count, LoopMapping::Parallel)
        });
        let subgroup = nest.add_loop(1, LoopMapping::Subgroup);
        let lane = nest.add_loop(LANES, LoopMapping::Invocation(0));
        let row = nest.add_loop(plan.tile[0], LoopMapping::Sequential);
        let column = nest.add_loop(plan.tile[1] / LANES, LoopMapping::Unrolled);
        let locals = [
            sum_scaled_counters(nest, &[(row, 1)]),
            sum_scaled_counters(nest, &[(column, LANES), (lane, 1)]),
        ];
        for at in 0..2 {
            add_side_tile(nest, plan, at, grid[at], locals[at], &extents);
        }
        let outer = add_fold_loop(nest, plan, &extents);
        self.matmul = Some(SubgroupMatmul {
            shape: FragmentShape {
                size: plan.tile.map(|n| n as u32),
                factors: contraction
                    .factors
                    .map(|f| strip_widening(&nest.op.body, f).1),
                sum: FragmentElement::F32,
            },
            factors: contraction.factors,
            parts: 1,
            source: FragmentSource::InMemory,
            tiles: [0, 1, 2],
            grid: [1, 1],
            counts: [1, 1],
            depth: 1,
            buffers: 1,
            loops: [subgroup, lane, row, column],
            points: plan.tile[1] / LANES,
        });
        let mut steps = vec![DispatchStep::Clear];
        steps.extend(nest_loops(&[outer], vec![DispatchStep::Multiply]));
        steps.push(DispatchStep::Spill);
        steps.extend(nest_loops(
            &[row],
            vec![DispatchStep::TakeRow, DispatchStep::Store],
        ));
        self.grid = Some(grid);
        let mut outermost: Vec<u32> = batch.into_iter().collect();
        outermost.extend(grid);
        nest.steps = nest_loops(&outermost, steps);
    }

    fn distribute(&mut self, nest: &mut TensorLoopNest) {
        group_tile_rows(nest, self.grid);
        assign_loops(nest);
    }

    fn matmul(&self) -> Option<&SubgroupMatmul> {
        self.matmul.as_ref()
    }
}

/// Adds the tile of the rows, or of the columns, whose tiles the loop `tiles` counts.
fn add_side_tile(
    nest: &mut TensorLoopNest,
    plan: &LargeFragmentPlan,
    at: usize,
    tiles: u32,
    local: ScalarNode,
    extents: &[u64],
) {
    let axes = [&plan.contraction.rows, &plan.contraction.columns][at];
    let (extent, size) = (plan.extents[at], plan.tile[at]);
    let first = sum_scaled_counters(nest, &[(tiles, size)]);
    let points = &mut nest.points;
    let last = points.intern_i64(extent as i64 - size as i64);
    let base = points.apply_op(ScalarOp::SMin, &[first, last]);
    if !extent.is_multiple_of(size) {
        // Points before `first` belong to the tile before.
        let own = points.apply_op(ScalarOp::Add, &[base, local]);
        let guard = points.apply_op(ScalarOp::SLe, &[first, own]);
        nest.guards.push(guard);
    }
    let guard = add_tile(nest, AxisTile::new(axes, extents, base, local, size));
    nest.guards.extend(guard);
}

/// One loop for the tiles of the reduction and all reduced axes that are not tiled. In one loop fragments stay where
/// they are.
fn add_fold_loop(nest: &mut TensorLoopNest, plan: &LargeFragmentPlan, extents: &[u64]) -> u32 {
    let steps = &plan.contraction.steps;
    let is_other =
        |at: &usize| nest.op.axes[*at].kind == AxisKind::Reduction && !steps.contains(at);
    let others: Vec<usize> = (0..extents.len()).filter(is_other).collect();
    let rounds = plan.extents[2] / plan.tile[2];
    let mut sizes: Vec<i64> = others.iter().map(|at| extents[*at] as i64).collect();
    sizes.push(rounds as i64);
    let number = nest.add_loop(
        sizes.iter().product::<i64>() as u64,
        LoopMapping::Sequential,
    );
    let counter = nest.loop_counter(number);
    let points = &mut nest.points;
    let position = unflatten_index(points, counter, &sizes);
    let (local, depth) = (points.intern_i64(0), points.intern_i64(plan.tile[2] as i64));
    let base = points.apply_op(ScalarOp::Mul, &[position[others.len()], depth]);
    for (axis, index) in others.iter().zip(position) {
        nest.indices[*axis] = index;
    }
    add_tile(
        nest,
        AxisTile::new(steps, extents, base, local, plan.tile[2]),
    );
    number
}

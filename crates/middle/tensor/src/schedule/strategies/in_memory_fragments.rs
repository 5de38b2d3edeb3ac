//! Products by large fragments: factors are read where they are, and a subgroup has a tile as one fragment.
//!
//! Processors have no matrix units, but Spirula's CPU device multiplies cooperative matrices of any size that lie in
//! memory: what loads of fragments do there is the packing of tiles, each once for many uses. A
//! workgroup is one subgroup; it adds the products of a round of the fold at once, takes the sums through its
//! memory, and finishes them row by row, an invocation every so-many-th column. Tiles that would go beyond the
//! space begin earlier, and leave what another tile has to that.
//!
//! Both factors have to be matrices as they lie in memory ([`MatrixOperand`]); `passes/plain` stores those that are not.

use super::tile::{
    ContractionAxes, add_batch_loop, add_tile, match_contraction, sum_scaled_counters, tile_of,
};
use super::{
    DispatchStep, FragmentShape, LoopMapping, ScheduleProfile, SubgroupMatmul, TensorDispatch,
    nest_loops,
};
use crate::ir::{
    AffineSum, AxisKind, DimExtent, NodeData, NodeGraph, ScalarNode, StructuredOp, TensorFunction,
    TensorValue, YieldDestination, unflatten_index,
};
use spirula_kernel::ir::FragmentElement;
use spirula_program::{ScalarOp, ScalarType};

/// Invocations of a workgroup.
const LANES: u64 = 8;

/// Numbers of 16 bits at multiples of which rows of them have to begin.
const VECTOR: u64 = 8;

/// Fewer rows than this, or columns than twice this, are not worth packing.
const LEAST: u64 = 8;

/// Fewest rows, columns and points of the fold that are left where others go to loops around.
const LEFT: [u64; 3] = [24, 16, 16];

/// A factor as a matrix in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MatrixOperand {
    /// The tensor.
    pub value: TensorValue,
    /// What it is read as, before it is widened.
    pub element: ScalarNode,
    /// Elements from one point of the rows, or columns, to the next, and from one of the fold.
    pub strides: [u64; 2],
}

/// How a factor is a matrix in memory: the axes of either kind lie as one, and one kind's elements next to
/// each other.
pub(crate) fn match_matrix_operand(
    function: &TensorFunction,
    op: &StructuredOp,
    factor: ScalarNode,
    kinds: [&[usize]; 2],
) -> Option<MatrixOperand> {
    let (value, strides) = compute_strides(function, op, factor)?;
    let strides = [
        as_one(op, &strides, kinds[0])?,
        as_one(op, &strides, kinds[1])?,
    ];
    let strides = strides.map(|(stride, _)| stride);
    strides.contains(&1).then_some(MatrixOperand {
        value,
        element: strip_widening(&op.body, factor).0,
        strides,
    })
}

/// What a factor is read as: itself, or a number of 16 bits that it is widened from.
fn strip_widening(body: &NodeGraph, factor: ScalarNode) -> (ScalarNode, FragmentElement) {
    match body.as_apply(factor) {
        Some((how, &[narrow])) if (how.op, how.from) == (ScalarOp::FConv, ScalarType::F16) => {
            (narrow, FragmentElement::F16)
        }
        _ => (factor, FragmentElement::F32),
    }
}

/// The tensor that a factor is read of, and elements from one point of each axis to the next.
fn compute_strides(
    function: &TensorFunction,
    op: &StructuredOp,
    factor: ScalarNode,
) -> Option<(TensorValue, Vec<u64>)> {
    let NodeData::Element(value, position) = op.body.node(strip_widening(&op.body, factor).0)
    else {
        return None;
    };
    let mut strides = vec![0u64; op.axes.len()];
    let mut stride = 1u64;
    for (node, dim) in position.iter().zip(&function.ty(*value).shape).rev() {
        for (term, times) in AffineSum::from_node(&op.body, *node).terms {
            let own = &mut strides[op.body.as_index(term)? as usize];
            let step = stride.checked_mul(u64::try_from(times).ok()?)?;
            *own = own.checked_add(step)?;
        }
        stride = stride.checked_mul(dim.as_static()?)?;
    }
    Some((*value, strides))
}

/// The place in memory of the first element that is read.
fn first_of(
    function: &TensorFunction,
    op: &StructuredOp,
    value: TensorValue,
    position: &[ScalarNode],
) -> Option<i64> {
    let mut first = 0i64;
    for (node, dim) in position.iter().zip(&function.ty(value).shape) {
        let size = i64::try_from(dim.as_static()?).ok()?;
        let constant = AffineSum::from_node(&op.body, *node).constant;
        first = first.checked_mul(size)?.checked_add(constant)?;
    }
    Some(first)
}

/// The step from one point to the next of axes that lie as one.
fn as_one(op: &StructuredOp, strides: &[u64], axes: &[usize]) -> Option<(u64, usize)> {
    let (stride, count) = last_as_one(op, strides, axes)?;
    (count == axes.len() && stride > 0).then_some((stride, count))
}

/// The same of as many of the last axes as lie as one, and how many these are.
fn last_as_one(op: &StructuredOp, strides: &[u64], axes: &[usize]) -> Option<(u64, usize)> {
    let mut inner: Option<(u64, u64)> = None;
    for (count, axis) in axes.iter().rev().enumerate() {
        let extent = op.axes[*axis].extent.as_static()?;
        if extent == 1 {
            continue;
        }
        let own = strides[*axis];
        inner = match inner {
            None => Some((own, own * extent)),
            Some((first, next)) if next == own => Some((first, own * extent)),
            Some((first, _)) => return Some((first, count)),
        };
    }
    inner.map(|(first, _)| (first, axes.len()))
}

/// A product by large fragments.
#[derive(Clone, Debug)]
pub(crate) struct LargeFragmentPlan {
    /// Its factors, and the axes that tiles are of: the others are left to loops around.
    pub contraction: ContractionAxes,
    /// Rows, columns and points of the fold, of all and of a tile.
    extents: [u64; 3],
    tile: [u64; 3],
}

impl LargeFragmentPlan {
    /// The axes of a factor: those of rows or columns, and those of the fold.
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

    /// How a factor is a matrix in memory that fragments can be loaded from.
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

    /// Whether all fragments of a factor begin at multiples of vectors, as do their rows.
    fn is_aligned(&self, function: &TensorFunction, op: &StructuredOp, side: usize) -> bool {
        let factor = self.contraction.factors[side];
        let Some((value, strides)) = compute_strides(function, op, factor) else {
            return false;
        };
        let begins = match op.body.node(strip_widening(&op.body, factor).0) {
            NodeData::Element(_, position) => first_of(function, op, value, position),
            _ => None,
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
            is_one || strides[axis].is_multiple_of(VECTOR) || (is_tiled && is_whole(&axis))
        };
        begins.is_some_and(|first| first % VECTOR as i64 == 0) && (0..strides.len()).all(is_aligned)
    }
}

/// Leaves those axes to loops around along which factors in memory do not lie as the last ones do, where enough
/// are left for tiles.
fn restrict_axes(
    function: &TensorFunction,
    op: &StructuredOp,
    all: ContractionAxes,
) -> ContractionAxes {
    let [left, right] = all
        .factors
        .map(|factor| compute_strides(function, op, factor));
    let (Some((_, left)), Some((_, right))) = (left, right) else {
        return all;
    };
    let last = |strides: &[u64], axes: &[usize]| -> usize {
        last_as_one(op, strides, axes).map_or(0, |(_, count)| count)
    };
    let end = |axes: &[usize], count: usize| axes[axes.len() - count..].to_vec();
    let steps = last(&left, &all.steps).min(last(&right, &all.steps));
    let narrowed = ContractionAxes {
        factors: all.factors,
        rows: end(&all.rows, last(&left, &all.rows)),
        columns: end(&all.columns, last(&right, &all.columns)),
        steps: end(&all.steps, steps),
    };
    let points = |axes: &Vec<usize>| {
        let extents = axes.iter().filter_map(|at| op.axes[*at].extent.as_static());
        extents.fold(1, u64::saturating_mul)
    };
    let left = [&narrowed.rows, &narrowed.columns, &narrowed.steps].map(points);
    match left.iter().zip(LEFT).all(|(n, least)| *n >= least) {
        true => narrowed,
        false => all,
    }
}

/// Sizes of a product, wherever its factors are.
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
    let total = |axes: &[usize]| -> Option<u64> {
        let mut sizes = axes.iter().map(|at| op.axes[*at].extent.as_static());
        sizes.try_fold(1u64, |n, size| n.checked_mul(size?))
    };
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

/// Tiles a product.
pub(super) fn tile_large_fragments(dispatch: &mut TensorDispatch) {
    let Some(plan) = dispatch.dense.take() else {
        return;
    };
    let contraction = &plan.contraction;
    let extents: Vec<u64> = dispatch.loops.iter().map(|l| l.extent).collect();
    dispatch.loops.clear();
    dispatch.points = NodeGraph::default();
    dispatch.is_direct = true;
    let batch = add_batch_loop(dispatch, &contraction.tiled_axes(), &extents);
    let tiles = [0, 1].map(|at| {
        let count = plan.extents[at].div_ceil(plan.tile[at]);
        dispatch.add_loop(count, LoopMapping::Parallel)
    });
    let subgroup = dispatch.add_loop(1, LoopMapping::Subgroup);
    let lane = dispatch.add_loop(LANES, LoopMapping::Invocation(0));
    let row = dispatch.add_loop(plan.tile[0], LoopMapping::Sequential);
    let column = dispatch.add_loop(plan.tile[1] / LANES, LoopMapping::Unrolled);
    let locals = [
        sum_scaled_counters(dispatch, &[(row, 1)]),
        sum_scaled_counters(dispatch, &[(column, LANES), (lane, 1)]),
    ];
    let axes = [&contraction.rows, &contraction.columns];
    for at in 0..2 {
        let first = sum_scaled_counters(dispatch, &[(tiles[at], plan.tile[at])]);
        let points = &mut dispatch.points;
        let last = points.intern_i64(plan.extents[at] as i64 - plan.tile[at] as i64);
        let base = points.apply_op(ScalarOp::SMin, &[first, last]);
        if !plan.extents[at].is_multiple_of(plan.tile[at]) {
            // What another tile has, that does.
            let own = points.apply_op(ScalarOp::Add, &[base, locals[at]]);
            dispatch
                .guards
                .push(points.apply_op(ScalarOp::SLe, &[first, own]));
        }
        let tile = tile_of(axes[at], &extents, base, locals[at], plan.tile[at]);
        let guard = add_tile(dispatch, tile);
        dispatch.guards.extend(guard);
    }
    let outer = add_fold_loop(dispatch, &plan, &extents);

    dispatch.step_loop = Some(outer);
    dispatch.matrix = Some(SubgroupMatmul {
        shape: FragmentShape {
            size: plan.tile.map(|n| n as u32),
            factors: contraction
                .factors
                .map(|f| strip_widening(&dispatch.op.body, f).1),
            sum: FragmentElement::F32,
        },
        factors: contraction.factors,
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
        vec![DispatchStep::Take, DispatchStep::Store],
    ));
    dispatch.grid = Some(tiles);
    let mut outermost: Vec<u32> = batch.into_iter().collect();
    outermost.extend(tiles);
    dispatch.steps = nest_loops(&outermost, steps);
}

/// One loop for the rounds of the fold and all folded axes that are not tiled: fragments stay where they are in one.
fn add_fold_loop(dispatch: &mut TensorDispatch, plan: &LargeFragmentPlan, extents: &[u64]) -> u32 {
    let steps = &plan.contraction.steps;
    let is_other =
        |at: &usize| dispatch.op.axes[*at].kind == AxisKind::Reduction && !steps.contains(at);
    let others: Vec<usize> = (0..extents.len()).filter(is_other).collect();
    let rounds = plan.extents[2] / plan.tile[2];
    let mut sizes: Vec<i64> = others.iter().map(|at| extents[*at] as i64).collect();
    sizes.push(rounds as i64);
    let number = dispatch.add_loop(
        sizes.iter().product::<i64>() as u64,
        LoopMapping::Sequential,
    );
    let counter = dispatch.loop_counter(number);
    let points = &mut dispatch.points;
    let position = unflatten_index(points, counter, &sizes);
    let (local, depth) = (points.intern_i64(0), points.intern_i64(plan.tile[2] as i64));
    let base = points.apply_op(ScalarOp::Mul, &[position[others.len()], depth]);
    for (axis, index) in others.iter().zip(position) {
        dispatch.indices[*axis] = index;
    }
    add_tile(dispatch, tile_of(steps, extents, base, local, plan.tile[2]));
    number
}

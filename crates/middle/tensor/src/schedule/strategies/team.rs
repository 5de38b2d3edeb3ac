//! Team strategy: the invocations of one workgroup share the points of an operation.
//!
//! It is for operations of loops within a kernel. On processors, they share the points along one axis. Neighbouring
//! invocations have neighbouring points, so that the lanes of a gang read and write vectors. Other axes are loops of each
//! invocation. On graphics cards, they share all points in their order.

use crate::ir::{NodeData, StructuredOp, YieldDestination, unflatten_index};
use crate::schedule::dispatch::nest_loops;
use crate::schedule::tile_loops::sum_scaled_counters;
use crate::schedule::{DispatchStep, LoopMapping, SchedulePlan, ScheduleProfile, TensorLoopNest};
use spirula_program::{ScalarOp, ScalarType};

/// Numbers of points of an invocation that are reduced at the same time.
const UNROLLED: [u64; 3] = [4, 3, 2];

/// A part of the points of an operation that a team shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TeamShare {
    /// The axis whose points the invocations share; none where they share all points.
    pub axis: Option<usize>,
    /// Number of invocations.
    pub lanes: u64,
    /// Whether the points are the last ones, fewer than one for each invocation.
    pub is_rest: bool,
}

/// The shares of an operation, in their order; none if a single invocation must run all points.
pub(crate) fn share_points(
    op: &StructuredOp,
    profile: &ScheduleProfile,
    lanes: u64,
) -> Vec<TeamShare> {
    let is_independent = op.yields.iter().all(|y| match &y.destination {
        YieldDestination::Point => true,
        YieldDestination::Scatter {
            combiner, distinct, ..
        } => combiner.is_none() && *distinct,
        YieldDestination::Each(_) | YieldDestination::Prefix { .. } => false,
    });
    let extents = op.parallel_shape().map(|extent| extent.as_static());
    let extents: Vec<u64> = extents.map(|extent| extent.unwrap_or(0)).collect();
    if !is_independent || lanes == 1 {
        return Vec::new();
    }
    let (axis, count) = if profile.is_processor() {
        let axis = extents.iter().rposition(|extent| *extent >= lanes);
        let Some(axis) = axis.filter(|_| has_vectors(op)) else {
            return Vec::new();
        };
        (Some(axis), extents[axis])
    } else {
        let product = |count: u64, extent: &u64| count.saturating_mul(*extent);
        (None, extents.iter().fold(1, product))
    };
    let share = |is_rest| TeamShare {
        axis,
        lanes,
        is_rest,
    };
    let whole = (count >= lanes).then(|| share(false));
    let rest = (!count.is_multiple_of(lanes)).then(|| share(true));
    whole.into_iter().chain(rest).collect()
}

/// Whether processors have vectors of all elements that an operation reads and computes.
fn has_vectors(op: &StructuredOp) -> bool {
    let needed = op.body.mark_reachable(&op.collect_roots());
    let is_element = |node| matches!(op.body.node(node), NodeData::Element(..));
    let nodes = op.body.node_ids().filter(|node| needed[node.index()]);
    let read = nodes.filter(|node| is_element(*node));
    let computed = op.yields.iter().map(|result| result.value);
    let folded = op.reductions.iter().flat_map(|r| r.values.iter().copied());
    let mut types = read
        .chain(computed)
        .chain(folded)
        .map(|node| op.body.ty(node));
    types.all(|ty| {
        matches!(
            ty,
            ScalarType::F32 | ScalarType::F64 | ScalarType::I32 | ScalarType::Bool
        )
    })
}

/// The plan for a share of an operation.
pub(crate) fn team_plan(share: TeamShare) -> Box<dyn SchedulePlan> {
    Box::new(TeamPlan(share))
}

#[derive(Debug)]
struct TeamPlan(TeamShare);

impl SchedulePlan for TeamPlan {
    fn distribute(&mut self, nest: &mut TensorLoopNest) {
        let TeamShare {
            axis,
            lanes,
            is_rest,
        } = self.0;
        for data in &mut nest.loops {
            if data.run == LoopMapping::Parallel {
                data.run = LoopMapping::Sequential;
            }
        }
        let Some(axis) = axis else {
            return share_all_points(nest, lanes, is_rest);
        };
        // Loops are numbered as their axes at first.
        let runs = nest.loop_extent(axis as u32) / lanes;
        let local = nest.add_loop(lanes, LoopMapping::Invocation(0));
        if is_rest {
            leave_rest(nest, axis, local, runs);
        } else {
            share_runs(nest, axis, local, runs);
        }
        let steps = std::mem::take(&mut nest.steps);
        nest.steps = nest_loops(&[local], steps);
    }

    fn has_outer_guard(&self) -> bool {
        true
    }
}

/// Gives each invocation a point of each run of all points, or some of them a point of the rest after the runs.
fn share_all_points(nest: &mut TensorLoopNest, lanes: u64, is_rest: bool) {
    let axes = 0..nest.op.parallel_rank();
    let sizes: Vec<i64> = axes.map(|at| nest.loops[at].extent as i64).collect();
    let total = sizes.iter().product::<i64>() as u64;
    let runs = total / lanes;
    let local = nest.add_loop(lanes, LoopMapping::Invocation(0));
    let mut steps = std::mem::take(&mut nest.steps);
    for _ in &sizes {
        if let Some(DispatchStep::For(_, inner)) = steps.pop() {
            steps = inner;
        }
    }
    let flat = if is_rest {
        let left = nest.points.intern_i64((total - runs * lanes) as i64);
        let lane = nest.loop_counter(local);
        let guard = nest.points.apply_op(ScalarOp::SLt, &[lane, left]);
        nest.add_guard(guard);
        let done = nest.points.intern_i64((runs * lanes) as i64);
        nest.points.apply_op(ScalarOp::Add, &[done, lane])
    } else {
        let run = nest.add_loop(runs, LoopMapping::Sequential);
        steps = nest_loops(&[run], steps);
        sum_scaled_counters(nest, &[(run, lanes), (local, 1)])
    };
    let position = unflatten_index(&mut nest.points, flat, &sizes);
    nest.indices[..sizes.len()].copy_from_slice(&position);
    nest.steps = nest_loops(&[local], steps);
}

/// Gives each invocation a point of each run of points along an axis.
fn share_runs(nest: &mut TensorLoopNest, axis: usize, local: u32, runs: u64) {
    let divides = |count: &u64| !nest.op.reductions.is_empty() && runs.is_multiple_of(*count);
    let count = UNROLLED.into_iter().find(divides).unwrap_or(1);
    let lanes = nest.loop_extent(local);
    let run = nest.add_loop(runs / count, LoopMapping::Sequential);
    let place = nest.add_loop(count, LoopMapping::Unrolled);
    let [run_counter, place_counter, lane] =
        [run, place, local].map(|number| nest.loop_counter(number));
    let points = &mut nest.points;
    let [count, lanes] = [count, lanes].map(|number| points.intern_i64(number as i64));
    let first = points.apply_op(ScalarOp::Mul, &[run_counter, count]);
    let number = points.apply_op(ScalarOp::Add, &[first, place_counter]);
    let first = points.apply_op(ScalarOp::Mul, &[number, lanes]);
    nest.indices[axis] = points.apply_op(ScalarOp::Add, &[first, lane]);
    replace_loop(&mut nest.steps, axis as u32, Some(run));
}

/// Gives some invocations a point of the rest of an axis, after the runs.
fn leave_rest(nest: &mut TensorLoopNest, axis: usize, local: u32, runs: u64) {
    let lane = nest.loop_counter(local);
    let done = (runs * nest.loop_extent(local)) as i64;
    let left = nest.loop_extent(axis as u32) as i64 - done;
    let points = &mut nest.points;
    let [done, left] = [done, left].map(|number| points.intern_i64(number));
    nest.indices[axis] = points.apply_op(ScalarOp::Add, &[done, lane]);
    let guard = points.apply_op(ScalarOp::SLt, &[lane, left]);
    nest.add_guard(guard);
    replace_loop(&mut nest.steps, axis as u32, None);
}

/// Replaces the loop of an axis by another one, or by its steps.
fn replace_loop(steps: &mut Vec<DispatchStep>, from: u32, to: Option<u32>) {
    let mut replaced = Vec::new();
    for step in std::mem::take(steps) {
        match step {
            DispatchStep::For(number, mut inner) => {
                replace_loop(&mut inner, from, to);
                match to {
                    _ if number != from => replaced.push(DispatchStep::For(number, inner)),
                    Some(to) => replaced.push(DispatchStep::For(to, inner)),
                    None => replaced.extend(inner),
                }
            }
            other => replaced.push(other),
        }
    }
    *steps = replaced;
}

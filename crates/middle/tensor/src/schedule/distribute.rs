//! Distribution: parallel loops to workgroups and invocations.
//!
//! - Tiles go to workgroups, their places to invocations.
//! - A cooperative fold has a workgroup for each result.
//! - Everything else is collapsed into one loop over all points, in workgroups of a fixed size, adjacent
//!   points to one invocation where that makes vectors of accesses.

use super::lanes::points_per_lane;
use super::{
    DispatchStep, LoopMapping, ScheduleProfile, ScheduleStrategy, TensorDispatch, nest_loops,
};
use crate::ir::{AxisKind, NodeData, ScalarNode, unflatten_index};
use spirula_program::ScalarOp;

/// Workgroups that every device can run in the second and third dimension.
const WORKGROUPS: u64 = 65_535;

/// Distributes all parallel loops.
pub(super) fn distribute_dispatch(dispatch: &mut TensorDispatch) {
    match dispatch.strategy {
        ScheduleStrategy::Flat if dispatch.is_sized() => collapse_sized(dispatch),
        ScheduleStrategy::Flat => collapse_loops(dispatch),
        ScheduleStrategy::Serial => {
            for data in &mut dispatch.loops {
                data.run = LoopMapping::Sequential;
            }
        }
        ScheduleStrategy::Tiled | ScheduleStrategy::Matrices | ScheduleStrategy::Dense => {
            group_tile_rows(dispatch);
            assign_loops(dispatch);
        }
        ScheduleStrategy::Cooperative
        | ScheduleStrategy::Subgroups
        | ScheduleStrategy::Across
        | ScheduleStrategy::Rows
        | ScheduleStrategy::SubgroupRows
        | ScheduleStrategy::Scan
        | ScheduleStrategy::LookBack
        | ScheduleStrategy::Turned => assign_loops(dispatch),
    }
}

/// Loops outside of all steps go to workgroups, those within to invocations.
fn assign_loops(dispatch: &mut TensorDispatch) {
    let mut outer = Vec::new();
    let mut steps = &dispatch.steps;
    while let [DispatchStep::For(number, inner)] = &steps[..] {
        outer.push(*number);
        steps = inner;
    }
    let mut inner = Vec::new();
    parallel_within(dispatch, steps, &mut inner);
    for (at, number) in inner.iter().rev().enumerate() {
        dispatch.loops[*number as usize].run = LoopMapping::Invocation(at as u8);
    }
    let extent = |number: &u32| dispatch.loops[*number as usize].extent;
    let fits = outer.len() <= 3 && outer.iter().rev().skip(1).all(|n| extent(n) <= WORKGROUPS);
    match fits {
        true => {
            for (at, number) in outer.iter().rev().enumerate() {
                dispatch.loops[*number as usize].run = LoopMapping::Workgroup(at as u8);
            }
        }
        false => join_workgroup_loops(dispatch, &outer),
    }
}

/// Takes the tiles of a few rows together, column by column: workgroups that run side by side then read
/// few rows and few columns, which stay in caches where whole matrices do not.
fn group_tile_rows(dispatch: &mut TensorDispatch) {
    let Some(grid) = dispatch.grid else { return };
    let [down, across] = grid.map(|number| dispatch.loops[number as usize].extent);
    let most = dispatch.profile.group.min(down);
    // Equal groups need no bound.
    let whole = (most / 2 + 1..=most)
        .rev()
        .find(|n| down.is_multiple_of(*n));
    let height = whole.unwrap_or(most);
    if height < 2 || across < 2 {
        return;
    }
    let number = dispatch.add_loop(down * across, LoopMapping::Parallel);
    let counter = dispatch.loop_counter(number);
    let points = &mut dispatch.points;
    let size = points.intern_i64((height * across) as i64);
    let rows = points.intern_i64(height as i64);
    let within = points.apply_op(ScalarOp::SMod, &[counter, size]);
    let first = points.apply_op(ScalarOp::SDiv, &[counter, size]);
    let first = points.apply_op(ScalarOp::Mul, &[first, rows]);
    let (mut rows, last) = (rows, points.intern_i64(down as i64 - 1));
    if whole.is_none() {
        let all = points.intern_i64(down as i64);
        let left = points.apply_op(ScalarOp::Sub, &[all, first]);
        rows = points.apply_op(ScalarOp::SMin, &[rows, left]);
    }
    let row = points.apply_op(ScalarOp::SMod, &[within, rows]);
    let row = points.apply_op(ScalarOp::Add, &[first, row]);
    let row = points.apply_op(ScalarOp::SMin, &[row, last]);
    let column = points.apply_op(ScalarOp::SDiv, &[within, rows]);
    let last = points.intern_i64(across as i64 - 1);
    let column = points.apply_op(ScalarOp::SMin, &[column, last]);
    let steps = std::mem::take(&mut dispatch.steps);
    dispatch.steps = merge_loop_pair(steps, grid, number);
    dispatch.substitute_counters(&grid, &[row, column]);
}

/// Steps with one loop in the place of two around each other.
fn merge_loop_pair(steps: Vec<DispatchStep>, loops: [u32; 2], by: u32) -> Vec<DispatchStep> {
    let each = steps.into_iter().map(|step| match step {
        DispatchStep::For(number, mut inner) if number == loops[0] => {
            let within = match inner.pop() {
                Some(DispatchStep::For(_, within)) => within,
                _ => Vec::new(),
            };
            DispatchStep::For(by, within)
        }
        DispatchStep::For(number, inner) => {
            DispatchStep::For(number, merge_loop_pair(inner, loops, by))
        }
        step => step,
    });
    each.collect()
}

/// Loops of steps that are still open, each once.
fn parallel_within(dispatch: &TensorDispatch, steps: &[DispatchStep], found: &mut Vec<u32>) {
    for step in steps {
        if let DispatchStep::For(number, inner) = step {
            let is_open = dispatch.loops[*number as usize].run == LoopMapping::Parallel;
            if is_open && !found.contains(number) {
                found.push(*number);
            }
            parallel_within(dispatch, inner, found);
        }
    }
}

/// Makes one loop over workgroups of several.
fn join_workgroup_loops(dispatch: &mut TensorDispatch, outer: &[u32]) {
    let extent = |number: &u32| dispatch.loops[*number as usize].extent;
    let sizes: Vec<i64> = outer.iter().map(|n| extent(n) as i64).collect();
    let number = dispatch.add_loop(
        sizes.iter().product::<i64>() as u64,
        LoopMapping::Workgroup(0),
    );
    let mut inner = std::mem::take(&mut dispatch.steps);
    for _ in outer {
        if let Some(DispatchStep::For(_, steps)) = inner.pop() {
            inner = steps;
        }
    }
    dispatch.steps = nest_loops(&[number], inner);
    let counter = dispatch.loop_counter(number);
    let position = unflatten_index(&mut dispatch.points, counter, &sizes);
    dispatch.substitute_counters(outer, &position);
}

/// One loop over all points.
fn collapse_loops(dispatch: &mut TensorDispatch) {
    let axes = parallel_axes(dispatch);
    let sizes: Vec<i64> = axes
        .iter()
        .map(|at| dispatch.loops[*at].extent as i64)
        .collect();
    let total = sizes.iter().product::<i64>() as u64;
    let lanes = points_per_lane(dispatch, AxisKind::Parallel, total);
    let runs = total / lanes;
    let across = flat_invocations(runs, &dispatch.profile);
    let group = dispatch.add_loop(runs.div_ceil(across), LoopMapping::Workgroup(0));
    let local = dispatch.add_loop(across, LoopMapping::Invocation(0));
    let lane = dispatch.add_loop(lanes, LoopMapping::Unrolled);
    let [group_counter, local_counter, lane_counter] =
        [group, local, lane].map(|number| dispatch.loop_counter(number));
    let points = &mut dispatch.points;
    let size = points.intern_i64(across as i64);
    let flat = points.apply_op(ScalarOp::Mul, &[group_counter, size]);
    let run = points.apply_op(ScalarOp::Add, &[flat, local_counter]);
    let limit = points.intern_i64(runs as i64);
    let guard = points.apply_op(ScalarOp::SLt, &[run, limit]);
    let lanes = points.intern_i64(lanes as i64);
    let flat = points.apply_op(ScalarOp::Mul, &[run, lanes]);
    let flat = points.apply_op(ScalarOp::Add, &[flat, lane_counter]);
    if points.as_literal(guard).is_none() {
        dispatch.guards.push(guard);
    }
    let position = unflatten_index(&mut dispatch.points, flat, &sizes);
    run_by(dispatch, &axes, &position, [group, local]);
}

/// Workgroups that are enough for a large space, whatever the device.
const MANY: u64 = 256;

/// Invocations of a workgroup for so many: more of them where that fills whole workgroups and leaves many, so that what a
/// workgroup costs counts less.
fn flat_invocations(runs: u64, profile: &ScheduleProfile) -> u64 {
    let mut across = profile.flat;
    while 2 * across <= profile.wide.min(runs / MANY) && runs.is_multiple_of(2 * across) {
        across *= 2;
    }
    across.min(runs.next_power_of_two())
}

fn parallel_axes(dispatch: &TensorDispatch) -> Vec<usize> {
    (0..dispatch.op.axes.len())
        .filter(|at| dispatch.op.axes[*at].kind == AxisKind::Parallel)
        .collect()
}

/// Puts loops over workgroups and invocations in the place of those of axes.
fn run_by(dispatch: &mut TensorDispatch, axes: &[usize], position: &[ScalarNode], loops: [u32; 2]) {
    for (axis, index) in axes.iter().zip(position) {
        dispatch.indices[*axis] = *index;
    }
    let mut steps = std::mem::take(&mut dispatch.steps);
    for _ in axes {
        if let Some(DispatchStep::For(_, inner)) = steps.pop() {
            steps = inner;
        }
    }
    dispatch.steps = nest_loops(&loops, steps);
}

/// Workgroups that any device numbers.
const MOST: u64 = 1 << 31;

/// One loop over all points, of which there are as many as sizes say that are known only when run.
fn collapse_sized(dispatch: &mut TensorDispatch) {
    let axes = parallel_axes(dispatch);
    let across = dispatch.profile.flat;
    let points = &mut dispatch.points;
    let mut sizes = Vec::new();
    let mut total = points.intern_i64(1);
    for axis in &axes {
        let size = points.intern_size(dispatch.op.axes[*axis].extent);
        total = points.apply_op(ScalarOp::Mul, &[total, size]);
        sizes.push(size);
    }
    let (width, less) = (
        points.intern_i64(across as i64),
        points.intern_i64(across as i64 - 1),
    );
    let above = points.apply_op(ScalarOp::Add, &[total, less]);
    let rounds = points.apply_op(ScalarOp::SDiv, &[above, width]);
    let group = dispatch.add_sized_loop(MOST, rounds, LoopMapping::Workgroup(0));
    let local = dispatch.add_loop(across, LoopMapping::Invocation(0));
    let [group_counter, local_counter] = [group, local].map(|number| dispatch.loop_counter(number));
    let points = &mut dispatch.points;
    let flat = points.apply_op(ScalarOp::Mul, &[group_counter, width]);
    let mut flat = points.apply_op(ScalarOp::Add, &[flat, local_counter]);
    let guard = points.apply_op(ScalarOp::SLt, &[flat, total]);
    if points.as_literal(guard).is_none() {
        dispatch.guards.push(guard);
    }
    let mut position = Vec::new();
    for (at, size) in sizes.iter().enumerate().rev() {
        if at == 0 {
            position.push(flat);
            break;
        }
        position.push(points.apply_op(ScalarOp::SMod, &[flat, *size]));
        flat = points.apply_op(ScalarOp::SDiv, &[flat, *size]);
    }
    position.reverse();
    run_by(dispatch, &axes, &position, [group, local]);
}

impl TensorDispatch {
    /// Puts other nodes in the place of loops' counters.
    fn substitute_counters(&mut self, loops: &[u32], by: &[ScalarNode]) {
        let mut roots = self.indices.clone();
        roots.extend(self.tiles.iter().flat_map(|t| [t.base, t.local]));
        roots.extend(self.guards.iter().chain(&self.fold_guards));
        roots.extend(self.kept.map(|kept| kept.place));
        let from = std::mem::take(&mut self.points);
        let copies = self.points.import_nodes(&from, by, |_, _, _| None);
        let nodes = self
            .points
            .import_nodes(&from, &roots, |_, _, data| match data {
                NodeData::Counter(number) => {
                    let at = loops.iter().position(|l| l == number)?;
                    copies.get(at).copied()
                }
                _ => None,
            });
        let mut nodes = nodes.into_iter();
        let mut replace = |node: &mut ScalarNode| {
            if let Some(next) = nodes.next() {
                *node = next;
            }
        };
        self.indices.iter_mut().for_each(&mut replace);
        for tile in &mut self.tiles {
            replace(&mut tile.base);
            replace(&mut tile.local);
        }
        self.guards.iter_mut().for_each(&mut replace);
        self.fold_guards.iter_mut().for_each(&mut replace);
        if let Some(kept) = &mut self.kept {
            replace(&mut kept.place);
        }
    }
}

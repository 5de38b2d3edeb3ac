//! Distribution: parallel loops to workgroups and invocations.
//!
//! - Tiles go to workgroups, their places to invocations.
//! - A cooperative fold has a workgroup for each result.
//! - Everything else is collapsed into one loop over all points, in workgroups of a fixed size, adjacent
//!   points to one invocation where that makes vectors of accesses.

use super::lanes::lanes;
use super::{Dispatch, Run, Step, Strategy, nest};
use crate::ir::{AxisKind, Node, NodeData, unflatten};
use spirula_program::Op;

/// Workgroups that every device can run in the second and third dimension.
const WORKGROUPS: u64 = 65_535;

/// Distributes all parallel loops.
pub(super) fn run(dispatch: &mut Dispatch) {
    match dispatch.strategy {
        Strategy::Flat => collapse(dispatch),
        Strategy::Serial => {
            for data in &mut dispatch.loops {
                data.run = Run::Sequential;
            }
        }
        Strategy::Cooperative | Strategy::Rows | Strategy::Tiled | Strategy::Matrices => {
            distribute(dispatch)
        }
    }
}

/// Loops outside of all steps go to workgroups, those within to invocations.
fn distribute(dispatch: &mut Dispatch) {
    let mut outer = Vec::new();
    let mut steps = &dispatch.steps;
    while let [Step::For(number, inner)] = &steps[..] {
        outer.push(*number);
        steps = inner;
    }
    let mut inner = Vec::new();
    parallel_within(dispatch, steps, &mut inner);
    for (at, number) in inner.iter().rev().enumerate() {
        dispatch.loops[*number as usize].run = Run::Invocation(at as u8);
    }
    let extent = |number: &u32| dispatch.loops[*number as usize].extent;
    let fits = outer.len() <= 3 && outer.iter().rev().skip(1).all(|n| extent(n) <= WORKGROUPS);
    match fits {
        true => {
            for (at, number) in outer.iter().rev().enumerate() {
                dispatch.loops[*number as usize].run = Run::Workgroup(at as u8);
            }
        }
        false => join(dispatch, &outer),
    }
}

/// Loops of steps that are still open, each once.
fn parallel_within(dispatch: &Dispatch, steps: &[Step], found: &mut Vec<u32>) {
    for step in steps {
        if let Step::For(number, inner) = step {
            let is_open = dispatch.loops[*number as usize].run == Run::Parallel;
            if is_open && !found.contains(number) {
                found.push(*number);
            }
            parallel_within(dispatch, inner, found);
        }
    }
}

/// Makes one loop over workgroups of several.
fn join(dispatch: &mut Dispatch, outer: &[u32]) {
    let extent = |number: &u32| dispatch.loops[*number as usize].extent;
    let sizes: Vec<i64> = outer.iter().map(|n| extent(n) as i64).collect();
    let number = dispatch.add_loop(sizes.iter().product::<i64>() as u64, Run::Workgroup(0));
    let mut inner = std::mem::take(&mut dispatch.steps);
    for _ in outer {
        if let Some(Step::For(_, steps)) = inner.pop() {
            inner = steps;
        }
    }
    dispatch.steps = nest(&[number], inner);
    let counter = dispatch.counter(number);
    let position = unflatten(&mut dispatch.points, counter, &sizes);
    dispatch.substitute(outer, &position);
}

/// One loop over all points.
fn collapse(dispatch: &mut Dispatch) {
    let axes: Vec<usize> = (0..dispatch.op.axes.len())
        .filter(|at| dispatch.op.axes[*at].kind == AxisKind::Parallel)
        .collect();
    let sizes: Vec<i64> = axes
        .iter()
        .map(|at| dispatch.loops[*at].extent as i64)
        .collect();
    let total = sizes.iter().product::<i64>() as u64;
    let lanes = lanes(dispatch, AxisKind::Parallel, total);
    let runs = total / lanes;
    let across = dispatch.profile.flat.min(runs.next_power_of_two());
    let group = dispatch.add_loop(runs.div_ceil(across), Run::Workgroup(0));
    let local = dispatch.add_loop(across, Run::Invocation(0));
    let lane = dispatch.add_loop(lanes, Run::Unrolled);
    let [group_counter, local_counter, lane_counter] =
        [group, local, lane].map(|number| dispatch.counter(number));
    let points = &mut dispatch.points;
    let size = points.i64(across as i64);
    let flat = points.op(Op::Mul, &[group_counter, size]);
    let run = points.op(Op::Add, &[flat, local_counter]);
    let limit = points.i64(runs as i64);
    let guard = points.op(Op::SLt, &[run, limit]);
    let lanes = points.i64(lanes as i64);
    let flat = points.op(Op::Mul, &[run, lanes]);
    let flat = points.op(Op::Add, &[flat, lane_counter]);
    if points.as_literal(guard).is_none() {
        dispatch.guards.push(guard);
    }
    let position = unflatten(&mut dispatch.points, flat, &sizes);
    for (axis, index) in axes.iter().zip(position) {
        dispatch.indices[*axis] = index;
    }
    let mut steps = std::mem::take(&mut dispatch.steps);
    for _ in &axes {
        if let Some(Step::For(_, inner)) = steps.pop() {
            steps = inner;
        }
    }
    dispatch.steps = nest(&[group, local], steps);
}

impl Dispatch {
    /// Puts other nodes in the place of loops' counters.
    fn substitute(&mut self, loops: &[u32], by: &[Node]) {
        let mut roots = self.indices.clone();
        roots.extend(self.tiles.iter().flat_map(|t| [t.base, t.local]));
        roots.extend(self.guards.iter().chain(&self.fold_guards));
        let from = std::mem::take(&mut self.points);
        let copies = self.points.import(&from, by, |_, _, _| None);
        let nodes = self.points.import(&from, &roots, |_, _, data| match data {
            NodeData::Counter(number) => {
                let at = loops.iter().position(|l| l == number)?;
                copies.get(at).copied()
            }
            _ => None,
        });
        let mut nodes = nodes.into_iter();
        let mut replace = |node: &mut Node| {
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
    }
}

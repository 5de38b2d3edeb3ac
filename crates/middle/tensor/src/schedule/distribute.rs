//! Distribution: parallel loops to workgroups and invocations.
//!
//! Loops outside of all steps go to workgroups, those within to invocations. Strategies with another order of their
//! own, such as the flat one, distribute their loops themselves.

use super::dispatch::nest_loops;
use super::{DispatchStep, LoopMapping, TensorLoopNest};
use crate::ir::{NodeData, ScalarNode, unflatten_index};
use spirula_program::ScalarOp;

/// Number of workgroups that every device can run in the second and third dimension.
const WORKGROUPS: u64 = 65_535;

/// Assigns the loops outside of all steps to workgroups, and those within to invocations.
pub(super) fn assign_loops(nest: &mut TensorLoopNest) {
    let mut outer = Vec::new();
    let mut steps = &nest.steps;
    while let [DispatchStep::For(number, inner)] = &steps[..] {
        outer.push(*number);
        steps = inner;
    }
    let mut inner = Vec::new();
    collect_parallel_loops(nest, steps, &mut inner);
    for (at, number) in inner.iter().rev().enumerate() {
        nest.loops[*number as usize].run = LoopMapping::Invocation(at as u8);
    }
    let mut higher = outer.iter().rev().skip(1);
    let fits = outer.len() <= 3 && higher.all(|n| nest.loop_extent(*n) <= WORKGROUPS);
    if fits {
        for (at, number) in outer.iter().rev().enumerate() {
            nest.loops[*number as usize].run = LoopMapping::Workgroup(at as u8);
        }
    } else {
        join_workgroup_loops(nest, &outer);
    }
}

/// Groups the tiles of a few rows, column by column, so that workgroups that run at the same time read few rows and
/// few columns. Those stay in caches where whole matrices do not. `grid` has the loops over the tiles of rows and of
/// columns.
pub(super) fn group_tile_rows(nest: &mut TensorLoopNest, grid: Option<[u32; 2]>) {
    let Some(grid) = grid else { return };
    let [down, across] = grid.map(|number| nest.loop_extent(number));
    let most = nest.profile.group.min(down);
    // Equal groups need no bound.
    let whole = (most / 2 + 1..=most)
        .rev()
        .find(|n| down.is_multiple_of(*n));
    let height = whole.unwrap_or(most);
    if height < 2 || across < 2 {
        return;
    }
    let number = nest.add_loop(down * across, LoopMapping::Parallel);
    let counter = nest.loop_counter(number);
    let points = &mut nest.points;
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
    let steps = std::mem::take(&mut nest.steps);
    nest.steps = merge_loop_pair(steps, grid, number);
    nest.substitute_counters(&grid, &[row, column]);
}

/// Steps with one loop in place of two that are nested directly.
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

/// Adds the loops of steps that are not yet distributed, each once.
fn collect_parallel_loops(nest: &TensorLoopNest, steps: &[DispatchStep], found: &mut Vec<u32>) {
    for step in steps {
        if let DispatchStep::For(number, inner) = step {
            let is_open = nest.loops[*number as usize].run == LoopMapping::Parallel;
            if is_open && !found.contains(number) {
                found.push(*number);
            }
            collect_parallel_loops(nest, inner, found);
        }
    }
}

/// Joins several loops to one over workgroups.
fn join_workgroup_loops(nest: &mut TensorLoopNest, outer: &[u32]) {
    let sizes: Vec<i64> = outer.iter().map(|n| nest.loop_extent(*n) as i64).collect();
    let number = nest.add_loop(
        sizes.iter().product::<i64>() as u64,
        LoopMapping::Workgroup(0),
    );
    let mut inner = std::mem::take(&mut nest.steps);
    for _ in outer {
        if let Some(DispatchStep::For(_, steps)) = inner.pop() {
            inner = steps;
        }
    }
    nest.steps = nest_loops(&[number], inner);
    let counter = nest.loop_counter(number);
    let position = unflatten_index(&mut nest.points, counter, &sizes);
    nest.substitute_counters(outer, &position);
}

impl TensorLoopNest {
    /// Replaces the counters of loops by other nodes.
    fn substitute_counters(&mut self, loops: &[u32], by: &[ScalarNode]) {
        let mut roots = self.indices.clone();
        roots.extend(self.tiles.iter().flat_map(|t| [t.base, t.local]));
        roots.extend(self.guards.iter().chain(&self.fold_guards));
        roots.extend(self.saved.map(|saved| saved.place));
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
        if let Some(saved) = &mut self.saved {
            replace(&mut saved.place);
        }
    }
}

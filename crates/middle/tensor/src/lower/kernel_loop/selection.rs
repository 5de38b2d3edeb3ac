//! Selection of the loops that run within one kernel.
//!
//! A launch costs as much as some thousand operators. A loop whose operations are smaller than that on the average runs
//! faster in one invocation than as launches, though no other processor helps. On graphics cards, the invocations of one
//! workgroup share the points.

use crate::ir::{
    AxisKind, NodeData, OpKind, ScalarNode, StructuredOp, TensorBlock, TensorFunction,
    mark_point_dependent,
};
use crate::schedule::{AXES, ScheduleProfile, share_points};
use rustc_hash::FxHashMap;

/// Most operators of each invocation of a graphics card's team, on the average of the operations of a loop. They take less
/// time than a launch.
const TEAM_OPERATORS: u64 = 512;

/// Fewest invocations of such a team: a subgroup of most cards.
const FEWEST_LANES: u64 = 32;

/// Most tensors of a loop that need memory.
const TENSORS: usize = 64;

/// Positions of the loops that run within one kernel, with the number of invocations that run each.
pub(crate) type KernelLoops = FxHashMap<(TensorBlock, usize), u64>;

/// Selects the outermost loops that suit a kernel.
pub(crate) fn select_kernel_loops(
    function: &TensorFunction,
    profile: &ScheduleProfile,
) -> KernelLoops {
    let mut loops = KernelLoops::default();
    if profile.sequential > 0 {
        select_in_block(function, function.body(), profile, &mut loops);
    }
    loops
}

fn select_in_block(
    function: &TensorFunction,
    block: TensorBlock,
    profile: &ScheduleProfile,
    loops: &mut KernelLoops,
) {
    for (at, op) in function.block(block).ops.iter().enumerate() {
        if matches!(op.kind, OpKind::While { .. }) {
            let work = measure_loop(function, &op.kind, profile);
            if let Some(work) = work.filter(|work| work.tensors <= TENSORS) {
                loops.insert((block, at), work.choose_lanes(profile));
                continue;
            }
        }
        for inner in op.kind.blocks() {
            select_in_block(function, inner, profile, loops);
        }
    }
}

/// The work of an iteration.
#[derive(Clone, Copy, Default)]
struct IterationWork {
    /// Number of operators at all points.
    operators: u64,
    /// The part of them that a team of a processor shares.
    shared: u64,
    /// Number of further operators of each invocation of a graphics card's team.
    spread: u64,
    /// Most points of an operation that such a team shares.
    points: u64,
    /// Number of operations with points.
    operations: u64,
    /// Number of tensors in memory.
    tensors: usize,
}

impl IterationWork {
    /// The number of invocations that run the loop. A team of a processor must share most of the work, because its first
    /// invocation does the rest alone. One of a graphics card has as many invocations as have points at once.
    fn choose_lanes(&self, profile: &ScheduleProfile) -> u64 {
        if profile.is_processor() {
            let is_shared = self.shared > self.operators / 2;
            return if is_shared { profile.team } else { 1 };
        }
        match self.points.min(profile.team) {
            0 | 1 => 1,
            points => points
                .next_power_of_two()
                .clamp(FEWEST_LANES.min(profile.team), profile.team),
        }
    }
}

/// The work of an iteration of a loop that suits a kernel.
fn measure_loop(
    function: &TensorFunction,
    kind: &OpKind,
    profile: &ScheduleProfile,
) -> Option<IterationWork> {
    let mut work = IterationWork::default();
    for block in kind.blocks() {
        measure_block(function, block, profile, &mut work)?;
    }
    let operations = work.operations.max(1);
    let is_small = work.operators <= profile.sequential.saturating_mul(operations)
        && work.spread <= TEAM_OPERATORS.saturating_mul(operations);
    is_small.then_some(work)
}

/// Adds the work of a block; `None` if it cannot be part of a kernel.
fn measure_block(
    function: &TensorFunction,
    block: TensorBlock,
    profile: &ScheduleProfile,
    work: &mut IterationWork,
) -> Option<()> {
    let data = function.block(block);
    for parameter in &data.parameters {
        function.ty(*parameter).element_count()?;
    }
    for op in &data.ops {
        for result in &op.results {
            function.ty(*result).element_count()?;
            work.tensors += usize::from(function.ty(*result).rank() > 0);
        }
        match &op.kind {
            OpKind::Constant(_) | OpKind::Reshape(_) => {}
            OpKind::Structured(structured) => measure_structured(structured, profile, work)?,
            OpKind::If { .. } => {
                for inner in op.kind.blocks() {
                    measure_block(function, inner, profile, work)?;
                }
            }
            OpKind::While { .. } => {
                let inner = measure_loop(function, &op.kind, profile)?;
                work.operators = work.operators.saturating_add(inner.operators);
                work.shared = work.shared.saturating_add(inner.shared);
                work.spread = work.spread.saturating_add(inner.spread);
                work.points = work.points.max(inner.points);
                work.operations += inner.operations;
                work.tensors += inner.tensors;
            }
            OpKind::Sort(_)
            | OpKind::RadixSort(_)
            | OpKind::WordSelection(_)
            | OpKind::Assert(_)
            | OpKind::Foreign(_) => return None,
        }
    }
    Some(())
}

fn measure_structured(
    op: &StructuredOp,
    profile: &ScheduleProfile,
    work: &mut IterationWork,
) -> Option<()> {
    let (mut results, mut folded) = (1u64, 1u64);
    for axis in &op.axes {
        let count = match axis.kind {
            AxisKind::Parallel => &mut results,
            AxisKind::Reduction => &mut folded,
        };
        *count = count.saturating_mul(axis.extent.as_static()?);
    }
    // Nodes that are equal at all points are computed once, and indices cost little.
    let depends = mark_point_dependent(&op.body);
    let needed = op.body.mark_reachable(&op.collect_roots());
    let costs = |node: &ScalarNode| {
        let is_operator = !matches!(op.body.node(*node), NodeData::Index(_));
        needed[node.index()] && depends[node.index()] && is_operator
    };
    let combiners = op.reductions.iter().map(|r| r.combiner.body.len());
    let each = op.body.node_ids().filter(costs).count() + combiners.sum::<usize>();
    let each = folded.saturating_mul(each.max(1) as u64);
    let is_shared = !share_points(op, profile, profile.team).is_empty();
    if is_shared && !profile.is_processor() {
        let runs = results.div_ceil(profile.team);
        work.spread = work.spread.saturating_add(runs.saturating_mul(each));
        work.points = work.points.max(results);
    } else {
        let all = results.saturating_mul(each);
        let shared = if is_shared { all } else { 0 };
        work.shared = work.shared.saturating_add(shared);
        work.operators = work.operators.saturating_add(all);
    }
    work.operators = work.operators.saturating_add(op.body.len() as u64);
    work.operations += u64::from(!op.axes.is_empty());
    (op.axes.len() <= AXES).then_some(())
}

//! The loop nest of a dispatch: loops, tiles, guards, and the steps within.

use super::{SchedulePlan, ScheduleProfile, ScheduleStrategy};
use crate::ir::{DimExtent, NodeGraph, ScalarNode, StructuredOp, TensorValue};
use spirula_diagnostics::SourceLocation;

/// A structured operation with its schedule; it becomes one kernel.
#[derive(Debug)]
pub struct TensorDispatch {
    /// Name, unique in its program.
    pub name: String,
    /// The values that it computes.
    pub results: Vec<TensorValue>,
    /// Place of the operation in the source.
    pub place: SourceLocation,
    /// The schedule template.
    pub strategy: &'static ScheduleStrategy,
    /// The template's decisions for this operation.
    pub plan: Box<dyn SchedulePlan>,
    /// The operation and its loops.
    pub nest: TensorLoopNest,
}

/// A structured operation and the loops that run it.
#[derive(Clone, Debug)]
pub struct TensorLoopNest {
    /// The operation.
    pub op: StructuredOp,
    /// Sizes that the device does well with.
    pub profile: ScheduleProfile,
    /// The loops, by the numbers of their counters.
    pub loops: Vec<DispatchLoop>,
    /// Nodes over counters.
    pub points: NodeGraph,
    /// The index along each axis, nodes of `points`.
    pub indices: Vec<ScalarNode>,
    /// The axes that were tiled, grouped where they are tiled as one.
    pub tiles: Vec<AxisTile>,
    /// Conditions over counters. A point of the parallel axes is inside if all of them hold.
    pub guards: Vec<ScalarNode>,
    /// The same for the reduced axes.
    pub fold_guards: Vec<ScalarNode>,
    /// Where accumulators are saved while others are accumulated.
    pub saved: Option<SavedAccumulators>,
    /// The steps, in order.
    pub steps: Vec<DispatchStep>,
}

/// A loop that counts from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DispatchLoop {
    /// Number of iterations; an upper bound where the number is known only at run time.
    pub extent: u64,
    /// Number of iterations that is known only at run time: a node of [`TensorLoopNest::points`] over sizes.
    pub iterations: Option<ScalarNode>,
    /// The mapping of the iterations.
    pub run: LoopMapping,
}

/// The mapping of the iterations of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopMapping {
    /// Not yet distributed; the iterations are independent.
    Parallel,
    /// Each invocation, one iteration after the other.
    Sequential,
    /// Each invocation, unrolled: all iterations at once, each with its own accumulators.
    Unrolled,
    /// Each invocation, unrolled: one iteration after the other.
    Repeated,
    /// The workgroups of a dimension.
    Workgroup(u8),
    /// The workgroups of the first dimension, numbered in the order in which they begin.
    Arrival,
    /// The invocations of a workgroup in a dimension.
    Invocation(u8),
    /// The subgroups of a workgroup.
    Subgroup,
    /// The invocations of a subgroup.
    Lane,
}

/// Axes that are tiled as one. A point's row-major place in them is `base + local`.
#[derive(Clone, Debug)]
pub struct AxisTile {
    /// The axes.
    pub axes: Vec<usize>,
    /// Sizes of the axes.
    pub extents: Vec<i64>,
    /// Where the tile begins; a node of [`TensorLoopNest::points`].
    pub base: ScalarNode,
    /// The place within the tile; a node of [`TensorLoopNest::points`].
    pub local: ScalarNode,
    /// Number of places in a tile.
    pub size: u64,
}

impl AxisTile {
    /// A tile of axes of a nest whose axes have the sizes `extents`.
    pub(super) fn new(
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

    /// Number of places in all tiles together.
    pub fn place_count(&self) -> i64 {
        self.extents.iter().product()
    }
}

/// Accumulators in the workgroup's memory, `size` of each reduction.
#[derive(Clone, Copy, Debug)]
pub struct SavedAccumulators {
    /// The element that a point's accumulators have; a node of [`TensorLoopNest::points`].
    pub place: ScalarNode,
    /// Number of elements.
    pub size: u64,
}

/// An iteration of the loop over the tiles of the reduced axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrefetchRound {
    /// The first, before the loop.
    First,
    /// The one after the current.
    Next,
}

/// A step of a dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DispatchStep {
    /// Repeats steps; the same loop may stand in several places.
    For(u32, Vec<DispatchStep>),
    /// Sets the accumulators of this point.
    Initialise,
    /// Accumulates this point's values.
    Accumulate,
    /// Combines the accumulators of the invocations of a loop into those of its first.
    Combine(u32),
    /// Sets the carry of a scan before its first iteration.
    InitialiseCarry,
    /// Scans over the invocations of a loop: adds to each accumulator those of the invocations before it, and the
    /// carry of the iterations before.
    Scan(u32),
    /// Restricts the following steps that initialise, accumulate and combine to one of the reductions.
    SelectReduction(usize),
    /// Gives all invocations the combined accumulators.
    Broadcast,
    /// Writes the results of this point.
    Store,
    /// Computes a tile into the workgroup's memory.
    Stage(usize),
    /// Computes all tiles of an iteration into registers, if there is such an iteration.
    Fetch(PrefetchRound),
    /// Writes the tiles that were fetched for an iteration into the workgroup's memory.
    Commit(PrefetchRound),
    /// Sets the sums of fragments to zero.
    Clear,
    /// Adds the products of an iteration's fragments.
    Multiply,
    /// Moves a fragment's sums to the accumulators of its points, through the workgroup's memory. The sums of
    /// fragments that are loaded from the device's memory stay in the workgroup's.
    Spill,
    /// Moves sums of a spilled fragment to the accumulators of this row's points.
    TakeRow,
    /// Saves this point's accumulators in the workgroup's memory.
    Save,
    /// Restores them from there.
    Restore,
    /// Waits for the workgroup.
    Barrier,
}

impl TensorDispatch {
    /// Whether elements that lie next to each other are accessed as vectors.
    pub(crate) fn has_vectors(&self) -> bool {
        self.nest.profile.vector > 1 && self.plan.has_vectors()
    }
}

impl TensorLoopNest {
    /// Adds a loop and returns its number.
    pub(crate) fn add_loop(&mut self, extent: u64, run: LoopMapping) -> u32 {
        self.loops.push(DispatchLoop {
            extent,
            iterations: None,
            run,
        });
        self.loops.len() as u32 - 1
    }

    /// Adds a loop whose number of iterations is known only at run time, at most `extent`.
    pub(crate) fn add_sized_loop(
        &mut self,
        extent: u64,
        iterations: ScalarNode,
        run: LoopMapping,
    ) -> u32 {
        let number = self.add_loop(extent, run);
        self.loops[number as usize].iterations = Some(iterations);
        number
    }

    /// Removes all loops and the nodes over their counters; returns the extents of the loops.
    pub(super) fn take_extents(&mut self) -> Vec<u64> {
        self.points = NodeGraph::default();
        self.loops.drain(..).map(|l| l.extent).collect()
    }

    /// Whether the size of an axis is known only at run time.
    pub fn is_sized(&self) -> bool {
        self.op.dynamic_sizes().next().is_some()
    }

    /// Number of iterations of a loop, or its upper bound.
    pub(crate) fn loop_extent(&self, number: u32) -> u64 {
        self.loops[number as usize].extent
    }

    /// The counter of a loop.
    pub(crate) fn loop_counter(&mut self, number: u32) -> ScalarNode {
        let extent = DimExtent::Static(self.loop_extent(number));
        self.points.intern_counter(number, extent)
    }

    /// Adds a condition of the parallel axes, unless it is known.
    pub(super) fn add_guard(&mut self, guard: ScalarNode) {
        if self.points.as_literal(guard).is_none() {
            self.guards.push(guard);
        }
    }

    /// Adds a condition of the reduced axes, unless it is known.
    pub(super) fn add_fold_guard(&mut self, guard: ScalarNode) {
        if self.points.as_literal(guard).is_none() {
            self.fold_guards.push(guard);
        }
    }

    /// Number of workgroups in a dimension, where it is known only at run time.
    pub fn dynamic_workgroups(&self, dimension: usize) -> Option<ScalarNode> {
        let is_over = |l: &&DispatchLoop| l.run == LoopMapping::Workgroup(dimension as u8);
        self.loops.iter().find(is_over)?.iterations
    }

    /// Number of invocations of a workgroup in each dimension.
    pub fn workgroup_size(&self) -> [u64; 3] {
        self.launch_sizes(|run| match run {
            LoopMapping::Invocation(dimension) => Some(dimension),
            _ => None,
        })
    }

    /// Number of workgroups in each dimension.
    pub fn workgroups(&self) -> [u64; 3] {
        self.launch_sizes(|run| match run {
            LoopMapping::Workgroup(dimension) => Some(dimension),
            LoopMapping::Arrival => Some(0),
            _ => None,
        })
    }

    fn launch_sizes(&self, dimension: impl Fn(LoopMapping) -> Option<u8>) -> [u64; 3] {
        let mut sizes = [1; 3];
        for data in &self.loops {
            if let Some(at) = dimension(data.run) {
                sizes[usize::from(at)] *= data.extent;
            }
        }
        sizes
    }
}

/// Loops around steps, the first outermost.
pub(crate) fn nest_loops(loops: &[u32], steps: Vec<DispatchStep>) -> Vec<DispatchStep> {
    let wrap = |steps, number: &u32| vec![DispatchStep::For(*number, steps)];
    loops.iter().rev().fold(steps, wrap)
}

//! The interface of strategies: the plan of one operation, and what the lowering asks of it.

use super::{FragmentShape, ScheduleProfile, TensorLoopNest, distribute};
use crate::ir::{AxisKind, ScalarNode, StructuredOp, TensorFunction};
use spirula_program::ScalarType;
use std::fmt;

/// The schedule of one operation by one strategy.
///
/// The first three methods are the passes over dispatches, in their order.
/// The others tell the lowering what differs from a dispatch whose invocations work alone.
pub trait SchedulePlan: fmt::Debug {
    /// Splits the loops. By default they stay one for each axis.
    fn tile(&mut self, nest: &mut TensorLoopNest) {
        let _ = nest;
    }

    /// Promotes operands into the workgroup's memory. By default there are none.
    fn promote(&mut self, nest: &mut TensorLoopNest) {
        let _ = nest;
    }

    /// Assigns the parallel loops. By default those outside of all steps go to workgroups, those within to
    /// invocations.
    fn distribute(&mut self, nest: &mut TensorLoopNest) {
        distribute::assign_loops(nest);
    }

    /// How invocations share accumulators and results.
    fn fold_sharing(&self) -> FoldSharing {
        FoldSharing::Alone
    }

    /// Number of neighbouring invocations of a subgroup that have one result together, where that is not the whole
    /// workgroup; a power of two.
    fn cluster(&self) -> Option<u64> {
        None
    }

    /// Operands in the workgroup's memory.
    fn staging(&self) -> Option<&StagingPlan> {
        None
    }

    /// The product of matrices that subgroups compute.
    fn matmul(&self) -> Option<&SubgroupMatmul> {
        None
    }

    /// Whether elements that lie next to each other may be accessed as vectors.
    fn has_vectors(&self) -> bool {
        true
    }

    /// Whether the guard of the points is one condition around all steps.
    fn has_outer_guard(&self) -> bool {
        false
    }

    /// Whether workgroups read the sums of those before them, for which the host provides memory.
    fn looks_back(&self) -> bool {
        false
    }
}

/// How the invocations of a workgroup share accumulators and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldSharing {
    /// Each invocation accumulates alone and writes its own results.
    Alone,
    /// Invocations accumulate one result together; the first of them writes it.
    First,
    /// Invocations accumulate several results together, one after the other; the first of them writes all.
    FirstOfEach,
    /// Invocations accumulate together. All are given the combined accumulators and write at their own points.
    Broadcast,
    /// Invocations scan together, and write at their own points.
    Scan,
}

/// An operation that a strategy is chosen for.
#[derive(Clone, Copy, Debug)]
pub struct ScheduleRequest<'a> {
    /// The function that contains the operation.
    pub function: &'a TensorFunction,
    /// The operation.
    pub op: &'a StructuredOp,
    /// Sizes that the device does well with.
    pub profile: &'a ScheduleProfile,
}

impl ScheduleRequest<'_> {
    /// Number of points of the parallel axes; sizes that are known only at run time count as 1.
    pub(super) fn result_count(&self) -> u64 {
        self.count_points(AxisKind::Parallel)
    }

    /// Number of points of the reduced axes; sizes that are known only at run time count as 1.
    pub(super) fn fold_length(&self) -> u64 {
        self.count_points(AxisKind::Reduction)
    }

    fn count_points(&self, kind: AxisKind) -> u64 {
        let axes = self.op.axes.iter().filter(|a| a.kind == kind);
        axes.fold(1u64, |n, a| {
            n.saturating_mul(a.extent.as_static().unwrap_or(1))
        })
    }

    /// Whether all sizes are known.
    pub(super) fn is_static(&self) -> bool {
        self.op.dynamic_sizes().next().is_none()
    }
}

/// Nodes that a workgroup computes once for a tile, into its memory.
#[derive(Clone, Debug, Default)]
pub struct StagingPlan {
    /// The nodes.
    pub nodes: Vec<StagedNode>,
    /// The loops of prefetching, where the next tiles are read while the current ones are used.
    pub prefetch: Option<PrefetchLoops>,
    /// Whether all elements of a tile are read before the first is written.
    pub reads_first: bool,
}

/// The loops of prefetching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrefetchLoops {
    /// The loop over the tiles of the reduced axes.
    pub current: u32,
    /// A loop that no step has: its counter is the iteration of `current` that is fetched.
    pub ahead: u32,
}

/// A node that a workgroup computes once for a tile.
#[derive(Clone, Debug)]
pub struct StagedNode {
    /// A node of the operation's body.
    pub node: ScalarNode,
    /// The type of its elements in the workgroup's memory.
    pub ty: ScalarType,
    /// Number of parts of each element, of which each part has a tile. It is 2 for an `f32` as the sum of two `bf16`,
    /// and otherwise 1.
    pub parts: u64,
    /// The tiles that it depends on, by their numbers. The last is the one along which elements are contiguous in
    /// the device's memory.
    pub tiles: Vec<usize>,
    /// The same tiles in the order of the workgroup's memory, the fastest last.
    pub layout: Vec<usize>,
    /// Unused elements after each row of the fastest tile. With them, invocations that write one below the other
    /// use different banks.
    pub padding: u64,
}

/// A product of matrices by subgroups.
#[derive(Clone, Copy, Debug)]
pub struct SubgroupMatmul {
    /// The fragments.
    pub shape: FragmentShape,
    /// The factors as fragments hold them, or in parts; nodes of the operation's body.
    pub factors: [ScalarNode; 2],
    /// Number of parts that fragments hold of each factor. Of two parts the products of the lower ones are left out.
    pub parts: u64,
    /// Where fragments of the factors are loaded from.
    pub source: FragmentSource,
    /// Tiles of the rows, the columns and the reduced axes, by their numbers.
    pub tiles: [usize; 3],
    /// Number of subgroups down and across a tile.
    pub grid: [u64; 2],
    /// Number of fragments of a subgroup down and across.
    pub counts: [u64; 2],
    /// Number of fragments along the reduced axes of a tile.
    pub depth: u64,
    /// Number of copies of each tile.
    pub buffers: u64,
    /// The loops over the subgroups, over the invocations of one, and over the fragments of one down and across.
    /// For fragments in memory, the last two are the loops over rows and over an invocation's columns.
    pub loops: [u32; 4],
    /// Number of points of a fragment that each invocation finishes.
    pub points: u64,
}

/// Where fragments of factors are loaded from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FragmentSource {
    /// From tiles in the workgroup's memory.
    Staged,
    /// From the device's memory.
    InMemory,
}

impl SubgroupMatmul {
    /// Number of unused elements between rows of a tile in memory, so that rows use different banks.
    pub fn row_padding(ty: ScalarType) -> u64 {
        16 / ty.size()
    }
}

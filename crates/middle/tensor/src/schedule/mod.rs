//! Dispatches: structured operations with the loops that run them.
//!
//! Each structured operation becomes a [`TensorDispatch`], a nest of loops around the steps of the
//! operation; passes then rewrite the loops. A dispatch has no temporary buffers: what does not go
//! to its results stays in registers or in the workgroup's memory.
//!
//! | pass | what it does |
//! | --- | --- |
//! | `dispatches` | a loop for each axis |
//! | `tile` | contractions and transpositions in tiles, long folds across a workgroup |
//! | `promote` | operands of tiles into the workgroup's memory, with barriers |
//! | `distribute` | parallel loops to workgroups and invocations |

mod across;
mod dense;
mod direct;
mod distribute;
mod form;
mod lanes;
mod matrices;
mod print;
mod profile;
mod promote;
mod scan;
mod settings;
mod stream;
mod subgroups;
mod tile;
mod tuning;
mod turn;

pub(crate) use across::CrossLaneAxes;
pub(crate) use dense::{match_matrix_operand, plan_large_fragments as dense_plan};
pub(crate) use direct::{is_along, is_in_place};
pub use form::form_dispatch;
pub(crate) use form::match_atomic_op;
pub(crate) use lanes::is_adjacent;
pub(crate) use matrices::is_matrix_product as is_for_matrices;
pub use matrices::{FragmentShape, MatrixProfile, SubgroupMatmul};
pub use print::{print_all, print_dispatch};
pub use profile::ScheduleProfile;
pub(crate) use scan::{is_together, looks_back};
pub use settings::ProfileSetting;
pub(crate) use tile::{ContractionAxes, ContractionReads, axes_of, match_contraction, plan_reads};
pub use tuning::{DispatchTuning, compute_signature};

use crate::ir::{NodeGraph, ScalarNode, StructuredOp, TensorValue};
use spirula_diagnostics::SourceLocation;
use spirula_program::ScalarType;

/// A structured operation and the loops that run it.
#[derive(Clone, Debug)]
pub struct TensorDispatch {
    /// Name, unique in its program.
    pub name: String,
    /// What is computed.
    pub op: StructuredOp,
    /// What it gives.
    pub results: Vec<TensorValue>,
    /// Where it was written.
    pub place: SourceLocation,
    /// What it is scheduled for.
    pub profile: ScheduleProfile,
    /// How the space is run.
    pub strategy: ScheduleStrategy,
    /// The loops, by the numbers of their counters.
    pub loops: Vec<DispatchLoop>,
    /// Nodes over counters.
    pub points: NodeGraph,
    /// The index along each axis, nodes of `points`.
    pub indices: Vec<ScalarNode>,
    /// The axes that were tiled, together where they are tiled as one.
    pub tiles: Vec<AxisTile>,
    /// The loops over the tiles of rows and of columns, where there are both.
    pub grid: Option<[u32; 2]>,
    /// The loop over the tiles of the reduced axes.
    pub step_loop: Option<u32>,
    /// Truth values over counters without which a point of the parallel axes is outside.
    pub guards: Vec<ScalarNode>,
    /// The same for the reduced axes.
    pub fold_guards: Vec<ScalarNode>,
    /// Whether the factors of a tiled contraction are read where they are.
    pub is_direct: bool,
    /// Where accumulators are kept while others are folded.
    pub kept: Option<WorkgroupAccumulators>,
    /// The tiles of a product by large fragments, until there are loops over them.
    pub(crate) dense: Option<dense::LargeFragmentPlan>,
    /// Invocations of a subgroup that have a result, where subgroups have several; a power of two.
    pub cluster: u64,
    /// How subgroups compute products, where they do.
    pub matrix: Option<SubgroupMatmul>,
    /// What is kept in the workgroup's memory.
    pub staged: Vec<StagedNode>,
    /// A loop that no step has: its counter is the round of [`TensorDispatch::step_loop`] that is fetched.
    pub ahead: Option<u32>,
    /// What is done.
    pub steps: Vec<DispatchStep>,
}

/// How a space is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleStrategy {
    /// An invocation for each point of the parallel axes, which folds alone.
    Flat,
    /// A workgroup for each point of the parallel axes, which folds together.
    Cooperative,
    /// A subgroup for each point of the parallel axes, which folds together.
    Subgroups,
    /// A workgroup for each tile of a contraction.
    Tiled,
    /// The same, whose subgroups multiply matrices.
    Matrices,
    /// The same with factors that are read where they are, and a fragment for each tile.
    Dense,
    /// A workgroup for each tile of the results of folds, whose invocations fold each result together.
    Across,
    /// A workgroup for each tile of a map, which reads it along one axis and writes it along another.
    Turned,
    /// A workgroup for each point of the parallel axes, which folds together, one reduction after the
    /// other, and writes at every point of all axes.
    Rows,
    /// The same by a subgroup for each point of the parallel axes.
    SubgroupRows,
    /// A workgroup for each point of the parallel axes, whose invocations scan together.
    Scan,
    /// A workgroup for each chunk of a scan, taken in the order in which workgroups begin: each adds what those before
    /// it have.
    LookBack,
    /// One invocation for everything, in order.
    Serial,
}

impl ScheduleStrategy {
    /// Its name in printed dispatches.
    pub fn name(self) -> &'static str {
        match self {
            ScheduleStrategy::Flat => "flat",
            ScheduleStrategy::Cooperative => "cooperative",
            ScheduleStrategy::Subgroups => "subgroups",
            ScheduleStrategy::Tiled => "tiled",
            ScheduleStrategy::Matrices => "matrices",
            ScheduleStrategy::Dense => "dense",
            ScheduleStrategy::Across => "across",
            ScheduleStrategy::Turned => "turned",
            ScheduleStrategy::Rows => "rows",
            ScheduleStrategy::SubgroupRows => "subgroup-rows",
            ScheduleStrategy::Scan => "scan",
            ScheduleStrategy::LookBack => "look-back",
            ScheduleStrategy::Serial => "serial",
        }
    }
}

/// A loop that counts from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DispatchLoop {
    /// How often; a bound of that where it is known only when run.
    pub extent: u64,
    /// How often, where that is known only when run: a node of [`TensorDispatch::points`] over sizes.
    pub rounds: Option<ScalarNode>,
    /// What runs it.
    pub run: LoopMapping,
}

/// What runs a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopMapping {
    /// Still open; its rounds do not depend on each other.
    Parallel,
    /// Each invocation, round after round.
    Sequential,
    /// Each invocation, written out, all rounds at once with accumulators of their own.
    Unrolled,
    /// Each invocation, written out, round after round.
    Repeated,
    /// The workgroups of a dimension.
    Workgroup(u8),
    /// The workgroups of the first dimension, by the order in which they begin.
    Arrival,
    /// The invocations of a workgroup in a dimension.
    Invocation(u8),
    /// The subgroups of a workgroup.
    Subgroup,
    /// The invocations of a subgroup.
    Lane,
}

/// Axes that are tiled as one: their place in row-major order is `base + local`.
#[derive(Clone, Debug)]
pub struct AxisTile {
    /// The axes.
    pub axes: Vec<usize>,
    /// Sizes of the axes.
    pub extents: Vec<i64>,
    /// Where the tile begins; a node of `points`.
    pub base: ScalarNode,
    /// The place within the tile; a node of `points`.
    pub local: ScalarNode,
    /// Size.
    pub size: u64,
}

impl AxisTile {
    /// Places in all tiles together.
    pub fn place_count(&self) -> i64 {
        self.extents.iter().product()
    }
}

/// Accumulators in the workgroup's memory, so many of each reduction.
#[derive(Clone, Copy, Debug)]
pub struct WorkgroupAccumulators {
    /// The place of a point's; a node of [`TensorDispatch::points`].
    pub place: ScalarNode,
    /// How many.
    pub size: u64,
}

/// A node that a workgroup computes once for a tile.
#[derive(Clone, Debug)]
pub struct StagedNode {
    /// A node of the operation's body.
    pub node: ScalarNode,
    /// Its type.
    pub ty: ScalarType,
    /// The tiles that it depends on by their numbers, the one whose places lie next to each other in
    /// the device's memory last.
    pub tiles: Vec<usize>,
    /// The same tiles in the order in which they are kept, the fastest last.
    pub layout: Vec<usize>,
    /// Elements that are left free behind each row of the fastest, so that invocations that write
    /// one below the other meet different banks.
    pub padding: u64,
}

/// Which round of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrefetchRound {
    /// The first, before the loop.
    First,
    /// The one after this.
    Next,
}

/// What a dispatch does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DispatchStep {
    /// Repeats steps; the same loop may stand in several places.
    For(u32, Vec<DispatchStep>),
    /// Sets the accumulators of this point.
    Initialise,
    /// Folds this point's values into its accumulators.
    Accumulate,
    /// Folds the accumulators of the invocations of a loop into those of its first.
    Combine(u32),
    /// Sets what a scan has before its first round.
    Carry,
    /// Gives the accumulators of each invocation of a loop what those before it have, and what the rounds before gave.
    Prefix(u32),
    /// From here on, initialising, accumulating and combining are about one of the reductions.
    Only(usize),
    /// Gives all invocations what was combined.
    Share,
    /// Writes the results of this point.
    Store,
    /// Computes a tile into the workgroup's memory.
    Stage(usize),
    /// Computes all tiles of a round of [`TensorDispatch::step_loop`] into registers: of the first, or of
    /// the one after this, if there is one.
    Fetch(PrefetchRound),
    /// Puts what was fetched for a round into the workgroup's memory.
    Commit(PrefetchRound),
    /// Makes the sums of fragments zeros.
    Clear,
    /// Adds the products of the fragments of a round.
    Multiply,
    /// Takes a fragment's sums to the accumulators of its points, through the workgroup's memory; of large
    /// fragments only there.
    Spill,
    /// Takes sums of a large fragment to the accumulators of this row's points.
    Take,
    /// Puts this point's accumulators into the workgroup's memory.
    Keep,
    /// Takes them from there.
    Recall,
    /// Waits for the workgroup.
    Barrier,
}

/// A pass over dispatches.
#[derive(Clone, Copy, Debug)]
pub struct SchedulePass {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// Does it.
    pub run: fn(&mut TensorDispatch),
}

/// All passes over dispatches, in the order of the pipeline.
pub const PASSES: &[SchedulePass] = &[
    SchedulePass {
        name: "tile",
        about: "Splits contractions into tiles and long folds across a workgroup",
        run: tile::tile_dispatch,
    },
    SchedulePass {
        name: "promote",
        about: "Puts operands of tiles into the workgroup's memory, with barriers",
        run: promote::promote_factors,
    },
    SchedulePass {
        name: "distribute",
        about: "Hands parallel loops to workgroups and invocations",
        run: distribute::distribute_dispatch,
    },
];

impl TensorDispatch {
    /// Whether elements that lie next to each other are accessed as vectors. Tiles of contractions are not: an
    /// H200 is a fifth slower with them.
    pub(crate) fn has_vectors(&self) -> bool {
        self.profile.vector > 1 && self.strategy != ScheduleStrategy::Tiled
    }

    /// Adds a loop and gives its number.
    pub(crate) fn add_loop(&mut self, extent: u64, run: LoopMapping) -> u32 {
        self.loops.push(DispatchLoop {
            extent,
            rounds: None,
            run,
        });
        self.loops.len() as u32 - 1
    }

    /// Adds a loop whose rounds are known only when run, at most `extent`.
    pub(crate) fn add_sized_loop(
        &mut self,
        extent: u64,
        rounds: ScalarNode,
        run: LoopMapping,
    ) -> u32 {
        let number = self.add_loop(extent, run);
        self.loops[number as usize].rounds = Some(rounds);
        number
    }

    /// Whether the size of an axis is known only when run.
    pub fn is_sized(&self) -> bool {
        self.op.dynamic_sizes().next().is_some()
    }

    /// The counter of a loop.
    pub(crate) fn loop_counter(&mut self, number: u32) -> ScalarNode {
        let extent = crate::ir::DimExtent::Static(self.loops[number as usize].extent);
        self.points.intern_counter(number, extent)
    }

    /// Workgroups in a dimension, where they are known only when run.
    pub fn rounds_of(&self, dimension: usize) -> Option<ScalarNode> {
        let is_over = |l: &&DispatchLoop| l.run == LoopMapping::Workgroup(dimension as u8);
        self.loops.iter().find(is_over)?.rounds
    }

    /// Invocations of a workgroup in each dimension.
    pub fn workgroup_size(&self) -> [u64; 3] {
        self.launch_sizes(|run| match run {
            LoopMapping::Invocation(dimension) => Some(dimension),
            _ => None,
        })
    }

    /// Workgroups in each dimension.
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

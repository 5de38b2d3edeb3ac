//! Dispatches: structured operations with the loops that run them.
//!
//! Each structured operation becomes a [`TensorDispatch`]: a nest of loops around the steps of the operation.
//! Passes then rewrite the loops as the dispatch's strategy says.
//! A dispatch has no temporary buffers: intermediate values stay in registers or in the workgroup's memory.
//!
//! | stage | effect |
//! | --- | --- |
//! | `dispatches` | a loop for each axis |
//! | `tile` | contractions and transpositions in tiles, long reductions across a workgroup |
//! | `promote` | operands of tiles into the workgroup's memory, with barriers |
//! | `distribute` | parallel loops to workgroups and invocations |
//!
//! A strategy is one file of [`strategies`] and one row of its table: when it suits, how it tiles, promotes,
//! distributes and lowers. Each stage is a method of [`SchedulePlan`].

mod adjacent_points;
mod alternatives;
mod contraction;
mod direct_tile;
mod dispatch;
mod dispatch_label;
mod distribute;
mod form_dispatch;
mod matrix_operand;
mod matrix_profile;
mod plan;
mod print;
mod profile;
mod promote;
mod scan_partition;
mod settings;
mod strategies;
mod streaming_tile;
mod subgroup_fold;
mod tile_loops;
mod tuning;
mod workgroup_fold;

pub(crate) use adjacent_points::is_adjacent;
pub(crate) use alternatives::find_alternative_axes;
pub(crate) use contraction::{
    ContractionAxes, ContractionReads, find_node_axes, is_small_contraction, match_contraction,
    plan_reads,
};
pub(crate) use direct_tile::{is_along_columns, is_in_place};
pub use dispatch::{
    AxisTile, DispatchLoop, DispatchStep, LoopMapping, PrefetchRound, SavedAccumulators,
    TensorDispatch, TensorLoopNest,
};
pub use form_dispatch::form_dispatch;
pub(crate) use form_dispatch::{AXES, form_serial_dispatch, form_team_dispatch};
pub(crate) use matrix_operand::match_matrix_operand;
pub use matrix_profile::{FragmentShape, MatrixProfile};
pub use plan::{
    FoldSharing, FragmentSource, PrefetchLoops, SchedulePlan, ScheduleRequest, StagedNode,
    StagingPlan, SubgroupMatmul,
};
pub use print::{print_all, print_dispatch};
pub use profile::ScheduleProfile;
pub(crate) use scan_partition::{is_look_back_scan, is_workgroup_scan};
pub use settings::ProfileSetting;
pub(crate) use strategies::{
    CrossLaneAxes, is_matrix_product, match_atomic_op, plan_large_fragments, share_points,
};
pub use strategies::{STRATEGIES, ScheduleStrategy};
pub use tuning::{DispatchTuning, compute_signature};

/// A pass over dispatches.
#[derive(Clone, Copy, Debug)]
pub struct SchedulePass {
    /// Name, as `--print-after` takes it.
    pub name: &'static str,
    /// Effect, in a line.
    pub about: &'static str,
    /// Rewrites a dispatch.
    pub run: fn(&mut TensorDispatch),
}

/// All passes over dispatches, in the order of the pipeline.
pub const PASSES: &[SchedulePass] = &[
    SchedulePass {
        name: "tile",
        about: "Splits contractions into tiles and long folds across a workgroup",
        run: |dispatch| dispatch.plan.tile(&mut dispatch.nest),
    },
    SchedulePass {
        name: "promote",
        about: "Puts operands of tiles into the workgroup's memory, with barriers",
        run: |dispatch| dispatch.plan.promote(&mut dispatch.nest),
    },
    SchedulePass {
        name: "distribute",
        about: "Hands parallel loops to workgroups and invocations",
        run: |dispatch| dispatch.plan.distribute(&mut dispatch.nest),
    },
];

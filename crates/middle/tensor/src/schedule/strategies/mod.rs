//! Strategies: schedule templates, one file and one row of [`STRATEGIES`] each.
//!
//! A strategy's file has a function that plans an operation if the strategy suits it, and an implementation of
//! [`SchedulePlan`] that says how the operation is tiled, promoted, distributed and lowered.

mod alternatives;
mod cooperative;
mod cross_lane_reduce;
mod flat;
mod in_memory_fragments;
mod lines;
mod look_back;
mod rows;
mod scan;
mod serial;
mod subgroup_matmul;
mod subgroup_rows;
mod subgroups;
mod team;
mod tiled;
mod transpose;

pub(crate) use cross_lane_reduce::CrossLaneAxes;
pub(crate) use in_memory_fragments::plan_large_fragments;
pub(crate) use serial::match_atomic_op;
pub(crate) use subgroup_matmul::is_matrix_product;
pub(super) use subgroup_matmul::plan_matrix_tiling;
pub(super) use team::TeamShare;
pub(crate) use team::share_points;

use super::{ProfileSetting, SchedulePlan, ScheduleRequest};
use std::fmt;

/// A row of the table of strategies.
pub struct ScheduleStrategy {
    /// Name in printed dispatches.
    pub name: &'static str,
    /// Names of the settings of a profile that matter to its dispatches.
    pub settings: &'static [&'static str],
    /// The plan of an operation that the strategy suits.
    pub(crate) plan: fn(&ScheduleRequest<'_>) -> Option<Box<dyn SchedulePlan>>,
}

/// All strategies. An operation gets the first that suits it.
pub const STRATEGIES: &[ScheduleStrategy] = &[
    ScheduleStrategy {
        name: "serial",
        settings: &[],
        plan: serial::plan_serial,
    },
    ScheduleStrategy {
        name: "subgroup-rows",
        settings: &["vector", "subgroup"],
        plan: subgroup_rows::plan_subgroup_rows,
    },
    ScheduleStrategy {
        name: "rows",
        settings: &["kept", "vector", "rows", "subgroup"],
        plan: rows::plan_rows,
    },
    ScheduleStrategy {
        name: "look-back",
        settings: &["vector", "subgroup"],
        plan: look_back::plan_look_back,
    },
    ScheduleStrategy {
        name: "scan",
        settings: &["vector", "subgroup"],
        plan: scan::plan_scan,
    },
    ScheduleStrategy {
        name: "across",
        settings: &[],
        plan: cross_lane_reduce::plan_cross_lane,
    },
    ScheduleStrategy {
        name: "matrices",
        settings: &[
            "busy",
            "prefetch",
            "group",
            "matrix-rows",
            "matrix-columns",
            "matrix-depth",
            "matrix-down",
            "matrix-across",
            "matrix-buffers",
        ],
        plan: subgroup_matmul::plan_subgroup_matmul,
    },
    ScheduleStrategy {
        name: "dense",
        settings: &["dense-rows", "dense-columns", "dense-depth"],
        plan: in_memory_fragments::plan_in_memory,
    },
    ScheduleStrategy {
        name: "tiled",
        settings: &[
            "busy",
            "tile-columns",
            "tile",
            "points",
            "direct",
            "adjacent",
            "deep",
            "unroll",
            "prefetch",
            "fma",
            "group",
        ],
        plan: tiled::plan_tiled,
    },
    ScheduleStrategy {
        name: "alternatives",
        settings: &["flat", "wide", "lines"],
        plan: alternatives::plan_alternatives,
    },
    ScheduleStrategy {
        name: "turned",
        settings: &["turn"],
        plan: transpose::plan_transpose,
    },
    ScheduleStrategy {
        name: "subgroups",
        settings: &["vector", "subgroup"],
        plan: subgroups::plan_subgroups,
    },
    ScheduleStrategy {
        name: "cooperative",
        settings: &["fold", "long", "vector", "subgroup"],
        plan: cooperative::plan_cooperative,
    },
    ScheduleStrategy {
        name: "lines",
        settings: &["wide", "lines"],
        plan: lines::plan_lines,
    },
    ScheduleStrategy {
        name: "flat",
        settings: &["flat", "wide", "vector"],
        plan: flat::plan_flat,
    },
];

/// The strategy that runs all points in order, with its plan.
pub(super) fn serial_strategy() -> (&'static ScheduleStrategy, Box<dyn SchedulePlan>) {
    (&STRATEGIES[0], serial::serial_plan())
}

/// The strategy of loops within kernels, with its plan for a share of an operation.
pub(super) fn team_strategy(
    share: TeamShare,
) -> (&'static ScheduleStrategy, Box<dyn SchedulePlan>) {
    (&STRATEGIES[0], team::team_plan(share))
}

impl ScheduleStrategy {
    /// Whether a setting of a profile matters to the strategy's dispatches.
    pub fn has_setting(&self, setting: &ProfileSetting) -> bool {
        self.settings.contains(&setting.name)
    }
}

impl fmt::Debug for ScheduleStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The first strategy that suits an operation, with its plan.
pub(super) fn choose_strategy(
    request: &ScheduleRequest<'_>,
) -> Option<(&'static ScheduleStrategy, Box<dyn SchedulePlan>)> {
    let mut plans = STRATEGIES
        .iter()
        .filter_map(|strategy| Some((strategy, (strategy.plan)(request)?)));
    plans.next()
}

//! Scans by workgroups: when they are worth it, and how a workgroup shares its part of a row.
//!
//! A workgroup scans part after part. In each, every invocation has some adjacent points. It scans them, then adds
//! the sums of the invocations before it and of the parts before. All accesses are contiguous, which they are not
//! where each invocation scans a row of its own.
//! Sources: Blelloch, "Prefix Sums and Their Applications" (1990); Merrill and Grimshaw, "Parallel Scan for Stream
//! Architectures" (2009).

use super::adjacent_points::has_reversible_accesses;
use super::tile_loops::{has_neutral_elements, has_shuffles, sum_scaled_nodes};
use super::workgroup_fold::FEWEST_INVOCATIONS;
use super::{DispatchStep, LoopMapping, ScheduleProfile, TensorLoopNest};
use crate::ir::{AxisKind, ScalarNode, StructuredOp, YieldDestination};
use spirula_program::ScalarOp;

/// Adjacent points of an invocation: a vector, where they have 32 bits.
const POINTS: u64 = 4;

/// Most runs of points that an invocation has in a part.
const RUNS: u64 = 4;

/// Most invocations of a workgroup that has a row. Each of them reads the sums of all subgroups.
const MOST: u64 = 256;

/// The partition of large chunks and of small ones. All chunks wait at about the same time, so large ones are taken
/// only where there are [`OFTEN`] times as many as keep the device busy.
const LARGE: ScanPartition = ScanPartition {
    invocations: 1024,
    runs: 8,
};
const SMALL: ScanPartition = ScanPartition {
    invocations: 512,
    runs: 4,
};
const OFTEN: u64 = 2;

/// Fewest points of a row that are worth a workgroup.
const FEWEST: u64 = 128;

/// Fewest points of a row that are worth chunks.
const FEWEST_CHUNKED: u64 = 1 << 15;

/// Workgroups that a row in chunks counts for, of those that keep the device busy.
const BUSY_WORKGROUPS: u64 = 8;

/// Whether an operation is a scan of long rows, with contiguous accesses and operators that have neutral elements.
pub(crate) fn is_workgroup_scan(op: &StructuredOp, profile: &ScheduleProfile) -> bool {
    let folded = op.axes.iter().enumerate();
    let mut folded = folded.filter(|(_, axis)| axis.kind == AxisKind::Reduction);
    let (Some((axis, data)), None) = (folded.next(), folded.next()) else {
        return false;
    };
    let is_long = data.extent.as_static().is_some_and(|size| size >= FEWEST);
    if !is_long || op.dynamic_sizes().next().is_some() || !has_shuffles(op, profile) {
        return false;
    }
    let positions = op.yields.iter().map(|y| match &y.destination {
        YieldDestination::Prefix { indices, .. } => Some(&indices[..]),
        _ => None,
    });
    let Some(written) = positions.collect::<Option<Vec<&[ScalarNode]>>>() else {
        return false;
    };
    has_neutral_elements(op)
        && !written.is_empty()
        && has_reversible_accesses(&op.body, axis as u32, &written)
}

/// Whether such a scan has so few and so long rows that chunks of them are scanned in parallel.
pub(crate) fn is_look_back_scan(op: &StructuredOp, profile: &ScheduleProfile) -> bool {
    let product = |kind| op.count_static_points(op.axes_of_kind(kind));
    let sizes = (product(AxisKind::Parallel), product(AxisKind::Reduction));
    let (Some(rows), Some(length)) = sizes else {
        return false;
    };
    let is_worth =
        length >= FEWEST_CHUNKED && rows.saturating_mul(BUSY_WORKGROUPS) <= profile.chunks;
    is_worth && profile.look_back && is_workgroup_scan(op, profile)
}

/// How the invocations of a workgroup share a part of a row.
///
/// Each subgroup has a piece of the part. The runs of points of a piece go to its invocations in turn, so that what
/// they access at a time is contiguous.
#[derive(Clone, Copy)]
pub(super) struct ScanPartition {
    invocations: u64,
    /// Number of runs of an invocation, of [`POINTS`] each.
    runs: u64,
}

impl ScanPartition {
    /// Number of points of a part.
    pub fn size(&self) -> u64 {
        self.invocations * self.runs * POINTS
    }

    /// For the parts of a row of `points`, which one workgroup scans.
    pub fn of_row(points: u64, profile: &ScheduleProfile) -> ScanPartition {
        let fewest = FEWEST_INVOCATIONS.max(profile.subgroup);
        let runs = (points / (fewest * POINTS)).clamp(1, RUNS);
        let runs = 1 << runs.ilog2();
        let enough = points.div_ceil(POINTS * runs).next_power_of_two();
        let most = MOST.min(profile.rows).max(fewest);
        let invocations = enough.clamp(fewest, most);
        ScanPartition { invocations, runs }
    }

    /// For the chunks of rows of `points` in all, which a workgroup each scans.
    pub fn of_chunks(points: u64, profile: &ScheduleProfile) -> ScanPartition {
        let limit = |partition: ScanPartition| ScanPartition {
            invocations: partition
                .invocations
                .min(profile.rows)
                .max(profile.subgroup),
            runs: partition.runs,
        };
        let large = limit(LARGE);
        if points / large.size() >= OFTEN * profile.busy {
            large
        } else {
            limit(SMALL)
        }
    }

    /// Gives each invocation its points of the part of a row with the number `part`. Returns the loop over the
    /// invocations.
    pub fn split_part(&self, nest: &mut TensorLoopNest, part: ScalarNode) -> u32 {
        let rank = nest.op.parallel_rank();
        let total = nest.loops[rank].extent;
        let lanes = nest.profile.subgroup;
        let across = nest.add_loop(self.invocations, LoopMapping::Parallel);
        let run = nest.add_loop(self.runs, LoopMapping::Unrolled);
        let point = nest.add_loop(POINTS, LoopMapping::Unrolled);
        // An invocation's place follows from its subgroup, whatever the order of invocations in the workgroup.
        let subgroup = nest.add_loop(self.invocations / lanes, LoopMapping::Subgroup);
        let lane = nest.add_loop(lanes, LoopMapping::Lane);
        let numbers = [subgroup, run, lane, point].map(|number| nest.loop_counter(number));
        let [subgroup, run, lane, point] = numbers;
        let body = &mut nest.points;
        let runs = self.invocations * self.runs;
        let place = [
            (part, runs),
            (subgroup, lanes * self.runs),
            (run, lanes),
            (lane, 1),
        ];
        let mut at = sum_scaled_nodes(body, &place);
        let mut limit = total / POINTS;
        let is_even = total.is_multiple_of(POINTS);
        if !is_even {
            at = sum_scaled_nodes(body, &[(at, POINTS), (point, 1)]);
            limit = total;
        }
        let (end, last) = (
            body.intern_i64(limit as i64),
            body.intern_i64(limit as i64 - 1),
        );
        let guard = body.apply_op(ScalarOp::SLt, &[at, end]);
        // Points outside read the last element, so that no read waits for a condition.
        let inside = body.apply_op(ScalarOp::SMin, &[at, last]);
        nest.indices[rank] = if is_even {
            sum_scaled_nodes(body, &[(inside, POINTS), (point, 1)])
        } else {
            inside
        };
        nest.add_fold_guard(guard);
        across
    }
}

/// The steps of a part, whose invocations a loop runs.
pub(super) fn build_part_steps(across: u32) -> Vec<DispatchStep> {
    vec![
        DispatchStep::Initialise,
        DispatchStep::Accumulate,
        DispatchStep::Scan(across),
        DispatchStep::Store,
    ]
}

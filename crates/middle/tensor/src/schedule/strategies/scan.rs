//! Scans by a workgroup, and by workgroups that look back.
//!
//! A workgroup scans a row round by round: in each, every invocation has some points that lie next to each other, folds them
//! up to each, and adds what the invocations before it and the rounds before gave. All that is read and written lies
//! together, which it does not where each invocation scans a row of its own (Blelloch, Prefix Sums and Their
//! Applications, 1990; Merrill and Grimshaw, Parallel Scan for Stream Architectures, 2009).
//!
//! Few long rows are cut into chunks, of which a workgroup takes the next when it begins. What its chunk adds up to it
//! gives away at once, then it asks those before it until one has all that comes before: each point is read once
//! (Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016).

use super::tile::{SUBGROUP, has_neutral, has_shuffles, sum_scaled_nodes};
use super::{DispatchStep, LoopMapping, ScheduleProfile, TensorDispatch, lanes, nest_loops};
use crate::ir::{AxisKind, ScalarNode, StructuredOp, YieldDestination, unflatten_index};
use spirula_program::ScalarOp;

/// Points of an invocation that lie next to each other: a vector, where they have 32 bits.
const POINTS: u64 = 4;

/// Most such runs of an invocation in a round.
const RUNS: u64 = 4;

/// Most invocations of a workgroup that has a row: what its subgroups give is read by each of them.
const MOST: u64 = 256;

/// Invocations and runs of chunks that look back: large ones where there are so many that they keep the device busy this often,
/// as all wait at about the same time, else small ones.
const LARGE: (u64, u64) = (1024, 8);
const SMALL: (u64, u64) = (512, 4);
const OFTEN: u64 = 2;

/// Fewest points of a row that is worth a workgroup.
const FEWEST: u64 = 128;

/// Fewest points of a row that is worth chunks, and most rows in the place of workgroups that keep the device busy.
const CHUNKED: (u64, u64) = (1 << 15, 8);

/// Whether an operation is a scan of long rows that lie together, with operators that have a neutral element.
pub(crate) fn is_together(op: &StructuredOp, profile: &ScheduleProfile) -> bool {
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
    has_neutral(op)
        && !written.is_empty()
        && lanes::accesses_follow(&op.body, axis as u32, &written)
}

/// Whether such a scan has so few rows, and so long ones, that chunks of them are scanned side by side.
pub(crate) fn looks_back(op: &StructuredOp, profile: &ScheduleProfile) -> bool {
    let (points, busy) = CHUNKED;
    let product = |kind: AxisKind| {
        let axes = op.axes.iter().filter(|axis| axis.kind == kind);
        let mut sizes = axes.map(|axis| axis.extent.as_static());
        sizes.try_fold(1u64, |n, size| n.checked_mul(size?))
    };
    let sizes = (product(AxisKind::Parallel), product(AxisKind::Reduction));
    let (Some(rows), Some(length)) = sizes else {
        return false;
    };
    let is_worth = length >= points && rows.saturating_mul(busy) <= profile.chunks;
    is_worth && profile.look_back && is_together(op, profile)
}

/// How a part of a row is shared out: each subgroup has a piece of it, whose runs of points go to its invocations in turn, so that
/// what they access at a time lies together.
struct ScanPartition {
    invocations: u64,
    /// Runs of an invocation, of [`POINTS`] each.
    runs: u64,
}

impl ScanPartition {
    fn size(&self) -> u64 {
        self.invocations * self.runs * POINTS
    }

    /// Of a row of so many points in rounds.
    fn of_row(points: u64, profile: &ScheduleProfile) -> ScanPartition {
        let fewest = SUBGROUP.max(profile.subgroup);
        let runs = (points / (fewest * POINTS)).clamp(1, RUNS);
        let runs = 1 << runs.ilog2();
        let enough = points.div_ceil(POINTS * runs).next_power_of_two();
        let most = MOST.min(profile.rows).max(fewest);
        let invocations = enough.clamp(fewest, most);
        ScanPartition { invocations, runs }
    }

    /// Of so many points of all rows in chunks.
    fn of_chunks(points: u64, profile: &ScheduleProfile) -> ScanPartition {
        let share = |(invocations, runs): (u64, u64)| ScanPartition {
            invocations: invocations.min(profile.rows).max(profile.subgroup),
            runs,
        };
        let large = share(LARGE);
        match points / large.size() >= OFTEN * profile.busy {
            true => large,
            false => share(SMALL),
        }
    }
}

/// Splits a scan across the invocations of a workgroup.
pub(super) fn tile_scan(dispatch: &mut TensorDispatch) {
    let rank = dispatch.op.parallel_rank();
    let total = dispatch.loops[rank].extent;
    let share = ScanPartition::of_row(total, &dispatch.profile);
    let round = dispatch.add_loop(total.div_ceil(share.size()), LoopMapping::Sequential);
    let part = dispatch.loop_counter(round);
    let across = distribute_part(dispatch, part, &share);
    let mut all = vec![DispatchStep::Carry];
    all.extend(nest_loops(&[round, across], build_part_steps(across)));
    let parallel: Vec<u32> = (0..rank as u32).collect();
    dispatch.steps = nest_loops(&parallel, all);
}

/// Splits a scan across workgroups, as they begin, and their invocations.
pub(super) fn look_back(dispatch: &mut TensorDispatch) {
    let rank = dispatch.op.parallel_rank();
    let total = dispatch.loops[rank].extent;
    let sizes = dispatch.loops[..rank].iter().map(|l| l.extent as i64);
    let sizes: Vec<i64> = sizes.collect();
    let rows = sizes.iter().product::<i64>() as u64;
    let share = ScanPartition::of_chunks(rows.saturating_mul(total), &dispatch.profile);
    let chunks = total.div_ceil(share.size());
    let arrival = dispatch.add_loop(rows * chunks, LoopMapping::Arrival);
    let arrival = dispatch.loop_counter(arrival);
    let body = &mut dispatch.points;
    let count = body.intern_i64(chunks as i64);
    let [row, chunk] =
        [ScalarOp::SDiv, ScalarOp::SMod].map(|op| body.apply_op(op, &[arrival, count]));
    let position = unflatten_index(body, row, &sizes);
    dispatch.indices[..rank].clone_from_slice(&position);
    let across = distribute_part(dispatch, chunk, &share);
    dispatch.steps = vec![DispatchStep::Carry];
    dispatch
        .steps
        .extend(nest_loops(&[across], build_part_steps(across)));
}

/// Gives each invocation its points of a part of a row; gives the loop over the invocations.
fn distribute_part(dispatch: &mut TensorDispatch, part: ScalarNode, share: &ScanPartition) -> u32 {
    let rank = dispatch.op.parallel_rank();
    let total = dispatch.loops[rank].extent;
    let lanes = dispatch.profile.subgroup;
    let across = dispatch.add_loop(share.invocations, LoopMapping::Parallel);
    let run = dispatch.add_loop(share.runs, LoopMapping::Unrolled);
    let point = dispatch.add_loop(POINTS, LoopMapping::Unrolled);
    // An invocation's place is that among the subgroups, in whatever order the device numbers the invocations.
    let subgroup = dispatch.add_loop(share.invocations / lanes, LoopMapping::Subgroup);
    let lane = dispatch.add_loop(lanes, LoopMapping::Lane);
    let numbers = [subgroup, run, lane, point].map(|number| dispatch.loop_counter(number));
    let [subgroup, run, lane, point] = numbers;
    let body = &mut dispatch.points;
    let runs = share.invocations * share.runs;
    let place = [
        (part, runs),
        (subgroup, lanes * share.runs),
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
    // What is outside is read from the last, so that all is on its way at once.
    let inside = body.apply_op(ScalarOp::SMin, &[at, last]);
    dispatch.indices[rank] = match is_even {
        true => sum_scaled_nodes(body, &[(inside, POINTS), (point, 1)]),
        false => inside,
    };
    if body.as_literal(guard).is_none() {
        dispatch.fold_guards.push(guard);
    }
    across
}

/// What is done of a part.
fn build_part_steps(across: u32) -> Vec<DispatchStep> {
    vec![
        DispatchStep::Initialise,
        DispatchStep::Accumulate,
        DispatchStep::Prefix(across),
        DispatchStep::Store,
    ]
}

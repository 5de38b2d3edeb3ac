//! Scans by a workgroup.
//!
//! A workgroup scans a row round by round: in each, every invocation has some points that lie next to each other, folds them
//! up to each, and adds what the invocations before it and the rounds before gave. All that is read and written lies
//! together, which it does not where each invocation scans a row of its own (Blelloch, Prefix Sums and Their
//! Applications, 1990; Merrill and Grimshaw, Parallel Scan for Stream Architectures, 2009).

use super::tile::{SUBGROUP, has_neutral, has_shuffles, scaled};
use super::{Dispatch, Profile, Run, Step, lanes, nest};
use crate::ir::{AxisKind, Destination, Node, Structured};
use spirula_program::Op;

/// Most points of an invocation in a round.
const POINTS: u64 = 8;

/// Invocations of a workgroup: what its subgroups give is read by each of them.
const MOST: u64 = 256;

/// Fewest points of a row that is worth a workgroup.
const FEWEST: u64 = 128;

/// Whether an operation is a scan of long rows that lie together, with operators that have a neutral element.
pub(crate) fn is_together(op: &Structured, profile: &Profile) -> bool {
    let folded = op.axes.iter().enumerate();
    let mut folded = folded.filter(|(_, axis)| axis.kind == AxisKind::Reduction);
    let (Some((axis, data)), None) = (folded.next(), folded.next()) else {
        return false;
    };
    let is_long = data.extent.known().is_some_and(|size| size >= FEWEST);
    if !is_long || op.sizes().next().is_some() || !has_shuffles(op, profile) {
        return false;
    }
    let positions = op.yields.iter().map(|y| match &y.destination {
        Destination::Prefix { indices, .. } => Some(&indices[..]),
        _ => None,
    });
    let Some(written) = positions.collect::<Option<Vec<&[Node]>>>() else {
        return false;
    };
    has_neutral(op)
        && !written.is_empty()
        && lanes::accesses_follow(&op.body, axis as u32, &written)
}

/// Splits a scan across the invocations of a workgroup.
pub(super) fn tile(dispatch: &mut Dispatch) {
    let rank = dispatch.op.parallel_rank();
    let total = dispatch.loops[rank].extent;
    let mut points = POINTS;
    while !total.is_multiple_of(points) {
        points /= 2;
    }
    let runs = total / points;
    let lanes = dispatch.profile.subgroup;
    let fewest = SUBGROUP.max(lanes);
    let invocations = runs.next_power_of_two().clamp(fewest, MOST.max(fewest));
    let round = dispatch.add_loop(runs.div_ceil(invocations), Run::Sequential);
    let across = dispatch.add_loop(invocations, Run::Parallel);
    let point = dispatch.add_loop(points, Run::Unrolled);
    // An invocation's place is that among the subgroups, in whatever order the device numbers the invocations.
    let subgroup = dispatch.add_loop(invocations / lanes, Run::Subgroup);
    let lane = dispatch.add_loop(lanes, Run::Lane);
    let place = [(round, invocations), (subgroup, lanes), (lane, 1)];
    let run = scaled(dispatch, &place);
    let limit = dispatch.points.i64(runs as i64);
    let guard = dispatch.points.op(Op::SLt, &[run, limit]);
    if dispatch.points.as_literal(guard).is_none() {
        dispatch.fold_guards.push(guard);
    }
    let mut terms = place
        .map(|(number, stride)| (number, stride * points))
        .to_vec();
    terms.push((point, 1));
    dispatch.indices[rank] = scaled(dispatch, &terms);
    let steps = vec![
        Step::Initialise,
        Step::Accumulate,
        Step::Prefix(across),
        Step::Store,
    ];
    let mut all = vec![Step::Carry];
    all.extend(nest(&[round, across], steps));
    let parallel: Vec<u32> = (0..rank as u32).collect();
    dispatch.steps = nest(&parallel, all);
}

//! Exchange: computes the results of suspension points for invocations.
//!
//! Operands and results lie in the invocations' frames. The scheduler computes them between two runs of generated
//! code.

use super::cooperative_product::SubgroupLanes;
use super::slot_numbers::{decode_float, encode_float, truncate_to_width};
use crate::analysis::suspension::{GroupExchange, SuspensionPoint};
use crate::layout::frames::WorkgroupFrames;
use crate::module::types::ScalarRepr;
use spirula_spirv::grammar::{Op, ReductionOperator};

/// Computes the results of a point for the active invocations, in order. `first` is the number of
/// the group's first invocation, `size` the number of invocations in a full group.
pub(crate) fn exchange_values(
    frames: &mut WorkgroupFrames<'_>,
    point: &SuspensionPoint,
    active: &[usize],
    first: usize,
    size: usize,
) {
    let components = point.components as usize;
    match point.exchange {
        GroupExchange::Barrier | GroupExchange::AsyncCopy | GroupExchange::Pipe(_) => {}
        GroupExchange::Elect => {
            for (n, lane) in active.iter().enumerate() {
                frames.set_slot(*lane, 0, u64::from(n == 0));
            }
        }
        GroupExchange::All
        | GroupExchange::Any
        | GroupExchange::QuadAll
        | GroupExchange::QuadAny => {
            compute_votes(frames, point.exchange, active, first);
        }
        GroupExchange::AllEqual => {
            let value = |frames: &WorkgroupFrames<'_>, lane: usize| -> Vec<u64> {
                let bits = (0..components).map(|n| frames.read_slot(lane, n));
                bits.map(|b| to_comparable_bits(b, point.scalar)).collect()
            };
            let want = active.first().map(|lane| value(frames, *lane));
            let equal = active.iter().all(|l| Some(value(frames, *l)) == want);
            for lane in active {
                frames.set_slot(*lane, 0, u64::from(equal));
            }
        }
        GroupExchange::Ballot => compute_ballot(frames, active, first),
        GroupExchange::Reduce(combine) => {
            for n in 0..components {
                reduce_component(frames, point, combine, active, first, n);
            }
        }
        GroupExchange::Product => {
            let lanes = SubgroupLanes {
                active,
                first,
                size,
            };
            if let Some(product) = point.product {
                product.compute_for_lanes(frames, lanes);
            }
        }
        GroupExchange::ShufflePairUp | GroupExchange::ShufflePairDown => {
            shuffle_pair(frames, point, active, first, size);
        }
        _ => shuffle_values(frames, point, active, first, size),
    }
}

/// The bits of a value such that equal values have equal ones: both zeros are equal.
fn to_comparable_bits(bits: u64, scalar: ScalarRepr) -> u64 {
    let bits = truncate_to_width(bits, scalar);
    let sign = 1u64 << (scalar.bits() - 1);
    if scalar.is_float() && bits == sign {
        0
    } else {
        bits
    }
}

fn compute_votes(
    frames: &mut WorkgroupFrames<'_>,
    exchange: GroupExchange,
    active: &[usize],
    first: usize,
) {
    let quads = matches!(exchange, GroupExchange::QuadAll | GroupExchange::QuadAny);
    let all = matches!(exchange, GroupExchange::All | GroupExchange::QuadAll);
    let votes: Vec<bool> = active
        .iter()
        .map(|lane| frames.read_slot(*lane, 0) & 1 != 0)
        .collect();
    let results: Vec<bool> = active
        .iter()
        .map(|lane| {
            let quad = (lane - first) / 4;
            let mut peers = active
                .iter()
                .zip(&votes)
                .filter(|(other, _)| !quads || (*other - first) / 4 == quad)
                .map(|(_, vote)| *vote);
            if all {
                peers.all(|v| v)
            } else {
                peers.any(|v| v)
            }
        })
        .collect();
    for (lane, result) in active.iter().zip(results) {
        frames.set_slot(*lane, 0, u64::from(result));
    }
}

fn compute_ballot(frames: &mut WorkgroupFrames<'_>, active: &[usize], first: usize) {
    let mut mask = 0u64;
    for lane in active {
        let bit = frames.read_slot(*lane, 0) & 1;
        mask |= bit << ((lane - first) % 64);
    }
    for lane in active {
        let words = [mask & 0xffff_ffff, mask >> 32, 0, 0];
        for (n, word) in words.into_iter().enumerate() {
            frames.set_slot(*lane, n, word);
        }
    }
}

/// A reduction or scan of component `n`.
fn reduce_component(
    frames: &mut WorkgroupFrames<'_>,
    point: &SuspensionPoint,
    combine: ReductionOperator,
    active: &[usize],
    first: usize,
    n: usize,
) {
    let scalar = point.scalar;
    let cluster = point.cluster.filter(|_| point.operation == 3);
    let cluster = cluster.unwrap_or(u32::MAX).max(1) as usize;
    let of = |lane: usize| (lane - first) / cluster;
    for group in active.chunk_by(|a, b| of(*a) == of(*b)) {
        let mut total = scan_identity(combine, scalar);
        let mut is_first = true;
        for lane in group {
            let own = truncate_to_width(frames.read_slot(*lane, n), scalar);
            let before = total;
            total = if is_first {
                own
            } else {
                combine_values(combine, scalar, total, own)
            };
            is_first = false;
            match point.operation {
                1 => frames.set_slot(*lane, n, total),
                2 => frames.set_slot(*lane, n, before),
                _ => {}
            }
        }
        if !matches!(point.operation, 1 | 2) {
            for lane in group {
                frames.set_slot(*lane, n, total);
            }
        }
    }
}

/// The value that changes none it is combined with.
fn scan_identity(combine: ReductionOperator, scalar: ScalarRepr) -> u64 {
    let bits = scalar.bits();
    let ones = u64::MAX >> (64 - bits);
    let sign = 1u64 << (bits - 1);
    match combine {
        ReductionOperator::IAdd
        | ReductionOperator::Or
        | ReductionOperator::Xor
        | ReductionOperator::UMax
        | ReductionOperator::FAdd => 0,
        ReductionOperator::IMul => 1,
        ReductionOperator::FMul => encode_float(1.0, scalar),
        ReductionOperator::And | ReductionOperator::UMin => ones,
        ReductionOperator::SMin => ones ^ sign,
        ReductionOperator::SMax => sign,
        ReductionOperator::FMin => encode_float(f64::INFINITY, scalar),
        ReductionOperator::FMax => encode_float(f64::NEG_INFINITY, scalar),
    }
}

fn combine_values(combine: ReductionOperator, scalar: ScalarRepr, a: u64, b: u64) -> u64 {
    let unused = 64 - scalar.bits();
    let signed = |v: u64| (v << unused) as i64 >> unused;
    let bits = match combine {
        ReductionOperator::IAdd => a.wrapping_add(b),
        ReductionOperator::IMul => a.wrapping_mul(b),
        ReductionOperator::SMin => signed(a).min(signed(b)) as u64,
        ReductionOperator::SMax => signed(a).max(signed(b)) as u64,
        ReductionOperator::UMin => a.min(b),
        ReductionOperator::UMax => a.max(b),
        ReductionOperator::And => a & b,
        ReductionOperator::Or => a | b,
        ReductionOperator::Xor => a ^ b,
        _ => return combined_float(combine, scalar, a, b),
    };
    truncate_to_width(bits, scalar)
}

/// Sums and products are computed in `f64`, which holds those of the narrower types exactly enough to round them
/// once.
fn combined_float(combine: ReductionOperator, scalar: ScalarRepr, a: u64, b: u64) -> u64 {
    let (x, y) = (decode_float(a, scalar), decode_float(b, scalar));
    let value = match combine {
        ReductionOperator::FAdd => x + y,
        ReductionOperator::FMul => x * y,
        ReductionOperator::FMin => x.min(y),
        _ => x.max(y),
    };
    encode_float(value, scalar)
}

/// Whether all invocations have to take the same one's value.
pub(crate) fn is_broadcast(op: Op) -> bool {
    matches!(op, Op::GroupNonUniformBroadcast | Op::GroupBroadcast)
}

/// The lane whose value an invocation takes at a point; none where there is no such lane. The group is described by
/// its first invocation and its full size.
pub(crate) fn find_source_lane(
    frames: &WorkgroupFrames<'_>,
    point: &SuspensionPoint,
    lanes: SubgroupLanes<'_>,
    lane: usize,
) -> Option<usize> {
    let own = lane - lanes.first;
    let operand = frames.read_slot(lane, point.components as usize) as u32 as usize;
    let other = match point.exchange {
        GroupExchange::Broadcast => operand,
        GroupExchange::BroadcastFirst => return lanes.active.first().copied(),
        GroupExchange::ShuffleXor => own ^ operand,
        GroupExchange::ShuffleUp => own.checked_sub(operand)?,
        GroupExchange::ShuffleDown => own + operand,
        GroupExchange::QuadBroadcast => own & !3 | operand & 3,
        GroupExchange::QuadSwap => own ^ (operand + 1).min(3),
        GroupExchange::Rotate => {
            let cluster = point.cluster.map_or(lanes.size, |c| c as usize).max(1);
            own / cluster * cluster + (own % cluster + operand) % cluster
        }
        _ => return None,
    };
    Some(lanes.first + other)
}

/// Each invocation gets the value of another one; that of one which is not there is its own.
fn shuffle_values(
    frames: &mut WorkgroupFrames<'_>,
    point: &SuspensionPoint,
    active: &[usize],
    first: usize,
    size: usize,
) {
    let components = point.components as usize;
    let lanes = SubgroupLanes {
        active,
        first,
        size,
    };
    let values: Vec<Vec<u64>> = active
        .iter()
        .map(|lane| {
            let from = find_source_lane(frames, point, lanes, *lane);
            let from = from.filter(|from| active.binary_search(from).is_ok());
            let from = from.unwrap_or(*lane);
            (0..components).map(|n| frames.read_slot(from, n)).collect()
        })
        .collect();
    for (lane, values) in active.iter().zip(values) {
        for (n, value) in values.into_iter().enumerate() {
            frames.set_slot(*lane, n, value);
        }
    }
}

/// Intel's shuffles between two registers. The lanes of the first operand and then of the second form a row. Each
/// invocation takes the value `delta` lanes below or above its own.
fn shuffle_pair(
    frames: &mut WorkgroupFrames<'_>,
    point: &SuspensionPoint,
    active: &[usize],
    first: usize,
    size: usize,
) {
    let components = point.components as usize;
    let values: Vec<Vec<u64>> = active
        .iter()
        .map(|lane| {
            let delta = frames.read_slot(*lane, 2 * components) as u32 as usize;
            let own = lane - first;
            let at = match point.exchange {
                GroupExchange::ShufflePairDown => own + delta,
                _ => (own + size).saturating_sub(delta),
            };
            let (register, other) = (at / size, first + at % size);
            let found = register < 2 && active.binary_search(&other).is_ok();
            let (register, from) = if found { (register, other) } else { (0, *lane) };
            (0..components)
                .map(|n| frames.read_slot(from, register * components + n))
                .collect()
        })
        .collect();
    for (lane, values) in active.iter().zip(values) {
        for (n, value) in values.into_iter().enumerate() {
            frames.set_slot(*lane, n, value);
        }
    }
}

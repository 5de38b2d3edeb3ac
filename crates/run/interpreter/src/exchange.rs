//! Exchanges: values that invocations compute together at a point where they wait for each other.

use crate::facts::ScalarKind;
use crate::operation::ScalarOperation;
use crate::step::Slot;
use crate::waiting::ResumedLanes;
use spirula_scalar::FloatEncoding;
use spirula_scalar::int::make_mask;
use spirula_scalar::table::ScalarExtSet;
use spirula_spirv::grammar::{Op, ReductionOperator};

/// Invocations of a subgroup, as on the CPU device.
pub(crate) const SUBGROUP_SIZE: usize = 8;

/// The exchange at a point where invocations wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExchangeKind {
    /// Nothing: the invocations only wait.
    Barrier,
    Elect,
    All,
    Any,
    AllEqual,
    /// The value of the invocation with a given number.
    Broadcast,
    BroadcastFirst,
    Ballot,
    ShuffleXor,
    ShuffleUp,
    ShuffleDown,
    Rotate,
    QuadBroadcast,
    QuadSwap,
    Reduce(ReductionOperator),
    /// A question about a ballot, which each lane answers for itself.
    Query(BallotQuery),
}

/// A question about a ballot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BallotQuery {
    /// Whether the lane's own bit is set.
    Inverse,
    /// Whether the bit of a number is set.
    Extract,
    /// The number of set bits.
    Count,
    FindLowest,
    FindHighest,
}

use ExchangeKind::{Query, Reduce};

/// The instructions that exchange values, but for control barriers, reductions and scans.
const ROWS: &[(Op, ExchangeKind)] = &[
    (Op::GroupAll, ExchangeKind::All),
    (Op::GroupAny, ExchangeKind::Any),
    (Op::GroupBroadcast, ExchangeKind::Broadcast),
    (Op::GroupNonUniformElect, ExchangeKind::Elect),
    (Op::GroupNonUniformAll, ExchangeKind::All),
    (Op::GroupNonUniformAny, ExchangeKind::Any),
    (Op::GroupNonUniformAllEqual, ExchangeKind::AllEqual),
    (Op::GroupNonUniformBroadcast, ExchangeKind::Broadcast),
    (
        Op::GroupNonUniformBroadcastFirst,
        ExchangeKind::BroadcastFirst,
    ),
    (Op::GroupNonUniformBallot, ExchangeKind::Ballot),
    (
        Op::GroupNonUniformInverseBallot,
        Query(BallotQuery::Inverse),
    ),
    (
        Op::GroupNonUniformBallotBitExtract,
        Query(BallotQuery::Extract),
    ),
    (Op::GroupNonUniformBallotBitCount, Query(BallotQuery::Count)),
    (
        Op::GroupNonUniformBallotFindLSB,
        Query(BallotQuery::FindLowest),
    ),
    (
        Op::GroupNonUniformBallotFindMSB,
        Query(BallotQuery::FindHighest),
    ),
    (Op::GroupNonUniformShuffle, ExchangeKind::Broadcast),
    (Op::GroupNonUniformShuffleXor, ExchangeKind::ShuffleXor),
    (Op::GroupNonUniformShuffleUp, ExchangeKind::ShuffleUp),
    (Op::GroupNonUniformShuffleDown, ExchangeKind::ShuffleDown),
    (Op::GroupNonUniformRotateKHR, ExchangeKind::Rotate),
    (
        Op::GroupNonUniformQuadBroadcast,
        ExchangeKind::QuadBroadcast,
    ),
    (Op::GroupNonUniformQuadSwap, ExchangeKind::QuadSwap),
];

impl ExchangeKind {
    /// The exchange of an instruction, but for control barriers.
    pub fn from_opcode(op: Op) -> Option<ExchangeKind> {
        let row = ROWS.iter().find(|(of, _)| *of == op);
        let reduction = op.reduction_operator().map(Reduce);
        reduction.or(row.map(|(_, kind)| *kind))
    }
}

/// A point where invocations wait for each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExchangePoint {
    pub kind: ExchangeKind,
    /// Whether a subgroup waits, or the workgroup.
    pub is_subgroup: bool,
    /// The value, and its number of scalars.
    pub value: Slot,
    pub count: u32,
    /// The operand after the value.
    pub operand: Slot,
    pub to: Slot,
    /// Number of scalars of the result.
    pub to_count: u32,
    pub scalar: ScalarKind,
    /// The group operation of a reduction, as its number in SPIR-V.
    pub operation: u32,
    /// Invocations that exchange among themselves; 0 for all.
    pub cluster: u32,
}

impl ExchangePoint {
    /// A point where the workgroup waits, without values.
    pub(crate) fn of_workgroup(kind: ExchangeKind) -> ExchangePoint {
        ExchangePoint {
            kind,
            is_subgroup: false,
            value: 0,
            count: 0,
            operand: 0,
            to: 0,
            to_count: 0,
            scalar: ScalarKind::Bool,
            operation: 0,
            cluster: 0,
        }
    }
}

/// Registers of the invocations of a workgroup at the function where they wait.
pub(crate) trait LaneRegisters {
    /// The bits of a register or constant of an invocation.
    fn read_lane(&self, lane: usize, slot: Slot) -> u64;

    /// Sets a register of an invocation.
    fn write_lane(&mut self, lane: usize, slot: Slot, bits: u64);
}

/// Computes an exchange among invocations that wait at its point.
pub(crate) fn exchange_values(
    point: &ExchangePoint,
    lanes: &ResumedLanes,
    registers: &mut dyn LaneRegisters,
) {
    let read_value = |lane: &usize| -> Vec<u64> {
        let scalars = 0..point.count;
        scalars
            .map(|n| registers.read_lane(*lane, point.value + n))
            .collect()
    };
    let values: Vec<Vec<u64>> = lanes.numbers.iter().map(read_value).collect();
    let results = match point.kind {
        ExchangeKind::Barrier => return,
        ExchangeKind::Elect => (0..values.len()).map(|n| vec![u64::from(n == 0)]).collect(),
        ExchangeKind::All => repeat_result(&values, values.iter().all(|v| is_true(v))),
        ExchangeKind::Any => repeat_result(&values, values.iter().any(|v| is_true(v))),
        ExchangeKind::AllEqual => {
            let comparable = |value: &Vec<u64>| -> Vec<u64> {
                let scalars = value.iter();
                scalars
                    .map(|bits| merge_zeros(*bits, point.scalar))
                    .collect()
            };
            let first = values.first().map(comparable);
            let is_equal = values.iter().all(|v| Some(comparable(v)) == first);
            repeat_result(&values, is_equal)
        }
        ExchangeKind::Ballot => {
            let votes = lanes.numbers.iter().zip(&values);
            let mask = votes.fold(0u64, |mask, (lane, vote)| {
                mask | u64::from(is_true(vote)) << ((lane - lanes.first) % 64)
            });
            vec![vec![mask & 0xffff_ffff, mask >> 32, 0, 0]; values.len()]
        }
        Reduce(operator) => reduce_values(point, operator, lanes, values),
        Query(query) => {
            let pairs = lanes.numbers.iter().zip(&values);
            pairs
                .map(|(lane, mask)| {
                    let operand = match query {
                        BallotQuery::Extract => registers.read_lane(*lane, point.operand),
                        _ => point.operation.into(),
                    };
                    vec![query.answer(mask, lane - lanes.first, operand)]
                })
                .collect()
        }
        _ => {
            let operands = lanes.numbers.iter();
            let operands: Vec<usize> = operands
                .map(|lane| registers.read_lane(*lane, point.operand) as u32 as usize)
                .collect();
            shuffle_values(point, lanes, &values, &operands)
        }
    };
    for (lane, result) in lanes.numbers.iter().zip(results) {
        for (n, bits) in result.into_iter().take(point.to_count as usize).enumerate() {
            registers.write_lane(*lane, point.to + n as Slot, bits);
        }
    }
}

fn is_true(value: &[u64]) -> bool {
    value.first().is_some_and(|bits| bits & 1 != 0)
}

fn repeat_result(values: &[Vec<u64>], result: bool) -> Vec<Vec<u64>> {
    vec![vec![u64::from(result)]; values.len()]
}

/// The bits of a value, where both zeros are equal.
fn merge_zeros(bits: u64, kind: ScalarKind) -> u64 {
    match kind {
        ScalarKind::Float(format) if bits == format.sign_bit() => 0,
        _ => bits,
    }
}

/// A reduction or scan among the lanes of each cluster.
fn reduce_values(
    point: &ExchangePoint,
    operator: ReductionOperator,
    lanes: &ResumedLanes,
    mut values: Vec<Vec<u64>>,
) -> Vec<Vec<u64>> {
    let cluster = if point.operation == 3 && point.cluster > 0 {
        point.cluster as usize
    } else {
        usize::MAX
    };
    let cluster_of = |at: usize| (lanes.numbers[at] - lanes.first) / cluster;
    let combine = find_operation(operator, point.scalar);
    let mut start = 0;
    while start < values.len() {
        let same = (start..values.len()).take_while(|at| cluster_of(*at) == cluster_of(start));
        let end = start + same.count();
        for n in 0..point.count as usize {
            let mut total = find_identity(operator, point.scalar);
            for (number, value) in values[start..end].iter_mut().enumerate() {
                let own = value[n];
                let before = total;
                total = match (number == 0, combine) {
                    (false, Some(combine)) => combine.apply([total, own, 0, 0]),
                    _ => own,
                };
                match point.operation {
                    1 => value[n] = total,
                    2 => value[n] = before,
                    _ => {}
                }
            }
            if !matches!(point.operation, 1 | 2) {
                values[start..end]
                    .iter_mut()
                    .for_each(|value| value[n] = total);
            }
        }
        start = end;
    }
    values
}

impl BallotQuery {
    /// The answer for a lane. The operand is the number of a bit, or the group operation of a count.
    fn answer(self, mask: &[u64], lane: usize, operand: u64) -> u64 {
        // Bits beyond the lanes of a subgroup do not count.
        let mask = mask.first().copied().unwrap_or(0) & make_mask(SUBGROUP_SIZE as u32);
        let before = (1u64 << lane) - 1;
        match self {
            BallotQuery::Inverse => mask >> lane & 1,
            BallotQuery::Extract => mask >> (operand % 64) & 1,
            BallotQuery::FindLowest => mask.trailing_zeros().into(),
            BallotQuery::FindHighest => {
                u64::from(63u32.wrapping_sub(mask.leading_zeros())) & 0xffff_ffff
            }
            BallotQuery::Count => {
                let counted = match operand {
                    1 => mask & (before << 1 | 1),
                    2 => mask & before,
                    _ => mask,
                };
                counted.count_ones().into()
            }
        }
    }
}

/// The operation that combines two values.
fn find_operation(operator: ReductionOperator, kind: ScalarKind) -> Option<ScalarOperation> {
    let is_bool = kind == ScalarKind::Bool;
    let core = |op: Op| ScalarOperation::from_core(op, kind, &[kind, kind]);
    let named = |name: &str| {
        let row = ScalarExtSet::Glsl.find_named_function(name)?;
        ScalarOperation::from_extended(row, kind)
    };
    match operator {
        ReductionOperator::IAdd => core(Op::IAdd),
        ReductionOperator::FAdd => core(Op::FAdd),
        ReductionOperator::IMul => core(Op::IMul),
        ReductionOperator::FMul => core(Op::FMul),
        ReductionOperator::And if is_bool => core(Op::LogicalAnd),
        ReductionOperator::And => core(Op::BitwiseAnd),
        ReductionOperator::Or if is_bool => core(Op::LogicalOr),
        ReductionOperator::Or => core(Op::BitwiseOr),
        ReductionOperator::Xor if is_bool => core(Op::LogicalNotEqual),
        ReductionOperator::Xor => core(Op::BitwiseXor),
        ReductionOperator::SMin => named("SMin"),
        ReductionOperator::UMin => named("UMin"),
        ReductionOperator::FMin => named("FMin"),
        ReductionOperator::SMax => named("SMax"),
        ReductionOperator::UMax => named("UMax"),
        ReductionOperator::FMax => named("FMax"),
    }
}

/// The value that changes none that it is combined with.
fn find_identity(operator: ReductionOperator, kind: ScalarKind) -> u64 {
    let ones = make_mask(kind.bits());
    let sign = 1u64 << (kind.bits() - 1);
    let format = match kind {
        ScalarKind::Float(format) => format,
        _ => FloatEncoding::F64,
    };
    match operator {
        ReductionOperator::IAdd
        | ReductionOperator::Or
        | ReductionOperator::Xor
        | ReductionOperator::UMax
        | ReductionOperator::FAdd => 0,
        ReductionOperator::IMul => 1,
        ReductionOperator::FMul => format.infinity() >> 1 & !((1 << format.fraction_bits()) - 1),
        ReductionOperator::And | ReductionOperator::UMin => ones,
        ReductionOperator::SMin => ones ^ sign,
        ReductionOperator::SMax => sign,
        ReductionOperator::FMin => format.infinity(),
        ReductionOperator::FMax => format.infinity() | format.sign_bit(),
    }
}

/// Each lane gets the value of another one; that of a lane which is not there is its own.
fn shuffle_values(
    point: &ExchangePoint,
    lanes: &ResumedLanes,
    values: &[Vec<u64>],
    operands: &[usize],
) -> Vec<Vec<u64>> {
    let numbers = lanes.numbers.iter().enumerate();
    numbers
        .map(|(at, lane)| {
            let own = lane - lanes.first;
            let operand = operands[at];
            let other = match point.kind {
                ExchangeKind::BroadcastFirst => lanes.numbers.first().map(|n| n - lanes.first),
                ExchangeKind::ShuffleXor => Some(own ^ operand),
                ExchangeKind::ShuffleUp => own.checked_sub(operand),
                ExchangeKind::ShuffleDown => own.checked_add(operand),
                ExchangeKind::QuadBroadcast => Some(own & !3 | operand & 3),
                ExchangeKind::QuadSwap => Some(own ^ operand.saturating_add(1).min(3)),
                ExchangeKind::Rotate => {
                    let cluster = match point.cluster {
                        0 => lanes.size,
                        cluster => cluster as usize,
                    };
                    Some(own / cluster * cluster + (own % cluster + operand % cluster) % cluster)
                }
                _ => Some(operand),
            };
            let from = other.and_then(|other| {
                let number = other.checked_add(lanes.first)?;
                lanes.numbers.binary_search(&number).ok()
            });
            values[from.unwrap_or(at)].clone()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirula_scalar::int::sign_extend;

    #[test]
    fn identities_change_nothing() {
        let int = ScalarKind::Int(32);
        let float = ScalarKind::Float(FloatEncoding::F32);
        for operator in [
            ReductionOperator::IAdd,
            ReductionOperator::IMul,
            ReductionOperator::SMin,
            ReductionOperator::SMax,
            ReductionOperator::UMin,
            ReductionOperator::UMax,
            ReductionOperator::And,
            ReductionOperator::Or,
            ReductionOperator::Xor,
        ] {
            let combine = find_operation(operator, int).unwrap();
            let identity = find_identity(operator, int);
            assert_eq!(
                combine.apply([identity, 0x8000_0005, 0, 0]),
                0x8000_0005,
                "{operator:?}"
            );
        }
        assert_eq!(
            sign_extend(find_identity(ReductionOperator::SMin, int), 32),
            i64::from(i32::MAX)
        );
        for operator in [
            ReductionOperator::FAdd,
            ReductionOperator::FMul,
            ReductionOperator::FMin,
            ReductionOperator::FMax,
        ] {
            let combine = find_operation(operator, float).unwrap();
            let value = u64::from(2.5f32.to_bits());
            assert_eq!(
                combine.apply([find_identity(operator, float), value, 0, 0]),
                value,
                "{operator:?}"
            );
        }
    }
}

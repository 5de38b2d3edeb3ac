//! Registers that steps read and write.

use crate::exchange::ExchangeKind;
use crate::step::{CONSTANT, CodeStep, KernelCode, SecondResult, Slot, TableRange};

/// Consecutive registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RegisterRow {
    pub first: Slot,
    pub count: u32,
}

impl RegisterRow {
    /// The registers one by one; none of constants.
    pub(super) fn list(self) -> impl Iterator<Item = Slot> {
        let is_constant = self.first & CONSTANT != 0;
        let count = if is_constant { 0 } else { self.count };
        self.first..self.first + count
    }
}

fn row(first: Slot, count: u32) -> RegisterRow {
    RegisterRow { first, count }
}

/// Registers and constants that a step reads. Edges and the steps of calls and ends are listed where they are emitted.
pub(super) fn list_reads(code: &KernelCode, step: &CodeStep) -> Vec<RegisterRow> {
    let single = |slot: Slot| row(slot, 1);
    let cells = |range: &TableRange| range.count;
    match step {
        CodeStep::Apply {
            operands,
            strides,
            count,
            ..
        } => {
            let pairs = operands.iter().zip(strides);
            pairs
                .map(|(slot, stride)| row(*slot, if *stride == 0 { 1 } else { *count }))
                .collect()
        }
        CodeStep::Copy { from, count, .. } => vec![row(*from, *count)],
        CodeStep::Load { address, .. } | CodeStep::ArrayLength { address, .. } => {
            vec![single(*address)]
        }
        CodeStep::Store {
            address,
            from,
            cells: range,
        } => vec![single(*address), row(*from, cells(range))],
        CodeStep::CopyMemory { to, from, bytes } => {
            vec![single(*to), single(*from), single(*bytes)]
        }
        CodeStep::Address { base, terms, .. } => {
            let terms = code.terms[terms.indices()].iter();
            let mut reads = vec![single(*base)];
            reads.extend(terms.map(|term| single(term.slot)));
            reads
        }
        CodeStep::Atomic(atomic) => vec![
            single(atomic.address),
            single(atomic.operand),
            single(atomic.comparand),
        ],
        CodeStep::ProductSum(sum) => (0..sum.count)
            .flat_map(|n| [single(sum.a + n * sum.a_stride), single(sum.b + n)])
            .collect(),
        CodeStep::SecondResult(step) => {
            let mut reads = vec![single(step.a), single(step.b)];
            if let SecondResult::Memory(address, ..) = step.second {
                reads.push(single(address));
            }
            reads
        }
        CodeStep::HalfAccess(access) => {
            let mut reads = vec![single(access.address)];
            if !access.is_load {
                reads.push(row(access.value, access.count));
            }
            reads
        }
        CodeStep::Geometry(step) => {
            let pairs = step.operands.iter().zip(step.counts);
            pairs.map(|(slot, count)| row(*slot, count)).collect()
        }
        CodeStep::PickComponent {
            vector,
            count,
            index,
            ..
        } => vec![row(*vector, *count), single(*index)],
        CodeStep::PutComponent {
            to,
            value,
            count,
            index,
        } => vec![row(*to, *count), single(*value), single(*index)],
        _ => list_control_reads(code, step),
    }
}

/// Registers and constants that a step reads which decides what follows.
fn list_control_reads(code: &KernelCode, step: &CodeStep) -> Vec<RegisterRow> {
    let single = |slot: Slot| row(slot, 1);
    match step {
        CodeStep::Branch { condition, .. } => vec![single(*condition)],
        CodeStep::Switch { selector, .. } => vec![single(*selector)],
        CodeStep::Call { arguments, .. } => {
            let moves = code.moves[arguments.indices()].iter();
            moves.map(|argument| single(argument.from)).collect()
        }
        CodeStep::Return { from, count } => vec![row(*from, *count)],
        CodeStep::Suspend(point) => {
            let point = &code.points[*point as usize];
            if point.kind == ExchangeKind::Barrier {
                return Vec::new();
            }
            vec![row(point.value, point.count), single(point.operand)]
        }
        _ => Vec::new(),
    }
}

/// Registers that a step writes. `results` is the number of scalars that a called function returns.
pub(super) fn list_writes(
    code: &KernelCode,
    step: &CodeStep,
    results: impl Fn(u32) -> u32,
) -> Vec<RegisterRow> {
    match step {
        CodeStep::Apply { to, count, .. }
        | CodeStep::Copy { to, count, .. }
        | CodeStep::PutComponent { to, count, .. } => vec![row(*to, *count)],
        CodeStep::Load { to, cells, .. } => vec![row(*to, cells.count)],
        CodeStep::Address { to, .. }
        | CodeStep::LocalAddress { to, .. }
        | CodeStep::ArrayLength { to, .. }
        | CodeStep::PickComponent { to, .. } => vec![row(*to, 1)],
        CodeStep::Atomic(atomic) if atomic.has_result() => vec![row(atomic.to, 1)],
        CodeStep::ProductSum(sum) => vec![row(sum.to, 1)],
        CodeStep::SecondResult(step) => {
            let mut writes = vec![row(step.to, 1)];
            if let SecondResult::Register(slot) = step.second {
                writes.push(row(slot, 1));
            }
            writes
        }
        CodeStep::HalfAccess(access) if access.is_load => vec![row(access.value, access.count)],
        CodeStep::Geometry(step) => vec![row(step.to, step.to_count)],
        CodeStep::Call { function, to, .. } => vec![row(*to, results(*function))],
        CodeStep::Suspend(point) => {
            let point = &code.points[*point as usize];
            vec![row(point.to, point.to_count)]
        }
        _ => Vec::new(),
    }
}

//! Classes of registers: the WebAssembly type of the local that holds each.
//!
//! A register has up to 64 bits of any meaning. It lies in a local of the type that most of the steps that read or write it
//! compute in, and is converted elsewhere. A register that may hold more than 32 bits is never in a 32-bit local.

use super::function_plan::FunctionPlan;
use super::step_registers::list_writes;
use crate::operation::{OperationName, ScalarOperation};
use crate::step::{AtomicAction, CONSTANT, CodeStep, KernelCode, SecondResult, Slot, TableRange};
use spirula_scalar::FloatEncoding;
use spirula_scalar::fold::FoldType;
use spirula_spirv::grammar::Op;
use wasm_encoder::{InstructionSink, ValType};

/// The type of a local or of a value on the stack. Narrow values are zero-extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueClass {
    I32,
    I64,
    F32,
    F64,
}

use ValueClass as C;

impl ValueClass {
    /// All classes, in the order of their numbers.
    const ALL: [ValueClass; 4] = [C::I32, C::I64, C::F32, C::F64];

    /// The class that operations on a type compute in.
    pub(super) fn of_type(ty: FoldType) -> ValueClass {
        match ty {
            FoldType::Float(FloatEncoding::F32) => C::F32,
            FoldType::Float(FloatEncoding::F64) => C::F64,
            ty if ty.width() > 32 => C::I64,
            _ => C::I32,
        }
    }

    /// The type in WebAssembly.
    pub(super) fn to_type(self) -> ValType {
        match self {
            C::I32 => ValType::I32,
            C::I64 => ValType::I64,
            C::F32 => ValType::F32,
            C::F64 => ValType::F64,
        }
    }

    /// Converts the value on the stack, whose bits are kept; of more than 32 bits the lowest.
    pub(super) fn convert(self, to: ValueClass, sink: &mut InstructionSink<'_>) {
        match (self, to) {
            (C::F32, C::I32) => sink.i32_reinterpret_f32(),
            (C::I32, C::F32) => sink.f32_reinterpret_i32(),
            (C::F64, C::I64) => sink.i64_reinterpret_f64(),
            (C::I64, C::F64) => sink.f64_reinterpret_i64(),
            (C::I32, C::I64) => sink.i64_extend_i32_u(),
            (C::I64, C::I32) => sink.i32_wrap_i64(),
            (C::F32, C::I64) => sink.i32_reinterpret_f32().i64_extend_i32_u(),
            (C::I64, C::F32) => sink.i32_wrap_i64().f32_reinterpret_i32(),
            (C::F64, C::I32) => sink.i64_reinterpret_f64().i32_wrap_i64(),
            (C::I32, C::F64) => sink.i64_extend_i32_u().f64_reinterpret_i64(),
            (C::F32, C::F64) => sink
                .i32_reinterpret_f32()
                .i64_extend_i32_u()
                .f64_reinterpret_i64(),
            (C::F64, C::F32) => sink
                .i64_reinterpret_f64()
                .i32_wrap_i64()
                .f32_reinterpret_i32(),
            _ => sink,
        };
    }

    /// Whether a value has up to 64 bits.
    fn is_wide(self) -> bool {
        matches!(self, C::I64 | C::F64)
    }
}

/// Votes for the class of a register.
#[derive(Clone, Copy, Debug, Default)]
struct ClassVotes {
    counts: [u32; 4],
    /// Whether it may have more than 32 bits.
    is_wide: bool,
}

impl ClassVotes {
    /// The class with the most votes; none without votes.
    fn choose(&self) -> Option<ValueClass> {
        let classes = ValueClass::ALL.iter().zip(self.counts);
        let (class, votes) = classes.max_by_key(|(_, votes)| *votes)?;
        let class = match *class {
            C::I32 | C::F32 if self.is_wide => C::I64,
            class => class,
        };
        (votes > 0).then_some(class)
    }
}

/// Gathers the votes of the steps of a function.
struct VoteCollector<'k> {
    code: &'k KernelCode,
    plans: &'k [FunctionPlan],
    votes: Vec<ClassVotes>,
    /// Copies, from the first to the second.
    links: Vec<(Slot, Slot)>,
}

/// The class of each register of a function.
pub(super) fn choose_classes(
    code: &KernelCode,
    plans: &[FunctionPlan],
    plan: &FunctionPlan,
) -> Vec<ValueClass> {
    let registers = code.functions[plan.number as usize].registers as usize;
    let mut collector = VoteCollector {
        code,
        plans,
        votes: vec![ClassVotes::default(); registers],
        links: Vec::new(),
    };
    for parameter in 0..plan.parameters {
        collector.widen(parameter);
    }
    for step in &code.steps[plan.steps.clone()] {
        collector.visit_step(step);
    }
    for edge in plan.list_edges(code) {
        collector.link_moves(code.edges[edge as usize].moves);
    }
    collector.finish()
}

impl VoteCollector<'_> {
    fn vote(&mut self, slot: Slot, class: ValueClass) {
        if slot & CONSTANT == 0 {
            self.votes[slot as usize].counts[class as usize] += 1;
        }
    }

    fn widen(&mut self, slot: Slot) {
        self.votes[slot as usize].is_wide = true;
    }

    /// A result of a class.
    fn define(&mut self, slot: Slot, class: ValueClass) {
        self.vote(slot, class);
        self.votes[slot as usize].is_wide |= class.is_wide();
    }

    fn link(&mut self, from: Slot, to: Slot) {
        if from & CONSTANT == 0 {
            self.links.push((from, to));
        } else if self.code.constants[(from & !CONSTANT) as usize] > u64::from(u32::MAX) {
            self.widen(to);
        }
    }

    fn link_moves(&mut self, moves: TableRange) {
        for step in &self.code.moves[moves.indices()] {
            self.link(step.from, step.to);
        }
    }

    fn visit_step(&mut self, step: &CodeStep) {
        match step {
            CodeStep::Apply {
                operation,
                to,
                operands,
                strides,
                count,
            } => {
                for n in 0..*count {
                    let own: [Slot; 4] =
                        std::array::from_fn(|at| operands[at] + n * Slot::from(strides[at]));
                    self.visit_operation(operation, to + n, own);
                }
            }
            CodeStep::Copy { to, from, count } => {
                (0..*count).for_each(|n| self.link(from + n, to + n));
            }
            CodeStep::Load { to, cells, .. } => {
                for (n, cell) in self.code.cells[cells.indices()].iter().enumerate() {
                    if cell.bytes > 4 {
                        self.widen(to + n as Slot);
                    }
                }
            }
            CodeStep::Address {
                to, base, terms, ..
            } => {
                self.define(*to, C::I64);
                self.vote(*base, C::I64);
                for term in &self.code.terms[terms.indices()] {
                    let is_wide = term.width > 32;
                    self.vote(term.slot, if is_wide { C::I64 } else { C::I32 });
                }
            }
            CodeStep::LocalAddress { to, .. } => self.define(*to, C::I64),
            CodeStep::ArrayLength { to, .. } => self.define(*to, C::I32),
            CodeStep::Branch { condition, .. } => self.vote(*condition, C::I32),
            CodeStep::Atomic(atomic) if atomic.has_result() => {
                if atomic.bytes > 4 {
                    self.widen(atomic.to);
                }
                if let AtomicAction::Apply(operation) = atomic.action {
                    self.vote(atomic.to, ValueClass::of_type(operation.result));
                }
            }
            CodeStep::ProductSum(sum) => {
                let class = ValueClass::of_type(FoldType::Float(sum.format));
                self.define(sum.to, class);
                for n in 0..sum.count {
                    self.vote(sum.a + n * sum.a_stride, class);
                    self.vote(sum.b + n, class);
                }
            }
            CodeStep::SecondResult(step) => {
                let class = ValueClass::of_type(FoldType::Float(step.format));
                self.define(step.to, class);
                if let SecondResult::Register(slot) = step.second {
                    self.define(slot, if step.is_second_real { class } else { C::I32 });
                }
            }
            CodeStep::HalfAccess(access) if access.is_load => {
                let class = ValueClass::of_type(FoldType::Float(access.format));
                (0..access.count).for_each(|n| self.define(access.value + n, class));
            }
            CodeStep::Geometry(step) => {
                let class = ValueClass::of_type(FoldType::Float(step.format));
                (0..step.to_count).for_each(|n| self.define(step.to + n, class));
            }
            CodeStep::PickComponent {
                to, vector, count, ..
            } => (0..*count).for_each(|n| self.link(vector + n, *to)),
            CodeStep::PutComponent {
                to, value, count, ..
            } => (0..*count).for_each(|n| self.link(*value, to + n)),
            // Results of calls and exchanges pass as 64 bits.
            CodeStep::Call { .. } | CodeStep::Suspend(_) => self.widen_writes(step),
            _ => {}
        }
    }

    fn widen_writes(&mut self, step: &CodeStep) {
        let plans = self.plans;
        let rows = list_writes(self.code, step, |called| plans[called as usize].results);
        rows.into_iter()
            .flat_map(|row| row.list())
            .for_each(|slot| self.widen(slot));
    }

    fn visit_operation(&mut self, operation: &ScalarOperation, to: Slot, operands: [Slot; 4]) {
        let [a, b, c, _] = operands;
        if operation.name == OperationName::Core(Op::Select) {
            self.vote(a, C::I32);
            self.link(b, to);
            self.link(c, to);
            return;
        }
        let class = ValueClass::of_type(operation.operand);
        self.define(to, ValueClass::of_type(operation.result));
        self.vote(a, class);
        if b != a && ValueClass::of_type(operation.result) == class {
            self.vote(b, class);
        }
    }

    fn finish(mut self) -> Vec<ValueClass> {
        let mut is_changed = true;
        while is_changed {
            is_changed = false;
            for (from, to) in &self.links {
                let is_wide = self.votes[*from as usize].is_wide;
                let target = &mut self.votes[*to as usize];
                is_changed |= is_wide && !target.is_wide;
                target.is_wide |= is_wide;
            }
        }
        let mut classes: Vec<Option<ValueClass>> =
            self.votes.iter().map(ClassVotes::choose).collect();
        // Registers without votes take the class of one that they are copied to or from.
        let mut is_changed = true;
        while is_changed {
            is_changed = false;
            for (from, to) in &self.links {
                for (known, open) in [(*from, *to), (*to, *from)] {
                    let (known, open) = (known as usize, open as usize);
                    let Some(class) = classes[known].filter(|_| classes[open].is_none()) else {
                        continue;
                    };
                    let fits = class.is_wide() || !self.votes[open].is_wide;
                    classes[open] = Some(if fits { class } else { C::I64 });
                    is_changed = true;
                }
            }
        }
        let pairs = classes.into_iter().zip(&self.votes);
        pairs
            .map(|(class, votes)| class.unwrap_or(if votes.is_wide { C::I64 } else { C::I32 }))
            .collect()
    }
}

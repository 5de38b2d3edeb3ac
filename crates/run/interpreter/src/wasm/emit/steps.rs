//! Emission of steps, one function for each kind.

use super::{FunctionEmitter, StepOperand, byte_offset};
use crate::memory::MemoryRegion;
use crate::step::{
    AtomicAction, AtomicStep, CONSTANT, CodeStep, HalfAccess, SecondResult, SecondResultStep, Slot,
    TableRange,
};
use crate::wasm::block_graph::StepBlock;
use crate::wasm::host::HostedOperation;
use crate::wasm::module_writer::{FAULT_UNREACHABLE, HELPER_FAULT};
use crate::wasm::value_class::ValueClass;
use spirula_diagnostics::SourceDiagnostic;

/// Most components that an index in a register chooses from.
const MOST_CHOICES: u32 = 1024;

impl FunctionEmitter<'_, '_> {
    /// Emits the steps of a block, but for the one that decides between ways.
    ///
    /// # Errors
    /// When a step is not possible in WebAssembly.
    pub(super) fn emit_steps(&mut self, block: &StepBlock) -> Result<(), SourceDiagnostic> {
        for at in block.steps.clone() {
            let step = &self.kernel.code.steps[at];
            match step {
                CodeStep::Jump(_) | CodeStep::Branch { .. } | CodeStep::Switch { .. } => {}
                CodeStep::Return { from, count } => self.emit_return(*from, *count),
                CodeStep::End => self.emit_end(),
                CodeStep::Suspend(point) => {
                    let resume = self.find_resume_number(at + 1);
                    self.emit_suspend(*point, resume.unwrap_or(0));
                }
                CodeStep::Call {
                    function,
                    arguments,
                    to,
                } => {
                    let resume = self.find_resume_number(at);
                    let called = &self.emission.plan.functions[*function as usize];
                    let resume = resume.filter(|_| called.may_suspend && self.is_resumed());
                    self.emit_call(*function, *arguments, *to, resume);
                }
                _ => self.emit_step(at, step)?,
            }
        }
        Ok(())
    }

    /// The number in the dispatcher of the block that begins with a step.
    fn find_resume_number(&self, step: usize) -> Option<u32> {
        let blocks = &self.graph.blocks;
        let block = blocks.iter().position(|block| block.steps.start == step)?;
        let mut dispatched = self.graph.dispatched.iter();
        // The entry is the first, and an invocation that begins has the number 0.
        let number = dispatched.position(|other| *other == block);
        number.map(|number| number as u32)
    }

    fn emit_step(&mut self, at: usize, step: &CodeStep) -> Result<(), SourceDiagnostic> {
        let place = at as u32;
        match step {
            CodeStep::Apply {
                operation,
                to,
                operands,
                strides,
                count,
            } => {
                for n in 0..*count {
                    let own: [StepOperand; 4] = std::array::from_fn(|at| {
                        StepOperand::Slot(operands[at] + n * Slot::from(strides[at]))
                    });
                    let wanted = self.classes[(to + n) as usize];
                    let class = self.emit_operation(operation, own, wanted);
                    self.pop_to(to + n, class);
                }
            }
            CodeStep::Copy { to, from, count } => {
                (0..*count).for_each(|n| self.copy_slot(to + n, from + n));
            }
            CodeStep::Load { to, address, cells } => self.emit_load(place, *to, *address, *cells),
            CodeStep::Store {
                address,
                from,
                cells,
            } => self.emit_store(place, *address, *from, *cells),
            CodeStep::CopyMemory { to, from, bytes } => {
                self.emit_memory_copy(place, [*to, *from, *bytes]);
            }
            CodeStep::Address {
                to,
                base,
                offset,
                terms,
            } => self.emit_address(*to, *base, *offset, *terms),
            CodeStep::LocalAddress { to, offset } => {
                let address = MemoryRegion::PRIVATE.address(self.plan.frame + offset);
                self.push_constant(address, ValueClass::I64);
                self.pop_to(*to, ValueClass::I64);
            }
            CodeStep::ArrayLength {
                to,
                address,
                offset,
                stride,
            } => self.emit_array_length(place, *to, *address, [*offset, *stride]),
            CodeStep::Atomic(atomic) => self.emit_atomic(place, atomic),
            CodeStep::ProductSum(sum) => self.emit_product_sum(sum),
            CodeStep::SecondResult(step) => self.emit_second_result(place, step),
            CodeStep::HalfAccess(access) => self.emit_half_access(place, access),
            CodeStep::Geometry(step) => self.emit_geometry(step),
            CodeStep::PickComponent {
                to,
                vector,
                count,
                index,
            } => {
                self.check_choices(at, *count)?;
                self.emit_pick(*to, *vector, *count, *index);
            }
            CodeStep::PutComponent {
                to,
                value,
                count,
                index,
            } => {
                self.check_choices(at, *count)?;
                self.emit_put(*to, *value, *count, *index);
            }
            _ => self.emit_unreachable(place),
        }
        Ok(())
    }

    /// Code that must not be reached.
    fn emit_unreachable(&mut self, place: u32) {
        self.sink()
            .i32_const(FAULT_UNREACHABLE)
            .i32_const(place as i32)
            .i64_const(0)
            .i64_const(0)
            .call(HELPER_FAULT)
            .unreachable();
    }

    fn check_choices(&self, at: usize, count: u32) -> Result<(), SourceDiagnostic> {
        if count <= MOST_CHOICES {
            return Ok(());
        }
        let place = self.kernel.code.places.get(at).copied();
        let message = "WebAssembly code does not choose from so many components";
        Err(SourceDiagnostic::error(place.unwrap_or_default(), message))
    }

    fn emit_address(&mut self, to: Slot, base: Slot, offset: u64, terms: TableRange) {
        self.push_slot(base, ValueClass::I64);
        if offset != 0 {
            self.push_constant(offset, ValueClass::I64);
            self.sink().i64_add();
        }
        for term in &self.kernel.code.terms[terms.indices()] {
            if term.slot & CONSTANT == 0 && term.width <= 32 {
                self.push_slot(term.slot, ValueClass::I32);
                let mut sink = self.sink();
                match term.width {
                    32 => sink.i64_extend_i32_s(),
                    width => {
                        let unused = 32 - width as i32;
                        sink.i32_const(unused)
                            .i32_shl()
                            .i32_const(unused)
                            .i32_shr_s()
                            .i64_extend_i32_s()
                    }
                };
            } else {
                self.push_slot(term.slot, ValueClass::I64);
                let unused = 64 - i64::from(term.width.min(64));
                if unused > 0 {
                    self.sink()
                        .i64_const(unused)
                        .i64_shl()
                        .i64_const(unused)
                        .i64_shr_s();
                }
            }
            if term.stride != 1 {
                self.push_constant(term.stride, ValueClass::I64);
                self.sink().i64_mul();
            }
            self.sink().i64_add();
        }
        self.pop_to(to, ValueClass::I64);
    }

    fn emit_atomic(&mut self, place: u32, atomic: &AtomicStep) {
        let pointer = self.emit_access(place, atomic.address, 0, atomic.bytes.into());
        let class = match atomic.action {
            AtomicAction::Apply(operation) => ValueClass::of_type(operation.result),
            _ if atomic.bytes > 4 => ValueClass::I64,
            _ => ValueClass::I32,
        };
        let (old, new) = (self.temporary(class, 0), self.temporary(class, 1));
        self.load_cell(pointer, atomic.bytes, class);
        self.sink().local_set(old);
        match atomic.action {
            AtomicAction::Load => {}
            AtomicAction::Store | AtomicAction::Exchange => {
                self.push_slot(atomic.operand, class);
                self.sink().local_set(new);
            }
            AtomicAction::CompareExchange => {
                self.push_slot(atomic.operand, class);
                self.sink().local_get(old);
                self.push_slot(atomic.comparand, ValueClass::I64);
                let mut sink = self.sink();
                sink.local_get(old);
                class.convert(ValueClass::I64, &mut sink);
                sink.i64_eq().select().local_set(new);
            }
            AtomicAction::Apply(operation) => {
                let operand = StepOperand::Slot(atomic.operand);
                let operands = [StepOperand::Local(old, class), operand, operand, operand];
                let made = self.emit_operation(&operation, operands, class);
                let mut sink = self.sink();
                made.convert(class, &mut sink);
                sink.local_set(new);
            }
            AtomicAction::TestAndSet | AtomicAction::Clear => {
                let is_set = matches!(atomic.action, AtomicAction::TestAndSet);
                self.push_constant(is_set.into(), class);
                self.sink().local_set(new);
            }
        }
        if !matches!(atomic.action, AtomicAction::Load) {
            self.store_cell(pointer, atomic.bytes, StepOperand::Local(new, class));
        }
        if !atomic.has_result() {
            return;
        }
        self.push(StepOperand::Local(old, class), class);
        if matches!(atomic.action, AtomicAction::TestAndSet) {
            let mut sink = self.sink();
            class.convert(ValueClass::I64, &mut sink);
            sink.i64_const(0).i64_ne();
            self.pop_to(atomic.to, ValueClass::I32);
        } else {
            self.pop_to(atomic.to, class);
        }
    }

    fn emit_second_result(&mut self, place: u32, step: &SecondResultStep) {
        let operands = [StepOperand::Slot(step.a), StepOperand::Slot(step.b)];
        // Both are computed before one is set, as it may be an operand.
        let second = self.temporary(ValueClass::I64, 0);
        self.call_host(HostedOperation::Second(*step), &operands);
        self.sink().local_set(second);
        let made = self.call_host(HostedOperation::First(*step), &operands);
        self.pop_to(step.to, made);
        match step.second {
            SecondResult::Register(slot) => {
                self.sink().local_get(second);
                self.pop_to(slot, ValueClass::I64);
            }
            SecondResult::Memory(address, offset, bytes) => {
                let pointer = self.emit_access(place, address, offset, bytes.into());
                self.store_cell(pointer, bytes, StepOperand::Local(second, ValueClass::I64));
            }
        }
    }

    fn emit_half_access(&mut self, place: u32, access: &HalfAccess) {
        let half = self.temporary(ValueClass::I64, 0);
        let base = self.emit_access(place, access.address, 0, 2 * u64::from(access.count));
        // The host may be called between, which changes no local.
        for n in 0..access.count {
            let pointer = base.add(2 * u64::from(n));
            if access.is_load {
                self.load_cell(pointer, 2, ValueClass::I64);
                self.sink().local_set(half);
                let operands = [StepOperand::Local(half, ValueClass::I64)];
                let made = self.call_host(HostedOperation::FromHalf(access.format), &operands);
                self.pop_to(access.value + n, made);
            } else {
                let operation = HostedOperation::ToHalf(access.format, access.rounding);
                let operands = [StepOperand::Slot(access.value + n)];
                self.call_host(operation, &operands);
                self.sink().local_set(half);
                self.store_cell(pointer, 2, StepOperand::Local(half, ValueClass::I64));
            }
        }
    }

    /// Pushes whether an index is that of a component; the last stands for all after it.
    fn push_is_chosen(&mut self, index: Slot, n: u32, count: u32) {
        self.push_slot(index, ValueClass::I64);
        self.push_constant(n.into(), ValueClass::I64);
        if n + 1 == count {
            self.sink().i64_ge_u();
        } else {
            self.sink().i64_eq();
        }
    }

    fn emit_pick(&mut self, to: Slot, vector: Slot, count: u32, index: Slot) {
        let class = self.classes[to as usize];
        self.push_slot(vector, class);
        for n in 1..count {
            // The value so far is the second choice.
            let chosen = self.temporary(class, 0);
            self.sink().local_set(chosen);
            self.push_slot(vector + n, class);
            self.sink().local_get(chosen);
            self.push_is_chosen(index, n, count);
            self.sink().select();
        }
        self.pop_to(to, class);
    }

    fn emit_put(&mut self, to: Slot, value: Slot, count: u32, index: Slot) {
        for n in 0..count {
            let class = self.classes[(to + n) as usize];
            self.push_slot(value, class);
            self.push_slot(to + n, class);
            self.push_is_chosen(index, n, count);
            self.sink().select();
            self.pop_to(to + n, class);
        }
    }

    fn emit_array_length(
        &mut self,
        place: u32,
        to: Slot,
        address: Slot,
        [offset, stride]: [u64; 2],
    ) {
        let rest = self.emit_bytes_behind(place, address);
        let offset = offset as i64;
        self.sink()
            .local_get(rest)
            .i64_const(offset)
            .i64_sub()
            .i64_const(0)
            .local_get(rest)
            .i64_const(offset)
            .i64_ge_u()
            .select()
            .i64_const(stride.max(1) as i64)
            .i64_div_u()
            .i32_wrap_i64();
        self.pop_to(to, ValueClass::I32);
    }

    /// Loads a cell at a pointer in a class.
    pub(super) fn load_cell(
        &mut self,
        pointer: super::access::CellPointer,
        bytes: u8,
        class: ValueClass,
    ) {
        let place = byte_offset(pointer.offset);
        let mut sink = self.sink();
        sink.local_get(pointer.local);
        let loaded = match (bytes, class) {
            (4, ValueClass::F32) => {
                sink.f32_load(place);
                ValueClass::F32
            }
            (8, ValueClass::F64) => {
                sink.f64_load(place);
                ValueClass::F64
            }
            (1 | 2 | 4, ValueClass::I64) => {
                match bytes {
                    1 => sink.i64_load8_u(place),
                    2 => sink.i64_load16_u(place),
                    _ => sink.i64_load32_u(place),
                };
                ValueClass::I64
            }
            (1 | 2 | 4, _) => {
                match bytes {
                    1 => sink.i32_load8_u(place),
                    2 => sink.i32_load16_u(place),
                    _ => sink.i32_load(place),
                };
                ValueClass::I32
            }
            _ => {
                sink.i64_load(place);
                ValueClass::I64
            }
        };
        loaded.convert(class, &mut sink);
    }

    /// Stores the lowest bytes of an operand at a pointer.
    pub(super) fn store_cell(
        &mut self,
        pointer: super::access::CellPointer,
        bytes: u8,
        value: StepOperand,
    ) {
        let own = match value {
            StepOperand::Slot(slot) if slot & CONSTANT == 0 => self.classes[slot as usize],
            StepOperand::Slot(_) if bytes > 4 => ValueClass::I64,
            StepOperand::Slot(_) => ValueClass::I32,
            StepOperand::Local(_, class) => class,
        };
        let class = match (bytes, own) {
            (4, ValueClass::F32) | (8, ValueClass::F64) => own,
            (8, _) => ValueClass::I64,
            _ => ValueClass::I32,
        };
        self.sink().local_get(pointer.local);
        self.push(value, class);
        let place = byte_offset(pointer.offset);
        let mut sink = self.sink();
        match (bytes, class) {
            (_, ValueClass::F32) => sink.f32_store(place),
            (_, ValueClass::F64) => sink.f64_store(place),
            (_, ValueClass::I64) => sink.i64_store(place),
            (1, _) => sink.i32_store8(place),
            (2, _) => sink.i32_store16(place),
            _ => sink.i32_store(place),
        };
    }
}

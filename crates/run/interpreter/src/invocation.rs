//! One invocation: its registers and frames, and the steps that it runs.

use crate::facts::MemoryCell;
use crate::geometry::{compute_geometry, sum_products};
use crate::memory::{MemoryRegion, OFFSET_BITS, OutsideAccess, SharedMemory, VisibleMemory};
use crate::operation::{apply_with_second, narrow_number, narrow_to_half, widen_number};
use crate::step::{
    AtomicAction, AtomicStep, CONSTANT, CodeStep, HalfAccess, KernelCode, ProductSum, SecondResult,
    SecondResultStep, Slot, TableRange,
};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_scalar::int::sign_extend;
use spirula_scalar::{FloatEncoding, FloatRounding};

/// Most bytes of an invocation's variables, and most calls that have not returned.
const MOST_PRIVATE: u64 = 4 << 20;
const MOST_FRAMES: usize = 4096;

/// Most bytes that one copy moves.
const MOST_COPIED: u64 = 1 << 30;

/// The reason why an invocation stopped with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InvocationFault {
    /// An access outside of memory.
    Outside(OutsideAccess),
    /// Too many calls that have not returned, or too much memory of them.
    StackOverflow,
    /// The launch ran more steps than it may.
    TooManySteps,
    /// An instruction that must not be reached.
    Unreachable,
}

impl InvocationFault {
    /// The error of an invocation at a place.
    pub(crate) fn describe(self, place: SourceLocation, number: usize) -> SourceDiagnostic {
        let message = match self {
            InvocationFault::Outside(access) if access.address >> 32 == 0 => {
                "an access through a null pointer".to_owned()
            }
            InvocationFault::Outside(access) => format!(
                "an access to {} bytes outside of memory, at the offset {}",
                access.bytes,
                access.address & ((1 << OFFSET_BITS) - 1)
            ),
            InvocationFault::StackOverflow => "calls are nested too deeply".to_owned(),
            InvocationFault::TooManySteps => "the launch ran more steps than it may".to_owned(),
            InvocationFault::Unreachable => "unreachable code was reached".to_owned(),
        };
        let error = SourceDiagnostic::error(place, message);
        error.with_note(format!("invocation {number} of its workgroup"))
    }
}

impl From<OutsideAccess> for InvocationFault {
    fn from(access: OutsideAccess) -> InvocationFault {
        InvocationFault::Outside(access)
    }
}

/// The state of an invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InvocationState {
    Running,
    /// It waits at the point with this number.
    Waiting(u32),
    Ended,
}

/// A call that has not returned.
#[derive(Clone, Copy, Debug)]
struct CallFrame {
    function: u32,
    next: u32,
    base: usize,
    frame_base: u64,
    to: Slot,
}

/// An invocation.
#[derive(Debug)]
pub(crate) struct Invocation {
    pub(crate) state: InvocationState,
    /// The next step, or the one that failed.
    pub(crate) next: u32,
    pub(crate) private: Vec<u8>,
    registers: Vec<u64>,
    frames: Vec<CallFrame>,
    function: u32,
    /// The first register of the function.
    base: usize,
    /// The first byte of the function's variables.
    frame_base: u64,
}

impl Invocation {
    /// An invocation that has nothing to do.
    pub(crate) fn new() -> Invocation {
        Invocation {
            state: InvocationState::Ended,
            next: 0,
            private: Vec::new(),
            registers: Vec::new(),
            frames: Vec::new(),
            function: 0,
            base: 0,
            frame_base: 0,
        }
    }

    /// Begins a function with its first parameters, and the variables of the module as `private` has them.
    pub(crate) fn begin_function(
        &mut self,
        code: &KernelCode,
        function: u32,
        private: &[u8],
        parameters: &[u64],
    ) {
        let begun = &code.functions[function as usize];
        self.state = InvocationState::Running;
        self.next = begun.entry;
        self.function = function;
        self.base = 0;
        self.frames.clear();
        self.registers.clear();
        self.registers.resize(begun.registers as usize, 0);
        let count = parameters.len().min(self.registers.len());
        self.registers[..count].copy_from_slice(&parameters[..count]);
        self.frame_base = (private.len() as u64).next_multiple_of(16);
        self.private.clear();
        self.private.extend_from_slice(private);
        let end = self.frame_base + begun.frame_bytes;
        self.private.resize(end as usize, 0);
    }

    /// The bits of a register or constant.
    #[inline]
    pub(crate) fn read(&self, code: &KernelCode, slot: Slot) -> u64 {
        if slot & CONSTANT != 0 {
            code.constants[(slot & !CONSTANT) as usize]
        } else {
            self.registers[self.base + slot as usize]
        }
    }

    /// Sets a register.
    #[inline]
    pub(crate) fn write(&mut self, slot: Slot, bits: u64) {
        self.registers[self.base + slot as usize] = bits;
    }

    fn read_row(&self, code: &KernelCode, slot: Slot, count: u32) -> Vec<u64> {
        (0..count).map(|n| self.read(code, slot + n)).collect()
    }

    /// Runs steps until the invocation ends or waits. `budget` is the number of steps that it may run.
    ///
    /// # Errors
    /// The fault of the step at `next`.
    pub(crate) fn run_steps(
        &mut self,
        code: &KernelCode,
        shared: &mut SharedMemory<'_>,
        budget: &mut u64,
    ) -> Result<(), InvocationFault> {
        while self.state == InvocationState::Running {
            *budget = budget.checked_sub(1).ok_or(InvocationFault::TooManySteps)?;
            let step = &code.steps[self.next as usize];
            if let CodeStep::Apply {
                operation,
                to,
                operands,
                strides,
                count,
            } = step
            {
                for n in 0..*count {
                    let mut bits = [0; 4];
                    for at in 0..4 {
                        let slot = operands[at] + n * Slot::from(strides[at]);
                        bits[at] = self.read(code, slot);
                    }
                    self.write(to + n, operation.apply(bits));
                }
                self.next += 1;
            } else if !self.run_control(code, step)? {
                self.run_access(code, step, shared)?;
                self.next += 1;
            }
        }
        Ok(())
    }

    /// Runs a step that decides what follows. Returns whether it was one.
    fn run_control(&mut self, code: &KernelCode, step: &CodeStep) -> Result<bool, InvocationFault> {
        match step {
            CodeStep::Jump(edge) => self.take_edge(code, *edge),
            CodeStep::Branch { condition, edges } => {
                let is_false = self.read(code, *condition) & 1 == 0;
                self.take_edge(code, edges[usize::from(is_false)]);
            }
            CodeStep::Switch {
                selector,
                cases,
                default,
            } => {
                let value = self.read(code, *selector);
                let mut cases = code.cases[cases.indices()].iter();
                let case = cases.find(|case| case.literal == value);
                self.take_edge(code, case.map_or(*default, |case| case.edge));
            }
            CodeStep::Call {
                function,
                arguments,
                to,
            } => self.enter_function(code, *function, *arguments, *to)?,
            CodeStep::Return { from, count } => self.leave_function(code, *from, *count),
            CodeStep::End => self.state = InvocationState::Ended,
            CodeStep::Unreachable => return Err(InvocationFault::Unreachable),
            CodeStep::Suspend(point) => {
                self.state = InvocationState::Waiting(*point);
                self.next += 1;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn take_edge(&mut self, code: &KernelCode, edge: u32) {
        let edge = code.edges[edge as usize];
        for step in &code.moves[edge.moves.indices()] {
            let bits = self.read(code, step.from);
            self.write(step.to, bits);
        }
        self.next = edge.target;
    }

    fn enter_function(
        &mut self,
        code: &KernelCode,
        function: u32,
        arguments: TableRange,
        to: Slot,
    ) -> Result<(), InvocationFault> {
        let caller = &code.functions[self.function as usize];
        let called = &code.functions[function as usize];
        let base = self.base + caller.registers as usize;
        let frame_base = (self.frame_base + caller.frame_bytes).next_multiple_of(16);
        let end = frame_base + called.frame_bytes;
        if end > MOST_PRIVATE || self.frames.len() >= MOST_FRAMES {
            return Err(InvocationFault::StackOverflow);
        }
        self.registers.resize(base + called.registers as usize, 0);
        for argument in &code.moves[arguments.indices()] {
            let bits = self.read(code, argument.from);
            self.registers[base + argument.to as usize] = bits;
        }
        if self.private.len() < end as usize {
            self.private.resize(end as usize, 0);
        }
        self.frames.push(CallFrame {
            function: self.function,
            next: self.next + 1,
            base: self.base,
            frame_base: self.frame_base,
            to,
        });
        self.function = function;
        self.base = base;
        self.frame_base = frame_base;
        self.next = called.entry;
        Ok(())
    }

    fn leave_function(&mut self, code: &KernelCode, from: Slot, count: u32) {
        let Some(frame) = self.frames.pop() else {
            self.state = InvocationState::Ended;
            return;
        };
        let results = self.read_row(code, from, count);
        self.function = frame.function;
        self.base = frame.base;
        self.frame_base = frame.frame_base;
        self.next = frame.next;
        for (n, bits) in results.into_iter().enumerate() {
            self.write(frame.to + n as Slot, bits);
        }
    }

    /// Runs a step that the next one follows.
    fn run_access(
        &mut self,
        code: &KernelCode,
        step: &CodeStep,
        shared: &mut SharedMemory<'_>,
    ) -> Result<(), InvocationFault> {
        match step {
            CodeStep::Copy { to, from, count } => {
                for n in 0..*count {
                    let bits = self.read(code, from + n);
                    self.write(to + n, bits);
                }
            }
            CodeStep::Load { to, address, cells } => {
                let address = self.read(code, *address);
                for (n, cell) in code.cells[cells.indices()].iter().enumerate() {
                    let bits = self.memory(shared).read_cell(address, *cell)?;
                    self.write(to + n as Slot, bits);
                }
            }
            CodeStep::Store {
                address,
                from,
                cells,
            } => {
                let address = self.read(code, *address);
                for (n, cell) in code.cells[cells.indices()].iter().enumerate() {
                    let bits = self.read(code, from + n as Slot);
                    self.memory(shared).write_cell(address, *cell, bits)?;
                }
            }
            CodeStep::CopyMemory { to, from, bytes } => {
                let slots = [*to, *from, *bytes];
                let [to, from, bytes] = slots.map(|slot| self.read(code, slot));
                if bytes > MOST_COPIED {
                    let address = from;
                    return Err(OutsideAccess { address, bytes }.into());
                }
                self.memory(shared).copy_bytes(to, from, bytes)?;
            }
            CodeStep::Atomic(atomic) => self.run_atomic(code, atomic, shared)?,
            CodeStep::SecondResult(step) => self.run_second_result(code, step, shared)?,
            CodeStep::HalfAccess(access) => self.run_half_access(code, access, shared)?,
            CodeStep::ArrayLength {
                to,
                address,
                offset,
                stride,
            } => {
                let address = self.read(code, *address);
                let bytes = self.memory(shared).bytes_behind(address)?;
                let length = bytes.saturating_sub(*offset) / (*stride).max(1);
                self.write(*to, length & 0xffff_ffff);
            }
            _ => self.run_value(code, step),
        }
        Ok(())
    }

    fn memory<'a, 'b>(&'a mut self, shared: &'a mut SharedMemory<'b>) -> VisibleMemory<'a, 'b> {
        VisibleMemory {
            private: &mut self.private,
            shared,
        }
    }

    /// Runs a step that computes values alone.
    fn run_value(&mut self, code: &KernelCode, step: &CodeStep) {
        match step {
            CodeStep::Address {
                to,
                base,
                offset,
                terms,
            } => {
                let mut address = self.read(code, *base).wrapping_add(*offset);
                for term in &code.terms[terms.indices()] {
                    let index = sign_extend(self.read(code, term.slot), term.width) as u64;
                    address = address.wrapping_add(index.wrapping_mul(term.stride));
                }
                self.write(*to, address);
            }
            CodeStep::LocalAddress { to, offset } => {
                let address = MemoryRegion::PRIVATE.address(self.frame_base + offset);
                self.write(*to, address);
            }
            CodeStep::ProductSum(sum) => {
                let bits = self.sum_of_products(code, sum);
                self.write(sum.to, bits);
            }
            CodeStep::Geometry(step) => {
                let rows = [0, 1, 2].map(|n| self.read_row(code, step.operands[n], step.counts[n]));
                let results = compute_geometry(step, [&rows[0], &rows[1], &rows[2]]);
                for (n, bits) in results.into_iter().take(step.to_count as usize).enumerate() {
                    self.write(step.to + n as Slot, bits);
                }
            }
            CodeStep::PickComponent {
                to,
                vector,
                count,
                index,
            } => {
                let index = self.read(code, *index);
                let at = index.min(u64::from(*count) - 1) as Slot;
                let bits = self.read(code, vector + at);
                self.write(*to, bits);
            }
            CodeStep::PutComponent {
                to,
                value,
                count,
                index,
            } => {
                let index = self.read(code, *index);
                let at = index.min(u64::from(*count) - 1) as Slot;
                let bits = self.read(code, *value);
                self.write(to + at, bits);
            }
            _ => {}
        }
    }

    fn sum_of_products(&self, code: &KernelCode, sum: &ProductSum) -> u64 {
        let read_bits = |slot: Slot, stride: u32| -> Vec<u64> {
            let components = 0..sum.count;
            components
                .map(|n| self.read(code, slot + n * stride))
                .collect()
        };
        let (a, b) = (read_bits(sum.a, sum.a_stride), read_bits(sum.b, 1));
        if sum.format == FloatEncoding::F64 {
            let wide =
                |bits: &[u64]| -> Vec<f64> { bits.iter().map(|b| f64::from_bits(*b)).collect() };
            return sum_products(&wide(&a), &wide(&b)).to_bits();
        }
        let wide = |bits: &[u64]| -> Vec<f32> {
            let bits = bits.iter();
            bits.map(|bits| match sum.format {
                FloatEncoding::F32 => f32::from_bits(*bits as u32),
                format => widen_number(*bits, format),
            })
            .collect()
        };
        let total = sum_products(&wide(&a), &wide(&b));
        match sum.format {
            FloatEncoding::F32 => total.to_bits().into(),
            format => narrow_number(total, format),
        }
    }

    fn run_atomic(
        &mut self,
        code: &KernelCode,
        atomic: &AtomicStep,
        shared: &mut SharedMemory<'_>,
    ) -> Result<(), InvocationFault> {
        let address = self.read(code, atomic.address);
        let operand = self.read(code, atomic.operand);
        let cell = MemoryCell {
            offset: 0,
            bytes: atomic.bytes,
        };
        let old = self.memory(shared).read_cell(address, cell)?;
        let new = match atomic.action {
            AtomicAction::Load => None,
            AtomicAction::Store | AtomicAction::Exchange => Some(operand),
            AtomicAction::CompareExchange => {
                (old == self.read(code, atomic.comparand)).then_some(operand)
            }
            AtomicAction::Apply(operation) => Some(operation.apply([old, operand, 0, 0])),
            AtomicAction::TestAndSet => Some(1),
            AtomicAction::Clear => Some(0),
        };
        if let Some(new) = new {
            self.memory(shared).write_cell(address, cell, new)?;
        }
        match atomic.action {
            AtomicAction::Store | AtomicAction::Clear => {}
            AtomicAction::TestAndSet => self.write(atomic.to, u64::from(old != 0)),
            _ => self.write(atomic.to, old),
        }
        Ok(())
    }

    fn run_second_result(
        &mut self,
        code: &KernelCode,
        step: &SecondResultStep,
        shared: &mut SharedMemory<'_>,
    ) -> Result<(), InvocationFault> {
        let (a, b) = (self.read(code, step.a), self.read(code, step.b));
        let (value, second) = apply_second_result(step, a, b);
        self.write(step.to, value);
        match step.second {
            SecondResult::Register(slot) => self.write(slot, second),
            SecondResult::Memory(address, offset, bytes) => {
                let address = self.read(code, address);
                let cell = MemoryCell { offset, bytes };
                self.memory(shared).write_cell(address, cell, second)?;
            }
        }
        Ok(())
    }

    fn run_half_access(
        &mut self,
        code: &KernelCode,
        access: &HalfAccess,
        shared: &mut SharedMemory<'_>,
    ) -> Result<(), InvocationFault> {
        let address = self.read(code, access.address);
        for n in 0..access.count {
            let cell = MemoryCell {
                offset: u64::from(n) * 2,
                bytes: 2,
            };
            if access.is_load {
                let bits = self.memory(shared).read_cell(address, cell)?;
                let value = spirula_scalar::convert::float_to_float(
                    bits,
                    FloatEncoding::F16,
                    access.format,
                    FloatRounding::NearestEven,
                );
                self.write(access.value + n, value);
            } else {
                let bits = self.read(code, access.value + n);
                let half = narrow_to_half(bits, access.format, access.rounding);
                self.memory(shared).write_cell(address, cell, half)?;
            }
        }
        Ok(())
    }
}

/// The two results of a function that has a second one.
pub(crate) fn apply_second_result(step: &SecondResultStep, a: u64, b: u64) -> (u64, u64) {
    match step.format {
        FloatEncoding::F64 => apply_with_second(step.double, a, b),
        FloatEncoding::F32 => apply_with_second(step.single, a, b),
        format => {
            let widen = |bits: u64| u64::from(widen_number(bits, format).to_bits());
            let narrow = |bits: u64| narrow_number(f32::from_bits(bits as u32), format);
            let (value, second) = apply_with_second(step.single, widen(a), widen(b));
            let second = if step.is_second_real {
                narrow(second)
            } else {
                second
            };
            (narrow(value), second)
        }
    }
}

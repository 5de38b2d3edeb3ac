//! Sessions: a program's host steps run on a machine.

mod call;
mod failure;
mod foreign_call;
mod frame;
mod launch;
mod resident;
mod suspended;

pub use call::{CallValue, CompletedCall, PreparedCall};
pub use foreign_call::{CallProgress, ForeignResult, PausedCall};
pub use suspended::SuspendedSession;

use crate::copy_call;
use crate::heap::{MachineResult, ProgramHeap};
use crate::program::{
    CompiledProgram, GLOBAL, HostMemoryRef, HostRegister, HostSlot, HostStep, StridedCopy,
};
use crate::{
    ByteRegion, ForeignFunctionTable, KernelMachine, OwnedOrLent, ProgramError, ScalarOperator,
    ScalarType,
};
use frame::{FrameStack, HostFrame, StackProgress};
use launch::LaunchData;
use smallvec::SmallVec;

/// Deepest nesting of calls. Programs that recurse have a smaller limit of their own, with a better message.
const DEPTH: usize = 20_000;

/// A program that has been initialised on a machine.
pub struct ProgramSession<'p, M: KernelMachine> {
    program: &'p CompiledProgram,
    /// Number of the program on its heap.
    number: usize,
    blocks: OwnedOrLent<'p, ProgramHeap<M>>,
    /// Data of a launch, reused by the next one.
    data: LaunchData<M::Block>,
    /// Values of the tuning parameters.
    parameters: Vec<u64>,
    /// Values of the limits.
    limits: Vec<u64>,
    /// Scalars that all functions share.
    scalars: Vec<u64>,
    /// References to memory that all functions share.
    memories: Vec<Option<usize>>,
    /// Frames of functions that have ended, for reuse.
    spare: Vec<HostFrame>,
    /// The block for failures.
    failures: Option<usize>,
    /// Whether a launch since the last check may have failed.
    may_have_failed: bool,
    /// Whether kernels ended early, so that counters in the program's blocks do not have their initial values.
    is_unfinished: bool,
    /// Messages that were traced.
    traced: Vec<String>,
    /// Foreign functions.
    functions: ForeignFunctionTable,
}

impl<'p, M: KernelMachine> ProgramSession<'p, M> {
    /// Initialises a program.
    ///
    /// # Errors
    /// When its initialisation fails.
    pub fn new(program: &'p CompiledProgram, machine: M) -> MachineResult<Self, M> {
        let heap = OwnedOrLent::Owned(Box::new(ProgramHeap::new(machine)));
        let mut session = ProgramSession::with_heap(program, heap);
        session.run_initialisation()?;
        Ok(session)
    }

    /// A session before its initialisation.
    fn with_heap(
        program: &'p CompiledProgram,
        mut heap: OwnedOrLent<'p, ProgramHeap<M>>,
    ) -> ProgramSession<'p, M> {
        let machine = &heap.machine;
        let parameters = program.parameters.iter();
        let limits = program.limits.iter();
        ProgramSession {
            program,
            data: LaunchData::default(),
            parameters: parameters.map(|p| machine.parameter_value(p)).collect(),
            limits: limits.map(|class| machine.limit_value(class)).collect(),
            number: heap.number_program(),
            blocks: heap,
            scalars: vec![0; program.global_scalars as usize],
            memories: vec![None; program.global_memories as usize],
            spare: Vec::new(),
            failures: None,
            may_have_failed: false,
            is_unfinished: false,
            traced: Vec::new(),
            functions: ForeignFunctionTable::default(),
        }
    }

    /// Runs the program's initialisation.
    fn run_initialisation(&mut self) -> MachineResult<(), M> {
        let first = FrameStack::new(self.begin_frame(self.program.initialise));
        match self.run_frames(first)? {
            StackProgress::Ended(frame) => self.drop_frame(frame),
            StackProgress::Foreign(stack) => {
                self.drop_stack(stack);
                let message = "the initialisation of a program calls a foreign function";
                return Err(ProgramError::Invalid(message.to_owned()));
            }
        }
        self.check_failures()?;
        self.is_unfinished = false;
        Ok(())
    }

    /// The machine.
    pub fn machine(&mut self) -> &mut M {
        &mut self.blocks.machine
    }

    /// The heap.
    pub fn heap(&mut self) -> &mut ProgramHeap<M> {
        &mut self.blocks
    }

    /// Takes the messages that were traced since the last call.
    pub fn take_traced(&mut self) -> Vec<String> {
        std::mem::take(&mut self.traced)
    }

    /// The value of a scalar. Shared scalars have numbers beyond those of any function.
    #[inline]
    fn get_scalar(&self, frame: &HostFrame, reg: HostRegister) -> u64 {
        match frame.scalars.get(reg.0 as usize) {
            Some(bits) => *bits,
            None => self.scalars[(reg.0 & !GLOBAL) as usize],
        }
    }

    #[inline]
    fn set_scalar(&mut self, frame: &mut HostFrame, reg: HostRegister, bits: u64) {
        match frame.scalars.get_mut(reg.0 as usize) {
            Some(place) => *place = bits,
            None => self.scalars[(reg.0 & !GLOBAL) as usize] = bits,
        }
    }

    fn find_block(&self, frame: &HostFrame, mem: HostMemoryRef) -> Option<usize> {
        match mem.0 & GLOBAL {
            0 => frame.memories[mem.0 as usize],
            _ => self.memories[(mem.0 & !GLOBAL) as usize],
        }
    }

    fn require_block(&self, frame: &HostFrame, mem: HostMemoryRef) -> MachineResult<usize, M> {
        let block = self.find_block(frame, mem);
        block.ok_or_else(|| ProgramError::Invalid("memory that refers to nothing".to_owned()))
    }

    /// Makes a reference refer to a block, which it keeps alive.
    fn set_reference(&mut self, frame: &mut HostFrame, mem: HostMemoryRef, block: Option<usize>) {
        if let Some(block) = block {
            self.blocks.retain_block(block);
        }
        let place = match mem.0 & GLOBAL {
            0 => &mut frame.memories[mem.0 as usize],
            _ => &mut self.memories[(mem.0 & !GLOBAL) as usize],
        };
        if let Some(old) = std::mem::replace(place, block) {
            self.blocks.release_block(old);
        }
    }

    /// The frame of a function that begins.
    fn begin_frame(&mut self, number: usize) -> HostFrame {
        let mut frame = self.spare.pop().unwrap_or_default();
        frame.begin_function(number, &self.program.functions[number]);
        frame
    }

    fn drop_frame(&mut self, frame: HostFrame) {
        for block in frame.memories.iter().flatten() {
            self.blocks.release_block(*block);
        }
        self.spare.push(frame);
    }

    /// Runs the steps of a call up to its end or to a foreign call. If it fails, the references of all frames are dropped.
    fn run_frames(&mut self, mut stack: FrameStack) -> MachineResult<StackProgress, M> {
        match self.run_steps(&mut stack) {
            Ok(true) => Ok(StackProgress::Foreign(stack)),
            Ok(false) => Ok(StackProgress::Ended(stack.frame)),
            Err(error) => {
                self.drop_stack(stack);
                Err(error)
            }
        }
    }

    fn drop_stack(&mut self, stack: FrameStack) {
        let frames = stack.callers.into_iter().chain([stack.frame]);
        frames.for_each(|frame| self.drop_frame(frame));
    }

    /// Runs the steps of a frame and of those that it calls, until it has ended, or up to a foreign call. The frame then
    /// continues after that. Returns whether it is at a foreign call.
    fn run_steps(&mut self, stack: &mut FrameStack) -> MachineResult<bool, M> {
        let program = self.program;
        let FrameStack { frame, callers } = stack;
        let mut function = &program.functions[frame.function];
        let mut next = frame.next;
        loop {
            let Some(step) = function.steps.get(next) else {
                let Some(mut caller) = callers.pop() else {
                    return Ok(false);
                };
                let outputs = &function.outputs;
                function = &program.functions[caller.function];
                next = caller.next;
                // The functions of copies have no outputs.
                if let HostStep::Call(_, _, taken) = &function.steps[next - 1] {
                    self.copy_slots(frame, outputs, &mut caller, taken);
                }
                self.drop_frame(std::mem::replace(frame, caller));
                continue;
            };
            next += 1;
            match step {
                HostStep::Jump(to) => next = *to,
                HostStep::Unless(reg, to) => {
                    if self.get_scalar(frame, *reg) == 0 {
                        next = *to;
                    }
                }
                HostStep::Call(callee, inputs, _) => {
                    if callers.len() >= DEPTH {
                        return Err(ProgramError::Invalid("too many nested calls".to_owned()));
                    }
                    function = &program.functions[*callee];
                    let mut inner = self.begin_frame(*callee);
                    self.copy_slots(frame, inputs, &mut inner, &function.inputs);
                    frame.next = std::mem::take(&mut next);
                    callers.push(std::mem::replace(frame, inner));
                }
                HostStep::Copy(copy) => {
                    if let Some(copier) = self.run_copy(frame, copy)? {
                        function = &program.functions[copier.function];
                        frame.next = std::mem::take(&mut next);
                        callers.push(std::mem::replace(frame, copier));
                    }
                }
                HostStep::Foreign(_) => {
                    frame.next = next;
                    return Ok(true);
                }
                HostStep::Set(to, bits) => self.set_scalar(frame, *to, *bits),
                HostStep::Move(to, from) => {
                    let bits = self.get_scalar(frame, *from);
                    self.set_scalar(frame, *to, bits);
                    let is_wrapped = frame.is_wrapped(*from);
                    frame.note_wrapped(*to, is_wrapped);
                }
                HostStep::Apply(operator, to, operands) => {
                    self.apply_operator(frame, *operator, *to, operands);
                }
                step => self.run_step(frame, step)?,
            }
        }
    }

    /// Applies an operator to scalars.
    #[inline]
    fn apply_operator(
        &mut self,
        frame: &mut HostFrame,
        operator: ScalarOperator,
        to: HostRegister,
        operands: &[HostRegister; 3],
    ) {
        let [a, b] = [operands[0], operands[1]].map(|reg| self.get_scalar(frame, reg));
        let bits = match operator.eval_quick(a, b) {
            Some(bits) => bits,
            None => operator
                .eval_operands(&[a, b, self.get_scalar(frame, operands[2])][..operator.arity()]),
        };
        let is_wrapped = frame.is_result_wrapped(operator, operands, a, b);
        self.set_scalar(frame, to, bits);
        frame.note_wrapped(to, is_wrapped);
    }

    /// Copies slots of one frame to slots of another.
    fn copy_slots(
        &mut self,
        from: &HostFrame,
        given: &[HostSlot],
        to: &mut HostFrame,
        taken: &[HostSlot],
    ) {
        for (given, taken) in given.iter().zip(taken) {
            match (*given, *taken) {
                (HostSlot::Scalar(a), HostSlot::Scalar(b)) => {
                    let bits = self.get_scalar(from, a);
                    self.set_scalar(to, b, bits);
                    to.note_wrapped(b, from.is_wrapped(a));
                }
                (HostSlot::Memory(a), HostSlot::Memory(b)) => {
                    let block = self.find_block(from, a);
                    self.set_reference(to, b, block);
                }
                _ => {}
            }
        }
    }

    /// Runs a step that stays in its function and is not one of the frequent ones.
    #[inline(never)]
    fn run_step(&mut self, frame: &mut HostFrame, step: &HostStep) -> MachineResult<(), M> {
        match step {
            HostStep::Parameter(to, number) => {
                self.set_scalar(frame, *to, self.parameters[*number]);
            }
            HostStep::Limit(to, number) => {
                self.set_scalar(frame, *to, self.limits[*number]);
            }
            HostStep::Allocate(to, reg) => {
                let reg = *reg;
                let bytes = self.get_scalar(frame, reg) as i64;
                let size = u64::try_from(bytes).ok();
                let size = size.filter(|_| !frame.is_wrapped(reg));
                let size = size.ok_or_else(|| make_size_error(bytes, frame.is_wrapped(reg)))?;
                let block = self.blocks.allocate_device(size)?;
                self.set_reference(frame, *to, Some(block));
                self.blocks.release_block(block);
            }
            HostStep::Data(to, number) => {
                let bytes = self.program.data[*number].to_vec();
                let block = self.blocks.allocate_host(bytes);
                self.set_reference(frame, *to, Some(block));
                self.blocks.release_block(block);
            }
            HostStep::Refer(to, from) => {
                let block = self.find_block(frame, *from);
                self.set_reference(frame, *to, block);
            }
            HostStep::Forget(mem) => self.set_reference(frame, *mem, None),
            HostStep::IsUnique(to, mem) => {
                let block = self.require_block(frame, *mem)?;
                let is_unique = self.blocks.is_unique(block);
                self.set_scalar(frame, *to, is_unique.into());
            }
            HostStep::Read(to, _, ScalarType::Unit, _) => self.set_scalar(frame, *to, 0),
            HostStep::Read(to, mem, ty, index) => {
                let block = self.require_block(frame, *mem)?;
                let at = self.element_offset(frame, *ty, *index)?;
                let mut word = [0; 8];
                self.read_checked(block, at, &mut word[..ty.size() as usize])?;
                self.set_scalar(frame, *to, u64::from_le_bytes(word));
            }
            HostStep::Write(mem, ty, index, value) => {
                let block = self.require_block(frame, *mem)?;
                let at = self.element_offset(frame, *ty, *index)?;
                let bytes = self.get_scalar(frame, *value).to_le_bytes();
                self.blocks
                    .write_bytes(block, at, &bytes[..ty.size() as usize])?;
            }
            HostStep::Launch(launch) => self.run_launch(frame, launch)?,
            HostStep::Assert(condition, message, values) => {
                if self.get_scalar(frame, *condition) == 0 {
                    let values: Vec<u64> =
                        values.iter().map(|v| self.get_scalar(frame, *v)).collect();
                    return Err(self.make_failure(*message, &values));
                }
            }
            HostStep::Trace(message, values) => {
                let values: Vec<u64> = values.iter().map(|v| self.get_scalar(frame, *v)).collect();
                self.traced
                    .push(self.program.messages[*message].format_values(&values));
            }
            HostStep::Set(..) | HostStep::Move(..) | HostStep::Apply(..) => {}
            HostStep::Jump(_) | HostStep::Unless(..) | HostStep::Call(..) => {}
            HostStep::Copy(_) | HostStep::Foreign(_) => {}
        }
        Ok(())
    }

    fn element_offset(
        &self,
        frame: &HostFrame,
        ty: ScalarType,
        index: HostRegister,
    ) -> MachineResult<u64, M> {
        let at = self.get_scalar(frame, index).checked_mul(ty.size());
        at.ok_or_else(|| ProgramError::Invalid("an element beyond all memory".to_owned()))
    }

    /// Runs a copy, or returns the frame of the function that runs it.
    fn run_copy(
        &mut self,
        frame: &HostFrame,
        step: &StridedCopy,
    ) -> MachineResult<Option<HostFrame>, M> {
        let number = |reg: &HostRegister| self.get_scalar(frame, *reg) as i64;
        let shape: SmallVec<[i64; 4]> = step.shape.iter().map(number).collect();
        let side =
            |side: &(HostMemoryRef, HostRegister, Vec<HostRegister>)| copy_call::StridedView {
                first: number(&side.1),
                strides: side.2.iter().map(number).collect(),
            };
        let (to, from) = (side(&step.to), side(&step.from));
        if shape.iter().any(|size| *size <= 0) {
            return Ok(None);
        }
        let blocks = [&step.to, &step.from].map(|side| self.find_block(frame, side.0));
        let [Some(target), Some(source)] = blocks else {
            return Err(ProgramError::Invalid(
                "a copy of memory that is not there".to_owned(),
            ));
        };
        let sides = [(target, &to), (source, &from)];
        if self.blocks.can_copy_on_device(step.size, &shape, sides)? {
            let copiers = &self.program.copiers;
            if let Some(call) =
                copy_call::select_copier_call(copiers, step.size, &shape, &to, &from)
            {
                let touched = sides.map(|(block, side)| {
                    let strides = side.strides.iter().copied();
                    let dimensions = shape.iter().copied().zip(strides);
                    (
                        block,
                        ByteRegion::from_dimensions(step.size, side.first, dimensions),
                    )
                });
                return Ok(Some(self.make_copier_frame(&call, touched)));
            }
        }
        self.blocks.copy_through_host(step.size, &shape, sides)?;
        Ok(None)
    }

    /// The frame of a copy function for regions of two blocks.
    fn make_copier_frame(
        &mut self,
        call: &copy_call::CopyKernelCall,
        touched: [(usize, Option<ByteRegion>); 2],
    ) -> HostFrame {
        let function = &self.program.functions[call.function];
        let mut frame = self.begin_frame(call.function);
        let (mut scalars, mut touched) = (call.scalars.iter(), touched.into_iter());
        for (number, slot) in function.inputs.iter().enumerate() {
            match *slot {
                HostSlot::Scalar(reg) => {
                    let ty = if number == 0 {
                        ScalarType::I64
                    } else {
                        ScalarType::I32
                    };
                    let bits = scalars.next().map_or(0, |n| ty.truncate_bits(*n as u64));
                    self.set_scalar(&mut frame, reg, bits);
                }
                HostSlot::Memory(mem) => {
                    let (block, region) = touched.next().unzip();
                    self.set_reference(&mut frame, mem, block);
                    if let Some(region) = region.flatten() {
                        frame.record_access(mem, region);
                    }
                }
            }
        }
        frame
    }
}

/// The error for a size that cannot be allocated.
fn make_size_error<E>(bytes: i64, is_wrapped: bool) -> ProgramError<E> {
    ProgramError::Invalid(if is_wrapped {
        "the size of a block of memory has more than 64 bits".to_owned()
    } else {
        format!("a block of memory of {bytes} bytes cannot be allocated")
    })
}

//! Running the steps of the host on a machine.

mod call;
mod frame;

pub use call::{CallValue, CompletedCall, PreparedCall};

use crate::blocks::MachineResult;
use crate::blocks::ProgramHeap;
use crate::copy;
use crate::program::{
    CompiledProgram, GLOBAL, HostMemoryRef, HostRegister, HostSlot, HostStep, LaunchStep,
    StridedCopy,
};
use crate::{
    BlockBinding, ByteRegion, KernelMachine, LaunchRequest, ProgramError, ScalarOperator,
    ScalarType,
};
use frame::HostFrame;
use smallvec::SmallVec;

/// Deepest nesting of calls.
const DEPTH: usize = 1000;

/// A program that has been initialised on a machine.
pub struct ProgramSession<'p, M: KernelMachine> {
    program: &'p CompiledProgram,
    blocks: ProgramHeap<M>,
    /// What launches are given, for the next one to fill.
    data: LaunchData<M::Block>,
    /// Values of the program's parameters and limits.
    parameters: Vec<u64>,
    limits: Vec<u64>,
    scalars: Vec<u64>,
    memories: Vec<Option<usize>>,
    /// Frames of functions that have ended, for others.
    spare: Vec<HostFrame<'p>>,
    /// The block for failures.
    failures: Option<usize>,
    /// Whether a launch since the last look may have failed.
    may_have_failed: bool,
    /// Whether kernels left before their end, so that what they count in the program's blocks is not at its beginning.
    is_unfinished: bool,
    /// What was traced.
    traced: Vec<String>,
}

/// What a launch is given.
struct LaunchData<B> {
    /// Values of specialisation constants.
    constants: Vec<u64>,
    /// Scalars.
    push: Vec<u8>,
    /// Blocks.
    blocks: Vec<BlockBinding<B>>,
}

impl<B> Default for LaunchData<B> {
    fn default() -> Self {
        LaunchData {
            constants: Vec::new(),
            push: Vec::new(),
            blocks: Vec::new(),
        }
    }
}

impl<'p, M: KernelMachine> ProgramSession<'p, M> {
    /// Initialises a program.
    ///
    /// # Errors
    /// When its initialisation fails.
    pub fn new(program: &'p CompiledProgram, machine: M) -> MachineResult<Self, M> {
        let parameters = program
            .parameters
            .iter()
            .map(|p| machine.parameter_value(p));
        let limits = program
            .limits
            .iter()
            .map(|class| machine.limit_value(class));
        let mut session = ProgramSession {
            program,
            data: LaunchData::default(),
            parameters: parameters.collect(),
            limits: limits.collect(),
            blocks: ProgramHeap::new(machine),
            scalars: vec![0; program.global_scalars as usize],
            memories: vec![None; program.global_memories as usize],
            spare: Vec::new(),
            failures: None,
            may_have_failed: false,
            is_unfinished: false,
            traced: Vec::new(),
        };
        session.run_initialisation()?;
        Ok(session)
    }

    /// Runs the program's initialisation.
    fn run_initialisation(&mut self) -> MachineResult<(), M> {
        let first = self.begin_frame(self.program.initialise, &[]);
        let frame = self.run_frames(first)?;
        self.drop_frame(frame);
        self.is_unfinished = false;
        Ok(())
    }

    /// The machine.
    pub fn machine(&mut self) -> &mut M {
        &mut self.blocks.machine
    }

    /// What the program traced since this was asked last.
    pub fn take_traced(&mut self) -> Vec<String> {
        std::mem::take(&mut self.traced)
    }

    /// A scalar. Those that all functions share have numbers beyond those of any function.
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

    /// Lets a reference refer to a block, which is kept as long.
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
    fn begin_frame(&mut self, number: usize, outputs: &'p [HostSlot]) -> HostFrame<'p> {
        let mut frame = self.spare.pop().unwrap_or_default();
        frame.begin_function(number, &self.program.functions[number], outputs);
        frame
    }

    fn drop_frame(&mut self, frame: HostFrame<'p>) {
        for block in frame.memories.iter().flatten() {
            self.blocks.release_block(*block);
        }
        self.spare.push(frame);
    }

    /// Runs a call to its end; gives its frame.
    fn run_frames(&mut self, first: HostFrame<'p>) -> MachineResult<HostFrame<'p>, M> {
        let program = self.program;
        let mut frame = first;
        let mut callers: Vec<HostFrame<'p>> = Vec::new();
        let mut function = &program.functions[frame.function];
        let mut next = 0;
        loop {
            let Some(step) = function.steps.get(next) else {
                let Some(mut caller) = callers.pop() else {
                    return Ok(frame);
                };
                self.copy_slots(&frame, &function.outputs, &mut caller, frame.outputs);
                self.drop_frame(std::mem::replace(&mut frame, caller));
                function = &program.functions[frame.function];
                next = frame.next;
                continue;
            };
            next += 1;
            match step {
                HostStep::Jump(to) => next = *to,
                HostStep::Unless(reg, to) => {
                    if self.get_scalar(&frame, *reg) == 0 {
                        next = *to;
                    }
                }
                HostStep::Call(callee, inputs, outputs) => {
                    if callers.len() >= DEPTH {
                        return Err(ProgramError::Invalid("too many nested calls".to_owned()));
                    }
                    function = &program.functions[*callee];
                    let mut inner = self.begin_frame(*callee, outputs);
                    self.copy_slots(&frame, inputs, &mut inner, &function.inputs);
                    frame.next = std::mem::take(&mut next);
                    callers.push(std::mem::replace(&mut frame, inner));
                }
                HostStep::Copy(copy) => {
                    if let Some(copier) = self.run_copy(&frame, copy)? {
                        function = &program.functions[copier.function];
                        frame.next = std::mem::take(&mut next);
                        callers.push(std::mem::replace(&mut frame, copier));
                    }
                }
                HostStep::Set(to, bits) => self.set_scalar(&mut frame, *to, *bits),
                HostStep::Move(to, from) => {
                    let bits = self.get_scalar(&frame, *from);
                    self.set_scalar(&mut frame, *to, bits);
                    let is_wrapped = frame.is_wrapped(*from);
                    frame.note_wrapped(*to, is_wrapped);
                }
                HostStep::Apply(operator, to, operands) => {
                    self.apply_operator(&mut frame, *operator, *to, operands);
                }
                step => self.run_step(&mut frame, step)?,
            }
        }
    }

    /// Applies an operator to scalars.
    #[inline]
    fn apply_operator(
        &mut self,
        frame: &mut HostFrame<'p>,
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

    /// Does a step that stays in its function, and is none of the frequent ones.
    #[inline(never)]
    fn run_step(&mut self, frame: &mut HostFrame<'p>, step: &HostStep) -> MachineResult<(), M> {
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
                let size = size.ok_or_else(|| no_size(bytes, frame.is_wrapped(reg)))?;
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
            HostStep::Jump(_) | HostStep::Unless(..) | HostStep::Call(..) | HostStep::Copy(_) => {}
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

    fn make_failure(&self, message: usize, values: &[u64]) -> ProgramError<M::Error> {
        match self.program.messages.get(message) {
            Some(message) => {
                ProgramError::Failed(message.format_values(values), message.backtrace.clone())
            }
            None => ProgramError::Invalid("a kernel failed with an unknown message".to_owned()),
        }
    }

    /// Copies, or gives the call that does.
    fn run_copy(
        &mut self,
        frame: &HostFrame<'p>,
        step: &StridedCopy,
    ) -> MachineResult<Option<HostFrame<'p>>, M> {
        let number = |reg: &HostRegister| self.get_scalar(frame, *reg) as i64;
        let shape: SmallVec<[i64; 4]> = step.shape.iter().map(number).collect();
        let side = |side: &(HostMemoryRef, HostRegister, Vec<HostRegister>)| copy::StridedView {
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
        if self.blocks.may_copy_there(step.size, &shape, sides)? {
            let copiers = &self.program.copiers;
            if let Some(call) = copy::select_copier_call(copiers, step.size, &shape, &to, &from) {
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

    /// The call of a function that copies between such parts of blocks.
    fn make_copier_frame(
        &mut self,
        call: &copy::CopyKernelCall,
        touched: [(usize, Option<ByteRegion>); 2],
    ) -> HostFrame<'p> {
        let function = &self.program.functions[call.function];
        let mut frame = self.begin_frame(call.function, &[]);
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

    fn run_launch(&mut self, frame: &HostFrame, launch: &LaunchStep) -> MachineResult<(), M> {
        let kernel = &self.program.kernels[launch.kernel];
        let mut groups = [1; 3];
        for (to, reg) in groups.iter_mut().zip(&launch.groups) {
            *to = (self.get_scalar(frame, *reg) as i64).max(0) as u64;
        }
        if groups.contains(&0) {
            return Ok(());
        }
        if let Some(refusal) = &kernel.refusal {
            return Err(ProgramError::Unsupported(refusal.clone()));
        }
        let mut data = std::mem::take(&mut self.data);
        let launched = self.launch_with(frame, launch, groups, &mut data);
        self.data = data;
        launched
    }

    /// Launches a kernel of a launch, whose data is put where that of launches before was.
    fn launch_with(
        &mut self,
        frame: &HostFrame,
        launch: &LaunchStep,
        groups: [u64; 3],
        data: &mut LaunchData<M::Block>,
    ) -> MachineResult<(), M> {
        let kernel = &self.program.kernels[launch.kernel];
        let LaunchData {
            constants,
            push,
            blocks,
        } = data;
        constants.clear();
        constants.extend(launch.constants.iter().map(|c| self.get_scalar(frame, *c)));
        push.clear();
        push.resize(kernel.scalar_bytes as usize, 0);
        push[..4].copy_from_slice(&(groups[0] as u32).to_le_bytes());
        for ((at, ty), reg) in kernel.scalars.iter().zip(&launch.scalars) {
            let bytes = self.get_scalar(frame, *reg).to_le_bytes();
            let (at, size) = (*at as usize, (ty.size() as usize).max(4));
            push[at..at + size].copy_from_slice(&bytes[..size]);
        }
        blocks.clear();
        for (binding, mem) in launch.memories.iter().enumerate() {
            if kernel.bound.get(binding).is_some_and(|bound| *bound) {
                let block = match self.find_block(frame, *mem) {
                    Some(block) => block,
                    None => self.failure_block()?,
                };
                let region = frame.accessed_region(*mem);
                if let Some(reach) = kernel.reach.get(binding) {
                    self.check_reach(block, region, *reach)?;
                }
                blocks.push(BlockBinding {
                    binding: binding as u32,
                    block: self.blocks.device_block(block)?,
                    region,
                });
            }
        }
        let mut next = launch.memories.len() as u32;
        if kernel.uses_failures {
            let block = self.failure_block()?;
            blocks.push(self.bind_whole_block(next, block)?);
        }
        next += 1;
        let mut scalars = None;
        if kernel.scalars_in_buffer {
            let block = self.blocks.allocate_device(push.len() as u64)?;
            self.blocks.write_bytes(block, 0, push)?;
            blocks.push(self.bind_whole_block(next, block)?);
            scalars = Some(block);
        }
        let request = LaunchRequest {
            kernel: launch.kernel,
            words: &kernel.words,
            laid_out: kernel.laid_out.as_deref(),
            groups,
            constants,
            push: if kernel.scalars_in_buffer { &[] } else { push },
            blocks,
        };
        let launched = self.blocks.machine.launch_kernel(&request);
        if let Some(block) = scalars {
            self.blocks.release_block(block);
        }
        launched.map_err(ProgramError::Machine)?;
        self.may_have_failed |= kernel.can_fail;
        Ok(())
    }

    /// Refuses a launch that would touch more of a block than indices of 32 bits reach.
    fn check_reach(
        &self,
        block: usize,
        touched: Option<ByteRegion>,
        reach: u64,
    ) -> MachineResult<(), M> {
        let size = self.blocks.block_size(block);
        let end = touched.and_then(|region| region.end()).unwrap_or(size);
        if size.min(end) <= reach {
            return Ok(());
        }
        Err(ProgramError::Unsupported(format!(
            "an array of {size} bytes has more than 2^32 elements, which is more than indices of kernels reach"
        )))
    }

    /// A block of which anything may be touched.
    fn bind_whole_block(
        &mut self,
        binding: u32,
        block: usize,
    ) -> MachineResult<BlockBinding<M::Block>, M> {
        Ok(BlockBinding {
            binding,
            block: self.blocks.device_block(block)?,
            region: None,
        })
    }

    /// The block for failures, made of zeros when it is first needed.
    fn failure_block(&mut self) -> MachineResult<usize, M> {
        if let Some(block) = self.failures {
            return Ok(block);
        }
        let messages = self.program.messages.iter();
        let values = messages.map(|m| m.parts.len()).max().unwrap_or(0);
        let bytes = vec![0; 8 + values * 8];
        let block = self.blocks.allocate_device(bytes.len() as u64)?;
        self.blocks.write_bytes(block, 0, &bytes)?;
        self.failures = Some(block);
        Ok(block)
    }

    /// Reads a part of a block, and fails if a kernel did since the last look.
    fn read_checked(&mut self, block: usize, at: u64, out: &mut [u8]) -> MachineResult<(), M> {
        let Some(failures) = self.failures.filter(|_| self.may_have_failed) else {
            return self.blocks.read_all(&mut [(block, at, out)]);
        };
        let mut code = [0; 4];
        let mut both = [(failures, 0, &mut code[..]), (block, at, out)];
        self.blocks.read_all(&mut both)?;
        self.see_failure(code)
    }

    /// Fails if a kernel did since the last look.
    fn check_failures(&mut self) -> MachineResult<(), M> {
        let Some(failures) = self.failures.filter(|_| self.may_have_failed) else {
            return Ok(());
        };
        let mut code = [0; 4];
        self.blocks.read_all(&mut [(failures, 0, &mut code)])?;
        self.see_failure(code)
    }

    /// Fails if the first word of the block for failures says so; the next call begins anew.
    fn see_failure(&mut self, code: [u8; 4]) -> MachineResult<(), M> {
        self.may_have_failed = false;
        let code = u32::from_le_bytes(code);
        let Some((message, block)) = code.checked_sub(1).zip(self.failures) else {
            return Ok(());
        };
        self.is_unfinished = true;
        self.blocks.write_bytes(block, 0, &[0; 4])?;
        let parts = self.program.messages.get(message as usize);
        let count = parts.map_or(0, |m| m.parts.len() as u64);
        let bytes = self.blocks.read_bytes(block, 8, count * 8)?;
        let words = bytes.chunks_exact(8);
        let values: Vec<u64> = words
            .map(|word| word.try_into().map_or(0, u64::from_le_bytes))
            .collect();
        Err(self.make_failure(message as usize, &values))
    }
}

/// That so many bytes cannot be allocated.
fn no_size<E>(bytes: i64, is_wrapped: bool) -> ProgramError<E> {
    ProgramError::Invalid(match is_wrapped {
        true => "the size of a block of memory has more than 64 bits".to_owned(),
        false => format!("a block of memory of {bytes} bytes cannot be allocated"),
    })
}

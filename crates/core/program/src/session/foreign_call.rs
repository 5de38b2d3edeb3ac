//! Foreign calls of a running program: it pauses at one, and continues with the results.
//!
//! While a call is paused, the session may be suspended, and other programs may use its heap. The paused call keeps the
//! memory that it refers to.

use super::call::{CompletedCall, PreparedCall};
use super::frame::{FrameStack, StackProgress};
use super::{HostFrame, ProgramSession};
use crate::heap::MachineResult;
use crate::program::{CompiledProgram, ForeignStep, HostSlot, HostStep, ProgramEntry};
use crate::resident::{ResidentContent, ResidentValue};
use crate::{ForeignFailure, ForeignFunctionTable, ForeignSignature, KernelMachine, ProgramError};

/// How far a call has come.
pub enum CallProgress<'p> {
    /// It has ended.
    Completed(CompletedCall<'p>),
    /// It waits for the results of a foreign call.
    Paused(PausedCall),
}

/// A call that waits for the results of a foreign call. [`ProgramSession::resume_call`] or
/// [`ProgramSession::abandon_call`] takes it; otherwise its memory is never released.
#[derive(Debug)]
pub struct PausedCall {
    /// The number of the entry point.
    entry: usize,
    /// The innermost frame continues after the foreign call.
    stack: FrameStack,
}

impl PausedCall {
    /// The function that is called.
    ///
    /// # Panics
    /// When the call belongs to another program.
    pub fn signature<'p>(&self, program: &'p CompiledProgram) -> &'p ForeignSignature {
        &self.step(program).signature
    }

    fn step<'p>(&self, program: &'p CompiledProgram) -> &'p ForeignStep {
        let frame = &self.stack.frame;
        match &program.functions[frame.function].steps[frame.next - 1] {
            HostStep::Foreign(step) => step,
            _ => unreachable!("a call pauses at foreign calls"),
        }
    }
}

/// A result of a foreign call.
#[derive(Debug)]
pub enum ForeignResult {
    /// Its elements.
    Bytes(Vec<u8>),
    /// An array on the heap of the session, which becomes the program's.
    Array(ResidentValue),
}

impl<'p, M: KernelMachine> ProgramSession<'p, M> {
    /// Sets the functions that foreign calls call.
    pub fn set_foreign_functions(&mut self, functions: ForeignFunctionTable) {
        self.functions = functions;
    }

    /// Runs a call up to its end, or to its first foreign call. [`ProgramSession::execute_call`] runs all of it.
    ///
    /// # Errors
    /// When it fails.
    pub fn start_call(&mut self, prepared: PreparedCall<'p>) -> MachineResult<CallProgress<'p>, M> {
        let PreparedCall { entry, frame } = prepared;
        self.advance_call(entry, FrameStack::new(frame))
    }

    /// Continues a call with the results of the foreign call that it waits for.
    ///
    /// # Errors
    /// When it fails.
    pub fn resume_call(
        &mut self,
        paused: PausedCall,
        results: Vec<ForeignResult>,
    ) -> MachineResult<CallProgress<'p>, M> {
        let step = paused.step(self.program);
        let entry = &self.program.entries[paused.entry];
        let mut stack = paused.stack;
        match self.store_foreign_results(step, &mut stack.frame, results) {
            Ok(()) => self.advance_call(entry, stack),
            Err(error) => {
                self.drop_stack(stack);
                Err(error)
            }
        }
    }

    /// Ends a call whose foreign call has failed. Returns the error of the program.
    pub fn abandon_call(
        &mut self,
        paused: PausedCall,
        failure: ForeignFailure,
    ) -> ProgramError<M::Error> {
        self.drop_stack(paused.stack);
        ProgramError::Foreign(Box::new(failure))
    }

    /// Copies the operands of the foreign call that a call waits for.
    ///
    /// # Errors
    /// When the machine fails, or an operand has no memory.
    pub fn read_operands(&mut self, paused: &PausedCall) -> MachineResult<Vec<Vec<u8>>, M> {
        let step = paused.step(self.program);
        let slots = step.inputs.iter().zip(&step.signature.operands);
        let operands = slots.enumerate().map(|(at, (slot, ty))| match *slot {
            HostSlot::Memory(mem) if ty.bytes > 0 => {
                let block = self.require_block(&paused.stack.frame, mem)?;
                self.blocks.read_bytes(block, 0, ty.bytes)
            }
            _ => {
                let mut bytes = vec![0; (ty.bytes as usize).min(size_of::<u64>())];
                self.read_operand(paused, at, &mut bytes)?;
                Ok(bytes)
            }
        });
        operands.collect()
    }

    /// Copies an operand of the foreign call that a call waits for to memory of its size.
    ///
    /// # Errors
    /// When the machine fails, or the operand has no memory.
    pub fn read_operand(
        &mut self,
        paused: &PausedCall,
        at: usize,
        bytes: &mut [u8],
    ) -> MachineResult<(), M> {
        match paused.step(self.program).inputs[at] {
            HostSlot::Scalar(reg) => {
                let bits = self.get_scalar(&paused.stack.frame, reg).to_le_bytes();
                bytes.copy_from_slice(&bits[..bytes.len()]);
                Ok(())
            }
            HostSlot::Memory(_) if bytes.is_empty() => Ok(()),
            HostSlot::Memory(mem) => {
                let block = self.require_block(&paused.stack.frame, mem)?;
                self.blocks.read_into(block, 0, bytes)
            }
        }
    }

    /// The machine's blocks with the elements of the operands, where they are on the machine. A block has at least as many
    /// bytes as its operand.
    pub fn operand_blocks(&self, paused: &PausedCall) -> Vec<Option<M::Block>> {
        let step = paused.step(self.program);
        let pairs = step.inputs.iter().zip(&step.signature.operands);
        let find = |(slot, ty): (&HostSlot, &crate::ForeignArrayType)| match *slot {
            HostSlot::Scalar(_) => None,
            HostSlot::Memory(mem) => {
                let block = self.find_block(&paused.stack.frame, mem)?;
                let is_whole = self.blocks.block_size(block) >= ty.bytes;
                self.blocks
                    .device_block(block)
                    .ok()
                    .filter(|_| is_whole && ty.bytes > 0)
            }
        };
        pairs.map(find).collect()
    }

    /// Whether each result of the foreign call that a call waits for is an array, and not a scalar.
    pub fn has_array_results(&self, paused: &PausedCall) -> Vec<bool> {
        let outputs = paused.step(self.program).outputs.iter();
        outputs
            .map(|slot| matches!(slot, HostSlot::Memory(_)))
            .collect()
    }

    /// Calls the session's function for a paused call, and continues that.
    pub(super) fn serve_foreign_call(
        &mut self,
        paused: PausedCall,
    ) -> MachineResult<CallProgress<'p>, M> {
        let signature = paused.signature(self.program);
        let operands = match self.read_operands(&paused) {
            Ok(operands) => operands,
            Err(error) => {
                self.drop_stack(paused.stack);
                return Err(error);
            }
        };
        match self.functions.call(signature, &operands) {
            Ok(results) => {
                let results = results.into_iter().map(ForeignResult::Bytes);
                self.resume_call(paused, results.collect())
            }
            Err(failure) => Err(self.abandon_call(paused, failure)),
        }
    }

    fn advance_call(
        &mut self,
        entry: &'p ProgramEntry,
        stack: FrameStack,
    ) -> MachineResult<CallProgress<'p>, M> {
        match self.run_frames(stack)? {
            StackProgress::Ended(frame) => match self.check_completed() {
                Ok(()) => Ok(CallProgress::Completed(CompletedCall { entry, frame })),
                Err(error) => {
                    self.drop_frame(frame);
                    Err(error)
                }
            },
            StackProgress::Foreign(stack) => match self.check_completed() {
                Ok(()) => {
                    let mut entries = self.program.entries.iter();
                    let number = entries.position(|other| std::ptr::eq(other, entry));
                    let entry = number.unwrap_or(0);
                    Ok(CallProgress::Paused(PausedCall { entry, stack }))
                }
                Err(error) => {
                    self.drop_stack(stack);
                    Err(error)
                }
            },
        }
    }

    /// Waits until the machine has completed all launches, and fails if a kernel has failed.
    fn check_completed(&mut self) -> MachineResult<(), M> {
        self.check_failures()?;
        let waited = self.blocks.machine.wait_idle();
        waited.map_err(ProgramError::Machine)
    }

    fn store_foreign_results(
        &mut self,
        step: &ForeignStep,
        frame: &mut HostFrame,
        results: Vec<ForeignResult>,
    ) -> MachineResult<(), M> {
        let types = &step.signature.results;
        let fits = results.len() == types.len()
            && results.iter().zip(types).all(|(result, ty)| match result {
                ForeignResult::Bytes(bytes) => bytes.len() as u64 == ty.bytes,
                ForeignResult::Array(value) => value.byte_count() == ty.bytes,
            });
        if !fits {
            let message = "a foreign call has results of other types";
            return Err(ProgramError::Invalid(message.to_owned()));
        }
        for (result, slot) in results.into_iter().zip(&step.outputs) {
            match (*slot, result) {
                (HostSlot::Scalar(reg), ForeignResult::Bytes(bytes)) => {
                    let mut word = [0; 8];
                    word[..bytes.len()].copy_from_slice(&bytes);
                    self.set_scalar(frame, reg, u64::from_le_bytes(word));
                }
                (HostSlot::Scalar(reg), ForeignResult::Array(value)) => {
                    let mut word = [0; 8];
                    let read =
                        self.read_resident(&value, 0, &mut word[..value.byte_count() as usize]);
                    self.release_value(value);
                    read?;
                    self.set_scalar(frame, reg, u64::from_le_bytes(word));
                }
                (HostSlot::Memory(mem), ForeignResult::Bytes(bytes)) => {
                    let block = self.blocks.upload_block(&bytes)?;
                    self.set_reference(frame, mem, Some(block));
                    self.blocks.release_block(block);
                }
                (HostSlot::Memory(mem), ForeignResult::Array(value)) => {
                    if let ResidentContent::Block(block) = value.content {
                        self.set_reference(frame, mem, Some(block));
                    }
                    self.release_value(value);
                }
            }
        }
        Ok(())
    }
}

//! Calls with resident values, which copy no arrays.
//!
//! An entry point that consumes a parameter changes the array in place, so the caller may then only release it. Values that
//! share an array share its memory.

use super::call::{CompletedCall, PreparedCall};
use super::{HostFrame, ProgramSession};
use crate::heap::MachineResult;
use crate::program::{EntryValueType, HostSlot, ProgramEntry};
use crate::resident::{ResidentContent, ResidentValue};
use crate::{KernelMachine, ProgramError, ScalarType};

impl<'p, M: KernelMachine> ProgramSession<'p, M> {
    /// Makes an array of its elements.
    ///
    /// # Errors
    /// As [`crate::ProgramHeap::upload_array`].
    pub fn upload_array(
        &mut self,
        element: ScalarType,
        unsigned: bool,
        shape: Vec<u64>,
        bytes: &[u8],
    ) -> MachineResult<ResidentValue, M> {
        self.blocks.upload_array(element, unsigned, shape, bytes)
    }

    /// Another value with the same elements in the same memory.
    pub fn share_value(&mut self, value: &ResidentValue) -> ResidentValue {
        self.blocks.share_value(value)
    }

    /// Releases a value. Its memory is reused when no other value shares it.
    pub fn release_value(&mut self, value: ResidentValue) {
        self.blocks.release_value(value);
    }

    /// Copies bytes of a value to the host, from an offset on.
    ///
    /// # Errors
    /// As [`crate::ProgramHeap::read_resident`].
    pub fn read_resident(
        &mut self,
        value: &ResidentValue,
        at: u64,
        out: &mut [u8],
    ) -> MachineResult<(), M> {
        self.blocks.read_resident(value, at, out)
    }

    /// Copies bytes from the host into an array, from an offset on. Values that share the array change, too.
    ///
    /// # Errors
    /// As [`crate::ProgramHeap::write_resident`].
    pub fn write_resident(
        &mut self,
        value: &ResidentValue,
        at: u64,
        bytes: &[u8],
    ) -> MachineResult<(), M> {
        self.blocks.write_resident(value, at, bytes)
    }

    /// Calls an entry point. Arguments and results are the parts of all parameters and results, one after the other.
    ///
    /// # Errors
    /// When there is no such entry point, the values do not fit it, or it fails.
    pub fn call_resident(
        &mut self,
        entry: &str,
        given: &[&ResidentValue],
    ) -> MachineResult<Vec<ResidentValue>, M> {
        let prepared = self.prepare_resident(entry, given)?;
        let ended = self.execute_call(prepared)?;
        self.keep_results(ended)
    }

    /// Binds resident values to the parameters of an entry point, for [`ProgramSession::execute_call`].
    ///
    /// # Errors
    /// When there is no such entry point, or the values do not fit it.
    pub fn prepare_resident(
        &mut self,
        entry: &str,
        given: &[&ResidentValue],
    ) -> MachineResult<PreparedCall<'p>, M> {
        let entry = self.begin_entry(entry)?;
        let mut frame = self.begin_frame(entry.function);
        match self.bind_resident(entry, given, &mut frame) {
            Ok(()) => Ok(PreparedCall { entry, frame }),
            Err(error) => {
                self.drop_frame(frame);
                Err(error)
            }
        }
    }

    /// Makes values of the results of a call, instead of [`ProgramSession::fetch_results`].
    ///
    /// # Errors
    /// When the machine fails, or a result has no memory.
    pub fn keep_results(
        &mut self,
        ended: CompletedCall<'p>,
    ) -> MachineResult<Vec<ResidentValue>, M> {
        let CompletedCall { entry, frame } = ended;
        let kept = self.keep_parts(entry, &frame);
        self.drop_frame(frame);
        kept
    }

    fn keep_parts(
        &mut self,
        entry: &ProgramEntry,
        frame: &HostFrame,
    ) -> MachineResult<Vec<ResidentValue>, M> {
        let mut results = Vec::with_capacity(entry.result_parts().count());
        for value in entry.result_parts() {
            match self.keep_result(value, frame) {
                Ok(result) => results.push(result),
                Err(error) => {
                    results.into_iter().for_each(|r| self.release_value(r));
                    return Err(error);
                }
            }
        }
        Ok(results)
    }

    fn bind_resident(
        &mut self,
        entry: &ProgramEntry,
        given: &[&ResidentValue],
        frame: &mut HostFrame,
    ) -> MachineResult<(), M> {
        let wanted = entry.parameter_parts().count();
        if wanted != given.len() {
            let (name, given) = (&entry.name, given.len());
            let message = format!("{name} takes {wanted} scalars and arrays, not {given}");
            return Err(ProgramError::Invalid(message));
        }
        let mut known = Vec::new();
        for ((name, value), given) in entry.parameter_parts().zip(given) {
            let found = (given.element, given.unsigned);
            self.bind_shape(name, value, found, &given.shape, frame, &mut known)?;
            match (value.slot, given.content) {
                (HostSlot::Scalar(reg), ResidentContent::Scalar(bits)) => {
                    self.set_scalar(frame, reg, bits);
                    known.push(reg);
                }
                (HostSlot::Memory(mem), ResidentContent::Block(block)) => {
                    self.set_reference(frame, mem, Some(block));
                }
                _ => {
                    let message = format!("{name} is of another type");
                    return Err(ProgramError::Invalid(message));
                }
            }
        }
        Ok(())
    }

    /// Makes a value of a result. Memory of the program itself, and of the host, is copied.
    fn keep_result(
        &mut self,
        value: &EntryValueType,
        frame: &HostFrame,
    ) -> MachineResult<ResidentValue, M> {
        let shape = self.find_shape(value, frame);
        let content = match value.slot {
            HostSlot::Scalar(reg) => {
                let bits = self.get_scalar(frame, reg);
                ResidentContent::Scalar(value.element.truncate_bits(bits))
            }
            HostSlot::Memory(_) if shape.contains(&0) => {
                ResidentContent::Block(self.blocks.upload_block(&[])?)
            }
            HostSlot::Memory(mem) => {
                let block = self.require_block(frame, mem)?;
                let is_own = self.memories.contains(&Some(block));
                if is_own || !self.blocks.is_on_device(block) {
                    let count = shape.iter().product::<u64>() * value.element.size();
                    let bytes = self.blocks.read_bytes(block, 0, count)?;
                    ResidentContent::Block(self.blocks.upload_block(&bytes)?)
                } else {
                    self.blocks.retain_block(block);
                    ResidentContent::Block(block)
                }
            }
        };
        Ok(ResidentValue {
            element: value.element,
            unsigned: value.unsigned,
            shape,
            content,
        })
    }

    /// Frees memory of the machine that is kept for later calls.
    ///
    /// # Errors
    /// When the machine fails.
    pub fn free_unused_memory(&mut self) -> MachineResult<(), M> {
        self.blocks.free_unused_memory()
    }
}

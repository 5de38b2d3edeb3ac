//! Resident values: arguments and results that stay on the machine between calls.
//!
//! A call with resident values copies no arrays. An entry point that consumes a parameter changes the array in place, so the
//! caller may then only release it. Values that share an array share its memory.

use super::call::PreparedCall;
use super::{HostFrame, ProgramSession};
use crate::heap::MachineResult;
use crate::program::{EntryValueType, HostSlot, ProgramEntry};
use crate::{KernelMachine, ProgramError, ScalarType};

/// A scalar, or an array on the machine. It refers to memory of its session until the session is told to release it.
#[derive(Debug)]
pub struct ResidentValue {
    /// Type of the elements.
    pub element: ScalarType,
    /// Whether integers have no sign.
    pub unsigned: bool,
    /// Sizes of the dimensions; none for a scalar.
    pub shape: Vec<u64>,
    content: ResidentContent,
}

#[derive(Clone, Copy, Debug)]
enum ResidentContent {
    /// The bits of a scalar.
    Scalar(u64),
    /// The number of a block.
    Block(usize),
}

impl ResidentValue {
    /// A scalar.
    pub fn from_scalar(element: ScalarType, unsigned: bool, bits: u64) -> ResidentValue {
        ResidentValue {
            element,
            unsigned,
            shape: Vec::new(),
            content: ResidentContent::Scalar(bits),
        }
    }

    /// The bits of a scalar; none for an array.
    pub fn scalar_bits(&self) -> Option<u64> {
        match self.content {
            ResidentContent::Scalar(bits) => Some(bits),
            ResidentContent::Block(_) => None,
        }
    }

    /// The number of bytes of all elements.
    pub fn byte_count(&self) -> u64 {
        self.shape.iter().product::<u64>() * self.element.size()
    }
}

impl<'p, M: KernelMachine> ProgramSession<'p, M> {
    /// Makes an array of its elements.
    ///
    /// # Errors
    /// When the bytes are not as many as the shape needs, or there is no memory for them.
    pub fn upload_array(
        &mut self,
        element: ScalarType,
        unsigned: bool,
        shape: Vec<u64>,
        bytes: &[u8],
    ) -> MachineResult<ResidentValue, M> {
        let size = element.size();
        let length = shape.iter().try_fold(size, |n, s| n.checked_mul(*s));
        if length != Some(bytes.len() as u64) {
            let message = format!("{} bytes for an array of shape {shape:?}", bytes.len());
            return Err(ProgramError::Invalid(message));
        }
        Ok(ResidentValue {
            element,
            unsigned,
            shape,
            content: ResidentContent::Block(self.upload_block(bytes)?),
        })
    }

    /// A block with these bytes and one reference.
    fn upload_block(&mut self, bytes: &[u8]) -> MachineResult<usize, M> {
        let block = self.blocks.allocate_device(bytes.len() as u64)?;
        match self.blocks.write_bytes(block, 0, bytes) {
            Ok(()) => Ok(block),
            Err(error) => {
                self.blocks.release_block(block);
                Err(error)
            }
        }
    }

    /// Another value with the same elements in the same memory.
    pub fn share_value(&mut self, value: &ResidentValue) -> ResidentValue {
        if let ResidentContent::Block(block) = value.content {
            self.blocks.retain_block(block);
        }
        ResidentValue {
            shape: value.shape.clone(),
            ..*value
        }
    }

    /// Releases a value. Its memory is reused when no other value shares it.
    pub fn release_value(&mut self, value: ResidentValue) {
        if let ResidentContent::Block(block) = value.content {
            self.blocks.release_block(block);
        }
    }

    /// Copies bytes of a value to the host, from an offset on.
    ///
    /// # Errors
    /// When the range is not within the value, or the machine fails.
    pub fn read_resident(
        &mut self,
        value: &ResidentValue,
        at: u64,
        out: &mut [u8],
    ) -> MachineResult<(), M> {
        check_value_range(value, at, out.len())?;
        match value.content {
            ResidentContent::Scalar(bits) => {
                let at = at as usize;
                out.copy_from_slice(&bits.to_le_bytes()[at..at + out.len()]);
                Ok(())
            }
            ResidentContent::Block(block) => self.blocks.read_all(&mut [(block, at, out)]),
        }
    }

    /// Copies bytes from the host into an array, from an offset on. Values that share the array change, too.
    ///
    /// # Errors
    /// When the range is not within the array, the value is a scalar, or the machine fails.
    pub fn write_resident(
        &mut self,
        value: &ResidentValue,
        at: u64,
        bytes: &[u8],
    ) -> MachineResult<(), M> {
        check_value_range(value, at, bytes.len())?;
        match value.content {
            ResidentContent::Scalar(_) => {
                let message = "a scalar cannot be changed in place".to_owned();
                Err(ProgramError::Invalid(message))
            }
            ResidentContent::Block(block) => self.blocks.write_bytes(block, at, bytes),
        }
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
        let PreparedCall { entry, frame } = self.prepare_resident(entry, given)?;
        let frame = self.run_frames(frame)?;
        let results = self.finish_resident(entry, &frame);
        self.drop_frame(frame);
        results
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
        let mut frame = self.begin_frame(entry.function, &[]);
        match self.bind_resident(entry, given, &mut frame) {
            Ok(()) => Ok(PreparedCall { entry, frame }),
            Err(error) => {
                self.drop_frame(frame);
                Err(error)
            }
        }
    }

    /// Waits for a call, and makes values of its results.
    fn finish_resident(
        &mut self,
        entry: &ProgramEntry,
        frame: &HostFrame,
    ) -> MachineResult<Vec<ResidentValue>, M> {
        self.check_failures()?;
        let waited = self.blocks.machine.wait_idle();
        waited.map_err(ProgramError::Machine)?;
        let mut results = Vec::new();
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
                ResidentContent::Block(self.upload_block(&[])?)
            }
            HostSlot::Memory(mem) => {
                let block = self.require_block(frame, mem)?;
                let is_own = self.memories.contains(&Some(block));
                if is_own || !self.blocks.is_on_device(block) {
                    let count = shape.iter().product::<u64>() * value.element.size();
                    let bytes = self.blocks.read_bytes(block, 0, count)?;
                    ResidentContent::Block(self.upload_block(&bytes)?)
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
        self.blocks.free_unused();
        let waited = self.blocks.machine.wait_idle();
        waited.map_err(ProgramError::Machine)
    }
}

/// Checks that a range of bytes is within a value.
fn check_value_range<E>(
    value: &ResidentValue,
    at: u64,
    length: usize,
) -> Result<(), ProgramError<E>> {
    let count = value.byte_count();
    match at.checked_add(length as u64) {
        Some(end) if end <= count => Ok(()),
        _ => Err(ProgramError::Invalid(format!(
            "{length} bytes at {at} of a value of {count} bytes"
        ))),
    }
}

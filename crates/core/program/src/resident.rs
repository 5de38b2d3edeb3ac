//! Resident values: scalars, and arrays on the machine that stay there between calls.
//!
//! Values belong to a heap, so that all programs of this heap take them as arguments.

use crate::heap::{MachineResult, ProgramHeap};
use crate::program::{EntryValueType, HostSlot};
use crate::{KernelMachine, ProgramError, ScalarType};

/// A scalar, or an array on the machine. It refers to memory of its heap until the heap releases it.
#[derive(Debug)]
pub struct ResidentValue {
    /// Type of the elements.
    pub element: ScalarType,
    /// Whether integers have no sign.
    pub unsigned: bool,
    /// Sizes of the dimensions; none for a scalar.
    pub shape: Vec<u64>,
    pub(crate) content: ResidentContent,
}

/// The content of a resident value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ResidentContent {
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

impl EntryValueType {
    /// The scalar of the part, from its bytes.
    pub fn make_scalar(&self, bytes: &[u8]) -> ResidentValue {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        ResidentValue::from_scalar(self.element, self.unsigned, u64::from_le_bytes(word))
    }
}

impl<M: KernelMachine> ProgramHeap<M> {
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

    /// Makes an array with undefined contents.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn create_array(
        &mut self,
        element: ScalarType,
        unsigned: bool,
        shape: Vec<u64>,
    ) -> MachineResult<ResidentValue, M> {
        let size = element.size();
        let length = shape.iter().try_fold(size, |n, s| n.checked_mul(*s));
        let length = length.ok_or_else(|| {
            let message = format!("an array of shape {shape:?} is too large");
            ProgramError::Invalid(message)
        })?;
        Ok(ResidentValue {
            element,
            unsigned,
            shape,
            content: ResidentContent::Block(self.allocate_device(length)?),
        })
    }

    /// A block with these bytes, and one reference.
    pub(crate) fn upload_block(&mut self, bytes: &[u8]) -> MachineResult<usize, M> {
        let block = self.allocate_device(bytes.len() as u64)?;
        if let Err(error) = self.write_bytes(block, 0, bytes) {
            self.release_block(block);
            return Err(error);
        }
        Ok(block)
    }

    /// Another value with the same elements in the same memory.
    pub fn share_value(&mut self, value: &ResidentValue) -> ResidentValue {
        if let ResidentContent::Block(block) = value.content {
            self.retain_block(block);
        }
        ResidentValue {
            shape: value.shape.clone(),
            ..*value
        }
    }

    /// Whether two arrays share memory.
    pub fn is_shared(&self, first: &ResidentValue, second: &ResidentValue) -> bool {
        match (first.content, second.content) {
            (ResidentContent::Block(first), ResidentContent::Block(second)) => first == second,
            _ => false,
        }
    }

    /// Another value with the same elements in memory of its own. The elements pass through the host.
    ///
    /// # Errors
    /// When there is no memory for them, or the machine fails.
    pub fn copy_value(&mut self, value: &ResidentValue) -> MachineResult<ResidentValue, M> {
        let content = match value.content {
            ResidentContent::Scalar(bits) => ResidentContent::Scalar(bits),
            ResidentContent::Block(block) => {
                let bytes = self.read_bytes(block, 0, value.byte_count())?;
                ResidentContent::Block(self.upload_block(&bytes)?)
            }
        };
        Ok(ResidentValue {
            shape: value.shape.clone(),
            content,
            ..*value
        })
    }

    /// Releases a value. Its memory is reused when no other value shares it.
    pub fn release_value(&mut self, value: ResidentValue) {
        if let ResidentContent::Block(block) = value.content {
            self.release_block(block);
        }
    }

    /// Gives a value the form that a part of a parameter takes: a scalar, or an array of the type in the program. The value is released
    /// where it cannot have it.
    ///
    /// # Errors
    /// When there is no memory for an array, or the machine fails.
    pub fn adapt_value(
        &mut self,
        mut value: ResidentValue,
        part: &EntryValueType,
    ) -> MachineResult<ResidentValue, M> {
        let size = part.element.size() as usize;
        match (part.slot, value.content) {
            (HostSlot::Scalar(_), ResidentContent::Scalar(bits)) => Ok(ResidentValue::from_scalar(
                part.element,
                part.unsigned,
                bits,
            )),
            (HostSlot::Scalar(_), ResidentContent::Block(_)) => {
                let mut word = [0; 8];
                let read = self.read_resident(&value, 0, &mut word[..size]);
                self.release_value(value);
                read.map(|()| part.make_scalar(&word[..size]))
            }
            (HostSlot::Memory(_), ResidentContent::Scalar(bits)) => {
                let bytes = &bits.to_le_bytes()[..size];
                self.upload_array(part.element, part.unsigned, Vec::new(), bytes)
            }
            (HostSlot::Memory(_), ResidentContent::Block(_)) => {
                value.element = part.element;
                value.unsigned = part.unsigned;
                Ok(value)
            }
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
            ResidentContent::Block(block) => self.read_all(&mut [(block, at, out)]),
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
            ResidentContent::Block(block) => self.write_bytes(block, at, bytes),
        }
    }

    /// The machine's block of an array; none for a scalar.
    pub fn resident_block(&self, value: &ResidentValue) -> Option<M::Block> {
        match value.content {
            ResidentContent::Scalar(_) => None,
            ResidentContent::Block(block) => self.device_block(block).ok(),
        }
    }

    /// Frees memory of the machine that is kept for later calls.
    ///
    /// # Errors
    /// When the machine fails.
    pub fn free_unused_memory(&mut self) -> MachineResult<(), M> {
        self.free_unused();
        let waited = self.machine.wait_idle();
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

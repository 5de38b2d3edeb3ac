//! Values: the scalars and arrays that a value of C consists of.

use crate::context::ContextState;
use crate::failure::CallFailure;
use crate::handle::{get_ref, get_slice, get_slice_mut, set_result};
use crate::word::TypeWord;
use spirula_program::ResidentValue;
use std::ffi::c_void;
use std::sync::OnceLock;

/// A value of a program.
pub struct SpirulaFutharkValue {
    /// The number of its context.
    context: u64,
    pub(crate) parts: Vec<ResidentValue>,
    /// The sizes of an array: those of its first part with dimensions, or parts that are sizes.
    pub(crate) shape: Vec<i64>,
    /// A copy of an array's elements for the host.
    pub(crate) copy: OnceLock<Box<[u8]>>,
}

/// The word of arguments and results that are values rather than scalars.
pub(crate) const VALUE_WORD: &str = "*";

/// The number that a part is, if it is a scalar.
fn read_size(part: &ResidentValue) -> Option<i64> {
    part.scalar_bits().map(|bits| bits as i64)
}

/// An argument of a call or of a constructor: scalars that belong to it, or the parts of a value.
pub(crate) enum GivenArgument<'a> {
    Scalar(ResidentValue),
    Parts(&'a [ResidentValue]),
}

impl GivenArgument<'_> {
    /// The parts.
    pub fn parts(&self) -> &[ResidentValue] {
        match self {
            GivenArgument::Scalar(scalar) => std::slice::from_ref(scalar),
            GivenArgument::Parts(parts) => parts,
        }
    }
}

impl ContextState {
    /// Makes a value.
    pub fn make_value(&self, parts: Vec<ResidentValue>) -> *mut SpirulaFutharkValue {
        let shape = parts.iter().map(|part| &part.shape);
        let shape = match shape.clone().find(|shape| !shape.is_empty()) {
            Some(shape) => shape.iter().map(|size| *size as i64).collect(),
            None => parts.iter().filter_map(read_size).collect(),
        };
        Box::into_raw(Box::new(SpirulaFutharkValue {
            context: self.number,
            parts,
            shape,
            copy: OnceLock::new(),
        }))
    }

    /// A value of this context.
    pub unsafe fn find_value<'a>(
        &self,
        value: *const SpirulaFutharkValue,
    ) -> Result<&'a SpirulaFutharkValue, CallFailure> {
        // SAFETY: the crate's contract.
        let value = unsafe { get_ref(value) }?;
        if value.context != self.number {
            let message = "the value belongs to another context";
            return Err(CallFailure::from_message(message));
        }
        Ok(value)
    }

    /// The argument behind a pointer: a scalar of the type of a word, or a value.
    pub unsafe fn read_argument<'a>(
        &self,
        word: &str,
        pointer: *const c_void,
    ) -> Result<GivenArgument<'a>, CallFailure> {
        if word == VALUE_WORD {
            // SAFETY: the crate's contract.
            let value = unsafe { self.find_value(pointer.cast()) }?;
            return Ok(GivenArgument::Parts(&value.parts));
        }
        let scalar = TypeWord::parse(word)?;
        // SAFETY: the crate's contract.
        let bytes = unsafe { get_slice(pointer.cast::<u8>(), scalar.element_size()) }?;
        let mut bits = [0; 8];
        bits[..bytes.len()].copy_from_slice(bytes);
        Ok(GivenArgument::Scalar(ResidentValue::from_scalar(
            scalar.element,
            scalar.unsigned,
            u64::from_le_bytes(bits),
        )))
    }

    /// Writes a result: a scalar of the type of a word, or a new value.
    pub unsafe fn write_output(
        &mut self,
        word: &str,
        mut parts: Vec<ResidentValue>,
        output: *mut c_void,
    ) -> Result<(), CallFailure> {
        if word == VALUE_WORD {
            let value = self.make_value(parts);
            // SAFETY: the crate's contract.
            let written = unsafe { set_result(output.cast(), value) };
            if written.is_err() {
                // SAFETY: the value was made above, and nothing refers to it.
                unsafe { self.free_value(value) }?;
            }
            return written;
        }
        let scalar = TypeWord::parse(word)?;
        let found = parts.pop().filter(|_| parts.is_empty());
        let found = found.filter(|part| part.element == scalar.element);
        let Some(bits) = found.and_then(|part| part.scalar_bits()) else {
            return Err(CallFailure::from_message(format!(
                "the result is no {word}"
            )));
        };
        let bytes = bits.to_le_bytes();
        // SAFETY: the crate's contract.
        let output = unsafe { get_slice_mut(output.cast::<u8>(), scalar.element_size()) }?;
        output.copy_from_slice(&bytes[..output.len()]);
        Ok(())
    }

    /// Frees a value.
    pub unsafe fn free_value(
        &mut self,
        value: *mut SpirulaFutharkValue,
    ) -> Result<(), CallFailure> {
        // SAFETY: the crate's contract.
        unsafe { self.find_value(value) }?;
        // SAFETY: it came from `Box::into_raw`, and by the contract is not freed yet.
        let value = unsafe { Box::from_raw(value) };
        let session = self.session()?;
        let parts = value.parts.into_iter();
        parts.for_each(|part| session.release_value(part));
        Ok(())
    }

    /// New values that share the arrays of others.
    pub fn share_parts(
        &mut self,
        parts: &[ResidentValue],
    ) -> Result<Vec<ResidentValue>, CallFailure> {
        let session = self.session()?;
        Ok(parts.iter().map(|part| session.share_value(part)).collect())
    }
}

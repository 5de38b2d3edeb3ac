//! Conversion of C's pointers and numbers to references and handles.
//!
//! All unsafe code that turns pointers into references is in this file. Each function relies on the contract in the
//! crate's documentation, and checks for null.

use crate::error::ApiFailure;
use spirula_spirv::Id;
use spirula_spirv::ir::{Block, Func, Inst, SpirvModule};
use std::ptr::NonNull;

/// No function, block or instruction.
pub const SPIRULA_NONE: u32 = u32::MAX;

/// An object that is only read.
pub(crate) unsafe fn get_ref<'a, T>(pointer: *const T) -> Result<&'a T, ApiFailure> {
    // SAFETY: not null here, and then the caller's contract makes it one of our live objects.
    unsafe { pointer.as_ref() }.ok_or(ApiFailure::Null)
}

/// An object that is modified.
pub(crate) unsafe fn get_mut<'a, T>(pointer: *mut T) -> Result<&'a mut T, ApiFailure> {
    // SAFETY: as above, and the contract has no other thread use it.
    unsafe { pointer.as_mut() }.ok_or(ApiFailure::Null)
}

/// An array that is only read; null is an empty array.
pub(crate) unsafe fn slice_from_raw<'a, T>(
    pointer: *const T,
    count: usize,
) -> Result<&'a [T], ApiFailure> {
    match (pointer.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(ApiFailure::Null),
        // SAFETY: not null, and as long as the contract says.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(pointer, count) }),
    }
}

/// Text in UTF-8.
pub(crate) unsafe fn text_from_raw<'a>(
    pointer: *const u8,
    count: usize,
) -> Result<&'a str, ApiFailure> {
    // SAFETY: the contract for arrays.
    let bytes = unsafe { slice_from_raw(pointer, count) }?;
    std::str::from_utf8(bytes)
        .map_err(|e| ApiFailure::Argument(format!("the text is no UTF-8: {e}")))
}

/// A pointer to which a result is written.
pub(crate) struct OutPointer<T>(NonNull<T>);

impl<T> OutPointer<T> {
    /// From a pointer that the contract lets be written.
    pub unsafe fn new(pointer: *mut T) -> Result<OutPointer<T>, ApiFailure> {
        NonNull::new(pointer)
            .map(OutPointer)
            .ok_or(ApiFailure::Null)
    }

    /// Writes the result.
    pub fn set_value(self, value: T) {
        // SAFETY: not null, and the creator of this pointer guarantees that it can be written.
        unsafe { self.0.as_ptr().write(value) };
    }
}

/// Copies as much as a buffer holds, and returns the full length.
pub(crate) unsafe fn fill_buffer<T: Copy>(buffer: *mut T, capacity: usize, values: &[T]) -> usize {
    if !buffer.is_null() {
        let count = values.len().min(capacity);
        // SAFETY: the buffer has room for `capacity` by the contract, and is none of our memory.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), buffer, count) };
    }
    values.len()
}

pub(crate) fn find_inst(module: &SpirvModule, number: u32) -> Result<Inst, ApiFailure> {
    let found = module.inst_at(number as usize);
    found.ok_or_else(|| ApiFailure::Argument(format!("{number} is no instruction of the module")))
}

/// A block that has not been removed. Removed blocks are empty.
pub(crate) fn find_block(module: &SpirvModule, number: u32) -> Result<Block, ApiFailure> {
    let found = module.block_at(number as usize);
    let found = found.filter(|b| module.body(*b).next().is_some());
    found.ok_or_else(|| ApiFailure::Argument(format!("{number} is no block of the module")))
}

pub(crate) fn find_func(module: &SpirvModule, number: u32) -> Result<Func, ApiFailure> {
    let found = module.func_at(number as usize);
    found.ok_or_else(|| ApiFailure::Argument(format!("{number} is no function of the module")))
}

pub(crate) fn find_id(module: &SpirvModule, word: u32) -> Result<Id, ApiFailure> {
    let found = Id::new(word).filter(|_| word < module.bound());
    found.ok_or_else(|| ApiFailure::Argument(format!("{word} is no id of the module")))
}

/// The number of a handle; [`SPIRULA_NONE`] for none.
pub(crate) fn handle_number(index: Option<usize>) -> u32 {
    index.map_or(SPIRULA_NONE, |at| at as u32)
}

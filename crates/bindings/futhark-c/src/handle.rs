//! Conversion of C's pointers to references, and results to C's memory.
//!
//! All unsafe code that turns pointers into references is in this file. Each function relies on the contract in the crate's
//! documentation, and checks for null.

use crate::failure::CallFailure;
use std::ffi::{CStr, c_char, c_void};

/// A function that allocates memory as `malloc` does.
pub type SpirulaFutharkAllocate = Option<unsafe extern "C" fn(usize) -> *mut c_void>;

fn null_failure() -> CallFailure {
    CallFailure::from_message("a pointer is null")
}

/// An object that is only read.
pub(crate) unsafe fn get_ref<'a, T>(pointer: *const T) -> Result<&'a T, CallFailure> {
    // SAFETY: null is handled, and otherwise the caller's contract makes it one of our live objects.
    unsafe { pointer.as_ref() }.ok_or_else(null_failure)
}

/// An object that is modified.
pub(crate) unsafe fn get_mut<'a, T>(pointer: *mut T) -> Option<&'a mut T> {
    // SAFETY: as above, and the contract has no other thread use it.
    unsafe { pointer.as_mut() }
}

/// An array that is only read; null is an array without elements.
pub(crate) unsafe fn get_slice<'a, T>(
    pointer: *const T,
    count: usize,
) -> Result<&'a [T], CallFailure> {
    match (pointer.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(null_failure()),
        // SAFETY: not null, and as long as the contract says.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(pointer, count) }),
    }
}

/// An array that is written; null is an array without elements.
pub(crate) unsafe fn get_slice_mut<'a, T>(
    pointer: *mut T,
    count: usize,
) -> Result<&'a mut [T], CallFailure> {
    match (pointer.is_null(), count) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(null_failure()),
        // SAFETY: not null, as long as the contract says, and none of our memory.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts_mut(pointer, count) }),
    }
}

/// Text. Bytes that are not UTF-8 are replaced.
pub(crate) unsafe fn get_text(pointer: *const c_char) -> Result<String, CallFailure> {
    if pointer.is_null() {
        return Err(null_failure());
    }
    // SAFETY: not null, and the contract has it end with a zero byte.
    let text = unsafe { CStr::from_ptr(pointer) };
    Ok(text.to_string_lossy().into_owned())
}

/// Writes a result.
pub(crate) unsafe fn set_result<T>(pointer: *mut T, value: T) -> Result<(), CallFailure> {
    if pointer.is_null() {
        return Err(null_failure());
    }
    // SAFETY: not null, and the contract lets it be written.
    unsafe { pointer.write(value) };
    Ok(())
}

/// Text in memory that the caller frees; null if there is no memory for it.
pub(crate) unsafe fn allocate_text(text: &str, allocate: SpirulaFutharkAllocate) -> *mut c_char {
    let bytes = text.as_bytes().iter().copied().filter(|byte| *byte != 0);
    let bytes: Vec<u8> = bytes.chain([0]).collect();
    // SAFETY: the same contract.
    unsafe { allocate_bytes(&bytes, allocate) }.cast()
}

/// A copy of bytes in memory that the caller frees; null if there is no memory for it.
pub(crate) unsafe fn allocate_bytes(bytes: &[u8], allocate: SpirulaFutharkAllocate) -> *mut u8 {
    let Some(allocate) = allocate else {
        return std::ptr::null_mut();
    };
    // SAFETY: the function behaves as `malloc` by the contract.
    let memory: *mut u8 = unsafe { allocate(bytes.len().max(1)) }.cast();
    if !memory.is_null() {
        // SAFETY: the memory is new, and as long as requested.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory, bytes.len()) };
    }
    memory
}

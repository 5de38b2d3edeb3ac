//! Addresses of the caller, and directions of copies between the caller's memory and memory objects.

use crate::error::{CallResult, require};
use crate::memory::ClMemory;
use opencl_sys::{
    CL_INVALID_OPERATION, CL_INVALID_VALUE, CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY,
    CL_MEM_HOST_WRITE_ONLY,
};
use std::ffi::c_void;
use std::ops::Range;

/// An address of the caller that a command uses later.
#[derive(Clone, Copy)]
pub struct UserAddress(*mut u8);

// SAFETY: the caller keeps the memory until the command has ended.
unsafe impl Send for UserAddress {}
// SAFETY: as above.
unsafe impl Sync for UserAddress {}

impl UserAddress {
    /// The address of memory that a command uses.
    ///
    /// # Errors
    /// When it is null.
    pub fn new(pointer: *const c_void) -> CallResult<UserAddress> {
        require(
            !pointer.is_null(),
            CL_INVALID_VALUE,
            "there is no memory of the caller",
        )?;
        Ok(UserAddress(pointer.cast_mut().cast()))
    }

    /// The bytes from an offset on.
    ///
    /// # Safety
    /// The contract of the crate.
    pub unsafe fn bytes<'a>(self, range: Range<u64>) -> &'a mut [u8] {
        let size = (range.end - range.start) as usize;
        std::slice::from_raw_parts_mut(self.0.add(range.start as usize), size)
    }
}

/// Directions of copies between a memory object and the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferDirection {
    /// The caller gets the bytes.
    Read,
    /// The memory object gets the bytes.
    Write,
}

impl TransferDirection {
    /// Refuses a transfer that the flags of an object exclude.
    ///
    /// # Errors
    /// `CL_INVALID_OPERATION`.
    pub fn check_flags(self, memory: &ClMemory) -> CallResult<()> {
        let excluded = match self {
            TransferDirection::Read => CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS,
            TransferDirection::Write => CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS,
        };
        let is_allowed = memory.flags & excluded == 0;
        let message = "the flags of the memory object exclude this";
        require(is_allowed, CL_INVALID_OPERATION, message)
    }
}

//! Asynchronous copies between addresses that the program computed.
//!
//! # Unsafe code
//! `OpGroupAsyncCopy` names memory by addresses, as loads and stores of generated code do. The caller of a kernel
//! promises that its arguments are memory, and that the program stays within them. Copies are guarded as generated
//! code is.
#![allow(unsafe_code)]

use super::guard::{self, TrapReason};
use crate::layout::async_copy::AsyncCopyRequest;
use crate::layout::launch_context::LaunchContext;

/// Copies elements.
///
/// # Errors
/// When there is no memory at an address.
///
/// # Safety
/// The program may read and write the memory that this names.
pub(crate) unsafe fn copy_elements(elements: &AsyncCopyRequest) -> Result<(), TrapReason> {
    let place = std::ptr::from_ref(elements).cast::<LaunchContext>();
    // SAFETY: `copy` takes the elements for a context; memory is the caller's promise.
    unsafe { guard::call_guarded(run_async_copy, place, [0; 3], &[]) }.map(|_| ())
}

/// Copies elements. It has the signature of an entry function.
unsafe extern "C" fn run_async_copy(elements: *const LaunchContext, _: u32, _: u32, _: u32) -> u64 {
    // SAFETY: `copy_elements` passes them.
    let e = unsafe { *elements.cast::<AsyncCopyRequest>() };
    let (to_step, from_step) = if e.strided_source {
        (e.size, e.size.wrapping_mul(e.stride))
    } else {
        (e.size.wrapping_mul(e.stride), e.size)
    };
    for n in 0..e.count {
        let target = e.to.wrapping_add(n.wrapping_mul(to_step)) as *mut u8;
        let source = e.from.wrapping_add(n.wrapping_mul(from_step)) as *const u8;
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy(source, target, e.size as usize) };
    }
    0
}

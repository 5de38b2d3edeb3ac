//! Copies between addresses that the program computed.
//!
//! # Unsafe code
//! `OpGroupAsyncCopy` names memory by addresses, as loads and stores of generated code do: whoever
//! runs a kernel promises that its arguments are memory, and the program that it stays within.
#![allow(unsafe_code)]

/// Copies `count` elements of `size` bytes; one side's elements are `stride` elements apart.
///
/// # Safety
/// The program may read and write the memory that this names.
pub(crate) unsafe fn copy_elements(
    to: u64,
    from: u64,
    count: u64,
    size: u64,
    stride: u64,
    strided_source: bool,
) {
    let (to_step, from_step) = if strided_source {
        (size, size.wrapping_mul(stride))
    } else {
        (size.wrapping_mul(stride), size)
    };
    for n in 0..count {
        let target = to.wrapping_add(n.wrapping_mul(to_step)) as *mut u8;
        let source = from.wrapping_add(n.wrapping_mul(from_step)) as *const u8;
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy(source, target, size as usize) };
    }
}

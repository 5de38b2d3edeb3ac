//! Functions that JavaScript calls, and the memory that passes between them.
//!
//! JavaScript allocates two blocks for a request and its input, calls [`spirula_answer`], copies the reply, and frees all
//! three. A reply is a block that begins with the number of its other bytes, in 32 bits.

#![allow(unsafe_code)] // Blocks of memory belong to JavaScript between calls.

use crate::answer_request;
use std::alloc::{Layout, alloc_zeroed, dealloc};

/// Bytes of the number that a reply begins with.
const HEAD: usize = size_of::<u32>();

/// Allocates a block of bytes, all 0. Null stands for a block that is empty or too large.
#[unsafe(no_mangle)]
pub extern "C" fn spirula_allocate(bytes: usize) -> *mut u8 {
    match Layout::array::<u8>(bytes) {
        // SAFETY: the layout is not empty.
        Ok(layout) if bytes > 0 => unsafe { alloc_zeroed(layout) },
        _ => std::ptr::null_mut(),
    }
}

/// Frees a block of [`spirula_allocate`] or a reply, with all of its bytes. Null is ignored.
///
/// # Safety
/// The block came from this module, has this number of bytes, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_free(block: *mut u8, bytes: usize) {
    if let (false, Ok(layout)) = (block.is_null(), Layout::array::<u8>(bytes)) {
        // SAFETY: the caller passes a block with its size.
        unsafe { dealloc(block, layout) };
    }
}

/// Answers a request about an input. The reply begins with the number of its other bytes, little-endian.
///
/// # Safety
/// Each block is null or has the stated number of bytes, which nothing changes during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_answer(
    request: *const u8,
    request_bytes: usize,
    input: *const u8,
    input_bytes: usize,
) -> *mut u8 {
    // SAFETY: the caller passes blocks with their sizes.
    let (request, input) = unsafe {
        (
            borrow_block(request, request_bytes),
            borrow_block(input, input_bytes),
        )
    };
    let reply = answer_request(request, input);
    let size = u32::try_from(reply.len()).unwrap_or(0);
    let block = spirula_allocate(HEAD + size as usize);
    if !block.is_null() {
        // SAFETY: the block has room for the number and the reply.
        let whole = unsafe { std::slice::from_raw_parts_mut(block, HEAD + size as usize) };
        whole[..HEAD].copy_from_slice(&size.to_le_bytes());
        whole[HEAD..].copy_from_slice(&reply.as_bytes()[..size as usize]);
    }
    block
}

/// The bytes of a block; none where it is null.
///
/// # Safety
/// The block is null or has the stated number of bytes, which nothing changes while they are borrowed.
unsafe fn borrow_block<'a>(block: *const u8, bytes: usize) -> &'a [u8] {
    if block.is_null() {
        return &[];
    }
    // SAFETY: the caller passes a block with its size.
    unsafe { std::slice::from_raw_parts(block, bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_passes_through_memory() {
        let request = br#"{"command": "describe"}"#;
        // SAFETY: all blocks have the stated sizes, and the reply is freed once.
        unsafe {
            let block = spirula_allocate(request.len());
            std::slice::from_raw_parts_mut(block, request.len()).copy_from_slice(request);
            let reply = spirula_answer(block, request.len(), std::ptr::null(), 0);
            let head: [u8; HEAD] = std::slice::from_raw_parts(reply, HEAD).try_into().unwrap();
            let size = u32::from_le_bytes(head) as usize;
            let text = std::slice::from_raw_parts(reply.add(HEAD), size);
            assert!(text.starts_with(b"{"), "{}", String::from_utf8_lossy(text));
            spirula_free(reply, HEAD + size);
            spirula_free(block, request.len());
        }
        assert!(spirula_allocate(0).is_null());
        assert!(spirula_allocate(usize::MAX).is_null());
    }
}

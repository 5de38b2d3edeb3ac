//! Non-temporal stub: the host's machine code that stores two vectors past the caches.

/// Stores two vectors of 16 bytes, the first two vector arguments, to the address in the first integer argument. The
/// stores pass the caches by where the address is a multiple of 16. No register changes.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
pub(crate) const CODE: Option<&[u8]> = Some(&[
    0x40, 0xf6, 0xc7, 0x0f, // test dil, 15
    0x75, 0x08,             // jne 1f
    0x0f, 0x2b, 0x07,       // movntps [rdi], xmm0
    0x0f, 0x2b, 0x4f, 0x10, // movntps [rdi + 16], xmm1
    0xc3,                   // ret
    0x0f, 0x11, 0x07,       // 1: movups [rdi], xmm0
    0x0f, 0x11, 0x4f, 0x10, // movups [rdi + 16], xmm1
    0xc3,                   // ret
]);
#[cfg(not(target_arch = "x86_64"))]
pub(crate) const CODE: Option<&[u8]> = None;

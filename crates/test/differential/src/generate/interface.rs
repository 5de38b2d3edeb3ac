//! The interface of generated kernels: buffers, arguments, invocations.

/// Invocations of a launch, one workgroup.
pub const ITEMS: u64 = 4;
/// Bytes that an invocation reads.
pub const INPUT: u64 = 64;
/// Bytes that an invocation writes.
pub const OUTPUT: u64 = 2048;
/// Name of the kernel.
pub const KERNEL: &str = "kernel";
/// Arguments after the buffers: an `i32`, a `float`, an `i64`, a `<4 x i32>`.
pub const ARGUMENTS: [&[u8]; 4] = [
    &[0x2a, 0, 0, 0x80],
    &[0, 0, 0x20, 0x40],
    &[0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01],
    &[
        1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 7, 0, 0, 0, 0, 0, 0, 0x80,
    ],
];

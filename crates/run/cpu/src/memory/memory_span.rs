//! Memory span: bytes that the caller lends to a launch.

/// Memory that a kernel may read and write.
#[derive(Clone, Copy, Debug)]
pub struct MemorySpan {
    /// Address of the first byte.
    pub address: *mut u8,
    /// Size in bytes.
    pub length: u64,
}

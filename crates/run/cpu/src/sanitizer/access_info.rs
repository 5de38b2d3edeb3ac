//! Access info: the bits by which generated code describes an access or a fault to the runtime.
//!
//! The site's number has the lowest 16 bits. The number of bytes begins at bit 32.

pub(crate) const SITE: u64 = 0xffff;
pub(crate) const WRITE: u64 = 1 << 16;
pub(crate) const ATOMIC: u64 = 1 << 17;
/// The value that is written is passed.
pub(crate) const VALUE: u64 = 1 << 18;
pub(crate) const ACQUIRE: u64 = 1 << 19;
pub(crate) const RELEASE: u64 = 1 << 20;
/// The access reads.
pub(crate) const READ: u64 = 1 << 21;
/// The memory is cleared at the start, so that it may be read before it is written.
pub(crate) const CLEARED: u64 = 1 << 22;
/// The granule is known. Its logarithm follows in two bits.
pub(crate) const GRANULE: u64 = 1 << 23;
pub(crate) const GRANULE_SHIFT: u32 = 24;
/// First bit of the kind of a fault.
pub(crate) const KIND_SHIFT: u32 = 26;
/// Flag beside the kind: a value is at fault, not the memory that is read.
pub(crate) const DEPENDS: u64 = 1 << 29;
/// Flag beside the kind: a result does not fit its type.
pub(crate) const OVERFLOW: u64 = 1 << 30;
pub(crate) const BYTES_SHIFT: u32 = 32;

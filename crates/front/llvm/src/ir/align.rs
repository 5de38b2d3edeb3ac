//! Alignments.

/// Alignment in bytes, a power of two, or unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LlvmAlign(u8);

impl LlvmAlign {
    /// Unknown alignment: that of types without a size, and of globals that state none.
    pub const NONE: LlvmAlign = LlvmAlign(0);

    /// An alignment of `2^exponent` bytes.
    pub const fn from_exponent(exponent: u8) -> LlvmAlign {
        LlvmAlign(exponent + 1)
    }

    /// An alignment in bytes; `None` if it is not a power of two below 2^33.
    pub fn from_bytes(bytes: u64) -> Option<LlvmAlign> {
        (bytes.is_power_of_two() && bytes <= 1 << 32)
            .then(|| LlvmAlign::from_exponent(bytes.trailing_zeros() as u8))
    }

    /// The alignment in bytes, if it is known.
    pub fn to_bytes(self) -> Option<u64> {
        (self.0 != 0).then(|| 1 << (self.0 - 1))
    }
}

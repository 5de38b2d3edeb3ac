//! Source locations: positions in an input, text or binary.

use std::fmt;

/// A location in one input file, small enough to be carried by every instruction of an IR.
///
/// The file is not part of it: a compilation has one input, which the renderer of a diagnostic knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SourceLocation {
    /// The location is unknown, or the fault concerns the input as a whole.
    #[default]
    Unknown,
    /// The bytes `start..end` of a text.
    Text {
        /// First byte.
        start: u32,
        /// One past the last byte.
        end: u32,
    },
    /// A byte offset into a binary input.
    Byte(u64),
    /// A bit offset into a bit stream (LLVM bitcode).
    Bit(u64),
    /// A word offset into a SPIR-V module; the header is words 0 to 4.
    Word(u32),
}

impl SourceLocation {
    /// The bytes `start..end` of a text. Offsets above `u32::MAX` are clamped to it.
    pub fn from_text_range(start: usize, end: usize) -> Self {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        SourceLocation::Text {
            start: clamp(start),
            end: clamp(end),
        }
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            SourceLocation::Unknown => f.write_str("unknown place"),
            SourceLocation::Text { start, .. } => write!(f, "byte {start}"),
            SourceLocation::Byte(at) => write!(f, "byte {at} ({at:#x})"),
            SourceLocation::Bit(at) => write!(f, "bit {at} (byte {:#x})", at / 8),
            SourceLocation::Word(at) => write!(f, "word {at} (byte {:#x})", u64::from(at) * 4),
        }
    }
}

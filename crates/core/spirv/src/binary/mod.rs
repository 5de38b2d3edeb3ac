//! The binary form: words, the header, and the stream of instructions.
//!
//! [`words_from_bytes`] brings bytes of either order into words; [`InstructionStream`] walks them without allocating.
//! The module IR is read from and written to words by [`crate::ir`].

mod stream;
mod words;

pub use stream::{InstructionStream, RawInst, SpirvHeader};
pub(crate) use stream::{first_word, split_first_word};
pub(crate) use words::put_bytes;
pub use words::{MAGIC, is_spirv, to_bytes, words_from_bytes};

//! Operand words: strings and lists of operands in SPIR-V's encoding.

use smallvec::SmallVec;

/// A list of operand words, which is usually short.
pub(super) type TranslationWords = SmallVec<[u32; 8]>;

/// Appends a string as the words of a literal.
pub(super) fn push_string(words: &mut Vec<u32>, text: &str) {
    let bytes = text.as_bytes();
    let bytes = bytes.split(|b| *b == 0).next().unwrap_or(bytes);
    let (whole, rest) = bytes.as_chunks::<4>();
    words.extend(whole.iter().map(|word| u32::from_le_bytes(*word)));
    let last = rest.iter().rev();
    words.push(last.fold(0, |word, byte| word << 8 | u32::from(*byte)));
}

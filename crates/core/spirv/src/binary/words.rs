//! Conversion of bytes to words and back.

use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// The first word of every module.
pub const MAGIC: u32 = 0x0723_0203;

/// Whether the bytes begin with SPIR-V's magic number in either byte order.
pub fn is_spirv(bytes: &[u8]) -> bool {
    matches!(bytes.get(..4), Some([3, 2, 0x23, 7] | [7, 0x23, 2, 3]))
}

/// The words of a module in the machine's order, whichever order the bytes are in.
///
/// # Errors
/// When the bytes do not begin with the magic number, or are not a multiple of four.
pub fn words_from_bytes(bytes: &[u8]) -> Result<Vec<u32>, SourceDiagnostic> {
    if !is_spirv(bytes) {
        return Err(SourceDiagnostic::error(
            SourceLocation::Byte(0),
            "not a SPIR-V module: no magic number",
        ));
    }
    let (chunks, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        let place = SourceLocation::Byte(bytes.len() as u64);
        return Err(
            SourceDiagnostic::error(place, "the module ends in the middle of a word")
                .with_hint("the file is truncated, or has bytes after the module"),
        );
    }
    let little = chunks[0] == MAGIC.to_le_bytes();
    // One loop for each order, which the compiler turns into a copy and a byte swap.
    Ok(if little {
        chunks.iter().map(|c| u32::from_le_bytes(*c)).collect()
    } else {
        chunks.iter().map(|c| u32::from_be_bytes(*c)).collect()
    })
}

/// Words as little-endian bytes.
pub fn to_bytes(words: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 * words.len());
    put_bytes(words, &mut bytes);
    bytes
}

/// Appends words as little-endian bytes.
pub(crate) fn put_bytes(words: &[u32], bytes: &mut Vec<u8>) {
    let begin = bytes.len();
    bytes.resize(begin + 4 * words.len(), 0);
    let (places, _) = bytes[begin..].as_chunks_mut::<4>();
    for (place, word) in places.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
}

//! Attribute encoding: the numbers that LLVM encodes the keywords of some attributes as.

/// Keywords and their bits. Keywords of larger sets come before those of their subsets.
pub type AttributeBits = &'static [(&'static str, u64)];

/// Of `captures`.
pub const CAPTURES: AttributeBits = &[
    ("provenance", 12),
    ("address", 3),
    ("read_provenance", 4),
    ("address_is_null", 1),
    ("none", 0),
];

/// Of `nofpclass`.
pub const FP_CLASSES: AttributeBits = &[
    ("all", 0x3ff),
    ("nan", 0x003),
    ("inf", 0x204),
    ("norm", 0x108),
    ("sub", 0x090),
    ("zero", 0x060),
    ("snan", 0x001),
    ("qnan", 0x002),
    ("ninf", 0x004),
    ("nnorm", 0x008),
    ("nsub", 0x010),
    ("nzero", 0x020),
    ("pzero", 0x040),
    ("psub", 0x080),
    ("pnorm", 0x100),
    ("pinf", 0x200),
];

/// Of `allockind`.
pub const ALLOC_KINDS: AttributeBits = &[
    ("alloc", 1),
    ("realloc", 2),
    ("free", 4),
    ("uninitialized", 8),
    ("zeroed", 16),
    ("aligned", 32),
];

/// Modes of `denormal_fpenv` by number. Four bits have the mode of denormal results and that of
/// denormal operands; those of `float` are above those of all other types.
pub const DENORMALS: [&str; 4] = ["ieee", "preservesign", "positivezero", "dynamic"];

/// Of `memory`, by their number.
pub const ACCESSES: [&str; 4] = ["none", "read", "write", "readwrite"];

/// The number of an access.
pub fn access_from_name(name: &str) -> Option<u64> {
    ACCESSES
        .iter()
        .position(|&access| access == name)
        .map(|index| index as u64)
}

/// The bits of a word.
pub fn find_bits(table: AttributeBits, name: &str) -> Option<u64> {
    table.iter().find(|row| row.0 == name).map(|row| row.1)
}

/// Keywords that together cover a set of bits. Bits without a keyword are omitted.
pub fn list_words(table: AttributeBits, bits: u64) -> Vec<&'static str> {
    let mut rest = bits;
    let mut words = Vec::new();
    for &(word, bit) in table {
        if bit != 0 && rest & bit == bit {
            words.push(word);
            rest &= !bit;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_cover_their_bits() {
        assert_eq!(list_words(FP_CLASSES, 0x207), ["nan", "inf"]);
        assert_eq!(list_words(CAPTURES, 7), ["address", "read_provenance"]);
    }
}

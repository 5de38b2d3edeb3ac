//! Hexadecimal digits of bytes: two for each, the higher one first.

/// The digits of bytes, in lower case.
pub fn write_hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .filter_map(|digit| char::from_digit(u32::from(digit), 16))
        .collect()
}

/// The bytes of digits in either case. `None` if another character is among them, or if their number is odd.
pub fn read_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let (pairs, []) = digits.as_chunks::<2>() else {
        return None;
    };
    pairs.iter().map(|pair| read_hex_byte(pair)).collect()
}

/// The byte of the two digits with which a text begins. `None` if it begins otherwise.
pub fn read_hex_byte(text: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*text.get(at)?).to_digit(16);
    u8::try_from(digit(0)? << 4 | digit(1)?).ok()
}

#[cfg(test)]
mod tests {
    use super::{read_hex, read_hex_byte, write_hex};

    #[test]
    fn digits_are_read_back() {
        assert_eq!(write_hex(&[0, 0x1f, 0xff]), "001fff");
        assert_eq!(read_hex(b"001fFF"), Some(vec![0, 0x1f, 0xff]));
        assert_eq!(read_hex(b""), Some(Vec::new()));
    }

    #[test]
    fn other_text_is_refused() {
        for text in [&b"0"[..], b"0g", b"+f", b"0x1"] {
            assert_eq!(read_hex(text), None, "{text:?}");
        }
        assert_eq!(read_hex_byte(b"41 rest"), Some(0x41));
        assert_eq!(read_hex_byte(b"4"), None);
        assert_eq!(read_hex_byte(b"-1"), None);
    }
}

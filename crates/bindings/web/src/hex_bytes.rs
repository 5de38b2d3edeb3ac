//! Bytes as hexadecimal digits, as requests and replies have them.

/// The digits of bytes.
pub(crate) fn write_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of digits; none where they are not whole bytes.
pub(crate) fn read_hex(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    let bytes = pairs.map(|pair| {
        let [high, low] = pair else { return None };
        let digit = |byte: u8| char::from(byte).to_digit(16);
        Some((digit(*high)? << 4 | digit(*low)?) as u8)
    });
    bytes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_back() {
        assert_eq!(write_hex(&[0, 0x1f, 0xff]), "001fff");
        assert_eq!(read_hex("001fFF"), Some(vec![0, 0x1f, 0xff]));
        assert_eq!(read_hex("0"), None);
        assert_eq!(read_hex("0g"), None);
    }
}

//! Integer literals: decimal, hexadecimal (`0x`) or octal (leading `0`), as in C, after an optional sign.

/// Why a literal is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NumberError {
    /// It is not written as a number of its kind.
    Malformed,
    /// A minus sign where only unsigned numbers are allowed.
    Negative,
    /// It has too many bits for its type.
    TooLarge,
}

/// Magnitude of an unsigned literal, and whether it was hexadecimal.
fn parse_magnitude(text: &str) -> Result<(u64, bool), NumberError> {
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    if digits.is_empty() {
        return Err(NumberError::Malformed);
    }
    let mut value = 0u64;
    let mut overflow = false;
    for c in digits.bytes() {
        let digit = char::from(c)
            .to_digit(radix)
            .ok_or(NumberError::Malformed)?;
        let next = value
            .checked_mul(u64::from(radix))
            .and_then(|v| v.checked_add(u64::from(digit)));
        overflow |= next.is_none();
        value = next.unwrap_or(0);
    }
    if overflow {
        return Err(NumberError::TooLarge);
    }
    Ok((value, radix == 16))
}

/// The bits of a literal of an integer type up to 64 bits wide, sign-extended to 64 bits where
/// the type is signed. Hexadecimal digits give the bits themselves.
pub fn parse_integer(text: &str, width: u8, signed: bool) -> Result<u64, NumberError> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (value, hexadecimal) = parse_magnitude(digits)?;
    let sign = 1u64 << (width - 1);
    let mask = sign | (sign - 1);
    if negative {
        return match value {
            _ if !signed => Err(NumberError::Negative),
            _ if value > sign => Err(NumberError::TooLarge),
            _ => Ok(value.wrapping_neg()),
        };
    }
    if value > mask || (signed && !hexadecimal && value >= sign) {
        return Err(NumberError::TooLarge);
    }
    if signed && value & sign != 0 {
        return Ok(value | !mask);
    }
    Ok(value)
}

/// A literal of 32 bits of which it is not known whether it is signed.
pub fn parse_word(text: &str) -> Result<u32, NumberError> {
    let bits = if text.starts_with('-') {
        parse_integer(text, 32, true)?
    } else {
        parse_integer(text, 32, false)?
    };
    Ok(bits as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radices_and_ranges() {
        assert_eq!(parse_integer("255", 8, false), Ok(255));
        assert_eq!(parse_integer("256", 8, false), Err(NumberError::TooLarge));
        assert_eq!(parse_integer("-128", 8, true), Ok(-128i64 as u64));
        assert_eq!(parse_integer("-129", 8, true), Err(NumberError::TooLarge));
        assert_eq!(parse_integer("128", 8, true), Err(NumberError::TooLarge));
        assert_eq!(parse_integer("0xff", 8, true), Ok(u64::MAX));
        assert_eq!(parse_integer("-1", 8, false), Err(NumberError::Negative));
        assert_eq!(parse_integer("+5", 32, false), Ok(5));
        assert_eq!(parse_integer("010", 32, false), Ok(8));
        assert_eq!(parse_integer("08", 32, false), Err(NumberError::Malformed));
        assert_eq!(parse_integer("0x", 32, false), Err(NumberError::Malformed));
        assert_eq!(parse_integer("-", 32, true), Err(NumberError::Malformed));
        assert_eq!(
            parse_integer("18446744073709551615", 64, false),
            Ok(u64::MAX)
        );
        let most = "18446744073709551616";
        assert_eq!(parse_integer(most, 64, false), Err(NumberError::TooLarge));
        assert_eq!(parse_integer("-9223372036854775808", 64, true), Ok(1 << 63));
        assert_eq!(parse_word("-1"), Ok(u32::MAX));
        assert_eq!(parse_word("4294967295"), Ok(u32::MAX));
    }
}

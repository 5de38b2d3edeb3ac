//! Floating-point literals of any format up to 64 bits, decimal and hexadecimal.
//!
//! Formats of 32 and 64 bits are written in decimal with digits enough to read back the same bits
//! (9 and 17), and in hexadecimal where they are not zero or normal; narrower formats are always
//! hexadecimal. Infinities and NaNs are written with the exponent one above the largest, and their
//! bits are kept: `0x1p+128` is the infinity of 32 bits, `0x1.8p+128` a NaN.

use super::integer::NumberError;
use crate::grammar::enumerants::FPEncoding;
use std::fmt::Write as _;

/// Layout of a binary floating-point format: sign, exponent, fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatLiteralFormat {
    exponent: u8,
    fraction: u8,
}

impl FloatLiteralFormat {
    pub const F32: FloatLiteralFormat = FloatLiteralFormat::new(8, 23);
    const F16: FloatLiteralFormat = FloatLiteralFormat::new(5, 10);
    const F64: FloatLiteralFormat = FloatLiteralFormat::new(11, 52);
    const BFLOAT16: FloatLiteralFormat = FloatLiteralFormat::new(8, 7);
    const E4M3: FloatLiteralFormat = FloatLiteralFormat::new(4, 3);
    const E5M2: FloatLiteralFormat = FloatLiteralFormat::new(5, 2);

    const fn new(exponent: u8, fraction: u8) -> Self {
        FloatLiteralFormat { exponent, fraction }
    }

    /// The IEEE 754 format of a width in bits.
    pub fn from_width(width: u32) -> Option<Self> {
        match width {
            16 => Some(Self::F16),
            32 => Some(Self::F32),
            64 => Some(Self::F64),
            _ => None,
        }
    }

    /// The format of a width in bits with another encoding.
    pub fn from_encoding(width: u32, encoding: FPEncoding) -> Option<Self> {
        match (width, encoding) {
            (16, FPEncoding::BFloat16KHR) => Some(Self::BFLOAT16),
            (8, FPEncoding::Float8E4M3EXT) => Some(Self::E4M3),
            (8, FPEncoding::Float8E5M2EXT) => Some(Self::E5M2),
            _ => None,
        }
    }

    /// Width in bits.
    pub fn width(self) -> u8 {
        1 + self.exponent + self.fraction
    }

    fn bias(self) -> i64 {
        (1 << (self.exponent - 1)) - 1
    }

    /// Exponent field of infinities and NaNs.
    fn special_exponent(self) -> u64 {
        (1 << self.exponent) - 1
    }

    fn fraction_mask(self) -> u64 {
        (1 << self.fraction) - 1
    }

    /// Writes the literal of a value's bits.
    pub fn print_literal(self, bits: u64, out: &mut String) {
        let exponent = bits >> self.fraction & self.special_exponent();
        let zero = exponent == 0 && bits & self.fraction_mask() == 0;
        let plain = zero || (exponent != 0 && exponent != self.special_exponent());
        match self {
            Self::F32 if plain => print_general(f64::from(f32::from_bits(bits as u32)), 9, out),
            Self::F64 if plain => print_general(f64::from_bits(bits), 17, out),
            _ => self.print_hexadecimal(bits, out),
        }
    }

    fn print_hexadecimal(self, bits: u64, out: &mut String) {
        let mut exponent = (bits >> self.fraction & self.special_exponent()) as i64 - self.bias();
        let mut fraction = bits & self.fraction_mask();
        let negative = bits >> (self.width() - 1) & 1 != 0;
        let mut leading = 1;
        if exponent == -self.bias() {
            if fraction == 0 {
                (leading, exponent) = (0, 0);
            } else {
                exponent += 1;
                while fraction >> self.fraction == 0 {
                    fraction <<= 1;
                    exponent -= 1;
                }
                fraction &= self.fraction_mask();
            }
        }
        out.push_str(if negative { "-0x" } else { "0x" });
        out.push(if leading == 1 { '1' } else { '0' });
        let nibbles = self.fraction.div_ceil(4);
        let mut digits = fraction << (nibbles * 4 - self.fraction);
        if digits != 0 {
            let mut count = usize::from(nibbles);
            while digits & 0xf == 0 {
                digits >>= 4;
                count -= 1;
            }
            // Writing to a string does not fail.
            let _ = write!(out, ".{digits:0count$x}");
        }
        let _ = write!(out, "p{exponent:+}");
    }

    /// The bits of a literal.
    pub fn parse_literal(self, text: &str) -> Result<u64, NumberError> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let magnitude = match digits.as_bytes() {
            [b'0', b'x' | b'X', ..] => self.parse_hexadecimal(&digits[2..])?,
            _ => self.parse_decimal(digits)?,
        };
        Ok(magnitude | u64::from(negative) << (self.width() - 1))
    }

    /// Narrow formats are read as 32 bits and rounded towards zero, as SPIRV-Tools does.
    fn parse_decimal(self, text: &str) -> Result<u64, NumberError> {
        let allowed = |c: u8| c.is_ascii_digit() || matches!(c, b'.' | b'e' | b'E' | b'+' | b'-');
        if !text.starts_with(|c: char| c.is_ascii_digit() || c == '.') || !text.bytes().all(allowed)
        {
            return Err(NumberError::Malformed);
        }
        if self == Self::F64 {
            let value: f64 = text.parse().map_err(|_| NumberError::Malformed)?;
            return if value.is_infinite() {
                Err(NumberError::TooLarge)
            } else {
                Ok(value.to_bits())
            };
        }
        let value: f32 = text.parse().map_err(|_| NumberError::Malformed)?;
        if value.is_infinite() {
            return Err(NumberError::TooLarge);
        }
        if self == Self::F32 {
            return Ok(u64::from(value.to_bits()));
        }
        let (bits, format) = (u64::from(value.to_bits()), Self::F32);
        let field = bits >> format.fraction;
        let fraction = bits & format.fraction_mask();
        let (significand, exponent) = match field {
            0 => (fraction, 1 - format.bias()),
            _ => (
                fraction | 1 << format.fraction,
                field as i64 - format.bias(),
            ),
        };
        let encoded = self.encode_bits(significand, exponent - i64::from(format.fraction));
        if encoded >> self.fraction == self.special_exponent() {
            Err(NumberError::TooLarge)
        } else {
            Ok(encoded)
        }
    }

    fn parse_hexadecimal(self, text: &str) -> Result<u64, NumberError> {
        let (digits, power) = text.split_once(['p', 'P']).ok_or(NumberError::Malformed)?;
        let power = parse_power(power)?;
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() && fraction.is_empty() {
            return Err(NumberError::Malformed);
        }
        let mut significand = 0u64;
        let mut exponent = power;
        for (at, c) in whole.bytes().chain(fraction.bytes()).enumerate() {
            let digit = char::from(c).to_digit(16).ok_or(NumberError::Malformed)?;
            // Digits that no format can hold are cut off.
            let kept = significand >> 60 == 0;
            if kept {
                significand = significand << 4 | u64::from(digit);
            }
            exponent += match (kept, at < whole.len()) {
                (true, false) => -4,
                (false, true) => 4,
                _ => 0,
            };
        }
        Ok(self.encode_bits(significand, exponent))
    }

    /// The bits of `significand * 2^exponent`, rounded towards zero. With the exponent one above
    /// the largest the fraction is kept as an infinity's or a NaN's; beyond, it is infinite.
    fn encode_bits(self, significand: u64, exponent: i64) -> u64 {
        if significand == 0 {
            return 0;
        }
        let zeros = significand.leading_zeros();
        let significand = significand << zeros;
        let field = exponent + 63 - i64::from(zeros) + self.bias();
        let fraction = (significand << 1) >> (64 - self.fraction);
        match field {
            ..=0 => {
                let shift = 64 - i64::from(self.fraction) - field;
                let shift = u32::try_from(shift).unwrap_or(u32::MAX);
                significand.checked_shr(shift).unwrap_or(0)
            }
            _ if field as u64 > self.special_exponent() => self.special_exponent() << self.fraction,
            _ => (field as u64) << self.fraction | fraction,
        }
    }
}

/// A decimal power of two, held within a range that every sum with it fits.
fn parse_power(text: &str) -> Result<i64, NumberError> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|c| c.is_ascii_digit()) {
        return Err(NumberError::Malformed);
    }
    let value = digits.parse::<i64>().unwrap_or(i64::MAX).min(1 << 40);
    Ok(if text.starts_with('-') { -value } else { value })
}

/// Writes a number as C's `%.*g` does: fixed or with an exponent, without trailing zeros.
fn print_general(value: f64, precision: usize, out: &mut String) {
    let start = out.len();
    // Writing to a string does not fail.
    let _ = write!(out, "{value:.*e}", precision - 1);
    let mut buffer = [0u8; 20];
    let (mut count, mut exponent) = (0, 0i32);
    if let Some((digits, power)) = out[start..].split_once('e') {
        exponent = power.parse().unwrap_or(0);
        for digit in digits.bytes().filter(u8::is_ascii_digit) {
            buffer[count] = digit;
            count += 1;
        }
    }
    let negative = out[start..].starts_with('-');
    out.truncate(start);
    if negative {
        out.push('-');
    }
    while count > 1 && buffer[count - 1] == b'0' {
        count -= 1;
    }
    let digits = &buffer[..count];
    let mut push = |digits: &[u8]| out.extend(digits.iter().map(|d| char::from(*d)));
    let fixed = -4 <= exponent && exponent < precision as i32;
    let point = match (fixed, exponent) {
        (true, 0..) => exponent as usize + 1,
        (true, _) => {
            push(b"0.");
            push(&b"000"[..(-exponent - 1) as usize]);
            push(digits);
            return;
        }
        (false, _) => 1,
    };
    push(&digits[..point.min(count)]);
    if point < count {
        push(b".");
        push(&digits[point..]);
    }
    for _ in count..point {
        push(b"0");
    }
    if !fixed {
        let sign = if exponent < 0 { '-' } else { '+' };
        let _ = write!(out, "e{sign}{:02}", exponent.abs());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print_to_string(format: FloatLiteralFormat, bits: u64) -> String {
        let mut out = String::new();
        format.print_literal(bits, &mut out);
        out
    }

    #[test]
    fn plain_numbers_are_decimal() {
        let f32_of = |v: f32| print_to_string(FloatLiteralFormat::F32, u64::from(v.to_bits()));
        for (value, text) in [
            (0.1, "0.100000001"),
            (-0.0, "-0"),
            (1e10, "1e+10"),
            (123_456_789.0, "123456792"),
            (1e-5, "9.99999975e-06"),
            (1e-4, "9.99999975e-05"),
            (1.5e-3, "0.00150000001"),
            (0.25, "0.25"),
            (100.0, "100"),
            (f32::MAX, "3.40282347e+38"),
            (f32::INFINITY, "0x1p+128"),
            (1e-40, "0x1.16c2p-133"),
        ] {
            assert_eq!(f32_of(value), text);
        }
        let f64_of = |v: f64| print_to_string(FloatLiteralFormat::F64, v.to_bits());
        assert_eq!(f64_of(0.1), "0.10000000000000001");
        assert_eq!(f64_of(1e300), "1.0000000000000001e+300");
        assert_eq!(f64_of(5e-324), "0x1p-1074");
    }

    #[test]
    fn every_narrow_value_reads_back() {
        for format in [
            FloatLiteralFormat::F16,
            FloatLiteralFormat::BFLOAT16,
            FloatLiteralFormat::E4M3,
            FloatLiteralFormat::E5M2,
        ] {
            for bits in 0..1u64 << format.width() {
                let text = print_to_string(format, bits);
                assert_eq!(format.parse_literal(&text), Ok(bits), "{format:?} {text}");
            }
        }
    }

    #[test]
    fn special_bits_are_kept() {
        for bits in [
            0x7f80_0000,
            0xff80_0100,
            0x7fc0_0000,
            0x7f80_0001,
            1,
            0x807f_ffff,
        ] {
            let text = print_to_string(FloatLiteralFormat::F32, bits);
            assert_eq!(
                FloatLiteralFormat::F32.parse_literal(&text),
                Ok(bits),
                "{text}"
            );
        }
        for bits in [0x7ff0_0000_0000_0001, 0xfff8_0000_0000_0000, 1, 1 << 63] {
            let text = print_to_string(FloatLiteralFormat::F64, bits);
            assert_eq!(
                FloatLiteralFormat::F64.parse_literal(&text),
                Ok(bits),
                "{text}"
            );
        }
    }

    #[test]
    fn malformed_and_too_large_literals_are_refused() {
        let parse = |text| FloatLiteralFormat::F32.parse_literal(text);
        for text in [
            "", "-", ".", "inf", "nan", "1e", "0x", "0x1.8", "0x.p1", "+-1", "0x1p", "0x1p+-1",
            "1.2.3", "1f",
        ] {
            assert_eq!(parse(text), Err(NumberError::Malformed), "{text}");
        }
        assert_eq!(parse("1e39"), Err(NumberError::TooLarge));
        assert_eq!(
            FloatLiteralFormat::F16.parse_literal("65536"),
            Err(NumberError::TooLarge)
        );
        assert_eq!(parse("0x1p99999999999999999999"), Ok(0x7f80_0000));
        assert_eq!(parse("0x1p-99999999999999999999"), Ok(0));
    }
}

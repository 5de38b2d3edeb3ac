//! Floating-point literals.

/// A binary floating-point format of IEEE 754's layout: sign, exponent, fraction.
#[derive(Clone, Copy, Debug)]
pub struct LlvmFloatFormat {
    /// Width of the exponent in bits.
    pub exponent: u32,
    /// Width of the fraction in bits, without the implicit leading one.
    pub fraction: u32,
}

impl LlvmFloatFormat {
    const fn new(exponent: u32, fraction: u32) -> LlvmFloatFormat {
        LlvmFloatFormat { exponent, fraction }
    }
}

/// IEEE 754 binary16.
pub const HALF: LlvmFloatFormat = LlvmFloatFormat::new(5, 10);
/// bfloat16.
pub const BFLOAT: LlvmFloatFormat = LlvmFloatFormat::new(8, 7);
/// IEEE 754 binary32.
pub const FLOAT: LlvmFloatFormat = LlvmFloatFormat::new(8, 23);

/// IEEE 754 binary64.
pub const DOUBLE: LlvmFloatFormat = LlvmFloatFormat::new(11, 52);

/// The bits of a binary64 number in a narrower format; `None` if that format cannot represent it
/// exactly.
pub fn narrow_float(bits: u64, format: LlvmFloatFormat) -> Option<u64> {
    let LlvmFloatFormat {
        exponent: exponent_width,
        fraction: fraction_width,
    } = format;
    let sign = bits >> 63 << (exponent_width + fraction_width);
    let exponent = bits >> 52 & 0x7ff;
    let fraction = bits & ((1 << 52) - 1);
    let dropped = 52 - fraction_width;
    let all_ones = (1 << exponent_width) - 1;
    if exponent == 0x7ff {
        // A NaN whose payload does not fit keeps the payload's upper bits if the result is still a
        // NaN.
        let kept = fraction >> dropped;
        return (kept != 0 || fraction == 0).then_some(sign | all_ones << fraction_width | kept);
    }
    if exponent == 0 {
        return (fraction == 0).then_some(sign);
    }
    let bias = (1_i64 << (exponent_width - 1)) - 1;
    let scaled = exponent as i64 - 1023 + bias;
    if scaled >= all_ones as i64 {
        return None;
    }
    let (dropped, significand, scaled) = match scaled {
        1.. => (dropped, fraction, scaled as u64),
        // A subnormal number of the narrower format has an explicit leading one.
        _ => (
            dropped + u32::try_from(1 - scaled).ok()?,
            fraction | 1 << 52,
            0,
        ),
    };
    if dropped > 63 || significand & ((1 << dropped) - 1) != 0 {
        return None;
    }
    Some(sign | scaled << fraction_width | significand >> dropped)
}

/// The bits of a binary64 number in C's hexadecimal notation, `0x1.8p3` (LLVM 23). It is `None` for
/// other notations, and for numbers that binary64 cannot represent.
pub fn parse_hexadecimal_float(text: &str) -> Option<u64> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (1 << 63, rest),
        None => (0, text.strip_prefix('+').unwrap_or(text)),
    };
    let (digits, exponent) = text.strip_prefix("0x")?.split_once(['p', 'P'])?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut significand: u64 = 0;
    for digit in whole.chars().chain(fraction.chars()) {
        let shifted = significand.checked_mul(16)?;
        significand = shifted | u64::from(digit.to_digit(16)?);
    }
    let exponent: i64 = exponent.parse().ok()?;
    let exponent = exponent.checked_sub(4 * fraction.len() as i64)?;
    if significand == 0 {
        return (!digits.is_empty()).then_some(sign);
    }
    // The number is `significand * 2^exponent`. A normal number has an implicit leading one.
    let top = 63 - i64::from(significand.leading_zeros());
    let scaled = top.checked_add(exponent)?;
    let lowest = (scaled - 52).max(-1074);
    let shift = exponent - lowest;
    let bits = match shift {
        0..=52 => significand << shift,
        -63..0 if significand & ((1 << -shift) - 1) == 0 => significand >> -shift,
        _ => return None,
    };
    let biased = match scaled {
        -1022..=1023 => (scaled + 1022) as u64,
        ..-1022 => 0,
        _ => return None,
    };
    Some(sign | ((biased << 52) + bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_floats_are_exact() {
        let value = |text| parse_hexadecimal_float(text).map(f64::from_bits);
        assert_eq!(value("0x1.8p3"), Some(12.0));
        assert_eq!(value("-0xAp-4"), Some(-0.625));
        assert_eq!(value("+0x0p+0"), Some(0.0));
        assert_eq!(value("0x1p-1074"), Some(f64::from_bits(1)));
        assert_eq!(value("0x1p-1022"), Some(f64::MIN_POSITIVE));
        assert_eq!(value("0x1.fffffffffffffp1023"), Some(f64::MAX));
        assert_eq!(value("0x1.00000000000001p0"), None);
        assert_eq!(value("0x1p1024"), None);
        assert_eq!(value("0x1p-1075"), None);
        assert_eq!(value("0x.p1"), Some(0.0));
        assert_eq!(value("0xg.p1"), None);
    }

    #[test]
    fn narrowing_is_exact_or_refused() {
        assert_eq!(narrow_float(1.0_f64.to_bits(), HALF), Some(0x3c00));
        assert_eq!(
            narrow_float((-2.5_f64).to_bits(), FLOAT),
            Some(u64::from((-2.5_f32).to_bits()))
        );
        assert_eq!(narrow_float(0.1_f64.to_bits(), FLOAT), None);
        assert_eq!(narrow_float(1e300_f64.to_bits(), FLOAT), None);
        let least = f64::from(f32::from_bits(1)).to_bits();
        assert_eq!(narrow_float(least, FLOAT), Some(1));
        assert_eq!(narrow_float(f64::INFINITY.to_bits(), BFLOAT), Some(0x7f80));
        assert_eq!(
            narrow_float(5.960464477539063e-8_f64.to_bits(), HALF),
            Some(1)
        );
    }
}

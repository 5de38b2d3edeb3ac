//! Printer of floats as decimal text.

use crate::mlir::MlirFloat;

/// A float as MLIR prints it. Six digits are printed if they are exact, otherwise all digits that
/// distinguish it from its neighbours. A float that is not a number is printed as hexadecimal bits.
pub(crate) fn show_float(float: MlirFloat, bits: u64) -> String {
    let value = float.format().decode_bits(bits);
    if value.is_finite() {
        let short = format_scientific(&DecimalDigits::new(value, 6), value);
        let parsed = short
            .parse()
            .map(|parsed: f64| float.format().encode_value(parsed));
        if parsed == Ok(bits) {
            return short;
        }
        let precision = 2 + (float.format().mantissa as usize + 1) * 59 / 196;
        let long = format_natural(&DecimalDigits::new(value, precision), value, precision);
        if long.contains('.') {
            return long;
        }
    }
    format!("0x{bits:0width$X}", width = 1)
}

/// Decimal digits of a magnitude, without zeros at the end.
///
/// The exact digits are truncated to slightly more than the precision, and then rounded half up. As
/// in LLVM's `APFloat::toString`, the truncation may leave nothing to round, which distinguishes
/// `9.99999974E-6` from `1.000000e-05`.
struct DecimalDigits {
    /// At least one.
    digits: Vec<u8>,
    /// Power of ten of the last digit.
    exponent: i32,
}

impl DecimalDigits {
    fn new(value: f64, precision: usize) -> DecimalDigits {
        let (number, mut exponent) = BigNatural::from_magnitude(value.abs());
        let (bits, mut digits) = (number.bit_length(), number.into_digits());
        let enough = (precision * 196).div_ceil(59);
        let cut = bits.saturating_sub(enough) * 59 / 196;
        digits.truncate(digits.len() - cut);
        exponent += cut as i32;
        exponent += drop_zeros(&mut digits);
        if digits.len() > precision {
            let up = digits[precision] >= b'5';
            exponent += (digits.len() - precision) as i32;
            digits.truncate(precision);
            if up {
                exponent += increment_digits(&mut digits);
            }
            exponent += drop_zeros(&mut digits);
        }
        DecimalDigits { digits, exponent }
    }

    fn as_text(&self) -> &str {
        std::str::from_utf8(&self.digits).unwrap_or_default()
    }
}

/// Removes trailing zeros, but not the only digit, and returns their number.
fn drop_zeros(digits: &mut Vec<u8>) -> i32 {
    let zeros = digits
        .iter()
        .rev()
        .take_while(|&&digit| digit == b'0')
        .count();
    let zeros = zeros.min(digits.len() - 1);
    digits.truncate(digits.len() - zeros);
    zeros as i32
}

/// Adds one to the last digit; digits that became zero are removed, and counted.
fn increment_digits(digits: &mut Vec<u8>) -> i32 {
    let nines = digits
        .iter()
        .rev()
        .take_while(|&&digit| digit == b'9')
        .count();
    digits.truncate(digits.len() - nines);
    match digits.last_mut() {
        Some(last) => *last += 1,
        None => digits.push(b'1'),
    }
    nines as i32
}

/// A natural number, the least significant 32 bits first.
struct BigNatural(Vec<u32>);

impl BigNatural {
    /// The exact decomposition of a magnitude into a number and a power of ten.
    fn from_magnitude(value: f64) -> (BigNatural, i32) {
        let stored = (value.to_bits() >> 52) as i32;
        let fraction = value.to_bits() & ((1 << 52) - 1);
        let (significand, exponent) = match stored {
            0 if fraction == 0 => (0, 0),
            0 => (fraction, -1074),
            _ => (fraction | 1 << 52, stored - 1075),
        };
        let zeros = significand.trailing_zeros() % 64;
        let (significand, exponent) = (significand >> zeros, exponent + zeros as i32);
        let mut number = BigNatural(vec![significand as u32, (significand >> 32) as u32]);
        // 2^-n is 5^n * 10^-n.
        let factor = if exponent < 0 { 5 } else { 2 };
        (0..exponent.unsigned_abs()).for_each(|_| number.multiply_by(factor));
        (number, exponent.min(0))
    }

    fn multiply_by(&mut self, factor: u32) {
        let mut carry = 0;
        for limb in &mut self.0 {
            let product = u64::from(*limb) * u64::from(factor) + carry;
            *limb = product as u32;
            carry = product >> 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    fn bit_length(&self) -> usize {
        let used = self.0.iter().rposition(|&limb| limb != 0);
        used.map_or(0, |at| at * 32 + (32 - self.0[at].leading_zeros() as usize))
    }

    /// Decimal digits, at least one.
    fn into_digits(mut self) -> Vec<u8> {
        let mut reversed = Vec::new();
        while self.bit_length() > 0 {
            let mut rest = 0;
            for limb in self.0.iter_mut().rev() {
                let part = rest << 32 | u64::from(*limb);
                *limb = (part / 1_000_000_000) as u32;
                rest = part % 1_000_000_000;
            }
            for _ in 0..9 {
                reversed.push(b'0' + (rest % 10) as u8);
                rest /= 10;
            }
        }
        while reversed.len() > 1 && reversed.last() == Some(&b'0') {
            reversed.pop();
        }
        if reversed.is_empty() {
            reversed.push(b'0');
        }
        reversed.reverse();
        reversed
    }
}

fn sign_prefix(value: f64) -> &'static str {
    if value.is_sign_negative() { "-" } else { "" }
}

/// `1.500000e+00`: one digit before the point, six after it.
fn format_scientific(digits: &DecimalDigits, value: f64) -> String {
    let text = digits.as_text();
    let exponent = digits.exponent + text.len() as i32 - 1;
    let (first, rest) = text.split_at(1);
    let minus = if exponent < 0 { '-' } else { '+' };
    format!(
        "{}{first}.{rest:0<6}e{minus}{:02}",
        sign_prefix(value),
        exponent.abs()
    )
}

/// `0.125`, `3.1415926535897931`, `9.99999974E-6`
fn format_natural(digits: &DecimalDigits, value: f64, precision: usize) -> String {
    let text = digits.as_text();
    let (count, exponent) = (text.len() as i32, digits.exponent);
    let sign = sign_prefix(value);
    let most = exponent + count - 1;
    let is_scientific = if exponent >= 0 {
        exponent > 3 || count + exponent > precision as i32
    } else {
        most < -3
    };
    if is_scientific {
        let (first, rest) = text.split_at(1);
        let rest = if rest.is_empty() { "0" } else { rest };
        let minus = if most < 0 { '-' } else { '+' };
        return format!("{sign}{first}.{rest}E{minus}{}", most.abs());
    }
    let whole = count + exponent;
    match (exponent >= 0, whole > 0) {
        (true, _) => format!("{sign}{text}{}", "0".repeat(exponent as usize)),
        (false, true) => {
            let (whole, part) = text.split_at(whole as usize);
            format!("{sign}{whole}.{part}")
        }
        (false, false) => format!("{sign}0.{}{text}", "0".repeat(-whole as usize)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32_text(value: f32) -> String {
        show_float(MlirFloat::F32, value.to_bits().into())
    }

    #[test]
    fn floats_are_as_mlir_prints_them() {
        assert_eq!(f32_text(0.0), "0.000000e+00");
        assert_eq!(f32_text(-0.0), "-0.000000e+00");
        assert_eq!(f32_text(1.5), "1.500000e+00");
        assert_eq!(f32_text(1e-5), "9.99999974E-6");
        assert_eq!(f32_text(0.1), "1.000000e-01");
        assert_eq!(f32_text(1.001_953_1), "1.00195313");
        assert_eq!(f32_text(f32::INFINITY), "0x7F800000");
        assert_eq!(
            show_float(MlirFloat::F64, std::f64::consts::PI.to_bits()),
            "3.1415926535897931"
        );
    }
}

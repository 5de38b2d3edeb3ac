//! Scalars as bits: exact values of floats, and rounding of exact values, by integers alone.

use crate::reference::{P, RM, big, to_f64};
use astro_float_num::BigFloat;

/// A scalar type of OpenCL C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpenClScalar {
    F16,
    F32,
    F64,
    /// Width in bits, and whether signed.
    Int(u32, bool),
}

use OpenClScalar::{F16, F32, F64, Int};

pub const FLOATS: [OpenClScalar; 3] = [F16, F32, F64];
pub const INTS: [OpenClScalar; 8] = [
    Int(8, true),
    Int(8, false),
    Int(16, true),
    Int(16, false),
    Int(32, true),
    Int(32, false),
    Int(64, true),
    Int(64, false),
];

/// Rounding mode of exact values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundingDirection {
    Even,
    Zero,
    Up,
    Down,
}

/// A value in full: `±mantissa · 2^exponent`.
#[derive(Clone, Copy, Debug)]
pub enum ExactValue {
    Finite(bool, u128, i32),
    Infinite(bool),
    Nan,
}

impl OpenClScalar {
    pub fn bits(self) -> u32 {
        match self {
            F16 => 16,
            F32 => 32,
            F64 => 64,
            Int(bits, _) => bits,
        }
    }

    pub fn bytes(self) -> usize {
        self.bits() as usize / 8
    }

    pub fn is_float(self) -> bool {
        !matches!(self, Int(..))
    }

    pub fn is_signed(self) -> bool {
        !matches!(self, Int(_, false))
    }

    /// Its name in LLVM.
    pub fn llvm(self) -> &'static str {
        match self {
            F16 => "half",
            F32 => "float",
            F64 => "double",
            Int(8, _) => "i8",
            Int(16, _) => "i16",
            Int(32, _) => "i32",
            Int(..) => "i64",
        }
    }

    /// Its name in OpenCL C.
    pub fn name(self) -> &'static str {
        match self {
            F16 => "half",
            F32 => "float",
            F64 => "double",
            Int(8, true) => "char",
            Int(8, false) => "uchar",
            Int(16, true) => "short",
            Int(16, false) => "ushort",
            Int(32, true) => "int",
            Int(32, false) => "uint",
            Int(_, true) => "long",
            Int(_, false) => "ulong",
        }
    }

    /// Its code in mangled names.
    pub fn letters(self) -> &'static str {
        match self {
            F16 => "Dh",
            F32 => "f",
            F64 => "d",
            Int(8, true) => "c",
            Int(8, false) => "h",
            Int(16, true) => "s",
            Int(16, false) => "t",
            Int(32, true) => "i",
            Int(32, false) => "j",
            Int(_, true) => "l",
            Int(_, false) => "m",
        }
    }

    /// Bits of the fraction, and the smallest exponent of a normal number.
    pub fn format(self) -> (u32, i32) {
        match self {
            F16 => (10, -14),
            F32 => (23, -126),
            _ => (52, -1022),
        }
    }

    /// The signed integer of the same width.
    pub fn as_int(self) -> OpenClScalar {
        Int(self.bits(), true)
    }

    /// The unsigned integer of the same width.
    pub fn as_uint(self) -> OpenClScalar {
        Int(self.bits(), false)
    }

    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// An integer as a number.
    pub fn int(self, bits: u64) -> i128 {
        let bits = bits & self.mask();
        let top = 1 << (self.bits() - 1);
        if self.is_signed() && bits & top != 0 {
            i128::from(bits) - (1 << self.bits())
        } else {
            i128::from(bits)
        }
    }

    /// The least and the greatest integer.
    pub fn range(self) -> (i128, i128) {
        let bits = self.bits();
        if self.is_signed() {
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            (0, (1 << bits) - 1)
        }
    }

    /// A number as the bits of an integer, wrapped.
    pub fn wrapped(self, value: i128) -> u64 {
        value as u64 & self.mask()
    }

    /// A number as the bits of an integer, saturated.
    pub fn saturated(self, value: i128) -> u64 {
        let (low, high) = self.range();
        self.wrapped(value.clamp(low, high))
    }

    /// The value of a number in full.
    pub fn exact(self, bits: u64) -> ExactValue {
        if let Int(..) = self {
            let value = self.int(bits);
            return ExactValue::Finite(value < 0, value.unsigned_abs(), 0);
        }
        let (fraction, least) = self.format();
        let negative = bits >> (self.bits() - 1) & 1 == 1;
        let exponents = self.bits() - 1 - fraction;
        let exponent = (bits >> fraction & ((1 << exponents) - 1)) as i32;
        let part = u128::from(bits & ((1 << fraction) - 1));
        let unit = least - fraction as i32;
        match exponent {
            0 => ExactValue::Finite(negative, part, unit),
            e if e == (1 << exponents) - 1 && part == 0 => ExactValue::Infinite(negative),
            e if e == (1 << exponents) - 1 => ExactValue::Nan,
            e => ExactValue::Finite(negative, part | 1 << fraction, unit + e - 1),
        }
    }

    /// A float as a double, which holds every one.
    pub fn float(self, bits: u64) -> f64 {
        match self.exact(bits) {
            ExactValue::Finite(negative, mantissa, exponent) => {
                let magnitude = libm::ldexp(mantissa as f64, exponent);
                if negative { -magnitude } else { magnitude }
            }
            ExactValue::Infinite(true) => f64::NEG_INFINITY,
            ExactValue::Infinite(false) => f64::INFINITY,
            ExactValue::Nan => f64::NAN,
        }
    }

    /// The bits of a float, rounded to nearest.
    pub fn of(self, value: f64) -> u64 {
        self.rounded(F64.exact(value.to_bits()), RoundingDirection::Even)
    }

    /// The bits of an exact value as a float.
    pub fn rounded(self, value: ExactValue, mode: RoundingDirection) -> u64 {
        let (fraction, least) = self.format();
        let infinity = self.mask() >> 1 & !((1 << fraction) - 1);
        let sign = |negative: bool| u64::from(negative) << (self.bits() - 1);
        let (negative, mantissa, exponent) = match value {
            ExactValue::Nan => return infinity | 1 << (fraction - 1),
            ExactValue::Infinite(negative) => return sign(negative) | infinity,
            ExactValue::Finite(negative, 0, _) => return sign(negative),
            ExactValue::Finite(negative, mantissa, exponent) => (negative, mantissa, exponent),
        };
        let top = exponent + 127 - mantissa.leading_zeros() as i32;
        let mut unit = top.max(least) - fraction as i32;
        let (mut whole, above) = shifted(mantissa, exponent - unit, mode, negative);
        whole += u128::from(above);
        if whole >> (fraction + 1) != 0 {
            whole >>= 1;
            unit += 1;
        }
        if whole >> fraction == 0 {
            return sign(negative) | whole as u64;
        }
        let biased = (unit + fraction as i32 - least + 1) as u64;
        let encoded = biased << fraction | (whole as u64 & ((1 << fraction) - 1));
        if encoded < infinity {
            return sign(negative) | encoded;
        }
        let outwards = match mode {
            RoundingDirection::Even => true,
            RoundingDirection::Zero => false,
            RoundingDirection::Up => !negative,
            RoundingDirection::Down => negative,
        };
        sign(negative) | if outwards { infinity } else { infinity - 1 }
    }
}

/// `mantissa · 2^by` rounded down, and whether rounding increments it.
fn shifted(mantissa: u128, by: i32, mode: RoundingDirection, negative: bool) -> (u128, bool) {
    if by >= 0 {
        return (mantissa << by, false);
    }
    let down = by.unsigned_abs();
    let (whole, rest, half) = match down {
        1..=127 => {
            let rest = mantissa & ((1 << down) - 1);
            (mantissa >> down, rest, 1 << (down - 1))
        }
        128 => (0, mantissa, 1 << 127),
        _ => (0, mantissa.min(1), 2),
    };
    let above = match mode {
        RoundingDirection::Even => rest > half || rest == half && whole & 1 == 1,
        RoundingDirection::Zero => false,
        RoundingDirection::Up => !negative && rest != 0,
        RoundingDirection::Down => negative && rest != 0,
    };
    (whole, above)
}

/// An exact value as an integer; `None` where it is not a number.
pub fn to_int(value: ExactValue, mode: RoundingDirection) -> Option<i128> {
    match value {
        ExactValue::Nan => None,
        ExactValue::Infinite(negative) => Some(if negative { -(1 << 100) } else { 1 << 100 }),
        ExactValue::Finite(_, 0, _) => Some(0),
        ExactValue::Finite(negative, mantissa, exponent) => {
            let top = exponent + 127 - mantissa.leading_zeros() as i32;
            let magnitude = match top {
                100.. => 1 << 100,
                _ => {
                    let (whole, above) = shifted(mantissa, exponent, mode, negative);
                    whole as i128 + i128::from(above)
                }
            };
            Some(if negative { -magnitude } else { magnitude })
        }
    }
}

fn power_of_two(exponent: i32) -> BigFloat {
    let mut power = big(1.0);
    power.set_exponent(exponent + 1);
    power
}

/// The distance of a float from an exact value in units in the last place at that value. Infinity
/// counts as the number that would follow the largest one.
pub fn ulps(scalar: OpenClScalar, bits: u64, exact: &BigFloat) -> f64 {
    let got = scalar.float(bits);
    if got.is_nan() || exact.is_nan() {
        return if got.is_nan() && exact.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    let (fraction, lowest) = scalar.format();
    let highest = 1 - lowest;
    let exponent = match exact.exponent() {
        Some(exponent) if !exact.is_zero() => (exponent - 1).clamp(lowest, highest),
        _ => lowest,
    };
    let unit = exponent - fraction as i32;
    let beyond = |negative: bool| {
        let one = if negative { -1.0 } else { 1.0 };
        big(one).mul(&power_of_two(highest + 1), P, RM)
    };
    let got = if got.is_infinite() {
        beyond(got < 0.0)
    } else {
        big(got)
    };
    let exact = match exact.exponent() {
        _ if exact.is_zero() => exact.clone(),
        Some(exponent) if !exact.is_inf() && exponent <= highest + 1 => exact.clone(),
        _ => beyond(!exact.is_positive()),
    };
    let difference = got.sub(&exact, P, RM).abs();
    to_f64(&difference.mul(&power_of_two(-unit), P, RM))
}

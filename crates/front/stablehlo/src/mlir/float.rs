//! The floating-point formats of MLIR and their bits.
//!
//! Every format of at most 64 bits is a row of [`FLOATS`]; conversion from and to `f64` is one
//! function for all of them. Conversion rounds to nearest, ties to even. The encodings of infinity
//! and NaN in a format are its [`FloatSpecials`]. Sources are the documentation of LLVM's
//! `APFloat`, and the papers and specifications that define the formats: OCP's "8-bit floating
//! point" and "Microscaling formats", and arXiv:2206.02915 for the `FNUZ` ones.

/// Use of the encodings that IEEE 754 reserves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatSpecials {
    /// Infinities and NaNs as in IEEE 754.
    Ieee,
    /// No infinities; all ones is NaN (`FN`).
    NanAllOnes,
    /// No infinities, no negative zero; the encoding of negative zero is NaN (`FNUZ`).
    NanNegativeZero,
    /// Neither infinities nor NaNs.
    Finite,
    /// Only an exponent, without sign or zero; all ones is NaN (`f8E8M0FNU`).
    ExponentOnly,
}

/// A floating-point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MlirFloatFormat {
    /// MLIR's name of the type.
    pub name: &'static str,
    /// All bits.
    pub width: u32,
    /// Bits of the exponent.
    pub exponent: u32,
    /// Bits of the significand that are stored.
    pub mantissa: u32,
    /// Bias: the number that is subtracted from a stored exponent.
    pub bias: i32,
    /// Infinities and NaNs.
    pub specials: FloatSpecials,
}

/// All formats. [`super::MlirTypeKind::MlirFloat`] has a position in this table.
pub const FLOATS: &[MlirFloatFormat] = &[
    define_format("f16", 16, 5, 10, 15, FloatSpecials::Ieee),
    define_format("bf16", 16, 8, 7, 127, FloatSpecials::Ieee),
    define_format("f32", 32, 8, 23, 127, FloatSpecials::Ieee),
    define_format("f64", 64, 11, 52, 1023, FloatSpecials::Ieee),
    define_format("tf32", 19, 8, 10, 127, FloatSpecials::Ieee),
    define_format("f8E5M2", 8, 5, 2, 15, FloatSpecials::Ieee),
    define_format("f8E4M3", 8, 4, 3, 7, FloatSpecials::Ieee),
    define_format("f8E4M3FN", 8, 4, 3, 7, FloatSpecials::NanAllOnes),
    define_format("f8E5M2FNUZ", 8, 5, 2, 16, FloatSpecials::NanNegativeZero),
    define_format("f8E4M3FNUZ", 8, 4, 3, 8, FloatSpecials::NanNegativeZero),
    define_format("f8E4M3B11FNUZ", 8, 4, 3, 11, FloatSpecials::NanNegativeZero),
    define_format("f8E3M4", 8, 3, 4, 3, FloatSpecials::Ieee),
    define_format("f4E2M1FN", 4, 2, 1, 1, FloatSpecials::Finite),
    define_format("f6E2M3FN", 6, 2, 3, 1, FloatSpecials::Finite),
    define_format("f6E3M2FN", 6, 3, 2, 3, FloatSpecials::Finite),
    define_format("f8E8M0FNU", 8, 8, 0, 127, FloatSpecials::ExponentOnly),
];

const fn define_format(
    name: &'static str,
    width: u32,
    exponent: u32,
    mantissa: u32,
    bias: i32,
    specials: FloatSpecials,
) -> MlirFloatFormat {
    MlirFloatFormat {
        name,
        width,
        exponent,
        mantissa,
        bias,
        specials,
    }
}

/// One of [`FLOATS`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MlirFloat(u8);

impl MlirFloat {
    /// IEEE 754 half precision.
    pub const F16: MlirFloat = MlirFloat(0);
    /// The upper half of `f32`.
    pub const BF16: MlirFloat = MlirFloat(1);
    /// IEEE 754 single precision.
    pub const F32: MlirFloat = MlirFloat(2);
    /// IEEE 754 double precision.
    pub const F64: MlirFloat = MlirFloat(3);

    /// The format with this name.
    pub fn from_name(name: &str) -> Option<MlirFloat> {
        let at = FLOATS.iter().position(|format| format.name == name)?;
        Some(MlirFloat(at as u8))
    }

    /// Its row.
    pub const fn format(self) -> &'static MlirFloatFormat {
        &FLOATS[self.0 as usize]
    }

    /// MLIR's name of the type.
    pub const fn name(self) -> &'static str {
        self.format().name
    }

    /// All bits.
    pub const fn width(self) -> u32 {
        self.format().width
    }
}

impl std::fmt::Debug for MlirFloat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl MlirFloatFormat {
    fn bit_mask(&self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    fn sign_bit(&self) -> u64 {
        match self.specials {
            FloatSpecials::ExponentOnly => 0,
            _ => 1 << (self.width - 1),
        }
    }

    /// The largest stored exponent.
    fn top_exponent(&self) -> u64 {
        (1 << self.exponent) - 1
    }

    fn nan_bits(&self) -> u64 {
        let quiet = |mantissa: u32| 1 << mantissa.saturating_sub(1);
        match self.specials {
            FloatSpecials::Ieee => self.top_exponent() << self.mantissa | quiet(self.mantissa),
            FloatSpecials::NanAllOnes => self.bit_mask() >> 1,
            FloatSpecials::NanNegativeZero => self.sign_bit(),
            FloatSpecials::Finite => 0,
            FloatSpecials::ExponentOnly => self.bit_mask(),
        }
    }

    /// Magnitude of the largest finite value.
    fn largest_finite_bits(&self) -> u64 {
        match self.specials {
            FloatSpecials::Ieee => (self.top_exponent() << self.mantissa) - 1,
            FloatSpecials::NanAllOnes => (self.bit_mask() >> 1) - 1,
            FloatSpecials::NanNegativeZero | FloatSpecials::Finite => self.bit_mask() >> 1,
            FloatSpecials::ExponentOnly => self.bit_mask() - 1,
        }
    }

    /// The result of rounding a value above the largest: infinity, or NaN if the format has no
    /// infinity. Formats with neither saturate.
    fn overflow_bits(&self) -> u64 {
        match self.specials {
            FloatSpecials::Ieee => self.top_exponent() << self.mantissa,
            FloatSpecials::Finite => self.largest_finite_bits(),
            _ => self.nan_bits(),
        }
    }

    /// The bits of the nearest value of this format, ties to even. In formats that are only an
    /// exponent, ties go to the larger value, and values that are not above 0 become NaN.
    pub fn encode_value(&self, value: f64) -> u64 {
        if self.width == 64 {
            return value.to_bits();
        }
        if self.specials == FloatSpecials::ExponentOnly && value <= 0.0 {
            return self.nan_bits();
        }
        let sign = if value.is_sign_negative() {
            self.sign_bit()
        } else {
            0
        };
        if value.is_nan() {
            return sign_of_nan(self, sign) | self.nan_bits();
        }
        if value.is_infinite() {
            return sign_of_nan(self, sign) | self.overflow_bits();
        }
        let magnitude = self.round_magnitude(value.abs());
        match self.specials {
            FloatSpecials::NanNegativeZero if magnitude == 0 => 0,
            _ if magnitude > self.largest_finite_bits() => {
                sign_of_nan(self, sign) | self.overflow_bits()
            }
            _ => sign | magnitude,
        }
    }

    /// Rounds a finite magnitude to the bits of this format. A magnitude that is too large yields
    /// bits above those of the largest value.
    fn round_magnitude(&self, value: f64) -> u64 {
        let bits = value.to_bits();
        let stored = (bits >> 52) as i32;
        let fraction = bits & ((1 << 52) - 1);
        if stored == 0 && fraction == 0 {
            return 0;
        }
        // Value is significand * 2^(exponent - 52), the significand with its leading bit.
        let (significand, exponent) = match stored {
            0 => (fraction, -1022),
            _ => (fraction | 1 << 52, stored - 1023),
        };
        let lowest = match self.specials {
            FloatSpecials::ExponentOnly => -self.bias,
            _ => 1 - self.bias,
        };
        let shift = 52 - self.mantissa as i32 + (lowest - exponent).max(0);
        let rounded = shift_to_even(significand, shift);
        let scale = (exponent - lowest).max(0) as u64;
        match self.specials {
            FloatSpecials::ExponentOnly if exponent < lowest => 0,
            FloatSpecials::ExponentOnly => scale + (significand >> 51 & 1),
            // The leading bit of a normal value adds one to the exponent.
            _ => (scale << self.mantissa) + rounded,
        }
    }

    /// The value of the bits, exactly.
    pub fn decode_bits(&self, bits: u64) -> f64 {
        let bits = bits & self.bit_mask();
        if self.width == 64 {
            return f64::from_bits(bits);
        }
        let sign = if bits & self.sign_bit() != 0 {
            -1.0
        } else {
            1.0
        };
        let magnitude = bits & !self.sign_bit();
        let is_nan = match self.specials {
            FloatSpecials::Ieee => magnitude > self.overflow_bits(),
            FloatSpecials::NanNegativeZero => bits == self.nan_bits(),
            FloatSpecials::NanAllOnes | FloatSpecials::ExponentOnly => magnitude == self.nan_bits(),
            FloatSpecials::Finite => false,
        };
        if is_nan {
            return f64::NAN;
        }
        if self.specials == FloatSpecials::Ieee && magnitude == self.overflow_bits() {
            return sign * f64::INFINITY;
        }
        let stored = (magnitude >> self.mantissa) as i32;
        let fraction = magnitude & ((1 << self.mantissa) - 1);
        if self.specials == FloatSpecials::ExponentOnly {
            return 2f64.powi(stored - self.bias);
        }
        let (significand, exponent) = match stored {
            0 => (fraction, 1 - self.bias),
            _ => (fraction | 1 << self.mantissa, stored - self.bias),
        };
        sign * significand as f64 * 2f64.powi(exponent - self.mantissa as i32)
    }
}

/// NaN of the `FNUZ` formats has no sign, as its encoding is the sign bit alone.
fn sign_of_nan(format: &MlirFloatFormat, sign: u64) -> u64 {
    match format.specials {
        FloatSpecials::NanNegativeZero | FloatSpecials::ExponentOnly => 0,
        _ => sign,
    }
}

/// `value >> shift`, rounded to nearest, ties to even.
fn shift_to_even(value: u64, shift: i32) -> u64 {
    if shift > 60 {
        return 0;
    }
    let (kept, rest, half) = (
        value >> shift,
        value & ((1 << shift) - 1),
        (1u64 << shift) >> 1,
    );
    let up = rest > half || (rest == half && half != 0 && kept & 1 == 1);
    kept + u64::from(up)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoding_and_encoding_are_inverse() {
        for format in FLOATS.iter().filter(|format| format.width <= 16) {
            for bits in 0..1u64 << format.width {
                let value = format.decode_bits(bits);
                if value.is_nan() {
                    assert!(format.decode_bits(format.encode_value(value)).is_nan());
                } else {
                    assert_eq!(
                        format.encode_value(value),
                        bits,
                        "{} {bits:#x}",
                        format.name
                    );
                }
            }
        }
    }

    #[test]
    fn f32_is_what_the_language_has() {
        let format = MlirFloat::F32.format();
        for value in [
            0.0, -0.0, 1.1, 1e-45, 1e-40, 3.5e38, -2.5e-46, 7e-46, 1e300, 16777217.0, 16777219.0,
        ] {
            assert_eq!(
                format.encode_value(value),
                u64::from((value as f32).to_bits()),
                "{value}"
            );
            let narrow = value as f32;
            assert_eq!(
                format.decode_bits(narrow.to_bits().into()),
                f64::from(narrow)
            );
        }
    }
}

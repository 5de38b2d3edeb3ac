//! Binary floating-point formats: exact decoding and correctly rounded encoding.
//!
//! A value is carried as bits in a `u64` together with its [`FloatEncoding`]; [`decode_bits`] gives sign,
//! significand and exponent, [`round_to_format`] the nearest encoding under one of four rounding modes with a
//! single rounding. Everything that converts between types goes through these two, so no conversion
//! rounds twice. Constant time.

/// How an inexact result is rounded; the numbers are those of SPIR-V's `FPRoundingMode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u32)]
pub enum FloatRounding {
    /// To the nearest value, ties to the even significand (RTE).
    #[default]
    NearestEven = 0,
    /// Towards zero (RTZ).
    TowardZero = 1,
    /// Towards positive infinity (RTP).
    TowardPositive = 2,
    /// Towards negative infinity (RTN).
    TowardNegative = 3,
}

impl FloatRounding {
    /// All modes, in the order of their numbers.
    pub const ALL: [Self; 4] = [
        Self::NearestEven,
        Self::TowardZero,
        Self::TowardPositive,
        Self::TowardNegative,
    ];

    /// The mode with SPIR-V's number `number`.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }

    /// Whether a magnitude whose kept part is `odd` or even, and whose dropped part compares as
    /// `half` with one half (`None`: nothing dropped), grows by one unit.
    #[inline]
    fn rounds_up(self, negative: bool, odd: bool, half: Option<std::cmp::Ordering>) -> bool {
        use std::cmp::Ordering::{Equal, Greater};
        match (self, half) {
            (_, None) | (Self::TowardZero, _) => false,
            (Self::NearestEven, Some(Greater)) => true,
            (Self::NearestEven, Some(Equal)) => odd,
            (Self::NearestEven, Some(_)) => false,
            (Self::TowardPositive, _) => !negative,
            (Self::TowardNegative, _) => negative,
        }
    }
}

/// A binary format of IEEE 754's kind: sign, biased exponent, fraction.
///
/// One `u32` ([`FloatEncoding::to_code`]), so that generated code can pass it. The lowest byte is the number of bits of
/// the fraction, the next that of the exponent. One bit above marks a format without infinities.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct FloatEncoding(u32);

impl std::fmt::Debug for FloatEncoding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::BF16 => f.write_str("bf16"),
            Self::E4M3 => f.write_str("e4m3"),
            Self::E5M2 => f.write_str("e5m2"),
            _ => write!(f, "f{}", self.width()),
        }
    }
}

impl FloatEncoding {
    /// IEEE 754 binary16.
    pub const F16: Self = Self::new(5, 10);
    /// bfloat16: the upper half of binary32.
    pub const BF16: Self = Self::new(8, 7);
    /// 8 bits, 5 of them the exponent's, after IEEE 754's pattern (`Float8E5M2EXT`).
    pub const E5M2: Self = Self::new(5, 2);
    /// 8 bits, 4 of them the exponent's (`Float8E4M3EXT`). It has no infinities and one NaN of each sign, so that 448
    /// is the largest number. See Micikevicius and others: FP8 Formats for Deep Learning.
    pub const E4M3: Self = Self(Self::new(4, 3).0 | Self::NO_INFINITY);
    /// IEEE 754 binary32.
    pub const F32: Self = Self::new(8, 23);
    /// IEEE 754 binary64.
    pub const F64: Self = Self::new(11, 52);

    const NO_INFINITY: u32 = 1 << 16;

    const fn new(exponent_bits: u32, fraction_bits: u32) -> Self {
        Self(exponent_bits << 8 | fraction_bits)
    }

    /// The number by which generated code passes the format.
    pub const fn to_code(self) -> u32 {
        self.0
    }

    const fn exponent_bits(self) -> u32 {
        self.0 >> 8 & 0xFF
    }

    /// Whether numbers with the largest exponent are numbers, but for NaN.
    const fn has_no_infinity(self) -> bool {
        self.0 & Self::NO_INFINITY != 0
    }

    /// The bits of the exponent.
    const fn exponent_mask(self) -> u64 {
        ((1 << self.exponent_bits()) - 1) << self.fraction_bits()
    }

    /// The largest exponent of a number.
    const fn max_exponent(self) -> i32 {
        1 - self.min_exponent() + self.has_no_infinity() as i32
    }

    /// The IEEE format of `width` bits: 16, 32 or 64.
    pub fn from_ieee_width(width: u32) -> Option<Self> {
        match width {
            16 => Some(Self::F16),
            32 => Some(Self::F32),
            64 => Some(Self::F64),
            _ => None,
        }
    }

    /// Bits of one value.
    pub const fn width(self) -> u32 {
        1 + self.exponent_bits() + self.fraction_bits()
    }

    /// Bits of the stored fraction (the significand without its leading one).
    pub const fn fraction_bits(self) -> u32 {
        self.0 & 0xFF
    }

    /// The exponent of the smallest normal number.
    pub const fn min_exponent(self) -> i32 {
        2 - (1 << (self.exponent_bits() - 1))
    }

    /// The bit of the sign.
    pub const fn sign_bit(self) -> u64 {
        1 << (self.width() - 1)
    }

    /// The bits of positive infinity; of NaN where there is none.
    pub const fn infinity(self) -> u64 {
        if self.has_no_infinity() {
            self.exponent_mask() | ((1 << self.fraction_bits()) - 1)
        } else {
            self.exponent_mask()
        }
    }

    /// The bits of the largest number.
    pub const fn largest_number(self) -> u64 {
        self.infinity() - 1
    }

    /// The bits of the quiet NaN of constant folding: positive, without a payload.
    pub const fn nan(self) -> u64 {
        self.infinity() | 1 << (self.fraction_bits() - 1)
    }
}

/// The value that bits encode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodedFloat {
    /// ± significand × 2^exponent, with a significand other than zero.
    Finite {
        /// Whether the value is below zero.
        negative: bool,
        /// The significand as an integer.
        significand: u64,
        /// The power of two it is multiplied with.
        exponent: i32,
    },
    /// Positive or negative zero.
    Zero {
        /// Whether it is −0.
        negative: bool,
    },
    /// Positive or negative infinity.
    Infinite {
        /// Whether it is −∞.
        negative: bool,
    },
    /// Not a number, with its fraction moved to the top of 64 bits.
    Nan {
        /// The sign bit.
        negative: bool,
        /// The fraction, its most significant bit in bit 63.
        payload: u64,
    },
}

/// Takes `bits` of `format` apart; bits above the format's width are ignored.
#[inline]
pub fn decode_bits(bits: u64, format: FloatEncoding) -> DecodedFloat {
    let negative = bits & format.sign_bit() != 0;
    let fraction = bits & ((1 << format.fraction_bits()) - 1);
    let biased = (bits & format.exponent_mask()) >> format.fraction_bits();
    let lowest = format.min_exponent() - format.fraction_bits() as i32;
    let magnitude = bits & (format.sign_bit() - 1);
    if magnitude >= format.infinity() {
        return match fraction {
            0 => DecodedFloat::Infinite { negative },
            _ => DecodedFloat::Nan {
                negative,
                payload: fraction << (64 - format.fraction_bits()),
            },
        };
    }
    match (biased, fraction) {
        (0, 0) => DecodedFloat::Zero { negative },
        (0, _) => DecodedFloat::Finite {
            negative,
            significand: fraction,
            exponent: lowest,
        },
        _ => DecodedFloat::Finite {
            negative,
            significand: fraction | 1 << format.fraction_bits(),
            exponent: lowest + biased as i32 - 1,
        },
    }
}

/// Encodes `value` in `format`, rounding once; NaN becomes quiet and keeps the payload bits that fit.
#[inline]
pub fn encode_value(value: DecodedFloat, format: FloatEncoding, rounding: FloatRounding) -> u64 {
    let sign = |negative: bool| if negative { format.sign_bit() } else { 0 };
    match value {
        DecodedFloat::Zero { negative } => sign(negative),
        DecodedFloat::Infinite { negative } => sign(negative) | format.infinity(),
        DecodedFloat::Nan { negative, payload } => {
            sign(negative) | format.nan() | payload >> (64 - format.fraction_bits())
        }
        DecodedFloat::Finite {
            negative,
            significand,
            exponent,
        } => round_to_format(negative, significand, exponent, format, rounding),
    }
}

/// The bits of ± `significand` × 2^`exponent` in `format`; a zero significand gives zero.
///
/// Values above the largest finite number become infinity or that number, as the mode demands;
/// results below the smallest normal number are subnormal, rounded once.
#[inline]
pub fn round_to_format(
    negative: bool,
    significand: u64,
    exponent: i32,
    format: FloatEncoding,
    rounding: FloatRounding,
) -> u64 {
    let sign = if negative { format.sign_bit() } else { 0 };
    if significand == 0 {
        return sign;
    }
    let top = exponent.saturating_add(significand.ilog2() as i32);
    if top > format.max_exponent() {
        return sign | overflow_magnitude(negative, format, rounding);
    }
    let leading = top.max(format.min_exponent());
    let unit = leading - format.fraction_bits() as i32;
    let magnitude = shift_rounded(
        significand,
        exponent.saturating_sub(unit),
        negative,
        rounding,
    ) as u64;
    // A carry out of the fraction lands in the exponent, which is where it belongs.
    let biased = (leading - format.min_exponent()) as u64;
    let bits = (biased << format.fraction_bits()) + magnitude;
    if bits >= format.infinity() {
        return sign | overflow_magnitude(negative, format, rounding);
    }
    sign | bits
}

/// The magnitude that a value too large for `format` takes.
fn overflow_magnitude(negative: bool, format: FloatEncoding, rounding: FloatRounding) -> u64 {
    let to_infinity = match rounding {
        FloatRounding::NearestEven => true,
        FloatRounding::TowardZero => false,
        FloatRounding::TowardPositive => !negative,
        FloatRounding::TowardNegative => negative,
    };
    format.infinity() - u64::from(!to_infinity)
}

/// `significand` × 2^`shift` rounded to an integer; the caller sees to it that it fits 128 bits.
#[inline]
pub(crate) fn shift_rounded(
    significand: u64,
    shift: i32,
    negative: bool,
    rounding: FloatRounding,
) -> u128 {
    let wide = u128::from(significand);
    if shift >= 0 {
        return wide << shift;
    }
    // Beyond 65 places nothing but "less than one half" is left to know.
    let places = shift.unsigned_abs().min(66);
    let kept = wide >> places;
    let dropped = wide & ((1 << places) - 1);
    let half = (dropped != 0).then(|| dropped.cmp(&(1 << (places - 1))));
    kept + u128::from(rounding.rounds_up(negative, kept & 1 == 1, half))
}

//! Argument reduction of `f64` angles to at most π/4 in magnitude.
//!
//! Below 2²⁰, multiples of π/2 are subtracted in three parts (W. J. Cody and W. Waite, "Software Manual for the
//! Elementary Functions", 1980). Larger angles are multiplied by the relevant bits of 2/π (M. H. Payne and R. N.
//! Hanek, "Radian reduction for trigonometric functions", 1983).

use crate::lower::context::KernelLowering;
use spirula_program::{ScalarOp, ScalarType};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op as S;
use std::convert::Infallible;

const F64: ScalarType = ScalarType::F64;

/// Angles from here on are reduced with the bits of 2/π.
const FAR: f64 = 1_048_576.0;

/// π/2 in three parts. The first two end with zero bits, so products with integers up to 2²⁰ are exact.
const HALF_PI: [f64; 3] = [
    1.570_796_326_734_125_6,
    6.077_100_506_303_966e-11,
    2.022_266_248_795_950_6e-21,
];

/// The part of π/2 that its `f64` lacks.
const HALF_PI_REST: f64 = 6.123_233_995_736_766e-17;

/// The first 1216 bits of 2/π after the point, preceded by 64 zeros.
const TWO_BY_PI: [u64; 20] = [
    0,
    0xA2F9_836E_4E44_1529,
    0xFC27_57D1_F534_DDC0,
    0xDB62_9599_3C43_9041,
    0xFE51_63AB_DEBB_C561,
    0xB724_6E3A_424D_D2E0,
    0x0649_2EEA_09D1_921C,
    0xFE1D_EB1C_B129_A73E,
    0xE882_35F5_2EBB_4484,
    0xE99C_7026_B45F_7E41,
    0x3991_D639_8353_39F4,
    0x9C84_5F8B_BDF9_283B,
    0x1FF8_97FF_DE05_980F,
    0xEF2F_118B_5A0A_6D1F,
    0x6D36_7ECF_27CB_09B7,
    0x4F46_3F66_9E5F_EA2D,
    0x7527_BAC7_EBE5_F17B,
    0x3D07_39F7_8A52_92EA,
    0x6BFB_5FB1_1F8D_5D08,
    0x5603_3046_FC7B_6BAB,
];

/// An angle as a number of quarter turns and a rest.
#[derive(Clone, Copy)]
pub(in crate::lower) struct ReducedAngle {
    /// Quarter turns, of which only the two low bits matter; 32 bits.
    pub quarters: Id,
    /// The rest, an `f64` of at most π/4 in magnitude.
    pub rest: Id,
}

impl KernelLowering<'_> {
    /// Reduces any angle. The rest of an infinity or a NaN is NaN.
    pub(in crate::lower) fn reduced_angle(&mut self, a: Id) -> ReducedAngle {
        let types = [self.uint_type(32), self.scalar_type(F64)];
        let variables = types.map(|ty| self.add_local_variable(ty));
        let size = self.apply_op_or(ScalarOp::FAbs, &[a], a);
        let limit = self.number_of(F64, FAR);
        let is_far = self.emit_bool_value(S::FOrdLessThanEqual, &[limit, size]);
        let keep = |l: &mut Self, angle: ReducedAngle| {
            l.emit_store(variables[0], angle.quarters);
            l.emit_store(variables[1], angle.rest);
            Ok(())
        };
        let done: Result<(), Infallible> = self.if_else(
            is_far,
            |l| {
                let angle = l.far_angle(a);
                keep(l, angle)
            },
            |l| {
                let angle = l.near_angle(a);
                keep(l, angle)
            },
        );
        match done {
            Ok(()) => ReducedAngle {
                quarters: self.emit_load(types[0], variables[0]),
                rest: self.emit_load(types[1], variables[1]),
            },
            Err(never) => match never {},
        }
    }

    /// Reduces an angle below [`FAR`].
    pub(in crate::lower) fn near_angle(&mut self, a: Id) -> ReducedAngle {
        let word = self.uint_type(32);
        let [two_by_pi, zero] =
            [std::f64::consts::FRAC_2_PI, 0.0].map(|number| self.number_of(F64, number));
        let quarters = self.emit_float_op(S::FMul, F64, &[a, two_by_pi]);
        let quarters = self.apply_op_or(ScalarOp::Round, &[quarters], quarters);
        let rest = self.reduce_argument(a, quarters, &HALF_PI);
        // A zero keeps its sign; a NaN has no quarter turns.
        let is_least = self.emit_bool_value(S::FOrdEqual, &[quarters, zero]);
        let rest = self.select_scalar(F64, is_least, a, rest);
        let is_number = self.emit_bool_value(S::FOrdEqual, &[a, a]);
        let quarters = self.select_scalar(F64, is_number, quarters, zero);
        ReducedAngle {
            quarters: self.emit_value(S::ConvertFToS, word, &[quarters]),
            rest,
        }
    }

    /// Reduces an angle m·2^e from [`FAR`] on. It multiplies m by 192 bits of 2/π, leaving out bits that make whole
    /// turns only. The two highest bits of the product count quarter turns, and the lower bits are the rest.
    fn far_angle(&mut self, a: Id) -> ReducedAngle {
        let (long, word) = (self.uint_type(64), self.uint_type(32));
        let bits = self.emit_bitcast(long, a);
        let exponent = self.emit_shift(S::ShiftRightLogical, bits, 52);
        let exponent = self.emit_mask(exponent, 0x7ff);
        let fraction = self.emit_mask(bits, (1 << 52) - 1);
        let unit = self.const_uint(64, 1 << 52);
        let m = self.emit_value(S::BitwiseOr, long, &[fraction, unit]);
        // The exponent of the last bit is 1075 less than the stored one. The bit of 2/π whose product with it
        // counts two quarter turns stands 62 bits after that, the leading zeros included.
        let bias = self.const_uint(64, 1013);
        let start = self.emit_value(S::ISub, long, &[exponent, bias]);
        let window = self.select_two_by_pi_words(start);
        let product = self.high_product(m, window);
        let angle = self.rounded_quarters(product);
        let infinite = self.const_uint(64, 0x7ff);
        let is_infinite = self.emit_bool_value(S::IEqual, &[exponent, infinite]);
        let nan = self.number_of(F64, f64::NAN);
        let rest = self.select_scalar(F64, is_infinite, nan, angle.rest);
        // Negative angles mirror positive ones.
        let zero = self.number_of(F64, 0.0);
        let is_negative = self.emit_less_than(a, zero);
        let turned = self.emit_float_op(S::FNegate, F64, &[rest]);
        let rest = self.select_scalar(F64, is_negative, turned, rest);
        let quarters = self.emit_value(S::UConvert, word, &[angle.quarters]);
        let turned = self.emit_value(S::SNegate, word, &[quarters]);
        let quarters = self.select(word, is_negative, turned, quarters);
        ReducedAngle { quarters, rest }
    }

    /// Three words of [`TWO_BY_PI`] from a bit on. They are selected by halving, because most devices have no fast
    /// memory for tables.
    fn select_two_by_pi_words(&mut self, start: Id) -> [Id; 3] {
        let long = self.uint_type(64);
        let mut words: Vec<Id> = TWO_BY_PI.map(|word| self.const_uint(64, word)).to_vec();
        let zero = self.const_uint(64, 0);
        for by in [16, 8, 4, 2, 1] {
            let bit = self.emit_mask(start, by as u64 * 64);
            let is_behind = self.emit_bool_value(S::INotEqual, &[bit, zero]);
            // Four words, and as many as the remaining selections can skip.
            let kept = words.len().min(4 + by - 1);
            let chosen = (0..kept).map(|at| match words.get(at + by) {
                Some(other) => self.select(long, is_behind, *other, words[at]),
                None => words[at],
            });
            words = chosen.collect();
        }
        let bit = self.emit_mask(start, 63);
        let last = self.const_uint(64, 63);
        let rest = self.emit_value(S::ISub, long, &[last, bit]);
        let one = self.const_uint(64, 1);
        [0, 1, 2].map(|at| {
            let high = self.emit_value(S::ShiftLeftLogical, long, &[words[at], bit]);
            // In two steps, because a shift by all 64 bits is undefined.
            let low = self.emit_value(S::ShiftRightLogical, long, &[words[at + 1], one]);
            let low = self.emit_value(S::ShiftRightLogical, long, &[low, rest]);
            self.emit_value(S::BitwiseOr, long, &[high, low])
        })
    }

    /// The higher 128 of the lower 192 bits of a product.
    fn high_product(&mut self, m: Id, window: [Id; 3]) -> [Id; 2] {
        let long = self.uint_type(64);
        let [high, middle, low] = window;
        let carried = self.mul_hi(false, ScalarType::I64, &[m, low]);
        let middle_high = self.mul_hi(false, ScalarType::I64, &[m, middle]);
        let middle_low = self.emit_value(S::IMul, long, &[m, middle]);
        let high_low = self.emit_value(S::IMul, long, &[m, high]);
        let second = self.emit_value(S::IAdd, long, &[middle_low, carried]);
        let overflows = self.emit_bool_value(S::ULessThan, &[second, carried]);
        let first = self.emit_value(S::IAdd, long, &[high_low, middle_high]);
        let (zero, one) = (self.const_uint(64, 0), self.const_uint(64, 1));
        let more = self.select(long, overflows, one, zero);
        [self.emit_value(S::IAdd, long, &[first, more]), second]
    }

    /// Splits 128 bits, whose two highest count quarter turns, into the nearest number of quarter turns (64 bits)
    /// and the rest in radians.
    fn rounded_quarters(&mut self, [first, second]: [Id; 2]) -> ReducedAngle {
        let long = self.uint_type(64);
        let real = self.scalar_type(F64);
        let (zero, eighth) = (self.const_uint(64, 0), self.const_uint(64, 1 << 61));
        let sum = self.emit_value(S::IAdd, long, &[first, eighth]);
        let quarters = self.emit_shift(S::ShiftRightLogical, sum, 62);
        let whole = self.emit_shift(S::ShiftLeftLogical, quarters, 62);
        let first = self.emit_value(S::ISub, long, &[first, whole]);
        let is_below = self.emit_bool_value(S::SLessThan, &[first, zero]);
        let opposite = self.emit_value(S::Not, long, &[first]);
        let ends = self.emit_bool_value(S::IEqual, &[second, zero]);
        let one = self.const_uint(64, 1);
        let more = self.select(long, ends, one, zero);
        let opposite = self.emit_value(S::IAdd, long, &[opposite, more]);
        let first = self.select(long, is_below, opposite, first);
        let opposite = self.emit_value(S::SNegate, long, &[second]);
        let second = self.select(long, is_below, opposite, second);
        // Two numbers of at most 53 bits each; only the last one is rounded.
        let high = self.emit_mask(first, !0xff);
        let low = self.emit_mask(first, 0xff);
        let low = self.emit_shift(S::ShiftLeftLogical, low, 56);
        let second = self.emit_shift(S::ShiftRightLogical, second, 8);
        let low = self.emit_value(S::BitwiseOr, long, &[low, second]);
        let [high, low] = [high, low].map(|part| self.emit_value(S::ConvertUToF, real, &[part]));
        let scale = 0.5f64.powi(62);
        let half_pi = std::f64::consts::FRAC_PI_2;
        let factors = [
            half_pi * scale,
            HALF_PI_REST * scale,
            half_pi * 0.5f64.powi(118),
        ];
        let [by, by_rest, by_low] = factors.map(|number| self.number_of(F64, number));
        let product = self.emit_float_op(S::FMul, F64, &[high, by]);
        let more = self.emit_float_op(S::FMul, F64, &[low, by_low]);
        let less = self.emit_float_op(S::FMul, F64, &[high, by_rest]);
        let more = self.emit_float_op(S::FAdd, F64, &[more, less]);
        let rest = self.emit_float_op(S::FAdd, F64, &[product, more]);
        let turned = self.emit_float_op(S::FNegate, F64, &[rest]);
        ReducedAngle {
            quarters,
            rest: self.select_scalar(F64, is_below, turned, rest),
        }
    }

    fn emit_mask(&mut self, value: Id, mask: u64) -> Id {
        let (long, mask) = (self.uint_type(64), self.const_uint(64, mask));
        self.emit_value(S::BitwiseAnd, long, &[value, mask])
    }

    fn emit_shift(&mut self, op: S, value: Id, by: u64) -> Id {
        let (long, by) = (self.uint_type(64), self.const_uint(64, by));
        self.emit_value(op, long, &[value, by])
    }
}

//! Exponential function and logarithm of `f64`, and the logarithm of 1 + a.
//!
//! The argument is reduced to a small interval, where a power series is summed. The error is a few units in the last
//! place.

use crate::lower::context::KernelLowering;
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::{ScalarOp, ScalarType};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op as S;

/// 1/n! from n = 13 down to 0.
const EXP: &[f64] = &[
    1.0 / 6227020800.0,
    1.0 / 479001600.0,
    1.0 / 39916800.0,
    1.0 / 3628800.0,
    1.0 / 362880.0,
    1.0 / 40320.0,
    1.0 / 5040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

/// Series of log((1 + s) / (1 − s)) / 2s in s².
pub(super) const LOG: &[f64] = &[
    1.0 / 23.0,
    1.0 / 21.0,
    1.0 / 19.0,
    1.0 / 17.0,
    1.0 / 15.0,
    1.0 / 13.0,
    1.0 / 11.0,
    1.0 / 9.0,
    1.0 / 7.0,
    1.0 / 5.0,
    1.0 / 3.0,
    1.0,
];

/// The logarithm of two in two parts; the first ends with zero bits.
pub(super) const LOG_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];

impl KernelLowering<'_> {
    pub(super) fn exp(&mut self, a: Id) -> Id {
        let s = ScalarType::F64;
        let log2_e = self.number_of(s, std::f64::consts::LOG2_E);
        let (lowest, highest) = (self.number_of(s, -746.0), self.number_of(s, 710.0));
        let low = self.emit_less_than(a, lowest);
        let high = self.emit_less_than(highest, a);
        let x = self.select_scalar(s, low, lowest, a);
        let x = self.select_scalar(s, high, highest, x);
        let k = self.emit_float_op(S::FMul, s, &[x, log2_e]);
        let k = self.apply_op_or(ScalarOp::Round, &[k], k);
        let r = self.reduce_argument(x, k, &LOG_2);
        let p = self.emit_polynomial(s, r, EXP);
        // In two steps, because the power of two alone may overflow.
        let word = self.uint_type(32);
        let nan = self.is_nan(s, a);
        let zero = self.number_of(s, 0.0);
        let k = self.select_scalar(s, nan, zero, k);
        let k = self.emit_value(S::ConvertFToS, word, &[k]);
        let one = self.const_u32(1);
        let half = self.emit_value(S::ShiftRightArithmetic, word, &[k, one]);
        let rest = self.emit_value(S::ISub, word, &[k, half]);
        let p = self.scale_by_power_of_two(p, half);
        let p = self.scale_by_power_of_two(p, rest);
        self.select_scalar(s, nan, a, p)
    }

    /// A number times a power of two, which must not overflow.
    fn scale_by_power_of_two(&mut self, value: Id, exponent: Id) -> Id {
        let (long, real) = (self.uint_type(64), self.scalar_type(ScalarType::F64));
        let bias = self.const_uint(64, 1023);
        let exponent = self.emit_value(S::SConvert, long, &[exponent]);
        let exponent = self.emit_value(S::IAdd, long, &[exponent, bias]);
        let by = self.const_uint(64, 52);
        let bits = self.emit_value(S::ShiftLeftLogical, long, &[exponent, by]);
        let power = self.emit_bitcast(real, bits);
        self.emit_float_op(S::FMul, ScalarType::F64, &[value, power])
    }

    pub(super) fn log(&mut self, a: Id) -> Id {
        let s = ScalarType::F64;
        let (one, zero) = (self.number_of(s, 1.0), self.number_of(s, 0.0));
        let [m, k] = self.split_mantissa_exponent(a);
        let f = self.emit_float_op(S::FSub, s, &[m, one]);
        let g = self.emit_float_op(S::FAdd, s, &[m, one]);
        let q = self.emit_float_op(S::FDiv, s, &[f, g]);
        let z = self.emit_float_op(S::FMul, s, &[q, q]);
        let p = self.emit_polynomial(s, z, LOG);
        let two_q = self.emit_float_op(S::FAdd, s, &[q, q]);
        let p = self.emit_float_op(S::FMul, s, &[p, two_q]);
        let [high, low] = LOG_2.map(|part| self.number_of(s, part));
        let low = self.emit_float_op(S::FMul, s, &[k, low]);
        let p = self.emit_float_op(S::FAdd, s, &[p, low]);
        let high = self.emit_float_op(S::FMul, s, &[k, high]);
        let result = self.emit_float_op(S::FAdd, s, &[high, p]);
        // Infinity and NaN stay; zero gives negative infinity, negative numbers give NaN.
        let largest = self.number_of(s, f64::MAX);
        let ordinary = self.emit_bool_value(S::FOrdLessThanEqual, &[a, largest]);
        let result = self.select_scalar(s, ordinary, result, a);
        let (infinity, nan) = (
            self.number_of(s, f64::NEG_INFINITY),
            self.number_of(s, f64::NAN),
        );
        let is_zero = self.emit_bool_value(S::FOrdEqual, &[a, zero]);
        let result = self.select_scalar(s, is_zero, infinity, result);
        let negative = self.emit_less_than(a, zero);
        self.select_scalar(s, negative, nan, result)
    }

    /// The logarithm of 1 + a. For `f64` in W. Kahan's form, which compensates for the digits that the sum loses.
    /// Logarithms of `f32` may be imprecise near one, so a series is used there.
    pub(super) fn log1p(&mut self, s: ScalarType, a: Id) -> Result<Id, SourceDiagnostic> {
        let one = self.number_of(s, 1.0);
        let sum = self.emit_float_op(S::FAdd, s, &[a, one]);
        let log = self.apply_op(ScalarOp::Log, s, &[sum])?;
        if s == ScalarType::F32 {
            let [two, limit] = [2.0, 0.41].map(|n| self.number_of(s, n));
            let below = self.emit_float_op(S::FAdd, s, &[a, two]);
            let q = self.emit_float_op(S::FDiv, s, &[a, below]);
            let z = self.emit_float_op(S::FMul, s, &[q, q]);
            let series = self.emit_polynomial(s, z, &LOG[LOG.len() - 7..LOG.len() - 1]);
            let series = self.emit_float_op(S::FMul, s, &[series, z]);
            // q + q = a − a·q, of which the second part is the smaller.
            let series = self.emit_float_op(S::FMul, s, &[series, q]);
            let series = self.emit_float_op(S::FAdd, s, &[series, series]);
            let half_square = self.emit_float_op(S::FMul, s, &[a, q]);
            let rest = self.emit_float_op(S::FSub, s, &[series, half_square]);
            let near = self.emit_float_op(S::FAdd, s, &[a, rest]);
            let size = self.apply_op(ScalarOp::FAbs, s, &[a])?;
            let is_near = self.emit_less_than(size, limit);
            return Ok(self.select_scalar(s, is_near, near, log));
        }
        let seen = self.emit_float_op(S::FSub, s, &[sum, one]);
        let ratio = self.emit_float_op(S::FDiv, s, &[a, seen]);
        let scaled = self.emit_float_op(S::FMul, s, &[log, ratio]);
        let lost = self.emit_bool_value(S::FOrdEqual, &[sum, one]);
        let result = self.select_scalar(s, lost, a, scaled);
        let infinite = self.emit_bool_value(S::IsInf, &[a]);
        Ok(self.select_scalar(s, infinite, log, result))
    }

    /// A positive number as m·2^k with √½ ≤ m ≤ √2.
    pub(super) fn split_mantissa_exponent(&mut self, a: Id) -> [Id; 2] {
        let s = ScalarType::F64;
        let (long, real) = (self.uint_type(64), self.scalar_type(s));
        let tiny = self.number_of(s, f64::MIN_POSITIVE);
        let one = self.number_of(s, 1.0);
        let is_tiny = self.emit_less_than(a, tiny);
        let large = self.number_of(s, 18_014_398_509_481_984.0);
        let scaled = self.emit_float_op(S::FMul, s, &[a, large]);
        let x = self.select_scalar(s, is_tiny, scaled, a);
        let bits = self.emit_bitcast(long, x);
        let by = self.const_uint(64, 52);
        let exponent = self.emit_value(S::ShiftRightLogical, long, &[bits, by]);
        let (mask, bias) = (self.const_uint(64, 0x7ff), self.const_uint(64, 1023));
        let exponent = self.emit_value(S::BitwiseAnd, long, &[exponent, mask]);
        let exponent = self.emit_value(S::ISub, long, &[exponent, bias]);
        let k = self.emit_value(S::ConvertSToF, real, &[exponent]);
        let (fraction, unit) = (
            self.const_uint(64, (1 << 52) - 1),
            self.const_uint(64, 1023 << 52),
        );
        let bits = self.emit_value(S::BitwiseAnd, long, &[bits, fraction]);
        let bits = self.emit_value(S::BitwiseOr, long, &[bits, unit]);
        let m = self.emit_bitcast(real, bits);
        let root = self.number_of(s, std::f64::consts::SQRT_2);
        let half = self.number_of(s, 0.5);
        let above = self.emit_less_than(root, m);
        let halved = self.emit_float_op(S::FMul, s, &[m, half]);
        let m = self.select_scalar(s, above, halved, m);
        let next = self.emit_float_op(S::FAdd, s, &[k, one]);
        let k = self.select_scalar(s, above, next, k);
        let shift = self.number_of(s, 54.0);
        let lower = self.emit_float_op(S::FSub, s, &[k, shift]);
        let k = self.select_scalar(s, is_tiny, lower, k);
        [m, k]
    }
}

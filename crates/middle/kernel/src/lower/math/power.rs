//! Powers of floats.
//!
//! A power of `f64` is the exponential of a product, which multiplies the error of the logarithm by the exponent:
//! at 1e300 that would be 300 units in the last place. The logarithm is therefore a sum of two numbers, as in T. J.
//! Dekker, "A floating-point technique for extending the available precision" (1971). The quotient of its series
//! and the sum are exact to twice the digits. Only the terms after the first are rounded; they are less than a
//! hundredth of it.

use super::exponential::{LOG, LOG_2};
use crate::lower::context::KernelLowering;
use spirula_program::{ScalarOp, ScalarType};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op as S;

const F64: ScalarType = ScalarType::F64;

impl KernelLowering<'_> {
    /// A base of `f64` raised to an exponent.
    pub(in crate::lower) fn power_of_real(&mut self, args: &[Id]) -> Id {
        let magnitude = self.apply_op_or(ScalarOp::FAbs, &args[..1], args[0]);
        let [high, low] = self.split_logarithm(magnitude);
        let [zero, largest] = [0.0, f64::MAX].map(|number| self.number_of(F64, number));
        let exponent = self.emit_float_op(S::FMul, F64, &[high, args[1]]);
        let power = self.exp(exponent);
        // Corrects for the rounding of the exponent and for its second part.
        let turned = self.emit_float_op(S::FNegate, F64, &[exponent]);
        let rounded = self.apply_op_or(ScalarOp::Fma, &[high, args[1], turned], zero);
        let rest = self.apply_op_or(ScalarOp::Fma, &[low, args[1], rounded], rounded);
        let more = self.apply_op_or(ScalarOp::Fma, &[power, rest, power], power);
        let is_above = self.emit_less_than(zero, power);
        let is_number = self.emit_bool_value(S::FOrdLessThanEqual, &[power, largest]);
        let is_known = self.emit_bool_value(S::LogicalAnd, &[is_above, is_number]);
        let power = self.select_scalar(F64, is_known, more, power);
        self.complete_power(F64, args, power)
    }

    /// The power of any base to any exponent, by the rules of C's `pow`, from the power of the base's magnitude.
    /// That one only has to be right where base and exponent are finite and the magnitude is not zero.
    pub(in crate::lower) fn complete_power(&mut self, s: ScalarType, args: &[Id], power: Id) -> Id {
        let (base, exponent) = (args[0], args[1]);
        let [zero, half, one] = [0.0, 0.5, 1.0].map(|number| self.number_of(s, number));
        let [infinity, nan] = [f64::INFINITY, f64::NAN].map(|number| self.number_of(s, number));
        let [size, exponent_size] = [base, exponent].map(|v| self.emit_abs(s, v));
        // Zero or infinite bases, and infinite exponents.
        let is_large = self.emit_less_than(one, size);
        let is_up = self.emit_less_than(zero, exponent);
        let grows = self.emit_bool_value(S::LogicalEqual, &[is_large, is_up]);
        let limit = self.select_scalar(s, grows, infinity, zero);
        let is_zero = self.emit_bool_value(S::FOrdEqual, &[size, zero]);
        let [is_infinite, is_infinite_too] =
            [size, exponent_size].map(|v| self.emit_bool_value(S::FOrdEqual, &[v, infinity]));
        let is_limit = self.emit_bool_value(S::LogicalOr, &[is_zero, is_infinite]);
        let is_limit = self.emit_bool_value(S::LogicalOr, &[is_limit, is_infinite_too]);
        let power = self.select_scalar(s, is_limit, limit, power);
        let is_unit = self.emit_bool_value(S::FOrdEqual, &[size, one]);
        let power = self.select_scalar(s, is_unit, one, power);
        // Odd powers keep the sign; other powers of negative numbers are not real.
        let is_whole = self.is_whole(s, exponent);
        let halved = self.emit_float_op(S::FMul, s, &[exponent, half]);
        let is_even = self.is_whole(s, halved);
        let is_uneven = self.not(is_even);
        let is_odd = self.emit_bool_value(S::LogicalAnd, &[is_whole, is_uneven]);
        let signed = self.copy_sign(s, power, base);
        let power = self.select_scalar(s, is_odd, signed, power);
        let is_below = self.emit_less_than(base, zero);
        let is_above_end = self.emit_less_than(size, infinity);
        // A comparison of its own: llvmpipe of Mesa 25 computes wrong powers where the first one is also negated.
        let floor = self.apply_op(ScalarOp::Floor, s, &[exponent]);
        let floor = floor.unwrap_or(exponent);
        let is_broken = self.emit_bool_value(S::FUnordNotEqual, &[floor, exponent]);
        let is_none = self.emit_bool_value(S::LogicalAnd, &[is_below, is_above_end]);
        let is_none = self.emit_bool_value(S::LogicalAnd, &[is_none, is_broken]);
        let [is_nan, is_nan_too] = [base, exponent].map(|v| self.emit_bool_value(S::IsNan, &[v]));
        let is_nan = self.emit_bool_value(S::LogicalOr, &[is_nan, is_nan_too]);
        let is_none = self.emit_bool_value(S::LogicalOr, &[is_none, is_nan]);
        let power = self.select_scalar(s, is_none, nan, power);
        let is_one = self.emit_bool_value(S::FOrdEqual, &[base, one]);
        let is_nothing = self.emit_bool_value(S::FOrdEqual, &[exponent, zero]);
        let is_one = self.emit_bool_value(S::LogicalOr, &[is_one, is_nothing]);
        self.select_scalar(s, is_one, one, power)
    }

    fn is_whole(&mut self, s: ScalarType, value: Id) -> Id {
        let floor = self.apply_op(ScalarOp::Floor, s, &[value]).unwrap_or(value);
        self.emit_bool_value(S::FOrdEqual, &[floor, value])
    }

    fn emit_abs(&mut self, s: ScalarType, value: Id) -> Id {
        self.apply_op(ScalarOp::FAbs, s, &[value]).unwrap_or(value)
    }

    /// The logarithm of a positive number as a sum whose first part is the rounded logarithm.
    fn split_logarithm(&mut self, a: Id) -> [Id; 2] {
        let one = self.number_of(F64, 1.0);
        let [m, k] = self.split_mantissa_exponent(a);
        // (m − 1) / (m + 1), and the rounding errors of the sum and of the quotient.
        let f = self.emit_float_op(S::FSub, F64, &[m, one]);
        let g = self.emit_float_op(S::FAdd, F64, &[m, one]);
        let above_one = self.emit_float_op(S::FSub, F64, &[g, one]);
        let g_low = self.emit_float_op(S::FSub, F64, &[m, above_one]);
        let q = self.emit_float_op(S::FDiv, F64, &[f, g]);
        let turned = self.emit_float_op(S::FNegate, F64, &[q]);
        let rest = self.apply_op_or(ScalarOp::Fma, &[turned, g, f], f);
        let rest = self.apply_op_or(ScalarOp::Fma, &[turned, g_low, rest], rest);
        let q_low = self.emit_float_op(S::FDiv, F64, &[rest, g]);
        // The terms of the series after the first.
        let z = self.emit_float_op(S::FMul, F64, &[q, q]);
        let series = self.emit_polynomial(F64, z, &LOG[..LOG.len() - 1]);
        let series = self.emit_float_op(S::FMul, F64, &[series, z]);
        let [q, q_low] = [q, q_low].map(|part| self.emit_float_op(S::FAdd, F64, &[part, part]));
        let tail = self.emit_float_op(S::FMul, F64, &[series, q]);
        let tail = self.emit_float_op(S::FAdd, F64, &[tail, q_low]);
        let [high, low] = LOG_2.map(|part| self.number_of(F64, part));
        let tail = self.apply_op_or(ScalarOp::Fma, &[k, low, tail], tail);
        let high = self.emit_float_op(S::FMul, F64, &[k, high]);
        let [sum, low] = self.fast_two_sum(high, q);
        let low = self.emit_float_op(S::FAdd, F64, &[low, tail]);
        self.fast_two_sum(sum, low)
    }

    /// A sum and its rounding error; the first operand is the larger one or zero.
    fn fast_two_sum(&mut self, large: Id, small: Id) -> [Id; 2] {
        let sum = self.emit_float_op(S::FAdd, F64, &[large, small]);
        let added = self.emit_float_op(S::FSub, F64, &[sum, large]);
        [sum, self.emit_float_op(S::FSub, F64, &[small, added])]
    }
}

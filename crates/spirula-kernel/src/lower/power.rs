//! Powers of `f64`.
//!
//! The exponential of a product multiplies the error of the logarithm by the exponent: at 1e300 that
//! is 300 units in the last place. The logarithm is therefore a sum of two numbers, as in T. J.
//! Dekker, "A floating-point technique for extending the available precision" (1971): the quotient
//! of its series and the sum are exact to twice the digits, only the terms behind the first, which
//! are less than a hundredth of it, are rounded.

use super::Lower;
use super::functions::{LOG, LOG_2};
use spirula_program::{Op, Scalar};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op as S;

const F64: Scalar = Scalar::F64;

impl Lower<'_> {
    /// A base to an exponent.
    pub(super) fn power_of_real(&mut self, args: &[Id]) -> Id {
        let magnitude = self.operator_or(Op::FAbs, &args[..1], args[0]);
        let [high, low] = self.log_in_parts(magnitude);
        let [zero, one, largest, infinity] =
            [0.0, 1.0, f64::MAX, f64::NEG_INFINITY].map(|number| self.number_of(F64, number));
        let is_positive = self.less(zero, magnitude);
        let is_finite = self.test(S::FOrdLessThanEqual, &[magnitude, largest]);
        let truth = self.ty(Scalar::Bool);
        let ordinary = self.value(S::LogicalAnd, truth, &[is_positive, is_finite]);
        let is_zero = self.test(S::FOrdEqual, &[magnitude, zero]);
        let other = self.pick(F64, is_zero, infinity, magnitude);
        let log = self.pick(F64, ordinary, high, other);
        // One to anything is one, to what is infinite or no number, too.
        let is_one = self.test(S::FOrdEqual, &[magnitude, one]);
        let times = self.pick(F64, is_one, zero, args[1]);
        let exponent = self.f(S::FMul, F64, &[log, times]);
        let power = self.exp(exponent);
        // What the exponent lacks: of its rounding, and of the second part.
        let turned = self.f(S::FNegate, F64, &[exponent]);
        let rounded = self.operator_or(Op::Fma, &[log, times, turned], zero);
        let rest = self.operator_or(Op::Fma, &[low, times, rounded], rounded);
        let more = self.operator_or(Op::Fma, &[power, rest, power], power);
        let is_above = self.less(zero, power);
        let is_number = self.test(S::FOrdLessThanEqual, &[power, largest]);
        let is_known = self.value(S::LogicalAnd, truth, &[is_above, is_number]);
        let is_known = self.value(S::LogicalAnd, truth, &[is_known, ordinary]);
        let power = self.pick(F64, is_known, more, power);
        self.signed_power(F64, args, power)
    }

    /// The logarithm of a positive number as a sum, of which the first part is the rounded one.
    fn log_in_parts(&mut self, a: Id) -> [Id; 2] {
        let one = self.number_of(F64, 1.0);
        let [m, k] = self.normalised(a);
        // (m − 1) / (m + 1), and what rounding left of the sum and of the quotient.
        let f = self.f(S::FSub, F64, &[m, one]);
        let g = self.f(S::FAdd, F64, &[m, one]);
        let above_one = self.f(S::FSub, F64, &[g, one]);
        let g_low = self.f(S::FSub, F64, &[m, above_one]);
        let q = self.f(S::FDiv, F64, &[f, g]);
        let turned = self.f(S::FNegate, F64, &[q]);
        let rest = self.operator_or(Op::Fma, &[turned, g, f], f);
        let rest = self.operator_or(Op::Fma, &[turned, g_low, rest], rest);
        let q_low = self.f(S::FDiv, F64, &[rest, g]);
        // The terms of the series behind the first.
        let z = self.f(S::FMul, F64, &[q, q]);
        let series = self.polynomial(F64, z, &LOG[..LOG.len() - 1]);
        let series = self.f(S::FMul, F64, &[series, z]);
        let [q, q_low] = [q, q_low].map(|part| self.f(S::FAdd, F64, &[part, part]));
        let tail = self.f(S::FMul, F64, &[series, q]);
        let tail = self.f(S::FAdd, F64, &[tail, q_low]);
        let [high, low] = LOG_2.map(|part| self.number_of(F64, part));
        let tail = self.operator_or(Op::Fma, &[k, low, tail], tail);
        let high = self.f(S::FMul, F64, &[k, high]);
        let [sum, low] = self.sum_in_parts(high, q);
        let low = self.f(S::FAdd, F64, &[low, tail]);
        self.sum_in_parts(sum, low)
    }

    /// A sum and what rounding left of it; the first operand is the larger or zero.
    fn sum_in_parts(&mut self, large: Id, small: Id) -> [Id; 2] {
        let sum = self.f(S::FAdd, F64, &[large, small]);
        let added = self.f(S::FSub, F64, &[sum, large]);
        [sum, self.f(S::FSub, F64, &[small, added])]
    }
}

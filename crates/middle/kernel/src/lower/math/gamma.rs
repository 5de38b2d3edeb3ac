//! The gamma function and its logarithm, by Lanczos' approximation with nine terms (C. Lanczos, 1964): 14 digits.

use crate::lower::context::KernelLowering;
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::{ScalarOp, ScalarType};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op as S;

const LANCZOS: [f64; 9] = [
    0.999_999_999_999_809_9,
    676.520_368_121_885_1,
    -1_259.139_216_722_402_8,
    771.323_428_777_653_1,
    -176.615_029_162_140_6,
    12.507_343_278_686_905,
    -0.138_571_095_265_720_12,
    9.984_369_578_019_572e-6,
    1.505_632_735_149_311_6e-7,
];

/// A number that may be subnormal.
struct SubnormalNumber {
    /// Whether it is subnormal.
    is_subnormal: Id,
    /// If so, its magnitude in units of the smallest number of its type.
    units: Id,
    /// The smallest number is 2 to the power of minus this.
    least_exponent: f64,
}

impl KernelLowering<'_> {
    /// The gamma function, or the logarithm of its absolute value.
    pub(in crate::lower) fn gamma(
        &mut self,
        s: ScalarType,
        op: ScalarOp,
        a: Id,
    ) -> Result<Id, SourceDiagnostic> {
        let [half, one, pi, infinity] =
            [0.5, 1.0, std::f64::consts::PI, f64::INFINITY].map(|n| self.number_of(s, n));
        // Below one half by reflection: Γ(x) Γ(1 − x) = π / sin πx.
        let reflect = self.emit_less_than(a, half);
        let mirrored = self.emit_float_op(S::FSub, s, &[one, a]);
        let x = self.select_scalar(s, reflect, mirrored, a);
        let x = self.emit_float_op(S::FSub, s, &[x, one]);
        let mut sum = self.number_of(s, LANCZOS[0]);
        for (n, coefficient) in LANCZOS.iter().enumerate().skip(1) {
            let (n, coefficient) = (self.number_of(s, n as f64), self.number_of(s, *coefficient));
            let at = self.emit_float_op(S::FAdd, s, &[x, n]);
            let term = self.emit_float_op(S::FDiv, s, &[coefficient, at]);
            sum = self.emit_float_op(S::FAdd, s, &[sum, term]);
        }
        let shift = self.number_of(s, 7.5);
        let t = self.emit_float_op(S::FAdd, s, &[x, shift]);
        let log_t = self.apply_op(ScalarOp::Log, s, &[t])?;
        let power = self.emit_float_op(S::FAdd, s, &[x, half]);
        let main = self.emit_float_op(S::FMul, s, &[power, log_t]);
        let main = self.emit_float_op(S::FSub, s, &[main, t]);
        let log_sum = self.apply_op(ScalarOp::Log, s, &[sum])?;
        let log = self.emit_float_op(S::FAdd, s, &[main, log_sum]);
        let constant = self.number_of(s, 0.918_938_533_204_672_8);
        let log = self.emit_float_op(S::FAdd, s, &[log, constant]);
        let sin = self.apply_op(ScalarOp::SinPi, s, &[a])?;
        if op == ScalarOp::LGamma {
            return self.log_gamma(s, a, reflect, sin, log);
        }
        let gamma = self.apply_op(ScalarOp::Exp, s, &[log])?;
        let is_infinite = self.emit_bool_value(S::FOrdEqual, &[a, infinity]);
        let gamma = self.select_scalar(s, is_infinite, infinity, gamma);
        let product = self.emit_float_op(S::FMul, s, &[sin, gamma]);
        let reflected = self.emit_float_op(S::FDiv, s, &[pi, product]);
        Ok(self.select_scalar(s, reflect, reflected, gamma))
    }

    /// The logarithm of the absolute value of the gamma function, from that of the mirrored argument.
    ///
    /// For a subnormal argument it is the logarithm of the argument's reciprocal. One logarithm serves both cases:
    /// its argument is either the sine of the reflection or the subnormal in units of the smallest number.
    fn log_gamma(
        &mut self,
        s: ScalarType,
        a: Id,
        reflect: Id,
        sin: Id,
        log: Id,
    ) -> Result<Id, SourceDiagnostic> {
        let infinity = self.number_of(s, f64::INFINITY);
        let size = self.apply_op(ScalarOp::FAbs, s, &[sin])?;
        let subnormal = self.split_subnormal(s, a);
        let argument = self.select_scalar(s, subnormal.is_subnormal, subnormal.units, size);
        let chosen_log = self.apply_op(ScalarOp::Log, s, &[argument])?;
        // The quotient of π and the sine of a number next to zero may overflow, so logarithms are subtracted.
        let log_pi = self.number_of(s, 1.144_729_885_849_400_2);
        let reflected = self.emit_float_op(S::FSub, s, &[log_pi, chosen_log]);
        let reflected = self.emit_float_op(S::FSub, s, &[reflected, log]);
        let result = self.select_scalar(s, reflect, reflected, log);
        // Poles: the farthest of them have an infinite logarithm on the other side.
        let zero = self.number_of(s, 0.0);
        let is_pole = self.emit_bool_value(S::FOrdEqual, &[size, zero]);
        let is_pole = self.emit_bool_value(S::LogicalAnd, &[is_pole, reflect]);
        let is_infinite = self.emit_bool_value(S::IsInf, &[a]);
        let is_infinite = self.emit_bool_value(S::LogicalOr, &[is_infinite, is_pole]);
        let result = self.select_scalar(s, is_infinite, infinity, result);
        let smallest = self.number_of(s, subnormal.least_exponent * std::f64::consts::LN_2);
        let reciprocal = self.emit_float_op(S::FSub, s, &[smallest, chosen_log]);
        Ok(self.select_scalar(s, subnormal.is_subnormal, reciprocal, result))
    }

    /// A number's magnitude in units of the smallest subnormal. It is read from the bits, because devices may flush
    /// subnormals to zero and products of subnormals are rounded.
    fn split_subnormal(&mut self, s: ScalarType, a: Id) -> SubnormalNumber {
        let (mantissa_bits, least_exponent) = match s {
            ScalarType::F64 => (52, 1074.0),
            _ => (23, 149.0),
        };
        let width = s.width();
        let (ty, bits) = (self.scalar_type(s), self.uint_type(width));
        let zero = self.const_uint(width, 0);
        let mask = self.const_uint(width, (1 << (width - 1)) - 1);
        let smallest_normal = self.const_uint(width, 1 << mantissa_bits);
        let size = self.emit_bitcast(bits, a);
        let size = self.emit_value(S::BitwiseAnd, bits, &[size, mask]);
        let is_below = self.emit_bool_value(S::ULessThan, &[size, smallest_normal]);
        let is_nonzero = self.emit_bool_value(S::INotEqual, &[size, zero]);
        SubnormalNumber {
            is_subnormal: self.emit_bool_value(S::LogicalAnd, &[is_below, is_nonzero]),
            units: self.emit_value(S::ConvertUToF, ty, &[size]),
            least_exponent,
        }
    }
}

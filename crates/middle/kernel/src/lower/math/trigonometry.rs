//! Trigonometric functions that GLSL.std.450 lacks, entirely or for 64 bits, and their inverses. GLSL.std.450 has
//! inverses with errors of up to 4096 units in the last place.
//!
//! The inverses have errors of about four units in the last place. `sin`, `cos` and `tan` of `f64` have errors of a
//! few units in the last place for all arguments.

use super::argument_reduction::ReducedAngle;
use crate::lower::context::KernelLowering;
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::{ScalarOp, ScalarType};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op as S;

/// Series of sin x / x in x².
pub(in crate::lower) const SIN: &[f64] = &[
    1.0 / 355687428096000.0,
    -1.0 / 1307674368000.0,
    1.0 / 6227020800.0,
    -1.0 / 39916800.0,
    1.0 / 362880.0,
    -1.0 / 5040.0,
    1.0 / 120.0,
    -1.0 / 6.0,
    1.0,
];

/// Series of cos x in x².
const COS: &[f64] = &[
    1.0 / 20922789888000.0,
    -1.0 / 87178291200.0,
    1.0 / 479001600.0,
    -1.0 / 3628800.0,
    1.0 / 40320.0,
    -1.0 / 720.0,
    1.0 / 24.0,
    -0.5,
    1.0,
];

impl KernelLowering<'_> {
    /// Sine or cosine of a reduced angle.
    pub(in crate::lower) fn sine_at(&mut self, angle: ReducedAngle, is_cos: bool) -> Id {
        let s = ScalarType::F64;
        let word = self.uint_type(32);
        let ReducedAngle { quarters, rest } = angle;
        let z = self.emit_float_op(S::FMul, s, &[rest, rest]);
        let sin = self.emit_polynomial(s, z, SIN);
        let sin = self.emit_float_op(S::FMul, s, &[sin, rest]);
        let cos = self.emit_polynomial(s, z, COS);
        let [one, two, none] = [1, 2, 0].map(|n| self.const_u32(n));
        let quarters = if is_cos {
            self.emit_value(S::IAdd, word, &[quarters, one])
        } else {
            quarters
        };
        let odd = self.emit_value(S::BitwiseAnd, word, &[quarters, one]);
        let odd = self.emit_bool_value(S::INotEqual, &[odd, none]);
        let value = self.select_scalar(s, odd, cos, sin);
        let down = self.emit_value(S::BitwiseAnd, word, &[quarters, two]);
        let down = self.emit_bool_value(S::INotEqual, &[down, none]);
        let turned = self.emit_float_op(S::FNegate, s, &[value]);
        self.select_scalar(s, down, turned, value)
    }

    /// The tangent of a reduced angle.
    pub(in crate::lower) fn tangent_at(&mut self, angle: ReducedAngle) -> Id {
        let [sin, cos] = [false, true].map(|is_cos| self.sine_at(angle, is_cos));
        self.emit_float_op(S::FDiv, ScalarType::F64, &[sin, cos])
    }

    /// The angle between 0 and π/2 whose tangent is the quotient of two numbers. They must not be negative nor both
    /// 0; either may be infinite. Nothing is divided by 0.
    fn emit_angle(&mut self, s: ScalarType, opposite: Id, adjacent: Id) -> Id {
        let zero = self.number_of(s, 0.0);
        let steep = self.emit_less_than(adjacent, opposite);
        let small = self.select_scalar(s, steep, adjacent, opposite);
        let large = self.select_scalar(s, steep, opposite, adjacent);
        let t = self.emit_float_op(S::FDiv, s, &[small, large]);
        // Both are infinite.
        let equal = self.emit_bool_value(S::FOrdEqual, &[small, large]);
        let one = self.number_of(s, 1.0);
        let t = self.select_scalar(s, equal, one, t);
        let limit = self.number_of(s, std::f64::consts::SQRT_2 - 1.0);
        let beyond = self.emit_less_than(limit, t);
        let above = self.emit_float_op(S::FSub, s, &[t, one]);
        let below = self.emit_float_op(S::FAdd, s, &[t, one]);
        let turned = self.emit_float_op(S::FDiv, s, &[above, below]);
        let t = self.select_scalar(s, beyond, turned, t);
        let z = self.emit_float_op(S::FMul, s, &[t, t]);
        // As many terms as contribute at the square of the limit.
        let terms = if s == ScalarType::F64 { 24 } else { 10 };
        let coefficients: Vec<f64> = (1..terms)
            .rev()
            .map(|n| f64::from(1 - n % 2 * 2) / f64::from(2 * n + 1))
            .collect();
        let p = self.emit_polynomial(s, z, &coefficients);
        let cube = self.emit_float_op(S::FMul, s, &[z, t]);
        let p = self.emit_float_op(S::FMul, s, &[p, cube]);
        let p = self.emit_float_op(S::FAdd, s, &[p, t]);
        let quarter = self.number_of(s, std::f64::consts::FRAC_PI_4);
        let added = self.select_scalar(s, beyond, quarter, zero);
        let p = self.emit_float_op(S::FAdd, s, &[p, added]);
        let half = self.number_of(s, std::f64::consts::FRAC_PI_2);
        let rest = self.emit_float_op(S::FSub, s, &[half, p]);
        self.select_scalar(s, steep, rest, p)
    }

    pub(in crate::lower) fn atan(&mut self, s: ScalarType, a: Id) -> Result<Id, SourceDiagnostic> {
        let one = self.number_of(s, 1.0);
        let size = self.apply_op(ScalarOp::FAbs, s, &[a])?;
        let angle = self.emit_angle(s, size, one);
        Ok(self.copy_sign(s, angle, a))
    }

    pub(in crate::lower) fn atan2(
        &mut self,
        s: ScalarType,
        args: &[Id],
    ) -> Result<Id, SourceDiagnostic> {
        let (y, x) = (args[0], args[1]);
        let zero = self.number_of(s, 0.0);
        let pi = self.number_of(s, std::f64::consts::PI);
        let opposite = self.apply_op(ScalarOp::FAbs, s, &[y])?;
        let adjacent = self.apply_op(ScalarOp::FAbs, s, &[x])?;
        let angle = self.emit_angle(s, opposite, adjacent);
        let none = self.emit_bool_value(S::FOrdEqual, &[y, zero]);
        let none_too = self.emit_bool_value(S::FOrdEqual, &[x, zero]);
        let none = self.emit_bool_value(S::LogicalAnd, &[none, none_too]);
        let angle = self.select_scalar(s, none, zero, angle);
        let rest = self.emit_float_op(S::FSub, s, &[pi, angle]);
        // The sign of a zero matters, too.
        let bits = self.uint_type(s.width());
        let bits = self.emit_bitcast(bits, x);
        let least = self.const_uint(s.width(), 0);
        let left = self.emit_bool_value(S::SLessThan, &[bits, least]);
        let angle = self.select_scalar(s, left, rest, angle);
        Ok(self.copy_sign(s, angle, y))
    }

    pub(in crate::lower) fn lower_asin_or_acos(
        &mut self,
        s: ScalarType,
        op: ScalarOp,
        a: Id,
    ) -> Result<Id, SourceDiagnostic> {
        let one = self.number_of(s, 1.0);
        let below = self.emit_float_op(S::FSub, s, &[one, a]);
        let above = self.emit_float_op(S::FAdd, s, &[one, a]);
        if op == ScalarOp::Acos {
            let opposite = self.apply_op(ScalarOp::Sqrt, s, &[below])?;
            let adjacent = self.apply_op(ScalarOp::Sqrt, s, &[above])?;
            let angle = self.emit_angle(s, opposite, adjacent);
            return Ok(self.emit_float_op(S::FAdd, s, &[angle, angle]));
        }
        let product = self.emit_float_op(S::FMul, s, &[below, above]);
        let adjacent = self.apply_op(ScalarOp::Sqrt, s, &[product])?;
        let opposite = self.apply_op(ScalarOp::FAbs, s, &[a])?;
        let angle = self.emit_angle(s, opposite, adjacent);
        Ok(self.copy_sign(s, angle, a))
    }

    /// `sin` or `cos` of a multiple of π, exact for multiples of a half. The angle is reduced to at most a quarter
    /// turn before it is rounded.
    pub(in crate::lower) fn lower_half_turns(
        &mut self,
        s: ScalarType,
        op: ScalarOp,
        a: Id,
    ) -> Result<Id, SourceDiagnostic> {
        let [half, one, two] = [0.5, 1.0, 2.0].map(|n| self.number_of(s, n));
        let pi = self.number_of(s, std::f64::consts::PI);
        let turns = self.emit_float_op(S::FMul, s, &[a, half]);
        let turns = self.apply_op(ScalarOp::Round, s, &[turns])?;
        let whole = self.emit_float_op(S::FMul, s, &[turns, two]);
        let rest = self.emit_float_op(S::FSub, s, &[a, whole]);
        let size = self.apply_op(ScalarOp::FAbs, s, &[rest])?;
        if op == ScalarOp::CosPi {
            let quarter = self.emit_float_op(S::FSub, s, &[half, size]);
            let angle = self.emit_float_op(S::FMul, s, &[quarter, pi]);
            return self.sine_of_near(s, angle);
        }
        let other = self.emit_float_op(S::FSub, s, &[one, size]);
        let beyond = self.emit_less_than(half, size);
        let quarter = self.select_scalar(s, beyond, other, size);
        let angle = self.emit_float_op(S::FMul, s, &[quarter, pi]);
        let sin = self.sine_of_near(s, angle)?;
        let turned = self.emit_float_op(S::FNegate, s, &[sin]);
        let zero = self.number_of(s, 0.0);
        let is_negative = self.emit_less_than(rest, zero);
        let sin = self.select_scalar(s, is_negative, turned, sin);
        // A zero has the sign of the argument.
        let none = self.copy_sign(s, zero, a);
        let is_none = self.emit_bool_value(S::FOrdEqual, &[sin, zero]);
        Ok(self.select_scalar(s, is_none, none, sin))
    }

    /// The sine of an angle of less than one turn.
    fn sine_of_near(&mut self, s: ScalarType, angle: Id) -> Result<Id, SourceDiagnostic> {
        if s != ScalarType::F64 {
            return self.apply_op(ScalarOp::Sin, s, &[angle]);
        }
        let angle = self.near_angle(angle);
        Ok(self.sine_at(angle, false))
    }
}

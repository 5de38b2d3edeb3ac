//! Hyperbolic functions of `f64` and their inverses.

use super::trigonometry::SIN;
use crate::lower::context::KernelLowering;
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::{ScalarOp, ScalarType};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op as S;

impl KernelLowering<'_> {
    /// Hyperbolic functions of `f64`.
    pub(super) fn lower_hyperbolic(
        &mut self,
        s: ScalarType,
        op: ScalarOp,
        a: Id,
    ) -> Result<Id, SourceDiagnostic> {
        let [half, one, limit] = [0.5, 1.0, 20.0].map(|n| self.number_of(s, n));
        let size = self.apply_op(ScalarOp::FAbs, s, &[a])?;
        let is_large = self.emit_less_than(limit, size);
        let up = self.apply_op(ScalarOp::Exp, s, &[size])?;
        let down = self.emit_float_op(S::FDiv, s, &[one, up]);
        // Beyond the limit only one exponential matters. It is computed as a product, which overflows last.
        let root = self.emit_float_op(S::FMul, s, &[size, half]);
        let root = self.apply_op(ScalarOp::Exp, s, &[root])?;
        let large = self.emit_float_op(S::FMul, s, &[root, half]);
        let large = self.emit_float_op(S::FMul, s, &[large, root]);
        let sum = self.emit_float_op(S::FAdd, s, &[up, down]);
        let cosh = self.emit_float_op(S::FMul, s, &[sum, half]);
        if op == ScalarOp::Cosh {
            return Ok(self.select_scalar(s, is_large, large, cosh));
        }
        let difference = self.emit_float_op(S::FSub, s, &[up, down]);
        let sinh = self.emit_float_op(S::FMul, s, &[difference, half]);
        // Near zero the difference loses digits, so a series is used.
        let z = self.emit_float_op(S::FMul, s, &[a, a]);
        let near: Vec<f64> = SIN.iter().map(|c| c.abs()).collect();
        let series = self.emit_polynomial(s, z, &near);
        let series = self.emit_float_op(S::FMul, s, &[series, size]);
        let small = self.emit_less_than(size, one);
        let sinh = self.select_scalar(s, small, series, sinh);
        let result = if op == ScalarOp::Sinh {
            self.select_scalar(s, is_large, large, sinh)
        } else {
            let tanh = self.emit_float_op(S::FDiv, s, &[sinh, cosh]);
            self.select_scalar(s, is_large, one, tanh)
        };
        Ok(self.copy_sign(s, result, a))
    }

    /// Inverse hyperbolic functions of `f64`.
    pub(super) fn lower_inverse_hyperbolic(
        &mut self,
        s: ScalarType,
        op: ScalarOp,
        a: Id,
    ) -> Result<Id, SourceDiagnostic> {
        let [one, two, half, limit, log_two] =
            [1.0, 2.0, 0.5, 268_435_456.0, std::f64::consts::LN_2].map(|n| self.number_of(s, n));
        let size = self.apply_op(ScalarOp::FAbs, s, &[a])?;
        if op == ScalarOp::Atanh {
            let twice = self.emit_float_op(S::FAdd, s, &[size, size]);
            let below = self.emit_float_op(S::FSub, s, &[one, size]);
            let quotient = self.emit_float_op(S::FDiv, s, &[twice, below]);
            let log = self.apply_op(ScalarOp::Log1p, s, &[quotient])?;
            let result = self.emit_float_op(S::FMul, s, &[log, half]);
            return Ok(self.copy_sign(s, result, a));
        }
        // The square overflows for large arguments, where the root equals the argument.
        let far = self.apply_op(ScalarOp::Log, s, &[size])?;
        let far = self.emit_float_op(S::FAdd, s, &[far, log_two]);
        let is_far = self.emit_less_than(limit, size);
        if op == ScalarOp::Acosh {
            let above = self.emit_float_op(S::FSub, s, &[a, one]);
            let next = self.emit_float_op(S::FAdd, s, &[above, two]);
            let square = self.emit_float_op(S::FMul, s, &[above, next]);
            let root = self.apply_op(ScalarOp::Sqrt, s, &[square])?;
            let sum = self.emit_float_op(S::FAdd, s, &[above, root]);
            let near = self.apply_op(ScalarOp::Log1p, s, &[sum])?;
            let result = self.select_scalar(s, is_far, far, near);
            let nan = self.number_of(s, f64::NAN);
            let is_below = self.emit_less_than(a, one);
            return Ok(self.select_scalar(s, is_below, nan, result));
        }
        let square = self.emit_float_op(S::FMul, s, &[a, a]);
        let above = self.emit_float_op(S::FAdd, s, &[square, one]);
        let root = self.apply_op(ScalarOp::Sqrt, s, &[above])?;
        let below = self.emit_float_op(S::FAdd, s, &[root, one]);
        let part = self.emit_float_op(S::FDiv, s, &[square, below]);
        let sum = self.emit_float_op(S::FAdd, s, &[size, part]);
        let near = self.apply_op(ScalarOp::Log1p, s, &[sum])?;
        let result = self.select_scalar(s, is_far, far, near);
        Ok(self.copy_sign(s, result, a))
    }
}

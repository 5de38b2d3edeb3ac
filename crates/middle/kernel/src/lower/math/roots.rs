//! Cube roots, and the length of the hypotenuse.

use crate::lower::context::KernelLowering;
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::{ScalarOp, ScalarType};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op as S;

impl KernelLowering<'_> {
    pub(super) fn hypot(&mut self, s: ScalarType, args: &[Id]) -> Result<Id, SourceDiagnostic> {
        let one = self.number_of(s, 1.0);
        let x = self.apply_op(ScalarOp::FAbs, s, &args[..1])?;
        let y = self.apply_op(ScalarOp::FAbs, s, &args[1..])?;
        let small = self.apply_op(ScalarOp::FMin, s, &[x, y])?;
        let large = self.apply_op(ScalarOp::FMax, s, &[x, y])?;
        let quotient = self.emit_float_op(S::FDiv, s, &[small, large]);
        let square = self.emit_float_op(S::FMul, s, &[quotient, quotient]);
        let square = self.emit_float_op(S::FAdd, s, &[square, one]);
        let root = self.apply_op(ScalarOp::Sqrt, s, &[square])?;
        let result = self.emit_float_op(S::FMul, s, &[large, root]);
        let zero = self.number_of(s, 0.0);
        let none = self.emit_bool_value(S::FOrdEqual, &[large, zero]);
        let infinite = self.emit_bool_value(S::IsInf, &[large]);
        let plain = self.emit_bool_value(S::LogicalOr, &[none, infinite]);
        let result = self.select_scalar(s, plain, large, result);
        // The minimum and the maximum are numbers if one operand is.
        let [x_nan, y_nan] = [x, y].map(|v| self.emit_bool_value(S::IsNan, &[v]));
        let is_nan = self.emit_bool_value(S::LogicalOr, &[x_nan, y_nan]);
        let nan = self.number_of(s, f64::NAN);
        let result = self.select_scalar(s, is_nan, nan, result);
        Ok(self.select_scalar(s, infinite, large, result))
    }

    /// By logarithms, followed by one iteration of Newton's method.
    pub(super) fn cbrt(&mut self, s: ScalarType, a: Id) -> Result<Id, SourceDiagnostic> {
        let (zero, third) = (self.number_of(s, 0.0), self.number_of(s, 1.0 / 3.0));
        let size = self.apply_op(ScalarOp::FAbs, s, &[a])?;
        let log = self.apply_op(ScalarOp::Log, s, &[size])?;
        let log = self.emit_float_op(S::FMul, s, &[log, third]);
        let root = self.apply_op(ScalarOp::Exp, s, &[log])?;
        let square = self.emit_float_op(S::FMul, s, &[root, root]);
        let quotient = self.emit_float_op(S::FDiv, s, &[size, square]);
        let error = self.emit_float_op(S::FSub, s, &[quotient, root]);
        let step = self.emit_float_op(S::FMul, s, &[error, third]);
        let better = self.emit_float_op(S::FAdd, s, &[root, step]);
        let none = self.emit_bool_value(S::FOrdEqual, &[size, zero]);
        let infinite = self.emit_bool_value(S::IsInf, &[size]);
        let plain = self.emit_bool_value(S::LogicalOr, &[none, infinite]);
        let result = self.select_scalar(s, plain, size, better);
        Ok(self.copy_sign(s, result, a))
    }
}

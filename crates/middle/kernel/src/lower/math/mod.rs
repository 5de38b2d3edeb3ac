//! Mathematical functions that GLSL.std.450 lacks, entirely or for 64 bits.
//!
//! `exp` and `log` of `f64` reduce their argument to a small interval and sum a power series; their error is a few
//! units in the last place. Other functions of `f64` are built from these and from trigonometric functions.
//! Functions of `f16` are computed in `f32`.

mod argument_reduction;
mod erf;
mod exponential;
mod gamma;
mod hyperbolic;
mod power;
mod roots;
mod special_values;
mod trigonometry;

use crate::lower::context::KernelLowering;
use crate::lower::unsupported::unsupported_diagnostic;
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op as S;
use spirula_spirv::grammar::enumerants::Decoration;

impl KernelLowering<'_> {
    /// Lowers a function by its operator.
    pub(in crate::lower) fn lower_math_function(
        &mut self,
        operator: ScalarOperator,
        args: &[Id],
    ) -> Result<Id, SourceDiagnostic> {
        if operator.from == ScalarType::F16 {
            return self.compute_in_single(operator, args);
        }
        let (s, op, a) = (operator.from, operator.op, args[0]);
        let pi = self.number_of(s, std::f64::consts::PI);
        match op {
            ScalarOp::Exp => Ok(self.exp(a)),
            ScalarOp::Log => Ok(self.log(a)),
            ScalarOp::Sin | ScalarOp::Cos => {
                let angle = self.reduced_angle(a);
                Ok(self.sine_at(angle, op == ScalarOp::Cos))
            }
            ScalarOp::Tan => {
                let angle = self.reduced_angle(a);
                Ok(self.tangent_at(angle))
            }
            ScalarOp::Atan => self.atan(s, a),
            ScalarOp::SinPi | ScalarOp::CosPi => self.lower_half_turns(s, op, a),
            ScalarOp::TanPi => {
                let sin = self.apply_op(ScalarOp::SinPi, s, &[a])?;
                let cos = self.apply_op(ScalarOp::CosPi, s, &[a])?;
                Ok(self.emit_float_op(S::FDiv, s, &[sin, cos]))
            }
            ScalarOp::AsinPi | ScalarOp::AcosPi | ScalarOp::AtanPi | ScalarOp::Atan2Pi => {
                let op = match op {
                    ScalarOp::AsinPi => ScalarOp::Asin,
                    ScalarOp::AcosPi => ScalarOp::Acos,
                    ScalarOp::AtanPi => ScalarOp::Atan,
                    _ => ScalarOp::Atan2,
                };
                let angle = self.apply_op(op, s, args)?;
                Ok(self.emit_float_op(S::FDiv, s, &[angle, pi]))
            }
            ScalarOp::Log2 | ScalarOp::Log10 => {
                let log = self.apply_op(ScalarOp::Log, s, &[a])?;
                let by = match op {
                    ScalarOp::Log2 => std::f64::consts::LOG2_E,
                    _ => std::f64::consts::LOG10_E,
                };
                let by = self.number_of(s, by);
                Ok(self.emit_float_op(S::FMul, s, &[log, by]))
            }
            ScalarOp::FPow => Ok(self.power_of_real(args)),
            ScalarOp::Hypot => self.hypot(s, args),
            ScalarOp::Cbrt => self.cbrt(s, a),
            ScalarOp::Log1p => self.log1p(s, a),
            ScalarOp::Atan2 => self.atan2(s, args),
            ScalarOp::Asin | ScalarOp::Acos => self.lower_asin_or_acos(s, op, a),
            ScalarOp::Sinh | ScalarOp::Cosh | ScalarOp::Tanh => self.lower_hyperbolic(s, op, a),
            ScalarOp::Asinh | ScalarOp::Acosh | ScalarOp::Atanh => {
                self.lower_inverse_hyperbolic(s, op, a)
            }
            ScalarOp::Erf | ScalarOp::Erfc => self.erf(s, op, a),
            ScalarOp::Gamma | ScalarOp::LGamma => self.gamma(s, op, a),
            ScalarOp::NextAfter => Ok(self.next_after(s, args)),
            _ => Err(unsupported_diagnostic(
                self.place,
                &format!("the function {operator}"),
            )),
        }
    }

    fn compute_in_single(
        &mut self,
        operator: ScalarOperator,
        args: &[Id],
    ) -> Result<Id, SourceDiagnostic> {
        if operator.op == ScalarOp::NextAfter {
            return Ok(self.next_after(ScalarType::F16, args));
        }
        let mut wide = Vec::new();
        for arg in args {
            wide.push(self.emit_float_op(S::FConvert, ScalarType::F32, &[*arg]));
        }
        let result = self.apply_op(operator.op, ScalarType::F32, &wide)?;
        Ok(self.emit_float_op(S::FConvert, ScalarType::F16, &[result]))
    }

    /// An arithmetic instruction of a function. For `f64` it must not be contracted: rounding errors are computed
    /// with sums that drivers would otherwise simplify.
    pub(in crate::lower) fn emit_float_op(&mut self, op: S, scalar: ScalarType, args: &[Id]) -> Id {
        let ty = self.scalar_type(scalar);
        let id = self.emit_value(op, ty, args);
        if scalar == ScalarType::F64 {
            self.b.decorate_id(id, Decoration::NoContraction, &[]);
        }
        id
    }

    pub(in crate::lower) fn apply_op(
        &mut self,
        op: ScalarOp,
        scalar: ScalarType,
        args: &[Id],
    ) -> Result<Id, SourceDiagnostic> {
        self.lower_operator(ScalarOperator::with_type(op, scalar), args)
    }

    pub(in crate::lower) fn number_of(&mut self, scalar: ScalarType, value: f64) -> Id {
        let bits = ScalarOperator::from_conversion(ScalarOp::FConv, ScalarType::F64, scalar)
            .eval_operands(&[value.to_bits()]);
        self.const_literal(ScalarLiteral::new(scalar, bits))
    }

    /// Evaluates a polynomial; the highest power comes first.
    pub(in crate::lower) fn emit_polynomial(
        &mut self,
        scalar: ScalarType,
        x: Id,
        coefficients: &[f64],
    ) -> Id {
        let mut sum = None;
        for coefficient in coefficients {
            let coefficient = self.number_of(scalar, *coefficient);
            sum = Some(match sum {
                None => coefficient,
                Some(sum) => {
                    let product = self.emit_float_op(S::FMul, scalar, &[sum, x]);
                    self.emit_float_op(S::FAdd, scalar, &[product, coefficient])
                }
            });
        }
        sum.unwrap_or(x)
    }

    pub(in crate::lower) fn emit_less_than(&mut self, a: Id, b: Id) -> Id {
        self.emit_bool_value(S::FOrdLessThan, &[a, b])
    }

    pub(in crate::lower) fn select_scalar(
        &mut self,
        scalar: ScalarType,
        condition: Id,
        yes: Id,
        no: Id,
    ) -> Id {
        let ty = self.scalar_type(scalar);
        self.select(ty, condition, yes, no)
    }

    /// `a − k·b` for each `b` in turn; all products but the last are exact.
    pub(in crate::lower) fn reduce_argument(&mut self, a: Id, k: Id, parts: &[f64]) -> Id {
        let mut rest = a;
        for part in parts {
            let part = self.number_of(ScalarType::F64, *part);
            let product = self.emit_float_op(S::FMul, ScalarType::F64, &[k, part]);
            rest = self.emit_float_op(S::FSub, ScalarType::F64, &[rest, product]);
        }
        rest
    }

    pub(in crate::lower) fn apply_op_or(&mut self, op: ScalarOp, args: &[Id], or: Id) -> Id {
        self.apply_op(op, ScalarType::F64, args).unwrap_or(or)
    }

    /// The next number, by the order of bit patterns.
    fn next_after(&mut self, s: ScalarType, args: &[Id]) -> Id {
        let (width, ty) = (s.width(), self.scalar_type(s));
        let bits = self.uint_type(width);
        let (zero, one) = (self.const_uint(width, 0), self.const_uint(width, 1));
        let (mask, sign) = (
            self.const_uint(width, (1 << (width - 1)) - 1),
            self.const_uint(width, 1 << (width - 1)),
        );
        let [a, b] = [args[0], args[1]].map(|v| self.emit_bitcast(bits, v));
        let size = self.emit_value(S::BitwiseAnd, bits, &[a, mask]);
        let from_zero = self.emit_bool_value(S::IEqual, &[size, zero]);
        let up = self.emit_bool_value(S::FOrdLessThan, &[args[0], args[1]]);
        let negative = self.emit_bool_value(S::SLessThan, &[a, zero]);
        let away = self.emit_bool_value(S::LogicalNotEqual, &[up, negative]);
        let (more, less) = (
            self.emit_value(S::IAdd, bits, &[a, one]),
            self.emit_value(S::ISub, bits, &[a, one]),
        );
        let next = self.select(bits, away, more, less);
        let target_sign = self.emit_value(S::BitwiseAnd, bits, &[b, sign]);
        let smallest = self.emit_value(S::BitwiseOr, bits, &[target_sign, one]);
        let next = self.select(bits, from_zero, smallest, next);
        let next = self.emit_bitcast(ty, next);
        let equal = self.emit_bool_value(S::FOrdEqual, args);
        let next = self.select(ty, equal, args[1], next);
        let first = self.is_nan(s, args[0]);
        let next = self.select(ty, first, args[0], next);
        let second = self.is_nan(s, args[1]);
        self.select(ty, second, args[1], next)
    }
}

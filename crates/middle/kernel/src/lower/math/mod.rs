//! Mathematical functions that GLSL.std.450 lacks, entirely or for 64 bits.
//!
//! `exp` and `log` of `f64` reduce their argument to a small interval and sum a power series; their error is a few
//! units in the last place. Other functions of `f64` are built from these and from trigonometric functions.
//! Functions of `f16` are computed in `f32`.

mod argument_reduction;
mod erf;
mod gamma;
mod power;
mod special_values;
mod trigonometry;

use super::{KernelLowering, unsupported_diagnostic};
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op as S;
use spirula_spirv::grammar::enumerants::Decoration;
use trigonometry::SIN;

pub(in crate::lower) type LoweredIdResult = Result<Id, SourceDiagnostic>;

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
pub(in crate::lower) const LOG: &[f64] = &[
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
pub(in crate::lower) const LOG_2: [f64; 2] =
    [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];

impl KernelLowering<'_> {
    /// Lowers a function by its operator.
    pub(in crate::lower) fn lower_math_function(
        &mut self,
        operator: ScalarOperator,
        args: &[Id],
    ) -> LoweredIdResult {
        if operator.from == ScalarType::F16 {
            return self.through_single(operator, args);
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
            ScalarOp::SinPi | ScalarOp::CosPi => self.of_turns(s, op, a),
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

    fn through_single(&mut self, operator: ScalarOperator, args: &[Id]) -> LoweredIdResult {
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
    ) -> LoweredIdResult {
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

    pub(in crate::lower) fn operator_or(&mut self, op: ScalarOp, args: &[Id], or: Id) -> Id {
        self.apply_op(op, ScalarType::F64, args).unwrap_or(or)
    }

    pub(in crate::lower) fn exp(&mut self, a: Id) -> Id {
        let s = ScalarType::F64;
        let log2_e = self.number_of(s, std::f64::consts::LOG2_E);
        let (lowest, highest) = (self.number_of(s, -746.0), self.number_of(s, 710.0));
        let low = self.emit_less_than(a, lowest);
        let high = self.emit_less_than(highest, a);
        let x = self.select_scalar(s, low, lowest, a);
        let x = self.select_scalar(s, high, highest, x);
        let k = self.emit_float_op(S::FMul, s, &[x, log2_e]);
        let k = self.operator_or(ScalarOp::Round, &[k], k);
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

    /// A positive number as m·2^k with √½ ≤ m ≤ √2.
    pub(in crate::lower) fn split_mantissa_exponent(&mut self, a: Id) -> [Id; 2] {
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

    fn log(&mut self, a: Id) -> Id {
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

    /// Hyperbolic functions of `f64`.
    fn lower_hyperbolic(&mut self, s: ScalarType, op: ScalarOp, a: Id) -> LoweredIdResult {
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
    fn lower_inverse_hyperbolic(&mut self, s: ScalarType, op: ScalarOp, a: Id) -> LoweredIdResult {
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

    /// The logarithm of 1 + a. For `f64` in W. Kahan's form, which compensates for the digits that the sum loses.
    /// Logarithms of `f32` may be imprecise near one, so a series is used there.
    fn log1p(&mut self, s: ScalarType, a: Id) -> LoweredIdResult {
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

    fn hypot(&mut self, s: ScalarType, args: &[Id]) -> LoweredIdResult {
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
    fn cbrt(&mut self, s: ScalarType, a: Id) -> LoweredIdResult {
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

    /// `sin` or `cos` of a multiple of π, exact for multiples of a half. The angle is reduced to at most a quarter
    /// turn before it is rounded.
    fn of_turns(&mut self, s: ScalarType, op: ScalarOp, a: Id) -> LoweredIdResult {
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
    fn sine_of_near(&mut self, s: ScalarType, angle: Id) -> LoweredIdResult {
        if s != ScalarType::F64 {
            return self.apply_op(ScalarOp::Sin, s, &[angle]);
        }
        let angle = self.near_angle(angle);
        Ok(self.sine_at(angle, false))
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

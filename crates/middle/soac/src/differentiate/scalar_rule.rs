//! Derivatives of scalar operators, once for every way to compute with scalars.
//!
//! Integers have derivatives like numbers with a fraction: sums, products, quotients and powers follow the same rules in the
//! arithmetic of their type. Truth values have none. Where an operator has no derivative (ties of a minimum, kinks), the
//! rule is one that Futhark's tests ask for: the first of equal operands counts.

use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};

/// A way to compute with scalars: statements that are added, or values.
pub trait ScalarAlgebra {
    /// A scalar.
    type Scalar: Clone;

    /// A constant.
    fn add_constant(&mut self, literal: ScalarLiteral) -> Self::Scalar;

    /// The result of an operator.
    fn apply(&mut self, operator: ScalarOperator, operands: &[Self::Scalar]) -> Self::Scalar;
}

/// The derivative of an operator by one of its operands.
#[derive(Clone, Debug)]
pub enum PartialDerivative<S> {
    /// It is zero everywhere.
    Zero,
    /// It is one everywhere.
    One,
    /// It is minus one everywhere.
    MinusOne,
    /// A scalar of the type of the result.
    Factor(S),
    /// The derivative passes where a truth value is true, and is zero elsewhere.
    Where(S),
    /// The derivative passes where a truth value is false, and is zero elsewhere.
    Unless(S),
    /// The derivative is converted as the operand is.
    Conversion,
}

/// Whether scalars of a type have derivatives.
pub fn has_derivative(scalar: ScalarType) -> bool {
    scalar.is_int() || scalar.is_float()
}

/// The literal of a number, rounded to a type.
pub fn number_literal(scalar: ScalarType, value: f64) -> ScalarLiteral {
    let bits = match scalar {
        ScalarType::F64 => value.to_bits(),
        _ if scalar.is_float() => {
            ScalarOperator::from_conversion(ScalarOp::FConv, ScalarType::F64, scalar)
                .eval_operands(&[value.to_bits()])
        }
        _ => value as i64 as u64,
    };
    ScalarLiteral::new(scalar, bits)
}

/// Scalars of one type, with arithmetic that reads like formulas.
struct Formula<'a, A: ScalarAlgebra> {
    algebra: &'a mut A,
    scalar: ScalarType,
}

impl<A: ScalarAlgebra> Formula<'_, A> {
    fn number(&mut self, value: f64) -> A::Scalar {
        self.algebra
            .add_constant(number_literal(self.scalar, value))
    }

    fn unary(&mut self, op: ScalarOp, operand: &A::Scalar) -> A::Scalar {
        let operator = ScalarOperator::with_type(op, self.scalar);
        self.algebra.apply(operator, std::slice::from_ref(operand))
    }

    fn binary(&mut self, op: ScalarOp, left: &A::Scalar, right: &A::Scalar) -> A::Scalar {
        let operator = ScalarOperator::with_type(op, self.scalar);
        self.algebra.apply(operator, &[left.clone(), right.clone()])
    }

    fn add(&mut self, left: &A::Scalar, right: &A::Scalar) -> A::Scalar {
        let op = if self.scalar.is_float() {
            ScalarOp::FAdd
        } else {
            ScalarOp::Add
        };
        self.binary(op, left, right)
    }

    fn subtract(&mut self, left: &A::Scalar, right: &A::Scalar) -> A::Scalar {
        let op = if self.scalar.is_float() {
            ScalarOp::FSub
        } else {
            ScalarOp::Sub
        };
        self.binary(op, left, right)
    }

    fn multiply(&mut self, left: &A::Scalar, right: &A::Scalar) -> A::Scalar {
        let op = if self.scalar.is_float() {
            ScalarOp::FMul
        } else {
            ScalarOp::Mul
        };
        self.binary(op, left, right)
    }

    fn divide(&mut self, left: &A::Scalar, right: &A::Scalar) -> A::Scalar {
        self.binary(ScalarOp::FDiv, left, right)
    }

    fn negate(&mut self, operand: &A::Scalar) -> A::Scalar {
        let op = if self.scalar.is_float() {
            ScalarOp::FNeg
        } else {
            ScalarOp::Neg
        };
        self.unary(op, operand)
    }

    fn square(&mut self, operand: &A::Scalar) -> A::Scalar {
        self.multiply(operand, operand)
    }

    fn scale(&mut self, factor: f64, operand: &A::Scalar) -> A::Scalar {
        let factor = self.number(factor);
        self.multiply(&factor, operand)
    }

    fn quotient(&mut self, numerator: f64, operand: &A::Scalar) -> A::Scalar {
        let numerator = self.number(numerator);
        self.divide(&numerator, operand)
    }

    fn select(
        &mut self,
        condition: &A::Scalar,
        accept: &A::Scalar,
        reject: &A::Scalar,
    ) -> A::Scalar {
        let operator = ScalarOperator::with_type(ScalarOp::Cond, self.scalar);
        let operands = [condition.clone(), accept.clone(), reject.clone()];
        self.algebra.apply(operator, &operands)
    }

    /// One plus or minus the square of an operand.
    fn one_and_square(&mut self, op: ScalarOp, operand: &A::Scalar) -> A::Scalar {
        let square = self.square(operand);
        let one = self.number(1.0);
        self.binary(op, &one, &square)
    }

    /// The derivative of the logarithm of the gamma function. From 6 on by its asymptotic series, below by the recurrence,
    /// below one half by the reflection (Abramowitz and Stegun, 6.3.7, 6.3.5 and 6.3.18).
    fn digamma(&mut self, operand: &A::Scalar) -> A::Scalar {
        let half = self.number(0.5);
        let one = self.number(1.0);
        let is_low = self.binary(ScalarOp::FLt, operand, &half);
        let mirrored = self.subtract(&one, operand);
        let mut shifted = self.select(&is_low, &mirrored, operand);
        let mut sum = self.number(0.0);
        for _ in 0..6 {
            let part = self.divide(&one, &shifted);
            sum = self.subtract(&sum, &part);
            shifted = self.add(&shifted, &one);
        }
        let inverse = self.divide(&one, &shifted);
        let square = self.square(&inverse);
        let mut series = self.number(1.0 / 132.0);
        for coefficient in [-1.0 / 240.0, 1.0 / 252.0, -1.0 / 120.0, 1.0 / 12.0] {
            let coefficient = self.number(coefficient);
            let product = self.multiply(&series, &square);
            series = self.add(&coefficient, &product);
        }
        let tail = self.multiply(&series, &square);
        let logarithm = self.unary(ScalarOp::Log, &shifted);
        let halved = self.scale(0.5, &inverse);
        let mut value = self.subtract(&logarithm, &halved);
        value = self.subtract(&value, &tail);
        value = self.add(&value, &sum);
        let tangent = self.unary(ScalarOp::TanPi, operand);
        let reflection = self.quotient(std::f64::consts::PI, &tangent);
        let reflected = self.subtract(&value, &reflection);
        self.select(&is_low, &reflected, &value)
    }
}

/// The derivatives of an operator by its operands. `result` is the value of the operator.
pub fn find_partials<A: ScalarAlgebra>(
    algebra: &mut A,
    operator: ScalarOperator,
    operands: &[A::Scalar],
    result: &A::Scalar,
) -> Vec<PartialDerivative<A::Scalar>> {
    if !has_derivative(operator.to) {
        return vec![PartialDerivative::Zero; operands.len()];
    }
    let mut formula = Formula {
        algebra,
        scalar: operator.from,
    };
    match operands {
        [operand] => vec![formula.unary_partial(operator.op, operand, result)],
        [left, right] => formula.binary_partials(operator.op, left, right, result),
        [first, second, third] => formula.ternary_partials(operator.op, first, second, third),
        _ => Vec::new(),
    }
}

impl<A: ScalarAlgebra> Formula<'_, A> {
    fn unary_partial(
        &mut self,
        op: ScalarOp,
        operand: &A::Scalar,
        result: &A::Scalar,
    ) -> PartialDerivative<A::Scalar> {
        use std::f64::consts::{LN_2, LN_10, PI};
        let factor = match op {
            ScalarOp::SExt
            | ScalarOp::ZExt
            | ScalarOp::FConv
            | ScalarOp::SToF
            | ScalarOp::UToF
            | ScalarOp::FToS
            | ScalarOp::FToU
            | ScalarOp::Bits => return PartialDerivative::Conversion,
            ScalarOp::Neg | ScalarOp::FNeg | ScalarOp::Complement => {
                return PartialDerivative::MinusOne;
            }
            ScalarOp::Abs => self.unary(ScalarOp::SSignum, operand),
            ScalarOp::FAbs => self.unary(ScalarOp::FSignum, operand),
            ScalarOp::Sqrt => {
                let double = self.scale(2.0, result);
                self.quotient(1.0, &double)
            }
            ScalarOp::Rsqrt => {
                let double = self.scale(2.0, operand);
                let quotient = self.divide(result, &double);
                self.negate(&quotient)
            }
            ScalarOp::Cbrt => {
                let square = self.square(result);
                let triple = self.scale(3.0, &square);
                self.quotient(1.0, &triple)
            }
            ScalarOp::Exp => result.clone(),
            ScalarOp::Log => self.quotient(1.0, operand),
            ScalarOp::Log2 => self.quotient(1.0 / LN_2, operand),
            ScalarOp::Log10 => self.quotient(1.0 / LN_10, operand),
            ScalarOp::Log1p => {
                let one = self.number(1.0);
                let sum = self.add(&one, operand);
                self.quotient(1.0, &sum)
            }
            ScalarOp::Sin => self.unary(ScalarOp::Cos, operand),
            ScalarOp::Cos => {
                let sine = self.unary(ScalarOp::Sin, operand);
                self.negate(&sine)
            }
            ScalarOp::SinPi => {
                let cosine = self.unary(ScalarOp::CosPi, operand);
                self.scale(PI, &cosine)
            }
            ScalarOp::CosPi => {
                let sine = self.unary(ScalarOp::SinPi, operand);
                self.scale(-PI, &sine)
            }
            ScalarOp::Tan => self.one_and_square(ScalarOp::FAdd, result),
            ScalarOp::TanPi => {
                let sum = self.one_and_square(ScalarOp::FAdd, result);
                self.scale(PI, &sum)
            }
            ScalarOp::Sinh => self.unary(ScalarOp::Cosh, operand),
            ScalarOp::Cosh => self.unary(ScalarOp::Sinh, operand),
            ScalarOp::Tanh => self.one_and_square(ScalarOp::FSub, result),
            ScalarOp::Gamma => {
                let digamma = self.digamma(operand);
                self.multiply(result, &digamma)
            }
            ScalarOp::LGamma => self.digamma(operand),
            ScalarOp::Erf => self.scale_bell(2.0 / PI.sqrt(), operand),
            ScalarOp::Erfc => self.scale_bell(-2.0 / PI.sqrt(), operand),
            _ => return self.inverse_partial(op, operand),
        };
        PartialDerivative::Factor(factor)
    }

    /// The bell curve `exp(-x * x)`, scaled.
    fn scale_bell(&mut self, factor: f64, operand: &A::Scalar) -> A::Scalar {
        let square = self.square(operand);
        let power = self.negate(&square);
        let bell = self.unary(ScalarOp::Exp, &power);
        self.scale(factor, &bell)
    }

    /// The derivatives of the inverses of the trigonometric and hyperbolic functions. Others have none.
    fn inverse_partial(
        &mut self,
        op: ScalarOp,
        operand: &A::Scalar,
    ) -> PartialDerivative<A::Scalar> {
        use std::f64::consts::PI;
        let (kind, factor) = match op {
            ScalarOp::Asin | ScalarOp::Acos => (ScalarOp::Asin, 1.0),
            ScalarOp::AsinPi | ScalarOp::AcosPi => (ScalarOp::Asin, 1.0 / PI),
            ScalarOp::Atan => (ScalarOp::Atan, 1.0),
            ScalarOp::AtanPi => (ScalarOp::Atan, 1.0 / PI),
            ScalarOp::Asinh | ScalarOp::Acosh | ScalarOp::Atanh => (op, 1.0),
            _ => return PartialDerivative::Zero,
        };
        let sign = if matches!(op, ScalarOp::Acos | ScalarOp::AcosPi) {
            -1.0
        } else {
            1.0
        };
        let divisor = match kind {
            ScalarOp::Asin => {
                let difference = self.one_and_square(ScalarOp::FSub, operand);
                self.unary(ScalarOp::Sqrt, &difference)
            }
            ScalarOp::Atan => self.one_and_square(ScalarOp::FAdd, operand),
            ScalarOp::Asinh => {
                let sum = self.one_and_square(ScalarOp::FAdd, operand);
                self.unary(ScalarOp::Sqrt, &sum)
            }
            ScalarOp::Acosh => {
                let difference = self.one_and_square(ScalarOp::FSub, operand);
                let positive = self.negate(&difference);
                self.unary(ScalarOp::Sqrt, &positive)
            }
            _ => self.one_and_square(ScalarOp::FSub, operand),
        };
        PartialDerivative::Factor(self.quotient(sign * factor, &divisor))
    }

    fn binary_partials(
        &mut self,
        op: ScalarOp,
        left: &A::Scalar,
        right: &A::Scalar,
        result: &A::Scalar,
    ) -> Vec<PartialDerivative<A::Scalar>> {
        use PartialDerivative::{Factor, MinusOne, One, Unless, Where, Zero};
        match op {
            ScalarOp::Add | ScalarOp::FAdd => vec![One, One],
            ScalarOp::Sub | ScalarOp::FSub => vec![One, MinusOne],
            ScalarOp::Mul | ScalarOp::FMul | ScalarOp::SMulHi | ScalarOp::UMulHi => {
                vec![Factor(right.clone()), Factor(left.clone())]
            }
            ScalarOp::FDiv => {
                let inverse = self.quotient(1.0, right);
                let slope = self.divide(result, right);
                vec![Factor(inverse), Factor(self.negate(&slope))]
            }
            ScalarOp::SDiv
            | ScalarOp::SDivSafe
            | ScalarOp::SDivUp
            | ScalarOp::SDivUpSafe
            | ScalarOp::SQuot
            | ScalarOp::SQuotSafe => self.quotient_partials(ScalarOp::SQuotSafe, left, right),
            ScalarOp::UDiv | ScalarOp::UDivSafe | ScalarOp::UDivUp | ScalarOp::UDivUpSafe => {
                self.quotient_partials(ScalarOp::UDivSafe, left, right)
            }
            ScalarOp::SMod
            | ScalarOp::SModSafe
            | ScalarOp::SRem
            | ScalarOp::SRemSafe
            | ScalarOp::UMod
            | ScalarOp::UModSafe
            | ScalarOp::NextAfter => vec![One, Zero],
            ScalarOp::FMod => self.remainder_partials(left, right),
            ScalarOp::Pow => {
                let one = self.number(1.0);
                let before = self.subtract(right, &one);
                let power = self.binary(ScalarOp::Pow, left, &before);
                vec![Factor(self.multiply(right, &power)), Zero]
            }
            ScalarOp::FPow => self.power_partials(left, right, result),
            ScalarOp::Shl => {
                let one = self.number(1.0);
                vec![Factor(self.binary(ScalarOp::Shl, &one, right)), Zero]
            }
            ScalarOp::LShr | ScalarOp::AShr => {
                let one = self.number(1.0);
                let power = self.binary(ScalarOp::Shl, &one, right);
                vec![Factor(self.binary(ScalarOp::SQuotSafe, &one, &power)), Zero]
            }
            ScalarOp::SMin | ScalarOp::UMin | ScalarOp::FMin => {
                let takes_left = self.binary(comparison(op), left, right);
                vec![Where(takes_left.clone()), Unless(takes_left)]
            }
            ScalarOp::SMax | ScalarOp::UMax | ScalarOp::FMax => {
                let takes_left = self.binary(comparison(op), right, left);
                vec![Where(takes_left.clone()), Unless(takes_left)]
            }
            ScalarOp::Atan2 | ScalarOp::Atan2Pi => self.angle_partials(op, left, right),
            ScalarOp::Hypot => {
                let by_left = self.divide(left, result);
                vec![Factor(by_left), Factor(self.divide(right, result))]
            }
            ScalarOp::Ldexp => {
                let one = self.number(1.0);
                vec![Factor(self.binary(ScalarOp::Ldexp, &one, right)), Zero]
            }
            ScalarOp::CopySign => {
                let signs = (
                    self.unary(ScalarOp::FSignum, left),
                    self.unary(ScalarOp::FSignum, right),
                );
                vec![Factor(self.multiply(&signs.0, &signs.1)), Zero]
            }
            _ => vec![Zero, Zero],
        }
    }

    /// The remainder falls by the truncated quotient for each unit of the divisor.
    fn remainder_partials(
        &mut self,
        left: &A::Scalar,
        right: &A::Scalar,
    ) -> Vec<PartialDerivative<A::Scalar>> {
        let quotient = self.divide(left, right);
        let zero = self.number(0.0);
        let is_negative = self.binary(ScalarOp::FLt, &quotient, &zero);
        let up = self.unary(ScalarOp::Ceil, &quotient);
        let down = self.unary(ScalarOp::Floor, &quotient);
        let whole = self.select(&is_negative, &up, &down);
        let slope = self.negate(&whole);
        vec![PartialDerivative::One, PartialDerivative::Factor(slope)]
    }

    /// The angle of a point, in radians or in half turns.
    fn angle_partials(
        &mut self,
        op: ScalarOp,
        left: &A::Scalar,
        right: &A::Scalar,
    ) -> Vec<PartialDerivative<A::Scalar>> {
        let (first, second) = (self.square(left), self.square(right));
        let mut sum = self.add(&first, &second);
        if op == ScalarOp::Atan2Pi {
            sum = self.scale(std::f64::consts::PI, &sum);
        }
        let by_right = self.divide(left, &sum);
        let by_left = self.divide(right, &sum);
        let by_right = self.negate(&by_right);
        [by_left, by_right].map(PartialDerivative::Factor).into()
    }

    fn quotient_partials(
        &mut self,
        op: ScalarOp,
        left: &A::Scalar,
        right: &A::Scalar,
    ) -> Vec<PartialDerivative<A::Scalar>> {
        let one = self.number(1.0);
        let inverse = self.binary(op, &one, right);
        let square = self.square(right);
        let slope = self.binary(op, left, &square);
        let slope = self.negate(&slope);
        vec![
            PartialDerivative::Factor(inverse),
            PartialDerivative::Factor(slope),
        ]
    }

    /// The derivatives of a power. At base zero they are zero where they have no bound.
    fn power_partials(
        &mut self,
        base: &A::Scalar,
        exponent: &A::Scalar,
        result: &A::Scalar,
    ) -> Vec<PartialDerivative<A::Scalar>> {
        let (zero, one) = (self.number(0.0), self.number(1.0));
        let before = self.subtract(exponent, &one);
        let power = self.binary(ScalarOp::FPow, base, &before);
        let slope = self.multiply(exponent, &power);
        let is_zero = self.binary(ScalarOp::Eq, base, &zero);
        let is_low = self.binary(ScalarOp::FLt, exponent, &one);
        let and = ScalarOperator::with_type(ScalarOp::LogAnd, ScalarType::Bool);
        let is_kink = self.algebra.apply(and, &[is_zero, is_low]);
        let by_base = self.select(&is_kink, &zero, &slope);
        let logarithm = self.unary(ScalarOp::Log, base);
        let growth = self.multiply(result, &logarithm);
        let has_logarithm = self.binary(ScalarOp::FLt, &zero, base);
        let by_exponent = self.select(&has_logarithm, &growth, &zero);
        vec![
            PartialDerivative::Factor(by_base),
            PartialDerivative::Factor(by_exponent),
        ]
    }

    fn ternary_partials(
        &mut self,
        op: ScalarOp,
        first: &A::Scalar,
        second: &A::Scalar,
        third: &A::Scalar,
    ) -> Vec<PartialDerivative<A::Scalar>> {
        use PartialDerivative::{Factor, One, Unless, Where, Zero};
        match op {
            ScalarOp::Cond => vec![Zero, Where(first.clone()), Unless(first.clone())],
            ScalarOp::Mad | ScalarOp::Fma | ScalarOp::SMadHi | ScalarOp::UMadHi => {
                vec![Factor(second.clone()), Factor(first.clone()), One]
            }
            ScalarOp::Lerp => {
                let one = self.number(1.0);
                let rest = self.subtract(&one, third);
                let distance = self.subtract(second, first);
                vec![Factor(rest), Factor(third.clone()), Factor(distance)]
            }
            _ => vec![Zero, Zero, Zero],
        }
    }
}

/// The comparison of a minimum or maximum.
fn comparison(op: ScalarOp) -> ScalarOp {
    match op {
        ScalarOp::SMin | ScalarOp::SMax => ScalarOp::SLe,
        ScalarOp::UMin | ScalarOp::UMax => ScalarOp::ULe,
        _ => ScalarOp::FLe,
    }
}

/// The product of a derivative of an operator and a derivative of its operand (forward) or its result (`is_reverse`). None
/// if it is zero.
pub fn chain_derivative<A: ScalarAlgebra>(
    algebra: &mut A,
    operator: ScalarOperator,
    partial: &PartialDerivative<A::Scalar>,
    derivative: &A::Scalar,
    is_reverse: bool,
) -> Option<A::Scalar> {
    let scalar = if is_reverse {
        operator.from
    } else {
        operator.to
    };
    let mut formula = Formula {
        algebra,
        scalar: operator.to,
    };
    match partial {
        PartialDerivative::Zero => None,
        PartialDerivative::One => Some(derivative.clone()),
        PartialDerivative::MinusOne => Some(formula.negate(derivative)),
        PartialDerivative::Factor(factor) => Some(formula.multiply(factor, derivative)),
        PartialDerivative::Where(condition) => {
            let zero = formula.number(0.0);
            Some(formula.select(condition, derivative, &zero))
        }
        PartialDerivative::Unless(condition) => {
            let zero = formula.number(0.0);
            Some(formula.select(condition, &zero, derivative))
        }
        PartialDerivative::Conversion if !is_reverse => {
            Some(algebra.apply(operator, std::slice::from_ref(derivative)))
        }
        PartialDerivative::Conversion => {
            let op = match operator.op {
                ScalarOp::SToF => ScalarOp::FToS,
                ScalarOp::UToF => ScalarOp::FToU,
                ScalarOp::FToS => ScalarOp::SToF,
                ScalarOp::FToU => ScalarOp::UToF,
                other => other,
            };
            let back = ScalarOperator::from_conversion(op, operator.to, scalar);
            Some(algebra.apply(back, std::slice::from_ref(derivative)))
        }
    }
}

/// The sum of two derivatives of a type.
pub fn sum_derivatives<A: ScalarAlgebra>(
    algebra: &mut A,
    scalar: ScalarType,
    left: &A::Scalar,
    right: &A::Scalar,
) -> A::Scalar {
    Formula { algebra, scalar }.add(left, right)
}

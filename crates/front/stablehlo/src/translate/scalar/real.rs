//! Functions of real numbers that have no operator.

use super::calc::ScalarBuilder;
use spirula_program::{ScalarOp, ScalarType};
use spirula_tensor::ir::ScalarNode;

impl ScalarBuilder<'_> {
    /// `e^x - 1`: near 0 by its power series, where the difference cancels.
    pub fn expm1(&mut self, x: ScalarNode) -> ScalarNode {
        let exp = self.apply_unary(ScalarOp::Exp, x);
        let far = self.add_constant(exp, -1.0);
        let terms = if self.node_type(x) == ScalarType::F64 {
            19
        } else {
            12
        };
        let mut coefficients: Vec<f64> = (2..=terms).map(|n| 1.0 / factorial(n)).collect();
        coefficients.reverse();
        let series = self.evaluate_polynomial(x, &coefficients);
        let square = self.square(x);
        let series = self.mul(series, square);
        let near = self.add(x, series);
        let near = self.copy_sign(near, x);
        let size = self.abs(x);
        let is_near = self.lt_constant(size, 1.0);
        self.select(is_near, near, far)
    }

    /// `1 / (1 + e^-x)`
    pub fn logistic(&mut self, x: ScalarNode) -> ScalarNode {
        let negative = self.neg(x);
        let exp = self.apply_unary(ScalarOp::Exp, negative);
        let sum = self.add_constant(exp, 1.0);
        self.reciprocal(sum)
    }

    /// The greater one; NaN if one is NaN.
    pub fn maximum(&mut self, a: ScalarNode, b: ScalarNode) -> ScalarNode {
        self.select_extreme(ScalarOp::FMax, a, b)
    }

    /// The lesser one; NaN if one is NaN.
    pub fn minimum(&mut self, a: ScalarNode, b: ScalarNode) -> ScalarNode {
        self.select_extreme(ScalarOp::FMin, a, b)
    }

    fn select_extreme(&mut self, op: ScalarOp, a: ScalarNode, b: ScalarNode) -> ScalarNode {
        let value = self.apply_binary(op, a, b);
        let (a_nan, b_nan) = (
            self.apply_unary(ScalarOp::IsNan, a),
            self.apply_unary(ScalarOp::IsNan, b),
        );
        let value = self.select(b_nan, b, value);
        self.select(a_nan, a, value)
    }

    /// -1, 0 or 1; zeros and NaN are returned as they are.
    pub fn sign(&mut self, x: ScalarNode) -> ScalarNode {
        let one = self.constant_like(x, 1.0);
        let signed = self.copy_sign(one, x);
        let size = self.abs(x);
        let zero = self.constant_like(x, 0.0);
        let is_number = self.lt(zero, size);
        self.select(is_number, signed, x)
    }

    /// Rounded to the nearest integer, halves away from zero.
    pub fn round_away(&mut self, x: ScalarNode) -> ScalarNode {
        let size = self.abs(x);
        let floor = self.apply_unary(ScalarOp::Floor, size);
        let rest = self.sub(size, floor);
        let half = self.constant_like(x, 0.5);
        let is_up = self.le(half, rest);
        let up = self.add_constant(floor, 1.0);
        let rounded = self.select(is_up, up, floor);
        self.copy_sign(rounded, x)
    }

    /// Whether it is neither infinite nor NaN.
    pub fn is_finite(&mut self, x: ScalarNode) -> ScalarNode {
        let size = self.abs(x);
        self.lt_constant(size, f64::INFINITY)
    }

    /// Inverse of the error function: an approximation by polynomials (M. Giles, "Approximating
    /// the erfinv function", 2010), and for `f64` two steps of Halley's method.
    pub fn erf_inv(&mut self, x: ScalarNode) -> ScalarNode {
        let (one_less, one_more) = {
            let negative = self.neg(x);
            (self.add_constant(negative, 1.0), self.add_constant(x, 1.0))
        };
        let product = self.mul(one_less, one_more);
        let log = self.apply_unary(ScalarOp::Log, product);
        let w = self.neg(log);
        let near = self.add_constant(w, -2.5);
        let near = self.evaluate_polynomial(near, &ERF_INV_NEAR);
        let root = self.apply_unary(ScalarOp::Sqrt, w);
        let far = self.add_constant(root, -3.0);
        let far = self.evaluate_polynomial(far, &ERF_INV_FAR);
        let is_near = self.lt_constant(w, 5.0);
        let factor = self.select(is_near, near, far);
        let mut y = self.mul(factor, x);
        if self.node_type(x) == ScalarType::F64 {
            for _ in 0..2 {
                y = self.erf_inv_step(x, y);
            }
        }
        let size = self.abs(x);
        let one = self.constant_like(x, 1.0);
        let is_end = self.eq(size, one);
        let infinity = self.constant_like(x, f64::INFINITY);
        let end = self.copy_sign(infinity, x);
        self.select(is_end, end, y)
    }

    /// Halley's method on `erf(y) - x`, through `erfc` where `x` is near 1.
    fn erf_inv_step(&mut self, x: ScalarNode, y: ScalarNode) -> ScalarNode {
        let (size, y_size) = (self.abs(x), self.abs(y));
        let erf = self.apply_unary(ScalarOp::Erf, y_size);
        let near = self.sub(erf, size);
        let erfc = self.apply_unary(ScalarOp::Erfc, y_size);
        let negative = self.neg(size);
        let rest = self.add_constant(negative, 1.0);
        let far = self.sub(rest, erfc);
        let is_near = self.lt_constant(size, 0.5);
        let error = self.select(is_near, near, far);
        let square = self.square(y_size);
        let negative = self.neg(square);
        let exp = self.apply_unary(ScalarOp::Exp, negative);
        let slope = self.mul_constant(exp, std::f64::consts::FRAC_2_SQRT_PI);
        let newton = self.div(error, slope);
        let bend = self.mul(y_size, newton);
        let bend = self.add_constant(bend, 1.0);
        let step = self.div(newton, bend);
        let next = self.sub(y_size, step);
        self.copy_sign(next, x)
    }

    /// The derivative of the logarithm of the gamma function (Abramowitz and Stegun, 6.3). The argument is reflected to
    /// the right half and moved up by the recurrence, then the asymptotic series applies.
    pub fn digamma(&mut self, x: ScalarNode) -> ScalarNode {
        let half = self.constant_like(x, 0.5);
        let is_left = self.lt(x, half);
        let negative = self.neg(x);
        let mirrored = self.add_constant(negative, 1.0);
        let start = self.select(is_left, mirrored, x);
        let mut y = start;
        let mut sum = self.constant_like(x, 0.0);
        for _ in 0..10 {
            let is_small = self.lt_constant(y, 10.0);
            let inverse = self.reciprocal(y);
            let lower = self.sub(sum, inverse);
            sum = self.select(is_small, lower, sum);
            let up = self.add_constant(y, 1.0);
            y = self.select(is_small, up, y);
        }
        let inverse = self.reciprocal(y);
        let square = self.square(inverse);
        let series = self.evaluate_polynomial(square, &DIGAMMA_SERIES);
        let series = self.mul(series, square);
        let log = self.apply_unary(ScalarOp::Log, y);
        let half_inverse = self.mul_constant(inverse, 0.5);
        let value = self.sub(log, half_inverse);
        let value = self.sub(value, series);
        let right = self.add(value, sum);
        // psi(x) = psi(1 - x) - pi / tan(pi x). Next to a pole the result depends on the distance
        // to it.
        let whole = self.apply_unary(ScalarOp::Round, x);
        let fraction = self.sub(x, whole);
        let angle = self.mul_constant(fraction, std::f64::consts::PI);
        let (sine, cosine) = (
            self.apply_unary(ScalarOp::Sin, angle),
            self.apply_unary(ScalarOp::Cos, angle),
        );
        let cotangent = self.div(cosine, sine);
        let reflected = self.mul_constant(cotangent, std::f64::consts::PI);
        let left = self.sub(right, reflected);
        let value = self.select(is_left, left, right);
        let zero = self.constant_like(x, 0.0);
        let is_integer = self.eq(fraction, zero);
        let is_pole = self.and(is_left, is_integer);
        let nan = self.constant_like(x, f64::NAN);
        self.select(is_pole, nan, value)
    }

    /// Hurwitz' zeta function by the sum of Euler and Maclaurin, as for `x > 1` and `q > 0`.
    pub fn zeta(&mut self, x: ScalarNode, q: ScalarNode) -> ScalarNode {
        let negative = self.neg(x);
        let mut sum = self.apply_binary(ScalarOp::FPow, q, negative);
        let mut a = q;
        for _ in 0..10 {
            a = self.add_constant(a, 1.0);
            let term = self.apply_binary(ScalarOp::FPow, a, negative);
            sum = self.add(sum, term);
        }
        let power = self.apply_binary(ScalarOp::FPow, a, negative);
        let less = self.add_constant(x, -1.0);
        let tail = self.mul(power, a);
        let tail = self.div(tail, less);
        sum = self.add(sum, tail);
        let half = self.mul_constant(power, 0.5);
        sum = self.sub(sum, half);
        // B_2k / (2k)! x (x + 1) … (x + 2k - 2) a^(-x - 2k + 1)
        let inverse = self.reciprocal(a);
        let square = self.square(inverse);
        let mut factor = self.mul(x, inverse);
        for (k, bernoulli) in ZETA_SERIES.iter().enumerate() {
            let term = self.mul_constant(factor, *bernoulli);
            let term = self.mul(term, power);
            sum = self.add(sum, term);
            let k = k as f64;
            let (first, second) = (
                self.add_constant(x, 2.0 * k + 1.0),
                self.add_constant(x, 2.0 * k + 2.0),
            );
            factor = self.mul(factor, first);
            factor = self.mul(factor, second);
            factor = self.mul(factor, square);
        }
        self.zeta_ends(x, q, sum)
    }

    fn zeta_ends(&mut self, x: ScalarNode, q: ScalarNode, value: ScalarNode) -> ScalarNode {
        let zero = self.constant_like(x, 0.0);
        let one = self.constant_like(x, 1.0);
        let (nan, infinity) = (
            self.constant_like(x, f64::NAN),
            self.constant_like(x, f64::INFINITY),
        );
        let floor = self.apply_unary(ScalarOp::Floor, q);
        let is_whole = self.eq(floor, q);
        let is_left = self.le(q, zero);
        let at_pole = self.select(is_whole, infinity, nan);
        let value = self.select(is_left, at_pole, value);
        let is_below = self.lt(x, one);
        let value = self.select(is_below, nan, value);
        let is_one = self.eq(x, one);
        self.select(is_one, infinity, value)
    }

    /// The derivative of this order of the digamma function.
    pub fn polygamma(&mut self, n: ScalarNode, x: ScalarNode) -> ScalarNode {
        let order = self.add_constant(n, 1.0);
        let zeta = self.zeta(order, x);
        let log = self.apply_unary(ScalarOp::LGamma, order);
        let factorial = self.apply_unary(ScalarOp::Exp, log);
        let size = self.mul(factorial, zeta);
        let half = self.mul_constant(n, 0.5);
        let floor = self.apply_unary(ScalarOp::Floor, half);
        let is_even = self.eq(half, floor);
        let negative = self.neg(size);
        let value = self.select(is_even, negative, size);
        let digamma = self.digamma(x);
        let zero = self.constant_like(n, 0.0);
        let is_first = self.eq(n, zero);
        let value = self.select(is_first, digamma, value);
        let whole = self.apply_unary(ScalarOp::Floor, n);
        let is_whole = self.eq(whole, n);
        let is_positive = self.le(zero, n);
        let is_order = self.and(is_whole, is_positive);
        let nan = self.constant_like(n, f64::NAN);
        self.select(is_order, value, nan)
    }
}

fn factorial(n: u32) -> f64 {
    (1..=n).map(f64::from).product()
}

/// For `w = -log(1 - x²)` below 5, in `w - 2.5`.
const ERF_INV_NEAR: [f64; 9] = [
    2.81022636e-08,
    3.43273939e-07,
    -3.5233877e-06,
    -4.39150654e-06,
    0.00021858087,
    -0.00125372503,
    -0.00417768164,
    0.246640727,
    1.50140941,
];

/// For `w` from 5 on, in `sqrt(w) - 3`.
const ERF_INV_FAR: [f64; 9] = [
    -0.000200214257,
    0.000100950558,
    0.00134934322,
    -0.00367342844,
    0.00573950773,
    -0.0076224613,
    0.00943887047,
    1.00167406,
    2.83297682,
];

/// `B_2k / 2k` from k = 8 down to 1.
const DIGAMMA_SERIES: [f64; 8] = [
    -3617.0 / 510.0 / 16.0,
    7.0 / 6.0 / 14.0,
    -691.0 / 2730.0 / 12.0,
    5.0 / 66.0 / 10.0,
    -1.0 / 30.0 / 8.0,
    1.0 / 42.0 / 6.0,
    -1.0 / 30.0 / 4.0,
    1.0 / 6.0 / 2.0,
];

/// `B_2k / (2k)!` from k = 1 on.
const ZETA_SERIES: [f64; 9] = [
    1.0 / 6.0 / 2.0,
    -1.0 / 30.0 / 24.0,
    1.0 / 42.0 / 720.0,
    -1.0 / 30.0 / 40320.0,
    5.0 / 66.0 / 3628800.0,
    -691.0 / 2730.0 / 479001600.0,
    7.0 / 6.0 / 87178291200.0,
    -3617.0 / 510.0 / 20922789888000.0,
    43867.0 / 798.0 / 6402373705728000.0,
];

//! Functions of complex numbers.
//!
//! Branch cuts, and the formulas that keep accuracy near them, are those of W. Kahan, "Branch cuts
//! for complex elementary functions" (1987).

use super::calc::ScalarBuilder;
use super::value::ComplexNodes;
use spirula_program::ScalarOp;
use spirula_tensor::ir::ScalarNode;

pub fn add(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes, [x, y]: ComplexNodes) -> ComplexNodes {
    [c.add(a, x), c.add(b, y)]
}

pub fn sub(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes, [x, y]: ComplexNodes) -> ComplexNodes {
    [c.sub(a, x), c.sub(b, y)]
}

pub fn mul(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes, [x, y]: ComplexNodes) -> ComplexNodes {
    let (ax, by) = (c.mul(a, x), c.mul(b, y));
    let (ay, bx) = (c.mul(a, y), c.mul(b, x));
    [c.sub(ax, by), c.add(ay, bx)]
}

/// R. Smith's method, whose intermediate results do not overflow. A finite number divided by an
/// infinite one is zero.
pub fn div(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes, [x, y]: ComplexNodes) -> ComplexNodes {
    let (x_size, y_size) = (c.abs(x), c.abs(y));
    let is_steep = c.lt(x_size, y_size);
    let large = c.select(is_steep, y, x);
    let small = c.select(is_steep, x, y);
    let ratio = c.div(small, large);
    let zero = c.constant_like(a, 0.0);
    let is_zero = c.eq(small, zero);
    let ratio = c.select(is_zero, small, ratio);
    let scaled = c.mul(small, ratio);
    let divisor = c.add(large, scaled);
    let (a_ratio, b_ratio) = (c.mul(a, ratio), c.mul(b, ratio));
    let re = {
        let (flat, steep) = (c.add(a, b_ratio), c.add(a_ratio, b));
        c.select(is_steep, steep, flat)
    };
    let im = {
        let (flat, steep) = (c.sub(b, a_ratio), c.sub(b_ratio, a));
        c.select(is_steep, steep, flat)
    };
    let size = c.abs(large);
    let infinity = c.constant_like(a, f64::INFINITY);
    let is_infinite = c.eq(size, infinity);
    let (a_finite, b_finite) = (c.is_finite(a), c.is_finite(b));
    let is_finite = c.and(a_finite, b_finite);
    let is_nothing = c.and(is_infinite, is_finite);
    [re, im].map(|part| {
        let quotient = c.div(part, divisor);
        c.select(is_nothing, zero, quotient)
    })
}

pub fn neg(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes) -> ComplexNodes {
    [c.neg(a), c.neg(b)]
}

pub fn abs(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes) -> ScalarNode {
    c.apply_binary(ScalarOp::Hypot, a, b)
}

/// The number divided by its absolute value. The sign of 0 is 0; if a part is NaN, both parts of
/// the result are.
pub fn sign(c: &mut ScalarBuilder<'_>, z: ComplexNodes) -> ComplexNodes {
    let size = abs(c, z);
    let zero = c.constant_like(size, 0.0);
    let is_zero = c.eq(size, zero);
    let one = c.constant_like(size, 1.0);
    let size = c.select(is_zero, one, size);
    let [is_nan, is_nan_too] = z.map(|part| c.apply_unary(ScalarOp::IsNan, part));
    let is_nan = c.or(is_nan, is_nan_too);
    let nan = c.constant_like(size, f64::NAN);
    z.map(|part| {
        let quotient = c.div(part, size);
        c.select(is_nan, nan, quotient)
    })
}

fn times_i(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes) -> ComplexNodes {
    [c.neg(b), a]
}

fn times_minus_i(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes) -> ComplexNodes {
    [b, c.neg(a)]
}

fn conjugate(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes) -> ComplexNodes {
    [a, c.neg(b)]
}

fn add_real(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes, value: f64) -> ComplexNodes {
    [c.add_constant(a, value), b]
}

pub fn exp(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes) -> ComplexNodes {
    let size = c.apply_unary(ScalarOp::Exp, a);
    let (cosine, sine) = (
        c.apply_unary(ScalarOp::Cos, b),
        c.apply_unary(ScalarOp::Sin, b),
    );
    let (re, im) = (c.mul(size, cosine), c.mul(size, sine));
    let zero = c.constant_like(a, 0.0);
    let is_real = c.eq(b, zero);
    [c.select(is_real, size, re), c.select(is_real, b, im)]
}

/// Real part `expm1(a) cos b - 2 sin²(b/2)`. The result of a real number is real, also where it is infinite.
pub fn expm1(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes) -> ComplexNodes {
    let less = c.expm1(a);
    let (cosine, sine) = (
        c.apply_unary(ScalarOp::Cos, b),
        c.apply_unary(ScalarOp::Sin, b),
    );
    let half = c.mul_constant(b, 0.5);
    let half = c.apply_unary(ScalarOp::Sin, half);
    let square = c.square(half);
    let twice = c.add(square, square);
    let product = c.mul(less, cosine);
    let size = c.apply_unary(ScalarOp::Exp, a);
    let (re, im) = (c.sub(product, twice), c.mul(size, sine));
    let zero = c.constant_like(a, 0.0);
    let is_real = c.eq(b, zero);
    [c.select(is_real, less, re), c.select(is_real, b, im)]
}

/// Near the unit circle the absolute value is taken from its distance to 1.
pub fn log(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes) -> ComplexNodes {
    let (a_size, b_size) = (c.abs(a), c.abs(b));
    let large = c.apply_binary(ScalarOp::FMax, a_size, b_size);
    let small = c.apply_binary(ScalarOp::FMin, a_size, b_size);
    let size = c.apply_binary(ScalarOp::Hypot, a, b);
    let far = c.apply_unary(ScalarOp::Log, size);
    let (less, more) = (c.add_constant(large, -1.0), c.add_constant(large, 1.0));
    let product = c.mul(less, more);
    let square = c.square(small);
    let sum = c.add(product, square);
    let near = c.apply_unary(ScalarOp::Log1p, sum);
    let near = c.mul_constant(near, 0.5);
    let (above, below) = (c.lt_constant(size, 2.0), c.lt_constant(size, 0.5));
    let below = c.not(below);
    let is_near = c.and(above, below);
    [
        c.select(is_near, near, far),
        c.apply_binary(ScalarOp::Atan2, b, a),
    ]
}

/// The real part is `log1p(a (2 + a) + b²) / 2` where `a (2 + a) + b²` is small.
pub fn log1p(c: &mut ScalarBuilder<'_>, z: ComplexNodes) -> ComplexNodes {
    let [a, b] = z;
    let more = c.add_constant(a, 2.0);
    let product = c.mul(a, more);
    let square = c.square(b);
    let sum = c.add(product, square);
    let near = c.apply_unary(ScalarOp::Log1p, sum);
    let near = c.mul_constant(near, 0.5);
    let moved = add_real(c, z, 1.0);
    let [far, angle] = log(c, moved);
    let size = c.abs(sum);
    let is_near = c.lt_constant(size, 0.5);
    [c.select(is_near, near, far), angle]
}

pub fn sqrt(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes) -> ComplexNodes {
    let (a_size, b_size) = (c.abs(a), c.abs(b));
    let whole = c.add(a_size, b_size);
    // The scale 1/4 keeps the sum from overflowing.
    let (a_part, b_part) = (c.mul_constant(a, 0.25), c.mul_constant(b, 0.25));
    let size = c.apply_binary(ScalarOp::Hypot, a_part, b_part);
    let a_quarter = c.abs(a_part);
    let sum = c.add(size, a_quarter);
    let half = c.mul_constant(sum, 0.5);
    let root = c.apply_unary(ScalarOp::Sqrt, half);
    let t = c.mul_constant(root, 2.0);
    let twice = c.mul_constant(t, 2.0);
    let other = c.div(b_size, twice);
    let zero = c.constant_like(a, 0.0);
    let is_left = c.lt(a, zero);
    let re = c.select(is_left, other, t);
    let im = c.select(is_left, t, other);
    let is_zero = c.eq(whole, zero);
    let re = c.select(is_zero, zero, re);
    let im = c.select(is_zero, zero, im);
    let infinity = c.constant_like(a, f64::INFINITY);
    let is_infinite = c.eq(b_size, infinity);
    let re = c.select(is_infinite, infinity, re);
    let im = c.select(is_infinite, infinity, im);
    [re, c.copy_sign(im, b)]
}

pub fn rsqrt(c: &mut ScalarBuilder<'_>, z: ComplexNodes) -> ComplexNodes {
    let root = sqrt(c, z);
    let one = [c.constant_like(z[0], 1.0), c.constant_like(z[0], 0.0)];
    div(c, one, root)
}

pub fn cbrt(c: &mut ScalarBuilder<'_>, z: ComplexNodes) -> ComplexNodes {
    let [size, angle] = to_polar(c, z);
    let size = c.apply_unary(ScalarOp::Cbrt, size);
    let angle = c.mul_constant(angle, 1.0 / 3.0);
    from_polar(c, size, angle)
}

fn to_polar(c: &mut ScalarBuilder<'_>, z: ComplexNodes) -> ComplexNodes {
    [abs(c, z), c.apply_binary(ScalarOp::Atan2, z[1], z[0])]
}

fn from_polar(c: &mut ScalarBuilder<'_>, size: ScalarNode, angle: ScalarNode) -> ComplexNodes {
    let (cosine, sine) = (
        c.apply_unary(ScalarOp::Cos, angle),
        c.apply_unary(ScalarOp::Sin, angle),
    );
    [c.mul(size, cosine), c.mul(size, sine)]
}

/// `|z|^x e^(-y arg z)` at the angle `x arg z + y log |z|`; of 0 it is 0 or 1.
pub fn pow(c: &mut ScalarBuilder<'_>, z: ComplexNodes, [x, y]: ComplexNodes) -> ComplexNodes {
    let [size, angle] = to_polar(c, z);
    let power = c.apply_binary(ScalarOp::FPow, size, x);
    let damping = c.mul(y, angle);
    let damping = c.neg(damping);
    let damping = c.apply_unary(ScalarOp::Exp, damping);
    let radius = c.mul(power, damping);
    let turned = c.mul(x, angle);
    let [log_size, _] = log(c, z);
    let wound = c.mul(y, log_size);
    let turned = c.add(turned, wound);
    let [re, im] = from_polar(c, radius, turned);
    let zero = c.constant_like(x, 0.0);
    let one = c.constant_like(x, 1.0);
    let is_zero = c.eq(size, zero);
    let (x_zero, y_zero) = (c.eq(x, zero), c.eq(y, zero));
    let is_one = c.and(x_zero, y_zero);
    let at_zero = c.select(is_one, one, zero);
    [c.select(is_zero, at_zero, re), c.select(is_zero, zero, im)]
}

pub fn sinh(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes) -> ComplexNodes {
    let (high, low) = (
        c.apply_unary(ScalarOp::Cosh, a),
        c.apply_unary(ScalarOp::Sinh, a),
    );
    let (cosine, sine) = (
        c.apply_unary(ScalarOp::Cos, b),
        c.apply_unary(ScalarOp::Sin, b),
    );
    [c.mul(low, cosine), c.mul(high, sine)]
}

pub fn cosh(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes) -> ComplexNodes {
    let (high, low) = (
        c.apply_unary(ScalarOp::Cosh, a),
        c.apply_unary(ScalarOp::Sinh, a),
    );
    let (cosine, sine) = (
        c.apply_unary(ScalarOp::Cos, b),
        c.apply_unary(ScalarOp::Sin, b),
    );
    [c.mul(high, cosine), c.mul(low, sine)]
}

/// Kahan's formula, which avoids cancellation, with `t = tan b`, `s = sinh a`, `r = cosh a` and
/// `d = 1 + t² / (1 / s² …)`. Infinities are those of C (ISO/IEC 9899, G.6.2.6): an infinite real part gives 1 or -1, and
/// an infinite imaginary part alone gives NaN.
pub fn tanh(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes) -> ComplexNodes {
    let t = c.apply_unary(ScalarOp::Tan, b);
    let square = c.square(t);
    let beta = c.add_constant(square, 1.0);
    let s = c.apply_unary(ScalarOp::Sinh, a);
    let s_square = c.square(s);
    let rho = c.add_constant(s_square, 1.0);
    let rho = c.apply_unary(ScalarOp::Sqrt, rho);
    let divisor = c.mul(beta, s_square);
    let divisor = c.add_constant(divisor, 1.0);
    let re = c.mul(beta, rho);
    let re = c.mul(re, s);
    let (re, im) = (c.div(re, divisor), c.div(t, divisor));
    // sinh overflows above this.
    let size = c.abs(a);
    let is_near = c.lt_constant(size, 20.0);
    let one = c.constant_like(a, 1.0);
    let end = c.copy_sign(one, a);
    let double = c.mul_constant(size, -2.0);
    let decay = c.apply_unary(ScalarOp::Exp, double);
    let (sine, cosine) = (
        c.apply_unary(ScalarOp::Sin, b),
        c.apply_unary(ScalarOp::Cos, b),
    );
    let far = c.mul(sine, cosine);
    let far = c.mul_constant(far, 4.0);
    let far = c.mul(far, decay);
    let infinity = c.constant_like(a, f64::INFINITY);
    let is_end = c.eq(size, infinity);
    let (zero, nan) = (c.constant_like(a, 0.0), c.constant_like(a, f64::NAN));
    let zero = c.copy_sign(zero, b);
    let far = c.select(is_end, zero, far);
    let is_known = c.is_finite(b);
    let is_known = c.or(is_known, is_end);
    let end = c.select(is_known, end, nan);
    [c.select(is_near, re, end), c.select(is_near, im, far)]
}

pub fn sin(c: &mut ScalarBuilder<'_>, z: ComplexNodes) -> ComplexNodes {
    let turned = times_i(c, z);
    let result = sinh(c, turned);
    times_minus_i(c, result)
}

pub fn cos(c: &mut ScalarBuilder<'_>, z: ComplexNodes) -> ComplexNodes {
    let turned = times_i(c, z);
    cosh(c, turned)
}

pub fn tan(c: &mut ScalarBuilder<'_>, z: ComplexNodes) -> ComplexNodes {
    let turned = times_i(c, z);
    let result = tanh(c, turned);
    times_minus_i(c, result)
}

pub fn logistic(c: &mut ScalarBuilder<'_>, z: ComplexNodes) -> ComplexNodes {
    let negative = neg(c, z);
    let power = exp(c, negative);
    let sum = add_real(c, power, 1.0);
    let one = [c.constant_like(z[0], 1.0), c.constant_like(z[0], 0.0)];
    div(c, one, sum)
}

/// `sqrt(1 - z)` and `sqrt(1 + z)`.
fn sqrt_one_minus_and_plus(
    c: &mut ScalarBuilder<'_>,
    z: ComplexNodes,
) -> (ComplexNodes, ComplexNodes) {
    let negative = neg(c, z);
    let (less, more) = (add_real(c, negative, 1.0), add_real(c, z, 1.0));
    (sqrt(c, less), sqrt(c, more))
}

/// `asinh` of the imaginary part of a product.
fn asinh_of_product(c: &mut ScalarBuilder<'_>, a: ComplexNodes, b: ComplexNodes) -> ScalarNode {
    let a = conjugate(c, a);
    let product = mul(c, a, b);
    c.apply_unary(ScalarOp::Asinh, product[1])
}

pub fn asin(c: &mut ScalarBuilder<'_>, z: ComplexNodes) -> ComplexNodes {
    let (less, more) = sqrt_one_minus_and_plus(c, z);
    let product = mul(c, less, more);
    let re = c.apply_binary(ScalarOp::Atan2, z[0], product[0]);
    [re, asinh_of_product(c, less, more)]
}

pub fn acos(c: &mut ScalarBuilder<'_>, z: ComplexNodes) -> ComplexNodes {
    let (less, more) = sqrt_one_minus_and_plus(c, z);
    let angle = c.apply_binary(ScalarOp::Atan2, less[0], more[0]);
    [c.mul_constant(angle, 2.0), asinh_of_product(c, more, less)]
}

pub fn acosh(c: &mut ScalarBuilder<'_>, z: ComplexNodes) -> ComplexNodes {
    let (less, more) = (add_real(c, z, -1.0), add_real(c, z, 1.0));
    let (less, more) = (sqrt(c, less), sqrt(c, more));
    let turned = conjugate(c, less);
    let product = mul(c, turned, more);
    let re = c.apply_unary(ScalarOp::Asinh, product[0]);
    let angle = c.apply_binary(ScalarOp::Atan2, less[1], more[0]);
    [re, c.mul_constant(angle, 2.0)]
}

pub fn asinh(c: &mut ScalarBuilder<'_>, z: ComplexNodes) -> ComplexNodes {
    let turned = times_i(c, z);
    let result = asin(c, turned);
    times_minus_i(c, result)
}

pub fn atanh(c: &mut ScalarBuilder<'_>, [x, y]: ComplexNodes) -> ComplexNodes {
    let negative = c.neg(x);
    let (less, more) = (c.add_constant(negative, 1.0), c.add_constant(x, 1.0));
    let (less_square, y_square) = (c.square(less), c.square(y));
    let distance = c.add(less_square, y_square);
    let four = c.mul_constant(x, 4.0);
    let ratio = c.div(four, distance);
    let re = c.apply_unary(ScalarOp::Log1p, ratio);
    let product = c.mul(less, more);
    let across = c.sub(product, y_square);
    // `2 y` is limited to finite numbers, as `across` may be minus infinity for such `y`.
    let twice = c.mul_constant(y, 2.0);
    let most = c.largest_finite_like(y);
    let twice = {
        let size = c.abs(twice);
        let size = c.apply_binary(ScalarOp::FMin, size, most);
        c.copy_sign(size, twice)
    };
    let angle = c.apply_binary(ScalarOp::Atan2, twice, across);
    [c.mul_constant(re, 0.25), c.mul_constant(angle, 0.5)]
}

pub fn atan(c: &mut ScalarBuilder<'_>, z: ComplexNodes) -> ComplexNodes {
    let turned = times_i(c, z);
    let result = atanh(c, turned);
    times_minus_i(c, result)
}

pub fn square(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes) -> ComplexNodes {
    let (less, more) = (c.sub(a, b), c.add(a, b));
    let product = c.mul(a, b);
    [c.mul(less, more), c.add(product, product)]
}

/// `-i log((x + i y) / sqrt(x² + y²))`
pub fn atan2(c: &mut ScalarBuilder<'_>, y: ComplexNodes, x: ComplexNodes) -> ComplexNodes {
    let turned = times_i(c, y);
    let sum = add(c, x, turned);
    let (xx, yy) = (square(c, x), square(c, y));
    let total = add(c, xx, yy);
    let root = sqrt(c, total);
    let ratio = div(c, sum, root);
    let result = log(c, ratio);
    times_minus_i(c, result)
}

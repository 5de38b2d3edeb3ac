//! Functions of complex numbers.
//!
//! Branch cuts and the forms that keep accuracy near them are those of W. Kahan, "Branch cuts for
//! complex elementary functions" (1987).

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

/// By R. Smith's method, which does not overflow in between. By what is infinite a finite number gives zero.
pub fn div(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes, [x, y]: ComplexNodes) -> ComplexNodes {
    let (x_size, y_size) = (c.abs(x), c.abs(y));
    let is_steep = c.lt(x_size, y_size);
    let large = c.cond(is_steep, y, x);
    let small = c.cond(is_steep, x, y);
    let ratio = c.div(small, large);
    let zero = c.like(a, 0.0);
    let is_zero = c.eq(small, zero);
    let ratio = c.cond(is_zero, small, ratio);
    let scaled = c.mul(small, ratio);
    let divisor = c.add(large, scaled);
    let (a_ratio, b_ratio) = (c.mul(a, ratio), c.mul(b, ratio));
    let re = {
        let (flat, steep) = (c.add(a, b_ratio), c.add(a_ratio, b));
        c.cond(is_steep, steep, flat)
    };
    let im = {
        let (flat, steep) = (c.sub(b, a_ratio), c.sub(b_ratio, a));
        c.cond(is_steep, steep, flat)
    };
    let size = c.abs(large);
    let infinity = c.like(a, f64::INFINITY);
    let is_infinite = c.eq(size, infinity);
    let (a_finite, b_finite) = (c.is_finite(a), c.is_finite(b));
    let is_finite = c.and(a_finite, b_finite);
    let is_nothing = c.and(is_infinite, is_finite);
    [re, im].map(|part| {
        let quotient = c.div(part, divisor);
        c.cond(is_nothing, zero, quotient)
    })
}

pub fn neg(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes) -> ComplexNodes {
    [c.neg(a), c.neg(b)]
}

pub fn abs(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes) -> ScalarNode {
    c.op2(ScalarOp::Hypot, a, b)
}

/// The number over its absolute value; 0 stays, and with a part that is NaN both are.
pub fn sign(c: &mut ScalarBuilder<'_>, z: ComplexNodes) -> ComplexNodes {
    let size = abs(c, z);
    let zero = c.like(size, 0.0);
    let is_zero = c.eq(size, zero);
    let one = c.like(size, 1.0);
    let size = c.cond(is_zero, one, size);
    let [is_nan, is_nan_too] = z.map(|part| c.op1(ScalarOp::IsNan, part));
    let is_nan = c.or(is_nan, is_nan_too);
    let nan = c.like(size, f64::NAN);
    z.map(|part| {
        let quotient = c.div(part, size);
        c.cond(is_nan, nan, quotient)
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

fn plus(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes, value: f64) -> ComplexNodes {
    [c.plus(a, value), b]
}

pub fn exp(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes) -> ComplexNodes {
    let size = c.op1(ScalarOp::Exp, a);
    let (cosine, sine) = (c.op1(ScalarOp::Cos, b), c.op1(ScalarOp::Sin, b));
    let (re, im) = (c.mul(size, cosine), c.mul(size, sine));
    let zero = c.like(a, 0.0);
    let is_real = c.eq(b, zero);
    [c.cond(is_real, size, re), c.cond(is_real, b, im)]
}

/// Real part `expm1(a) cos b - 2 sin²(b/2)`.
pub fn expm1(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes) -> ComplexNodes {
    let less = c.expm1(a);
    let (cosine, sine) = (c.op1(ScalarOp::Cos, b), c.op1(ScalarOp::Sin, b));
    let half = c.times(b, 0.5);
    let half = c.op1(ScalarOp::Sin, half);
    let square = c.square(half);
    let twice = c.add(square, square);
    let product = c.mul(less, cosine);
    let size = c.op1(ScalarOp::Exp, a);
    [c.sub(product, twice), c.mul(size, sine)]
}

/// Near the unit circle the absolute value is taken from its distance to 1.
pub fn log(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes) -> ComplexNodes {
    let (a_size, b_size) = (c.abs(a), c.abs(b));
    let large = c.op2(ScalarOp::FMax, a_size, b_size);
    let small = c.op2(ScalarOp::FMin, a_size, b_size);
    let size = c.op2(ScalarOp::Hypot, a, b);
    let far = c.op1(ScalarOp::Log, size);
    let (less, more) = (c.plus(large, -1.0), c.plus(large, 1.0));
    let product = c.mul(less, more);
    let square = c.square(small);
    let sum = c.add(product, square);
    let near = c.op1(ScalarOp::Log1p, sum);
    let near = c.times(near, 0.5);
    let (above, below) = (c.below(size, 2.0), c.below(size, 0.5));
    let below = c.not(below);
    let is_near = c.and(above, below);
    [c.cond(is_near, near, far), c.op2(ScalarOp::Atan2, b, a)]
}

/// Real part `log1p(a (2 + a) + b²) / 2` where that is small.
pub fn log1p(c: &mut ScalarBuilder<'_>, z: ComplexNodes) -> ComplexNodes {
    let [a, b] = z;
    let more = c.plus(a, 2.0);
    let product = c.mul(a, more);
    let square = c.square(b);
    let sum = c.add(product, square);
    let near = c.op1(ScalarOp::Log1p, sum);
    let near = c.times(near, 0.5);
    let moved = plus(c, z, 1.0);
    let [far, angle] = log(c, moved);
    let size = c.abs(sum);
    let is_near = c.below(size, 0.5);
    [c.cond(is_near, near, far), angle]
}

pub fn sqrt(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes) -> ComplexNodes {
    let (a_size, b_size) = (c.abs(a), c.abs(b));
    let whole = c.add(a_size, b_size);
    // Scaled by 1/4, so that the sum does not overflow.
    let (a_part, b_part) = (c.times(a, 0.25), c.times(b, 0.25));
    let size = c.op2(ScalarOp::Hypot, a_part, b_part);
    let a_quarter = c.abs(a_part);
    let sum = c.add(size, a_quarter);
    let half = c.times(sum, 0.5);
    let root = c.op1(ScalarOp::Sqrt, half);
    let t = c.times(root, 2.0);
    let twice = c.times(t, 2.0);
    let other = c.div(b_size, twice);
    let zero = c.like(a, 0.0);
    let is_left = c.lt(a, zero);
    let re = c.cond(is_left, other, t);
    let im = c.cond(is_left, t, other);
    let is_zero = c.eq(whole, zero);
    let re = c.cond(is_zero, zero, re);
    let im = c.cond(is_zero, zero, im);
    let infinity = c.like(a, f64::INFINITY);
    let is_infinite = c.eq(b_size, infinity);
    let re = c.cond(is_infinite, infinity, re);
    let im = c.cond(is_infinite, infinity, im);
    [re, c.copy_sign(im, b)]
}

pub fn rsqrt(c: &mut ScalarBuilder<'_>, z: ComplexNodes) -> ComplexNodes {
    let root = sqrt(c, z);
    let one = [c.like(z[0], 1.0), c.like(z[0], 0.0)];
    div(c, one, root)
}

pub fn cbrt(c: &mut ScalarBuilder<'_>, z: ComplexNodes) -> ComplexNodes {
    let [size, angle] = polar(c, z);
    let size = c.op1(ScalarOp::Cbrt, size);
    let angle = c.times(angle, 1.0 / 3.0);
    from_polar(c, size, angle)
}

fn polar(c: &mut ScalarBuilder<'_>, z: ComplexNodes) -> ComplexNodes {
    [abs(c, z), c.op2(ScalarOp::Atan2, z[1], z[0])]
}

fn from_polar(c: &mut ScalarBuilder<'_>, size: ScalarNode, angle: ScalarNode) -> ComplexNodes {
    let (cosine, sine) = (c.op1(ScalarOp::Cos, angle), c.op1(ScalarOp::Sin, angle));
    [c.mul(size, cosine), c.mul(size, sine)]
}

/// `|z|^x e^(-y arg z)` at the angle `x arg z + y log |z|`; of 0 it is 0 or 1.
pub fn pow(c: &mut ScalarBuilder<'_>, z: ComplexNodes, [x, y]: ComplexNodes) -> ComplexNodes {
    let [size, angle] = polar(c, z);
    let power = c.op2(ScalarOp::FPow, size, x);
    let damping = c.mul(y, angle);
    let damping = c.neg(damping);
    let damping = c.op1(ScalarOp::Exp, damping);
    let radius = c.mul(power, damping);
    let turned = c.mul(x, angle);
    let [log_size, _] = log(c, z);
    let wound = c.mul(y, log_size);
    let turned = c.add(turned, wound);
    let [re, im] = from_polar(c, radius, turned);
    let zero = c.like(x, 0.0);
    let one = c.like(x, 1.0);
    let is_zero = c.eq(size, zero);
    let (x_zero, y_zero) = (c.eq(x, zero), c.eq(y, zero));
    let is_one = c.and(x_zero, y_zero);
    let at_zero = c.cond(is_one, one, zero);
    [c.cond(is_zero, at_zero, re), c.cond(is_zero, zero, im)]
}

pub fn sinh(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes) -> ComplexNodes {
    let (high, low) = (c.op1(ScalarOp::Cosh, a), c.op1(ScalarOp::Sinh, a));
    let (cosine, sine) = (c.op1(ScalarOp::Cos, b), c.op1(ScalarOp::Sin, b));
    [c.mul(low, cosine), c.mul(high, sine)]
}

pub fn cosh(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes) -> ComplexNodes {
    let (high, low) = (c.op1(ScalarOp::Cosh, a), c.op1(ScalarOp::Sinh, a));
    let (cosine, sine) = (c.op1(ScalarOp::Cos, b), c.op1(ScalarOp::Sin, b));
    [c.mul(high, cosine), c.mul(low, sine)]
}

/// With `t = tan b`, `s = sinh a`, `r = cosh a`, `d = 1 + t² / (1 / s² …)`: Kahan's form, in which
/// nothing cancels.
pub fn tanh(c: &mut ScalarBuilder<'_>, [a, b]: ComplexNodes) -> ComplexNodes {
    let t = c.op1(ScalarOp::Tan, b);
    let square = c.square(t);
    let beta = c.plus(square, 1.0);
    let s = c.op1(ScalarOp::Sinh, a);
    let s_square = c.square(s);
    let rho = c.plus(s_square, 1.0);
    let rho = c.op1(ScalarOp::Sqrt, rho);
    let divisor = c.mul(beta, s_square);
    let divisor = c.plus(divisor, 1.0);
    let re = c.mul(beta, rho);
    let re = c.mul(re, s);
    let (re, im) = (c.div(re, divisor), c.div(t, divisor));
    // Beyond, sinh overflows.
    let size = c.abs(a);
    let is_near = c.below(size, 20.0);
    let one = c.like(a, 1.0);
    let end = c.copy_sign(one, a);
    let double = c.times(size, -2.0);
    let decay = c.op1(ScalarOp::Exp, double);
    let (sine, cosine) = (c.op1(ScalarOp::Sin, b), c.op1(ScalarOp::Cos, b));
    let far = c.mul(sine, cosine);
    let far = c.times(far, 4.0);
    let far = c.mul(far, decay);
    [c.cond(is_near, re, end), c.cond(is_near, im, far)]
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
    let sum = plus(c, power, 1.0);
    let one = [c.like(z[0], 1.0), c.like(z[0], 0.0)];
    div(c, one, sum)
}

/// `sqrt(1 - z)` and `sqrt(1 + z)`.
fn roots(c: &mut ScalarBuilder<'_>, z: ComplexNodes) -> (ComplexNodes, ComplexNodes) {
    let negative = neg(c, z);
    let (less, more) = (plus(c, negative, 1.0), plus(c, z, 1.0));
    (sqrt(c, less), sqrt(c, more))
}

/// `asinh` of the imaginary part of a product.
fn asinh_of_product(c: &mut ScalarBuilder<'_>, a: ComplexNodes, b: ComplexNodes) -> ScalarNode {
    let a = conjugate(c, a);
    let product = mul(c, a, b);
    c.op1(ScalarOp::Asinh, product[1])
}

pub fn asin(c: &mut ScalarBuilder<'_>, z: ComplexNodes) -> ComplexNodes {
    let (less, more) = roots(c, z);
    let product = mul(c, less, more);
    let re = c.op2(ScalarOp::Atan2, z[0], product[0]);
    [re, asinh_of_product(c, less, more)]
}

pub fn acos(c: &mut ScalarBuilder<'_>, z: ComplexNodes) -> ComplexNodes {
    let (less, more) = roots(c, z);
    let angle = c.op2(ScalarOp::Atan2, less[0], more[0]);
    [c.times(angle, 2.0), asinh_of_product(c, more, less)]
}

pub fn acosh(c: &mut ScalarBuilder<'_>, z: ComplexNodes) -> ComplexNodes {
    let (less, more) = (plus(c, z, -1.0), plus(c, z, 1.0));
    let (less, more) = (sqrt(c, less), sqrt(c, more));
    let turned = conjugate(c, less);
    let product = mul(c, turned, more);
    let re = c.op1(ScalarOp::Asinh, product[0]);
    let angle = c.op2(ScalarOp::Atan2, less[1], more[0]);
    [re, c.times(angle, 2.0)]
}

pub fn asinh(c: &mut ScalarBuilder<'_>, z: ComplexNodes) -> ComplexNodes {
    let turned = times_i(c, z);
    let result = asin(c, turned);
    times_minus_i(c, result)
}

pub fn atanh(c: &mut ScalarBuilder<'_>, [x, y]: ComplexNodes) -> ComplexNodes {
    let negative = c.neg(x);
    let (less, more) = (c.plus(negative, 1.0), c.plus(x, 1.0));
    let (less_square, y_square) = (c.square(less), c.square(y));
    let distance = c.add(less_square, y_square);
    let four = c.times(x, 4.0);
    let ratio = c.div(four, distance);
    let re = c.op1(ScalarOp::Log1p, ratio);
    let product = c.mul(less, more);
    let across = c.sub(product, y_square);
    // Below infinity, as that is far to the left, too.
    let twice = c.times(y, 2.0);
    let most = c.largest(y);
    let twice = {
        let size = c.abs(twice);
        let size = c.op2(ScalarOp::FMin, size, most);
        c.copy_sign(size, twice)
    };
    let angle = c.op2(ScalarOp::Atan2, twice, across);
    [c.times(re, 0.25), c.times(angle, 0.5)]
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

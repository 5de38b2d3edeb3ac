//! The mathematical functions against arbitrary-precision arithmetic: the largest error over
//! thousands of points of each function, in units in the last place, stays below what the OpenCL C
//! specification allows (full profile), and, for `f32`, below what this crate promises.

mod reference;
mod sample;

use astro_float_num::BigFloat;
use reference::{BigFloatReference, P, RM, big, to_f64};
use sample::{DomainSampler, SampleDomain};
use spirula_scalar::{ElementaryFloat, NativeFloat, math};

/// Points of each function and type.
const POINTS: usize = 1500;

/// The distance of `got` from `exact` in units in the last place of `T` at `exact`.
fn error<T: NativeFloat + Into<f64>>(got: T, exact: &BigFloat) -> f64 {
    let format = T::FORMAT;
    let got = got.into();
    assert!(!exact.is_nan(), "the reference has no value");
    let lowest = format.min_exponent();
    let highest = 1 - lowest;
    let exponent = match exact.exponent() {
        Some(exponent) if !exact.is_zero() => (exponent - 1).clamp(lowest, highest),
        _ => lowest,
    };
    let unit = exponent - format.fraction_bits() as i32;
    // Infinity counts as the number that would follow the largest one.
    let got = if got.is_infinite() {
        big(1.0f64.copysign(got)).mul(&power_of_two(highest + 1), P, RM)
    } else {
        big(got)
    };
    let exact = if exact.is_inf() || exact.exponent().unwrap() > highest + 1 {
        let one = if exact.is_positive() { 1.0 } else { -1.0 };
        big(one).mul(&power_of_two(highest + 1), P, RM)
    } else {
        exact.clone()
    };
    let difference = got.sub(&exact, P, RM).abs();
    to_f64(&difference.mul(&power_of_two(-unit), P, RM))
}

fn power_of_two(exponent: i32) -> BigFloat {
    let mut power = big(1.0);
    power.set_exponent(exponent + 1);
    power
}

/// The worst error of a function over its samples, and where.
struct WorstError {
    name: &'static str,
    error: f64,
    place: String,
}

impl WorstError {
    fn new(name: &'static str) -> Self {
        Self {
            name,
            error: 0.0,
            place: String::new(),
        }
    }

    fn note<T: NativeFloat + Into<f64>>(
        &mut self,
        got: T,
        exact: &BigFloat,
        place: impl FnOnce() -> String,
    ) {
        let error = if got.is_nan() {
            f64::INFINITY
        } else {
            error(got, exact)
        };
        if error > self.error {
            self.error = error;
            self.place = format!(
                "{} gives {:e}, exactly {:e}",
                place(),
                got.into(),
                to_f64(exact)
            );
        }
    }

    fn check(self, limit: f64) {
        println!("{:10} {:8.4} ulp (limit {limit})", self.name, self.error);
        assert!(
            self.error <= limit,
            "{} is {} ulp off, allowed are {limit}: {}",
            self.name,
            self.error,
            self.place
        );
    }
}

fn unary<T: ElementaryFloat + Into<f64>>(
    name: &'static str,
    limit: f64,
    domain: SampleDomain,
    function: extern "C" fn(T) -> T,
    exact: fn(&mut BigFloatReference, f64) -> BigFloat,
) {
    let mut reference = BigFloatReference::new();
    let mut worst = WorstError::new(name);
    for x in DomainSampler::<T>::new(domain, POINTS) {
        let exact = exact(&mut reference, x.into());
        worst.note(function(x), &exact, || format!("{name}({:e})", x.into()));
    }
    worst.check(limit);
}

fn binary<T: ElementaryFloat + Into<f64>>(
    name: &'static str,
    limit: f64,
    domains: (SampleDomain, SampleDomain),
    function: extern "C" fn(T, T) -> T,
    exact: fn(&mut BigFloatReference, f64, f64) -> BigFloat,
) {
    let mut reference = BigFloatReference::new();
    let mut worst = WorstError::new(name);
    let first = DomainSampler::<T>::new(domains.0, POINTS);
    let second = DomainSampler::<T>::shuffled(domains.1, POINTS);
    for (x, y) in first.zip(second) {
        let exact = exact(&mut reference, x.into(), y.into());
        worst.note(function(x, y), &exact, || {
            format!("{name}({:e}, {:e})", x.into(), y.into())
        });
    }
    worst.check(limit);
}

fn with_int<T: ElementaryFloat + Into<f64>>(
    name: &'static str,
    limit: f64,
    domain: SampleDomain,
    function: extern "C" fn(T, i32) -> T,
    exact: fn(&mut BigFloatReference, f64, i32) -> BigFloat,
) {
    let mut reference = BigFloatReference::new();
    let mut worst = WorstError::new(name);
    let integers = [2, 3, -3, 5, -7, 10, 101, -1001, 65537, 16777217, i32::MAX];
    for (index, x) in DomainSampler::<T>::new(domain, POINTS).enumerate() {
        let n = integers[index % integers.len()];
        let x = if n & 1 == 0 { x.abs() } else { x };
        let exact = exact(&mut reference, x.into(), n);
        worst.note(function(x, n), &exact, || {
            format!("{name}({:e}, {n})", x.into())
        });
    }
    worst.check(limit);
}

/// One test a function: the limits for `f32` and `f64`, the arguments, and the exact value.
macro_rules! accuracy {
    ($($kind:ident $name:ident $single:literal $double:literal $domain:expr, $exact:expr;)*) => {$(
        #[test]
        fn $name() {
            $kind::<f32>(concat!(stringify!($name), " f32"), $single, $domain, math::$name, $exact);
            $kind::<f64>(concat!(stringify!($name), " f64"), $double, $domain, math::$name, $exact);
        }
    )*};
}

const ANY: SampleDomain = SampleDomain::ANY;
const POSITIVE: SampleDomain = SampleDomain::POSITIVE;

accuracy! {
    unary exp 0.51 3.0 SampleDomain::linear(-750.0, 710.0), BigFloatReference::exp;
    unary exp2 0.51 3.0 SampleDomain::linear(-1080.0, 1025.0), |r, x| r.pow(2.0, x);
    unary exp10 0.51 3.0 SampleDomain::linear(-325.0, 310.0), |r, x| r.pow(10.0, x);
    unary expm1 0.51 3.0 SampleDomain::linear(-60.0, 710.0), BigFloatReference::expm1;
    unary log 0.51 3.0 POSITIVE, BigFloatReference::log;
    unary log2 0.51 3.0 POSITIVE, BigFloatReference::log2;
    unary log10 0.51 3.0 POSITIVE, BigFloatReference::log10;
    unary log1p 0.51 2.0 SampleDomain::above(-1.0), BigFloatReference::log1p;
    unary cbrt 0.51 2.0 ANY, BigFloatReference::cbrt;
    unary rsqrt 1.5 2.0 POSITIVE, BigFloatReference::rsqrt;
    unary sin 0.51 4.0 ANY, BigFloatReference::sin;
    unary cos 0.51 4.0 ANY, BigFloatReference::cos;
    unary tan 0.51 5.0 ANY, BigFloatReference::tan;
    unary sinpi 0.51 4.0 ANY, BigFloatReference::sinpi;
    unary cospi 0.51 4.0 ANY, BigFloatReference::cospi;
    unary tanpi 0.51 6.0 SampleDomain::tanpi(), BigFloatReference::tanpi;
    unary asin 0.51 4.0 SampleDomain::UNIT, BigFloatReference::asin;
    unary acos 0.51 4.0 SampleDomain::UNIT, BigFloatReference::acos;
    unary atan 0.51 5.0 ANY, BigFloatReference::atan;
    unary asinpi 0.51 5.0 SampleDomain::UNIT, |r, x| { let v = r.asin(x); r.over_pi(v) };
    unary acospi 0.51 5.0 SampleDomain::UNIT, |r, x| { let v = r.acos(x); r.over_pi(v) };
    unary atanpi 0.51 5.0 ANY, |r, x| { let v = r.atan(x); r.over_pi(v) };
    unary sinh 0.51 4.0 SampleDomain::linear(-711.0, 711.0), BigFloatReference::sinh;
    unary cosh 0.51 4.0 SampleDomain::linear(-711.0, 711.0), BigFloatReference::cosh;
    unary tanh 0.51 5.0 SampleDomain::linear(-22.0, 22.0), BigFloatReference::tanh;
    unary asinh 0.51 4.0 ANY, BigFloatReference::asinh;
    unary acosh 0.51 4.0 SampleDomain::above(1.0), BigFloatReference::acosh;
    unary atanh 0.51 5.0 SampleDomain::UNIT.inside(), BigFloatReference::atanh;
    unary erf 0.51 16.0 SampleDomain::linear(-6.5, 6.5), BigFloatReference::erf;
    unary erfc 0.51 16.0 SampleDomain::linear(-7.0, 27.5), BigFloatReference::erfc;
    unary tgamma 0.51 16.0 SampleDomain::gamma(), BigFloatReference::gamma;
    unary lgamma 0.51 16.0 SampleDomain::above(0.0), BigFloatReference::lgamma;
    binary pow 0.51 16.0 (POSITIVE, SampleDomain::linear(-30.0, 30.0)), BigFloatReference::pow;
    binary powr 0.51 16.0 (POSITIVE, SampleDomain::linear(-30.0, 30.0)), BigFloatReference::pow;
    binary atan2 0.51 6.0 (ANY, ANY), BigFloatReference::atan2;
    binary atan2pi 0.51 6.0 (ANY, ANY), |r, y, x| { let v = r.atan2(y, x); r.over_pi(v) };
    binary hypot 0.51 4.0 (ANY, ANY), BigFloatReference::hypot;
    with_int pown 0.51 16.0 SampleDomain::linear(-1.01, 1.01), |r, x, n| r.pow(x, n.into());
    with_int rootn 0.51 16.0 ANY, BigFloatReference::rootn;
}

//! The `f32` functions against the `f64` ones over all `f32` numbers, in steps. The two share no
//! approximation, so each checks the other.

use spirula_scalar::math;

/// The error of `got` in units in the last place of `f32`.
fn error(got: f32, exact: f64) -> f64 {
    if got.is_nan() || exact.is_nan() {
        return if got.is_nan() && exact.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    // Overflow counts as the power of two that would follow the largest number.
    let next = 2f64.powi(128);
    let bounded = |value: f64| value.clamp(-next, next);
    let exponent = math::ilogb(exact).clamp(-126, 127);
    (bounded(got.into()) - bounded(exact)).abs() / math::ldexp(1.0, exponent - 23)
}

/// Checks every `step`-th number.
fn sweep(
    name: &str,
    step: usize,
    single: extern "C" fn(f32) -> f32,
    double: extern "C" fn(f64) -> f64,
) {
    let (mut worst, mut place) = (0.0, 0.0);
    for bits in (0..=u32::MAX).step_by(step) {
        let x = f32::from_bits(bits);
        let error = error(single(x), double(x.into()));
        if error > worst {
            (worst, place) = (error, x);
        }
    }
    println!("{name:8} {worst:.5} ulp at {place:e}");
    assert!(worst <= 0.51, "{name} is {worst} ulp off at {place:e}");
}

macro_rules! sweeps {
    ($($name:ident)*) => {
        /// Seconds in all.
        #[test]
        fn coarse() {
            $(sweep(stringify!($name), 54_321, math::$name, math::$name);)*
        }

        /// Minutes in all, optimised.
        #[test]
        #[ignore = "takes minutes: run with --release"]
        fn fine() {
            $(sweep(stringify!($name), 13, math::$name, math::$name);)*
        }
    };
}

sweeps! {
    acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt cos cosh cospi erf erfc exp exp2 exp10
    expm1 log log2 log10 log1p sin sinh sinpi sqrt tan tanh tanpi
}

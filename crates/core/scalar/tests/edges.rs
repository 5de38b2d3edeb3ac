//! Edge cases of the mathematical functions: zeros, infinities, NaN, domain ends (C99 annex F, OpenCL
//! C section 7.5.1), for both types.

use spirula_scalar::{ElementaryFloat, NativeFloat, convert, math};

/// The same bits, or both NaN.
fn same<T: NativeFloat>(a: T, b: T) -> bool {
    a.to_raw() == b.to_raw() || (a.is_nan() && b.is_nan())
}

/// Rows of a function with arguments and the result, checked for `f32` and `f64`.
macro_rules! edges {
    ($($test:ident { $($function:ident($($argument:expr),+) = $expected:expr;)* })*) => {$(
        #[test]
        fn $test() {
            fn check<T: ElementaryFloat + std::fmt::Debug>() {
                let real = |value: f64| T::from_f64(value);
                $({
                    let got = math::$function($(real($argument)),+);
                    assert!(
                        same(got, real($expected)),
                        "{} gives {got:?}, not {:?}",
                        stringify!($function($($argument),+)), real($expected)
                    );
                })*
            }
            check::<f32>();
            check::<f64>();
        }
    )*};
}

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

edges! {
    exponentials {
        exp(0.0) = 1.0; exp(-0.0) = 1.0; exp(INF) = INF; exp(-INF) = 0.0; exp(NAN) = NAN;
        exp(1e30) = INF; exp(-1e30) = 0.0;
        exp2(3.0) = 8.0; exp2(-1.0) = 0.5; exp2(INF) = INF; exp2(-INF) = 0.0; exp2(NAN) = NAN;
        exp10(0.0) = 1.0; exp10(2.0) = 100.0; exp10(10.0) = 1e10; exp10(INF) = INF; exp10(-INF) = 0.0;
        exp10(NAN) = NAN; exp10(1e30) = INF; exp10(314.7) = INF; exp10(-1e30) = 0.0;
        expm1(0.0) = 0.0; expm1(-0.0) = -0.0; expm1(INF) = INF; expm1(-INF) = -1.0; expm1(NAN) = NAN;
    }
    logarithms {
        log(1.0) = 0.0; log(0.0) = -INF; log(-0.0) = -INF; log(-1.0) = NAN; log(INF) = INF;
        log(-INF) = NAN; log(NAN) = NAN;
        log2(8.0) = 3.0; log2(0.0) = -INF; log2(-1.0) = NAN; log2(INF) = INF;
        log10(1000.0) = 3.0; log10(0.0) = -INF; log10(-1.0) = NAN; log10(INF) = INF; log10(NAN) = NAN;
        log1p(0.0) = 0.0; log1p(-0.0) = -0.0; log1p(-1.0) = -INF; log1p(-2.0) = NAN; log1p(INF) = INF;
        log1p(NAN) = NAN; log1p(-INF) = NAN;
    }
    circular {
        sin(0.0) = 0.0; sin(-0.0) = -0.0; sin(INF) = NAN; sin(-INF) = NAN; sin(NAN) = NAN;
        cos(0.0) = 1.0; cos(-0.0) = 1.0; cos(INF) = NAN; cos(NAN) = NAN;
        tan(0.0) = 0.0; tan(-0.0) = -0.0; tan(INF) = NAN; tan(NAN) = NAN;
        sinpi(0.0) = 0.0; sinpi(-0.0) = -0.0; sinpi(1.0) = 0.0; sinpi(-1.0) = -0.0; sinpi(2.0) = 0.0;
        sinpi(-3.0) = -0.0; sinpi(0.5) = 1.0; sinpi(1.5) = -1.0; sinpi(-0.5) = -1.0; sinpi(1e30) = 0.0;
        sinpi(-1e30) = -0.0; sinpi(INF) = NAN; sinpi(NAN) = NAN; sinpi(8388607.5) = -1.0;
        cospi(0.0) = 1.0; cospi(1.0) = -1.0; cospi(0.5) = 0.0; cospi(1.5) = 0.0; cospi(-0.5) = 0.0;
        cospi(-2.5) = 0.0; cospi(1e30) = 1.0; cospi(16777215.0) = -1.0; cospi(INF) = NAN; cospi(NAN) = NAN;
        tanpi(0.0) = 0.0; tanpi(-0.0) = -0.0; tanpi(2.0) = 0.0; tanpi(-2.0) = -0.0; tanpi(1.0) = -0.0;
        tanpi(-1.0) = 0.0; tanpi(3.0) = -0.0; tanpi(0.5) = INF; tanpi(-0.5) = -INF; tanpi(1.5) = -INF;
        tanpi(2.5) = INF; tanpi(0.25) = 1.0; tanpi(-0.25) = -1.0; tanpi(0.75) = -1.0; tanpi(1.25) = 1.0; tanpi(-1.75) = 1.0; tanpi(INF) = NAN; tanpi(NAN) = NAN;
    }
    arcs {
        asin(0.0) = 0.0; asin(-0.0) = -0.0; asin(1.0) = FRAC_PI_2; asin(-1.0) = -FRAC_PI_2;
        asin(1.5) = NAN; asin(-INF) = NAN; asin(NAN) = NAN;
        acos(1.0) = 0.0; acos(-1.0) = PI; acos(0.0) = FRAC_PI_2; acos(1.5) = NAN; acos(NAN) = NAN;
        atan(0.0) = 0.0; atan(-0.0) = -0.0; atan(INF) = FRAC_PI_2; atan(-INF) = -FRAC_PI_2; atan(NAN) = NAN;
        asinpi(-0.0) = -0.0; asinpi(1.0) = 0.5; asinpi(-1.0) = -0.5; asinpi(2.0) = NAN;
        acospi(1.0) = 0.0; acospi(-1.0) = 1.0; acospi(0.0) = 0.5; acospi(2.0) = NAN;
        atanpi(-0.0) = -0.0; atanpi(INF) = 0.5; atanpi(-INF) = -0.5; atanpi(1.0) = 0.25; atanpi(NAN) = NAN;
        atan2(0.0, 0.0) = 0.0; atan2(-0.0, 0.0) = -0.0; atan2(0.0, -0.0) = PI; atan2(-0.0, -0.0) = -PI;
        atan2(0.0, -1.0) = PI; atan2(-0.0, -1.0) = -PI; atan2(0.0, 1.0) = 0.0; atan2(-0.0, 1.0) = -0.0;
        atan2(-1.0, 0.0) = -FRAC_PI_2; atan2(1.0, -0.0) = FRAC_PI_2; atan2(1.0, -INF) = PI;
        atan2(-1.0, -INF) = -PI; atan2(1.0, INF) = 0.0; atan2(-1.0, INF) = -0.0;
        atan2(INF, 1.0) = FRAC_PI_2; atan2(-INF, 1.0) = -FRAC_PI_2; atan2(INF, INF) = FRAC_PI_4;
        atan2(INF, -INF) = 3.0 * FRAC_PI_4; atan2(-INF, INF) = -FRAC_PI_4; atan2(NAN, 1.0) = NAN;
        atan2(1.0, NAN) = NAN; atan2(NAN, INF) = NAN;
        atan2pi(0.0, -0.0) = 1.0; atan2pi(-0.0, -1.0) = -1.0; atan2pi(-0.0, 1.0) = -0.0;
        atan2pi(1.0, 0.0) = 0.5; atan2pi(INF, -INF) = 0.75; atan2pi(-INF, INF) = -0.25;
        atan2pi(1.0, -INF) = 1.0; atan2pi(NAN, 0.0) = NAN;
    }
    hyperbolics {
        sinh(-0.0) = -0.0; sinh(INF) = INF; sinh(-INF) = -INF; sinh(NAN) = NAN; sinh(1e30) = INF;
        cosh(0.0) = 1.0; cosh(INF) = INF; cosh(-INF) = INF; cosh(NAN) = NAN; cosh(-1e30) = INF;
        tanh(-0.0) = -0.0; tanh(INF) = 1.0; tanh(-INF) = -1.0; tanh(1e30) = 1.0; tanh(NAN) = NAN;
        asinh(-0.0) = -0.0; asinh(INF) = INF; asinh(-INF) = -INF; asinh(NAN) = NAN;
        acosh(1.0) = 0.0; acosh(0.5) = NAN; acosh(-INF) = NAN;
        acosh(-7159.2) = NAN; acosh(INF) = INF; acosh(NAN) = NAN;
        atanh(-0.0) = -0.0; atanh(1.0) = INF; atanh(-1.0) = -INF; atanh(1.5) = NAN; atanh(NAN) = NAN;
        atanh(INF) = NAN;
    }
    powers {
        pow(0.0, -1.0) = INF; pow(-0.0, -1.0) = -INF; pow(-0.0, -2.0) = INF; pow(0.0, -1.5) = INF;
        pow(-0.0, 3.0) = -0.0; pow(-0.0, 2.0) = 0.0; pow(-0.0, 0.5) = 0.0; pow(-1.0, INF) = 1.0;
        pow(-1.0, -INF) = 1.0; pow(1.0, NAN) = 1.0; pow(1.0, INF) = 1.0; pow(NAN, 0.0) = 1.0;
        pow(INF, 0.0) = 1.0; pow(0.0, 0.0) = 1.0; pow(-8.0, 0.5) = NAN; pow(-2.0, 3.0) = -8.0;
        pow(-2.0, 2.0) = 4.0; pow(0.5, -INF) = INF; pow(2.0, -INF) = 0.0; pow(0.5, INF) = 0.0;
        pow(2.0, INF) = INF; pow(-INF, -3.0) = -0.0; pow(-INF, -2.0) = 0.0; pow(-INF, 3.0) = -INF;
        pow(-INF, 2.0) = INF; pow(INF, -1.0) = 0.0; pow(INF, 1.0) = INF; pow(NAN, 1.0) = NAN;
        pow(2.0, NAN) = NAN; pow(-3.0, 16777217.0 * 1e9) = INF; pow(10.0, 2.0) = 100.0;
        powr(2.0, 0.0) = 1.0; powr(0.0, -1.0) = INF; powr(-0.0, -1.0) = INF; powr(0.0, -INF) = INF;
        powr(0.0, 2.0) = 0.0; powr(-0.0, 3.0) = 0.0; powr(1.0, 5.0) = 1.0; powr(1.0, INF) = NAN;
        powr(1.0, -INF) = NAN; powr(0.0, 0.0) = NAN; powr(-0.0, 0.0) = NAN; powr(INF, 0.0) = NAN;
        powr(-1.0, 2.0) = NAN; powr(-INF, 2.0) = NAN; powr(NAN, 0.0) = NAN; powr(1.0, NAN) = NAN;
        powr(4.0, 0.5) = 2.0; powr(INF, -1.0) = 0.0; powr(0.0, INF) = 0.0;
        hypot(3.0, -4.0) = 5.0; hypot(INF, NAN) = INF; hypot(NAN, -INF) = INF; hypot(NAN, 1.0) = NAN;
        hypot(-0.0, 0.0) = 0.0;
        cbrt(-0.0) = -0.0; cbrt(27.0) = 3.0; cbrt(-8.0) = -2.0; cbrt(INF) = INF; cbrt(NAN) = NAN;
        sqrt(-0.0) = -0.0; sqrt(-1.0) = NAN; sqrt(INF) = INF; rsqrt(0.0) = INF; rsqrt(-0.0) = -INF;
        rsqrt(INF) = 0.0; rsqrt(-1.0) = NAN; rsqrt(4.0) = 0.5;
    }
    special {
        erf(-0.0) = -0.0; erf(INF) = 1.0; erf(-INF) = -1.0; erf(NAN) = NAN;
        erfc(INF) = 0.0; erfc(-INF) = 2.0; erfc(0.0) = 1.0; erfc(NAN) = NAN;
        tgamma(0.0) = INF; tgamma(-0.0) = -INF; tgamma(-1.0) = NAN; tgamma(-INF) = NAN; tgamma(INF) = INF;
        tgamma(5.0) = 24.0; tgamma(NAN) = NAN; tgamma(1e30) = INF;
        lgamma(1.0) = 0.0; lgamma(2.0) = 0.0; lgamma(0.0) = INF; lgamma(-3.0) = INF; lgamma(INF) = INF;
        lgamma(-INF) = INF; lgamma(NAN) = NAN;
    }
    rounding {
        floor(-0.5) = -1.0; floor(-0.0) = -0.0; floor(-INF) = -INF; floor(NAN) = NAN;
        ceil(-0.5) = -0.0; ceil(0.5) = 1.0; ceil(INF) = INF; trunc(-0.9) = -0.0; trunc(1e30) = 1e30;
        round(0.5) = 1.0; round(-0.5) = -1.0; round(2.5) = 3.0; round(-0.4) = -0.0;
        rint(0.5) = 0.0; rint(-0.5) = -0.0; rint(1.5) = 2.0; rint(2.5) = 2.0;
    }
    signs_and_extremes {
        fabs(-0.0) = 0.0; fabs(-INF) = INF; copysign(1.0, -0.0) = -1.0; copysign(-INF, 1.0) = INF;
        fmax(NAN, 1.0) = 1.0; fmax(1.0, NAN) = 1.0; fmax(NAN, NAN) = NAN; fmax(-0.0, 0.0) = 0.0;
        fmax(0.0, -0.0) = 0.0; fmin(0.0, -0.0) = -0.0; fmin(-0.0, 0.0) = -0.0; fmin(NAN, -INF) = -INF;
        fmin(1.0, 2.0) = 1.0; fmax(1.0, 2.0) = 2.0; fmin(2.0, 1.0) = 1.0; fmax(2.0, 1.0) = 2.0;
        fdim(3.0, 1.0) = 2.0; fdim(1.0, 3.0) = 0.0; fdim(INF, INF) = 0.0; fdim(NAN, 1.0) = NAN;
        fdim(1.0, NAN) = NAN;
        maxmag(-3.0, 2.0) = -3.0; maxmag(2.0, -2.0) = 2.0; maxmag(NAN, 1.0) = 1.0;
        minmag(-3.0, 2.0) = 2.0; minmag(2.0, -2.0) = -2.0; minmag(1.0, NAN) = 1.0;
        sign(-0.0) = -0.0; sign(0.0) = 0.0; sign(-3.0) = -1.0; sign(INF) = 1.0; sign(NAN) = 0.0;
        step(1.0, 1.0) = 1.0; step(1.0, 0.5) = 0.0;
        fclamp(5.0, 0.0, 1.0) = 1.0; fclamp(-5.0, 0.0, 1.0) = 0.0; fclamp(NAN, 0.0, 1.0) = 0.0;
        smoothstep(0.0, 2.0, 1.0) = 0.5; smoothstep(0.0, 1.0, -1.0) = 0.0; smoothstep(0.0, 1.0, 9.0) = 1.0;
        mix(1.0, 3.0, 0.5) = 2.0; blend(1.0, 3.0, 0.25) = 1.5; degrees(PI) = 180.0;
        recip(-0.0) = -INF; divide(1.0, 4.0) = 0.25; fraction(-0.25) = 0.75;
    }
    remainders {
        fmod(5.5, 2.0) = 1.5; fmod(-5.5, 2.0) = -1.5; fmod(-4.0, 2.0) = -0.0; fmod(1.0, 0.0) = NAN;
        fmod(INF, 1.0) = NAN; fmod(1.0, INF) = 1.0; fmod(-0.0, 1.0) = -0.0; fmod(1267650600228229401496703205376.0, 3.0) = 1.0;
        floor_mod(-1.0, 3.0) = 2.0; floor_mod(1.0, -3.0) = -2.0; floor_mod(5.0, 3.0) = 2.0;
        floor_mod(-3.0, 3.0) = 0.0; floor_mod(3.0, -3.0) = -0.0; floor_mod(1.0, 0.0) = NAN;
        remainder(5.0, 2.0) = 1.0; remainder(3.0, 2.0) = -1.0; remainder(2.5, 1.0) = 0.5;
        remainder(-4.0, 2.0) = -0.0; remainder(1.0, INF) = 1.0; remainder(1.0, 0.0) = NAN;
        remainder(INF, 2.0) = NAN;
        fma(0.0, INF, 1.0) = NAN; fma(2.0, 3.0, -6.0) = 0.0; fma(-0.0, 1.0, -0.0) = -0.0;
        nextafter(0.0, 0.0) = 0.0; nextafter(0.0, -0.0) = -0.0; nextafter(NAN, 1.0) = NAN;
        nextafter(1.0, NAN) = NAN;
    }
}

#[test]
fn integer_exponents() {
    assert_eq!(math::pown(-2.0f32, 3), -8.0);
    assert_eq!(math::pown(f32::NAN, 0), 1.0);
    assert_eq!(math::pown(-0.0f64, -1), f64::NEG_INFINITY);
    assert_eq!(math::pown(-0.0f64, -2), f64::INFINITY);
    assert!(same(math::pown(-0.0f32, 5), -0.0));
    assert_eq!(math::pown(f64::NEG_INFINITY, 3), f64::NEG_INFINITY);
    assert_eq!(math::pown(1.0f32 + f32::EPSILON, i32::MAX), f32::INFINITY);
    assert_eq!(math::rootn(27.0f32, 3), 3.0);
    assert_eq!(math::rootn(-27.0f64, 3), -3.0);
    assert!(math::rootn(-4.0f32, 2).is_nan());
    assert!(math::rootn(4.0f32, 0).is_nan());
    assert!(same(math::rootn(-0.0f32, 3), -0.0));
    assert!(same(math::rootn(-0.0f32, 2), 0.0));
    assert_eq!(math::rootn(-0.0f64, -3), f64::NEG_INFINITY);
    assert_eq!(math::rootn(-0.0f64, -2), f64::INFINITY);
    assert_eq!(math::rootn(f64::INFINITY, 2), f64::INFINITY);
    assert!(math::rootn(f64::NAN, 3).is_nan());
}

#[test]
fn parts_of_numbers() {
    let mut exponent = 7;
    assert_eq!((math::frexp(8.0f32, &mut exponent), exponent), (0.5, 4));
    assert_eq!(
        (math::frexp(-1e-45f32, &mut exponent), exponent),
        (-0.5, -148)
    );
    assert!(same(math::frexp(-0.0f64, &mut exponent), -0.0) && exponent == 0);
    assert_eq!(math::frexp(f64::INFINITY, &mut exponent), f64::INFINITY);
    assert_eq!(
        (math::ilogb(0.0f32), math::ilogb(f32::INFINITY)),
        (i32::MIN, i32::MAX)
    );
    assert_eq!(
        (math::ilogb(f64::NAN), math::ilogb(1e-45f32)),
        (i32::MAX, -149)
    );
    assert_eq!(
        (math::logb(0.0f64), math::logb(-f64::INFINITY)),
        (-f64::INFINITY, f64::INFINITY)
    );
    assert_eq!((math::logb(5e-324), math::logb(10.0f32)), (-1074.0, 3.0));
    assert_eq!(math::ldexp(1.0f32, i32::MAX), f32::INFINITY);
    assert!(same(math::ldexp(-1.0f32, i32::MIN), -0.0));
    assert_eq!(math::ldexp(f32::MIN_POSITIVE, 253), 2f32.powi(127));
    // Rounded once: two steps would round this tie up.
    let x = 1.0 + 2f64.powi(-52);
    assert_eq!(math::ldexp(x, -1075).to_bits(), 1);
    assert_eq!(math::ldexp(1.0f64, -1075).to_bits(), 0);

    let mut whole = 0.0;
    assert!(same(math::modf(-3.25f32, &mut whole), -0.25) && whole == -3.0);
    assert!(same(math::modf(-f32::INFINITY, &mut whole), -0.0) && whole == -f32::INFINITY);
    assert!(same(math::modf(-3.0f32, &mut whole), -0.0));
    assert!(same(math::fract(-1e-45f32, &mut whole), 1.0 - f32::EPSILON / 2.0) && whole == -1.0);
    assert!(same(math::fract(-0.0f32, &mut whole), -0.0) && same(whole, -0.0));
    assert!(same(math::fract(f32::INFINITY, &mut whole), 0.0) && whole == f32::INFINITY);
    assert!(same(math::fract(-f32::INFINITY, &mut whole), -0.0));
    assert!(math::fract(f32::NAN, &mut whole).is_nan() && whole.is_nan());

    assert_eq!(math::nan::<f32>(5).to_bits(), 0x7FC0_0005);
    assert_eq!(math::nan::<f64>(u64::MAX).to_bits(), 0x7FFF_FFFF_FFFF_FFFF);
    assert_eq!(math::nextafter(0.0f32, -1.0).to_bits(), 0x8000_0001);
    assert_eq!(math::nextafter(f32::MAX, f32::INFINITY), f32::INFINITY);
    assert_eq!(math::nextafter(-1.0f64, 0.0), (-1.0f64).next_up());
    assert_eq!(math::nextafter(1.0f64, -f64::INFINITY), 1.0f64.next_down());
}

#[test]
fn remquo_gives_seven_bits_with_sign() {
    for (x, y, remainder, quotient) in [
        (5.0, 2.0, 1.0, 2),
        (7.0, 2.0, -1.0, 4),
        (-7.0, 2.0, 1.0, -4),
        (300.0, 1.0, 0.0, 300 & 0x7F),
        (-129.0, 1.0, -0.0, -1),
        (f64::INFINITY, 1.0, f64::NAN, 0),
        (1.0, 0.0, f64::NAN, 0),
        (1.0, f64::INFINITY, 1.0, 0),
    ] {
        let (mut single, mut double) = (99, 99);
        assert!(same(math::remquo(x, y, &mut double), remainder), "{x} {y}");
        assert!(
            same(
                math::remquo(x as f32, y as f32, &mut single),
                remainder as f32
            ),
            "{x} {y}"
        );
        assert_eq!((single, double), (quotient, quotient), "{x} {y}");
    }
}

#[test]
fn sincos_and_lgamma_write_their_second_result() {
    let (mut cos, mut sign) = (0.0f32, 0);
    assert_eq!(math::sincos(0.5f32, &mut cos), math::sin(0.5f32));
    assert_eq!(cos, math::cos(0.5f32));
    assert!(math::lgamma_r(-0.5f64, &mut sign) > 1.0 && sign == -1);
    assert!(math::lgamma_r(0.5f32, &mut sign) > 0.5 && sign == 1);
}

#[test]
fn fma_rounds_once() {
    let x = 1.0f32 + f32::EPSILON;
    assert_eq!(
        math::fma(x, x, -(1.0 + 2.0 * f32::EPSILON)),
        f32::EPSILON * f32::EPSILON
    );
    let x = 1.0f64 + f64::EPSILON;
    assert_eq!(
        math::fma(x, x, -(1.0 + 2.0 * f64::EPSILON)),
        f64::EPSILON * f64::EPSILON
    );
}

#[test]
fn packing() {
    assert_eq!(math::pack_snorm_4x8(1.0, -1.0, 0.0, 2.0), 0x7F00_817F);
    assert_eq!(math::pack_unorm_4x8(1.0, -1.0, 0.5, f32::NAN), 0x0080_00FF);
    assert_eq!(math::pack_snorm_2x16(-1.0, 1.0), 0x7FFF_8001);
    assert_eq!(math::pack_unorm_2x16(0.0, 9.0), 0xFFFF_0000);
    assert_eq!(math::pack_half_2x16(1.0, -2.0), 0xC000_3C00);
    assert_eq!(math::pack_double_2x32(0, 0x3FF0_0000), 1.0);
    assert_eq!(math::unpack_snorm_4x8(0x8000_817F, 0), 1.0);
    assert_eq!(math::unpack_snorm_4x8(0x8000_817F, 1), -1.0);
    assert_eq!(math::unpack_snorm_4x8(0x8000_817F, 3), -1.0);
    assert_eq!(math::unpack_unorm_4x8(0xFF00_0000, 3), 1.0);
    assert_eq!(math::unpack_snorm_2x16(0x8000_7FFF, 1), -1.0);
    assert_eq!(math::unpack_unorm_2x16(0xFFFF_0000, 1), 1.0);
    assert_eq!(math::unpack_half_2x16(0xC000_3C00, 1), -2.0);
    assert_eq!(math::unpack_double_2x32(1.0, 1), 0x3FF0_0000);
    for packed in [0u32, 0x0102_0304, 0x7F80_FF01, 0xFFFF_FFFF] {
        let part = |index| math::unpack_unorm_4x8(packed, index);
        assert_eq!(
            math::pack_unorm_4x8(part(0), part(1), part(2), part(3)),
            packed
        );
    }
}

#[test]
fn quantising_keeps_subnormal_numbers() {
    assert_eq!(convert::quantize_to_f16(1e-7), 2f32.powi(-23));
    assert_eq!(convert::quantize_to_f16(70000.0), f32::INFINITY);
    assert!(same(convert::quantize_to_f16(-1e-30), -0.0));
}

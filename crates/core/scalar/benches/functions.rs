//! Time per call of the functions on `f32` and `f64`, beside the standard library's, which calls the
//! platform's.

use divan::{Bencher, black_box};
use spirula_scalar::math;

fn main() {
    divan::main();
}

/// Arguments a bench goes through in one iteration.
const COUNT: usize = 1024;

/// `COUNT` numbers spread over `low..high`, in no order.
fn arguments(low: f64, high: f64) -> Vec<f64> {
    let step = |i: usize| ((i * 619) % COUNT) as f64 / COUNT as f64;
    (0..COUNT).map(|i| low + (high - low) * step(i)).collect()
}

fn run<T: Copy + Sync>(
    bencher: Bencher,
    arguments: Vec<f64>,
    convert: fn(f64) -> T,
    f: impl Fn(T) -> T + Sync,
) {
    let arguments: Vec<T> = arguments.into_iter().map(convert).collect();
    bencher
        .counter(divan::counter::ItemsCount::new(COUNT))
        .bench(|| {
            for &x in black_box(&arguments) {
                black_box(f(x));
            }
        });
}

macro_rules! functions {
    ($($name:ident $low:literal $high:literal $std:expr;)*) => {$(
        mod $name {
            use super::*;

            #[divan::bench]
            fn single(bencher: Bencher) {
                run(bencher, arguments($low, $high), |x| x as f32, |x| math::$name::<f32>(x));
            }

            #[divan::bench]
            fn single_platform(bencher: Bencher) {
                type Real = f32;
                let f: fn(Real) -> Real = $std;
                run(bencher, arguments($low, $high), |x| x as f32, f);
            }

            #[divan::bench]
            fn double(bencher: Bencher) {
                run(bencher, arguments($low, $high), |x| x, |x| math::$name::<f64>(x));
            }
        }
    )*};
}

functions! {
    sin -10.0 10.0 |x| x.sin();
    cos -10.0 10.0 |x| x.cos();
    tan -10.0 10.0 |x| x.tan();
    exp -20.0 20.0 |x| x.exp();
    exp2 -20.0 20.0 |x| x.exp2();
    log 0.001 100.0 |x| x.ln();
    log2 0.001 100.0 |x| x.log2();
    tanh -3.0 3.0 |x| x.tanh();
    sinh -3.0 3.0 |x| x.sinh();
    atan -5.0 5.0 |x| x.atan();
    asin -1.0 1.0 |x| x.asin();
    acos -1.0 1.0 |x| x.acos();
    cbrt -100.0 100.0 |x| x.cbrt();
    rsqrt 0.001 100.0 |x| 1.0 / x.sqrt();
    expm1 -3.0 3.0 |x| x.exp_m1();
    log1p -0.9 10.0 |x| x.ln_1p();
    asinh -5.0 5.0 |x| x.asinh();
}

/// Functions without a counterpart in the standard library.
mod alone {
    use super::*;

    #[divan::bench]
    fn erf(bencher: Bencher) {
        run(
            bencher,
            arguments(-3.0, 3.0),
            |x| x as f32,
            |x| math::erf::<f32>(x),
        );
    }

    #[divan::bench]
    fn tgamma(bencher: Bencher) {
        run(
            bencher,
            arguments(0.1, 20.0),
            |x| x as f32,
            |x| math::tgamma::<f32>(x),
        );
    }

    #[divan::bench]
    fn sinpi(bencher: Bencher) {
        run(
            bencher,
            arguments(-10.0, 10.0),
            |x| x as f32,
            |x| math::sinpi::<f32>(x),
        );
    }

    #[divan::bench]
    fn f16_round_trip(bencher: Bencher) {
        run(
            bencher,
            arguments(-10.0, 10.0),
            |x| x as f32,
            |x| spirula_scalar::convert::quantize_to_f16(x),
        );
    }
}

mod pow {
    use super::*;

    #[divan::bench]
    fn single(bencher: Bencher) {
        run(
            bencher,
            arguments(0.01, 10.0),
            |x| x as f32,
            |x| math::pow::<f32>(x, 2.37),
        );
    }

    #[divan::bench]
    fn single_platform(bencher: Bencher) {
        run(
            bencher,
            arguments(0.01, 10.0),
            |x| x as f32,
            |x: f32| x.powf(black_box(2.37)),
        );
    }

    #[divan::bench]
    fn double(bencher: Bencher) {
        run(
            bencher,
            arguments(0.01, 10.0),
            |x| x,
            |x| math::pow::<f64>(x, 2.37),
        );
    }
}

mod atan2 {
    use super::*;

    #[divan::bench]
    fn single(bencher: Bencher) {
        run(
            bencher,
            arguments(-3.0, 3.0),
            |x| x as f32,
            |x| math::atan2::<f32>(x, 1.3),
        );
    }

    #[divan::bench]
    fn single_platform(bencher: Bencher) {
        run(
            bencher,
            arguments(-3.0, 3.0),
            |x| x as f32,
            |x: f32| x.atan2(black_box(1.3)),
        );
    }
}

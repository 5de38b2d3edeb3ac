//! Functions of floats, with the errors that OpenCL C's table of relative errors allows (full
//! profile; section 7.4 of its specification).

use crate::case::{BuiltinCase, ExpectedLane, LANES, LanewiseEval, XorshiftRandom, lanewise};
use crate::number::{OpenClScalar, RoundingDirection};
use crate::reference::{BigFloatReference, P, RM, big};
use crate::relation;
use astro_float_num::BigFloat;
use std::cell::RefCell;
use std::rc::Rc;

use OpenClScalar::{F16, F32, F64, Int};

/// Number of tuples of arguments for a function.
const POOL: usize = 48;

const MAX: f64 = 1e300;

/// The type of an argument with its bounds.
type ArgumentRange = (OpenClScalar, f64, f64);

/// A function of one argument: its name, limits for half, float and double, the arguments, and the
/// exact value.
type UnaryBuiltin = (
    &'static str,
    [f64; 3],
    (f64, f64),
    fn(&mut BigFloatReference, f64) -> BigFloat,
);

const UNARY: &[UnaryBuiltin] = &[
    (
        "acos",
        [2.0, 4.0, 4.0],
        (-1.0, 1.0),
        BigFloatReference::acos,
    ),
    (
        "acosh",
        [2.0, 4.0, 4.0],
        (1.001, MAX),
        BigFloatReference::acosh,
    ),
    ("acospi", [2.0, 5.0, 5.0], (-1.0, 1.0), |r, x| {
        let v = r.acos(x);
        r.over_pi(v)
    }),
    (
        "asin",
        [2.0, 4.0, 4.0],
        (-1.0, 1.0),
        BigFloatReference::asin,
    ),
    (
        "asinh",
        [2.0, 4.0, 4.0],
        (-MAX, MAX),
        BigFloatReference::asinh,
    ),
    ("asinpi", [2.0, 5.0, 5.0], (-1.0, 1.0), |r, x| {
        let v = r.asin(x);
        r.over_pi(v)
    }),
    (
        "atan",
        [2.0, 5.0, 5.0],
        (-MAX, MAX),
        BigFloatReference::atan,
    ),
    (
        "atanh",
        [2.0, 5.0, 5.0],
        (-0.999, 0.999),
        BigFloatReference::atanh,
    ),
    ("atanpi", [2.0, 5.0, 5.0], (-MAX, MAX), |r, x| {
        let v = r.atan(x);
        r.over_pi(v)
    }),
    (
        "cbrt",
        [2.0, 2.0, 2.0],
        (-MAX, MAX),
        BigFloatReference::cbrt,
    ),
    ("cos", [2.0, 4.0, 4.0], (-MAX, MAX), BigFloatReference::cos),
    (
        "cosh",
        [2.0, 4.0, 4.0],
        (-700.0, 700.0),
        BigFloatReference::cosh,
    ),
    (
        "cospi",
        [2.0, 4.0, 4.0],
        (-1e4, 1e4),
        BigFloatReference::cospi,
    ),
    ("degrees", [2.0, 2.0, 2.0], (-1e4, 1e4), |r, x| {
        let pi = r.pi();
        big(x).mul(&big(180.0), P, RM).div(&pi, P, RM)
    }),
    (
        "erf",
        [4.0, 16.0, 16.0],
        (-6.0, 6.0),
        BigFloatReference::erf,
    ),
    (
        "erfc",
        [4.0, 16.0, 16.0],
        (-6.0, 20.0),
        BigFloatReference::erfc,
    ),
    (
        "exp",
        [2.0, 3.0, 3.0],
        (-700.0, 700.0),
        BigFloatReference::exp,
    ),
    ("exp10", [2.0, 3.0, 3.0], (-300.0, 300.0), |r, x| {
        r.pow(10.0, x)
    }),
    ("exp2", [2.0, 3.0, 3.0], (-1000.0, 1000.0), |r, x| {
        r.pow(2.0, x)
    }),
    (
        "expm1",
        [2.0, 3.0, 3.0],
        (-60.0, 700.0),
        BigFloatReference::expm1,
    ),
    (
        "lgamma",
        [16.0, 16.0, 16.0],
        (0.001, 1e6),
        BigFloatReference::lgamma,
    ),
    (
        "log",
        [2.0, 3.0, 3.0],
        (1e-300, MAX),
        BigFloatReference::log,
    ),
    (
        "log10",
        [2.0, 3.0, 3.0],
        (1e-300, MAX),
        BigFloatReference::log10,
    ),
    (
        "log1p",
        [2.0, 2.0, 2.0],
        (-0.999, MAX),
        BigFloatReference::log1p,
    ),
    (
        "log2",
        [2.0, 3.0, 3.0],
        (1e-300, MAX),
        BigFloatReference::log2,
    ),
    ("radians", [2.0, 2.0, 2.0], (-1e4, 1e4), |r, x| {
        let pi = r.pi();
        big(x).mul(&pi, P, RM).div(&big(180.0), P, RM)
    }),
    (
        "rsqrt",
        [1.0, 2.0, 2.0],
        (1e-300, MAX),
        BigFloatReference::rsqrt,
    ),
    ("sin", [2.0, 4.0, 4.0], (-MAX, MAX), BigFloatReference::sin),
    (
        "sinh",
        [2.0, 4.0, 4.0],
        (-700.0, 700.0),
        BigFloatReference::sinh,
    ),
    (
        "sinpi",
        [2.0, 4.0, 4.0],
        (-1e4, 1e4),
        BigFloatReference::sinpi,
    ),
    ("sqrt", [0.5, 3.0, 0.5], (0.0, MAX), |_, x| {
        big(x).sqrt(P, RM)
    }),
    ("tan", [2.0, 5.0, 5.0], (-MAX, MAX), BigFloatReference::tan),
    (
        "tanh",
        [2.0, 5.0, 5.0],
        (-20.0, 20.0),
        BigFloatReference::tanh,
    ),
    (
        "tanpi",
        [2.0, 6.0, 6.0],
        (-0.499, 0.499),
        BigFloatReference::tanpi,
    ),
    (
        "tgamma",
        [4.0, 16.0, 16.0],
        (0.01, 150.0),
        BigFloatReference::gamma,
    ),
];

/// Functions of less accuracy, of floats only: the name after `half_` or `native_`.
const ROUGH: &[&str] = &[
    "cos", "exp", "exp10", "exp2", "log", "log10", "log2", "rsqrt", "sin", "sqrt", "tan",
];

/// Error bound of `half_` functions. `native_` functions have no bound.
pub const ROUGH_LIMIT: f64 = 8192.0;

/// Functions whose results are floats without any rounding.
type ExactUnary = (&'static str, fn(f64) -> f64);

const EXACT: &[ExactUnary] = &[
    ("ceil", f64::ceil),
    ("fabs", f64::abs),
    ("floor", f64::floor),
    ("rint", f64::round_ties_even),
    ("round", f64::round),
    ("sign", |x| if x == 0.0 { x } else { x.signum() }),
    ("trunc", f64::trunc),
    ("logb", |x| libm::ilogb(x).into()),
];

type BinaryBuiltin = (
    &'static str,
    [f64; 3],
    (f64, f64),
    (f64, f64),
    fn(&mut BigFloatReference, f64, f64) -> BigFloat,
);

const BINARY: &[BinaryBuiltin] = &[
    (
        "atan2",
        [2.0, 6.0, 6.0],
        (-MAX, MAX),
        (-MAX, MAX),
        BigFloatReference::atan2,
    ),
    (
        "atan2pi",
        [2.0, 6.0, 6.0],
        (-MAX, MAX),
        (-MAX, MAX),
        |r, y, x| {
            let v = r.atan2(y, x);
            r.over_pi(v)
        },
    ),
    (
        "hypot",
        [2.0, 4.0, 4.0],
        (-MAX, MAX),
        (-MAX, MAX),
        BigFloatReference::hypot,
    ),
    (
        "pow",
        [4.0, 16.0, 16.0],
        (1e-300, MAX),
        (-9.0, 9.0),
        BigFloatReference::pow,
    ),
    (
        "powr",
        [4.0, 16.0, 16.0],
        (1e-300, MAX),
        (-9.0, 9.0),
        BigFloatReference::pow,
    ),
];

/// Functions of two floats with a result that is exact, or rounded once from that.
type ExactBinary = (&'static str, fn(f64, f64) -> f64);

const EXACT_BINARY: &[ExactBinary] = &[
    ("copysign", f64::copysign),
    ("fdim", |x, y| if x > y { x - y } else { 0.0 }),
    ("fmax", f64::max),
    ("fmin", f64::min),
    ("fmod", |x, y| x % y),
    ("max", f64::max),
    ("min", f64::min),
    ("maxmag", |x, y| {
        if x.abs() == y.abs() {
            x.max(y)
        } else if x.abs() > y.abs() {
            x
        } else {
            y
        }
    }),
    ("minmag", |x, y| {
        if x.abs() == y.abs() {
            x.min(y)
        } else if x.abs() < y.abs() {
            x
        } else {
            y
        }
    }),
    ("remainder", |x, y| libm::remquo(x, y).0),
];

/// Those of them whose second argument may be a scalar.
const WITH_SCALAR: &[&str] = &["fmax", "fmin", "max", "min"];

fn limit(limits: [f64; 3], scalar: OpenClScalar) -> f64 {
    match scalar {
        F16 => limits[0],
        F32 => limits[1],
        _ => limits[2],
    }
}

fn pool(bounds: &[ArgumentRange]) -> Vec<Vec<u64>> {
    let mut random = XorshiftRandom(0x9e37_79b9_7f4a_7c15);
    let tuple = |_| {
        let one = |&(scalar, low, high): &ArgumentRange| match scalar {
            Int(..) => {
                let span = (high - low) as u64 + 1;
                scalar.wrapped(i128::from(random.next() % span) + low as i128)
            }
            _ => random.float(scalar, low, high),
        };
        bounds.iter().map(one).collect()
    };
    (0..POOL).map(tuple).collect()
}

/// Functions of floats lane by lane.
pub fn elementary(scalar: OpenClScalar) -> Vec<BuiltinCase> {
    let reference = Rc::new(RefCell::new(BigFloatReference::new()));
    let mut cases = of_one(scalar, &reference);
    cases.extend(of_two(scalar, &reference));
    cases.extend(divisions(scalar));
    cases.extend(exact_of_two(scalar));
    cases.extend(with_integers(scalar, &reference));
    cases.extend(of_three(scalar));
    cases.extend(with_pointers(scalar, &reference));
    cases.extend(relation::relations(scalar));
    cases
}

/// [`UNARY`] and [`EXACT`].
fn of_one(scalar: OpenClScalar, reference: &Rc<RefCell<BigFloatReference>>) -> Vec<BuiltinCase> {
    let mut cases = Vec::new();
    let args = [(scalar, false)];
    for &(name, limits, (low, high), exact) in UNARY {
        let of = |name: &str, limit: f64, (low, high): (f64, f64)| {
            let reference = reference.clone();
            let eval: LanewiseEval = Rc::new(move |args: &[u64]| {
                let exact = exact(&mut reference.borrow_mut(), scalar.float(args[0]));
                vec![ExpectedLane::Ulps(exact, limit)]
            });
            let pool = pool(&[(scalar, low, high)]);
            lanewise(name, &args, &[scalar], &LANES, &pool, eval)
        };
        cases.extend(of(name, limit(limits, scalar), (low, high)));
        if scalar == F32 && ROUGH.contains(&name) {
            for prefix in ["half", "native"] {
                let bounds = (low.max(-30.0), high.min(30.0));
                cases.extend(of(&format!("{prefix}_{name}"), ROUGH_LIMIT, bounds));
            }
        }
    }
    let pool = pool(&[(scalar, -MAX, MAX)]);
    for &(name, function) in EXACT {
        let eval: LanewiseEval =
            Rc::new(move |args: &[u64]| vec![ExpectedLane::Value(function(scalar.float(args[0])))]);
        cases.extend(lanewise(name, &args, &[scalar], &LANES, &pool, eval));
    }
    cases
}

/// [`BINARY`].
fn of_two(scalar: OpenClScalar, reference: &Rc<RefCell<BigFloatReference>>) -> Vec<BuiltinCase> {
    let mut cases = Vec::new();
    for &(name, limits, first, second, exact) in BINARY {
        let of = |name: &str, limit: f64, first: (f64, f64), second: (f64, f64)| {
            let reference = reference.clone();
            let eval: LanewiseEval = Rc::new(move |args: &[u64]| {
                let [x, y] = [args[0], args[1]].map(|bits| scalar.float(bits));
                let exact = exact(&mut reference.borrow_mut(), x, y);
                vec![ExpectedLane::Ulps(exact, limit)]
            });
            let pool = pool(&[(scalar, first.0, first.1), (scalar, second.0, second.1)]);
            let args = [(scalar, false); 2];
            lanewise(name, &args, &[scalar], &LANES, &pool, eval)
        };
        cases.extend(of(name, limit(limits, scalar), first, second));
        if scalar == F32 && name == "powr" {
            cases.extend(of("half_powr", ROUGH_LIMIT, (0.1, 10.0), (-8.0, 8.0)));
            cases.extend(of("native_powr", ROUGH_LIMIT, (0.1, 10.0), (-8.0, 8.0)));
        }
    }
    cases
}

/// [`EXACT_BINARY`].
fn exact_of_two(scalar: OpenClScalar) -> Vec<BuiltinCase> {
    let mut cases = Vec::new();
    let pool = pool(&[(scalar, -MAX, MAX), (scalar, -MAX, MAX)]);
    for &(name, function) in EXACT_BINARY {
        let eval: LanewiseEval = Rc::new(move |args: &[u64]| {
            let [x, y] = [args[0], args[1]].map(|bits| scalar.float(bits));
            vec![ExpectedLane::Value(function(x, y))]
        });
        let of = |second_is_single, lanes| {
            let args = [(scalar, false), (scalar, second_is_single)];
            lanewise(name, &args, &[scalar], lanes, &pool, eval.clone())
        };
        cases.extend(of(false, &LANES[..]));
        if WITH_SCALAR.contains(&name) {
            cases.extend(of(true, &LANES[1..]));
        }
    }
    cases
}

/// `half_divide`, `native_recip` and the like.
fn divisions(scalar: OpenClScalar) -> Vec<BuiltinCase> {
    let mut cases = Vec::new();
    if scalar != F32 {
        return cases;
    }
    for prefix in ["half", "native"] {
        for (name, count) in [("divide", 2), ("recip", 1)] {
            let eval: LanewiseEval = Rc::new(move |args: &[u64]| {
                let x = big(scalar.float(args[0]));
                let exact = match args.get(1) {
                    Some(y) => x.div(&big(scalar.float(*y)), P, RM),
                    None => big(1.0).div(&x, P, RM),
                };
                vec![ExpectedLane::Ulps(exact, ROUGH_LIMIT)]
            });
            let pool = pool(&[(scalar, -1e6, 1e6), (scalar, -1e6, 1e6)]);
            let name = format!("{prefix}_{name}");
            let args = &[(scalar, false); 2][..count];
            cases.extend(lanewise(&name, args, &[scalar], &LANES, &pool, eval));
        }
    }
    cases
}

/// Functions with integer arguments or results.
fn with_integers(
    scalar: OpenClScalar,
    reference: &Rc<RefCell<BigFloatReference>>,
) -> Vec<BuiltinCase> {
    let int = Int(32, true);
    let mut cases = Vec::new();
    let ldexp: LanewiseEval = Rc::new(move |args: &[u64]| {
        let exact = scalar.exact(args[0]);
        let by = int.int(args[1]) as i32;
        let crate::number::ExactValue::Finite(negative, mantissa, exponent) = exact else {
            return vec![ExpectedLane::Any];
        };
        let moved = crate::number::ExactValue::Finite(negative, mantissa, exponent + by);
        vec![ExpectedLane::Bits(
            scalar.rounded(moved, RoundingDirection::Even),
        )]
    });
    let pairs = pool(&[(scalar, -MAX, MAX), (int, -40.0, 40.0)]);
    for (single, lanes) in [(false, &LANES[..]), (true, &LANES[1..])] {
        let args = [(scalar, false), (int, single)];
        cases.extend(lanewise(
            "ldexp",
            &args,
            &[scalar],
            lanes,
            &pairs,
            ldexp.clone(),
        ));
    }
    let powers = limit([4.0, 16.0, 16.0], scalar);
    let of = reference.clone();
    let pown: LanewiseEval = Rc::new(move |args: &[u64]| {
        let (x, n) = (scalar.float(args[0]), int.int(args[1]) as f64);
        vec![ExpectedLane::Ulps(of.borrow_mut().pow(x, n), powers)]
    });
    let of = reference.clone();
    let rootn: LanewiseEval = Rc::new(move |args: &[u64]| {
        let (x, n) = (scalar.float(args[0]), int.int(args[1]) as i32);
        vec![ExpectedLane::Ulps(of.borrow_mut().rootn(x, n), powers)]
    });
    let positive = (scalar, 0.01, 100.0);
    for (name, eval, bounds) in [("pown", pown, -6.0), ("rootn", rootn, 1.0)] {
        let pool = pool(&[positive, (int, bounds, 6.0)]);
        let args = [(scalar, false), (int, false)];
        cases.extend(lanewise(name, &args, &[scalar], &LANES, &pool, eval));
    }
    let ilogb: LanewiseEval = Rc::new(move |args: &[u64]| {
        let exponent = libm::ilogb(scalar.float(args[0]));
        vec![ExpectedLane::Bits(int.wrapped(exponent.into()))]
    });
    let one = pool(&[(scalar, -MAX, MAX)]);
    cases.extend(lanewise(
        "ilogb",
        &[(scalar, false)],
        &[int],
        &LANES,
        &one,
        ilogb,
    ));
    let nan: LanewiseEval = Rc::new(|_: &[u64]| vec![ExpectedLane::Value(f64::NAN)]);
    let code = scalar.as_uint();
    let codes = pool(&[(code, 0.0, 100.0)]);
    cases.extend(lanewise(
        "nan",
        &[(code, false)],
        &[scalar],
        &LANES,
        &codes,
        nan,
    ));
    let next: LanewiseEval =
        Rc::new(move |args: &[u64]| vec![ExpectedLane::Bits(nextafter(scalar, args))]);
    let two = pool(&[(scalar, -MAX, MAX), (scalar, -MAX, MAX)]);
    let args = [(scalar, false); 2];
    cases.extend(lanewise("nextafter", &args, &[scalar], &LANES, &two, next));
    cases
}

/// The float after `x` towards `y`.
fn nextafter(scalar: OpenClScalar, args: &[u64]) -> u64 {
    let [x, y] = [args[0], args[1]].map(|bits| scalar.float(bits));
    match x.partial_cmp(&y) {
        Some(std::cmp::Ordering::Equal) | None => args[1],
        Some(order) => {
            let away = (order == std::cmp::Ordering::Less) == (x > 0.0);
            if away { args[0] + 1 } else { args[0] - 1 }
        }
    }
}

/// Functions of three arguments.
fn of_three(scalar: OpenClScalar) -> Vec<BuiltinCase> {
    let floats = move |args: &[u64]| [args[0], args[1], args[2]].map(|bits| scalar.float(bits));
    let units = move |digits: i32| libm::ldexp(1.0, digits - scalar.format().0 as i32);
    let fma: LanewiseEval = Rc::new(move |args: &[u64]| {
        let [a, b, c] = floats(args).map(big);
        vec![ExpectedLane::Ulps(a.mul(&b, P, RM).add(&c, P, RM), 0.5)]
    });
    let mad: LanewiseEval = Rc::new(move |args: &[u64]| {
        let [a, b, c] = floats(args);
        let scale = (a * b).abs() + c.abs() + 1e-4;
        vec![ExpectedLane::Near(a * b + c, scale * units(1))]
    });
    let clamp: LanewiseEval = Rc::new(move |args: &[u64]| {
        let [x, low, high] = floats(args);
        vec![ExpectedLane::Value(x.max(low).min(high))]
    });
    let mix: LanewiseEval = Rc::new(move |args: &[u64]| {
        let [x, y, a] = floats(args);
        vec![ExpectedLane::Near(
            x + (y - x) * a,
            (x.abs() + y.abs()) * units(2),
        )]
    });
    let smooth: LanewiseEval = Rc::new(move |args: &[u64]| {
        let [low, high, x] = floats(args);
        let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
        vec![ExpectedLane::Near(t * t * (3.0 - 2.0 * t), units(5))]
    });
    let any = (scalar, -100.0, 100.0);
    let (low, high) = ((scalar, -10.0, -1.0), (scalar, 1.0, 10.0));
    // The arguments that may be single values beside vectors, where there is such an overload.
    type Function = (
        &'static str,
        LanewiseEval,
        [ArgumentRange; 3],
        Option<[bool; 3]>,
    );
    let functions: [Function; 5] = [
        ("fma", fma, [any; 3], None),
        ("mad", mad, [any; 3], None),
        ("clamp", clamp, [any, low, high], Some([false, true, true])),
        (
            "mix",
            mix,
            [any, any, (scalar, 0.001, 1.0)],
            Some([false, false, true]),
        ),
        (
            "smoothstep",
            smooth,
            [low, high, (scalar, -12.0, 12.0)],
            Some([true, true, false]),
        ),
    ];
    let mut cases = Vec::new();
    for (name, eval, bounds, singles) in functions {
        let pool = pool(&bounds);
        let of = |singles: [bool; 3], lanes| {
            let args = singles.map(|single| (scalar, single));
            lanewise(name, &args, &[scalar], lanes, &pool, eval.clone())
        };
        cases.extend(of([false; 3], &LANES[..]));
        cases.extend(singles.into_iter().flat_map(|s| of(s, &LANES[1..])));
    }
    cases.extend(steps(scalar));
    cases
}

/// `step`.
fn steps(scalar: OpenClScalar) -> Vec<BuiltinCase> {
    let step: LanewiseEval = Rc::new(move |args: &[u64]| {
        let [edge, x] = [args[0], args[1]].map(|bits| scalar.float(bits));
        vec![ExpectedLane::Value(if x < edge { 0.0 } else { 1.0 })]
    });
    let pool = pool(&[(scalar, -100.0, 100.0); 2]);
    let of = |single, lanes| {
        let args = [(scalar, single), (scalar, false)];
        lanewise("step", &args, &[scalar], lanes, &pool, step.clone())
    };
    let mut cases = of(false, &LANES[..]);
    cases.extend(of(true, &LANES[1..]));
    cases
}

/// Functions that return a second result through a pointer.
fn with_pointers(
    scalar: OpenClScalar,
    reference: &Rc<RefCell<BigFloatReference>>,
) -> Vec<BuiltinCase> {
    let int = Int(32, true);
    let mut cases = Vec::new();
    let one = pool(&[(scalar, -1e4, 1e4)]);
    let of_one = [(scalar, false)];
    let fract: LanewiseEval = Rc::new(move |args: &[u64]| {
        let x = scalar.float(args[0]);
        let below = libm::nextafter(1.0, 0.0);
        let largest =
            scalar.float(scalar.rounded(F64.exact(below.to_bits()), RoundingDirection::Zero));
        let part = (x - x.floor()).min(largest);
        vec![ExpectedLane::Value(part), ExpectedLane::Value(x.floor())]
    });
    cases.extend(lanewise(
        "fract",
        &of_one,
        &[scalar; 2],
        &LANES,
        &one,
        fract,
    ));
    let modf: LanewiseEval = Rc::new(move |args: &[u64]| {
        let x = scalar.float(args[0]);
        vec![
            ExpectedLane::Value(x.fract()),
            ExpectedLane::Value(x.trunc()),
        ]
    });
    cases.extend(lanewise("modf", &of_one, &[scalar; 2], &LANES, &one, modf));
    let frexp: LanewiseEval = Rc::new(move |args: &[u64]| {
        let (mantissa, exponent) = libm::frexp(scalar.float(args[0]));
        vec![
            ExpectedLane::Value(mantissa),
            ExpectedLane::Bits(int.wrapped(exponent.into())),
        ]
    });
    let outs = [scalar, int];
    cases.extend(lanewise("frexp", &of_one, &outs, &LANES, &one, frexp));
    let of = reference.clone();
    let allowed = limit([2.0, 4.0, 4.0], scalar);
    let sincos: LanewiseEval = Rc::new(move |args: &[u64]| {
        let x = scalar.float(args[0]);
        let mut of = of.borrow_mut();
        [of.sin(x), of.cos(x)]
            .map(|v| ExpectedLane::Ulps(v, allowed))
            .to_vec()
    });
    cases.extend(lanewise(
        "sincos",
        &of_one,
        &[scalar; 2],
        &LANES,
        &one,
        sincos,
    ));
    let of = reference.clone();
    let lgamma: LanewiseEval = Rc::new(move |args: &[u64]| {
        let exact = of.borrow_mut().lgamma(scalar.float(args[0]));
        vec![ExpectedLane::Ulps(exact, 16.0), ExpectedLane::Bits(1)]
    });
    let positive = pool(&[(scalar, 0.001, 1e4)]);
    cases.extend(lanewise(
        "lgamma_r", &of_one, &outs, &LANES, &positive, lgamma,
    ));
    let remquo: LanewiseEval = Rc::new(move |args: &[u64]| {
        let [x, y] = [args[0], args[1]].map(|bits| scalar.float(bits));
        let (rest, quotient) = libm::remquo(x, y);
        // The function returns seven bits of the quotient.
        let low = i128::from(quotient.unsigned_abs() & 0x7f);
        let quotient = if (x < 0.0) == (y < 0.0) { low } else { -low };
        vec![
            ExpectedLane::Value(rest),
            ExpectedLane::Bits(int.wrapped(quotient)),
        ]
    });
    let two = pool(&[(scalar, -1e3, 1e3), (scalar, 0.5, 1e3)]);
    let args = [(scalar, false); 2];
    cases.extend(lanewise("remquo", &args, &outs, &LANES, &two, remquo));
    cases
}

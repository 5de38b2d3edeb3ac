//! Functions of kernels against the table of scalar semantics: the stated accuracy holds.

use spirula_program::{
    ProgramSession, ProgramValue as Data, ScalarLiteral, ScalarOp, ScalarOperator, ScalarType,
};
use spirula_runtime::{ComputeDevice, DeviceMachine, DeviceOptions};
use spirula_tensor::ir::{
    AxisKind, DenseTensorType, DimExtent, ScalarCombiner, StructuredOp, StructuredYield,
    TensorReduction, YieldDestination,
};
use spirula_tensor::schedule::{DispatchTuning, ScheduleProfile};
use spirula_tensor::{TensorBuilder, compile_function};

/// Numbers tried for each function.
const COUNT: usize = 2000;

/// Function, lowest and highest argument, largest relative error of `f32` and of `f64`; beside
/// results near 0 the error counts absolutely.
const FUNCTIONS: &[(ScalarOp, f64, f64, f64, f64)] = &[
    (ScalarOp::Exp, -80.0, 80.0, 1e-5, 1e-14),
    (ScalarOp::Log, 1e-6, 1e6, 1e-6, 1e-14),
    (ScalarOp::Log1p, -0.9, 50.0, 2e-6, 1e-14),
    (ScalarOp::Sin, -30.0, 30.0, 1e-5, 1e-13),
    (ScalarOp::Cos, -30.0, 30.0, 1e-5, 1e-13),
    (ScalarOp::Tan, -1.5, 1.5, 1e-5, 1e-13),
    (ScalarOp::Asin, -1.0, 1.0, 1e-5, 1e-13),
    (ScalarOp::Acos, -1.0, 1.0, 1e-5, 1e-13),
    (ScalarOp::Atan, -100.0, 100.0, 1e-5, 1e-14),
    (ScalarOp::Sinh, -20.0, 20.0, 1e-5, 1e-13),
    (ScalarOp::Cosh, -20.0, 20.0, 1e-5, 1e-13),
    (ScalarOp::Tanh, -20.0, 20.0, 1e-5, 1e-13),
    (ScalarOp::Asinh, -100.0, 100.0, 1e-5, 1e-13),
    (ScalarOp::Acosh, 1.0, 100.0, 1e-4, 1e-12),
    (ScalarOp::Atanh, -0.99, 0.99, 1e-5, 1e-13),
    (ScalarOp::Sqrt, 0.0, 100.0, 1e-6, 1e-15),
    (ScalarOp::Rsqrt, 0.01, 100.0, 1e-6, 1e-14),
    (ScalarOp::Cbrt, -100.0, 100.0, 1e-6, 1e-14),
    (ScalarOp::Erf, -6.0, 6.0, 1e-6, 1e-14),
    (ScalarOp::Erfc, -6.0, 25.0, 1e-5, 1e-12),
    (ScalarOp::Gamma, 0.1, 30.0, 1e-4, 1e-11),
    (ScalarOp::LGamma, 0.0, 0.9, 1e-4, 1e-11),
    (ScalarOp::LGamma, 2.5, 100.0, 1e-4, 1e-11),
];

fn bits(ty: ScalarType, x: f64) -> u64 {
    match ty {
        ScalarType::F32 => (x as f32).to_bits().into(),
        _ => x.to_bits(),
    }
}

fn number(ty: ScalarType, bits: u64) -> f64 {
    match ty {
        ScalarType::F32 => f32::from_bits(bits as u32).into(),
        _ => f64::from_bits(bits),
    }
}

/// The function at these numbers, a list for each argument, on the CPU device.
fn results(op: ScalarOp, ty: ScalarType, arguments: &[&[u64]]) -> Vec<u64> {
    let mut b = TensorBuilder::new("main");
    let shape = [arguments[0].len() as u64];
    let parameter = |_| b.add_parameter("x", DenseTensorType::new(ty, &shape), false);
    let parameters: Vec<_> = arguments.iter().map(parameter).collect();
    let y = b.add_elementwise(&parameters, |body, e| body.apply_op(op, e));
    b.add_result(y, false);
    let program = compile_function(
        b.finish_function(),
        ScheduleProfile::default(),
        &DispatchTuning::default(),
        &mut |_, _| {},
    )
    .expect("the function compiles");
    let program = spirula_kernel::compile_program(&program).expect("the kernel is lowered");
    let mut device =
        ComputeDevice::open("cpu", &DeviceOptions::default()).expect("the CPU is there");
    let machine = DeviceMachine::new(&mut device);
    let mut session = ProgramSession::new(&program, machine).expect("the program begins");
    let size = ty.size() as usize;
    let input = |arguments: &&[u64]| Data {
        element: ty,
        unsigned: false,
        shape: shape.to_vec(),
        bytes: arguments
            .iter()
            .flat_map(|a| a.to_le_bytes()[..size].to_vec())
            .collect(),
    };
    let inputs: Vec<Data> = arguments.iter().map(input).collect();
    let results = session
        .call_entry("main", &inputs)
        .expect("the program runs");
    let result = results[0].as_ref().expect("a result");
    result.elements().collect()
}

#[test]
fn functions_have_the_stated_accuracy() {
    let mut worse = Vec::new();
    for (op, low, high, narrow, wide) in FUNCTIONS {
        for (ty, most) in [(ScalarType::F32, narrow), (ScalarType::F64, wide)] {
            let step = (high - low) / (COUNT - 1) as f64;
            let at = |n: usize| (low + step * n as f64).min(*high);
            let arguments: Vec<u64> = (0..COUNT).map(|n| bits(ty, at(n))).collect();
            let mut error: (f64, f64) = (0.0, 0.0);
            for (argument, found) in arguments.iter().zip(results(*op, ty, &[&arguments])) {
                let expected = number(
                    ty,
                    ScalarOperator::with_type(*op, ty).eval_operands(&[*argument]),
                );
                let found = number(ty, found);
                let scale = expected
                    .abs()
                    .max(if ty == ScalarType::F32 { 1e-6 } else { 1e-13 });
                let relative = (found - expected).abs() / scale;
                let is_worse = relative > error.0 || relative.is_nan();
                if expected.is_finite() && is_worse {
                    error = (relative, number(ty, *argument));
                }
            }
            if error.0 > *most || error.0.is_nan() {
                let name = op.row().name;
                worse.push(format!("{name}.{ty}: {:.1e} at {}", error.0, error.1));
            }
        }
    }
    assert!(worse.is_empty(), "{}", worse.join("\n"));
}

/// Subnormal arguments: results are as near as those of others, or a unit away where they are subnormal themselves.
#[test]
fn functions_of_subnormals() {
    let mut worse = Vec::new();
    for (op, low, high, narrow, wide) in FUNCTIONS {
        for (ty, most, digits) in [(ScalarType::F32, narrow, 23), (ScalarType::F64, wide, 52)] {
            let sign = 1 << (ty.width() - 1);
            let sizes = [1, 2, 3, 5, 1 << (digits / 2), (1 << digits) - 1];
            let all = sizes.into_iter().flat_map(|n| [n, n | sign]);
            let is_inside = |bits: &u64| (*low..=*high).contains(&number(ty, *bits));
            let arguments: Vec<u64> = all.filter(is_inside).collect();
            if arguments.is_empty() {
                continue;
            }
            for (argument, found) in arguments.iter().zip(results(*op, ty, &[&arguments])) {
                let expected = number(
                    ty,
                    ScalarOperator::with_type(*op, ty).eval_operands(&[*argument]),
                );
                let (argument, found) = (number(ty, *argument), number(ty, found));
                let unit = number(ty, 1);
                let error = (found - expected).abs();
                let is_near = error <= (expected.abs() * most).max(unit);
                if found != expected && !is_near {
                    let name = op.row().name;
                    worse.push(format!(
                        "{name}.{ty} of {argument:e}: {found:e}, not {expected:e}"
                    ));
                }
            }
        }
    }
    assert!(worse.is_empty(), "{}", worse.join("\n"));
}

/// An error of the logarithm counts as often as the exponent is large.
#[test]
fn large_powers_have_the_accuracy_of_small_ones() {
    let (mut bases, mut exponents) = (Vec::new(), Vec::new());
    for n in 0..COUNT {
        let base = (n as f64 / 37.0 - 27.0).exp2();
        let most = 1020.0 / base.log2().abs().max(0.01);
        bases.push(base.to_bits());
        exponents.push((most * (n as f64 * 0.618).sin()).to_bits());
    }
    let found = results(ScalarOp::FPow, ScalarType::F64, &[&bases, &exponents]);
    let power = ScalarOperator::with_type(ScalarOp::FPow, ScalarType::F64);
    for ((base, exponent), found) in bases.into_iter().zip(exponents).zip(found) {
        let expected = f64::from_bits(power.eval_operands(&[base, exponent]));
        let relative = (f64::from_bits(found) - expected).abs() / expected;
        let (base, exponent) = (f64::from_bits(base), f64::from_bits(exponent));
        assert!(relative < 5e-15, "{relative:.1e} for {base} to {exponent}");
    }
}

/// Functions with zeros, poles and limits, and arguments where they are.
const EDGES: &[(ScalarOp, &[f64])] = &[
    (
        ScalarOp::LGamma,
        &[0.0, -1.0, -2.0, -3.0, -9.0, f64::INFINITY],
    ),
    (ScalarOp::Gamma, &[f64::INFINITY]),
    (
        ScalarOp::SinPi,
        &[-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 3.0],
    ),
    (
        ScalarOp::CosPi,
        &[-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 3.0],
    ),
];

#[test]
fn zeros_and_poles_are_exact() {
    for (op, arguments) in EDGES {
        for ty in [ScalarType::F32, ScalarType::F64] {
            let bits: Vec<u64> = arguments.iter().map(|x| bits(ty, *x)).collect();
            for (argument, found) in bits.iter().zip(results(*op, ty, &[&bits])) {
                let expected = number(
                    ty,
                    ScalarOperator::with_type(*op, ty).eval_operands(&[*argument]),
                );
                let (argument, found) = (number(ty, *argument), number(ty, found));
                let name = op.row().name;
                assert_eq!(found, expected, "{name}.{ty} of {argument}");
            }
        }
    }
}

/// Zeros, infinities and what is no number to each other, with the sign of zeros.
#[test]
fn powers_at_their_edges() {
    let edges = [0.0, 0.5, 1.0, 2.0, 3.0, 2.5, f64::INFINITY];
    for ty in [ScalarType::F32, ScalarType::F64] {
        let least = if ty == ScalarType::F32 { 1e-40 } else { 1e-310 };
        let all: Vec<f64> = edges
            .iter()
            .chain(&[least])
            .flat_map(|x| [*x, -*x])
            .chain([f64::NAN])
            .collect();
        let pairs = all
            .iter()
            .flat_map(|x| all.iter().map(move |y| (bits(ty, *x), bits(ty, *y))));
        let (bases, exponents): (Vec<u64>, Vec<u64>) = pairs.unzip();
        let found = results(ScalarOp::FPow, ty, &[&bases, &exponents]);
        for ((base, exponent), found) in bases.into_iter().zip(exponents).zip(found) {
            let expected =
                ScalarOperator::with_type(ScalarOp::FPow, ty).eval_operands(&[base, exponent]);
            let [base, exponent, expected, found] =
                [base, exponent, expected, found].map(|bits| number(ty, bits));
            let same = (found - expected).abs() <= 1e-15 * expected.abs();
            let signs = found.is_sign_negative() == expected.is_sign_negative();
            assert!(
                (same || found == expected) && signs || found.is_nan() && expected.is_nan(),
                "{ty}: {base} to {exponent} is {found}, not {expected}"
            );
        }
    }
}

/// Functions over all numbers, and the largest relative errors of `f32` and `f64`.
const WHOLE: &[(ScalarOp, f64, f64)] = &[
    (ScalarOp::Exp, 1e-6, 2e-15),
    (ScalarOp::Log, 1e-6, 2e-15),
    (ScalarOp::Log2, 1e-6, 2e-15),
    (ScalarOp::Log10, 1e-6, 2e-15),
    (ScalarOp::Log1p, 1e-6, 2e-15),
    (ScalarOp::Sin, 1e-6, 1e-15),
    (ScalarOp::Cos, 1e-6, 1e-15),
    (ScalarOp::Tan, 1e-6, 2e-15),
    (ScalarOp::SinPi, 1e-6, 2e-15),
    (ScalarOp::CosPi, 1e-6, 2e-15),
    (ScalarOp::TanPi, 1e-6, 2e-15),
    (ScalarOp::Asin, 1e-6, 2e-15),
    (ScalarOp::Acos, 1e-6, 2e-15),
    (ScalarOp::Atan, 1e-6, 2e-15),
    (ScalarOp::Sinh, 1e-6, 2e-15),
    (ScalarOp::Cosh, 1e-6, 2e-15),
    (ScalarOp::Tanh, 1e-6, 2e-15),
    (ScalarOp::Asinh, 1e-6, 2e-15),
    (ScalarOp::Acosh, 1e-6, 2e-15),
    (ScalarOp::Atanh, 1e-6, 2e-15),
    (ScalarOp::Sqrt, 1e-6, 2e-16),
    (ScalarOp::Rsqrt, 1e-6, 1e-15),
    (ScalarOp::Cbrt, 1e-6, 1e-15),
    (ScalarOp::Erf, 1e-6, 2e-15),
];

/// Both signs of every exponent, and where functions have poles, zeros and ends.
fn whole_range(ty: ScalarType) -> Vec<u64> {
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
        state >> 12
    };
    let (exponents, mantissa) = match ty {
        ScalarType::F32 => (255, 23),
        _ => (2047, 52),
    };
    let sign = 1u64 << (ty.width() - 1);
    let mut all = Vec::new();
    for exponent in 0..exponents {
        let size = exponent << mantissa | random() & ((1 << mantissa) - 1);
        all.extend([size, size | sign]);
    }
    let infinity = bits(ty, f64::INFINITY);
    let one = bits(ty, 1.0);
    let edges = [
        0,
        1,
        one - 1,
        one,
        one + 1,
        infinity - 1,
        infinity,
        infinity | infinity >> 1,
    ];
    all.extend(edges.into_iter().flat_map(|edge| [edge, edge | sign]));
    all
}

/// Also where an argument's square, or its exponential, is no number, and where turns are many.
#[test]
fn functions_are_accurate_over_all_numbers() {
    let mut worse = Vec::new();
    for (op, narrow, wide) in WHOLE {
        for (ty, most) in [(ScalarType::F32, *narrow), (ScalarType::F64, *wide)] {
            let arguments = whole_range(ty);
            let found = results(*op, ty, &[&arguments]);
            let least = if ty == ScalarType::F32 { 1e-38 } else { 1e-307 };
            let mut failed = arguments
                .into_iter()
                .zip(found)
                .filter_map(|(argument, found)| {
                    let expected = ScalarOperator::with_type(*op, ty).eval_operands(&[argument]);
                    let [argument, found, expected] =
                        [argument, found, expected].map(|bits| number(ty, bits));
                    let error = (found - expected).abs() / expected.abs().max(least);
                    let alike = found == expected || error <= most;
                    let signs = found.is_sign_negative() == expected.is_sign_negative();
                    let right = alike && signs || found.is_nan() && expected.is_nan();
                    (!right).then(|| format!("{argument:e} is {found:e}, not {expected:e}"))
                });
            if let Some(first) = failed.next() {
                let name = op.row().name;
                worse.push(format!(
                    "{name}.{ty} of {first}, and {} more",
                    failed.count()
                ));
            }
        }
    }
    assert!(worse.is_empty(), "{}", worse.join("\n"));
}

/// The running sum of `count` equal numbers on the CPU device.
fn running_sum(number: f32, count: u64) -> Vec<f32> {
    let mut b = TensorBuilder::new("main");
    let ty = DenseTensorType::new(ScalarType::F32, &[count]);
    let x = b.add_parameter("x", ty.clone(), false);
    let mut s = StructuredOp::default();
    let at = s.add_axis(DimExtent::Static(count), AxisKind::Reduction);
    let value = s.body.intern_element(x, ScalarType::F32, &[at]);
    let zero = s
        .body
        .intern_literal(ScalarLiteral::new(ScalarType::F32, 0));
    let sum = s.add_reduction(TensorReduction {
        initial: vec![zero],
        values: vec![value],
        combiner: ScalarCombiner::from_op(ScalarOp::FAdd, ScalarType::F32),
    });
    s.yields.push(StructuredYield {
        value: sum[0],
        destination: YieldDestination::Prefix {
            indices: vec![at],
            shape: ty.shape,
        },
    });
    let running = b.add_structured(s)[0];
    b.add_result(running, false);
    let profile = ScheduleProfile::default();
    let program = compile_function(
        b.finish_function(),
        profile,
        &DispatchTuning::default(),
        &mut |_, _| {},
    );
    let program =
        spirula_kernel::compile_program(&program.expect("it compiles")).expect("it is lowered");
    let mut device =
        ComputeDevice::open("cpu", &DeviceOptions::default()).expect("the CPU is there");
    let machine = DeviceMachine::new(&mut device);
    let mut session = ProgramSession::new(&program, machine).expect("the program begins");
    let input = Data {
        element: ScalarType::F32,
        unsigned: false,
        shape: vec![count],
        bytes: number.to_le_bytes().repeat(count as usize),
    };
    let results = session
        .call_entry("main", &[input])
        .expect("the program runs");
    let bits = results[0].as_ref().expect("a result").elements();
    bits.map(|bits| f32::from_bits(bits as u32)).collect()
}

/// Equal numbers are all rounded to the same side, so that errors of sums add up.
#[test]
fn long_running_sums_keep_their_digits() {
    let number = 0.1f32;
    for count in [1000, 65_537, 1_000_000] {
        let running = running_sum(number, count);
        let error = |sum: f32, terms: usize| {
            let exact = f64::from(number) * terms as f64;
            (f64::from(sum) - exact).abs() / exact
        };
        let each = running.iter().enumerate();
        let worst = each
            .map(|(at, sum)| error(*sum, at + 1))
            .fold(0.0, f64::max);
        assert!(worst < 4e-6, "running sum of {count}: {worst:.1e}");
    }
}

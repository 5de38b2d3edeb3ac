//! The two worked examples of the document on IREE's code generation: every stage as text, and the
//! results on the CPU device.

use spirula_program::{Literal, Op, Scalar, Session, Value};
use spirula_runtime::{Device, DeviceMachine, DeviceOptions};
use spirula_tensor::ir::{AxisKind, Combiner, Dim, Function, Reduction, Structured, TensorType};
use spirula_tensor::{Builder, compile, print};
use std::fmt::Write;
use std::path::Path;

/// Example 1: a product of matrices.
fn dot() -> Function {
    let mut b = Builder::new("main");
    let lhs = b.parameter("lhs", TensorType::new(Scalar::F32, &[32, 24]), false);
    let rhs = b.parameter("rhs", TensorType::new(Scalar::F32, &[24, 16]), false);
    let mut op = Structured::default();
    let i = op.axis(Dim::Static(32), AxisKind::Parallel);
    let j = op.axis(Dim::Static(16), AxisKind::Parallel);
    let k = op.axis(Dim::Static(24), AxisKind::Reduction);
    let a = op.body.element(lhs, Scalar::F32, &[i, k]);
    let b_ = op.body.element(rhs, Scalar::F32, &[k, j]);
    let product = op.body.op(Op::FMul, &[a, b_]);
    let zero = op.body.literal(Literal::new(Scalar::F32, 0));
    let sums = op.fold(Reduction {
        initial: vec![zero],
        values: vec![product],
        combiner: Combiner::of(Op::FAdd, Scalar::F32),
    });
    op.give(sums[0]);
    let result = b.structured(op)[0];
    b.result(result, false);
    b.finish()
}

/// Example 2: a sum, a broadcast and a product of elements.
fn pointwise() -> Function {
    let mut b = Builder::new("main");
    let matrix = TensorType::new(Scalar::F32, &[10, 15]);
    let x = b.parameter("a", matrix.clone(), false);
    let y = b.parameter("b", matrix.clone(), false);
    let z = b.parameter("c", TensorType::new(Scalar::F32, &[15]), false);
    let sum = b.elementwise(&[x, y], |body, e| body.op(Op::FAdd, e));
    let wide = b.moved(z, &matrix.shape, |_, point| vec![point[1]]);
    let product = b.elementwise(&[sum, wide], |body, e| body.op(Op::FMul, e));
    b.result(product, false);
    b.finish()
}

fn stages(function: Function) -> (String, spirula_kernel::ir::Program) {
    let mut text = format!("# tensors\n{}", print(&function));
    let program = compile(function, &mut |stage, shown| {
        let _ = write!(text, "\n# {stage}\n{}", shown());
    })
    .expect("the function compiles");
    let _ = write!(text, "\n# kernels\n{}", spirula_kernel::print(&program));
    (text, program)
}

fn floats(count: usize) -> Vec<f32> {
    let mut state = 1u32;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(next).collect()
}

fn array(values: &[f32], shape: &[u64]) -> Value {
    Value {
        element: Scalar::F32,
        unsigned: false,
        shape: shape.to_vec(),
        bytes: values.iter().flat_map(|v| v.to_le_bytes()).collect(),
    }
}

fn expect(file: &str, text: &str) {
    let mut expected = spirula_testing::Expected::new();
    expected.compare(&Path::new("tests/worked").join(file), text);
    expected.finish();
}

fn run(program: &spirula_kernel::ir::Program, inputs: &[Value]) -> Vec<f32> {
    spirula_kernel::check(program).expect("the program is well formed");
    let program = spirula_kernel::compile(program).expect("the kernels are lowered");
    let mut device = Device::open("cpu", &DeviceOptions::default()).expect("the CPU is there");
    let machine = DeviceMachine::new(&mut device);
    let mut session = Session::new(&program, machine).expect("the program begins");
    let results = session.call("main", inputs).expect("the program runs");
    let elements = results[0].as_ref().expect("a result").elements();
    elements.map(|bits| f32::from_bits(bits as u32)).collect()
}

#[test]
fn a_product_of_matrices() {
    let (text, program) = stages(dot());
    expect("dot.expected", &text);
    let (x, y) = (floats(32 * 24), floats(24 * 16));
    let found = run(&program, &[array(&x, &[32, 24]), array(&y, &[24, 16])]);
    for i in 0..32 {
        for j in 0..16 {
            let sum: f32 = (0..24).map(|k| x[i * 24 + k] * y[k * 16 + j]).sum();
            assert!((found[i * 16 + j] - sum).abs() < 1e-5, "at {i}, {j}");
        }
    }
}

#[test]
fn elements_with_a_broadcast() {
    let (text, program) = stages(pointwise());
    expect("pointwise.expected", &text);
    let (x, y, z) = (floats(150), floats(150), floats(15));
    let shape = [10, 15];
    let inputs = [array(&x, &shape), array(&y, &shape), array(&z, &[15])];
    let found = run(&program, &inputs);
    for at in 0..150 {
        assert_eq!(found[at], (x[at] + y[at]) * z[at % 15], "at {at}");
    }
}

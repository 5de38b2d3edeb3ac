//! What the tests of functions share: arguments, running them, and a product of matrices.

use spirula_program::{ProgramSession, ProgramValue as Data, ScalarLiteral, ScalarOp, ScalarType};
use spirula_runtime::{ComputeDevice, DeviceMachine, DeviceOptions};
use spirula_tensor::ir::{
    AxisKind, DenseTensorType, DimExtent, ScalarCombiner, StructuredOp, TensorConstant,
    TensorFunction, TensorReduction, TensorValue,
};
use spirula_tensor::schedule::{DispatchTuning, ScheduleProfile};
use spirula_tensor::{TensorBuilder, compile, evaluate};

/// A device whose subgroups fold by shuffles; so many invocations are a subgroup of the CPU device.
pub const SHUFFLING: ScheduleProfile = ScheduleProfile {
    subgroup: 8,
    ..ScheduleProfile::GPU
};

/// A parameter of a function.
pub fn parameter(b: &mut TensorBuilder, shape: &[u64]) -> TensorValue {
    b.parameter("x", DenseTensorType::new(ScalarType::I32, shape), false)
}

/// The product of two matrices, the second of which may be turned.
pub fn product(
    b: &mut TensorBuilder,
    x: TensorValue,
    y: TensorValue,
    is_turned: bool,
) -> TensorValue {
    let [rows, length] = b.ty(x).shape[..] else {
        panic!("no matrix");
    };
    let columns: DimExtent = b.ty(y).shape[usize::from(!is_turned)];
    let mut op = StructuredOp::parallel(&[rows, columns]);
    let point = op.point();
    let at = op.axis(length, AxisKind::Reduction);
    let left = op.body.element(x, ScalarType::I32, &[point[0], at]);
    let position = match is_turned {
        true => [point[1], at],
        false => [at, point[1]],
    };
    let right = op.body.element(y, ScalarType::I32, &position);
    let product = op.body.op(ScalarOp::Mul, &[left, right]);
    let zero = op.body.literal(ScalarLiteral::i32(0));
    let sum = op.fold(TensorReduction {
        initial: vec![zero],
        values: vec![product],
        combiner: ScalarCombiner::of(ScalarOp::Add, ScalarType::I32),
    });
    op.give(sum[0]);
    b.structured(op)[0]
}

/// Arguments of some shapes.
pub fn arguments(shapes: &[Vec<u64>]) -> Vec<TensorConstant> {
    let mut state = 12_345u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 20
    };
    let argument = |shape: &Vec<u64>| TensorConstant {
        ty: DenseTensorType::new(ScalarType::I32, shape),
        bytes: (0..shape.iter().product())
            .flat_map(|_| next().to_le_bytes())
            .collect(),
    };
    shapes.iter().map(argument).collect()
}

/// What a function gives on the CPU device.
pub fn run(
    function: TensorFunction,
    profile: ScheduleProfile,
    arguments: &[TensorConstant],
) -> Vec<Vec<u8>> {
    let text = spirula_tensor::print(&function);
    let program = compile(
        function,
        profile,
        &DispatchTuning::default(),
        &mut |_, _| {},
    )
    .expect("the function compiles");
    spirula_kernel::check(&program).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let program = spirula_kernel::compile(&program).expect("the program compiles");
    let mut device =
        ComputeDevice::open("cpu", &DeviceOptions::default()).expect("the CPU is there");
    let machine = DeviceMachine::new(&mut device);
    let mut session = ProgramSession::new(&program, machine).expect("the program begins");
    let inputs: Vec<Data> = arguments
        .iter()
        .map(|argument| Data {
            element: ScalarType::I32,
            unsigned: false,
            shape: argument.ty.shape.iter().filter_map(|d| d.known()).collect(),
            bytes: argument.bytes.clone(),
        })
        .collect();
    let results = session
        .call("main", &inputs)
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    results.into_iter().flatten().map(|r| r.bytes).collect()
}

/// What a function gives by definition.
pub fn meaning(function: &TensorFunction, arguments: &[TensorConstant]) -> Vec<Vec<u8>> {
    let results = evaluate(function, arguments.to_vec(), 1 << 28).expect("it has a meaning");
    results.into_iter().map(|c| c.bytes).collect()
}

/// What is printed of a function after a stage, or after the last.
pub fn stage(function: &TensorFunction, profile: ScheduleProfile, wanted: Option<&str>) -> String {
    let mut stage = String::new();
    let shown = &mut |name: &str, text: &dyn Fn() -> String| {
        if wanted.is_none_or(|wanted| name == wanted) {
            stage = text();
        }
    };
    compile(function.clone(), profile, &DispatchTuning::default(), shown)
        .expect("the function compiles");
    stage
}

/// The last stage of a function that is so many dispatches; its results are right.
pub fn dispatched(
    function: &TensorFunction,
    shapes: &[Vec<u64>],
    profile: ScheduleProfile,
    count: usize,
) -> String {
    let arguments = arguments(shapes);
    let stage = stage(function, profile, None);
    assert_eq!(stage.matches("dispatch @").count(), count, "{stage}");
    let found = run(function.clone(), profile, &arguments);
    assert!(
        found == meaning(function, &arguments),
        "other results:\n{stage}"
    );
    stage
}

/// The same of a function that is one dispatch.
pub fn only_dispatch(
    function: &TensorFunction,
    shapes: &[Vec<u64>],
    profile: ScheduleProfile,
) -> String {
    dispatched(function, shapes, profile, 1)
}

//! Parts that the tests of functions share: arguments, running them, and a product of matrices.

use spirula_program::{ProgramSession, ProgramValue as Data, ScalarLiteral, ScalarOp, ScalarType};
use spirula_runtime::{ComputeDevice, DeviceMachine, DeviceOptions};
use spirula_tensor::ir::{
    AxisKind, DenseTensorType, DimExtent, ScalarCombiner, StructuredOp, TensorConstant,
    TensorFunction, TensorReduction, TensorValue,
};
use spirula_tensor::passes::PASSES;
use spirula_tensor::schedule::{DispatchTuning, ScheduleProfile};
use spirula_tensor::{
    TensorBuilder, compile_function, evaluate_function, parse_function, print_function,
    write_function,
};

/// A device whose subgroups fold by shuffles. They have as many invocations as subgroups of the CPU device.
pub const SHUFFLING: ScheduleProfile = ScheduleProfile {
    subgroup: 8,
    ..ScheduleProfile::GPU
};

/// A parameter of a function.
pub fn parameter(b: &mut TensorBuilder, shape: &[u64]) -> TensorValue {
    b.add_parameter("x", DenseTensorType::new(ScalarType::I32, shape), false)
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
    let mut op = StructuredOp::with_parallel_axes(&[rows, columns]);
    let point = op.axis_indices();
    let at = op.add_axis(length, AxisKind::Reduction);
    let left = op.body.intern_element(x, ScalarType::I32, &[point[0], at]);
    let position = if is_turned {
        [point[1], at]
    } else {
        [at, point[1]]
    };
    let right = op.body.intern_element(y, ScalarType::I32, &position);
    let product = op.body.apply_op(ScalarOp::Mul, &[left, right]);
    let zero = op.body.intern_literal(ScalarLiteral::from_i32(0));
    let sum = op.add_reduction(TensorReduction {
        initial: vec![zero],
        values: vec![product],
        combiner: ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32),
    });
    op.add_yield(sum[0]);
    b.add_structured(op)[0]
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

/// Checks that the text of a function reads back, before the passes and after each.
pub fn assert_reads_back(function: &TensorFunction, profile: ScheduleProfile) {
    let mut function = function.clone();
    assert_text_reads_back(&function);
    for pass in PASSES {
        (pass.run)(&mut function, &profile);
        assert_text_reads_back(&function);
    }
}

fn assert_text_reads_back(function: &TensorFunction) {
    let whole = write_function(function);
    let read = parse_function(&whole).unwrap_or_else(|e| panic!("{e}\n{whole}"));
    assert_eq!(write_function(&read), whole);
    let shown = print_function(function);
    assert_eq!(print_function(&read), shown);
    if !shown.contains('…') {
        let read = parse_function(&shown).unwrap_or_else(|e| panic!("{e}\n{shown}"));
        assert_eq!(print_function(&read), shown);
    }
}

/// The results of a function on the CPU device.
pub fn run(
    function: TensorFunction,
    profile: ScheduleProfile,
    arguments: &[TensorConstant],
) -> Vec<Vec<u8>> {
    assert_reads_back(&function, profile);
    let text = print_function(&function);
    let program = compile_function(
        function,
        profile,
        &DispatchTuning::default(),
        &mut |_, _| {},
    )
    .expect("the function compiles");
    spirula_kernel::verify_program(&program).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let program = spirula_kernel::compile_program(&program).expect("the program compiles");
    let mut device =
        ComputeDevice::open("cpu", &DeviceOptions::default()).expect("the CPU is there");
    let machine = DeviceMachine::new(&mut device);
    let mut session = ProgramSession::new(&program, machine).expect("the program begins");
    let inputs: Vec<Data> = arguments
        .iter()
        .map(|argument| Data {
            element: ScalarType::I32,
            unsigned: false,
            shape: argument
                .ty
                .shape
                .iter()
                .filter_map(|d| d.as_static())
                .collect(),
            bytes: argument.bytes.clone(),
        })
        .collect();
    let results = session
        .call_entry("main", &inputs)
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    results.into_iter().flatten().map(|r| r.bytes).collect()
}

/// The results of a function by definition.
pub fn meaning(function: &TensorFunction, arguments: &[TensorConstant]) -> Vec<Vec<u8>> {
    let results =
        evaluate_function(function, arguments.to_vec(), 1 << 28).expect("it has a meaning");
    results.into_iter().map(|c| c.bytes).collect()
}

/// The text of a function after a stage, or after the last.
pub fn stage(function: &TensorFunction, profile: ScheduleProfile, wanted: Option<&str>) -> String {
    assert_reads_back(function, profile);
    let mut stage = String::new();
    let shown = &mut |name: &str, text: &dyn Fn() -> String| {
        if wanted.is_none_or(|wanted| name == wanted) {
            stage = text();
        }
    };
    compile_function(function.clone(), profile, &DispatchTuning::default(), shown)
        .expect("the function compiles");
    stage
}

/// The last stage of a function that becomes `count` dispatches. Its results are right.
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

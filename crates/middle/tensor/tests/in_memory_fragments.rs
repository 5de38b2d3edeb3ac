//! Products by large fragments on the CPU device: how they are scheduled, and that they are right.

use spirula_program::{ProgramSession, ProgramValue as Data, ScalarLiteral, ScalarOp, ScalarType};
use spirula_runtime::{ComputeDevice, DeviceMachine, DeviceOptions};
use spirula_tensor::ir::{
    AxisKind, DenseTensorType, DimExtent, ScalarCombiner, ScalarNode, StructuredOp, TensorConstant,
    TensorFunction, TensorReduction,
};
use spirula_tensor::schedule::{DispatchTuning, ScheduleProfile};
use spirula_tensor::{TensorBuilder, compile_function, evaluate_function};
use spirula_testing::SpirvValTool;

/// How the second factor lies in memory.
#[derive(Clone, Copy, PartialEq)]
enum SecondFactorLayout {
    Plain,
    Turned,
    /// Some columns of a wider tensor, from the third on.
    Part,
    /// The absolute values of another tensor: computed, not read.
    Computed,
}

/// Two products of matrices side by side, plus a row.
fn product(sizes: [u64; 3], second: SecondFactorLayout) -> TensorFunction {
    product_of(ScalarType::F32, sizes, second)
}

/// The same of numbers that are widened first where they are narrow.
fn product_of(
    element: ScalarType,
    [m, n, k]: [u64; 3],
    second: SecondFactorLayout,
) -> TensorFunction {
    let mut b = TensorBuilder::new("main");
    let shape = match second {
        SecondFactorLayout::Plain | SecondFactorLayout::Computed => [2, k, n],
        SecondFactorLayout::Turned => [2, n, k],
        SecondFactorLayout::Part => [2, k, n + 5],
    };
    let tensor = |shape: &[u64]| DenseTensorType::new(ScalarType::F32, shape);
    let factor = |shape: &[u64]| DenseTensorType::new(element, shape);
    let left = b.add_parameter("left", factor(&[2, m, k]), false);
    let right = b.add_parameter("right", factor(&shape), false);
    let row = b.add_parameter("row", tensor(&[n]), false);
    let mut op = StructuredOp::with_parallel_axes(&[2, m, n].map(DimExtent::Static));
    let point = op.axis_indices();
    let (batch, i, j) = (point[0], point[1], point[2]);
    let l = op.add_axis(DimExtent::Static(k), AxisKind::Reduction);
    let two = op.body.intern_i64(2);
    let position: [ScalarNode; 3] = match second {
        SecondFactorLayout::Plain | SecondFactorLayout::Computed => [batch, l, j],
        SecondFactorLayout::Turned => [batch, j, l],
        SecondFactorLayout::Part => [batch, l, op.body.apply_op(ScalarOp::Add, &[j, two])],
    };
    let mut left = op.body.intern_element(left, element, &[batch, i, l]);
    let mut right = op.body.intern_element(right, element, &position);
    if element != ScalarType::F32 {
        [left, right] = [left, right].map(|n| {
            op.body
                .apply_conversion(ScalarOp::FConv, ScalarType::F32, n)
        });
    }
    if second == SecondFactorLayout::Computed {
        right = op.body.apply_op(ScalarOp::FAbs, &[right]);
    }
    let value = op.body.apply_op(ScalarOp::FMul, &[left, right]);
    let zero = op
        .body
        .intern_literal(ScalarLiteral::new(ScalarType::F32, 0));
    let sum = op.add_reduction(TensorReduction {
        initial: vec![zero],
        values: vec![value],
        combiner: ScalarCombiner::from_op(ScalarOp::FAdd, ScalarType::F32),
    });
    let element = op.body.intern_element(row, ScalarType::F32, &[j]);
    let result = op.body.apply_op(ScalarOp::FAdd, &[sum[0], element]);
    op.add_yield(result);
    let result = b.add_structured(op)[0];
    b.add_result(result, false);
    b.finish_function()
}

fn profile() -> ScheduleProfile {
    ScheduleProfile {
        dense: Some(ScheduleProfile::DENSE),
        ..ScheduleProfile::CPU
    }
}

/// Small whole numbers, of which sums are exact.
fn constant(ty: &DenseTensorType, seed: u32) -> TensorConstant {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 24) as i32 % 5 - 2) as f32
    };
    let count = ty.element_count().unwrap_or(0);
    let bytes = match ty.element {
        ScalarType::F16 => {
            let mut half = || [0xc000_u16, 0xbc00, 0, 0x3c00, 0x4000][(next() + 2.0) as usize];
            (0..count).flat_map(|_| half().to_le_bytes()).collect()
        }
        _ => (0..count).flat_map(|_| next().to_le_bytes()).collect(),
    };
    TensorConstant {
        ty: ty.clone(),
        bytes,
    }
}

/// The last stage of a function, whose results on the CPU device are those of its meaning.
fn run(function: &TensorFunction, profile: ScheduleProfile) -> String {
    let mut stage = String::new();
    let mut shown = |_: &str, text: &dyn Fn() -> String| stage = text();
    let program = compile_function(
        function.clone(),
        profile,
        &DispatchTuning::default(),
        &mut shown,
    );
    let program = program.expect("the function compiles");
    spirula_kernel::verify_program(&program).expect("the program is well formed");
    let program = spirula_kernel::compile_program(&program).expect("the program compiles");
    if let Some(validator) = SpirvValTool::find_program() {
        for kernel in &program.kernels {
            let bytes = kernel.module.as_ref().expect("it compiled").to_bytes();
            let valid = validator.validate_module(&bytes, "vulkan1.3");
            valid.unwrap_or_else(|said| panic!("{said}\n{stage}"));
        }
    }
    let parameters = &function.block(function.body()).parameters;
    let arguments = parameters.iter().zip(1u32..);
    let arguments = arguments.map(|(value, seed)| constant(function.ty(*value), seed));
    let arguments: Vec<TensorConstant> = arguments.collect();
    let expected =
        evaluate_function(function, arguments.clone(), 1 << 30).expect("it has a meaning");
    let inputs = arguments.into_iter().map(|constant| Data {
        element: constant.ty.element,
        unsigned: false,
        shape: constant
            .ty
            .shape
            .iter()
            .filter_map(|d| d.as_static())
            .collect(),
        bytes: constant.bytes,
    });
    let inputs: Vec<Data> = inputs.collect();
    let mut device = ComputeDevice::open("cpu", &DeviceOptions::default()).expect("it opens");
    assert!(device.info().has_dense_matrices);
    let mut session =
        ProgramSession::new(&program, DeviceMachine::new(&mut device)).expect("it begins");
    let results = session.call_entry("main", &inputs);
    let results = results.unwrap_or_else(|e| panic!("{e}\n{stage}"));
    let found = &results[0].as_ref().expect("a result").bytes;
    let pairs = found.iter().zip(&expected[0].bytes);
    let different = pairs.enumerate().find(|(_, (a, b))| a != b);
    assert_eq!(different, None, "{stage}");
    stage
}

/// Tiles that fill the space, and such that have to begin earlier, along rows and columns; factors that lie
/// either way, or in part of a tensor.
#[test]
fn products_are_right() {
    for size in [[64, 64, 64], [128, 64, 256], [67, 83, 33], [8, 17, 130]] {
        for second in [
            SecondFactorLayout::Plain,
            SecondFactorLayout::Turned,
            SecondFactorLayout::Part,
        ] {
            let stage = run(&product(size, second), profile());
            assert!(stage.contains("schedule dense("), "{stage}");
            assert_eq!(stage.matches("dispatch").count(), 1, "{stage}");
        }
    }
}

/// Values computed of a factor are stored before where that is little beside the product; sizes that
/// are not worth it are tiled as ever.
#[test]
fn factors_are_made_matrices() {
    let stage = run(
        &product([64, 64, 64], SecondFactorLayout::Computed),
        profile(),
    );
    assert!(stage.contains("schedule dense("), "{stage}");
    assert_eq!(stage.matches("dispatch").count(), 2, "{stage}");
    for (size, profile) in [
        ([4, 64, 64], profile()),
        ([64, 64, 64], ScheduleProfile::CPU),
    ] {
        let stage = run(&product(size, SecondFactorLayout::Plain), profile);
        assert!(!stage.contains("schedule dense("), "{stage}");
    }
}

/// A convolution of 5 rows of 60 points with 8 numbers each by windows of 3 x 3 points; outside are zeros.
fn convolution(stride: i64) -> TensorFunction {
    let mut b = TensorBuilder::new("main");
    let tensor = |shape: &[u64]| DenseTensorType::new(ScalarType::F32, shape);
    let input = b.add_parameter("input", tensor(&[5, 60, 8]), false);
    let kernel = b.add_parameter("kernel", tensor(&[3, 3, 8, 24]), false);
    let width = 60 / stride as u64;
    let mut op = StructuredOp::with_parallel_axes(&[5, width, 24].map(DimExtent::Static));
    let point = op.axis_indices();
    let window = [3, 3, 8].map(|n| op.add_axis(DimExtent::Static(n), AxisKind::Reduction));
    let body = &mut op.body;
    let step = body.intern_i64(stride);
    let left = body.apply_op(ScalarOp::Mul, &[point[1], step]);
    let one = body.intern_i64(1);
    let mut position = Vec::new();
    let mut inside = body.intern_literal(ScalarLiteral::new(ScalarType::Bool, 1));
    for (first, along, size) in [(point[0], window[0], 5), (left, window[1], 60)] {
        let at = body.apply_op(ScalarOp::Add, &[first, along]);
        let at = body.apply_op(ScalarOp::Sub, &[at, one]);
        let (zero, size) = (body.intern_i64(0), body.intern_i64(size));
        for (a, b) in [(ScalarOp::SLe, [zero, at]), (ScalarOp::SLt, [at, size])] {
            let test = body.apply_op(a, &b);
            inside = body.apply_op(ScalarOp::LogAnd, &[inside, test]);
        }
        position.push(at);
    }
    position.push(window[2]);
    let zero = body.intern_literal(ScalarLiteral::new(ScalarType::F32, 0));
    let read = body.intern_element(input, ScalarType::F32, &position);
    let read = body.apply_op(ScalarOp::Cond, &[inside, read, zero]);
    let weight = [window[0], window[1], window[2], point[2]];
    let weight = body.intern_element(kernel, ScalarType::F32, &weight);
    let value = body.apply_op(ScalarOp::FMul, &[read, weight]);
    let sum = op.add_reduction(TensorReduction {
        initial: vec![zero],
        values: vec![value],
        combiner: ScalarCombiner::from_op(ScalarOp::FAdd, ScalarType::F32),
    });
    op.add_yield(sum[0]);
    let result = b.add_structured(op)[0];
    b.add_result(result, false);
    b.finish_function()
}

/// The input is stored once with zeros around it, however often it is read, and windows are read from there.
#[test]
fn convolutions_read_their_input_with_a_frame() {
    for (stride, framed) in [(1, "f32[7,62,8]"), (2, "f32[7,61,8]")] {
        let function = convolution(stride);
        let mut stages = String::new();
        let mut shown = |_: &str, text: &dyn Fn() -> String| stages += &text();
        let compiled = compile_function(
            function.clone(),
            profile(),
            &DispatchTuning::default(),
            &mut shown,
        );
        compiled.expect("the function compiles");
        assert!(stages.contains(&format!("{framed} = over")), "{stages}");
        let stage = run(&function, profile());
        assert!(stage.contains("schedule dense("), "{stage}");
        assert_eq!(stage.matches("dispatch").count(), 2, "{stage}");
    }
}

/// Numbers of 16 bits are widened when fragments are loaded where rows begin at multiples of vectors, else stored before.
#[test]
fn narrow_factors_are_widened_by_loads() {
    let sizes = [
        ([64, 64, 64], SecondFactorLayout::Plain, 1),
        ([72, 104, 80], SecondFactorLayout::Turned, 1),
        ([64, 64, 64], SecondFactorLayout::Part, 2),
    ];
    for (size, second, dispatches) in sizes {
        let stage = run(&product_of(ScalarType::F16, size, second), profile());
        assert!(stage.contains("schedule dense("), "{stage}");
        assert_eq!(stage.matches("dispatch").count(), dispatches, "{stage}");
    }
    // Rows at odd places that are not worth storing.
    run(
        &product_of(ScalarType::F16, [67, 83, 33], SecondFactorLayout::Plain),
        profile(),
    );
}

//! Products by fragments: how they are scheduled, and that what becomes of them is valid.

use spirula_kernel::ir::FragmentElement;
use spirula_program::{ProgramSession, ProgramValue as Data, ScalarLiteral, ScalarOp, ScalarType};
use spirula_runtime::{ComputeDevice, DeviceInfo, DeviceMachine, DeviceOptions, MatrixElement};
use spirula_tensor::ir::{
    AxisKind, DenseTensorType, DimExtent, NodeGraph, OpKind, ProductPrecision, ScalarCombiner,
    ScalarNode, StructuredOp, TensorConstant, TensorFunction, TensorReduction,
};
use spirula_tensor::schedule::{DispatchTuning, FragmentShape, MatrixProfile, ScheduleProfile};
use spirula_tensor::{TensorBuilder, compile_function, evaluate_function};
use spirula_testing::SpirvValTool;

/// Sizes as GPUs have them.
fn profile() -> ScheduleProfile {
    let shape = |size, a, sum| FragmentShape {
        size,
        factors: [a, a],
        sum,
    };
    let shapes = [
        shape([16, 16, 16], FragmentElement::F16, FragmentElement::F32),
        shape([16, 8, 16], FragmentElement::F16, FragmentElement::F32),
        shape([16, 16, 16], FragmentElement::Bf16, FragmentElement::F32),
        shape([16, 16, 32], FragmentElement::I8, FragmentElement::I32),
        shape([16, 16, 32], FragmentElement::U8, FragmentElement::I32),
    ];
    ScheduleProfile {
        matrices: MatrixProfile::new(32, 48 << 10, shapes),
        busy: 1,
        ..ScheduleProfile::GPU
    }
}

/// A type of factors, and how they are widened.
#[derive(Clone, Copy)]
struct NarrowFactorType {
    stored: ScalarType,
    sum: ScalarType,
    widen: fn(&mut NodeGraph, ScalarNode) -> ScalarNode,
}

const HALF: NarrowFactorType = NarrowFactorType {
    stored: ScalarType::F16,
    sum: ScalarType::F32,
    widen: |body, x| body.apply_conversion(ScalarOp::FConv, ScalarType::F32, x),
};

const BRAIN: NarrowFactorType = NarrowFactorType {
    stored: ScalarType::I16,
    sum: ScalarType::F32,
    widen: |body, x| {
        let wide = body.apply_conversion(ScalarOp::ZExt, ScalarType::I32, x);
        let by = body.intern_literal(ScalarLiteral::from_i32(16));
        let bits = body.apply_op(ScalarOp::Shl, &[wide, by]);
        body.apply_conversion(ScalarOp::Bits, ScalarType::F32, bits)
    },
};

/// Factors that products in reduced precision split.
const SINGLE: NarrowFactorType = NarrowFactorType {
    stored: ScalarType::F32,
    sum: ScalarType::F32,
    widen: |_, x| x,
};

const BYTE: NarrowFactorType = NarrowFactorType {
    stored: ScalarType::I8,
    sum: ScalarType::I32,
    widen: |body, x| body.apply_conversion(ScalarOp::SExt, ScalarType::I32, x),
};

/// A product of matrices of some sizes, the first, the second or neither turned, plus a row.
fn product([m, n, k]: [u64; 3], turned: [bool; 2], of: NarrowFactorType) -> TensorFunction {
    let mut b = TensorBuilder::new("main");
    let sizes = [[m, k], [k, n]];
    let [left, right] = [0, 1].map(|at| {
        let [rows, columns] = sizes[at];
        let shape = if turned[at] {
            [columns, rows]
        } else {
            [rows, columns]
        };
        b.add_parameter("x", DenseTensorType::new(of.stored, &shape), false)
    });
    let row = b.add_parameter("row", DenseTensorType::new(of.sum, &[n]), false);
    let mut op = StructuredOp::with_parallel_axes(&[DimExtent::Static(m), DimExtent::Static(n)]);
    let (i, j) = (op.axis_indices()[0], op.axis_indices()[1]);
    let l = op.add_axis(DimExtent::Static(k), AxisKind::Reduction);
    let mut factor = |value, mut at: [ScalarNode; 2], is_turned: bool| {
        if is_turned {
            at.reverse();
        }
        let element = op.body.intern_element(value, of.stored, &at);
        (of.widen)(&mut op.body, element)
    };
    let left = factor(left, [i, l], turned[0]);
    let right = factor(right, [l, j], turned[1]);
    let (multiply, add) = match of.sum {
        ScalarType::F32 => (ScalarOp::FMul, ScalarOp::FAdd),
        _ => (ScalarOp::Mul, ScalarOp::Add),
    };
    let value = op.body.apply_op(multiply, &[left, right]);
    let zero = op.body.intern_literal(ScalarLiteral::new(of.sum, 0));
    let sum = op.add_reduction(TensorReduction {
        initial: vec![zero],
        values: vec![value],
        combiner: ScalarCombiner::from_op(add, of.sum),
    });
    let element = op.body.intern_element(row, of.sum, &[j]);
    let result = op.body.apply_op(add, &[sum[0], element]);
    if of.stored == ScalarType::F32 {
        op.precision = ProductPrecision::Reduced;
    }
    op.add_yield(result);
    let result = b.add_structured(op)[0];
    b.add_result(result, false);
    b.finish_function()
}

/// The last stage of a function's only dispatch; its kernel is valid and survives the text form.
fn scheduled(function: TensorFunction, profile: ScheduleProfile) -> String {
    let mut stage = String::new();
    let program = compile_function(
        function,
        profile,
        &DispatchTuning::default(),
        &mut |_, text| stage = text(),
    );
    let program = program.expect("the function compiles");
    spirula_kernel::verify_program(&program).expect("the program is well formed");
    let text = spirula_kernel::print_program(&program);
    let again = spirula_kernel::parse_program(&text).expect("the text is read");
    assert_eq!(spirula_kernel::print_program(&again), text);
    let compiled = spirula_kernel::compile_program(&program).expect("the program compiles");
    if let Some(validator) = SpirvValTool::find_program() {
        for kernel in &compiled.kernels {
            let bytes = kernel.module.as_ref().expect("it compiled").to_bytes();
            let valid = validator.validate_module(&bytes, "vulkan1.3");
            valid.unwrap_or_else(|said| panic!("{said}\n{stage}"));
        }
    }
    stage
}

#[test]
fn narrow_products_are_multiplied_by_subgroups() {
    for of in [HALF, BRAIN, BYTE] {
        for size in [[256, 256, 256], [67, 83, 51], [64, 40, 72], [16, 16, 32]] {
            for turned in [[false, false], [true, false], [false, true]] {
                let stage = scheduled(product(size, turned, of), profile());
                assert!(stage.contains("multiply"), "{size:?}\n{stage}");
            }
        }
    }
}

/// Products of `f32` in reduced precision are products of parts, where tiles are large enough.
#[test]
fn reduced_products_are_multiplied_in_parts() {
    let mut doubled = profile();
    if let Some(matrices) = &mut doubled.matrices {
        matrices.buffers = 2;
    }
    for profile in [profile(), doubled] {
        for size in [[256, 256, 256], [131, 140, 51], [128, 130, 72]] {
            for turned in [[false, false], [true, false], [false, true]] {
                let stage = scheduled(product(size, turned, SINGLE), profile);
                assert!(stage.contains("bf16 by bf16 in 2 parts"), "{stage}");
            }
        }
        for size in [
            [32, 256, 256],
            [256, 16, 256],
            [64, 256, 256],
            [256, 83, 256],
        ] {
            let stage = scheduled(product(size, [false, false], SINGLE), profile);
            assert!(!stage.contains("parts"), "{stage}");
        }
    }
    let mut full = product([256, 256, 256], [false, false], SINGLE);
    for op in &mut full.block_mut(full.body()).ops {
        if let OpKind::Structured(structured) = &mut op.kind {
            structured.precision = ProductPrecision::Full;
        }
    }
    let stage = scheduled(full, profile());
    assert!(!stage.contains("parts"), "{stage}");
}

/// Tiles that are filled while others are used wait once a round, and what is read is 16 bytes at a
/// time.
#[test]
fn tiles_are_copied_ahead() {
    let function = product([256, 256, 256], [false, false], HALF);
    let mut profile = profile();
    let stage = scheduled(function.clone(), profile);
    assert!(!stage.contains("commit next"), "{stage}");
    if let Some(matrices) = &mut profile.matrices {
        matrices.buffers = 2;
    }
    let stage = scheduled(function.clone(), profile);
    assert!(stage.contains("fetch next"), "{stage}");
    assert!(stage.contains("commit next"), "{stage}");
    let program = compile_function(
        function,
        profile,
        &DispatchTuning::default(),
        &mut |_, _| {},
    )
    .expect("it compiles");
    let text = spirula_kernel::print_program(&program);
    assert!(text.contains("load vector i32"), "{text}");
    assert!(!text.contains("load f16"), "{text}");
    assert!(text.contains("store vector f32"), "{text}");
}

/// Sizes of tiles are a profile's, as far as the memory goes.
#[test]
fn tiles_can_be_set() {
    let function = product([1024, 1024, 1024], [false, false], HALF);
    let mut small = profile();
    assert!(small.set_setting("matrix-rows", 64) && small.set_setting("matrix-depth", 16));
    assert!(small.set_setting("matrix-fragment", 160_816));
    assert!(!small.set_setting("matrix-rows", 3) && !small.set_setting("rows of tiles", 64));
    let stage = scheduled(function.clone(), small);
    assert!(stage.contains("fragments 16x8x16"), "{stage}");
    let mut large = profile();
    assert!(large.set_setting("matrix-rows", 1024) && large.set_setting("matrix-columns", 1024));
    scheduled(function, large);
}

/// Products of what has no narrow form, or is too small, are computed otherwise.
#[test]
fn other_products_stay() {
    let tiny = scheduled(product([8, 64, 64], [false, false], HALF), profile());
    assert!(!tiny.contains("multiply"), "{tiny}");
    let mut without = profile();
    assert!(without.set_setting("matrices", 1));
    let stage = scheduled(product([64, 64, 64], [false, false], HALF), without);
    assert!(!stage.contains("multiply"), "{stage}");
}

/// The fragments that a device multiplies, as schedules have them.
fn of_device(info: &DeviceInfo) -> Option<ScheduleProfile> {
    let number = |element| match element {
        MatrixElement::F16 => Some(FragmentElement::F16),
        MatrixElement::Bf16 => Some(FragmentElement::Bf16),
        MatrixElement::F32 => Some(FragmentElement::F32),
        MatrixElement::I8 => Some(FragmentElement::I8),
        MatrixElement::I32 => Some(FragmentElement::I32),
        _ => None,
    };
    let shapes = info.matrices.iter().filter_map(|shape| {
        Some(FragmentShape {
            size: shape.size,
            factors: [number(shape.factors[0])?, number(shape.factors[1])?],
            sum: number(shape.sum)?,
        })
    });
    let memory = info.limits.workgroup_memory;
    let matrices = MatrixProfile::new(info.subgroup_size.into(), memory, shapes)?;
    Some(ScheduleProfile {
        matrices: Some(matrices),
        ..profile()
    })
}

/// Small whole numbers in a type, of which sums are exact.
fn constant(of: ScalarType, is_brain: bool, shape: &[u64], seed: u32) -> TensorConstant {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as i32 % 5 - 2
    };
    let bits = |value: i32| {
        let float = (value as f32).to_bits();
        match of {
            ScalarType::F32 => u64::from(float),
            ScalarType::I16 if is_brain => u64::from(float >> 16),
            ScalarType::F16 => [0xc000, 0xbc00, 0, 0x3c00, 0x4000][(value + 2) as usize],
            _ => value as u64,
        }
    };
    let count = shape.iter().product();
    let elements = (0..count).flat_map(|_| {
        let bytes = bits(next()).to_le_bytes();
        bytes[..of.size() as usize].to_vec()
    });
    TensorConstant {
        ty: DenseTensorType::new(of, shape),
        bytes: elements.collect(),
    }
}

/// On devices that have fragments, products are those of the function's meaning.
#[test]
fn products_are_right_where_there_are_fragments() {
    let devices = spirula_runtime::list_devices();
    let able = devices
        .iter()
        .filter_map(|info| Some((info, of_device(info)?)));
    let mut tried = 0;
    for (info, profile) in able {
        let mut device =
            ComputeDevice::open(&info.id, &DeviceOptions::default()).expect("it opens");
        tried += u32::from(splits_well(&mut device, profile));
        for of in [HALF, BRAIN, BYTE, SINGLE] {
            let cases = [
                ([64, 96, 80], [false, true]),
                ([67, 83, 51], [true, false]),
                ([32, 64, 96], [false, false]),
                ([35, 43, 51], [true, false]),
                ([40, 24, 72], [false, true]),
            ];
            for (size, turned) in cases {
                tried += u32::from(is_right(&mut device, profile, size, turned, of));
            }
        }
    }
    eprintln!("{tried} products by fragments");
}

/// Whether a product was computed by fragments; fails if it was and is wrong.
fn is_right(
    device: &mut ComputeDevice,
    profile: ScheduleProfile,
    size: [u64; 3],
    turned: [bool; 2],
    of: NarrowFactorType,
) -> bool {
    let function = product(size, turned, of);
    let parameters = &function.block(function.body()).parameters;
    let arguments = parameters.iter().zip(1u32..).map(|(value, seed)| {
        let ty = function.ty(*value);
        let shape: Vec<u64> = ty.shape.iter().filter_map(|d| d.as_static()).collect();
        constant(ty.element, of.stored == ScalarType::I16, &shape, seed)
    });
    let arguments: Vec<TensorConstant> = arguments.collect();
    let expected =
        evaluate_function(&function, arguments.clone(), 1 << 30).expect("it has a meaning");
    let Some((found, stage)) = multiply_on_device(device, profile, &function, arguments) else {
        return false;
    };
    let different = found
        .iter()
        .zip(&expected[0].bytes)
        .position(|(a, b)| a != b);
    if let Some(at) = different {
        let at = at / 4;
        let (row, column) = (at as u64 / size[1], at as u64 % size[1]);
        panic!("{size:?} {turned:?}: element {row}, {column}\n{stage}");
    }
    true
}

/// Numbers of all magnitudes, with infinities, NaN and the largest among them.
fn single_numbers(count: u64, seed: u32, special: &[f32]) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    let numbers = (0..count).map(|_| {
        let (fraction, exponent) = (next() as f32 / (1 << 23) as f32 - 1.0, next() % 8);
        fraction * (1 << exponent) as f32
    });
    let mut numbers: Vec<f32> = numbers.collect();
    for (number, value) in special.iter().enumerate() {
        let at = (number * 1009 + 67) % numbers.len();
        numbers[at] = *value;
    }
    numbers
}

/// Whether products in parts were computed. Fails if any is further from the exact sum than documented, or differs where the
/// exact sum is an infinity or NaN.
fn splits_well(device: &mut ComputeDevice, profile: ScheduleProfile) -> bool {
    let [m, n, k] = [128u64, 192, 96];
    let function = product([m, n, k], [false, false], SINGLE);
    let infinite = f32::INFINITY;
    let special = [
        infinite,
        -infinite,
        f32::NAN,
        f32::MAX,
        f32::MIN,
        0.0,
        -0.0,
        1e-30,
        1.5,
    ];
    let left = single_numbers(m * k, 1, &special);
    let right = single_numbers(
        k * n,
        2,
        &[infinite, f32::MAX, 0.0, 1e-30, f32::from_bits(0x7f80_0001)],
    );
    let row = vec![0.0; n as usize];
    let constant = |numbers: &[f32], shape: &[u64]| TensorConstant {
        ty: DenseTensorType::new(ScalarType::F32, shape),
        bytes: numbers.iter().flat_map(|n| n.to_le_bytes()).collect(),
    };
    let arguments = vec![
        constant(&left, &[m, k]),
        constant(&right, &[k, n]),
        constant(&row, &[n]),
    ];
    let Some((found, stage)) = multiply_on_device(device, profile, &function, arguments) else {
        return false;
    };
    assert!(stage.contains("in 2 parts"), "{stage}");
    let found = found.chunks_exact(4);
    let found = found.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let (mut special, mut large) = (0, 0);
    for (at, found) in (0u64..).zip(found) {
        let (i, j) = (at / n, at % n);
        let products = (0..k).map(|l| {
            let (a, b) = (left[(i * k + l) as usize], right[(l * n + j) as usize]);
            (f64::from(a) * f64::from(b), a * b)
        });
        let (mut exact, mut sizes, mut plain) = (0.0, 0.0, 0.0);
        for (product, rounded) in products {
            (exact, sizes, plain) = (exact + product, sizes + product.abs(), plain + rounded);
        }
        if !exact.is_finite() {
            special += 1;
            // Finite products may be infinite in `f32`.
            let expected = [exact as f32, plain];
            let is_alike = expected.contains(&found)
                || found.is_nan() && expected.iter().any(|value| value.is_nan());
            assert!(is_alike, "{i}, {j}: {found} for {exact} or {plain}");
        } else if sizes < f64::from(f32::MAX) {
            let error = (f64::from(found) - exact).abs();
            assert!(error <= sizes / 32768.0, "{i}, {j}: {found} for {exact}");
            large += u32::from(exact.abs() > 1e37);
        }
    }
    assert!(
        special > 100 && large > 10,
        "{special} special results, {large} large ones"
    );
    true
}

/// The result of a function on a device and its last stage; `None` where it has no product by fragments.
fn multiply_on_device(
    device: &mut ComputeDevice,
    profile: ScheduleProfile,
    function: &TensorFunction,
    arguments: Vec<TensorConstant>,
) -> Option<(Vec<u8>, String)> {
    let mut stage = String::new();
    let program = compile_function(
        function.clone(),
        profile,
        &DispatchTuning::default(),
        &mut |_, text| stage = text(),
    );
    let program = program.expect("the function compiles");
    if !stage.contains("multiply") {
        return None;
    }
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
    let program = spirula_kernel::compile_program(&program).expect("the program compiles");
    let mut session = ProgramSession::new(&program, DeviceMachine::new(device)).expect("it begins");
    let results = session
        .call_entry("main", &inputs)
        .unwrap_or_else(|e| panic!("{e}\n{stage}"));
    let found = results[0].as_ref().expect("a result").bytes.clone();
    Some((found, stage))
}

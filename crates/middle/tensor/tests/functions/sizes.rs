//! Sizes that are known only when a program runs: one program for all of them.

use crate::common::{product, stage};
use spirula_program::{
    CompiledProgram, ProgramError, ProgramSession, ProgramValue as Data, ScalarLiteral, ScalarOp,
    ScalarType,
};
use spirula_runtime::{ComputeDevice, DeviceError, DeviceMachine, DeviceOptions};
use spirula_tensor::ir::{
    DenseTensorType, DimExtent, ScalarCombiner, StructuredOp, StructuredYield, TensorConstant,
    TensorFunction, TensorReduction, TensorShape, TensorSort, TensorValue, YieldDestination,
};
use spirula_tensor::schedule::{DispatchTuning, ScheduleProfile};
use spirula_tensor::{TensorBuilder, compile_function, evaluate_function};

fn tensor(shape: &[u64], seed: u32) -> TensorConstant {
    let count = shape.iter().product::<u64>() as u32;
    let element = |at: u32| (at.wrapping_mul(2_654_435_761) ^ seed) >> 24;
    TensorConstant {
        ty: DenseTensorType::new(ScalarType::I32, shape),
        bytes: (0..count)
            .flat_map(|at| element(at).to_le_bytes())
            .collect(),
    }
}

fn compiled(function: &TensorFunction, profile: ScheduleProfile) -> CompiledProgram {
    let program = compile_function(
        function.clone(),
        profile,
        &DispatchTuning::default(),
        &mut |_, _| {},
    );
    let program = program.expect("the function compiles");
    spirula_kernel::verify_program(&program).expect("the program is well formed");
    spirula_kernel::compile_program(&program).expect("the program compiles")
}

fn call(
    program: &CompiledProgram,
    arguments: &[TensorConstant],
) -> Result<Vec<Data>, ProgramError<DeviceError>> {
    let mut device =
        ComputeDevice::open("cpu", &DeviceOptions::default()).expect("the CPU is there");
    let mut session = ProgramSession::new(program, DeviceMachine::new(&mut device))?;
    let inputs = arguments.iter().map(|constant| Data {
        element: constant.ty.element,
        unsigned: false,
        shape: constant
            .ty
            .shape
            .iter()
            .filter_map(|d| d.as_static())
            .collect(),
        bytes: constant.bytes.clone(),
    });
    let results = session.call_entry("main", &inputs.collect::<Vec<Data>>())?;
    Ok(results.into_iter().flatten().collect())
}

/// Runs one program on arguments of several shapes; results are those of evaluation by definition.
fn check(function: &TensorFunction, arguments: &[Vec<TensorConstant>]) {
    for profile in [ScheduleProfile::CPU, ScheduleProfile::GPU] {
        let program = compiled(function, profile);
        for arguments in arguments {
            let expected =
                evaluate_function(function, arguments.clone(), 1 << 24).expect("it has a meaning");
            let found = call(&program, arguments).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                let sizes: Vec<u64> = expected
                    .ty
                    .shape
                    .iter()
                    .filter_map(|d| d.as_static())
                    .collect();
                assert_eq!(found.shape, sizes);
                assert!(
                    found.bytes == expected.bytes,
                    "{}",
                    spirula_tensor::print_function(function)
                );
            }
        }
    }
}

/// A function of a tensor with rows of unknown number and length, and of a tensor like it.
fn with_rows(
    make: impl FnOnce(&mut TensorBuilder, [TensorValue; 2], [DimExtent; 2]),
) -> TensorFunction {
    let mut b = TensorBuilder::new("main");
    let sizes = [b.add_parameter_size(), b.add_parameter_size()].map(DimExtent::Value);
    let ty = DenseTensorType {
        element: ScalarType::I32,
        shape: TensorShape::from(sizes.to_vec()),
    };
    let [x, y] = ["x", "y"].map(|name| b.add_parameter(name, ty.clone(), false));
    make(&mut b, [x, y], sizes);
    b.finish_function()
}

const SHAPES: [[u64; 2]; 6] = [[3, 4], [1, 1], [300, 7], [2, 2000], [0, 5], [5, 0]];

fn pairs() -> Vec<Vec<TensorConstant>> {
    let pair = |shape: &[u64; 2]| vec![tensor(shape, 1), tensor(shape, 77)];
    SHAPES.iter().map(pair).collect()
}

#[test]
fn maps_and_transpositions() {
    let function = with_rows(|b, [x, y], [rows, columns]| {
        let sum = b.add_elementwise(&[x, y], |body, e| body.apply_op(ScalarOp::Add, e));
        let turned = b.add_gather(sum, &[columns, rows], |_, at| vec![at[1], at[0]]);
        let repeated = b.add_gather(turned, &[DimExtent::Static(3), columns, rows], |_, at| {
            at[1..].to_vec()
        });
        b.add_result(sum, false);
        b.add_result(repeated, false);
    });
    check(&function, &pairs());
}

#[test]
fn folds_and_what_follows() {
    let function = with_rows(|b, [x, y], [rows, columns]| {
        let seven = b.add_splat(ScalarLiteral::from_i32(7), &[]);
        let add = ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32);
        let sums = b.add_reduction(&[x], &[seven], &[1], add.clone())[0];
        let all = b.add_reduction(&[y], &[seven], &[0, 1], add)[0];
        let along = b.add_gather(sums, &[rows, columns], |_, at| vec![at[0]]);
        let result = b.add_elementwise(&[y, along], |body, e| body.apply_op(ScalarOp::Sub, e));
        b.add_result(all, false);
        b.add_result(result, false);
    });
    check(&function, &pairs());
}

#[test]
fn products_and_sorts() {
    let function = with_rows(|b, [x, y], _| {
        let product = product(b, x, y, true);
        let mut comparator = ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32);
        let [one, other] = [0, 1].map(|at| comparator.body.intern_argument(at, ScalarType::I32));
        comparator.results = vec![comparator.body.apply_op(ScalarOp::SLt, &[one, other])];
        let sorted = b.add_sort(TensorSort {
            operands: vec![x],
            dimension: 1,
            is_stable: true,
            comparator,
        })[0];
        b.add_result(product, false);
        b.add_result(sorted, false);
    });
    check(&function, &pairs());
}

/// The sums of elements along a dimension, from 7.
fn sums(b: &mut TensorBuilder, x: TensorValue, axis: usize, is_reverse: bool) -> TensorValue {
    let shape = b.ty(x).shape.clone();
    let mut op = StructuredOp::default();
    let mut position = op.reduced_position(&shape, &[axis]);
    if is_reverse {
        let size = op.body.intern_size(shape[axis]);
        let one = op.body.intern_i64(1);
        let last = op.body.apply_op(ScalarOp::Sub, &[size, one]);
        position[axis] = op.body.apply_op(ScalarOp::Sub, &[last, position[axis]]);
    }
    let value = op.body.intern_element(x, ScalarType::I32, &position);
    let seven = op.body.intern_literal(ScalarLiteral::from_i32(7));
    let folded = op.add_reduction(TensorReduction {
        initial: vec![seven],
        values: vec![value],
        combiner: ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32),
    });
    op.yields.push(StructuredYield {
        value: folded[0],
        destination: YieldDestination::Prefix {
            indices: position,
            shape,
        },
    });
    b.add_structured(op)[0]
}

#[test]
fn scans_of_rows_and_columns() {
    let function = with_rows(|b, [x, y], _| {
        for axis in [0, 1] {
            let forwards = sums(b, x, axis, false);
            let backwards = sums(b, y, axis, true);
            b.add_result(forwards, false);
            b.add_result(backwards, false);
        }
    });
    let mut arguments = pairs();
    arguments.push(vec![tensor(&[2, 70_001], 1), tensor(&[2, 70_001], 5)]);
    check(&function, &arguments);
}

/// The beginning of a function of a row whose length is known only when run.
fn of_a_row() -> (TensorBuilder, TensorValue) {
    let mut b = TensorBuilder::new("main");
    let size = b.add_parameter_size();
    let ty = DenseTensorType {
        element: ScalarType::I32,
        shape: TensorShape::from(vec![DimExtent::Value(size)]),
    };
    let x = b.add_parameter("x", ty, false);
    (b, x)
}

/// Scans are split into chunks as long as the run asks for, those of the chunks again where there may
/// be many; time is linear in the length, or this would not end.
#[test]
fn long_scans_are_split() {
    let (mut b, x) = of_a_row();
    let result = sums(&mut b, x, 0, false);
    b.add_result(result, false);
    let function = b.finish_function();
    for (profile, count) in [(ScheduleProfile::CPU, 3), (ScheduleProfile::GPU, 7)] {
        let stage = stage(&function, profile, Some("scan"));
        assert_eq!(stage.matches("fold d").count(), count, "{stage}");
        let program = compiled(&function, profile);
        for length in [1 << 22, 100_003, 65, 64, 1, 0] {
            let ones = TensorConstant {
                ty: DenseTensorType::new(ScalarType::I32, &[length]),
                bytes: 1i32.to_le_bytes().repeat(length as usize),
            };
            let found = call(&program, &[ones]).unwrap_or_else(|e| panic!("{e}"));
            let expected = (0..length as u32).flat_map(|at| (at + 8).to_le_bytes());
            assert!(found[0].bytes.iter().copied().eq(expected), "{length}");
        }
    }
}

/// A size that is computed of elements comes from the device before what it is the size of.
#[test]
fn sizes_that_elements_say() {
    let (mut b, x) = of_a_row();
    let zero = b.add_splat(ScalarLiteral::from_i32(0), &[]);
    let most = b.add_reduction(
        &[x],
        &[zero],
        &[0],
        ScalarCombiner::from_op(ScalarOp::SMax, ScalarType::I32),
    )[0];
    let count = b.add_elementwise(&[most], |body, e| {
        body.apply_conversion(ScalarOp::SExt, ScalarType::I64, e[0])
    });
    let mut op = StructuredOp::with_parallel_axes(&[DimExtent::Value(count)]);
    let index = op.axis_indices()[0];
    let index = op
        .body
        .apply_conversion(ScalarOp::SExt, ScalarType::I32, index);
    op.add_yield(index);
    let counted = b.add_structured(op)[0];
    b.add_result(counted, false);
    let arguments = [5, 0, 700].map(|n| vec![tensor(&[n], 3)]);
    check(&b.finish_function(), &arguments);
}

/// Tensors of different shapes are refused where one shape is needed.
#[test]
fn shapes_that_do_not_fit() {
    let function = with_rows(|b, [x, _], _| {
        let shape = TensorShape::from(vec![DimExtent::Static(12)]);
        let flat = b.add_reshape(x, shape);
        b.add_result(flat, false);
    });
    let program = compiled(&function, ScheduleProfile::CPU);
    let pair = |shape: &[u64]| vec![tensor(shape, 1), tensor(shape, 2)];
    assert!(call(&program, &pair(&[3, 4])).is_ok());
    let told = call(&program, &pair(&[3, 5])).expect_err("15 elements are not 12");
    let text = "a tensor cannot have a shape of as many elements as 12, but of 15";
    assert!(told.to_string().contains(text), "{told}");
    let function = with_rows(|b, [x, y], [rows, columns]| {
        b.demand_equal(rows, columns);
        let sum = b.add_elementwise(&[x, y], |body, e| body.apply_op(ScalarOp::Add, e));
        b.add_result(sum, false);
    });
    let square = compiled(&function, ScheduleProfile::CPU);
    assert!(call(&square, &pair(&[4, 4])).is_ok());
    let told = call(&square, &pair(&[4, 5])).expect_err("4 is not 5");
    let text = "dimensions have to be equal, not 4 and 5";
    assert!(told.to_string().contains(text), "{told}");
    let function = with_rows(|b, [x, y], [rows, columns]| {
        b.demand_repeated(rows, columns);
        let sum = b.add_elementwise(&[x, y], |body, e| body.apply_op(ScalarOp::Add, e));
        b.add_result(sum, false);
    });
    let repeated = compiled(&function, ScheduleProfile::CPU);
    for shape in [[1, 4], [4, 4]] {
        assert!(call(&repeated, &pair(&shape)).is_ok());
    }
    let told = call(&repeated, &pair(&[3, 4])).expect_err("3 is neither 1 nor 4");
    let text = "a dimension of 3 elements cannot be repeated to 4";
    assert!(told.to_string().contains(text), "{told}");
    let mut parted = pair(&[3, 4]);
    parted[1] = tensor(&[4, 4], 2);
    let told = call(&program, &parted).expect_err("sizes differ");
    assert!(told.to_string().contains("expected 3"), "{told}");
}

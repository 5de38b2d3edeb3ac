//! Loops: in one kernel where their operations are small, and with updates in place.

use crate::common::{arguments, meaning, product, run, stage};
use spirula_kernel::print_program;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};
use spirula_tensor::ir::{
    DenseTensorType, DimExtent, ScalarCombiner, StructuredOp, StructuredYield, TensorFunction,
    TensorValue, YieldDestination,
};
use spirula_tensor::schedule::{DispatchTuning, ScheduleProfile};
use spirula_tensor::{TensorBuilder, compile_function};

/// A profile without loops in kernels.
const LAUNCHING: ScheduleProfile = ScheduleProfile {
    sequential: 0,
    ..ScheduleProfile::CPU
};

/// A profile with larger loops in kernels.
const PATIENT: ScheduleProfile = ScheduleProfile {
    sequential: 1 << 16,
    ..ScheduleProfile::CPU
};

/// A loop of `count` iterations over a counter and a matrix.
fn repeat(
    size: u64,
    count: i32,
    step: impl FnOnce(&mut TensorBuilder, TensorValue, TensorValue) -> TensorValue,
) -> TensorFunction {
    repeat_in(TensorBuilder::new("main"), size, count, step)
}

/// The same in a function that has other parameters.
fn repeat_in(
    mut b: TensorBuilder,
    size: u64,
    count: i32,
    step: impl FnOnce(&mut TensorBuilder, TensorValue, TensorValue) -> TensorValue,
) -> TensorFunction {
    let matrix = DenseTensorType::new(ScalarType::I32, &[size, size]);
    let x = b.add_parameter("x", matrix.clone(), false);
    let zero = b.add_splat(ScalarLiteral::from_i32(0), &[]);
    let types = [b.ty(zero).clone(), matrix];
    let state = b.begin_block(&types);
    let goes_on = b.add_elementwise(&state[..1], |body, v| {
        let limit = body.intern_literal(ScalarLiteral::from_i32(count));
        body.apply_op(ScalarOp::SLt, &[v[0], limit])
    });
    let condition = b.end_block(&[goes_on]);
    let state = b.begin_block(&types);
    let changed = step(&mut b, state[0], state[1]);
    let next = b.add_elementwise(&state[..1], |body, v| {
        let one = body.intern_literal(ScalarLiteral::from_i32(1));
        body.apply_op(ScalarOp::Add, &[v[0], one])
    });
    let body = b.end_block(&[next, changed]);
    let results = b.add_while(&[zero, x], condition, body);
    b.add_result(results[1], false);
    b.finish_function()
}

/// The row of a counter replaced by sums of elements of two rows: its own, and the one `distance` before it.
fn replace_row(
    b: &mut TensorBuilder,
    at: TensorValue,
    x: TensorValue,
    distance: i64,
) -> TensorValue {
    let columns = b.ty(x).shape[1];
    let mut op = StructuredOp::with_parallel_axes(&[DimExtent::Static(1), columns]);
    let point = op.axis_indices();
    let body = &mut op.body;
    let row = body.intern_element(at, ScalarType::I32, &[]);
    let row = body.apply_conversion(ScalarOp::SExt, ScalarType::I64, row);
    let (distance, zero) = (body.intern_i64(distance), body.intern_i64(0));
    let before = body.apply_op(ScalarOp::Sub, &[row, distance]);
    let before = body.apply_op(ScalarOp::SMax, &[before, zero]);
    let elements =
        [row, before].map(|row| body.intern_element(x, ScalarType::I32, &[row, point[1]]));
    let sum = body.apply_op(ScalarOp::Add, &elements);
    op.yields.push(StructuredYield {
        value: sum,
        destination: YieldDestination::Scatter {
            base: x,
            indices: vec![row, point[1]],
            combiner: None,
            distinct: true,
        },
    });
    b.add_structured(op)[0]
}

/// The text of the program of a function whose results are right.
fn program_text(function: &TensorFunction, size: u64, profile: ScheduleProfile) -> String {
    let arguments = arguments(&[vec![size, size]]);
    let found = run(function.clone(), profile, &arguments);
    assert!(found == meaning(function, &arguments), "other results");
    let tuning = DispatchTuning::default();
    let program = compile_function(function.clone(), profile, &tuning, &mut |_, _| {});
    print_program(&program.expect("the function compiles"))
}

#[test]
fn a_small_loop_is_one_kernel() {
    let function = repeat(8, 8, |b, at, x| replace_row(b, at, x, 1));
    let text = program_text(&function, 8, ScheduleProfile::CPU);
    assert_eq!(text.matches("launch").count(), 1, "{text}");
    // The rows change in the memory of the result. Before the loop, others may refer to the argument.
    assert_eq!(text.matches("copy").count(), 1, "{text}");
    assert_eq!(text.matches("alloc").count(), 2, "{text}");
}

#[test]
fn a_large_loop_launches_kernels() {
    let function = repeat(200, 5, |b, at, x| {
        let sums = b.add_elementwise(&[x, x], |body, v| body.apply_op(ScalarOp::Add, v));
        replace_row(b, at, sums, 1)
    });
    let text = program_text(&function, 200, ScheduleProfile::CPU);
    assert!(text.contains("while"), "{text}");
    let launch = text.find("launch").expect("a launch");
    assert!(text.find("while").is_some_and(|at| at < launch), "{text}");
}

#[test]
fn a_carried_tensor_is_updated_in_place() {
    let function = repeat(60, 60, |b, at, x| replace_row(b, at, x, 1));
    let text = program_text(&function, 60, LAUNCHING);
    assert_eq!(text.matches("= unique").count(), 1, "{text}");
}

/// A tensor that is read after the update, or at places that other points write, is copied.
#[test]
fn a_tensor_that_is_needed_is_copied() {
    let used_later = repeat(30, 30, |b, at, x| {
        let changed = replace_row(b, at, x, 1);
        b.add_elementwise(&[changed, x], |body, v| {
            let one = body.intern_literal(ScalarLiteral::from_i32(1));
            let half = body.apply_op(ScalarOp::AShr, &[v[1], one]);
            body.apply_op(ScalarOp::Sub, &[v[0], half])
        })
    });
    let turned = repeat(30, 30, |b, at, x| {
        let changed = replace_row(b, at, x, 1);
        let shape = b.ty(changed).shape.clone();
        b.add_gather(changed, &shape, |_, point| vec![point[1], point[0]])
    });
    for function in [used_later, turned] {
        for profile in [ScheduleProfile::CPU, LAUNCHING, ScheduleProfile::GPU] {
            program_text(&function, 30, profile);
        }
    }
}

/// Rows less their sums: a reduction and a map over the same rows become one operation.
#[test]
fn rows_are_reduced_and_used_in_a_kernel() {
    let function = repeat(12, 4, |b, _, x| {
        let zero = b.add_splat(ScalarLiteral::from_i32(0), &[]);
        let sum = ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32);
        let sums = b.add_reduction(&[x], &[zero], &[1], sum)[0];
        let shape = b.ty(x).shape.clone();
        let wide = b.add_gather(sums, &shape, |_, point| vec![point[0]]);
        b.add_elementwise(&[x, wide], |body, v| body.apply_op(ScalarOp::Sub, v))
    });
    let text = program_text(&function, 12, ScheduleProfile::CPU);
    assert_eq!(text.matches("launch").count(), 1, "{text}");
    let stage = stage(&function, ScheduleProfile::CPU, Some("rows"));
    assert!(stage.contains("at each"), "{stage}");
}

/// A step that multiplies two matrices, and adds the element at the other side of the diagonal and a product of rows.
fn multiply_and_turn(b: &mut TensorBuilder, at: TensorValue, x: TensorValue) -> TensorValue {
    let product = product(b, x, x, true);
    let shape = b.ty(x).shape.clone();
    let turned = b.add_gather(x, &shape, |_, point| vec![point[1], point[0]]);
    let sum = b.add_elementwise(&[product, turned], |body, v| {
        let low = body.intern_literal(ScalarLiteral::from_i32(0xFFF));
        let sum = body.apply_op(ScalarOp::Add, v);
        body.apply_op(ScalarOp::And, &[sum, low])
    });
    replace_row(b, at, sum, 1)
}

/// Sizes with and without a rest, and one that is too small for a team.
#[test]
fn a_team_shares_the_points_of_a_loop() {
    let alone = ScheduleProfile {
        team: 1,
        ..ScheduleProfile::CPU
    };
    for (size, is_shared) in [(8, true), (12, true), (5, false)] {
        let function = repeat(size, 5, multiply_and_turn);
        let text = program_text(&function, size, ScheduleProfile::CPU);
        assert_eq!(text.contains("barrier device"), is_shared, "{text}");
        let text = program_text(&function, size, alone);
        assert!(!text.contains("barrier device"), "{text}");
    }
}

/// The invocations of a graphics card's team have points of all axes: fewer than one each, one each, and several with a
/// rest. A carried matrix that is copied has as many elements.
#[test]
fn a_team_of_a_graphics_card_shares_all_points() {
    let alone = ScheduleProfile {
        team: 1,
        ..ScheduleProfile::GPU
    };
    for size in [3, 7, 16, 20] {
        let function = repeat(size, 5, |b, at, x| {
            let sum = multiply_and_turn(b, at, x);
            let shape = b.ty(x).shape.clone();
            let turned = b.add_gather(sum, &shape, |_, point| vec![point[1], point[0]]);
            b.add_elementwise(&[turned, x], |body, v| body.apply_op(ScalarOp::Xor, v))
        });
        let text = program_text(&function, size, ScheduleProfile::GPU);
        assert!(text.contains("barrier device"), "{text}");
        let text = program_text(&function, size, alone);
        assert!(!text.contains("barrier device"), "{text}");
    }
}

/// A sum over all points, which the next iteration needs, is computed by the first invocation of a team.
#[test]
fn a_team_waits_for_what_one_invocation_computes() {
    let function = repeat(16, 6, |b, at, x| {
        let zero = b.add_splat(ScalarLiteral::from_i32(0), &[]);
        let sum = ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32);
        let total = b.add_reduction(&[x], &[zero], &[0, 1], sum)[0];
        let next = multiply_and_turn(b, at, x);
        let shape = b.ty(x).shape.clone();
        let total = b.add_gather(total, &shape, |_, _| Vec::new());
        b.add_elementwise(&[next, total], |body, v| body.apply_op(ScalarOp::Xor, v))
    });
    for profile in [PATIENT, ScheduleProfile::GPU, LAUNCHING] {
        let text = program_text(&function, 16, profile);
        let is_shared = text.contains("barrier device");
        assert_eq!(is_shared, profile == PATIENT, "{text}");
    }
}

/// A matrix that no iteration changes is transposed before the loop, where rows are read by one invocation each.
#[test]
fn a_factor_that_stays_is_transposed_before_the_loop() {
    let mut b = TensorBuilder::new("main");
    let matrix = DenseTensorType::new(ScalarType::I32, &[16, 16]);
    let weights = b.add_parameter("w", matrix.clone(), false);
    let function = repeat_in(b, 16, 5, |b, at, x| {
        let next = product(b, weights, x, false);
        let low = b.add_elementwise(&[next], |body, v| {
            let low = body.intern_literal(ScalarLiteral::from_i32(0xFFF));
            body.apply_op(ScalarOp::And, &[v[0], low])
        });
        let turned = product(b, x, weights, true);
        let both = b.add_elementwise(&[low, turned], |body, v| body.apply_op(ScalarOp::Xor, v));
        replace_row(b, at, both, 1)
    });
    let arguments = arguments(&[vec![16, 16], vec![16, 16]]);
    let found = run(function.clone(), PATIENT, &arguments);
    assert!(found == meaning(&function, &arguments), "other results");
    let text = stage(&function, PATIENT, Some("transpose"));
    let place = text.find("while").expect("a loop");
    assert!(text[..place].contains("over d0 < 16, d1 < 16 {"), "{text}");
}

/// The same where the loop carries the matrix, as JAX writes it.
#[test]
fn a_carried_factor_that_stays_is_transposed_before_the_loop() {
    let mut b = TensorBuilder::new("main");
    let matrix = DenseTensorType::new(ScalarType::I32, &[16, 16]);
    let weights = b.add_parameter("w", matrix.clone(), false);
    let x = b.add_parameter("x", matrix.clone(), false);
    let zero = b.add_splat(ScalarLiteral::from_i32(0), &[]);
    let types = [b.ty(zero).clone(), matrix.clone(), matrix];
    let state = b.begin_block(&types);
    let goes_on = b.add_elementwise(&state[..1], |body, v| {
        let limit = body.intern_literal(ScalarLiteral::from_i32(4));
        body.apply_op(ScalarOp::SLt, &[v[0], limit])
    });
    let condition = b.end_block(&[goes_on]);
    let state = b.begin_block(&types);
    let changed = product(&mut b, state[2], state[1], true);
    let next = b.add_elementwise(&state[..1], |body, v| {
        let one = body.intern_literal(ScalarLiteral::from_i32(1));
        body.apply_op(ScalarOp::Add, &[v[0], one])
    });
    let body = b.end_block(&[next, state[1], changed]);
    let results = b.add_while(&[zero, weights, x], condition, body);
    b.add_result(results[2], false);
    let function = b.finish_function();
    let arguments = arguments(&[vec![16, 16], vec![16, 16]]);
    let found = run(function.clone(), PATIENT, &arguments);
    assert!(found == meaning(&function, &arguments), "other results");
    let text = stage(&function, PATIENT, Some("transpose"));
    let place = text.find("while").expect("a loop");
    assert!(text[..place].contains("over d0 < 16, d1 < 16 {"), "{text}");
}

/// An update of a tensor that no loop carries is a map, which fuses with what is before and after it.
#[test]
fn an_update_of_an_argument_is_a_map() {
    let mut b = TensorBuilder::new("main");
    let matrix = DenseTensorType::new(ScalarType::I32, &[40, 40]);
    let x = b.add_parameter("x", matrix, false);
    let row = b.add_splat(ScalarLiteral::from_i32(3), &[]);
    let changed = replace_row(&mut b, row, x, 2);
    let doubled = b.add_elementwise(&[changed, changed], |body, v| {
        body.apply_op(ScalarOp::Add, v)
    });
    b.add_result(doubled, false);
    let function = b.finish_function();
    program_text(&function, 40, ScheduleProfile::CPU);
    let text = stage(&function, ScheduleProfile::CPU, None);
    assert_eq!(text.matches("dispatch @").count(), 1, "{text}");
}

/// A choice of indices, one of which depends on memory, is an operand of arithmetic with 32 bits.
#[test]
fn chosen_indices_have_the_width_of_their_use() {
    let mut b = TensorBuilder::new("main");
    let x = b.add_parameter("x", DenseTensorType::new(ScalarType::I32, &[9]), false);
    let mut op = StructuredOp::with_parallel_axes(&[DimExtent::Static(8)]);
    let at = op.axis_indices()[0];
    let body = &mut op.body;
    let [one, two] = [1, 2].map(|number| body.intern_i64(number));
    let next = body.apply_op(ScalarOp::Add, &[at, one]);
    let later = body.apply_op(ScalarOp::Add, &[at, two]);
    let limit = body.intern_literal(ScalarLiteral::from_i32(2048));
    let [own, other] = [at, next].map(|index| {
        let element = body.intern_element(x, ScalarType::I32, &[index]);
        body.apply_op(ScalarOp::SLt, &[element, limit])
    });
    let inner = body.apply_op(ScalarOp::Cond, &[other, later, at]);
    let chosen = body.apply_op(ScalarOp::Cond, &[own, next, inner]);
    let largest = body.apply_op(ScalarOp::SMax, &[at, chosen]);
    let result = body.apply_conversion(ScalarOp::SExt, ScalarType::I32, largest);
    op.add_yield(result);
    let result = b.add_structured(op)[0];
    b.add_result(result, false);
    let function = b.finish_function();
    let arguments = arguments(&[vec![9]]);
    let found = run(function.clone(), ScheduleProfile::CPU, &arguments);
    assert_eq!(found, meaning(&function, &arguments));
}

//! Axes whose points choose between results that are computed from the same elements.

use crate::common::{SHUFFLING, arguments, meaning, parameter, run, stage};
use spirula_program::{ScalarOp, ScalarType};
use spirula_tensor::ir::{DimExtent, ScalarNode, StructuredOp, TensorShape, TensorValue};
use spirula_tensor::schedule::{DispatchTuning, ScheduleProfile};
use spirula_tensor::{TensorBuilder, compile_function};

const PROFILES: [ScheduleProfile; 3] = [ScheduleProfile::CPU, ScheduleProfile::GPU, SHUFFLING];

/// The node with the number that `index` has.
fn choose(s: &mut StructuredOp, index: ScalarNode, values: &[ScalarNode]) -> ScalarNode {
    let mut chosen = values[values.len() - 1];
    for (number, value) in values.iter().enumerate().rev().skip(1) {
        let number = s.body.intern_i64(number as i64);
        let is_here = s.body.apply_op(ScalarOp::Eq, &[index, number]);
        chosen = s.body.apply_op(ScalarOp::Cond, &[is_here, *value, chosen]);
    }
    chosen
}

/// A step over the middle one of three dimensions, of length `count` times `rest`: sums of its elements with alternating
/// signs, in the order rest, count. The result has four dimensions.
fn add_step(
    b: &mut TensorBuilder,
    x: TensorValue,
    [outer, count, rest, inner]: [u64; 4],
) -> TensorValue {
    let sizes = [outer, rest, count, inner].map(DimExtent::Static);
    let mut s = StructuredOp::with_parallel_axes(&sizes);
    let point = s.axis_indices();
    let elements: Vec<ScalarNode> = (0..count)
        .map(|n| {
            let first = s.body.intern_i64((n * rest) as i64);
            let at = s.body.apply_op(ScalarOp::Add, &[first, point[1]]);
            s.body
                .intern_element(x, ScalarType::I32, &[point[0], at, point[3]])
        })
        .collect();
    let results: Vec<ScalarNode> = (0..elements.len())
        .map(|number| {
            let mut sum = elements[0];
            for (n, element) in elements.iter().enumerate().skip(1) {
                let op = if (n * number) % 3 == 1 {
                    ScalarOp::Sub
                } else {
                    ScalarOp::Add
                };
                sum = s.body.apply_op(op, &[sum, *element]);
            }
            s.body.apply_op(ScalarOp::Mul, &[sum, sum])
        })
        .collect();
    let value = choose(&mut s, point[2], &results);
    s.add_yield(value);
    b.add_structured(s)[0]
}

fn reshape(b: &mut TensorBuilder, x: TensorValue, sizes: &[u64]) -> TensorValue {
    b.add_reshape(x, static_shape(sizes))
}

fn static_shape(sizes: &[u64]) -> TensorShape {
    sizes.iter().map(|n| DimExtent::Static(*n)).collect()
}

/// Two steps, and a map that has two numbers for each element of their results, which it reads through a reshape.
#[test]
fn steps_share_their_elements() {
    for [outer, first, second, inner] in [[3, 4, 5, 1], [2, 8, 4, 1], [70, 5, 3, 1]] {
        let length = first * second;
        let mut b = TensorBuilder::new("main");
        let x = parameter(&mut b, &[outer, length, inner]);
        let step = add_step(&mut b, x, [outer, first, second, inner]);
        let step = reshape(&mut b, step, &[outer, second, first * inner]);
        let step = add_step(&mut b, step, [outer, second, 1, first * inner]);
        let step = reshape(&mut b, step, &[outer, length, inner]);
        let mut s =
            StructuredOp::with_parallel_axes(&[outer, length, inner, 2].map(DimExtent::Static));
        let point = s.axis_indices();
        let element = s.body.intern_element(step, ScalarType::I32, &point[..3]);
        let negative = s.body.apply_op(ScalarOp::Neg, &[element]);
        let value = choose(&mut s, point[3], &[element, negative]);
        s.add_yield(value);
        let pairs = b.add_structured(s)[0];
        b.add_result(pairs, false);
        let function = b.finish_function();
        let arguments = arguments(&[vec![outer, length, inner]]);
        let expected = meaning(&function, &arguments);
        for profile in PROFILES {
            let stages = stage(&function, profile, Some("distribute"));
            let count = stages.matches("schedule alternatives").count();
            let dispatches = stages.matches("dispatch ").count();
            assert_eq!((count, dispatches), (2, 2), "{stages}");
            assert_eq!(run(function.clone(), profile, &arguments), expected);
        }
    }
}

/// A choice whose ways read different elements is not unrolled.
#[test]
fn choices_of_other_elements_stay_points() {
    let shape = [50, 40];
    let mut b = TensorBuilder::new("main");
    let [x, y] = [(); 2].map(|()| parameter(&mut b, &shape));
    let mut s = StructuredOp::with_parallel_axes(&[50, 40, 2].map(DimExtent::Static));
    let point = s.axis_indices();
    let [own, other] =
        [x, y].map(|value| s.body.intern_element(value, ScalarType::I32, &point[..2]));
    let value = choose(&mut s, point[2], &[own, other]);
    s.add_yield(value);
    let pairs = b.add_structured(s)[0];
    b.add_result(pairs, false);
    let function = b.finish_function();
    let arguments = arguments(&[shape.to_vec(), shape.to_vec()]);
    let expected = meaning(&function, &arguments);
    for profile in PROFILES {
        let stages = stage(&function, profile, Some("distribute"));
        assert!(!stages.contains("schedule alternatives"), "{stages}");
        assert_eq!(run(function.clone(), profile, &arguments), expected);
    }
}

/// A reader through a reshape that takes an axis of alternatives apart has them stored.
#[test]
fn alternatives_that_are_taken_apart_are_stored() {
    for sizes in [
        vec![9, 2, 3, 5],
        vec![9, 2, 15],
        vec![54, 5],
        vec![9, 3, 10],
        vec![270],
    ] {
        let mut b = TensorBuilder::new("main");
        let x = parameter(&mut b, &[9, 6, 5]);
        let step = add_step(&mut b, x, [9, 6, 1, 5]);
        let step = reshape(&mut b, step, &sizes);
        let twice = b.add_elementwise(&[step], |body, e| {
            body.apply_op(ScalarOp::Add, &[e[0], e[0]])
        });
        b.add_result(twice, false);
        let function = b.finish_function();
        let arguments = arguments(&[vec![9, 6, 5]]);
        let expected = meaning(&function, &arguments);
        for profile in PROFILES {
            assert_eq!(run(function.clone(), profile, &arguments), expected);
        }
    }
}

/// A reader that needs the results in another order has them stored.
#[test]
fn reversed_readers_store_alternatives() {
    let mut b = TensorBuilder::new("main");
    let x = parameter(&mut b, &[9, 6, 5]);
    let step = add_step(&mut b, x, [9, 6, 1, 5]);
    let step = reshape(&mut b, step, &[9, 6, 5]);
    let mut s = StructuredOp::with_parallel_axes(&[9, 6, 5].map(DimExtent::Static));
    let point = s.axis_indices();
    let last = s.body.intern_i64(5);
    let turned = s.body.apply_op(ScalarOp::Sub, &[last, point[1]]);
    let position = [point[0], turned, point[2]];
    let element = s.body.intern_element(step, ScalarType::I32, &position);
    let twice = s.body.apply_op(ScalarOp::Add, &[element, element]);
    s.add_yield(twice);
    let result = b.add_structured(s)[0];
    b.add_result(result, false);
    let function = b.finish_function();
    let arguments = arguments(&[vec![9, 6, 5]]);
    let expected = meaning(&function, &arguments);
    for profile in PROFILES {
        let stages = stage(&function, profile, Some("distribute"));
        assert_eq!(stages.matches("dispatch ").count(), 2, "{stages}");
        assert_eq!(run(function.clone(), profile, &arguments), expected);
    }
}

/// Operations of more axes than there are marks for are refused, not taken apart.
#[test]
fn choices_along_many_axes_are_refused() {
    for rank in [41, 65, 70] {
        let mut shape = vec![1; rank];
        shape.push(2);
        let mut b = TensorBuilder::new("main");
        let x = parameter(&mut b, &shape);
        let mut s = StructuredOp::with_parallel_axes(&static_shape(&shape));
        let point = s.axis_indices();
        let element = s.body.intern_element(x, ScalarType::I32, &point);
        let square = s.body.apply_op(ScalarOp::Mul, &[element, element]);
        let value = choose(&mut s, point[rank], &[element, square]);
        s.add_yield(value);
        let result = b.add_structured(s)[0];
        b.add_result(result, false);
        let compiled = compile_function(
            b.finish_function(),
            ScheduleProfile::CPU,
            &DispatchTuning::default(),
            &mut |_, _| {},
        );
        assert!(compiled.is_err_and(|error| error.message.contains("more than 40 axes")));
    }
}

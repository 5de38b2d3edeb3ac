//! Long sorts.

use crate::common::{arguments, meaning, parameter, run};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};
use spirula_tensor::ir::{ScalarCombiner, TensorFunction, TensorSort};
use spirula_tensor::schedule::{DispatchTuning, ScheduleProfile};
use spirula_tensor::{TensorBuilder, compile_function};

/// Sorts numbers by their lowest bits, perhaps with their squares.
fn sorted(length: u64, has_squares: bool) -> TensorFunction {
    let mut b = TensorBuilder::new("main");
    let x = parameter(&mut b, &[2, length]);
    let squares = b.add_elementwise(&[x], |body, e| body.apply_op(ScalarOp::Mul, &[e[0], e[0]]));
    let mut comparator = ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32);
    let body = &mut comparator.body;
    let mask = body.intern_literal(ScalarLiteral::from_i32(63));
    let keys = [0, 1].map(|at| {
        let number = body.intern_argument(at, ScalarType::I32);
        body.apply_op(ScalarOp::And, &[number, mask])
    });
    comparator.results = vec![body.apply_op(ScalarOp::SLt, &keys)];
    let results = b.add_sort(TensorSort {
        operands: if has_squares {
            vec![x, squares]
        } else {
            vec![x]
        },
        dimension: 1,
        is_stable: true,
        comparator,
    });
    for result in results {
        b.add_result(result, false);
    }
    b.finish_function()
}

/// Lengths that blocks of the network fill and do not.
#[test]
fn networks_of_any_length_sort() {
    for length in [129, 192, 200, 256, 1000] {
        let function = sorted(length, true);
        let arguments = arguments(&[vec![2, length]]);
        let expected = meaning(&function, &arguments);
        for profile in [ScheduleProfile::CPU, ScheduleProfile::GPU] {
            let found = run(function.clone(), profile, &arguments);
            assert!(found == expected, "other results of {length}");
        }
    }
}

/// Both elements are read whatever is chosen, so that nothing branches.
#[test]
fn networks_sort_without_branches() {
    for length in [129, 256] {
        let function = sorted(length, false);
        let tuning = DispatchTuning::default();
        let program = compile_function(function, ScheduleProfile::CPU, &tuning, &mut |_, _| {});
        let text = spirula_kernel::print_program(&program.expect("it compiles"));
        let lines = text.lines().filter(|line| line.contains("if "));
        // Only for the last invocations of a launch.
        let choices = lines.filter(|line| !line.contains("%group"));
        assert_eq!(choices.count(), 0, "{length}:\n{text}");
    }
}

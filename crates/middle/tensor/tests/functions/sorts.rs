//! Long sorts.

use crate::common::{arguments, meaning, parameter, run};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};
use spirula_tensor::ir::{ScalarCombiner, TensorFunction, TensorSort};
use spirula_tensor::schedule::{DispatchTuning, ScheduleProfile};
use spirula_tensor::{TensorBuilder, compile};

/// Sorts numbers by their lowest bits, perhaps with their squares.
fn sorted(length: u64, has_squares: bool) -> TensorFunction {
    let mut b = TensorBuilder::new("main");
    let x = parameter(&mut b, &[2, length]);
    let squares = b.elementwise(&[x], |body, e| body.op(ScalarOp::Mul, &[e[0], e[0]]));
    let mut comparator = ScalarCombiner::of(ScalarOp::Add, ScalarType::I32);
    let body = &mut comparator.body;
    let mask = body.literal(ScalarLiteral::i32(63));
    let keys = [0, 1].map(|at| {
        let number = body.argument(at, ScalarType::I32);
        body.op(ScalarOp::And, &[number, mask])
    });
    comparator.results = vec![body.op(ScalarOp::SLt, &keys)];
    let results = b.sort(TensorSort {
        operands: match has_squares {
            true => vec![x, squares],
            false => vec![x],
        },
        dimension: 1,
        is_stable: true,
        comparator,
    });
    for result in results {
        b.result(result, false);
    }
    b.finish()
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
        let program = compile(function, ScheduleProfile::CPU, &tuning, &mut |_, _| {});
        let text = spirula_kernel::print(&program.expect("it compiles"));
        let lines = text.lines().filter(|line| line.contains("if "));
        // Only for the last invocations of a launch.
        let choices = lines.filter(|line| !line.contains("%group"));
        assert_eq!(choices.count(), 0, "{length}:\n{text}");
    }
}

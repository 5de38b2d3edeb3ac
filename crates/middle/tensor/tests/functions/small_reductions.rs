//! Reductions with few results, of rows that a product reads, and without uses.

use crate::common::{
    SHUFFLING, arguments, dispatched, only_dispatch, parameter, product, run, stage,
};
use crate::schedules::fold_twice;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};
use spirula_tensor::ir::ScalarCombiner;
use spirula_tensor::schedule::ScheduleProfile;
use spirula_tensor::{TensorBuilder, parse_function};

/// Short folds with few results are folded by subgroups that would be idle, also where elements lie apart. The device's
/// size tells what is few.
#[test]
fn few_results_are_folded_by_idle_subgroups() {
    let cases: [(&[u64], &[usize]); 5] = [
        (&[60, 7], &[0]),
        (&[16, 33], &[0]),
        (&[5, 30, 3], &[1]),
        (&[20, 4, 3], &[0, 2]),
        (&[1, 100], &[1]),
    ];
    for (shape, axes) in cases {
        let mut b = TensorBuilder::new("main");
        let x = parameter(&mut b, shape);
        let seven = b.add_splat(ScalarLiteral::from_i32(7), &[]);
        let add = ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32);
        let sums = b.add_reduction(&[x], &[seven], axes, add)[0];
        b.add_result(sums, false);
        let function = b.finish_function();
        let shapes = [shape.to_vec()];
        let stage = only_dispatch(&function, &shapes, SHUFFLING);
        assert!(stage.contains("schedule subgroups("), "{stage}");
        // Without shuffles one invocation has each result.
        let stage = only_dispatch(&function, &shapes, ScheduleProfile::GPU);
        assert!(stage.contains("schedule flat("), "{stage}");
    }
}

/// Where results keep all invocations busy, each has one.
#[test]
fn many_results_are_folded_by_an_invocation_each() {
    let shape = [16, 40_000];
    let mut b = TensorBuilder::new("main");
    let x = parameter(&mut b, &shape);
    let zero = b.add_splat(ScalarLiteral::from_i32(0), &[]);
    let add = ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32);
    let sums = b.add_reduction(&[x], &[zero], &[0], add)[0];
    b.add_result(sums, false);
    let stage = only_dispatch(&b.finish_function(), &[shape.to_vec()], SHUFFLING);
    assert!(stage.contains("schedule flat("), "{stage}");
}

/// Small products are folded by subgroups, larger ones have tiles.
#[test]
fn small_products_are_folded_by_subgroups() {
    for (rows, length, columns, strategy) in [
        (8, 200, 2, "subgroups("),
        (5, 17, 9, "subgroups("),
        (64, 64, 64, "subgroups("),
        (64, 64, 65, "tiled("),
        (40, 5, 40, "tiled("),
    ] {
        let mut b = TensorBuilder::new("main");
        let x = parameter(&mut b, &[rows, length]);
        let y = parameter(&mut b, &[length, columns]);
        let result = product(&mut b, x, y, false);
        b.add_result(result, false);
        let shapes = [vec![rows, length], vec![length, columns]];
        let stage = only_dispatch(&b.finish_function(), &shapes, SHUFFLING);
        let schedule = format!("schedule {strategy}");
        assert!(
            stage.contains(&schedule),
            "{rows} {length} {columns}: {stage}"
        );
    }
}

/// A factor of a product that is made of folds of its rows is one dispatch, and the product the other, on either side.
#[test]
fn factors_of_folded_rows_are_one_dispatch() {
    for is_second in [false, true] {
        let mut b = TensorBuilder::new("main");
        let shape = [40, 96];
        let x = parameter(&mut b, &shape);
        let other = if is_second { [24, 96] } else { [96, 24] };
        let y = parameter(&mut b, &other);
        let rows = fold_twice(&mut b, x, shape, 1);
        let result = if is_second {
            product(&mut b, y, rows, true)
        } else {
            product(&mut b, rows, y, false)
        };
        b.add_result(result, false);
        let function = b.finish_function();
        let shapes = [shape.to_vec(), other.to_vec()];
        for profile in [ScheduleProfile::GPU, SHUFFLING] {
            dispatched(&function, &shapes, profile, 2);
        }
    }
}

/// A reduction whose result nothing uses does not run, whatever its place among those of its operation. One that another needs
/// does.
#[test]
fn reductions_without_uses_are_removed() {
    for (used, count) in [(1, 1), (2, 2), (3, 1)] {
        let text = format!(
            r#"func @main(%0 "x": i32[9,20]) -> i32[9,20] {{
  %1: i32[9,20], %2: i32[9,20], %3: i32[9,20] = over d0 < 9, fold d1 < 20 {{
    n0 = %0[d0, d1]
    r0 = fold smax.i32 from 0i32 of n0
    r1 = fold add.i32 from 0i32 of sub.i32(n0, r0)
    r2 = fold xor.i32 from 0i32 of n0
    yield r0 at each [d0, d1]
    yield r1 at each [d0, d1]
    yield r2 at each [d0, d1]
  }}
  return %{used}
}}
"#
        );
        let function = parse_function(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let last = stage(&function, ScheduleProfile::CPU, None);
        assert_eq!(last.matches(" = fold ").count(), count, "{last}");
        // The others are numbered from the first on, and compute the same.
        let all = text
            .replace("-> i32[9,20] {", "-> i32[9,20], i32[9,20], i32[9,20] {")
            .replace(&format!("return %{used}"), "return %1, %2, %3");
        let all = parse_function(&all).unwrap_or_else(|e| panic!("{e}\n{all}"));
        let inputs = arguments(&[vec![9, 20]]);
        let found = run(function, ScheduleProfile::CPU, &inputs);
        assert_eq!(found[0], run(all, ScheduleProfile::CPU, &inputs)[used - 1]);
    }
}

//! How folds, rows, transpositions and products are run.

use crate::common::{
    SHUFFLING, arguments, dispatched, meaning, only_dispatch, parameter, product, run, stage,
};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};
use spirula_tensor::ir::{
    AxisKind, DenseTensorType, DimExtent, ScalarCombiner, StructuredOp, TensorFunction,
    TensorReduction, TensorValue,
};
use spirula_tensor::schedule::{DispatchTuning, ScheduleProfile};
use spirula_tensor::{TensorBuilder, compile_function};

/// Folds that are long enough to be split: whole ones and ones with a few results, by an operator
/// that begins elsewhere than at its neutral element, and by a function of two accumulators.
#[test]
fn long_folds_are_split() {
    let shape = [3, 20_011];
    let mut b = TensorBuilder::new("main");
    let x = parameter(&mut b, &shape);
    let squares = b.add_elementwise(&[x], |body, e| body.apply_op(ScalarOp::Mul, &[e[0], e[0]]));
    let seven = b.add_splat(ScalarLiteral::from_i32(7), &[]);
    let add = ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32);
    let sum = b.add_reduction(&[squares], &[seven], &[0, 1], add.clone())[0];
    let sums = b.add_reduction(&[squares], &[seven], &[1], add)[0];
    let twice = b.add_elementwise(&[sums], |body, e| {
        body.apply_op(ScalarOp::Add, &[e[0], e[0]])
    });
    let places = places(&mut b, &shape);
    let [least, most] = [i32::MIN, i32::MAX].map(|n| b.add_splat(ScalarLiteral::from_i32(n), &[]));
    let largest = b.add_reduction(&[x, places], &[least, most], &[1], largest_first());
    for value in [sum, twice, largest[0], largest[1]] {
        b.add_result(value, false);
    }
    let function = b.finish_function();
    let arguments = arguments(&[shape.to_vec()]);
    let expected = meaning(&function, &arguments);
    for profile in [ScheduleProfile::CPU, ScheduleProfile::GPU, SHUFFLING] {
        let stages = stage(&function, profile, Some("split"));
        assert!(
            stages.matches("fold").count() > 6,
            "nothing was split:\n{stages}"
        );
        assert_eq!(run(function.clone(), profile, &arguments), expected);
    }
}

/// Long columns are folded by an invocation each, whose neighbours read neighbours, where there are
/// enough of them; few ones, and very long rows, by a workgroup each.
#[test]
fn columns_are_folded_side_by_side() {
    let cases = [
        ([600, 1100], 0, "flat"),
        ([600, 110], 0, "cooperative"),
        ([1100, 600], 1, "across"),
        ([20, 20_000], 1, "cooperative"),
    ];
    for (shape, axis, strategy) in cases {
        let mut b = TensorBuilder::new("main");
        let x = parameter(&mut b, &shape);
        let zero = b.add_splat(ScalarLiteral::from_i32(0), &[]);
        let add = ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32);
        let sums = b.add_reduction(&[x], &[zero], &[axis], add)[0];
        b.add_result(sums, false);
        let function = b.finish_function();
        let stages = stage(&function, ScheduleProfile::CPU, Some("distribute"));
        assert!(stages.contains(&format!("schedule {strategy}")), "{stages}");
        let arguments = arguments(&[shape.to_vec()]);
        let expected = meaning(&function, &arguments);
        assert_eq!(run(function, ScheduleProfile::CPU, &arguments), expected);
    }
}

/// A map whose points need their position has no division by the length of a line, on processors and for long lines. Short lines are
/// along several axes. A map that reads and writes the same places stays flat.
#[test]
fn long_lines_have_workgroups() {
    let cases = [
        ([3, 5, 100], true, ScheduleProfile::CPU, "lines"),
        ([3, 1, 300], true, ScheduleProfile::CPU, "lines"),
        ([3, 5, 100], false, ScheduleProfile::CPU, "flat"),
        ([3, 5, 20], true, ScheduleProfile::CPU, "lines"),
        ([7, 11, 3], true, ScheduleProfile::CPU, "lines"),
        ([5, 4, 3], true, ScheduleProfile::CPU, "flat"),
        ([1, 1, 300], true, ScheduleProfile::CPU, "flat"),
        ([3, 5, 100], true, ScheduleProfile::GPU, "flat"),
    ];
    for (shape, has_columns, profile, strategy) in cases {
        let mut b = TensorBuilder::new("main");
        let x = parameter(&mut b, &shape);
        let y = parameter(&mut b, &shape[..2]);
        let mut s = StructuredOp::with_parallel_axes(&shape.map(DimExtent::Static));
        let point = s.axis_indices();
        let own = s.body.intern_element(x, ScalarType::I32, &point);
        let column = s.body.intern_element(y, ScalarType::I32, &point[..2]);
        let other = if has_columns { column } else { own };
        let sum = s.body.apply_op(ScalarOp::Add, &[own, other]);
        s.add_yield(sum);
        let result = b.add_structured(s)[0];
        b.add_result(result, false);
        let function = b.finish_function();
        let stages = stage(&function, profile, Some("distribute"));
        assert!(stages.contains(&format!("schedule {strategy}")), "{stages}");
        let arguments = arguments(&[shape.to_vec(), shape[..2].to_vec()]);
        let expected = meaning(&function, &arguments);
        assert_eq!(run(function, profile, &arguments), expected);
    }
}

/// Long columns that are not enough to keep the device busy are folded in chunks, an invocation each.
#[test]
fn columns_are_folded_in_chunks() {
    for (shape, axes) in [(vec![5000, 300], vec![0]), (vec![700, 40, 64], vec![0, 1])] {
        for profile in [ScheduleProfile::CPU, ScheduleProfile::GPU] {
            let mut b = TensorBuilder::new("main");
            let x = parameter(&mut b, &shape);
            let seven = b.add_splat(ScalarLiteral::from_i32(7), &[]);
            let add = ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32);
            let sums = b.add_reduction(&[x], &[seven], &axes, add)[0];
            b.add_result(sums, false);
            let function = b.finish_function();
            let stages = stage(&function, profile, Some("distribute"));
            assert_eq!(stages.matches("schedule flat").count(), 2, "{stages}");
            let arguments = arguments(std::slice::from_ref(&shape));
            let expected = meaning(&function, &arguments);
            assert_eq!(run(function, profile, &arguments), expected);
        }
    }
}

/// Rows of a workgroup each are folded by shuffles first where subgroups have them, and the rest in the workgroup's
/// memory with one barrier.
#[test]
fn subgroups_fold_by_shuffles() {
    let mut b = TensorBuilder::new("main");
    let shape = [9, 4096];
    let x = parameter(&mut b, &shape);
    let zero = b.add_splat(ScalarLiteral::from_i32(0), &[]);
    let add = ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32);
    let sums = b.add_reduction(&[x], &[zero], &[1], add)[0];
    b.add_result(sums, false);
    let function = b.finish_function();
    let profile = ScheduleProfile {
        fold: 32,
        chunks: 8,
        ..SHUFFLING
    };
    let tuning = DispatchTuning::default();
    let program = compile_function(function.clone(), profile, &tuning, &mut |_, _| {});
    let text = spirula_kernel::print_program(&program.expect("the function compiles"));
    let count = |what: &str| text.matches(what).count();
    assert_eq!((count("shuffle"), count("barrier")), (3, 1), "{text}");
    let arguments = arguments(&[shape.to_vec()]);
    let expected = meaning(&function, &arguments);
    assert_eq!(run(function, profile, &arguments), expected);
}

/// Many short rows are folded by a subgroup each, or by a cluster of its invocations, without barriers, whether they fill it
/// and the workgroups or not, also several axes of one.
#[test]
fn short_rows_are_folded_by_subgroups() {
    let cases: [(&[u64], &[usize]); 9] = [
        (&[64, 8], &[1]),
        (&[67, 9], &[1]),
        (&[65, 12], &[1]),
        (&[45, 16], &[1]),
        (&[70, 20], &[1]),
        (&[64, 128], &[1]),
        (&[45, 131], &[1]),
        (&[9, 4, 200], &[2]),
        (&[33, 20, 9], &[1, 2]),
    ];
    for (shape, axes) in cases {
        let mut b = TensorBuilder::new("main");
        let x = parameter(&mut b, shape);
        let seven = b.add_splat(ScalarLiteral::from_i32(7), &[]);
        let add = ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32);
        let sums = b.add_reduction(&[x], &[seven], axes, add)[0];
        b.add_result(sums, false);
        let function = b.finish_function();
        let profile = ScheduleProfile {
            flat: 32,
            chunks: 8,
            ..SHUFFLING
        };
        let stage = dispatched(&function, &[shape.to_vec()], profile, 1);
        assert!(stage.contains("schedule subgroups("), "{stage}");
        let program = compile_function(
            function,
            profile,
            &DispatchTuning::default(),
            &mut |_, _| {},
        );
        let text = spirula_kernel::print_program(&program.expect("the function compiles"));
        assert_eq!(text.matches("barrier").count(), 0, "{text}");
    }
}

/// Rows that are folded twice along an axis, the second time with what the first fold gave, and written.
fn folded_twice(shape: [u64; 2], axis: usize) -> TensorFunction {
    let mut b = TensorBuilder::new("main");
    let x = parameter(&mut b, &shape);
    let result = fold_twice(&mut b, x, shape, axis);
    b.add_result(result, false);
    b.finish_function()
}

/// The same of a value.
pub fn fold_twice(
    b: &mut TensorBuilder,
    x: TensorValue,
    shape: [u64; 2],
    axis: usize,
) -> TensorValue {
    let least = b.add_splat(ScalarLiteral::from_i32(i32::MIN), &[]);
    let most = b.add_reduction(
        &[x],
        &[least],
        &[axis],
        ScalarCombiner::from_op(ScalarOp::SMax, ScalarType::I32),
    )[0];
    let sizes = shape.map(DimExtent::Static);
    let along =
        |b: &mut TensorBuilder, value| b.add_gather(value, &sizes, |_, at| vec![at[1 - axis]]);
    let most = along(b, most);
    // Costly, so that it is not computed again for its own sake.
    let scaled = b.add_elementwise(&[x, most], |body, e| {
        let difference = body.apply_op(ScalarOp::Sub, &[e[1], e[0]]);
        let first = body.apply_op(ScalarOp::SQuotSafe, &[e[1], difference]);
        body.apply_op(ScalarOp::SQuotSafe, &[first, e[0]])
    });
    let zero = b.add_splat(ScalarLiteral::from_i32(0), &[]);
    let add = ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32);
    let sum = b.add_reduction(&[scaled], &[zero], &[axis], add)[0];
    let sum = along(b, sum);
    b.add_elementwise(&[scaled, sum], |body, e| body.apply_op(ScalarOp::Xor, e))
}

/// Rows that are folded twice, the second time with what the first fold gave, and written: one
/// dispatch, whatever the order of the axes, and whether rows fill vectors or not.
#[test]
fn rows_are_one_dispatch() {
    let shapes = [
        ([5, 96], 1),
        ([7, 67], 1),
        ([96, 5], 0),
        ([3, 1030], 1),
        ([3, 2048], 1),
    ];
    for (shape, axis) in shapes {
        let function = folded_twice(shape, axis);
        let arguments = arguments(&[shape.to_vec()]);
        let expected = meaning(&function, &arguments);
        let stages = stage(&function, ScheduleProfile::GPU, Some("distribute"));
        assert_eq!(stages.matches("dispatch @").count(), 1, "{stages}");
        for profile in [ScheduleProfile::CPU, ScheduleProfile::GPU, SHUFFLING] {
            assert_eq!(run(function.clone(), profile, &arguments), expected);
        }
    }
}

/// Many short rows that are folded twice and written have a subgroup each: one dispatch without barriers, whether rows fill
/// vectors, subgroups and workgroups or not.
#[test]
fn short_rows_that_are_written_are_folded_by_subgroups() {
    let shapes = [
        ([64, 128], 1),
        ([45, 131], 1),
        ([67, 33], 1),
        ([96, 40], 0),
        ([66, 4], 1),
        ([67, 12], 1),
        ([71, 7], 1),
    ];
    for (shape, axis) in shapes {
        let function = folded_twice(shape, axis);
        let profile = ScheduleProfile {
            flat: 32,
            chunks: 8,
            ..SHUFFLING
        };
        let stage = dispatched(&function, &[shape.to_vec()], profile, 1);
        assert!(stage.contains("schedule subgroup-rows("), "{stage}");
        let program = compile_function(
            function,
            profile,
            &DispatchTuning::default(),
            &mut |_, _| {},
        );
        let text = spirula_kernel::print_program(&program.expect("the function compiles"));
        assert_eq!(text.matches("barrier").count(), 0, "{text}");
    }
}

/// Transpositions, also of a few dimensions among others and with work before and after, go through the
/// workgroup's memory.
#[test]
fn transpositions_are_tiled() {
    let orders: [(&[u64], &[usize]); 5] = [
        (&[64, 64], &[1, 0]),
        (&[70, 45], &[1, 0]),
        (&[3, 40, 33], &[0, 2, 1]),
        (&[20, 3, 50], &[2, 1, 0]),
        (&[2, 17, 3, 35], &[3, 2, 0, 1]),
    ];
    for (sizes, order) in orders {
        let mut b = TensorBuilder::new("main");
        let x = parameter(&mut b, sizes);
        let shape: Vec<DimExtent> = order
            .iter()
            .map(|at| DimExtent::Static(sizes[*at]))
            .collect();
        let turned = b.add_gather(x, &shape, |_, point| {
            let mut position = point.to_vec();
            for (to, from) in order.iter().enumerate() {
                position[*from] = point[to];
            }
            position
        });
        let result = b.add_elementwise(&[turned], |body, e| {
            body.apply_op(ScalarOp::Mul, &[e[0], e[0]])
        });
        b.add_result(result, false);
        let profile = ScheduleProfile {
            busy: 1,
            ..ScheduleProfile::GPU
        };
        let stage = only_dispatch(&b.finish_function(), &[sizes.to_vec()], profile);
        assert!(stage.contains("schedule turned"), "{stage}");
    }
}

/// Tiles of products are taken together in groups of rows, also where these do not fill the last group.
#[test]
fn tiles_are_grouped() {
    for [m, n, k] in [[160, 96, 16], [176, 70, 9], [31, 200, 12]] {
        let mut b = TensorBuilder::new("main");
        let x = parameter(&mut b, &[m, k]);
        let y = parameter(&mut b, &[k, n]);
        let result = product(&mut b, x, y, false);
        b.add_result(result, false);
        let function = b.finish_function();
        for group in [1, 4, 8] {
            let profile = ScheduleProfile {
                busy: 1,
                points: 1,
                group,
                ..ScheduleProfile::GPU
            };
            let stage = only_dispatch(&function, &[vec![m, k], vec![k, n]], profile);
            assert!(stage.contains(&format!("group={group}")), "{stage}");
        }
    }
}

/// The number of each element within its row.
fn places(b: &mut TensorBuilder, shape: &[u64]) -> TensorValue {
    let shape: Vec<DimExtent> = shape.iter().map(|n| DimExtent::Static(*n)).collect();
    let mut op = StructuredOp::with_parallel_axes(&shape);
    let point = op.axis_indices();
    let place = op
        .body
        .apply_conversion(ScalarOp::SExt, ScalarType::I32, point[1]);
    op.add_yield(place);
    b.add_structured(op)[0]
}

/// The largest value and the first of its places.
fn largest_first() -> ScalarCombiner {
    let mut body = spirula_tensor::ir::NodeGraph::default();
    let [a, i, b, j] = [0, 1, 2, 3].map(|n| body.intern_argument(n, ScalarType::I32));
    let is_less = body.apply_op(ScalarOp::SLt, &[a, b]);
    let is_equal = body.apply_op(ScalarOp::Eq, &[a, b]);
    let is_later = body.apply_op(ScalarOp::SLt, &[j, i]);
    let is_tied = body.apply_op(ScalarOp::LogAnd, &[is_equal, is_later]);
    let take = body.apply_op(ScalarOp::LogOr, &[is_less, is_tied]);
    let results = vec![
        body.apply_op(ScalarOp::Cond, &[take, b, a]),
        body.apply_op(ScalarOp::Cond, &[take, j, i]),
    ];
    ScalarCombiner { body, results }
}

/// On processors factors stay where they are, so that nobody waits, whatever the sizes. Those of few columns go to the
/// workgroup's memory.
#[test]
fn plain_factors_stay_where_they_are() {
    let sizes = [
        (48, 35, 40, true),
        (64, 64, 64, true),
        (7, 96, 16, true),
        (1, 20, 72, true),
        (24, 33, 20, true),
        (14, 14, 14, true),
        (16, 5, 9, true),
        (1, 20, 75, true),
        (24, 33, 6, false),
    ];
    for (rows, length, columns, is_direct) in sizes {
        for is_turned in [false, true] {
            let mut b = TensorBuilder::new("main");
            let second = if is_turned {
                [columns, length]
            } else {
                [length, columns]
            };
            let x = parameter(&mut b, &[rows, length]);
            let y = parameter(&mut b, &second);
            let result = product(&mut b, x, y, is_turned);
            b.add_result(result, false);
            let function = b.finish_function();
            let arguments = arguments(&[vec![rows, length], second.to_vec()]);
            let expected = meaning(&function, &arguments);
            let stages = stage(&function, ScheduleProfile::CPU, Some("promote"));
            let name = format!("{rows} x {length} x {columns}:\n{stages}");
            assert_eq!(!stages.contains("barrier"), is_direct, "{name}");
            assert_eq!(
                run(function, ScheduleProfile::CPU, &arguments),
                expected,
                "{name}"
            );
        }
    }
}

/// A vector's product with a matrix, whose rows or columns lie together, so many times, with something
/// added; and the shapes of its parameters.
fn vector_by_matrix(
    [batches, length, columns]: [u64; 3],
    is_turned: bool,
) -> (TensorFunction, Vec<Vec<u64>>) {
    let mut b = TensorBuilder::new("main");
    let matrix = if is_turned {
        vec![batches, columns, length]
    } else {
        vec![batches, length, columns]
    };
    let shapes = vec![vec![batches, length], matrix, vec![columns]];
    let [x, y, z] = [0, 1, 2].map(|at: usize| parameter(&mut b, &shapes[at]));
    let mut op =
        StructuredOp::with_parallel_axes(&[DimExtent::Static(batches), DimExtent::Static(columns)]);
    let point = op.axis_indices();
    let step = op.add_axis(DimExtent::Static(length), AxisKind::Reduction);
    let position = if is_turned {
        [point[0], point[1], step]
    } else {
        [point[0], step, point[1]]
    };
    let body = &mut op.body;
    let left = body.intern_element(x, ScalarType::I32, &[point[0], step]);
    let right = body.intern_element(y, ScalarType::I32, &position);
    let term = body.apply_op(ScalarOp::Mul, &[left, right]);
    let initial = vec![body.intern_literal(ScalarLiteral::from_i32(3))];
    let sum = op.add_reduction(TensorReduction {
        initial,
        values: vec![term],
        combiner: ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32),
    });
    let added = op.body.intern_element(z, ScalarType::I32, &[point[1]]);
    let sum = op.body.apply_op(ScalarOp::Sub, &[sum[0], added]);
    op.add_yield(sum);
    let result = b.add_structured(op)[0];
    b.add_result(result, false);
    (b.finish_function(), shapes)
}

/// A vector's product with a matrix reads nothing twice: the matrix stays where it is if its columns lie
/// together, in tiles that are the wider the more columns there are. Sums of one that is too large for caches
/// stay in the workgroup's memory, so that tiles can be wider.
#[test]
fn matrices_stay_where_they_are_for_vectors() {
    for (sizes, tile, is_kept) in [
        ([1, 20, 40], 40, false),
        ([1, 20, 768], 96, false),
        ([1, 20, 4096], 256, false),
        ([3, 20, 40], 40, false),
        ([1, 72, 4096], 1024, true),
        ([2, 514, 600], 40, false),
        ([2, 516, 608], 152, true),
    ] {
        let (function, shapes) = vector_by_matrix(sizes, false);
        let stages = only_dispatch(&function, &shapes, ScheduleProfile::CPU);
        assert!(!stages.contains("barrier"), "{stages}");
        assert_eq!(stages.contains("recall"), is_kept, "{stages}");
        let is_wide = stages.contains(&format!("* {tile} + "));
        assert!(is_wide || tile == sizes[2], "{stages}");
    }
}

/// Where the rows of the matrix lie together, a workgroup folds each result together, with one barrier for
/// its tile of results; also where the fold does not fill all vectors, if it is long.
#[test]
fn rows_of_matrices_are_folded_together_for_vectors() {
    for (sizes, is_together) in [
        ([1, 64, 300], true),
        ([1, 768, 31], true),
        ([1, 300, 1024], true),
        ([5, 32, 7], true),
        ([1, 77, 300], false),
        ([1, 24, 300], false),
    ] {
        let (function, shapes) = vector_by_matrix(sizes, true);
        let stages = only_dispatch(&function, &shapes, ScheduleProfile::CPU);
        assert_eq!(stages.contains("schedule across"), is_together, "{stages}");
        only_dispatch(&function, &shapes, ScheduleProfile::GPU);
    }
}

/// Long rows that lie together are folded by the lanes of a vector on processors, several folds of one
/// operation, too; short ones, very long ones, and columns are not.
#[test]
fn rows_are_folded_together() {
    for (shape, axis, is_together) in [
        ([300, 64], 1, true),
        ([7, 1000], 1, true),
        ([31, 257], 1, true),
        ([300, 24], 1, false),
        ([20, 20_000], 1, false),
        ([64, 300], 0, false),
    ] {
        let mut b = TensorBuilder::new("main");
        let x = parameter(&mut b, &shape);
        let zero = b.add_splat(ScalarLiteral::from_i32(5), &[]);
        let sums = b.add_reduction(
            &[x],
            &[zero],
            &[axis],
            ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32),
        )[0];
        let most = b.add_reduction(
            &[x],
            &[zero],
            &[axis],
            ScalarCombiner::from_op(ScalarOp::SMax, ScalarType::I32),
        )[0];
        let result = b.add_elementwise(&[sums, most], |body, e| body.apply_op(ScalarOp::Sub, e));
        b.add_result(sums, false);
        b.add_result(result, false);
        let function = b.finish_function();
        let shapes = [shape.to_vec()];
        let arguments = arguments(&shapes);
        let stages = stage(&function, ScheduleProfile::CPU, Some("promote"));
        assert_eq!(stages.contains("schedule across"), is_together, "{stages}");
        let found = run(function.clone(), ScheduleProfile::CPU, &arguments);
        assert!(found == meaning(&function, &arguments), "{stages}");
    }
}

/// Convolutions read what is outside as zeros without the workgroup's memory, along several folded axes.
#[test]
fn convolutions_stay_where_they_are() {
    let mut b = TensorBuilder::new("main");
    let [x, y] = [&[21, 6][..], &[3, 6, 16]].map(|shape| parameter(&mut b, shape));
    let mut op = StructuredOp::with_parallel_axes(&[DimExtent::Static(21), DimExtent::Static(16)]);
    let point = op.axis_indices();
    let [tap, feature] =
        [3, 6].map(|size| op.add_axis(DimExtent::Static(size), AxisKind::Reduction));
    let body = &mut op.body;
    let [zero, one, size] = [0, 1, 21].map(|n| body.intern_i64(n));
    let at = body.apply_op(ScalarOp::Add, &[point[0], tap]);
    let at = body.apply_op(ScalarOp::Sub, &[at, one]);
    let inside = [[zero, at], [at, size]];
    let inside = [
        body.apply_op(ScalarOp::SLe, &inside[0]),
        body.apply_op(ScalarOp::SLt, &inside[1]),
    ];
    let inside = body.apply_op(ScalarOp::LogAnd, &inside);
    let element = body.intern_element(x, ScalarType::I32, &[at, feature]);
    let outside = body.intern_literal(ScalarLiteral::from_i32(0));
    let left = body.apply_op(ScalarOp::Cond, &[inside, element, outside]);
    let right = body.intern_element(y, ScalarType::I32, &[tap, feature, point[1]]);
    let value = body.apply_op(ScalarOp::Mul, &[left, right]);
    let sum = op.add_reduction(TensorReduction {
        initial: vec![outside],
        values: vec![value],
        combiner: ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32),
    });
    op.add_yield(sum[0]);
    let result = b.add_structured(op)[0];
    b.add_result(result, false);
    let shapes = [vec![21, 6], vec![3, 6, 16]];
    let stage = only_dispatch(&b.finish_function(), &shapes, ScheduleProfile::CPU);
    assert!(!stage.contains("barrier"), "{stage}");
}

/// Factors that are computed, or lie across the columns, are stored for products that are large enough.
#[test]
fn other_factors_are_stored() {
    for (size, count) in [(96, 3), (8, 1)] {
        let mut b = TensorBuilder::new("main");
        let shapes = [[size, size]; 2].map(Vec::from);
        let [x, y] = [0, 1].map(|at: usize| parameter(&mut b, &shapes[at]));
        // As what reads it is: fusion is asked about neither.
        let mut op = StructuredOp::with_parallel_axes(&[DimExtent::Static(size); 2]);
        let point = op.axis_indices();
        let at = op.add_axis(DimExtent::Static(size), AxisKind::Reduction);
        let body = &mut op.body;
        let left = body.intern_element(x, ScalarType::I32, &[point[0], at]);
        let seven = body.intern_literal(ScalarLiteral::from_i32(7));
        let left = body.apply_op(ScalarOp::Xor, &[left, seven]);
        let right = body.intern_element(y, ScalarType::I32, &[point[1], at]);
        let product = body.apply_op(ScalarOp::Mul, &[left, right]);
        let initial = vec![body.intern_literal(ScalarLiteral::from_i32(0))];
        let sum = op.add_reduction(TensorReduction {
            initial,
            values: vec![product],
            combiner: ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32),
        });
        op.add_yield(sum[0]);
        let result = b.add_structured(op)[0];
        b.add_result(result, false);
        let function = b.finish_function();
        dispatched(&function, &shapes, ScheduleProfile::CPU, count);
        let stage = stage(&function, ScheduleProfile::CPU, Some("promote"));
        assert_eq!(stage.contains("barrier"), count == 1, "{stage}");
        dispatched(&function, &shapes, ScheduleProfile::GPU, 1);
    }
}

/// A sum of products of floats is one operator a round, where the profile asks for it.
#[test]
fn products_are_added_with_one_rounding() {
    let mut b = TensorBuilder::new("main");
    let float = DenseTensorType::new(ScalarType::F32, &[16, 16]);
    let [x, y] = [(); 2].map(|()| b.add_parameter("x", float.clone(), false));
    let mut op = StructuredOp::with_parallel_axes(&[DimExtent::Static(16); 2]);
    let point = op.axis_indices();
    let at = op.add_axis(DimExtent::Static(16), AxisKind::Reduction);
    let left = op.body.intern_element(x, ScalarType::F32, &[point[0], at]);
    let right = op.body.intern_element(y, ScalarType::F32, &[at, point[1]]);
    let product = op.body.apply_op(ScalarOp::FMul, &[left, right]);
    let initial = vec![
        op.body
            .intern_literal(ScalarLiteral::new(ScalarType::F32, 0)),
    ];
    let sum = op.add_reduction(TensorReduction {
        initial,
        values: vec![product],
        combiner: ScalarCombiner::from_op(ScalarOp::FAdd, ScalarType::F32),
    });
    op.add_yield(sum[0]);
    let result = b.add_structured(op)[0];
    b.add_result(result, false);
    for (profile, is_one) in [(ScheduleProfile::CPU, true), (ScheduleProfile::GPU, false)] {
        let program = compile_function(
            b.function().clone(),
            profile,
            &DispatchTuning::default(),
            &mut |_, _| {},
        );
        let text = spirula_kernel::print_program(&program.expect("the function compiles"));
        assert_eq!(text.contains("fma.f32"), is_one, "{text}");
        assert_eq!(text.contains("fmul.f32"), !is_one, "{text}");
    }
}

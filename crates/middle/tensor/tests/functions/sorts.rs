//! Long sorts.

use crate::common::{SHUFFLING, arguments, assert_reads_back, meaning, parameter, run};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};
use spirula_tensor::ir::{
    DimExtent, NodeGraph, OpKind, ScalarCombiner, ScalarNode, StructuredOp, TensorFunction,
    TensorSort,
};
use spirula_tensor::passes::PASSES;
use spirula_tensor::schedule::{DispatchTuning, ScheduleProfile};
use spirula_tensor::{TensorBuilder, compile_function};

/// Whether one number comes before another.
type SortOrder = fn(&mut NodeGraph, [ScalarNode; 2]) -> ScalarNode;

/// The lowest bits of numbers.
fn lowest(body: &mut NodeGraph, numbers: [ScalarNode; 2]) -> [ScalarNode; 2] {
    let mask = body.intern_literal(ScalarLiteral::from_i32(63));
    numbers.map(|number| body.apply_op(ScalarOp::And, &[number, mask]))
}

/// Bits of numbers as finite floating-point numbers.
fn finite(body: &mut NodeGraph, numbers: [ScalarNode; 2]) -> [ScalarNode; 2] {
    let mask = body.intern_literal(ScalarLiteral::from_i32(!(1 << 30)));
    numbers.map(|number| {
        let bits = body.apply_op(ScalarOp::And, &[number, mask]);
        body.apply_conversion(ScalarOp::Bits, ScalarType::F32, bits)
    })
}

fn converted(body: &mut NodeGraph, numbers: [ScalarNode; 2], ty: ScalarType) -> [ScalarNode; 2] {
    numbers.map(|number| body.apply_conversion(ScalarOp::SExt, ty, number))
}

/// Orders with keys.
const KEYED: [(&str, SortOrder); 9] = [
    ("signed", |body, e| body.apply_op(ScalarOp::SLt, &e)),
    ("unsigned", |body, e| body.apply_op(ScalarOp::ULt, &e)),
    ("descending", |body, [a, b]| {
        body.apply_op(ScalarOp::SLt, &[b, a])
    }),
    ("lowest bits", |body, e| {
        let keys = lowest(body, e);
        body.apply_op(ScalarOp::SLt, &keys)
    }),
    ("floats", |body, e| {
        let keys = finite(body, e);
        body.apply_op(ScalarOp::FLt, &keys)
    }),
    ("floats, descending", |body, e| {
        let [a, b] = finite(body, e);
        body.apply_op(ScalarOp::FLt, &[b, a])
    }),
    ("i8", |body, e| {
        let keys = converted(body, e, ScalarType::I8);
        body.apply_op(ScalarOp::SLt, &keys)
    }),
    ("i64", |body, e| {
        let keys = converted(body, e, ScalarType::I64);
        let keys = keys.map(|key| body.apply_op(ScalarOp::Mul, &[key, key]));
        body.apply_op(ScalarOp::SLt, &keys)
    }),
    ("two keys", |body, e| {
        let keys = lowest(body, e);
        let equal = body.apply_op(ScalarOp::Eq, &keys);
        let before = body.apply_op(ScalarOp::SLt, &keys);
        let other = body.apply_op(ScalarOp::ULt, &[e[1], e[0]]);
        let both = body.apply_op(ScalarOp::LogAnd, &[equal, other]);
        body.apply_op(ScalarOp::LogOr, &[before, both])
    }),
];

/// An order that is not recognised as one by keys.
fn order_by_network(body: &mut NodeGraph, elements: [ScalarNode; 2]) -> ScalarNode {
    let keys = lowest(body, elements);
    let equal = body.apply_op(ScalarOp::Eq, &keys);
    let before = body.apply_op(ScalarOp::SLt, &keys);
    let differ = body.apply_op(ScalarOp::Not, &[equal]);
    body.apply_op(ScalarOp::LogAnd, &[before, differ])
}

/// Sorts numbers along a dimension, perhaps with their squares.
fn sorted(shape: &[u64], dimension: usize, has_squares: bool, order: SortOrder) -> TensorFunction {
    let mut b = TensorBuilder::new("main");
    let x = parameter(&mut b, shape);
    let squares = b.add_elementwise(&[x], |body, e| body.apply_op(ScalarOp::Mul, &[e[0], e[0]]));
    let mut comparator = ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32);
    let elements = [0, 1].map(|at| comparator.body.intern_argument(at, ScalarType::I32));
    comparator.results = vec![order(&mut comparator.body, elements)];
    let mut operands = vec![x];
    if has_squares {
        operands.push(squares);
    }
    let results = b.add_sort(TensorSort {
        operands,
        dimension,
        is_stable: true,
        comparator,
    });
    for result in results {
        b.add_result(result, false);
    }
    b.finish_function()
}

/// Compares the results on devices with those of the evaluator.
fn check_sorted(function: &TensorFunction, shape: &[u64], profiles: &[ScheduleProfile]) {
    let arguments = arguments(&[shape.to_vec()]);
    let expected = meaning(function, &arguments);
    for profile in profiles {
        let found = run(function.clone(), *profile, &arguments);
        assert!(found == expected, "other results of {shape:?}");
    }
}

/// Number of radix sorts after the passes.
fn count_radix_sorts(function: TensorFunction) -> usize {
    count_operations(function, ScheduleProfile::GPU, |kind| {
        matches!(kind, OpKind::RadixSort(_))
    })
}

/// Number of operations of a kind after the passes for a device.
fn count_operations(
    mut function: TensorFunction,
    profile: ScheduleProfile,
    is_counted: fn(&OpKind) -> bool,
) -> usize {
    for pass in PASSES {
        (pass.run)(&mut function, &profile);
    }
    let blocks = function.block_ids();
    let ops = blocks.flat_map(|block| &function.block(block).ops);
    ops.filter(|op| is_counted(&op.kind)).count()
}

/// The first numbers along a dimension of the result of a sort, with the indices that they had.
fn selected(shape: &[u64], dimension: usize, count: u64, order: SortOrder) -> TensorFunction {
    let mut b = TensorBuilder::new("main");
    let x = parameter(&mut b, shape);
    let mut whole = b.ty(x).shape.clone();
    let mut op = StructuredOp::with_parallel_axes(&whole);
    let index = op.axis_indices()[dimension];
    let index = op
        .body
        .apply_conversion(ScalarOp::SExt, ScalarType::I32, index);
    op.add_yield(index);
    let indices = b.add_structured(op)[0];
    let mut comparator = ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32);
    let elements = [0, 1].map(|at| comparator.body.intern_argument(at, ScalarType::I32));
    comparator.results = vec![order(&mut comparator.body, elements)];
    let results = b.add_sort(TensorSort {
        operands: vec![x, indices],
        dimension,
        is_stable: true,
        comparator,
    });
    whole[dimension] = DimExtent::Static(count);
    for result in results {
        let first = b.add_gather(result, &whole, |_, point| point.to_vec());
        b.add_result(first, false);
    }
    b.finish_function()
}

/// Number of selections after the passes for a processor.
fn count_selections(function: &TensorFunction) -> usize {
    count_operations(function.clone(), ScheduleProfile::CPU, |kind| {
        matches!(kind, OpKind::WordSelection(_))
    })
}

/// Lengths that blocks of the network fill and do not.
#[test]
fn networks_of_any_length_sort() {
    for length in [129, 192, 200, 256, 1000] {
        let shape = [2, length];
        let function = sorted(&shape, 1, true, order_by_network);
        assert_eq!(count_radix_sorts(function.clone()), 0);
        check_sorted(
            &function,
            &shape,
            &[ScheduleProfile::CPU, ScheduleProfile::GPU],
        );
    }
}

/// Both elements are read whatever is chosen, so that nothing branches.
#[test]
fn networks_sort_without_branches() {
    for length in [129, 256] {
        let function = sorted(&[2, length], 1, false, order_by_network);
        let tuning = DispatchTuning::default();
        let program = compile_function(function, ScheduleProfile::CPU, &tuning, &mut |_, _| {});
        let text = spirula_kernel::print_program(&program.expect("it compiles"));
        let lines = text.lines().filter(|line| line.contains("if "));
        // Only for the last invocations of a launch.
        let choices = lines.filter(|line| !line.contains("%group"));
        assert_eq!(choices.count(), 0, "{length}:\n{text}");
    }
}

/// Each word of a key is sorted once.
#[test]
fn comparators_of_keys_make_radix_sorts() {
    for (name, order) in KEYED {
        let sorts = match name {
            "i64" | "two keys" => 2,
            _ => 1,
        };
        let function = sorted(&[300], 0, true, order);
        assert_eq!(count_radix_sorts(function), sorts, "{name}");
    }
}

#[test]
fn keys_of_all_kinds_sort() {
    for (name, order) in KEYED {
        println!("{name}");
        let shape = [2, 300];
        let function = sorted(&shape, 1, true, order);
        let profiles = [ScheduleProfile::CPU, ScheduleProfile::GPU, SHUFFLING];
        check_sorted(&function, &shape, &profiles);
    }
}

/// Rows that are one chunk or several, and chunks of one tile or several, the last of them whole or not.
#[test]
fn radix_sorts_of_any_length_sort() {
    let (_, order) = KEYED[8];
    for shape in [vec![3, 1024], vec![2, 1025], vec![4096], vec![1, 16_385]] {
        let function = sorted(&shape, shape.len() - 1, true, order);
        check_sorted(
            &function,
            &shape,
            &[ScheduleProfile::CPU, ScheduleProfile::GPU],
        );
    }
    let function = sorted(&[100_000], 0, false, KEYED[0].1);
    check_sorted(&function, &[100_000], &[ScheduleProfile::CPU]);
}

#[test]
fn radix_sorts_along_any_dimension_sort() {
    let (_, order) = KEYED[4];
    let shape = [3, 200, 2];
    let function = sorted(&shape, 1, true, order);
    check_sorted(
        &function,
        &shape,
        &[ScheduleProfile::CPU, ScheduleProfile::GPU],
    );
    let function = sorted(&shape, 1, true, KEYED[8].1);
    check_sorted(&function, &shape, &[ScheduleProfile::CPU]);
}

#[test]
fn empty_tensors_are_sorted() {
    for shape in [[0, 300], [300, 0]] {
        let function = sorted(&shape, 1, true, KEYED[0].1);
        check_sorted(
            &function,
            &shape,
            &[ScheduleProfile::CPU, ScheduleProfile::GPU],
        );
    }
}

/// Keys of all kinds, with many that are equal. Two keys are sorted.
#[test]
fn few_elements_of_all_kinds_are_selected() {
    for (name, order) in KEYED {
        let shape = [3, 300];
        let function = selected(&shape, 1, 5, order);
        let selections = usize::from(name != "two keys");
        assert_eq!(count_selections(&function), selections, "{name}");
        assert_reads_back(&function, ScheduleProfile::CPU);
        let profiles = [ScheduleProfile::CPU, ScheduleProfile::GPU];
        check_sorted(&function, &shape, &profiles);
    }
}

/// Heaps of all forms, numbers of elements around the limits, and dimensions that are not the last.
#[test]
fn any_number_of_elements_is_selected() {
    let order = KEYED[3].1;
    for (shape, dimension, count, selections) in [
        (vec![2, 129], 1, 1, 1),
        (vec![2, 129], 1, 2, 1),
        (vec![2, 129], 1, 3, 1),
        (vec![2, 129], 1, 4, 1),
        (vec![2, 129], 1, 5, 0),
        (vec![2, 129], 1, 129, 0),
        (vec![2, 128], 1, 2, 0),
        (vec![2, 2000], 1, 62, 1),
        (vec![2, 2000], 1, 63, 0),
        (vec![1, 5000], 1, 128, 1),
        (vec![1, 5000], 1, 129, 0),
        (vec![2, 300, 3], 1, 7, 1),
        (vec![300, 4], 0, 6, 1),
        (vec![0, 300], 1, 6, 1),
    ] {
        let function = selected(&shape, dimension, count, order);
        assert_eq!(
            count_selections(&function),
            selections,
            "{shape:?}: {count}"
        );
        check_sorted(&function, &shape, &[ScheduleProfile::CPU]);
    }
}

/// Rows of several chunks, the last of them whole or not.
#[test]
fn elements_of_long_rows_are_selected() {
    for (length, selections) in [(32_767, 1), (32_768, 2), (50_000, 2), (65_537, 2)] {
        for order in [KEYED[3].1, KEYED[7].1] {
            let function = selected(&[length], 0, 20, order);
            assert_eq!(count_selections(&function), selections, "{length}");
            check_sorted(&function, &[length], &[ScheduleProfile::CPU]);
        }
    }
}

/// A sort whose result is also read in another way stays a sort.
#[test]
fn sorts_that_are_needed_stay() {
    let shape = [2, 300];
    let mut function = selected(&shape, 1, 5, KEYED[0].1);
    let block = function.body();
    let data = function.block_mut(block);
    let sorted = data
        .ops
        .iter()
        .find(|op| matches!(op.kind, OpKind::Sort(_)));
    let sorted = sorted.expect("there is a sort").results[0];
    data.results[0] = sorted;
    assert_eq!(count_selections(&function), 0);
}

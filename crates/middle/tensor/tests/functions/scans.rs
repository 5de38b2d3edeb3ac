//! Scans: sums up to each point.

use crate::common::{
    SHUFFLING, arguments, dispatched, meaning, only_dispatch, parameter, run, stage,
};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};
use spirula_tensor::ir::{
    NodeGraph, ScalarCombiner, ScalarNode, StructuredOp, StructuredYield, TensorFunction,
    TensorReduction, TensorValue, YieldDestination,
};
use spirula_tensor::schedule::{DispatchTuning, ScheduleProfile};
use spirula_tensor::{TensorBuilder, compile_function};

/// A device where a workgroup that waits for another may wait for ever.
const WAITING_FOR_NOBODY: ScheduleProfile = ScheduleProfile {
    look_back: false,
    ..SHUFFLING
};

/// How a function scans.
#[derive(Clone, Copy)]
struct TensorScanCase {
    axis: usize,
    is_reverse: bool,
}

/// Adds what an array and its squares add up to, from 7, to a function's results.
fn sums(b: &mut TensorBuilder, x: TensorValue, scan: TensorScanCase) -> TensorValue {
    let squares = b.add_elementwise(&[x], |body, e| body.apply_op(ScalarOp::Mul, &[e[0], e[0]]));
    let (mut op, position) = space(b, x, scan);
    let value = op.body.intern_element(squares, ScalarType::I32, &position);
    let seven = op.body.intern_literal(ScalarLiteral::from_i32(7));
    let folded = op.add_reduction(TensorReduction {
        initial: vec![seven],
        values: vec![value],
        combiner: ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32),
    });
    given(b, op, x, &position, &folded)[0]
}

/// The space over an array, and the position that each point reads and writes.
fn space(
    b: &TensorBuilder,
    x: TensorValue,
    scan: TensorScanCase,
) -> (StructuredOp, Vec<ScalarNode>) {
    let mut op = StructuredOp::default();
    let shape = &b.ty(x).shape;
    let mut position = op.reduced_position(shape, &[scan.axis]);
    if scan.is_reverse {
        let last = shape[scan.axis].as_static().expect("a known size") as i64 - 1;
        let last = op.body.intern_i64(last);
        position[scan.axis] = op
            .body
            .apply_op(ScalarOp::Sub, &[last, position[scan.axis]]);
    }
    (op, position)
}

fn given(
    b: &mut TensorBuilder,
    mut op: StructuredOp,
    x: TensorValue,
    position: &[ScalarNode],
    nodes: &[ScalarNode],
) -> Vec<TensorValue> {
    for value in nodes {
        op.yields.push(StructuredYield {
            value: *value,
            destination: YieldDestination::Prefix {
                indices: position.to_vec(),
                shape: b.ty(x).shape.clone(),
            },
        });
    }
    b.add_structured(op)
}

/// The last number that is not a multiple of 3 so far, and how many there were: the order counts.
fn last_and_count() -> ScalarCombiner {
    let mut body = NodeGraph::default();
    let [a, m, b, n] = [0, 1, 2, 3].map(|at| body.intern_argument(at, ScalarType::I32));
    let zero = body.intern_literal(ScalarLiteral::from_i32(0));
    let is_none = body.apply_op(ScalarOp::Eq, &[n, zero]);
    let results = vec![
        body.apply_op(ScalarOp::Cond, &[is_none, a, b]),
        body.apply_op(ScalarOp::Add, &[m, n]),
    ];
    ScalarCombiner { body, results }
}

fn last_of_some(b: &mut TensorBuilder, x: TensorValue, scan: TensorScanCase) -> Vec<TensorValue> {
    let (mut op, position) = space(b, x, scan);
    let value = op.body.intern_element(x, ScalarType::I32, &position);
    let three = op.body.intern_literal(ScalarLiteral::from_i32(3));
    let rest = op.body.apply_op(ScalarOp::SMod, &[value, three]);
    let zero = op.body.intern_literal(ScalarLiteral::from_i32(0));
    let is_some = op.body.apply_op(ScalarOp::SLt, &[zero, rest]);
    let one = op
        .body
        .apply_conversion(ScalarOp::FromBool, ScalarType::I32, is_some);
    let kept = op.body.apply_op(ScalarOp::Mul, &[value, one]);
    let folded = op.add_reduction(TensorReduction {
        initial: vec![zero, zero],
        values: vec![kept, one],
        combiner: last_and_count(),
    });
    given(b, op, x, &position, &folded)
}

fn scanned(shape: &[u64], scan: TensorScanCase) -> TensorFunction {
    let mut b = TensorBuilder::new("main");
    let x = parameter(&mut b, shape);
    let sums = sums(&mut b, x, scan);
    let twice = b.add_elementwise(&[sums], |body, e| {
        body.apply_op(ScalarOp::Add, &[e[0], e[0]])
    });
    let last = last_of_some(&mut b, x, scan);
    for value in [sums, twice, last[0], last[1]] {
        b.add_result(value, false);
    }
    b.finish_function()
}

/// Scans of every length in both directions, whose chunks fill it and do not: those of few rows are
/// split, and the scan of the chunks is if that is long.
#[test]
fn long_scans_are_split() {
    let cases: [(&[u64], usize, bool); 6] = [
        (&[100_000], 0, true),
        (&[8192], 0, true),
        (&[3, 20_011], 1, true),
        (&[1000, 2, 3], 0, true),
        (&[4, 100], 1, false),
        (&[9, 8], 0, false),
    ];
    for (shape, axis, is_split) in cases {
        for is_reverse in [false, true] {
            let function = scanned(shape, TensorScanCase { axis, is_reverse });
            let arguments = arguments(&[shape.to_vec()]);
            let expected = meaning(&function, &arguments);
            for profile in [ScheduleProfile::CPU, ScheduleProfile::GPU] {
                let stages = stage(&function, profile, Some("scan"));
                let count = stages.matches(" so far ").count();
                assert_eq!(count > 3, is_split, "{stages}");
                let found = run(function.clone(), profile, &arguments);
                assert!(found == expected, "other results:\n{stages}");
            }
        }
    }
}

/// Rows that lie together are scanned by a workgroup each, where operators have a neutral element and subgroups exchange
/// numbers: those that fill its rounds and those that do not, from the first and from the last; long ones in chunks.
#[test]
fn workgroups_scan_together() {
    let cases: [(&[u64], usize, usize, usize); 6] = [
        (&[5, 4096], 1, 1, 1),
        (&[600, 128], 1, 1, 1),
        (&[3, 2051], 1, 1, 1),
        (&[100_000], 0, 3, 1),
        (&[40_009], 0, 3, 1),
        (&[2000, 3], 0, 3, 0),
    ];
    for (shape, axis, dispatches, together) in cases {
        for is_reverse in [false, true] {
            let mut b = TensorBuilder::new("main");
            let x = parameter(&mut b, shape);
            let sums = sums(&mut b, x, TensorScanCase { axis, is_reverse });
            b.add_result(sums, false);
            let function = b.finish_function();
            let stage = dispatched(&function, &[shape.to_vec()], WAITING_FOR_NOBODY, dispatches);
            let count = stage.matches("schedule scan(").count();
            assert_eq!(count, together, "{stage}");
        }
    }
}

/// Long ones are read once where workgroups look back at each other: chunks that are filled, whose points fit vectors or
/// not, rows that do not begin with a chunk's end, small and large chunks.
#[test]
fn workgroups_look_back() {
    let shapes: [&[u64]; 5] = [
        &[1 << 17],
        &[100_000],
        &[40_009],
        &[3, 50_004],
        &[2, 2, 32_771],
    ];
    for shape in shapes {
        for is_reverse in [false, true] {
            let mut b = TensorBuilder::new("main");
            let x = parameter(&mut b, shape);
            let axis = shape.len() - 1;
            let sums = sums(&mut b, x, TensorScanCase { axis, is_reverse });
            b.add_result(sums, false);
            let function = b.finish_function();
            for busy in [SHUFFLING.busy, 1] {
                let profile = ScheduleProfile { busy, ..SHUFFLING };
                let stage = only_dispatch(&function, &[shape.to_vec()], profile);
                assert_eq!(stage.matches("schedule look-back(").count(), 1, "{stage}");
            }
        }
    }
}

/// Kernels have the numbers of their dispatches, also where memory is made ready for one: tuning goes by them.
#[test]
fn kernels_are_numbered_as_dispatches() {
    let mut b = TensorBuilder::new("main");
    let x = parameter(&mut b, &[1 << 15]);
    let scan = TensorScanCase {
        axis: 0,
        is_reverse: false,
    };
    let once = sums(&mut b, x, scan);
    let twice = sums(&mut b, once, scan);
    b.add_result(twice, false);
    let function = b.finish_function();
    dispatched(&function, &[vec![1 << 15]], SHUFFLING, 2);
    let program = compile_function(
        function,
        SHUFFLING,
        &DispatchTuning::default(),
        &mut |_, _| {},
    );
    let kernels = program.expect("the function compiles").kernels;
    let uses: Vec<usize> = kernels.iter().map(|kernel| kernel.captures.len()).collect();
    assert_eq!(uses, [3, 3, 1, 1]);
}

/// Numbers of other widths are passed on in words: by subgroups, by chunks, and where rows are folded by subgroups.
#[test]
fn numbers_of_any_width_are_handed_over() {
    let cases = [
        (
            ScalarType::I8,
            ScalarOp::Add,
            ScalarOp::SExt,
            ScalarOp::SExt,
        ),
        (
            ScalarType::I16,
            ScalarOp::Add,
            ScalarOp::SExt,
            ScalarOp::SExt,
        ),
        (
            ScalarType::I64,
            ScalarOp::Add,
            ScalarOp::SExt,
            ScalarOp::SExt,
        ),
        (
            ScalarType::F16,
            ScalarOp::FMax,
            ScalarOp::SToF,
            ScalarOp::FToS,
        ),
        (
            ScalarType::F64,
            ScalarOp::FAdd,
            ScalarOp::SToF,
            ScalarOp::FToS,
        ),
    ];
    for (ty, op, to, from) in cases {
        for shape in [[2, 40_004], [40, 300]] {
            let mut b = TensorBuilder::new("main");
            let x = parameter(&mut b, &shape);
            let scan = TensorScanCase {
                axis: 1,
                is_reverse: false,
            };
            let (mut space, position) = space(&b, x, scan);
            let value = space.body.intern_element(x, ScalarType::I32, &position);
            let three = space.body.intern_literal(ScalarLiteral::from_i32(3));
            let value = space.body.apply_op(ScalarOp::AShr, &[value, three]);
            let value = space.body.apply_conversion(to, ty, value);
            let combiner = ScalarCombiner::from_op(op, ty);
            let neutral = combiner.neutral_element(ty).expect("it has one");
            let initial = vec![space.body.intern_literal(neutral)];
            let folded = space.add_reduction(TensorReduction {
                initial,
                values: vec![value],
                combiner,
            });
            let back = space
                .body
                .apply_conversion(from, ScalarType::I32, folded[0]);
            let result = given(&mut b, space, x, &position, &[back])[0];
            b.add_result(result, false);
            let stage = only_dispatch(&b.finish_function(), &[shape.to_vec()], SHUFFLING);
            let schedule = if shape[1] > 1000 {
                "look-back("
            } else {
                "scan("
            };
            assert!(stage.contains(schedule), "{stage}");
        }
    }
}

/// The code of the elements is part of the scan, also where the sum of products looks like a product
/// of matrices.
#[test]
fn producers_are_fused() {
    let shape = [5, 40];
    let mut b = TensorBuilder::new("main");
    let x = parameter(&mut b, &shape);
    let y = parameter(&mut b, &[40]);
    let dims = b.ty(x).shape.clone();
    let rows = b.add_gather(y, &dims, |_, at| vec![at[1]]);
    let products = b.add_elementwise(&[x, rows], |body, e| body.apply_op(ScalarOp::Mul, e));
    let scan = TensorScanCase {
        axis: 1,
        is_reverse: false,
    };
    let (mut op, position) = space(&b, x, scan);
    let value = op.body.intern_element(products, ScalarType::I32, &position);
    let zero = op.body.intern_literal(ScalarLiteral::from_i32(0));
    let folded = op.add_reduction(TensorReduction {
        initial: vec![zero],
        values: vec![value],
        combiner: ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32),
    });
    let result = given(&mut b, op, x, &position, &folded)[0];
    b.add_result(result, false);
    let function = b.finish_function();
    for profile in [ScheduleProfile::CPU, ScheduleProfile::GPU] {
        only_dispatch(&function, &[shape.to_vec(), vec![40]], profile);
    }
}

//! How folds, rows, transpositions and products are run.

use crate::common::{arguments, meaning, only_dispatch, parameter, product, run, stage};
use spirula_program::{Literal, Op, Scalar};
use spirula_tensor::Builder;
use spirula_tensor::ir::{Combiner, Dim, Structured, Value};
use spirula_tensor::schedule::Profile;

/// Folds that are long enough to be split: whole ones and ones with a few results, by an operator
/// that begins elsewhere than at its neutral element, and by a function of two accumulators.
#[test]
fn long_folds_are_split() {
    let shape = [3, 20_011];
    let mut b = Builder::new("main");
    let x = parameter(&mut b, &shape);
    let squares = b.elementwise(&[x], |body, e| body.op(Op::Mul, &[e[0], e[0]]));
    let seven = b.splat(Literal::i32(7), &[]);
    let add = Combiner::of(Op::Add, Scalar::I32);
    let sum = b.reduce(&[squares], &[seven], &[0, 1], add.clone())[0];
    let sums = b.reduce(&[squares], &[seven], &[1], add)[0];
    let twice = b.elementwise(&[sums], |body, e| body.op(Op::Add, &[e[0], e[0]]));
    let places = places(&mut b, &shape);
    let [least, most] = [i32::MIN, i32::MAX].map(|n| b.splat(Literal::i32(n), &[]));
    let largest = b.reduce(&[x, places], &[least, most], &[1], largest_first());
    for value in [sum, twice, largest[0], largest[1]] {
        b.result(value, false);
    }
    let function = b.finish();
    let arguments = arguments(&[shape.to_vec()]);
    let expected = meaning(&function, &arguments);
    for profile in [Profile::CPU, Profile::GPU] {
        let stages = stage(&function, profile, Some("split"));
        assert!(
            stages.matches("fold").count() > 6,
            "nothing was split:\n{stages}"
        );
        assert_eq!(run(function.clone(), profile, &arguments), expected);
    }
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
        let mut b = Builder::new("main");
        let x = parameter(&mut b, &shape);
        let least = b.splat(Literal::i32(i32::MIN), &[]);
        let most = b.reduce(&[x], &[least], &[axis], Combiner::of(Op::SMax, Scalar::I32))[0];
        let sizes = shape.map(Dim::Static);
        let along = |b: &mut Builder, value| b.moved(value, &sizes, |_, at| vec![at[1 - axis]]);
        let most = along(&mut b, most);
        // Costly, so that it is not computed again for its own sake.
        let scaled = b.elementwise(&[x, most], |body, e| {
            let difference = body.op(Op::Sub, &[e[1], e[0]]);
            let first = body.op(Op::SQuotSafe, &[e[1], difference]);
            body.op(Op::SQuotSafe, &[first, e[0]])
        });
        let zero = b.splat(Literal::i32(0), &[]);
        let add = Combiner::of(Op::Add, Scalar::I32);
        let sum = b.reduce(&[scaled], &[zero], &[axis], add)[0];
        let sum = along(&mut b, sum);
        let result = b.elementwise(&[scaled, sum], |body, e| body.op(Op::Xor, e));
        b.result(result, false);
        let function = b.finish();
        let arguments = arguments(&[shape.to_vec()]);
        let expected = meaning(&function, &arguments);
        let stages = stage(&function, Profile::GPU, Some("distribute"));
        assert_eq!(stages.matches("dispatch @").count(), 1, "{stages}");
        for profile in [Profile::CPU, Profile::GPU] {
            assert_eq!(run(function.clone(), profile, &arguments), expected);
        }
    }
}

/// Transpositions, also of a few dimensions among others and with work before and behind, go through the
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
        let mut b = Builder::new("main");
        let x = parameter(&mut b, sizes);
        let shape: Vec<Dim> = order.iter().map(|at| Dim::Static(sizes[*at])).collect();
        let turned = b.moved(x, &shape, |_, point| {
            let mut position = point.to_vec();
            for (to, from) in order.iter().enumerate() {
                position[*from] = point[to];
            }
            position
        });
        let result = b.elementwise(&[turned], |body, e| body.op(Op::Mul, &[e[0], e[0]]));
        b.result(result, false);
        let profile = Profile {
            busy: 1,
            ..Profile::GPU
        };
        let stage = only_dispatch(&b.finish(), &[sizes.to_vec()], profile);
        assert!(stage.contains("schedule turned"), "{stage}");
    }
}

/// Tiles of products are taken together in groups of rows, also where these do not fill the last group.
#[test]
fn tiles_are_grouped() {
    for [m, n, k] in [[160, 96, 16], [176, 70, 9], [31, 200, 12]] {
        let mut b = Builder::new("main");
        let x = parameter(&mut b, &[m, k]);
        let y = parameter(&mut b, &[k, n]);
        let result = product(&mut b, x, y, false);
        b.result(result, false);
        let function = b.finish();
        for group in [1, 4, 8] {
            let profile = Profile {
                busy: 1,
                points: 1,
                group,
                ..Profile::GPU
            };
            let stage = only_dispatch(&function, &[vec![m, k], vec![k, n]], profile);
            assert!(stage.contains(&format!("group={group}")), "{stage}");
        }
    }
}

/// The number of each element within its row.
fn places(b: &mut Builder, shape: &[u64]) -> Value {
    let shape: Vec<Dim> = shape.iter().map(|n| Dim::Static(*n)).collect();
    let mut op = Structured::parallel(&shape);
    let point = op.point();
    let place = op.body.convert(Op::SExt, Scalar::I32, point[1]);
    op.give(place);
    b.structured(op)[0]
}

/// The largest value and the first of its places.
fn largest_first() -> Combiner {
    let mut body = spirula_tensor::ir::Body::default();
    let [a, i, b, j] = [0, 1, 2, 3].map(|n| body.argument(n, Scalar::I32));
    let is_less = body.op(Op::SLt, &[a, b]);
    let is_equal = body.op(Op::Eq, &[a, b]);
    let is_later = body.op(Op::SLt, &[j, i]);
    let is_tied = body.op(Op::LogAnd, &[is_equal, is_later]);
    let take = body.op(Op::LogOr, &[is_less, is_tied]);
    let results = vec![
        body.op(Op::Cond, &[take, b, a]),
        body.op(Op::Cond, &[take, j, i]),
    ];
    Combiner { body, results }
}

/// On processors factors of whole tiles stay where they are, so that nobody waits, whatever the sizes;
/// others go to the workgroup's memory.
#[test]
fn plain_factors_stay_where_they_are() {
    let sizes = [
        (48, 35, 40, true),
        (64, 64, 64, true),
        (7, 96, 16, true),
        (1, 20, 72, true),
        (24, 33, 20, false),
    ];
    for (rows, length, columns, is_direct) in sizes {
        for is_turned in [false, true] {
            let mut b = Builder::new("main");
            let second = match is_turned {
                true => [columns, length],
                false => [length, columns],
            };
            let x = parameter(&mut b, &[rows, length]);
            let y = parameter(&mut b, &second);
            let result = product(&mut b, x, y, is_turned);
            b.result(result, false);
            let function = b.finish();
            let arguments = arguments(&[vec![rows, length], second.to_vec()]);
            let expected = meaning(&function, &arguments);
            let stages = stage(&function, Profile::CPU, Some("promote"));
            let name = format!("{rows} x {length} x {columns}:\n{stages}");
            assert_eq!(!stages.contains("barrier"), is_direct, "{name}");
            assert_eq!(run(function, Profile::CPU, &arguments), expected, "{name}");
        }
    }
}

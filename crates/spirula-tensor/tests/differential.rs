//! Random functions: what their programs compute on the CPU device is what evaluation by definition
//! gives. All arithmetic is on `i32`s, so that the order of folds makes no difference.

use proptest::prelude::*;
use spirula_program::{Literal, Op, Scalar, Session, Value as Data};
use spirula_runtime::{Device, DeviceMachine, DeviceOptions};
use spirula_tensor::ir::{
    AxisKind, Combiner, Constant, Destination, Dim, Function, Node, Reduction, Shape, Sort,
    Structured, TensorType, Value, Yield,
};
use spirula_tensor::schedule::{Profile, Tuning};
use spirula_tensor::{Builder, compile, evaluate};

/// Most elements of a tensor.
const ELEMENTS: u64 = 3000;

/// Makes a function of random bytes.
struct Maker {
    b: Builder,
    values: Vec<Value>,
}

impl Maker {
    fn new(shapes: &[Vec<u64>]) -> Self {
        let mut b = Builder::new("main");
        let parameter =
            |shape: &Vec<u64>| b.parameter("x", TensorType::new(Scalar::I32, shape), false);
        let values = shapes.iter().map(parameter).collect();
        Maker { b, values }
    }

    fn shape(&self, value: Value) -> Shape {
        self.b.ty(value).shape.clone()
    }

    fn sizes(&self, value: Value) -> Vec<u64> {
        self.shape(value).iter().filter_map(|d| d.known()).collect()
    }

    fn step(&mut self, kind: u8, pick: u8) {
        let value = self.values[usize::from(pick) % self.values.len()];
        let made = match kind % 14 {
            0 => self.binary(value, pick),
            1 => self.unary(value, pick),
            2 => self.broadcast(value, pick),
            3 => self.transpose(value),
            4 => self.slice(value),
            5 => self.pad(value),
            6 => self.reduce(value, pick),
            7 => self.reshape(value, pick),
            8 => self.contract(value),
            9 => self.concatenate(value),
            10 => self.gather(value),
            11 => self.scatter(value),
            12 => self.convolve(value),
            _ => self.sort(value, pick),
        };
        let is_small = self.b.ty(made).elements().is_some_and(|n| n <= ELEMENTS);
        if is_small {
            self.values.push(made);
        }
    }

    fn binary(&mut self, value: Value, pick: u8) -> Value {
        let shape = self.shape(value);
        let same = |v: &&Value| self.b.ty(**v).shape == shape;
        let other = *self.values.iter().find(same).unwrap_or(&value);
        let op = [Op::Add, Op::Mul, Op::SMax, Op::Sub][usize::from(pick) / 64];
        self.b
            .elementwise(&[value, other], |body, e| body.op(op, e))
    }

    fn unary(&mut self, value: Value, pick: u8) -> Value {
        self.b.elementwise(&[value], |body, e| {
            let limit = body.literal(Literal::i32(i32::from(pick)));
            let below = body.op(Op::SLt, &[e[0], limit]);
            let negative = body.op(Op::Neg, &[e[0]]);
            // Costly, so that fusion does not always pay.
            let quotient = body.op(Op::SQuotSafe, &[limit, e[0]]);
            body.op(Op::Cond, &[below, negative, quotient])
        })
    }

    fn broadcast(&mut self, value: Value, pick: u8) -> Value {
        let mut shape = self.shape(value);
        let at = usize::from(pick) % (shape.len() + 1);
        shape.insert(at, Dim::Static(3));
        self.b.moved(value, &shape, |_, point| {
            let mut point = point.to_vec();
            point.remove(at);
            point
        })
    }

    fn transpose(&mut self, value: Value) -> Value {
        let shape: Vec<Dim> = self.shape(value).iter().rev().copied().collect();
        self.b.moved(value, &shape, |_, point| {
            point.iter().rev().copied().collect()
        })
    }

    /// Every second element from the second on, backwards.
    fn slice(&mut self, value: Value) -> Value {
        let sizes = self.sizes(value);
        let shape: Vec<Dim> = sizes.iter().map(|n| Dim::Static(n / 2)).collect();
        self.b.moved(value, &shape, |body, point| {
            let scaled = point.iter().zip(&sizes).map(|(index, size)| {
                let (by, last) = (body.i64(2), body.i64(*size as i64 / 2 * 2 - 1));
                let index = body.op(Op::Mul, &[*index, by]);
                body.op(Op::Sub, &[last, index])
            });
            scaled.collect()
        })
    }

    fn pad(&mut self, value: Value) -> Value {
        let sizes = self.sizes(value);
        let shape: Vec<Dim> = sizes.iter().map(|n| Dim::Static(n + 3)).collect();
        let mut op = Structured::parallel(&shape);
        let point = op.point();
        let body = &mut op.body;
        let mut inside = body.literal(Literal::new(Scalar::Bool, 1));
        let mut position = Vec::new();
        for (index, size) in point.iter().zip(&sizes) {
            let (one, zero, size) = (body.i64(1), body.i64(0), body.i64(*size as i64));
            let index = body.op(Op::Sub, &[*index, one]);
            let above = body.op(Op::SLe, &[zero, index]);
            let below = body.op(Op::SLt, &[index, size]);
            inside = body.op(Op::LogAnd, &[inside, above]);
            inside = body.op(Op::LogAnd, &[inside, below]);
            position.push(index);
        }
        let element = body.element(value, Scalar::I32, &position);
        let seven = body.literal(Literal::i32(7));
        let chosen = body.op(Op::Cond, &[inside, element, seven]);
        op.give(chosen);
        self.b.structured(op)[0]
    }

    fn reduce(&mut self, value: Value, pick: u8) -> Value {
        let rank = self.shape(value).len();
        if rank == 0 {
            return value;
        }
        let op = [Op::Add, Op::SMax, Op::SMin, Op::Xor][usize::from(pick) % 4];
        let first = [0, i32::MIN, i32::MAX, 0][usize::from(pick) % 4];
        let initial = self.b.splat(Literal::i32(first), &[]);
        let dimension = usize::from(pick / 4) % rank;
        let combiner = Combiner::of(op, Scalar::I32);
        self.b.reduce(&[value], &[initial], &[dimension], combiner)[0]
    }

    fn reshape(&mut self, value: Value, pick: u8) -> Value {
        let count: u64 = self.sizes(value).iter().product();
        let factor = [2, 3, 5, 7][usize::from(pick) % 4];
        let shape: Shape = match count.is_multiple_of(factor) {
            true => [count / factor, factor]
                .map(Dim::Static)
                .into_iter()
                .collect(),
            false => [Dim::Static(count)].into_iter().collect(),
        };
        self.b.reshape(value, shape)
    }

    /// Products of all pairs of rows.
    fn contract(&mut self, value: Value) -> Value {
        let [rows, columns] = self.sizes(value)[..] else {
            return value;
        };
        let mut op = Structured::default();
        let i = op.axis(Dim::Static(rows), AxisKind::Parallel);
        let j = op.axis(Dim::Static(rows), AxisKind::Parallel);
        let k = op.axis(Dim::Static(columns), AxisKind::Reduction);
        let a = op.body.element(value, Scalar::I32, &[i, k]);
        let b = op.body.element(value, Scalar::I32, &[j, k]);
        let product = op.body.op(Op::Mul, &[a, b]);
        let zero = op.body.literal(Literal::i32(0));
        let sums = op.fold(Reduction {
            initial: vec![zero],
            values: vec![product],
            combiner: Combiner::of(Op::Add, Scalar::I32),
        });
        op.give(sums[0]);
        self.b.structured(op)[0]
    }

    /// Rows around each row, zeros beyond the ends, times rows of the same tensor.
    fn convolve(&mut self, value: Value) -> Value {
        let [rows, columns] = self.sizes(value)[..] else {
            return value;
        };
        let mut op = Structured::default();
        let i = op.axis(Dim::Static(rows), AxisKind::Parallel);
        let c = op.axis(Dim::Static(5), AxisKind::Parallel);
        let k = op.axis(Dim::Static(3), AxisKind::Reduction);
        let d = op.axis(Dim::Static(columns), AxisKind::Reduction);
        let body = &mut op.body;
        let (zero, one, size) = (body.i64(0), body.i64(1), body.i64(rows as i64));
        let row = body.op(Op::Add, &[i, k]);
        let row = body.op(Op::Sub, &[row, one]);
        let above = body.op(Op::SLe, &[zero, row]);
        let below = body.op(Op::SLt, &[row, size]);
        let inside = body.op(Op::LogAnd, &[above, below]);
        let a = body.element(value, Scalar::I32, &[row, d]);
        let nothing = body.literal(Literal::i32(0));
        let a = body.op(Op::Cond, &[inside, a, nothing]);
        let other = body.op(Op::Add, &[k, c]);
        let other = body.op(Op::SMod, &[other, size]);
        let b = body.element(value, Scalar::I32, &[other, d]);
        let product = body.op(Op::Mul, &[a, b]);
        let sums = op.fold(Reduction {
            initial: vec![nothing],
            values: vec![product],
            combiner: Combiner::of(Op::Add, Scalar::I32),
        });
        op.give(sums[0]);
        self.b.structured(op)[0]
    }

    fn concatenate(&mut self, value: Value) -> Value {
        let sizes = self.sizes(value);
        let Some((first, rest)) = sizes.split_first() else {
            return value;
        };
        let shape: Vec<Dim> = std::iter::once(2 * first)
            .chain(rest.iter().copied())
            .map(Dim::Static)
            .collect();
        let mut op = Structured::parallel(&shape);
        let mut point = op.point();
        let body = &mut op.body;
        let limit = body.i64(*first as i64);
        let is_first = body.op(Op::SLt, &[point[0], limit]);
        let one = body.element(value, Scalar::I32, &point);
        point[0] = body.op(Op::Sub, &[point[0], limit]);
        let other = body.element(value, Scalar::I32, &point);
        let other = body.op(Op::Complement, &[other]);
        let chosen = body.op(Op::Cond, &[is_first, one, other]);
        op.give(chosen);
        self.b.structured(op)[0]
    }

    /// Elements at positions that elements give.
    fn gather(&mut self, value: Value) -> Value {
        let sizes = self.sizes(value);
        let shape = self.shape(value);
        let mut op = Structured::parallel(&shape);
        let point = op.point();
        let position = data_position(&mut op, value, &point, &sizes);
        let element = op.body.element(value, Scalar::I32, &position);
        op.give(element);
        self.b.structured(op)[0]
    }

    /// Sums at positions that elements give; some are outside.
    fn scatter(&mut self, value: Value) -> Value {
        let sizes = self.sizes(value);
        let shape = self.shape(value);
        let mut op = Structured::parallel(&shape);
        let point = op.point();
        let wider: Vec<u64> = sizes.iter().map(|n| n + 1).collect();
        let indices = data_position(&mut op, value, &point, &wider);
        let element = op.body.element(value, Scalar::I32, &point);
        op.yields.push(Yield {
            value: element,
            destination: Destination::Scatter {
                base: value,
                indices,
                combiner: Some(Combiner::of(Op::Add, Scalar::I32)),
            },
        });
        self.b.structured(op)[0]
    }

    fn sort(&mut self, value: Value, pick: u8) -> Value {
        let rank = self.shape(value).len();
        if rank == 0 {
            return value;
        }
        let mut comparator = Combiner::of(Op::SLt, Scalar::I32);
        if pick.is_multiple_of(2) {
            // By the lowest bits alone, so that there are equal elements.
            comparator = by_low_bits();
        }
        let sort = Sort {
            operands: vec![value],
            dimension: usize::from(pick) % rank,
            is_stable: true,
            comparator,
        };
        self.b.sort(sort)[0]
    }
}

fn by_low_bits() -> Combiner {
    let mut body = spirula_tensor::ir::Body::default();
    let mask = body.literal(Literal::i32(3));
    let low = [0, 1].map(|at| {
        let argument = body.argument(at, Scalar::I32);
        body.op(Op::And, &[argument, mask])
    });
    let results = vec![body.op(Op::SLt, &low)];
    Combiner { body, results }
}

/// A position below some sizes, from an element.
fn data_position(op: &mut Structured, value: Value, point: &[Node], sizes: &[u64]) -> Vec<Node> {
    let element = op.body.element(value, Scalar::I32, point);
    let wide = op.body.convert(Op::ZExt, Scalar::I64, element);
    let by = sizes.iter().map(|size| {
        let size = op.body.i64((*size).max(1) as i64);
        op.body.op(Op::UMod, &[wide, size])
    });
    by.collect()
}

fn arguments(shapes: &[Vec<u64>]) -> Vec<Constant> {
    let mut state = 12_345u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 20
    };
    let argument = |shape: &Vec<u64>| Constant {
        ty: TensorType::new(Scalar::I32, shape),
        bytes: (0..shape.iter().product())
            .flat_map(|_| next().to_le_bytes())
            .collect(),
    };
    shapes.iter().map(argument).collect()
}

fn run(function: Function, profile: Profile, arguments: &[Constant]) -> Vec<Vec<u8>> {
    let text = spirula_tensor::print(&function);
    let program = compile(function, profile, &Tuning::default(), &mut |_, _| {})
        .expect("the function compiles");
    spirula_kernel::check(&program).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let program = spirula_kernel::compile(&program).expect("the program compiles");
    let mut device = Device::open("cpu", &DeviceOptions::default()).expect("the CPU is there");
    let machine = DeviceMachine::new(&mut device);
    let mut session = Session::new(&program, machine).expect("the program begins");
    let inputs: Vec<Data> = arguments
        .iter()
        .map(|argument| Data {
            element: Scalar::I32,
            unsigned: false,
            shape: argument.ty.shape.iter().filter_map(|d| d.known()).collect(),
            bytes: argument.bytes.clone(),
        })
        .collect();
    let results = session
        .call("main", &inputs)
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    results.into_iter().flatten().map(|r| r.bytes).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn programs_compute_what_functions_mean(
        shapes in prop::collection::vec(prop::collection::vec(1u64..20, 0..3), 1..3),
        steps in prop::collection::vec((any::<u8>(), any::<u8>()), 1..14),
        last in any::<u8>(),
    ) {
        let mut maker = Maker::new(&shapes);
        for (kind, pick) in steps {
            maker.step(kind, pick);
        }
        let newest = maker.values[maker.values.len() - 1];
        let other = maker.values[usize::from(last) % maker.values.len()];
        maker.b.result(newest, false);
        maker.b.result(other, false);
        let function = maker.b.finish();
        let arguments = arguments(&shapes);
        let expected = evaluate(&function, arguments.clone(), 1 << 28).expect("the function has a meaning");
        let expected: Vec<Vec<u8>> = expected.into_iter().map(|c| c.bytes).collect();
        let text = spirula_tensor::print(&function);
        // Vectors where there is only little to do.
        let eager = Profile { busy: 1, flat: 2, ..Profile::GPU };
        for profile in [Profile::CPU, Profile::GPU, eager] {
            let results = run(function.clone(), profile, &arguments);
            prop_assert_eq!(&results, &expected, "{:?}\n{}", profile, text);
        }
    }
}

/// Folds that are long enough to be split: whole ones and ones with a few results, by an operator
/// that begins elsewhere than at its neutral element, and by a function of two accumulators.
#[test]
fn long_folds_are_split() {
    let shape = [3, 20_011];
    let mut b = Builder::new("main");
    let x = b.parameter("x", TensorType::new(Scalar::I32, &shape), false);
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
    let expected = evaluate(&function, arguments.clone(), 1 << 28).expect("it has a meaning");
    let expected: Vec<Vec<u8>> = expected.into_iter().map(|c| c.bytes).collect();
    for profile in [Profile::CPU, Profile::GPU] {
        let mut stages = String::new();
        let shown = &mut |name: &str, text: &dyn Fn() -> String| {
            if name == "split" {
                stages = text();
            }
        };
        compile(function.clone(), profile, &Tuning::default(), shown)
            .expect("the function compiles");
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
        let x = b.parameter("x", TensorType::new(Scalar::I32, &shape), false);
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
        let expected = evaluate(&function, arguments.clone(), 1 << 28).expect("it has a meaning");
        let expected: Vec<Vec<u8>> = expected.into_iter().map(|c| c.bytes).collect();
        let mut stages = String::new();
        let shown = &mut |name: &str, text: &dyn Fn() -> String| {
            if name == "distribute" {
                stages = text();
            }
        };
        compile(function.clone(), Profile::GPU, &Tuning::default(), shown)
            .expect("the function compiles");
        assert_eq!(stages.matches("dispatch @").count(), 1, "{stages}");
        for profile in [Profile::CPU, Profile::GPU] {
            assert_eq!(run(function.clone(), profile, &arguments), expected);
        }
    }
}

/// What an operation's last stage is, where a function has one; results are right.
fn only_dispatch(function: &Function, shapes: &[Vec<u64>], profile: Profile) -> String {
    let arguments = arguments(shapes);
    let expected = evaluate(function, arguments.clone(), 1 << 28).expect("it has a meaning");
    let expected: Vec<Vec<u8>> = expected.into_iter().map(|c| c.bytes).collect();
    let mut stage = String::new();
    let shown = &mut |_: &str, text: &dyn Fn() -> String| stage = text();
    compile(function.clone(), profile, &Tuning::default(), shown).expect("the function compiles");
    assert_eq!(stage.matches("dispatch @").count(), 1, "{stage}");
    let found = run(function.clone(), profile, &arguments);
    assert!(found == expected, "other results:\n{stage}");
    stage
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
        let x = b.parameter("x", TensorType::new(Scalar::I32, sizes), false);
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
        let x = b.parameter("x", TensorType::new(Scalar::I32, &[m, k]), false);
        let y = b.parameter("y", TensorType::new(Scalar::I32, &[k, n]), false);
        let mut op = Structured::parallel(&[Dim::Static(m), Dim::Static(n)]);
        let point = op.point();
        let at = op.axis(Dim::Static(k), AxisKind::Reduction);
        let left = op.body.element(x, Scalar::I32, &[point[0], at]);
        let right = op.body.element(y, Scalar::I32, &[at, point[1]]);
        let product = op.body.op(Op::Mul, &[left, right]);
        let zero = op.body.literal(Literal::i32(0));
        let sum = op.fold(Reduction {
            initial: vec![zero],
            values: vec![product],
            combiner: Combiner::of(Op::Add, Scalar::I32),
        });
        op.give(sum[0]);
        let result = b.structured(op)[0];
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

/// What follows a product in several operations is computed behind it.
#[test]
fn products_have_what_follows() {
    let mut b = Builder::new("main");
    let [x, y] = [[20, 30], [30, 16]]
        .map(|shape| b.parameter("x", TensorType::new(Scalar::I32, &shape), false));
    let row = b.parameter("row", TensorType::new(Scalar::I32, &[16]), false);
    let shape = [20, 16].map(Dim::Static);
    let mut op = Structured::parallel(&shape);
    let point = op.point();
    let at = op.axis(Dim::Static(30), AxisKind::Reduction);
    let left = op.body.element(x, Scalar::I32, &[point[0], at]);
    let right = op.body.element(y, Scalar::I32, &[at, point[1]]);
    let product = op.body.op(Op::Mul, &[left, right]);
    let zero = op.body.literal(Literal::i32(0));
    let sum = op.fold(Reduction {
        initial: vec![zero],
        values: vec![product],
        combiner: Combiner::of(Op::Add, Scalar::I32),
    });
    op.give(sum[0]);
    let product = b.structured(op)[0];
    let row = b.moved(row, &shape, |_, point| vec![point[1]]);
    let added = b.elementwise(&[product, row], |body, e| body.op(Op::Add, e));
    let result = b.elementwise(&[added], |body, e| body.op(Op::Mul, &[e[0], e[0]]));
    b.result(result, false);
    let shapes = [vec![20, 30], vec![30, 16], vec![16]];
    for profile in [Profile::CPU, Profile::GPU] {
        only_dispatch(&b.function().clone(), &shapes, profile);
    }
}

/// The memory of a tensor goes on to those behind its last use, also where it has another name.
#[test]
fn memory_is_used_again() {
    let mut b = Builder::new("main");
    let mut value = b.parameter("x", TensorType::new(Scalar::I32, &[10, 20]), false);
    for at in 0..6 {
        // Folds are no parts of each other.
        let shape = b.ty(value).shape.clone();
        let mut op = Structured::parallel(&shape);
        let point = op.point();
        let along = op.axis(Dim::Static(20), AxisKind::Reduction);
        let element = op.body.element(value, Scalar::I32, &[point[0], along]);
        let zero = op.body.literal(Literal::i32(at));
        let sum = op.fold(Reduction {
            initial: vec![zero],
            values: vec![element],
            combiner: Combiner::of(Op::Xor, Scalar::I32),
        });
        op.give(sum[0]);
        value = b.structured(op)[0];
        let turned: Shape = [Dim::Static(20), Dim::Static(10)].into_iter().collect();
        value = b.reshape(value, turned);
        value = b.reshape(value, shape);
    }
    b.result(value, false);
    let memory = spirula_tensor::memory(b.function());
    assert_eq!((memory.made, memory.peak), (6 * 800, 2 * 800));
    let drawn = spirula_tensor::draw(b.function(), &[]);
    assert!(
        drawn.contains("tensors of 4800 bytes, at most 1600 at once"),
        "{drawn}"
    );
}

/// Maps and folds over equal spaces are one dispatch, whichever of them comes first.
#[test]
fn siblings_are_joined() {
    let shape = [6, 50];
    let mut b = Builder::new("main");
    let [x, y] = ["x", "y"].map(|n| b.parameter(n, TensorType::new(Scalar::I32, &shape), false));
    let zero = b.splat(Literal::i32(0), &[]);
    let sums = b.reduce(&[x], &[zero], &[1], Combiner::of(Op::Add, Scalar::I32))[0];
    let seven = b.splat(Literal::i32(7), &[]);
    let most = b.reduce(&[y], &[seven], &[1], Combiner::of(Op::SMax, Scalar::I32))[0];
    let third = b.reduce(&[x], &[seven], &[1], Combiner::of(Op::Xor, Scalar::I32))[0];
    for value in [most, sums, third] {
        b.result(value, false);
    }
    let shapes = [shape.to_vec(), shape.to_vec()];
    for profile in [Profile::CPU, Profile::GPU] {
        only_dispatch(&b.function().clone(), &shapes, profile);
    }
    let mut b = Builder::new("main");
    let [x, y] = ["x", "y"].map(|n| b.parameter(n, TensorType::new(Scalar::I32, &shape), false));
    let sum = b.elementwise(&[x, y], |body, e| body.op(Op::Add, e));
    let product = b.elementwise(&[y, x], |body, e| body.op(Op::Mul, e));
    b.result(product, false);
    b.result(sum, false);
    let stage = only_dispatch(&b.finish(), &shapes, Profile::GPU);
    assert_eq!(stage.matches("over d0").count(), 1, "{stage}");
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

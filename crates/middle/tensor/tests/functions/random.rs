//! Random functions: what their programs compute on the CPU device is what evaluation by definition
//! gives. All arithmetic is on `i32`s, so that the order of folds makes no difference.

use crate::common::{arguments, meaning, product, run};
use proptest::prelude::*;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};
use spirula_tensor::ir::{
    AxisKind, DenseTensorType, DimExtent, ScalarCombiner, ScalarNode, StructuredOp,
    StructuredYield, TensorReduction, TensorShape, TensorSort, TensorValue, YieldDestination,
};
use spirula_tensor::schedule::{DispatchTuning, ScheduleProfile};
use spirula_tensor::{TensorBuilder, compile_function};

/// Most elements of a tensor.
const ELEMENTS: u64 = 3000;

/// Makes a function of random bytes.
struct RandomTensorBuilder {
    b: TensorBuilder,
    values: Vec<TensorValue>,
}

impl RandomTensorBuilder {
    fn new(shapes: &[Vec<u64>]) -> Self {
        let mut b = TensorBuilder::new("main");
        let parameter = |shape: &Vec<u64>| {
            b.add_parameter("x", DenseTensorType::new(ScalarType::I32, shape), false)
        };
        let values = shapes.iter().map(parameter).collect();
        RandomTensorBuilder { b, values }
    }

    fn shape(&self, value: TensorValue) -> TensorShape {
        self.b.ty(value).shape.clone()
    }

    fn sizes(&self, value: TensorValue) -> Vec<u64> {
        self.shape(value)
            .iter()
            .filter_map(|d| d.as_static())
            .collect()
    }

    fn step(&mut self, kind: u8, pick: u8) {
        let value = self.values[usize::from(pick) % self.values.len()];
        let made = match kind % 17 {
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
            13 => self.sort(value, pick),
            14 => self.update(value, pick),
            15 => self.choose(value, pick),
            _ => self.repeat(value, pick),
        };
        let is_small = self
            .b
            .ty(made)
            .element_count()
            .is_some_and(|n| n <= ELEMENTS);
        if is_small {
            self.values.push(made);
        }
    }

    fn binary(&mut self, value: TensorValue, pick: u8) -> TensorValue {
        let shape = self.shape(value);
        let same = |v: &&TensorValue| self.b.ty(**v).shape == shape;
        let other = *self.values.iter().find(same).unwrap_or(&value);
        let op =
            [ScalarOp::Add, ScalarOp::Mul, ScalarOp::SMax, ScalarOp::Sub][usize::from(pick) / 64];
        self.b
            .add_elementwise(&[value, other], |body, e| body.apply_op(op, e))
    }

    fn unary(&mut self, value: TensorValue, pick: u8) -> TensorValue {
        self.b.add_elementwise(&[value], |body, e| {
            let limit = body.intern_literal(ScalarLiteral::from_i32(i32::from(pick)));
            let below = body.apply_op(ScalarOp::SLt, &[e[0], limit]);
            let negative = body.apply_op(ScalarOp::Neg, &[e[0]]);
            // Costly, so that fusion does not always pay.
            let quotient = body.apply_op(ScalarOp::SQuotSafe, &[limit, e[0]]);
            body.apply_op(ScalarOp::Cond, &[below, negative, quotient])
        })
    }

    fn broadcast(&mut self, value: TensorValue, pick: u8) -> TensorValue {
        let mut shape = self.shape(value);
        let at = usize::from(pick) % (shape.len() + 1);
        shape.insert(at, DimExtent::Static(3));
        self.b.add_gather(value, &shape, |_, point| {
            let mut point = point.to_vec();
            point.remove(at);
            point
        })
    }

    fn transpose(&mut self, value: TensorValue) -> TensorValue {
        let shape: Vec<DimExtent> = self.shape(value).iter().rev().copied().collect();
        self.b.add_gather(value, &shape, |_, point| {
            point.iter().rev().copied().collect()
        })
    }

    /// Every second element from the second on, backwards.
    fn slice(&mut self, value: TensorValue) -> TensorValue {
        let sizes = self.sizes(value);
        let shape: Vec<DimExtent> = sizes.iter().map(|n| DimExtent::Static(n / 2)).collect();
        self.b.add_gather(value, &shape, |body, point| {
            let scaled = point.iter().zip(&sizes).map(|(index, size)| {
                let (by, last) = (
                    body.intern_i64(2),
                    body.intern_i64(*size as i64 / 2 * 2 - 1),
                );
                let index = body.apply_op(ScalarOp::Mul, &[*index, by]);
                body.apply_op(ScalarOp::Sub, &[last, index])
            });
            scaled.collect()
        })
    }

    fn pad(&mut self, value: TensorValue) -> TensorValue {
        let sizes = self.sizes(value);
        let shape: Vec<DimExtent> = sizes.iter().map(|n| DimExtent::Static(n + 3)).collect();
        let mut op = StructuredOp::with_parallel_axes(&shape);
        let point = op.axis_indices();
        let body = &mut op.body;
        let mut inside = body.intern_literal(ScalarLiteral::new(ScalarType::Bool, 1));
        let mut position = Vec::new();
        for (index, size) in point.iter().zip(&sizes) {
            let (one, zero, size) = (
                body.intern_i64(1),
                body.intern_i64(0),
                body.intern_i64(*size as i64),
            );
            let index = body.apply_op(ScalarOp::Sub, &[*index, one]);
            let above = body.apply_op(ScalarOp::SLe, &[zero, index]);
            let below = body.apply_op(ScalarOp::SLt, &[index, size]);
            inside = body.apply_op(ScalarOp::LogAnd, &[inside, above]);
            inside = body.apply_op(ScalarOp::LogAnd, &[inside, below]);
            position.push(index);
        }
        let element = body.intern_element(value, ScalarType::I32, &position);
        let seven = body.intern_literal(ScalarLiteral::from_i32(7));
        let chosen = body.apply_op(ScalarOp::Cond, &[inside, element, seven]);
        op.add_yield(chosen);
        self.b.add_structured(op)[0]
    }

    fn reduce(&mut self, value: TensorValue, pick: u8) -> TensorValue {
        let rank = self.shape(value).len();
        if rank == 0 {
            return value;
        }
        let op =
            [ScalarOp::Add, ScalarOp::SMax, ScalarOp::SMin, ScalarOp::Xor][usize::from(pick) % 4];
        let first = [0, i32::MIN, i32::MAX, 0][usize::from(pick) % 4];
        let initial = self.b.add_splat(ScalarLiteral::from_i32(first), &[]);
        let dimension = usize::from(pick / 4) % rank;
        let combiner = ScalarCombiner::from_op(op, ScalarType::I32);
        self.b
            .add_reduction(&[value], &[initial], &[dimension], combiner)[0]
    }

    fn reshape(&mut self, value: TensorValue, pick: u8) -> TensorValue {
        let count: u64 = self.sizes(value).iter().product();
        let factor = [2, 3, 5, 7][usize::from(pick) % 4];
        let shape: TensorShape = if count.is_multiple_of(factor) {
            [count / factor, factor]
                .map(DimExtent::Static)
                .into_iter()
                .collect()
        } else {
            [DimExtent::Static(count)].into_iter().collect()
        };
        self.b.add_reshape(value, shape)
    }

    /// Products of all pairs of rows.
    fn contract(&mut self, value: TensorValue) -> TensorValue {
        match self.sizes(value).len() {
            2 => product(&mut self.b, value, value, true),
            _ => value,
        }
    }

    /// Rows around each row, zeros beyond the ends, times rows of the same tensor.
    fn convolve(&mut self, value: TensorValue) -> TensorValue {
        let [rows, columns] = self.sizes(value)[..] else {
            return value;
        };
        let mut op = StructuredOp::default();
        let i = op.add_axis(DimExtent::Static(rows), AxisKind::Parallel);
        let c = op.add_axis(DimExtent::Static(5), AxisKind::Parallel);
        let k = op.add_axis(DimExtent::Static(3), AxisKind::Reduction);
        let d = op.add_axis(DimExtent::Static(columns), AxisKind::Reduction);
        let body = &mut op.body;
        let (zero, one, size) = (
            body.intern_i64(0),
            body.intern_i64(1),
            body.intern_i64(rows as i64),
        );
        let row = body.apply_op(ScalarOp::Add, &[i, k]);
        let row = body.apply_op(ScalarOp::Sub, &[row, one]);
        let above = body.apply_op(ScalarOp::SLe, &[zero, row]);
        let below = body.apply_op(ScalarOp::SLt, &[row, size]);
        let inside = body.apply_op(ScalarOp::LogAnd, &[above, below]);
        let a = body.intern_element(value, ScalarType::I32, &[row, d]);
        let nothing = body.intern_literal(ScalarLiteral::from_i32(0));
        let a = body.apply_op(ScalarOp::Cond, &[inside, a, nothing]);
        let other = body.apply_op(ScalarOp::Add, &[k, c]);
        let other = body.apply_op(ScalarOp::SMod, &[other, size]);
        let b = body.intern_element(value, ScalarType::I32, &[other, d]);
        let product = body.apply_op(ScalarOp::Mul, &[a, b]);
        let sums = op.add_reduction(TensorReduction {
            initial: vec![nothing],
            values: vec![product],
            combiner: ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32),
        });
        op.add_yield(sums[0]);
        self.b.add_structured(op)[0]
    }

    fn concatenate(&mut self, value: TensorValue) -> TensorValue {
        let sizes = self.sizes(value);
        let Some((first, rest)) = sizes.split_first() else {
            return value;
        };
        let shape: Vec<DimExtent> = std::iter::once(2 * first)
            .chain(rest.iter().copied())
            .map(DimExtent::Static)
            .collect();
        let mut op = StructuredOp::with_parallel_axes(&shape);
        let mut point = op.axis_indices();
        let body = &mut op.body;
        let limit = body.intern_i64(*first as i64);
        let is_first = body.apply_op(ScalarOp::SLt, &[point[0], limit]);
        let one = body.intern_element(value, ScalarType::I32, &point);
        point[0] = body.apply_op(ScalarOp::Sub, &[point[0], limit]);
        let other = body.intern_element(value, ScalarType::I32, &point);
        let other = body.apply_op(ScalarOp::Complement, &[other]);
        let chosen = body.apply_op(ScalarOp::Cond, &[is_first, one, other]);
        op.add_yield(chosen);
        self.b.add_structured(op)[0]
    }

    /// Elements at positions that elements give.
    fn gather(&mut self, value: TensorValue) -> TensorValue {
        let sizes = self.sizes(value);
        let shape = self.shape(value);
        let mut op = StructuredOp::with_parallel_axes(&shape);
        let point = op.axis_indices();
        let position = data_position(&mut op, value, &point, &sizes);
        let element = op.body.intern_element(value, ScalarType::I32, &position);
        op.add_yield(element);
        self.b.add_structured(op)[0]
    }

    /// Sums at positions that elements give; some are outside.
    fn scatter(&mut self, value: TensorValue) -> TensorValue {
        let sizes = self.sizes(value);
        let shape = self.shape(value);
        let mut op = StructuredOp::with_parallel_axes(&shape);
        let point = op.axis_indices();
        let wider: Vec<u64> = sizes.iter().map(|n| n + 1).collect();
        let indices = data_position(&mut op, value, &point, &wider);
        let element = op.body.intern_element(value, ScalarType::I32, &point);
        op.yields.push(StructuredYield {
            value: element,
            destination: YieldDestination::Scatter {
                base: value,
                indices,
                combiner: Some(ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32)),
                distinct: false,
            },
        });
        self.b.add_structured(op)[0]
    }

    /// A window of two elements along each dimension replaced by elements of the same tensor: those of the window itself,
    /// of the row before, or others.
    fn update(&mut self, value: TensorValue, pick: u8) -> TensorValue {
        let sizes = self.sizes(value);
        let window = sizes.iter().map(|size| DimExtent::Static((*size).min(2)));
        let mut op = StructuredOp::with_parallel_axes(&window.collect::<Vec<_>>());
        let point = op.axis_indices();
        let rows = sizes.first().map_or(1, |size| (*size).max(1));
        let row = self.row_of_update(&mut op, rows, pick);
        let mut read = Vec::new();
        let mut indices = Vec::new();
        for (at, (index, size)) in point.iter().zip(&sizes).enumerate() {
            let body = &mut op.body;
            let last = body.intern_i64(*size as i64 - 1);
            let (zero, one) = (body.intern_i64(0), body.intern_i64(1));
            let before = body.apply_op(ScalarOp::Sub, &[row, one]);
            let before = body.apply_op(ScalarOp::SMax, &[before, zero]);
            let (start, other) = match at {
                0 => (row, [row, before, zero][usize::from(pick) % 3]),
                _ => (zero, [zero, one][usize::from(pick.is_multiple_of(5))]),
            };
            let shifted = [start, other].map(|by| body.apply_op(ScalarOp::Add, &[*index, by]));
            indices.push(shifted[0]);
            read.push(body.apply_op(ScalarOp::SMin, &[shifted[1], last]));
        }
        let element = op.body.intern_element(value, ScalarType::I32, &read);
        let three = op.body.intern_literal(ScalarLiteral::from_i32(3));
        let new = op.body.apply_op(ScalarOp::Add, &[element, three]);
        op.yields.push(StructuredYield {
            value: new,
            destination: YieldDestination::Scatter {
                base: value,
                indices,
                combiner: None,
                distinct: true,
            },
        });
        self.b.add_structured(op)[0]
    }

    /// The first row of an update: a number, or one that is known when the program runs. The window may be partly outside.
    fn row_of_update(&self, op: &mut StructuredOp, size: u64, pick: u8) -> ScalarNode {
        let is_scalar = |v: &&TensorValue| self.b.ty(**v).rank() == 0;
        match self.values.iter().rev().find(is_scalar) {
            Some(scalar) if pick.is_multiple_of(2) => {
                let element = op.body.intern_element(*scalar, ScalarType::I32, &[]);
                let wide = op
                    .body
                    .apply_conversion(ScalarOp::ZExt, ScalarType::I64, element);
                let size = op.body.intern_i64(size as i64);
                op.body.apply_op(ScalarOp::UMod, &[wide, size])
            }
            _ => op.body.intern_i64(i64::from(pick) % size as i64),
        }
    }

    /// A branch.
    fn choose(&mut self, value: TensorValue, pick: u8) -> TensorValue {
        let limit = self
            .b
            .add_splat(ScalarLiteral::from_i32(i32::from(pick)), &[]);
        let condition = self.b.add_elementwise(&[limit], |body, v| {
            let other = body.intern_literal(ScalarLiteral::from_i32(100));
            body.apply_op(ScalarOp::SLt, &[v[0], other])
        });
        let ty = self.b.ty(value).clone();
        let [then, otherwise] = [pick, pick ^ 0x5a].map(|pick| {
            let before = self.values.len();
            self.b.begin_block(&[]);
            self.values.push(value);
            let kinds = [14, 1, 0, 11];
            self.step(kinds[usize::from(pick) % 4], pick);
            let same = |v: &&TensorValue| *self.b.ty(**v) == ty;
            let result = *self.values.iter().rev().find(same).unwrap_or(&value);
            self.values.truncate(before);
            self.b.end_block(&[result])
        });
        self.b.add_if(condition, then, otherwise)[0]
    }

    /// A loop of three iterations that carries their number and two values of the same type. The results of its body are the
    /// newest values of that type, which may be the parameters themselves, or each other's.
    fn repeat(&mut self, value: TensorValue, pick: u8) -> TensorValue {
        let ty = self.b.ty(value).clone();
        let same = |v: &&TensorValue| *self.b.ty(**v) == ty;
        let other = *self.values.iter().find(same).unwrap_or(&value);
        let zero = self.b.add_splat(ScalarLiteral::from_i32(0), &[]);
        let carried = [zero, value, other];
        let types = carried.map(|v| self.b.ty(v).clone());
        let state = self.b.begin_block(&types);
        let goes_on = self.b.add_elementwise(&state[..1], |body, v| {
            let limit = body.intern_literal(ScalarLiteral::from_i32(3));
            body.apply_op(ScalarOp::SLt, &[v[0], limit])
        });
        let condition = self.b.end_block(&[goes_on]);
        let before = self.values.len();
        let state = self.b.begin_block(&types);
        self.values.extend(&state);
        let next = self.b.add_elementwise(&state[..1], |body, v| {
            let one = body.intern_literal(ScalarLiteral::from_i32(1));
            body.apply_op(ScalarOp::Add, &[v[0], one])
        });
        let mut random = u32::from(pick);
        for _ in 0..4 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Few blocks are in blocks, so that there is an end.
            let kinds: &[u8] = match pick % 8 {
                0 => &[14, 16, 15, 1],
                _ => &[14, 0, 1, 6, 4, 11, 14, 5],
            };
            let kind = kinds[(random >> 16) as usize % kinds.len()];
            self.step(kind, (random >> 24) as u8);
        }
        let of_type = |v: &&TensorValue| *self.b.ty(**v) == ty;
        let mut newest = self.values.iter().rev().filter(of_type).copied();
        let first = newest.next().unwrap_or(value);
        let second = newest.next().unwrap_or(first);
        self.values.truncate(before);
        let body = self.b.end_block(&[next, first, second]);
        self.b.add_while(&carried, condition, body)[1]
    }

    fn sort(&mut self, value: TensorValue, pick: u8) -> TensorValue {
        let rank = self.shape(value).len();
        if rank == 0 {
            return value;
        }
        let mut comparator = ScalarCombiner::from_op(ScalarOp::SLt, ScalarType::I32);
        if pick.is_multiple_of(2) {
            // By the lowest bits alone, so that there are equal elements.
            comparator = by_low_bits();
        }
        let sort = TensorSort {
            operands: vec![value],
            dimension: usize::from(pick) % rank,
            is_stable: true,
            comparator,
        };
        self.b.add_sort(sort)[0]
    }
}

fn by_low_bits() -> ScalarCombiner {
    let mut body = spirula_tensor::ir::NodeGraph::default();
    let mask = body.intern_literal(ScalarLiteral::from_i32(3));
    let low = [0, 1].map(|at| {
        let argument = body.intern_argument(at, ScalarType::I32);
        body.apply_op(ScalarOp::And, &[argument, mask])
    });
    let results = vec![body.apply_op(ScalarOp::SLt, &low)];
    ScalarCombiner { body, results }
}

/// A position below some sizes, from an element.
fn data_position(
    op: &mut StructuredOp,
    value: TensorValue,
    point: &[ScalarNode],
    sizes: &[u64],
) -> Vec<ScalarNode> {
    let element = op.body.intern_element(value, ScalarType::I32, point);
    let wide = op
        .body
        .apply_conversion(ScalarOp::ZExt, ScalarType::I64, element);
    let by = sizes.iter().map(|size| {
        let size = op.body.intern_i64((*size).max(1) as i64);
        op.body.apply_op(ScalarOp::UMod, &[wide, size])
    });
    by.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn programs_compute_what_functions_mean(
        shapes in prop::collection::vec(prop::collection::vec(1u64..20, 0..3), 1..3),
        steps in prop::collection::vec((any::<u8>(), any::<u8>()), 1..14),
        last in any::<u8>(),
    ) {
        let mut maker = RandomTensorBuilder::new(&shapes);
        for (kind, pick) in steps {
            maker.step(kind, pick);
        }
        let newest = maker.values[maker.values.len() - 1];
        let other = maker.values[usize::from(last) % maker.values.len()];
        maker.b.add_result(newest, false);
        maker.b.add_result(other, false);
        let function = maker.b.finish_function();
        let arguments = arguments(&shapes);
        let expected = meaning(&function, &arguments);
        let text = spirula_tensor::print_function(&function);
        // Vectors where there is only little to do.
        let eager = ScheduleProfile { busy: 1, flat: 2, subgroup: 8, ..ScheduleProfile::GPU };
        for profile in [ScheduleProfile::CPU, ScheduleProfile::GPU, eager] {
            let results = run(function.clone(), profile, &arguments);
            prop_assert_eq!(&results, &expected, "{:?}\n{}", profile, text);
        }
    }
}

/// The longest text of a program whose sort is of few elements.
const LONGEST: usize = 1 << 20;

/// Rounds of a sort are joined, but not so many that what they do doubles with each.
#[test]
fn rounds_of_sorts_do_not_double() {
    let mut maker = RandomTensorBuilder::new(&[vec![15], vec![16, 15]]);
    for (kind, pick) in [(7, 123), (13, 68), (1, 34), (4, 186), (11, 123)] {
        maker.step(kind, pick);
    }
    let newest = maker.values[maker.values.len() - 1];
    maker.b.add_result(newest, false);
    let function = maker.b.finish_function();
    for profile in [ScheduleProfile::CPU, ScheduleProfile::GPU] {
        let tuning = DispatchTuning::default();
        let program = compile_function(function.clone(), profile, &tuning, &mut |_, _| {});
        let text = spirula_kernel::print_program(&program.expect("the function compiles"));
        assert!(text.len() < LONGEST, "{} bytes", text.len());
    }
}

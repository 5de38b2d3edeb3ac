//! The bulge of a QR iteration: reflections that begin with the shifts' column and restore the Hessenberg form row by row.
//!
//! The unitary matrix of a reflection has an effect on few rows and columns. So each step updates the matrix in place.

use super::narrow_reflection::{NarrowReflection, ReflectedSide};
use super::scalar_step::{
    add_sizes, choose_limits, compute_scalars, limit_index, read_scalar, repeat_while,
    replace_elements,
};
use super::schur::{ActiveBlock, IterationPlan, reduce_largest_index};
use super::shift::{BulgeReflector, compute_bulge_reflector};
use crate::translate::element::TensorElement;
use crate::translate::error::TranslateResult;
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_program::ScalarOp as Scalar;
use spirula_tensor::ir::{AxisKind, DimExtent, ScalarNode, StructuredOp};

/// The reflections of one iteration.
pub(super) struct BulgeChase<'a> {
    pub element: TensorElement,
    pub size: u64,
    /// The number of elements of each reflection.
    pub width: u64,
    /// Whether the matrix is needed outside of the block.
    pub is_whole: bool,
    pub block: &'a ActiveBlock,
    pub plan: &'a IterationPlan,
}

/// The numbers that all reflections of an iteration depend on. The loop over the reflections carries them, so that their computation
/// stays before it.
struct ChaseNumbers {
    number: TypedTensor,
    first: TypedTensor,
    last: TypedTensor,
    begin: TypedTensor,
    column: Vec<TypedTensor>,
    is_pair: Option<TypedTensor>,
    pair: Vec<TypedTensor>,
}

impl ChaseNumbers {
    fn list(&self) -> Vec<TypedTensor> {
        let numbers = [&self.number, &self.first, &self.last, &self.begin];
        let mut list = numbers.map(TypedTensor::clone).to_vec();
        list.extend(self.column.iter().cloned());
        list.extend(self.is_pair.iter().cloned());
        list.extend(self.pair.iter().cloned());
        list
    }

    /// The same numbers as a loop carries them.
    fn rebind(&self, list: &[TypedTensor]) -> ChaseNumbers {
        let (column, rest) = list[4..].split_at(self.column.len());
        let (is_pair, pair) = rest.split_at(usize::from(self.is_pair.is_some()));
        ChaseNumbers {
            number: list[0].clone(),
            first: list[1].clone(),
            last: list[2].clone(),
            begin: list[3].clone(),
            column: column.to_vec(),
            is_pair: is_pair.first().cloned(),
            pair: pair.to_vec(),
        }
    }
}

/// A step of the chase: the reflection that begins with a row.
struct ChaseStep<'a> {
    chase: &'a BulgeChase<'a>,
    numbers: ChaseNumbers,
    row: &'a TypedTensor,
}

/// A reflection, and elements of the matrix after it.
struct StepReflection {
    narrow: NarrowReflection,
    corners: Vec<TypedTensor>,
}

impl BulgeChase<'_> {
    fn is_complex(&self) -> bool {
        self.element.component_count() == 2
    }

    /// The row at which the bulge may begin: the last one before which the iteration leaves only negligible elements.
    pub fn find_beginning(
        &self,
        t: &mut StablehloTranslator<'_>,
        matrix: &TypedTensor,
    ) -> TypedTensor {
        let found = compute_scalars(t, |t, s| {
            let k = s.add_axis(DimExtent::Static(self.size), AxisKind::Reduction);
            let [number, first, last] = self.block.read(t, s);
            let column = self.compute_column(t, s, matrix, k);
            let mut c = ScalarBuilder::new(&mut s.body);
            let [before, after] = [-1.0, 1.0].map(|by| {
                let index = c.add_constant(k, by);
                limit_index(&mut c, index, self.size)
            });
            let mut read = |row, column| t.read_element(s, matrix, &[number, row, column]);
            let values = [
                read(k, before),
                read(before, before),
                read(k, k),
                read(after, after),
            ];
            let mut c = ScalarBuilder::new(&mut s.body);
            let [low, left, own, right] = values.map(|value| add_sizes(&mut c, &value));
            let sizes: Vec<ScalarNode> = column
                .iter()
                .map(|value| add_sizes(&mut c, value))
                .collect();
            let rest = sizes[1..]
                .iter()
                .copied()
                .reduce(|a, b| c.add(a, b))
                .unwrap_or(low);
            let left_behind = c.mul(low, rest);
            let around = c.add(left, own);
            let around = c.add(around, right);
            let around = c.mul(sizes[0], around);
            let bound = c.mul_constant(around, choose_limits(self.element, self.size)[0]);
            let is_negligible = c.le(left_behind, bound);
            let end = c.add_constant(last, 2.0 - self.width as f64);
            let is_inside = c.is_between(k, [first, end]);
            let is_possible = c.and(is_inside, is_negligible);
            let candidate = c.select(is_possible, k, first);
            vec![reduce_largest_index(s, candidate)]
        });
        found
            .into_iter()
            .next()
            .unwrap_or_else(|| self.block.first.clone())
    }

    /// The column that the first reflection of a bulge at a row reduces.
    pub fn begin_bulge(
        &self,
        t: &mut StablehloTranslator<'_>,
        begin: &TypedTensor,
        matrix: &TypedTensor,
    ) -> Vec<TypedTensor> {
        compute_scalars(t, |t, s| {
            let row = read_scalar(t, s, begin).node();
            self.compute_column(t, s, matrix, row)
        })
    }

    /// The first elements of the shifted matrix's first column, or of the product of both for a double shift, up to a factor.
    fn compute_column(
        &self,
        t: &StablehloTranslator<'_>,
        s: &mut StructuredOp,
        matrix: &TypedTensor,
        row: ScalarNode,
    ) -> Vec<ElementValue> {
        let number = read_scalar(t, s, &self.block.number).node();
        let shift: Vec<ElementValue> = self
            .plan
            .shift
            .iter()
            .map(|tensor| read_scalar(t, s, tensor))
            .collect();
        let mut c = ScalarBuilder::new(&mut s.body);
        let [second, third] = [1.0, 2.0].map(|by| {
            let index = c.add_constant(row, by);
            limit_index(&mut c, index, self.size)
        });
        let mut read = |row, column| t.read_element(s, matrix, &[number, row, column]);
        let (own, low) = (read(row, row), read(second, row));
        if self.is_complex() {
            let mut c = ScalarBuilder::new(&mut s.body);
            return vec![c.subtract_values(&own, &shift[0]), low];
        }
        let (above, next, lower) = (read(row, second), read(second, second), read(third, second));
        let [own, low, above, next, lower] =
            [own, low, above, next, lower].map(|value| value.node());
        let (re, im) = (shift[0].node(), shift[1].node());
        let mut c = ScalarBuilder::new(&mut s.body);
        let own = c.sub(own, re);
        let next = c.sub(next, re);
        let sizes = [own, im, low].map(|node| c.abs(node));
        let scale = sizes.into_iter().reduce(|a, b| c.add(a, b)).unwrap_or(own);
        let zero = c.constant_like(scale, 0.0);
        let one = c.constant_like(scale, 1.0);
        let is_zero = c.eq(scale, zero);
        let scale = c.select(is_zero, one, scale);
        let [low, own_ratio, im_ratio] = [low, own, im].map(|node| c.div(node, scale));
        let products = [(low, above), (own, own_ratio), (im, im_ratio)].map(|(a, b)| c.mul(a, b));
        let first = products
            .into_iter()
            .reduce(|a, b| c.add(a, b))
            .unwrap_or(own);
        let sum = c.add(own, next);
        let column = [first, c.mul(low, sum), c.mul(low, lower)];
        column
            .map(|node| ElementValue::new(self.element, node))
            .to_vec()
    }

    /// Applies all reflections to the matrix and, on one side, to the adjoint of the unitary matrix if there is one.
    pub fn run(
        &self,
        t: &mut StablehloTranslator<'_>,
        begin: &TypedTensor,
        column: Vec<TypedTensor>,
        start: TypedTensor,
        tensors: Vec<TypedTensor>,
    ) -> TranslateResult<Vec<TypedTensor>> {
        let numbers = ChaseNumbers {
            number: self.block.number.clone(),
            first: self.block.first.clone(),
            last: self.block.last.clone(),
            begin: begin.clone(),
            column,
            is_pair: self.plan.is_pair.clone(),
            pair: self.plan.pair.clone(),
        };
        let list = numbers.list();
        let mut initial = vec![start];
        initial.extend(list.iter().cloned());
        let first = initial.len();
        initial.extend(tensors);
        let goes_on = |t: &StablehloTranslator<'_>, s: &mut StructuredOp, state: &[TypedTensor]| {
            let numbers = numbers.rebind(&state[1..first]);
            let row = read_scalar(t, s, &state[0]).node();
            let last = read_scalar(t, s, &numbers.last).node();
            ScalarBuilder::new(&mut s.body).lt(row, last)
        };
        let mut results = repeat_while(t, &initial, goes_on, |t, state| {
            let step = ChaseStep {
                chase: self,
                numbers: numbers.rebind(&state[1..first]),
                row: &state[0],
            };
            let reflection = step.find_reflection(t, &state[first]);
            let [columns, rows, whole] = step.find_ranges(t);
            let (matrix, narrow) = (&state[first], &reflection.narrow);
            let left = narrow.apply(t, matrix, ReflectedSide::Rows, columns, self.size)?;
            let both = narrow.apply(t, &left, ReflectedSide::Columns, rows, self.size)?;
            let mut after = compute_scalars(t, |t, s| {
                let row = read_scalar(t, s, step.row).node();
                let next = ScalarBuilder::new(&mut s.body).add_constant(row, 1.0);
                vec![ElementValue::new(TensorElement::I64, next)]
            });
            after.extend(state[1..first].iter().cloned());
            after.push(step.set_corners(t, &reflection, &both));
            for adjoint in &state[first + 1..] {
                let whole = whole.clone();
                after.push(narrow.apply(t, adjoint, ReflectedSide::Rows, whole, self.size)?);
            }
            Ok(after)
        })?;
        Ok(results.split_off(first))
    }
}

impl ChaseStep<'_> {
    fn find_reflection(
        &self,
        t: &mut StablehloTranslator<'_>,
        matrix: &TypedTensor,
    ) -> StepReflection {
        let values = compute_scalars(t, |t, s| {
            let [number, last, k, begin] = [
                &self.numbers.number,
                &self.numbers.last,
                self.row,
                &self.numbers.begin,
            ]
            .map(|tensor| read_scalar(t, s, tensor).node());
            let mut c = ScalarBuilder::new(&mut s.body);
            let is_begin = c.eq(k, begin);
            let before = c.add_constant(k, -1.0);
            let before = limit_index(&mut c, before, self.chase.size);
            let old = t.read_element(s, matrix, &[number, k, before]);
            let mut elements = Vec::new();
            for (at, start) in self.numbers.column.iter().enumerate() {
                let start = read_scalar(t, s, start);
                let mut c = ScalarBuilder::new(&mut s.body);
                let index = c.add_constant(k, at as f64);
                let is_inside = c.le(index, last);
                let index = limit_index(&mut c, index, self.chase.size);
                let own = t.read_element(s, matrix, &[number, index, before]);
                let mut c = ScalarBuilder::new(&mut s.body);
                let zero = c.make_constant_value(self.chase.element, 0.0);
                let own = c.select_value(is_inside, &own, &zero);
                elements.push(c.select_value(is_begin, &start, &own));
            }
            let mut c = ScalarBuilder::new(&mut s.body);
            let BulgeReflector { corner, tau, tail } = compute_bulge_reflector(&mut c, &elements);
            let one = c.make_constant_value(self.chase.element, 1.0);
            let conjugate = c.conjugate_value(&tau);
            let kept = c.subtract_values(&one, &conjugate);
            let kept = c.multiply_values(&old, &kept);
            let corner = c.select_value(is_begin, &kept, &corner);
            let mut values = vec![tau];
            values.extend(tail);
            values.push(corner);
            self.select_pair_step(t, s, values)
        });
        let (tau, rest) = values.split_at(1);
        let (tail, corners) = rest.split_at(self.chase.width as usize - 1);
        StepReflection {
            narrow: NarrowReflection {
                number: self.numbers.number.clone(),
                row: self.row.clone(),
                tau: tau[0].clone(),
                tail: tail.to_vec(),
            },
            corners: corners.to_vec(),
        }
    }

    /// The reflection and the corner of a step, or those of a real block of two.
    fn select_pair_step(
        &self,
        t: &StablehloTranslator<'_>,
        s: &mut StructuredOp,
        mut values: Vec<ElementValue>,
    ) -> Vec<ElementValue> {
        let Some(is_pair) = &self.numbers.is_pair else {
            return values;
        };
        let is_pair = read_scalar(t, s, is_pair).node();
        let pair: Vec<ElementValue> = self
            .numbers
            .pair
            .iter()
            .map(|tensor| read_scalar(t, s, tensor))
            .collect();
        let mut c = ScalarBuilder::new(&mut s.body);
        let zero = c.make_constant_value(self.chase.element, 0.0);
        values.extend([zero.clone(), zero.clone(), zero.clone()]);
        // τ, both elements of v, and four elements of the block.
        let chosen = [
            &pair[0], &pair[1], &zero, &pair[2], &pair[3], &pair[4], &pair[5],
        ];
        let both = chosen.into_iter().zip(&values);
        both.map(|(pair, value)| c.select_value(is_pair, pair, value))
            .collect()
    }

    /// The ranges of columns and of rows that the reflection changes, and that of all columns of the adjoint.
    fn find_ranges(&self, t: &mut StablehloTranslator<'_>) -> [[TypedTensor; 2]; 3] {
        let ends = compute_scalars(t, |t, s| {
            let [row, first, last] = [self.row, &self.numbers.first, &self.numbers.last]
                .map(|tensor| read_scalar(t, s, tensor).node());
            let mut c = ScalarBuilder::new(&mut s.body);
            let end = c.add_constant(last, 1.0);
            let zero = c.body.intern_i64(0);
            let size = c.body.intern_i64(self.chase.size as i64);
            let next = c.add_constant(row, self.chase.width as f64 + 1.0);
            let row_end = c.apply_binary(Scalar::SMin, next, end);
            let (column_end, row_start) = if self.chase.is_whole {
                (size, zero)
            } else {
                (end, first)
            };
            let nodes = [row, column_end, row_start, row_end, zero, size];
            nodes
                .map(|node| ElementValue::new(TensorElement::I64, node))
                .to_vec()
        });
        [0, 2, 4].map(|at| [ends[at].clone(), ends[at + 1].clone()])
    }

    /// The matrix with the elements that a reflection is known to lead to: a column below the subdiagonal, or a block of two.
    fn set_corners(
        &self,
        t: &mut StablehloTranslator<'_>,
        reflection: &StepReflection,
        matrix: &TypedTensor,
    ) -> TypedTensor {
        let count = if self.chase.is_complex() {
            self.chase.width
        } else {
            4
        };
        replace_elements(t, matrix, &[count], |t, s, point| {
            let number = read_scalar(t, s, &self.numbers.number).node();
            let row = read_scalar(t, s, self.row).node();
            let is_pair = self
                .numbers
                .is_pair
                .as_ref()
                .map(|pair| read_scalar(t, s, pair).node());
            let corners: Vec<ElementValue> = reflection
                .corners
                .iter()
                .map(|tensor| read_scalar(t, s, tensor))
                .collect();
            let mut c = ScalarBuilder::new(&mut s.body);
            let mut value = c.make_constant_value(self.chase.element, 0.0);
            for (at, corner) in corners.iter().enumerate().rev() {
                let at = c.body.intern_i64(at as i64);
                let is_here = c.eq(point[0], at);
                value = c.select_value(is_here, corner, &value);
            }
            let (mut at_row, mut at_column) = (c.add(row, point[0]), c.add_constant(row, -1.0));
            if let Some(is_pair) = is_pair {
                let two = c.body.intern_i64(2);
                // A reflection has three elements: the fourth is not written.
                let width = c.body.intern_i64(self.chase.width as i64);
                let exists = c.lt(point[0], width);
                let outside = c.body.intern_i64(-1);
                at_row = c.select(exists, at_row, outside);
                let (pair_row, pair_column) = (
                    c.apply_binary(Scalar::SDiv, point[0], two),
                    c.apply_binary(Scalar::SMod, point[0], two),
                );
                let (pair_row, pair_column) = (c.add(row, pair_row), c.add(row, pair_column));
                at_row = c.select(is_pair, pair_row, at_row);
                at_column = c.select(is_pair, pair_column, at_column);
            }
            (vec![number, at_row, at_column], value)
        })
    }
}

//! Reflections of a few rows or columns of a matrix, in a range of the other index.
//!
//! A loop runs over pieces of the range. The matrix has room for whole pieces, and for all rows and columns of the reflection.

use super::scalar_step::{compute_scalars, read_scalar, repeat_while, replace_elements};
use crate::translate::element::TensorElement;
use crate::translate::error::TranslateResult;
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_program::ScalarOp as Scalar;
use spirula_tensor::ir::{DimExtent, ScalarNode, StructuredOp};

/// The side of a matrix on which a reflection is applied.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ReflectedSide {
    Rows,
    Columns,
}

/// A reflection 1 − τ v vᴴ, where v begins with 1, of rows or columns from one on, in one matrix of a batch. All are tensors of
/// rank 0.
pub(super) struct NarrowReflection {
    pub number: TypedTensor,
    pub row: TypedTensor,
    pub tau: TypedTensor,
    /// v without its first element.
    pub tail: Vec<TypedTensor>,
}

/// Rows and columns that a matrix needs, so that pieces of a range and reflections are within it.
pub(super) fn choose_room(element: TensorElement, size: u64) -> [u64; 2] {
    let rows = (size + 1).next_multiple_of(choose_piece(size));
    // Rows of such lengths have their elements of one column in few places of a cache.
    let is_regular = (rows * element.storage_type().size()).is_multiple_of(512);
    let more = if is_regular { choose_piece(size) } else { 0 };
    [rows, rows + more]
}

/// The length of a piece.
fn choose_piece(size: u64) -> u64 {
    if size < 32 { 8 } else { 16 }
}

impl NarrowReflection {
    /// The matrices with the reflection applied in a range, which begins and ends with whole pieces.
    pub fn apply(
        &self,
        t: &mut StablehloTranslator<'_>,
        matrix: &TypedTensor,
        side: ReflectedSide,
        range: [TypedTensor; 2],
        size: u64,
    ) -> TranslateResult<TypedTensor> {
        let piece = choose_piece(size);
        let [start, end] = range;
        let start = compute_scalars(t, |t, s| {
            let start = read_scalar(t, s, &start).node();
            let mut c = ScalarBuilder::new(&mut s.body);
            let piece = c.body.intern_i64(piece as i64);
            let rest = c.apply_binary(Scalar::SMod, start, piece);
            let start = c.sub(start, rest);
            vec![ElementValue::new(TensorElement::I64, start)]
        });
        let mut initial = start;
        let numbers = [&end, &self.number, &self.row, &self.tau];
        initial.extend(numbers.map(TypedTensor::clone));
        initial.extend(self.tail.iter().cloned());
        initial.push(matrix.clone());
        let goes_on = |t: &StablehloTranslator<'_>, s: &mut StructuredOp, state: &[TypedTensor]| {
            let [at, end] = [0, 1].map(|number| read_scalar(t, s, &state[number]).node());
            ScalarBuilder::new(&mut s.body).lt(at, end)
        };
        let results = repeat_while(t, &initial, goes_on, |t, state| {
            let last = state.len() - 1;
            let step = NarrowReflection {
                number: state[2].clone(),
                row: state[3].clone(),
                tau: state[4].clone(),
                tail: state[5..last].to_vec(),
            };
            let changed = step.apply_piece(t, &state[last], side, &state[0], piece);
            let mut next = compute_scalars(t, |t, s| {
                let at = read_scalar(t, s, &state[0]).node();
                let next = ScalarBuilder::new(&mut s.body).add_constant(at, piece as f64);
                vec![ElementValue::new(TensorElement::I64, next)]
            });
            next.extend(state[1..last].iter().cloned());
            next.push(changed);
            Ok(next)
        })?;
        Ok(results[initial.len() - 1].clone())
    }

    fn apply_piece(
        &self,
        t: &mut StablehloTranslator<'_>,
        matrix: &TypedTensor,
        side: ReflectedSide,
        start: &TypedTensor,
        piece: u64,
    ) -> TypedTensor {
        let mut s = StructuredOp::with_parallel_axes(&[DimExtent::Static(piece)]);
        let point = s.axis_indices()[0];
        let tau = read_scalar(t, &mut s, &self.tau);
        let position = self.find_position(t, &mut s, side, 0, start, point);
        let mut sum = t.read_element(&mut s, matrix, &position);
        for (at, tail) in self.tail.iter().enumerate() {
            let tail = read_scalar(t, &mut s, tail);
            let position = self.find_position(t, &mut s, side, at + 1, start, point);
            let own = t.read_element(&mut s, matrix, &position);
            let mut c = ScalarBuilder::new(&mut s.body);
            let factor = side.conjugate_rows(&mut c, &tail);
            let product = c.multiply_values(&factor, &own);
            sum = c.add_values(&sum, &product);
        }
        let mut c = ScalarBuilder::new(&mut s.body);
        let tau = side.conjugate_rows(&mut c, &tau);
        let sum = c.multiply_values(&tau, &sum);
        let sums = t.finish_structured(s, &sum);
        let mut result = matrix.clone();
        for at in 0..=self.tail.len() {
            let before = result;
            result = replace_elements(t, &before, &[piece], |t, s, point| {
                let sum = t.read_element(s, &sums, point);
                let position = self.find_position(t, s, side, at, start, point[0]);
                let own = t.read_element(s, &before, &position);
                let tail = at
                    .checked_sub(1)
                    .map(|at| read_scalar(t, s, &self.tail[at]));
                let mut c = ScalarBuilder::new(&mut s.body);
                let change = match tail {
                    Some(tail) if side == ReflectedSide::Columns => {
                        let tail = c.conjugate_value(&tail);
                        c.multiply_values(&sum, &tail)
                    }
                    Some(tail) => c.multiply_values(&sum, &tail),
                    None => sum,
                };
                (position, c.subtract_values(&own, &change))
            });
        }
        result
    }

    /// The position of a point of a piece in a row or column of the reflection.
    fn find_position(
        &self,
        t: &StablehloTranslator<'_>,
        s: &mut StructuredOp,
        side: ReflectedSide,
        at: usize,
        start: &TypedTensor,
        point: ScalarNode,
    ) -> Vec<ScalarNode> {
        let [number, row, start] =
            [&self.number, &self.row, start].map(|tensor| read_scalar(t, s, tensor).node());
        let mut c = ScalarBuilder::new(&mut s.body);
        let index = c.add_constant(row, at as f64);
        let across = c.add(start, point);
        match side {
            ReflectedSide::Rows => vec![number, index, across],
            ReflectedSide::Columns => vec![number, across, index],
        }
    }
}

impl ReflectedSide {
    /// The conjugate of a value for rows, the value itself for columns.
    fn conjugate_rows(self, c: &mut ScalarBuilder<'_>, value: &ElementValue) -> ElementValue {
        match self {
            ReflectedSide::Rows => c.conjugate_value(value),
            ReflectedSide::Columns => value.clone(),
        }
    }
}

//! `gtsv`: systems with a tridiagonal matrix by elimination with exchanges of rows, one row in each iteration.
//!
//! The factor U has two diagonals beside the first. A solution without failure replaces pivots that are too small, as inverse
//! iterations need it.

use super::scalar_step::{add_sizes, choose_limits, limit_index, replace_elements};
use super::{LapackCall, append_index, find_first_failure, finish_all, read_iteration_number};
use crate::mlir::MlirOp;
use crate::translate::error::TranslateResult;
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_program::ScalarOp as Scalar;
use spirula_tensor::ir::{DimExtent, ScalarNode, StructuredOp, TensorShape, TensorValue};

/// Systems with one dimension of a batch: the diagonals, of which the last element of the upper and the first of the lower one have
/// no meaning, and the right sides as columns.
struct TridiagonalSystem {
    lower: TypedTensor,
    diagonal: TypedTensor,
    upper: TypedTensor,
    sides: TypedTensor,
    count: u64,
    rows: u64,
    columns: u64,
}

/// The diagonals of U, the second one beside its diagonal first; the solution, and `info`.
pub(super) fn translate_gtsv(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
) -> TranslateResult<Vec<TypedTensor>> {
    let system = TridiagonalSystem::from_operands(t, call.op, call.operands)?;
    let factors = system.eliminate(t)?;
    let solution = system.substitute(t, &factors, None)?;
    let [diagonal, upper, second] = [0, 1, 2].map(|at| &factors[at]);
    let info = find_first_failure(t, diagonal, |c, pivot| {
        let size = c.square_size(pivot);
        let zero = c.constant_like(size, 0.0);
        c.eq(size, zero)
    });
    let mut results = Vec::new();
    for (tensor, like) in [second, diagonal, upper, &solution]
        .into_iter()
        .zip(call.operands)
    {
        let shape = t.tensor_shape(like);
        results.push(t.reshape_tensor(call.op, tensor, shape)?);
    }
    let mut batch = t.tensor_shape(&call.operands[0]);
    batch.pop();
    results.push(t.reshape_tensor(call.op, &info, batch)?);
    Ok(results)
}

/// The solution of systems that may be singular.
pub(super) fn solve_perturbed(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    operands: &[TypedTensor],
) -> TranslateResult<TypedTensor> {
    let system = TridiagonalSystem::from_operands(t, op, operands)?;
    let least = system.find_least_pivots(t);
    let factors = system.eliminate(t)?;
    let solution = system.substitute(t, &factors, Some(&least))?;
    let shape = t.tensor_shape(&operands[3]);
    t.reshape_tensor(op, &solution, shape)
}

impl TridiagonalSystem {
    fn from_operands(
        t: &mut StablehloTranslator<'_>,
        op: MlirOp,
        operands: &[TypedTensor],
    ) -> TranslateResult<TridiagonalSystem> {
        let mut sizes = t.static_sizes(op, &operands[3])?;
        let columns = sizes.pop().unwrap_or(0);
        for operand in &operands[..3] {
            let fits = t.static_sizes(op, operand)? == sizes && !sizes.is_empty();
            t.ensure_holds(op, fits, "has diagonals that do not fit")?;
        }
        let rows = sizes.pop().unwrap_or(0);
        let count = sizes.iter().product();
        let shape = |sizes: &[u64]| -> TensorShape {
            sizes.iter().map(|size| DimExtent::Static(*size)).collect()
        };
        let lines = shape(&[count, rows]);
        Ok(TridiagonalSystem {
            lower: t.reshape_tensor(op, &operands[0], lines.clone())?,
            diagonal: t.reshape_tensor(op, &operands[1], lines.clone())?,
            upper: t.reshape_tensor(op, &operands[2], lines)?,
            sides: t.reshape_tensor(op, &operands[3], shape(&[count, rows, columns]))?,
            count,
            rows,
            columns,
        })
    }

    fn line_shape(&self) -> TensorShape {
        TensorShape::from_slice(&[DimExtent::Static(self.count)])
    }

    /// The first row of a tensor.
    fn read_first(
        &self,
        t: &mut StablehloTranslator<'_>,
        tensor: &TypedTensor,
    ) -> TranslateResult<TypedTensor> {
        let mut shape = t.tensor_shape(tensor);
        shape.remove(1);
        t.gather_elements(tensor, &shape, |c, point| {
            let mut position = point.to_vec();
            position.insert(1, c.body.intern_i64(0));
            position
        })
    }

    /// The diagonals of U, and the right sides after the elimination. An iteration has the rest of a row, and exchanges it
    /// with the next one where that begins with a larger element.
    fn eliminate(&self, t: &mut StablehloTranslator<'_>) -> TranslateResult<Vec<TypedTensor>> {
        if self.rows == 0 {
            let same = &self.diagonal;
            return Ok(vec![
                same.clone(),
                same.clone(),
                same.clone(),
                self.sides.clone(),
            ]);
        }
        let initial = [
            self.read_first(t, &self.diagonal)?,
            self.read_first(t, &self.upper)?,
            self.read_first(t, &self.sides)?,
            t.emit_zeros(self.diagonal.element, &t.tensor_shape(&self.diagonal)),
            t.emit_zeros(self.diagonal.element, &t.tensor_shape(&self.diagonal)),
            t.emit_zeros(self.diagonal.element, &t.tensor_shape(&self.diagonal)),
            t.emit_zeros(self.diagonal.element, &t.tensor_shape(&self.sides)),
        ];
        let count = DimExtent::Static(self.rows);
        let reduced = t.iterate_tensors(&initial, count, |t, state, round| {
            let row = self.eliminate_row(t, [&state[0], &state[1]], round);
            let line = [
                DimExtent::Static(self.count),
                DimExtent::Static(self.columns),
            ];
            let sides = self.combine_sides(t, &state[2], &row, &line, round);
            let mut next = vec![row[3].clone(), row[4].clone(), sides[1].clone()];
            for (at, value) in row[..3].iter().enumerate() {
                next.push(self.store_row(t, &state[3 + at], value, &[self.count], round));
            }
            let sizes = [self.count, self.columns];
            next.push(self.store_row(t, &state[6], &sides[0], &sizes, round));
            Ok(next)
        })?;
        Ok(reduced[3..].to_vec())
    }

    /// The row of U, the beginning of the next row, the factor of the row that is subtracted, and whether rows are exchanged.
    fn eliminate_row(
        &self,
        t: &mut StablehloTranslator<'_>,
        [pivot, beside]: [&TypedTensor; 2],
        round: TensorValue,
    ) -> Vec<TypedTensor> {
        let mut s = StructuredOp::with_parallel_axes(&self.line_shape());
        let point = s.axis_indices();
        let (next, has_next) = self.find_next_row(&mut s, round);
        let (own, own_beside) = (
            t.read_element(&mut s, pivot, &point),
            t.read_element(&mut s, beside, &point),
        );
        let place = append_index(&point, next);
        let [low, middle, high] = [&self.lower, &self.diagonal, &self.upper]
            .map(|tensor| t.read_element(&mut s, tensor, &place));
        let mut c = ScalarBuilder::new(&mut s.body);
        let zero = c.make_constant_value(own.element, 0.0);
        let low = c.select_value(has_next, &low, &zero);
        // The last row has no element beside the diagonal.
        let own_beside = c.select_value(has_next, &own_beside, &zero);
        let (own_size, low_size) = (add_sizes(&mut c, &own), add_sizes(&mut c, &low));
        let nothing = c.constant_like(low_size, 0.0);
        let is_exchanged = c.lt(own_size, low_size);
        let is_ready = c.eq(low_size, nothing);
        let (small, large) = (
            c.select_value(is_exchanged, &own, &low),
            c.select_value(is_exchanged, &low, &own),
        );
        let factor = c.divide_values(&small, &large);
        let factor = c.select_value(is_ready, &zero, &factor);
        let mut subtract = |from: &ElementValue, of: &ElementValue| {
            let change = c.multiply_values(&factor, of);
            c.subtract_values(from, &change)
        };
        let (exchanged, kept) = (
            subtract(&own_beside, &middle),
            subtract(&middle, &own_beside),
        );
        let exchanged_beside = subtract(&zero, &high);
        let values = [
            large,
            c.select_value(is_exchanged, &middle, &own_beside),
            c.select_value(is_exchanged, &high, &zero),
            c.select_value(is_exchanged, &exchanged, &kept),
            c.select_value(is_exchanged, &exchanged_beside, &high),
            factor,
            ElementValue::from_truth(is_exchanged),
        ];
        finish_all(t, s, &values)
    }

    /// The next row, limited to the last one, and whether there is one.
    fn find_next_row(&self, s: &mut StructuredOp, round: TensorValue) -> (ScalarNode, ScalarNode) {
        let row = read_iteration_number(s, round);
        let mut c = ScalarBuilder::new(&mut s.body);
        let next = c.add_constant(row, 1.0);
        let end = c.body.intern_i64(self.rows as i64);
        let has_next = c.lt(next, end);
        (limit_index(&mut c, next, self.rows), has_next)
    }

    /// The right sides of the row of U and of the rest of the next row.
    fn combine_sides(
        &self,
        t: &mut StablehloTranslator<'_>,
        sides: &TypedTensor,
        row: &[TypedTensor],
        shape: &[DimExtent],
        round: TensorValue,
    ) -> Vec<TypedTensor> {
        let mut s = StructuredOp::with_parallel_axes(shape);
        let point = s.axis_indices();
        let (next, _) = self.find_next_row(&mut s, round);
        let own = t.read_element(&mut s, sides, &point);
        let other = t.read_element(&mut s, &self.sides, &[point[0], next, point[1]]);
        let factor = t.read_element(&mut s, &row[5], &point[..1]);
        let is_exchanged = t.read_element(&mut s, &row[6], &point[..1]).node();
        let mut c = ScalarBuilder::new(&mut s.body);
        let first = c.select_value(is_exchanged, &other, &own);
        let second = c.select_value(is_exchanged, &own, &other);
        let change = c.multiply_values(&factor, &first);
        let rest = c.subtract_values(&second, &change);
        finish_all(t, s, &[first, rest])
    }

    /// A tensor with a row replaced.
    fn store_row(
        &self,
        t: &mut StablehloTranslator<'_>,
        tensor: &TypedTensor,
        values: &TypedTensor,
        sizes: &[u64],
        row: TensorValue,
    ) -> TypedTensor {
        replace_elements(t, tensor, sizes, |t, s, point| {
            let value = t.read_element(s, values, point);
            let mut position = point.to_vec();
            position.insert(1, read_iteration_number(s, row));
            (position, value)
        })
    }

    /// The size below which a pivot is replaced: the unit of rounding of the largest element.
    fn find_least_pivots(&self, t: &mut StablehloTranslator<'_>) -> TypedTensor {
        let mut s = StructuredOp::with_parallel_axes(&self.line_shape());
        let point = s.axis_indices();
        let row = s.add_axis(
            DimExtent::Static(self.rows),
            spirula_tensor::ir::AxisKind::Reduction,
        );
        let place = append_index(&point, row);
        let [low, own, high] = [&self.lower, &self.diagonal, &self.upper]
            .map(|tensor| t.read_element(&mut s, tensor, &place));
        let mut c = ScalarBuilder::new(&mut s.body);
        let [low, own, high] = [low, own, high].map(|value| add_sizes(&mut c, &value));
        let (first, last) = (
            c.body.intern_i64(0),
            c.body.intern_i64(self.rows as i64 - 1),
        );
        let zero = c.constant_like(own, 0.0);
        let (is_first, is_last) = (c.eq(row, first), c.eq(row, last));
        let (low, high) = (c.select(is_first, zero, low), c.select(is_last, zero, high));
        let size = c.apply_binary(Scalar::FMax, low, own);
        let size = c.apply_binary(Scalar::FMax, size, high);
        let largest = super::reduce_real_largest(&mut s, size);
        let [unit, least] = choose_limits(self.diagonal.element, self.rows);
        let mut c = ScalarBuilder::new(&mut s.body);
        let bound = c.mul_constant(largest, unit);
        let least = c.constant_like(bound, least);
        let bound = c.apply_binary(Scalar::FMax, bound, least);
        let real = self.diagonal.element.component_element();
        t.finish_structured(s, &ElementValue::new(real, bound))
    }

    /// The solution, from the last row to the first. An iteration has the two rows after its own.
    fn substitute(
        &self,
        t: &mut StablehloTranslator<'_>,
        factors: &[TypedTensor],
        least: Option<&TypedTensor>,
    ) -> TranslateResult<TypedTensor> {
        let line = TensorShape::from_slice(&[
            DimExtent::Static(self.count),
            DimExtent::Static(self.columns),
        ]);
        let zeros = t.emit_zeros(self.sides.element, &line);
        let initial = [zeros.clone(), zeros, factors[3].clone()];
        let count = DimExtent::Static(self.rows);
        let solved = t.iterate_tensors(&initial, count, |t, state, round| {
            let row = t.builder.add_elementwise(&[round], |body, v| {
                let mut c = ScalarBuilder::new(body);
                let last = c.constant_like(v[0], self.rows as f64 - 1.0);
                c.sub(last, v[0])
            });
            let values = t.map_points(&line, |t, s, point| {
                let i = read_iteration_number(s, row);
                let own = t.read_element(s, &state[2], &[point[0], i, point[1]]);
                let [pivot, beside, second] =
                    [0, 1, 2].map(|at| t.read_element(s, &factors[at], &[point[0], i]));
                let [after, later] = [0, 1].map(|at| t.read_element(s, &state[at], point));
                let least = least.map(|least| t.read_element(s, least, &point[..1]).node());
                let mut c = ScalarBuilder::new(&mut s.body);
                let changes = [(&beside, &after), (&second, &later)]
                    .map(|(factor, value)| c.multiply_values(factor, value));
                let rest = c.subtract_values(&own, &changes[0]);
                let rest = c.subtract_values(&rest, &changes[1]);
                let pivot = match least {
                    Some(least) => replace_small_pivot(&mut c, &pivot, least),
                    None => pivot,
                };
                Ok(c.divide_values(&rest, &pivot))
            })?;
            let sizes = [self.count, self.columns];
            let stored = self.store_row(t, &state[2], &values, &sizes, row);
            Ok(vec![values, state[0].clone(), stored])
        })?;
        Ok(solved[2].clone())
    }
}

/// A pivot, or a number of the least size with the sign of its real part.
fn replace_small_pivot(
    c: &mut ScalarBuilder<'_>,
    pivot: &ElementValue,
    least: ScalarNode,
) -> ElementValue {
    let size = add_sizes(c, pivot);
    let is_small = c.lt(size, least);
    let other = c.copy_sign(least, pivot.node());
    let other = c.of_real(pivot.element, other);
    c.select_value(is_small, &other, pivot)
}

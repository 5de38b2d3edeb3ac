//! `gesdd` and `gesvd`: singular values and vectors by Jacobi's method on the columns (M. R.
//! Hestenes, 1958).
//!
//! Rotations make the columns of a matrix, which has at least as many rows, orthogonal. Their norms
//! are the singular values. A QR factorisation of them yields the left vectors. They are orthogonal
//! even where a norm is 0, and complete. Columns are kept as rows, which are contiguous.
//!
//! Of larger matrices, the eigenvectors of the products of columns make these almost orthogonal
//! before. Few sweeps of rotations then suffice, often one.

use super::eigen::{SMALL, find_hermitian_spectrum};
use super::general::ScaledMatrices;
use super::jacobi::{JacobiPairing, RotationColumn, compute_rotation_column};
use super::matrix_product::{MatrixFactor, multiply_matrices};
use super::scalar_step::{choose_limits, compute_scalars, make_integer, read_scalar, repeat_while};
use super::{
    LapackCall, MatrixBatch, append_index, build_identity, finish_all, qr, read_iteration_number,
    reduce_real_largest, reduce_real_sum,
};
use crate::dialect::ComparisonDirection;
use crate::translate::element::TensorElement;
use crate::translate::error::TranslateResult;
use crate::translate::linear::{matrix_position, split_matrix_position};
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_program::{ScalarOp as Scalar, ScalarType as Ty};
use spirula_tensor::ir::{
    AxisKind, DimExtent, ScalarCombiner, ScalarNode, StructuredOp, TensorReduction, TensorValue,
};

/// `info` of matrices that are not finite.
const NOT_FINITE: i64 = -4;
/// Most sweeps of rotations of larger matrices.
const SWEEPS: i64 = 20;

/// The operand, which LAPACK overwrites, the values in descending order, the left vectors as
/// columns, the right ones as conjugated rows. Without vectors these are zeros.
pub(super) fn translate_gesdd(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
) -> TranslateResult<Vec<TypedTensor>> {
    let (a, shape) = call.read_matrices(t, 0)?;
    let mode = call.read_letter(t, "mode")?;
    let scaled = ScaledMatrices::from_tensor(t, call.op, &a, &shape)?;
    let is_wide = shape.rows < shape.columns;
    let tall = MatrixBatch {
        batch: scaled.shape.batch.clone(),
        rows: shape.rows.max(shape.columns),
        columns: shape.smaller_size(),
    };
    let method = ColumnRotations { call, tall: &tall };
    let work = if is_wide {
        t.map_points(&method.line_shape().full_shape(), |t, s, point| {
            let own = t.read_element(s, &scaled.matrix, point);
            Ok(ScalarBuilder::new(&mut s.body).conjugate_value(&own))
        })?
    } else {
        transpose_matrices(t, &scaled.matrix, &method.line_shape())?
    };
    let [columns, right] = method.orthogonalise(t, work)?;
    let values = compute_norms(t, &columns, &method.line_shape());
    let ranked = t.sort_last_dimension(
        call.op,
        values,
        TensorElement::I64,
        ComparisonDirection::Greater,
    )?;
    let values = scaled.restore_scale(t, &ranked[0])?;
    let values = t.reshape_tensor(call.op, &values, shape.batch_shape_with(&[tall.columns]))?;
    let info = t.emit_zeros(TensorElement::I32, &tall.batch);
    let info = scaled.merge_info(t, &info, NOT_FINITE)?;
    let info = t.reshape_tensor(call.op, &info, shape.batch.clone())?;
    let [left_shape, right_shape] = [2, 3].map(|at| t.result_type(call.op, at));
    let (left_shape, right_shape) = (left_shape?.1, right_shape?.1);
    if mode == 'N' {
        let left = t.emit_zeros(a.element, &left_shape);
        let right = t.emit_zeros(a.element, &right_shape);
        return Ok(vec![a, values, left, right, info]);
    }
    let columns = order_rows_as_columns(t, &columns, &ranked[1], &tall)?;
    let right = order_rows_as_columns(t, &right, &ranked[1], &method.square_shape())?;
    let full = MatrixBatch {
        columns: if mode == 'A' { tall.rows } else { tall.columns },
        ..tall.clone()
    };
    let left = left_vectors(t, call, columns, &tall, &full)?;
    let (left, right) = if is_wide {
        (right, adjoint_of(t, &left, &full)?)
    } else {
        (left, adjoint_of(t, &right, &method.square_shape())?)
    };
    let left = t.reshape_tensor(call.op, &left, left_shape)?;
    let right = t.reshape_tensor(call.op, &right, right_shape)?;
    Ok(vec![a, values, left, right, info])
}

/// Columns of matrices, which are rows of a tensor, in an order.
fn order_rows_as_columns(
    t: &mut StablehloTranslator<'_>,
    rows: &TypedTensor,
    order: &TypedTensor,
    shape: &MatrixBatch,
) -> TranslateResult<TypedTensor> {
    t.map_points(&shape.full_shape(), |t, s, point| {
        let (outer, row, column) = split_matrix_position(point);
        let from = t
            .read_element(s, order, &append_index(outer, column))
            .node();
        Ok(t.read_element(s, rows, &matrix_position(outer, from, row)))
    })
}

/// The transpose, of a shape.
fn transpose_matrices(
    t: &mut StablehloTranslator<'_>,
    a: &TypedTensor,
    shape: &MatrixBatch,
) -> TranslateResult<TypedTensor> {
    t.gather_elements(a, &shape.full_shape(), |_, point| {
        let (outer, row, column) = split_matrix_position(point);
        matrix_position(outer, column, row)
    })
}

/// The conjugate transpose, of a shape.
fn compute_adjoint(
    t: &mut StablehloTranslator<'_>,
    a: &TypedTensor,
    shape: &MatrixBatch,
) -> TranslateResult<TypedTensor> {
    t.map_points(&shape.full_shape(), |t, s, point| {
        let (outer, row, column) = split_matrix_position(point);
        let value = t.read_element(s, a, &matrix_position(outer, column, row));
        Ok(ScalarBuilder::new(&mut s.body).conjugate_value(&value))
    })
}

/// The conjugate transpose of a tensor of a shape.
fn adjoint_of(
    t: &mut StablehloTranslator<'_>,
    a: &TypedTensor,
    shape: &MatrixBatch,
) -> TranslateResult<TypedTensor> {
    let turned = MatrixBatch {
        batch: shape.batch.clone(),
        rows: shape.columns,
        columns: shape.rows,
    };
    compute_adjoint(t, a, &turned)
}

/// Rotations of the columns of matrices with at least as many rows. Columns are rows of the tensors.
struct ColumnRotations<'a> {
    call: &'a LapackCall<'a>,
    tall: &'a MatrixBatch,
}

impl ColumnRotations<'_> {
    /// The shape of the tensors of columns.
    fn line_shape(&self) -> MatrixBatch {
        MatrixBatch {
            batch: self.tall.batch.clone(),
            rows: self.tall.columns,
            columns: self.tall.rows,
        }
    }

    /// The shape of the rotations.
    fn square_shape(&self) -> MatrixBatch {
        MatrixBatch {
            rows: self.tall.columns,
            ..self.tall.clone()
        }
    }

    fn pairing(&self) -> JacobiPairing {
        JacobiPairing {
            count: self.tall.columns,
        }
    }

    /// Orthogonal columns, and the rotations that made them.
    fn orthogonalise(
        &self,
        t: &mut StablehloTranslator<'_>,
        work: TypedTensor,
    ) -> TranslateResult<[TypedTensor; 2]> {
        if self.tall.columns > SMALL {
            return self.improve_by_sweeps(t, &work);
        }
        let identity = build_identity(t, work.element, &self.square_shape())?;
        let count = self.pairing().iteration_count(work.element);
        let rotated = t.iterate_tensors(&[work, identity], count, |t, state, round| {
            self.rotate_pairs(t, state, round)
        })?;
        Ok([rotated[0].clone(), rotated[1].clone()])
    }

    /// The same by eigenvectors of the products of columns, and sweeps while there are products that are not negligible.
    fn improve_by_sweeps(
        &self,
        t: &mut StablehloTranslator<'_>,
        work: &TypedTensor,
    ) -> TranslateResult<[TypedTensor; 2]> {
        let op = self.call.op;
        let products = self.multiply_columns(t, work)?;
        let spectrum = find_hermitian_spectrum(t, op, &products, &self.square_shape())?;
        let (vectors, own) = (
            MatrixFactor::plain(&spectrum.vectors),
            MatrixFactor::plain(work),
        );
        let whole = self.line_shape().full_shape();
        let columns = multiply_matrices(t, op, vectors, own, &whole, self.tall.columns)?;
        let is_open = self.find_large_product(t, &columns)?;
        let initial = [make_integer(t, 0), is_open, columns, spectrum.vectors];
        let goes_on = |t: &StablehloTranslator<'_>, s: &mut StructuredOp, state: &[TypedTensor]| {
            let [number, is_open] = [0, 1].map(|at: usize| read_scalar(t, s, &state[at]).node());
            let mut c = ScalarBuilder::new(&mut s.body);
            let end = c.body.intern_i64(SWEEPS);
            let is_tried = c.lt(number, end);
            c.and(is_open, is_tried)
        };
        let found = repeat_while(t, &initial, goes_on, |t, state| {
            let rounds = self.pairing().sweep_length();
            let rotated = t.iterate_tensors(&state[2..], rounds, |t, state, round| {
                self.rotate_pairs(t, state, round)
            })?;
            let mut next = compute_scalars(t, |t, s| {
                let number = read_scalar(t, s, &state[0]).node();
                let next = ScalarBuilder::new(&mut s.body).add_constant(number, 1.0);
                vec![ElementValue::new(TensorElement::I64, next)]
            });
            next.push(self.find_large_product(t, &rotated[0])?);
            next.extend(rotated);
            Ok(next)
        })?;
        Ok([found[2].clone(), found[3].clone()])
    }

    /// The products of all pairs of columns.
    fn multiply_columns(
        &self,
        t: &mut StablehloTranslator<'_>,
        columns: &TypedTensor,
    ) -> TranslateResult<TypedTensor> {
        let (left, right) = (
            MatrixFactor::plain(columns).conjugate(),
            MatrixFactor::transposed(columns),
        );
        let shape = self.square_shape().full_shape();
        multiply_matrices(t, self.call.op, left, right, &shape, self.tall.rows)
    }

    /// Whether the product of two columns is larger than the largest column and the larger one of both, times a few units of
    /// rounding: the QR factorisation of the columns is not diagonal.
    fn find_large_product(
        &self,
        t: &mut StablehloTranslator<'_>,
        columns: &TypedTensor,
    ) -> TranslateResult<TypedTensor> {
        let products = self.multiply_columns(t, columns)?;
        let norms = compute_norms(t, columns, &self.line_shape());
        let size = DimExtent::Static(self.tall.columns);
        let mut s = StructuredOp::with_parallel_axes(&self.tall.batch);
        let outer = s.axis_indices();
        let k = s.add_axis(size, AxisKind::Reduction);
        let own = t
            .read_element(&mut s, &norms, &append_index(&outer, k))
            .node();
        let largest = reduce_real_largest(&mut s, own);
        let real = columns.element.component_element();
        let largest = t.finish_structured(s, &ElementValue::new(real, largest));
        let mut s = StructuredOp::default();
        let batch = s.add_axis(self.tall.batch[0], AxisKind::Reduction);
        let (j, k) = (
            s.add_axis(size, AxisKind::Reduction),
            s.add_axis(size, AxisKind::Reduction),
        );
        let product = t.read_element(&mut s, &products, &[batch, j, k]);
        let [first, second] = [j, k].map(|at| t.read_element(&mut s, &norms, &[batch, at]).node());
        let largest = t.read_element(&mut s, &largest, &[batch]).node();
        let mut c = ScalarBuilder::new(&mut s.body);
        let square = c.square_size(&product);
        let size = c.apply_unary(Scalar::Sqrt, square);
        let larger = c.apply_binary(Scalar::FMax, first, second);
        let bound = c.mul(largest, larger);
        let bound = c.mul_constant(bound, 8.0 * choose_limits(real, 1)[0]);
        let (is_large, is_pair) = (c.lt(bound, size), c.lt(j, k));
        let is_large = c.and(is_pair, is_large);
        let no = c.truth_constant(false);
        let any = s.add_reduction(TensorReduction {
            initial: vec![no],
            values: vec![is_large],
            combiner: ScalarCombiner::from_op(Scalar::LogOr, Ty::Bool),
        })[0];
        Ok(t.finish_structured(s, &ElementValue::from_truth(any)))
    }

    /// The columns and the rotations after those of an iteration.
    fn rotate_pairs(
        &self,
        t: &mut StablehloTranslator<'_>,
        state: &[TypedTensor],
        round: TensorValue,
    ) -> TranslateResult<Vec<TypedTensor>> {
        let rotations = self.compute_rotations(t, &state[0], round)?;
        let mut rotated = Vec::new();
        for (tensor, shape) in state.iter().zip([self.line_shape(), self.square_shape()]) {
            rotated.push(t.map_points(&shape.full_shape(), |t, s, point| {
                let (outer, row, column) = split_matrix_position(point);
                let pairs = self.pairing();
                let rotation =
                    RotationColumn::from_rotations(t, s, &rotations, pairs, outer, row, round);
                let position = |index: ScalarNode| matrix_position(outer, index, column);
                Ok(rotation.rotate_element(t, s, tensor, position))
            })?);
        }
        Ok(rotated)
    }

    /// The rotations of an iteration, which make the columns of each pair orthogonal.
    fn compute_rotations(
        &self,
        t: &mut StablehloTranslator<'_>,
        columns: &TypedTensor,
        round: TensorValue,
    ) -> TranslateResult<Vec<TypedTensor>> {
        let element = columns.element;
        let shape = self.line_shape();
        let mut s = StructuredOp::with_parallel_axes(&shape.batch_shape_with(&[shape.rows]));
        let point = s.axis_indices();
        let (outer, index) = (&point[..point.len() - 1], point[point.len() - 1]);
        let i = s.add_axis(DimExtent::Static(shape.columns), AxisKind::Reduction);
        let round = read_iteration_number(&mut s, round);
        let mut c = ScalarBuilder::new(&mut s.body);
        let pair = self.pairing().find_pair(&mut c, index, round);
        let [own, other] = [pair.first, pair.second]
            .map(|column| t.read_element(&mut s, columns, &matrix_position(outer, column, i)));
        let mut c = ScalarBuilder::new(&mut s.body);
        let squares = [c.square_size(&own), c.square_size(&other)];
        let conjugate = c.conjugate_value(&own);
        let [first, second] = squares.map(|square| reduce_real_sum(&mut s, square));
        let between = t.sum_of_products(self.call.op, &mut s, &conjugate, &other, None, element)?;
        let mut c = ScalarBuilder::new(&mut s.body);
        let nothing = c.make_constant_value(element, 0.0);
        let between = c.select_value(pair.exists, &between, &nothing);
        let (versine, sine) =
            compute_rotation_column(&mut c, first, second, &between, pair.is_first);
        let values = [
            ElementValue::new(element.component_element(), versine),
            sine,
        ];
        Ok(finish_all(t, s, &values))
    }
}

/// Norms of rows.
fn compute_norms(
    t: &mut StablehloTranslator<'_>,
    rows: &TypedTensor,
    shape: &MatrixBatch,
) -> TypedTensor {
    let mut s = StructuredOp::with_parallel_axes(&shape.batch_shape_with(&[shape.rows]));
    let mut position = s.axis_indices();
    position.push(s.add_axis(DimExtent::Static(shape.columns), AxisKind::Reduction));
    let value = t.read_element(&mut s, rows, &position);
    let square = ScalarBuilder::new(&mut s.body).square_size(&value);
    let total = reduce_real_sum(&mut s, square);
    let norm = ScalarBuilder::new(&mut s.body).apply_unary(Scalar::Sqrt, total);
    t.finish_structured(
        s,
        &ElementValue::new(rows.element.component_element(), norm),
    )
}

/// Orthogonal columns divided by their norms, and with as many more as a shape has.
fn left_vectors(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
    columns: TypedTensor,
    tall: &MatrixBatch,
    full: &MatrixBatch,
) -> TranslateResult<TypedTensor> {
    let element = columns.element;
    let factors = qr::factor_qr(t, call.op, columns, tall)?;
    let (r, taus) = (&factors[0], &factors[1]);
    let padded = t.map_points(&full.full_shape(), |t, s, point| {
        let (_, _, column) = split_matrix_position(point);
        let own = t.read_element(s, r, point);
        let mut c = ScalarBuilder::new(&mut s.body);
        let count = c.body.intern_i64(tall.columns as i64);
        let exists = c.lt(column, count);
        let zero = c.make_constant_value(element, 0.0);
        Ok(c.select_value(exists, &own, &zero))
    })?;
    let q = qr::build_unitary(t, call.op, &padded, taus, full, tall.columns)?;
    // R is diagonal; the column of a negative element is negated.
    t.map_points(&full.full_shape(), |t, s, point| {
        let (outer, _, column) = split_matrix_position(point);
        let own = t.read_element(s, &q, point);
        let mut c = ScalarBuilder::new(&mut s.body);
        let count = c.body.intern_i64(tall.columns as i64);
        let exists = c.lt(column, count);
        let zero = c.body.intern_i64(0);
        let from = c.select(exists, column, zero);
        let corner = t.read_element(s, r, &append_index(&append_index(outer, from), from));
        let mut c = ScalarBuilder::new(&mut s.body);
        let is_negative = c.lt_constant(corner.node(), 0.0);
        let is_negative = c.and(exists, is_negative);
        let minus = c.constant_like(corner.node(), -1.0);
        let negative = c.scale_value(&own, minus);
        Ok(c.select_value(is_negative, &negative, &own))
    })
}

//! `gesdd` and `gesvd`: singular values and vectors by Jacobi's method on the columns (M. R.
//! Hestenes, 1958).
//!
//! Rotations make the columns of a matrix, which has at least as many rows, orthogonal. Their norms
//! are the singular values. A QR factorisation of them yields the left vectors. They are orthogonal
//! even where a norm is 0, and complete.

use super::eigen::columns_by;
use super::jacobi::{JacobiPairing, RotationColumn, compute_rotation_column};
use super::{
    LapackCall, MatrixBatch, append_index, build_identity, finish_all, make_success_info, qr,
    read_iteration_number, reduce_real_sum,
};
use crate::dialect::ComparisonDirection;
use crate::translate::element::TensorElement;
use crate::translate::error::TranslateResult;
use crate::translate::linear::{matrix_position, split_matrix_position};
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_program::ScalarOp as Scalar;
use spirula_tensor::ir::{AxisKind, DimExtent, StructuredOp, TensorValue};

/// The operand, which LAPACK overwrites, the values in descending order, the left vectors as
/// columns, the right ones as conjugated rows. Without vectors these are zeros.
pub(super) fn translate_gesdd(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
) -> TranslateResult<Vec<TypedTensor>> {
    let (a, shape) = call.read_matrices(t, 0)?;
    let mode = call.read_letter(t, "mode")?;
    let is_wide = shape.rows < shape.columns;
    let tall = MatrixBatch {
        batch: shape.batch.clone(),
        rows: shape.rows.max(shape.columns),
        columns: shape.smaller_size(),
    };
    let work = if is_wide {
        compute_adjoint(t, &a, &tall)?
    } else {
        a.clone()
    };
    let square = MatrixBatch {
        rows: tall.columns,
        ..tall.clone()
    };
    let (columns, right) = orthogonalise_columns(t, call, work, &tall, &square)?;
    let values = compute_column_norms(t, &columns, &tall);
    let ranked = t.sort_last_dimension(
        call.op,
        values,
        TensorElement::I64,
        ComparisonDirection::Greater,
    )?;
    let info = make_success_info(t, &shape);
    let [left_shape, right_shape] = [2, 3].map(|at| t.result_type(call.op, at));
    if mode == 'N' {
        let left = t.emit_zeros(a.element, &left_shape?.1);
        let right = t.emit_zeros(a.element, &right_shape?.1);
        return Ok(vec![a, ranked[0].clone(), left, right, info]);
    }
    let columns = columns_by(t, &columns, &ranked[1], &tall)?;
    let right = columns_by(t, &right, &ranked[1], &square)?;
    let full = MatrixBatch {
        columns: if mode == 'A' { tall.rows } else { tall.columns },
        ..tall.clone()
    };
    let left = left_vectors(t, call, columns, &tall, &full)?;
    let (left, right) = if is_wide {
        (right, adjoint_of(t, &left, &full)?)
    } else {
        (left, adjoint_of(t, &right, &square)?)
    };
    Ok(vec![a, ranked[0].clone(), left, right, info])
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

/// Orthogonal columns, and the rotations that made them.
fn orthogonalise_columns(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
    work: TypedTensor,
    tall: &MatrixBatch,
    square: &MatrixBatch,
) -> TranslateResult<(TypedTensor, TypedTensor)> {
    let element = work.element;
    let identity = build_identity(t, element, square)?;
    let pairs = JacobiPairing {
        count: tall.columns,
    };
    let turned = t.iterate_tensors(
        &[work, identity],
        pairs.iteration_count(element),
        |t, state, round| {
            let rotations = compute_column_rotations(t, call, &state[0], tall, pairs, round)?;
            let mut turn = |tensor: &TypedTensor, shape: &MatrixBatch| {
                t.map_points(&shape.full_shape(), |t, s, point| {
                    let (outer, row, column) = split_matrix_position(point);
                    let rotation = RotationColumn::from_rotations(
                        t, s, &rotations, pairs, outer, column, round,
                    );
                    Ok(rotation
                        .rotate_element(t, s, tensor, |index| matrix_position(outer, row, index)))
                })
            };
            Ok(vec![turn(&state[0], tall)?, turn(&state[1], square)?])
        },
    )?;
    let mut turned = turned.into_iter();
    let mut next = || {
        turned
            .next()
            .ok_or_else(|| t.invalid_error(call.op, "a loop returns nothing"))
    };
    Ok((next()?, next()?))
}

/// The rotations of an iteration, which make the columns of each pair orthogonal.
fn compute_column_rotations(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
    work: &TypedTensor,
    shape: &MatrixBatch,
    pairs: JacobiPairing,
    round: TensorValue,
) -> TranslateResult<Vec<TypedTensor>> {
    let mut s = StructuredOp::with_parallel_axes(&shape.batch_shape_with(&[shape.columns]));
    let point = s.axis_indices();
    let (outer, index) = (&point[..point.len() - 1], point[point.len() - 1]);
    let row = s.add_axis(DimExtent::Static(shape.rows), AxisKind::Reduction);
    let round = read_iteration_number(&mut s, round);
    let mut c = ScalarBuilder::new(&mut s.body);
    let pair = pairs.find_pair(&mut c, index, round);
    let [own, other] = [pair.first, pair.second]
        .map(|column| t.read_element(&mut s, work, &matrix_position(outer, row, column)));
    let mut c = ScalarBuilder::new(&mut s.body);
    let squares = [c.square_size(&own), c.square_size(&other)];
    let conjugate = c.conjugate_value(&own);
    let [first, second] = squares.map(|square| reduce_real_sum(&mut s, square));
    let between = t.sum_of_products(call.op, &mut s, &conjugate, &other, None, work.element)?;
    let mut c = ScalarBuilder::new(&mut s.body);
    let nothing = c.make_constant_value(work.element, 0.0);
    let between = c.select_value(pair.exists, &between, &nothing);
    let (versine, sine) = compute_rotation_column(&mut c, first, second, &between, pair.is_first);
    let values = [
        ElementValue::new(work.element.component_element(), versine),
        sine,
    ];
    Ok(finish_all(t, s, &values))
}

/// Norms of the columns.
fn compute_column_norms(
    t: &mut StablehloTranslator<'_>,
    columns: &TypedTensor,
    shape: &MatrixBatch,
) -> TypedTensor {
    let mut s = StructuredOp::with_parallel_axes(&shape.batch_shape_with(&[shape.columns]));
    let point = s.axis_indices();
    let (outer, column) = (&point[..point.len() - 1], point[point.len() - 1]);
    let row = s.add_axis(DimExtent::Static(shape.rows), AxisKind::Reduction);
    let value = t.read_element(&mut s, columns, &matrix_position(outer, row, column));
    let square = ScalarBuilder::new(&mut s.body).square_size(&value);
    let total = reduce_real_sum(&mut s, square);
    let norm = ScalarBuilder::new(&mut s.body).apply_unary(Scalar::Sqrt, total);
    t.finish_structured(
        s,
        &ElementValue::new(columns.element.component_element(), norm),
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

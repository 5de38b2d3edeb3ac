//! `gesdd` and `gesvd`: singular values and vectors by Jacobi's method on the columns (M. R.
//! Hestenes, 1958).
//!
//! Rotations make the columns of a matrix, which has at least as many rows, orthogonal; their norms
//! are the singular values. A QR factorisation of them gives the left vectors, which are orthogonal
//! wherever a norm is 0, and complete.

use super::eigen::{RotationColumn, columns_by};
use super::jacobi::{JacobiPairing, rotation};
use super::{LapackCall, MatrixBatch, and, finish_all, identity, number, qr, success, sum};
use crate::translate::element::TensorElement;
use crate::translate::error::TranslateResult;
use crate::translate::linear::{at, split};
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_program::ScalarOp as Scalar;
use spirula_tensor::ir::{AxisKind, DimExtent, StructuredOp, TensorValue};

/// The operand, which LAPACK overwrites, the values in descending order, the left vectors as
/// columns, the right ones as conjugated rows. Without vectors these are zeros.
pub(super) fn gesdd(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
) -> TranslateResult<Vec<TypedTensor>> {
    let (a, shape) = call.matrices(t, 0)?;
    let mode = call.letter(t, "mode")?;
    let is_wide = shape.rows < shape.columns;
    let tall = MatrixBatch {
        batch: shape.batch.clone(),
        rows: shape.rows.max(shape.columns),
        columns: shape.least(),
    };
    let work = match is_wide {
        true => adjoint(t, &a, &tall)?,
        false => a.clone(),
    };
    let square = MatrixBatch {
        rows: tall.columns,
        ..tall.clone()
    };
    let (columns, right) = orthogonal(t, call, work, (&tall, &square))?;
    let values = norms(t, &columns, &tall);
    let ranked = t.ranked(call.op, values, TensorElement::I64, "GT")?;
    let info = success(t, &shape);
    let [left_shape, right_shape] = [2, 3].map(|at| t.result_type(call.op, at));
    if mode == 'N' {
        let left = t.zeros(a.element, &left_shape?.1);
        let right = t.zeros(a.element, &right_shape?.1);
        return Ok(vec![a, ranked[0].clone(), left, right, info]);
    }
    let columns = columns_by(t, &columns, &ranked[1], &tall)?;
    let right = columns_by(t, &right, &ranked[1], &square)?;
    let full = MatrixBatch {
        columns: if mode == 'A' { tall.rows } else { tall.columns },
        ..tall.clone()
    };
    let left = left_vectors(t, call, columns, (&tall, &full))?;
    let (left, right) = match is_wide {
        true => (right, adjoint_of(t, &left, &full)?),
        false => (left, adjoint_of(t, &right, &square)?),
    };
    Ok(vec![a, ranked[0].clone(), left, right, info])
}

/// The conjugate transpose, of a shape.
fn adjoint(
    t: &mut StablehloTranslator<'_>,
    a: &TypedTensor,
    shape: &MatrixBatch,
) -> TranslateResult<TypedTensor> {
    t.map(&shape.whole(), |t, s, point| {
        let (outer, row, column) = split(point);
        let value = t.read(s, a, &at(outer, column, row));
        Ok(ScalarBuilder::new(&mut s.body).conjugate(&value))
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
    adjoint(t, a, &turned)
}

/// Orthogonal columns, and the rotations that made them.
fn orthogonal(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
    work: TypedTensor,
    (tall, square): (&MatrixBatch, &MatrixBatch),
) -> TranslateResult<(TypedTensor, TypedTensor)> {
    let element = work.element;
    let identity = identity(t, element, square)?;
    let pairs = JacobiPairing {
        count: tall.columns,
    };
    let turned = t.rounds(
        &[work, identity],
        pairs.rounds(element),
        |t, state, round| {
            let rotations = rotations(t, call, &state[0], (tall, pairs), round)?;
            let mut turn = |tensor: &TypedTensor, shape: &MatrixBatch| {
                t.map(&shape.whole(), |t, s, point| {
                    let (outer, row, column) = split(point);
                    let rotation =
                        RotationColumn::of(t, s, (&rotations, pairs), (outer, column), round);
                    Ok(rotation.applied(t, s, tensor, |index| at(outer, row, index)))
                })
            };
            Ok(vec![turn(&state[0], tall)?, turn(&state[1], square)?])
        },
    )?;
    let mut turned = turned.into_iter();
    let mut next = || {
        turned
            .next()
            .ok_or_else(|| t.invalid(call.op, "a loop gives nothing"))
    };
    Ok((next()?, next()?))
}

/// The rotations of a round, which make the columns of each pair orthogonal.
fn rotations(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
    work: &TypedTensor,
    (shape, pairs): (&MatrixBatch, JacobiPairing),
    round: TensorValue,
) -> TranslateResult<Vec<TypedTensor>> {
    let mut s = StructuredOp::parallel(&shape.with(&[shape.columns]));
    let point = s.point();
    let (outer, index) = (&point[..point.len() - 1], point[point.len() - 1]);
    let row = s.axis(DimExtent::Static(shape.rows), AxisKind::Reduction);
    let round = number(&mut s, round);
    let mut c = ScalarBuilder::new(&mut s.body);
    let pair = pairs.pair(&mut c, index, round);
    let [own, other] =
        [pair.first, pair.second].map(|column| t.read(&mut s, work, &at(outer, row, column)));
    let mut c = ScalarBuilder::new(&mut s.body);
    let squares = [c.square_size(&own), c.square_size(&other)];
    let conjugate = c.conjugate(&own);
    let [first, second] = squares.map(|square| sum(&mut s, square));
    let between = t.sum_of_products(call.op, &mut s, (&conjugate, &other), None, work.element)?;
    let mut c = ScalarBuilder::new(&mut s.body);
    let nothing = c.known(work.element, 0.0);
    let between = c.choice(pair.exists, &between, &nothing);
    let (cosine, sine) = rotation(&mut c, (first, second), &between, pair.is_first);
    let values = [ElementValue::new(work.element.part(), cosine), sine];
    Ok(finish_all(t, s, &values))
}

/// Norms of the columns.
fn norms(
    t: &mut StablehloTranslator<'_>,
    columns: &TypedTensor,
    shape: &MatrixBatch,
) -> TypedTensor {
    let mut s = StructuredOp::parallel(&shape.with(&[shape.columns]));
    let point = s.point();
    let (outer, column) = (&point[..point.len() - 1], point[point.len() - 1]);
    let row = s.axis(DimExtent::Static(shape.rows), AxisKind::Reduction);
    let value = t.read(&mut s, columns, &at(outer, row, column));
    let square = ScalarBuilder::new(&mut s.body).square_size(&value);
    let total = sum(&mut s, square);
    let norm = ScalarBuilder::new(&mut s.body).op1(Scalar::Sqrt, total);
    t.finish(s, &ElementValue::new(columns.element.part(), norm))
}

/// Orthogonal columns divided by their norms, and with as many more as a shape has.
fn left_vectors(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
    columns: TypedTensor,
    (tall, full): (&MatrixBatch, &MatrixBatch),
) -> TranslateResult<TypedTensor> {
    let element = columns.element;
    let factors = qr::factored(t, call.op, columns, tall)?;
    let (r, taus) = (&factors[0], &factors[1]);
    let padded = t.map(&full.whole(), |t, s, point| {
        let (_, _, column) = split(point);
        let own = t.read(s, r, point);
        let mut c = ScalarBuilder::new(&mut s.body);
        let count = c.body.i64(tall.columns as i64);
        let exists = c.lt(column, count);
        let zero = c.known(element, 0.0);
        Ok(c.choice(exists, &own, &zero))
    })?;
    let q = qr::unitary(t, call.op, (&padded, taus), (full, tall.columns))?;
    // R is diagonal; where an element is negative, so is the column.
    t.map(&full.whole(), |t, s, point| {
        let (outer, _, column) = split(point);
        let own = t.read(s, &q, point);
        let mut c = ScalarBuilder::new(&mut s.body);
        let count = c.body.i64(tall.columns as i64);
        let exists = c.lt(column, count);
        let zero = c.body.i64(0);
        let from = c.cond(exists, column, zero);
        let corner = t.read(s, r, &and(&and(outer, from), from));
        let mut c = ScalarBuilder::new(&mut s.body);
        let is_negative = c.below(corner.node(), 0.0);
        let is_negative = c.and(exists, is_negative);
        let minus = c.like(corner.node(), -1.0);
        let negative = c.scaled(&own, minus);
        Ok(c.choice(is_negative, &negative, &own))
    })
}

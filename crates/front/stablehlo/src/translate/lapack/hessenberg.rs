//! `gehrd`: reduction of matrices to Hessenberg form by Householder's reflections, one column in each iteration.

use super::qr::{build_unitary, compute_reflection, record_factor};
use super::similarity::SimilarityStep;
use super::{LapackCall, MatrixBatch, make_success_info};
use crate::mlir::MlirOp;
use crate::translate::error::TranslateResult;
use crate::translate::linear::{matrix_position, split_matrix_position};
use crate::translate::scalar::ScalarBuilder;
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_tensor::ir::DimExtent;

/// A matrix in Hessenberg form with the reflections that led to it.
pub(super) struct HessenbergForm {
    /// The matrix; it may have rounding errors below the subdiagonal.
    pub matrix: TypedTensor,
    /// The reflections as columns.
    reflections: TypedTensor,
    /// Each reflection's τ.
    taus: TypedTensor,
}

/// The matrix with its reflections below the subdiagonal, and each one's τ.
pub(super) fn translate_gehrd(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
) -> TranslateResult<Vec<TypedTensor>> {
    let (a, shape) = call.read_square_matrices(t)?;
    let range = [call.read_number(t, "low")?, call.read_number(t, "high")?];
    if range != [1, shape.rows as i64] {
        let what = "a part of a matrix in Hessenberg form";
        return Err(t.unsupported_error(call.op, what));
    }
    let form = reduce_to_hessenberg(t, call.op, &a, &shape)?;
    let packed = t.map_points(&shape.full_shape(), |t, s, point| {
        let (_, row, column) = split_matrix_position(point);
        let own = t.read_element(s, &form.matrix, point);
        let stored = t.read_element(s, &form.reflections, point);
        let mut c = ScalarBuilder::new(&mut s.body);
        let beside = c.add_constant(column, 1.0);
        let is_stored = c.lt(beside, row);
        Ok(c.select_value(is_stored, &stored, &own))
    })?;
    Ok(vec![packed, form.taus, make_success_info(t, &shape)])
}

/// Reduces matrices.
pub(super) fn reduce_to_hessenberg(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    a: &TypedTensor,
    shape: &MatrixBatch,
) -> TranslateResult<HessenbergForm> {
    let count = shape.rows.saturating_sub(1);
    let taus = t.emit_zeros(a.element, &shape.batch_shape_with(&[count]));
    let initial = [a.clone(), a.clone(), taus];
    let reduced = t.iterate_tensors(&initial, DimExtent::Static(count), |t, state, round| {
        let (matrix, packed, taus) = (&state[0], &state[1], &state[2]);
        let reflection = compute_reflection(t, matrix, shape, round, 1);
        let step = SimilarityStep {
            op,
            matrix,
            reflection: &reflection,
            shape,
            round,
        };
        let left = step.reflect_rows(t)?;
        let both = step.reflect_columns(t, &left)?;
        let packed = step.pack_reflection(t, packed)?;
        let taus = record_factor(t, taus, &reflection, shape, count, round)?;
        Ok(vec![both, packed, taus])
    })?;
    let mut reduced = reduced.into_iter();
    let mut next = || reduced.next().unwrap_or_else(|| a.clone());
    Ok(HessenbergForm {
        matrix: next(),
        reflections: next(),
        taus: next(),
    })
}

impl HessenbergForm {
    /// The product of the reflections, which has the first row and column of the identity.
    pub fn build_unitary(
        &self,
        t: &mut StablehloTranslator<'_>,
        op: MlirOp,
        shape: &MatrixBatch,
    ) -> TranslateResult<TypedTensor> {
        let count = shape.rows.saturating_sub(1);
        let inner = MatrixBatch {
            batch: shape.batch.clone(),
            rows: count,
            columns: count,
        };
        let vectors = t.gather_elements(&self.reflections, &inner.full_shape(), |c, point| {
            let (outer, row, column) = split_matrix_position(point);
            let below = c.add_constant(row, 1.0);
            matrix_position(outer, below, column)
        })?;
        let product = build_unitary(t, op, &vectors, &self.taus, &inner, count)?;
        t.map_points(&shape.full_shape(), |t, s, point| {
            let (outer, row, column) = split_matrix_position(point);
            let mut c = ScalarBuilder::new(&mut s.body);
            let zero = c.body.intern_i64(0);
            let (is_inner_row, is_inner_column) = (c.lt(zero, row), c.lt(zero, column));
            let is_inner = c.and(is_inner_row, is_inner_column);
            let is_diagonal = c.eq(row, column);
            let (above, left) = (c.add_constant(row, -1.0), c.add_constant(column, -1.0));
            let own = t.read_element(s, &product, &matrix_position(outer, above, left));
            let mut c = ScalarBuilder::new(&mut s.body);
            let one = c.make_constant_value(self.matrix.element, 1.0);
            let nothing = c.make_constant_value(self.matrix.element, 0.0);
            let identity = c.select_value(is_diagonal, &one, &nothing);
            Ok(c.select_value(is_inner, &own, &identity))
        })
    }
}

//! `gehrd`: reduction of matrices to Hessenberg form by Householder's reflections, one column in each iteration.

use super::qr::build_unitary;
use super::similarity::reduce_by_reflections;
use super::{LapackCall, MatrixBatch, make_success_info};
use crate::mlir::MlirOp;
use crate::translate::error::TranslateResult;
use crate::translate::linear::{matrix_position, split_matrix_position};
use crate::translate::scalar::ScalarBuilder;
use crate::translate::translator::{StablehloTranslator, TypedTensor};

/// A matrix in Hessenberg form with the reflections that led to it below the subdiagonal.
pub(super) struct HessenbergForm {
    pub matrix: TypedTensor,
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
    Ok(vec![form.matrix, form.taus, make_success_info(t, &shape)])
}

/// Reduces matrices.
pub(super) fn reduce_to_hessenberg(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    a: &TypedTensor,
    shape: &MatrixBatch,
) -> TranslateResult<HessenbergForm> {
    let [matrix, taus] = reduce_by_reflections(t, op, a, shape)?;
    Ok(HessenbergForm { matrix, taus })
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
        let vectors = t.gather_elements(&self.matrix, &inner.full_shape(), |c, point| {
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

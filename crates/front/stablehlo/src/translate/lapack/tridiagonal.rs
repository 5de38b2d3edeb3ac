//! `sytrd` and `hetrd`: reduction of Hermitian matrices to tridiagonal form.
//!
//! The upper form is the lower form of the matrix whose rows and columns are in reverse order.

use super::hermitian_reduction::{TridiagonalForm, reduce_hermitian};
use super::{LapackCall, MatrixBatch, append_index, make_success_info};
use crate::translate::error::TranslateResult;
use crate::translate::linear::{matrix_position, split_matrix_position};
use crate::translate::scalar::ScalarBuilder;
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_tensor::ir::ScalarNode;

/// Which of both triangles has the matrix.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StoredTriangle {
    Lower,
    Upper,
}

impl StoredTriangle {
    /// The index in the lower form of an index among `count`.
    fn to_lower_index(
        self,
        c: &mut ScalarBuilder<'_>,
        index: ScalarNode,
        count: u64,
    ) -> ScalarNode {
        match self {
            StoredTriangle::Lower => index,
            StoredTriangle::Upper => {
                let last = c.body.intern_i64(count as i64 - 1);
                c.sub(last, index)
            }
        }
    }
}

/// The matrix with its reflections, the diagonal, the elements beside it, and each reflection's τ.
pub(super) fn translate_sytrd(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
) -> TranslateResult<Vec<TypedTensor>> {
    let (a, shape) = call.read_square_matrices(t)?;
    let triangle = match call.read_letter(t, "uplo")? {
        'L' => StoredTriangle::Lower,
        _ => StoredTriangle::Upper,
    };
    let full = complete_matrix(t, &a, &shape, triangle)?;
    let count = shape.rows.saturating_sub(1);
    let form = reduce_hermitian(t, call.op, &full, &shape, count)?;
    let matrix = merge_results(t, &a, &form, &shape, triangle)?;
    let diagonal = reorder_elements(t, &form.diagonal, &shape, triangle, shape.rows)?;
    let beside = reorder_elements(t, &form.beside, &shape, triangle, count)?;
    let taus = reorder_elements(t, &form.taus, &shape, triangle, count)?;
    let info = make_success_info(t, &shape);
    Ok(vec![matrix, diagonal, beside, taus, info])
}

/// The whole matrix of a triangle, in the lower form.
fn complete_matrix(
    t: &mut StablehloTranslator<'_>,
    a: &TypedTensor,
    shape: &MatrixBatch,
    triangle: StoredTriangle,
) -> TranslateResult<TypedTensor> {
    t.map_points(&shape.full_shape(), |t, s, point| {
        let (outer, row, column) = split_matrix_position(point);
        let mut c = ScalarBuilder::new(&mut s.body);
        let is_stored = c.le(column, row);
        let row = triangle.to_lower_index(&mut c, row, shape.rows);
        let column = triangle.to_lower_index(&mut c, column, shape.rows);
        let own = t.read_element(s, a, &matrix_position(outer, row, column));
        let other = t.read_element(s, a, &matrix_position(outer, column, row));
        let mut c = ScalarBuilder::new(&mut s.body);
        let other = c.conjugate_value(&other);
        let value = c.select_value(is_stored, &own, &other);
        let real = c.of_real(a.element, value.node());
        let is_diagonal = c.eq(row, column);
        Ok(c.select_value(is_diagonal, &real, &value))
    })
}

/// The matrix that LAPACK returns: the reduced band, reflections beside it, and the other triangle unchanged.
fn merge_results(
    t: &mut StablehloTranslator<'_>,
    a: &TypedTensor,
    form: &TridiagonalForm,
    shape: &MatrixBatch,
    triangle: StoredTriangle,
) -> TranslateResult<TypedTensor> {
    t.map_points(&shape.full_shape(), |t, s, point| {
        let (outer, row, column) = split_matrix_position(point);
        let own = t.read_element(s, a, point);
        let mut c = ScalarBuilder::new(&mut s.body);
        let row = triangle.to_lower_index(&mut c, row, shape.rows);
        let column = triangle.to_lower_index(&mut c, column, shape.rows);
        let vector = t.read_element(s, &form.vectors, &matrix_position(outer, column, row));
        let [diagonal, beside] = [&form.diagonal, &form.beside].map(|tensor| {
            t.read_element(s, tensor, &append_index(outer, column))
                .node()
        });
        let mut c = ScalarBuilder::new(&mut s.body);
        let is_diagonal = c.eq(row, column);
        let band = c.select(is_diagonal, diagonal, beside);
        let band = c.of_real(a.element, band);
        let next = c.add_constant(column, 1.0);
        let (is_vector, is_other) = (c.lt(next, row), c.lt(row, column));
        let value = c.select_value(is_vector, &vector, &band);
        Ok(c.select_value(is_other, &own, &value))
    })
}

/// The first elements of a tensor of the lower form, in the order of a triangle.
fn reorder_elements(
    t: &mut StablehloTranslator<'_>,
    tensor: &TypedTensor,
    shape: &MatrixBatch,
    triangle: StoredTriangle,
    count: u64,
) -> TranslateResult<TypedTensor> {
    t.gather_elements(tensor, &shape.batch_shape_with(&[count]), |c, point| {
        let (outer, at) = (&point[..point.len() - 1], point[point.len() - 1]);
        append_index(outer, triangle.to_lower_index(c, at, count))
    })
}

//! `sytrd` and `hetrd`: reduction of Hermitian matrices to tridiagonal form by Householder's reflections, one column in
//! each iteration.
//!
//! The upper form is the lower form of the matrix whose rows and columns are in reverse order.

use super::similarity::reduce_by_reflections;
use super::{LapackCall, MatrixBatch, append_index, make_success_info};
use crate::translate::error::TranslateResult;
use crate::translate::linear::{matrix_position, split_matrix_position};
use crate::translate::scalar::{ElementValue, ScalarBuilder};
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
    let [reduced, taus] = reduce_by_reflections(t, call.op, &full, &shape)?;
    let info = make_success_info(t, &shape);
    let mut results = vec![merge_results(t, &a, &reduced, &shape, triangle)?];
    results.push(read_band(t, &reduced, &shape, triangle, 0)?);
    results.push(read_band(t, &reduced, &shape, triangle, 1)?);
    results.push(
        t.map_points(&shape.batch_shape_with(&[count]), |t, s, point| {
            let (outer, at) = (&point[..point.len() - 1], point[point.len() - 1]);
            let mut c = ScalarBuilder::new(&mut s.body);
            let at = triangle.to_lower_index(&mut c, at, count);
            Ok(t.read_element(s, &taus, &append_index(outer, at)))
        })?,
    );
    results.push(info);
    Ok(results)
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
    reduced: &TypedTensor,
    shape: &MatrixBatch,
    triangle: StoredTriangle,
) -> TranslateResult<TypedTensor> {
    t.map_points(&shape.full_shape(), |t, s, point| {
        let (outer, row, column) = split_matrix_position(point);
        let own = t.read_element(s, a, point);
        let mut c = ScalarBuilder::new(&mut s.body);
        let row = triangle.to_lower_index(&mut c, row, shape.rows);
        let column = triangle.to_lower_index(&mut c, column, shape.rows);
        let position = matrix_position(outer, row, column);
        let vector = t.read_element(s, reduced, &position);
        let mut c = ScalarBuilder::new(&mut s.body);
        let band = c.of_real(a.element, vector.node());
        let beside = c.add_constant(column, 1.0);
        let (is_vector, is_other) = (c.lt(beside, row), c.lt(row, column));
        let value = c.select_value(is_vector, &vector, &band);
        Ok(c.select_value(is_other, &own, &value))
    })
}

/// The elements of the reduced matrix on the diagonal (0) or below it (1).
fn read_band(
    t: &mut StablehloTranslator<'_>,
    matrix: &TypedTensor,
    shape: &MatrixBatch,
    triangle: StoredTriangle,
    offset: u64,
) -> TranslateResult<TypedTensor> {
    let count = shape.rows.saturating_sub(offset);
    t.map_points(&shape.batch_shape_with(&[count]), |t, s, point| {
        let (outer, at) = (&point[..point.len() - 1], point[point.len() - 1]);
        let mut c = ScalarBuilder::new(&mut s.body);
        let column = triangle.to_lower_index(&mut c, at, count);
        let row = c.add_constant(column, offset as f64);
        let value = t.read_element(s, matrix, &matrix_position(outer, row, column));
        let element = matrix.element.component_element();
        Ok(ElementValue::new(element, value.node()))
    })
}

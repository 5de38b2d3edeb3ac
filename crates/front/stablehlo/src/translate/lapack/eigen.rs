//! `syevd`, `heevd`, `syevj` and `heevj`: eigenvalues and vectors of Hermitian matrices.
//!
//! Larger matrices are reduced to tridiagonal form. Small ones are diagonalised by rotations.

use super::block_reflections::{BlockReflections, round_to_blocks};
use super::divide_conquer::TridiagonalMatrices;
use super::general::ScaledMatrices;
use super::hermitian_reduction::{complete_hermitian, reduce_hermitian};
use super::symmetric_jacobi::diagonalise_matrices;
use super::{LapackCall, MatrixBatch, append_index, make_success_info};
use crate::dialect::ComparisonDirection;
use crate::mlir::MlirOp;
use crate::translate::element::TensorElement;
use crate::translate::error::TranslateResult;
use crate::translate::linear::{matrix_position, split_matrix_position};
use crate::translate::scalar::ScalarBuilder;
use crate::translate::translator::{StablehloTranslator, TypedTensor};

/// Most rows of matrices that are diagonalised by rotations.
pub(super) const SMALL: u64 = 16;
/// `info` of matrices that are not finite.
const NOT_FINITE: i64 = -4;

/// Vectors as columns, values in ascending order.
pub(super) fn translate_syevd(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
) -> TranslateResult<Vec<TypedTensor>> {
    let (a, shape) = call.read_square_matrices(t)?;
    let is_lower = call.read_letter(t, "uplo")? == 'L';
    let full = complete_hermitian(t, &a, &shape, is_lower)?;
    if shape.rows > SMALL {
        let spectrum = find_hermitian_spectrum(t, call.op, &full, &shape)?;
        let vectors = t.gather_elements(&spectrum.vectors, &shape.full_shape(), |_, point| {
            let (outer, row, column) = split_matrix_position(point);
            matrix_position(outer, column, row)
        })?;
        return Ok(vec![vectors, spectrum.values, spectrum.info]);
    }
    find_rotated_spectrum(t, call.op, full, &shape)
}

/// The same by rotations for matrices of all sizes. LAPACK has no such routine; the name is that of other libraries.
pub(super) fn translate_syevj(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
) -> TranslateResult<Vec<TypedTensor>> {
    let (a, shape) = call.read_square_matrices(t)?;
    let is_lower = call.read_letter(t, "uplo")? == 'L';
    let full = complete_hermitian(t, &a, &shape, is_lower)?;
    find_rotated_spectrum(t, call.op, full, &shape)
}

/// The spectrum of whole matrices by rotations: vectors as columns, values in ascending order, and `info`.
fn find_rotated_spectrum(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    full: TypedTensor,
    shape: &MatrixBatch,
) -> TranslateResult<Vec<TypedTensor>> {
    let [values, vectors] = diagonalise_matrices(t, full, shape)?;
    let ranked =
        t.sort_last_dimension(op, values, TensorElement::I64, ComparisonDirection::Less)?;
    let vectors = order_columns(t, &vectors, &ranked[1], shape)?;
    let info = make_success_info(t, shape);
    Ok(vec![vectors, ranked[0].clone(), info])
}

/// Eigenvalues in ascending order, vectors as rows, and `info`.
pub(super) struct HermitianSpectrum {
    pub values: TypedTensor,
    pub vectors: TypedTensor,
    pub info: TypedTensor,
}

/// The spectrum of whole matrices of two rows or more by tridiagonal forms.
pub(super) fn find_hermitian_spectrum(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    matrix: &TypedTensor,
    shape: &MatrixBatch,
) -> TranslateResult<HermitianSpectrum> {
    let element = matrix.element;
    let scaled = ScaledMatrices::from_tensor(t, op, matrix, shape)?;
    let (inner, size) = (&scaled.shape, shape.rows);
    let batch = inner.batch[0].as_static().unwrap_or(0);
    let rows = round_to_blocks(size - 1);
    let form = reduce_hermitian(t, op, &scaled.matrix, inner, rows)?;
    let tridiagonal = TridiagonalMatrices {
        op,
        diagonal: &form.diagonal,
        beside: &form.beside,
        count: batch,
        size,
    };
    let spectrum = tridiagonal.solve(t)?;
    let vectors = t.map_points(&inner.full_shape(), |t, s, point| {
        let own = t.read_element(s, &spectrum.vectors, point).node();
        Ok(ScalarBuilder::new(&mut s.body).of_real(element, own))
    })?;
    let reflections = BlockReflections {
        op,
        vectors: &form.vectors,
        taus: &form.taus,
        batch,
        rows,
        size,
    };
    let vectors = reflections.apply_to_rows(t, &vectors, inner)?;
    let values = scaled.restore_scale(t, &spectrum.values)?;
    let success = make_success_info(t, inner);
    let info = scaled.merge_info(t, &success, NOT_FINITE)?;
    Ok(HermitianSpectrum {
        values: t.reshape_tensor(op, &values, shape.batch_shape_with(&[size]))?,
        vectors: t.reshape_tensor(op, &vectors, shape.full_shape())?,
        info: t.reshape_tensor(op, &info, shape.batch.clone())?,
    })
}

/// Columns of matrices in another order.
fn order_columns(
    t: &mut StablehloTranslator<'_>,
    tensor: &TypedTensor,
    order: &TypedTensor,
    shape: &MatrixBatch,
) -> TranslateResult<TypedTensor> {
    t.map_points(&shape.full_shape(), |t, s, point| {
        let (outer, row, column) = split_matrix_position(point);
        let from = t
            .read_element(s, order, &append_index(outer, column))
            .node();
        Ok(t.read_element(s, tensor, &matrix_position(outer, row, from)))
    })
}

//! Eigenvalues and vectors of small Hermitian matrices by C. G. J. Jacobi's rotations.

use super::jacobi::{
    JacobiPairing, RotationColumn, compute_rotation_column, find_iteration_partner, rotate_value,
};
use super::{MatrixBatch, build_identity, finish_all, read_iteration_number};
use crate::translate::error::TranslateResult;
use crate::translate::linear::{matrix_position, split_matrix_position};
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_tensor::ir::{StructuredOp, TensorValue};

/// Eigenvalues in any order, and vectors as columns.
pub(super) fn diagonalise_matrices(
    t: &mut StablehloTranslator<'_>,
    matrices: TypedTensor,
    shape: &MatrixBatch,
) -> TranslateResult<[TypedTensor; 2]> {
    let element = matrices.element;
    let whole = shape.full_shape();
    let identity = build_identity(t, element, shape)?;
    let pairs = JacobiPairing {
        count: shape.columns,
    };
    let turned = t.iterate_tensors(
        &[matrices, identity],
        pairs.iteration_count(element),
        |t, state, round| {
            let rotations = compute_symmetric_rotations(t, &state[0], shape, pairs, round);
            let a = t.map_points(&whole, |t, s, point| {
                let (outer, row, column) = split_matrix_position(point);
                let rotation =
                    RotationColumn::from_rotations(t, s, &rotations, pairs, outer, column, round);
                let own = rotation
                    .rotate_element(t, s, &state[0], |index| matrix_position(outer, row, index));
                let other_row = find_iteration_partner(s, pairs, row, round);
                let other = rotation.rotate_element(t, s, &state[0], |index| {
                    matrix_position(outer, other_row, index)
                });
                let rows =
                    RotationColumn::from_rotations(t, s, &rotations, pairs, outer, row, round);
                let mut c = ScalarBuilder::new(&mut s.body);
                let sine = c.conjugate_value(&rows.sine);
                let other = c.multiply_values(&sine, &other);
                Ok(rotate_value(&mut c, &own, rows.versine, &other))
            })?;
            let vectors = t.map_points(&whole, |t, s, point| {
                let (outer, row, column) = split_matrix_position(point);
                let rotation =
                    RotationColumn::from_rotations(t, s, &rotations, pairs, outer, column, round);
                Ok(rotation
                    .rotate_element(t, s, &state[1], |index| matrix_position(outer, row, index)))
            })?;
            Ok(vec![a, vectors])
        },
    )?;
    let values = t.map_points(&shape.batch_shape_with(&[shape.columns]), |t, s, point| {
        let (outer, i) = (&point[..point.len() - 1], point[point.len() - 1]);
        let value = t.read_element(s, &turned[0], &matrix_position(outer, i, i));
        Ok(ElementValue::new(element.component_element(), value.node()))
    })?;
    Ok([values, turned[1].clone()])
}

/// The rotations of an iteration: 1 minus cosine, and sine, of the column of each index.
fn compute_symmetric_rotations(
    t: &mut StablehloTranslator<'_>,
    a: &TypedTensor,
    shape: &MatrixBatch,
    pairs: JacobiPairing,
    round: TensorValue,
) -> Vec<TypedTensor> {
    let mut s = StructuredOp::with_parallel_axes(&shape.batch_shape_with(&[shape.columns]));
    let point = s.axis_indices();
    let (outer, index) = (&point[..point.len() - 1], point[point.len() - 1]);
    let round = read_iteration_number(&mut s, round);
    let mut c = ScalarBuilder::new(&mut s.body);
    let pair = pairs.find_pair(&mut c, index, round);
    let [i, j] = [pair.first, pair.second];
    let [a_first, a_second, between] = [(i, i), (j, j), (i, j)]
        .map(|(row, column)| t.read_element(&mut s, a, &matrix_position(outer, row, column)));
    let mut c = ScalarBuilder::new(&mut s.body);
    let nothing = c.make_constant_value(a.element, 0.0);
    let between = c.select_value(pair.exists, &between, &nothing);
    let (first, second) = (a_first.node(), a_second.node());
    let (versine, sine) = compute_rotation_column(&mut c, first, second, &between, pair.is_first);
    let values = [
        ElementValue::new(a.element.component_element(), versine),
        sine,
    ];
    finish_all(t, s, &values)
}

//! `syevd` and `heevd`: eigenvalues and vectors of Hermitian matrices by Jacobi's method.

use super::jacobi::{JacobiPairing, compute_rotation_column, rotate_value};
use super::{
    LapackCall, MatrixBatch, append_index, build_identity, finish_all, make_success_info,
    read_iteration_number,
};
use crate::dialect::ComparisonDirection;
use crate::translate::element::TensorElement;
use crate::translate::error::TranslateResult;
use crate::translate::linear::{matrix_position, split_matrix_position};
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_tensor::ir::{ScalarNode, StructuredOp, TensorValue};

/// Vectors as columns, values in ascending order.
pub(super) fn translate_syevd(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
) -> TranslateResult<Vec<TypedTensor>> {
    let (a, shape) = call.read_square_matrices(t)?;
    let lower = call.read_letter(t, "uplo")? == 'L';
    let element = a.element;
    let whole = shape.full_shape();
    let full = t.map_points(&whole, |t, s, point| {
        let (outer, row, column) = split_matrix_position(point);
        let (own, other) = (
            t.read_element(s, &a, point),
            t.read_element(s, &a, &matrix_position(outer, column, row)),
        );
        let mut c = ScalarBuilder::new(&mut s.body);
        let is_other = if lower {
            c.lt(row, column)
        } else {
            c.lt(column, row)
        };
        let other = c.conjugate_value(&other);
        Ok(c.select_value(is_other, &other, &own))
    })?;
    let identity = build_identity(t, element, &shape)?;
    let pairs = JacobiPairing {
        count: shape.columns,
    };
    let turned = t.iterate_tensors(
        &[full, identity],
        pairs.iteration_count(element),
        |t, state, round| {
            let rotations = compute_symmetric_rotations(t, &state[0], &shape, pairs, round);
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
    let ranked = t.sort_last_dimension(
        call.op,
        values,
        TensorElement::I64,
        ComparisonDirection::Less,
    )?;
    let vectors = columns_by(t, &turned[1], &ranked[1], &shape)?;
    let info = make_success_info(t, &shape);
    Ok(vec![vectors, ranked[0].clone(), info])
}

/// Columns of matrices in another order.
pub(super) fn columns_by(
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

fn find_iteration_partner(
    s: &mut StructuredOp,
    pairs: JacobiPairing,
    index: ScalarNode,
    round: TensorValue,
) -> ScalarNode {
    let round = read_iteration_number(s, round);
    pairs
        .find_partner(&mut ScalarBuilder::new(&mut s.body), index, round)
        .0
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

/// The column of a rotation at an index.
pub(super) struct RotationColumn {
    index: ScalarNode,
    partner: ScalarNode,
    /// 1 minus the cosine.
    versine: ScalarNode,
    sine: ElementValue,
}

impl RotationColumn {
    /// Reads the column of an index.
    pub fn from_rotations(
        t: &StablehloTranslator<'_>,
        s: &mut StructuredOp,
        rotations: &[TypedTensor],
        pairs: JacobiPairing,
        outer: &[ScalarNode],
        index: ScalarNode,
        round: TensorValue,
    ) -> RotationColumn {
        RotationColumn {
            index,
            partner: find_iteration_partner(s, pairs, index, round),
            versine: t
                .read_element(s, &rotations[0], &append_index(outer, index))
                .node(),
            sine: t.read_element(s, &rotations[1], &append_index(outer, index)),
        }
    }

    /// An element of a matrix times the rotation; a function computes positions in its row.
    pub fn rotate_element(
        &self,
        t: &StablehloTranslator<'_>,
        s: &mut StructuredOp,
        tensor: &TypedTensor,
        position: impl Fn(ScalarNode) -> Vec<ScalarNode>,
    ) -> ElementValue {
        let own = t.read_element(s, tensor, &position(self.index));
        let other = t.read_element(s, tensor, &position(self.partner));
        let mut c = ScalarBuilder::new(&mut s.body);
        let other = c.multiply_values(&other, &self.sine);
        rotate_value(&mut c, &own, self.versine, &other)
    }
}

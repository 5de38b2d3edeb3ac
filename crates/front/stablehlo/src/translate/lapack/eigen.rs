//! `syevd` and `heevd`: eigenvalues and vectors of Hermitian matrices by Jacobi's method.

use super::jacobi::{JacobiPairing, rotation};
use super::{LapackCall, MatrixBatch, and, finish_all, identity, number, success};
use crate::translate::element::TensorElement;
use crate::translate::error::TranslateResult;
use crate::translate::linear::{at, split};
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_tensor::ir::{ScalarNode, StructuredOp, TensorValue};

/// Vectors as columns, values in ascending order.
pub(super) fn syevd(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
) -> TranslateResult<Vec<TypedTensor>> {
    let (a, shape) = call.square(t)?;
    let lower = call.letter(t, "uplo")? == 'L';
    let element = a.element;
    let whole = shape.whole();
    let full = t.map(&whole, |t, s, point| {
        let (outer, row, column) = split(point);
        let (own, other) = (t.read(s, &a, point), t.read(s, &a, &at(outer, column, row)));
        let mut c = ScalarBuilder::new(&mut s.body);
        let is_other = match lower {
            true => c.lt(row, column),
            false => c.lt(column, row),
        };
        let other = c.conjugate(&other);
        Ok(c.choice(is_other, &other, &own))
    })?;
    let identity = identity(t, element, &shape)?;
    let pairs = JacobiPairing {
        count: shape.columns,
    };
    let turned = t.rounds(
        &[full, identity],
        pairs.rounds(element),
        |t, state, round| {
            let rotations = rotations(t, &state[0], (&shape, pairs), round);
            let a = t.map(&whole, |t, s, point| {
                let (outer, row, column) = split(point);
                let rotation =
                    RotationColumn::of(t, s, (&rotations, pairs), (outer, column), round);
                let own = rotation.applied(t, s, &state[0], |index| at(outer, row, index));
                let other_row = partner(s, pairs, row, round);
                let other = rotation.applied(t, s, &state[0], |index| at(outer, other_row, index));
                let rows = RotationColumn::of(t, s, (&rotations, pairs), (outer, row), round);
                let mut c = ScalarBuilder::new(&mut s.body);
                let own = c.scaled(&own, rows.cosine);
                let sine = c.conjugate(&rows.sine);
                let other = c.product(&sine, &other);
                Ok(c.total(&own, &other))
            })?;
            let vectors = t.map(&whole, |t, s, point| {
                let (outer, row, column) = split(point);
                let rotation =
                    RotationColumn::of(t, s, (&rotations, pairs), (outer, column), round);
                Ok(rotation.applied(t, s, &state[1], |index| at(outer, row, index)))
            })?;
            Ok(vec![a, vectors])
        },
    )?;
    let values = t.map(&shape.with(&[shape.columns]), |t, s, point| {
        let (outer, i) = (&point[..point.len() - 1], point[point.len() - 1]);
        let value = t.read(s, &turned[0], &at(outer, i, i));
        Ok(ElementValue::new(element.part(), value.node()))
    })?;
    let ranked = t.ranked(call.op, values, TensorElement::I64, "LT")?;
    let vectors = columns_by(t, &turned[1], &ranked[1], &shape)?;
    let info = success(t, &shape);
    Ok(vec![vectors, ranked[0].clone(), info])
}

/// Columns of matrices in another order.
pub(super) fn columns_by(
    t: &mut StablehloTranslator<'_>,
    tensor: &TypedTensor,
    order: &TypedTensor,
    shape: &MatrixBatch,
) -> TranslateResult<TypedTensor> {
    t.map(&shape.whole(), |t, s, point| {
        let (outer, row, column) = split(point);
        let from = t.read(s, order, &and(outer, column)).node();
        Ok(t.read(s, tensor, &at(outer, row, from)))
    })
}

fn partner(
    s: &mut StructuredOp,
    pairs: JacobiPairing,
    index: ScalarNode,
    round: TensorValue,
) -> ScalarNode {
    let round = number(s, round);
    pairs
        .partner(&mut ScalarBuilder::new(&mut s.body), index, round)
        .0
}

/// The rotations of a round, a column of each for every index: cosines and sines.
fn rotations(
    t: &mut StablehloTranslator<'_>,
    a: &TypedTensor,
    (shape, pairs): (&MatrixBatch, JacobiPairing),
    round: TensorValue,
) -> Vec<TypedTensor> {
    let mut s = StructuredOp::parallel(&shape.with(&[shape.columns]));
    let point = s.point();
    let (outer, index) = (&point[..point.len() - 1], point[point.len() - 1]);
    let round = number(&mut s, round);
    let mut c = ScalarBuilder::new(&mut s.body);
    let pair = pairs.pair(&mut c, index, round);
    let [i, j] = [pair.first, pair.second];
    let [a_first, a_second, between] =
        [(i, i), (j, j), (i, j)].map(|(row, column)| t.read(&mut s, a, &at(outer, row, column)));
    let mut c = ScalarBuilder::new(&mut s.body);
    let nothing = c.known(a.element, 0.0);
    let between = c.choice(pair.exists, &between, &nothing);
    let diagonal = (a_first.node(), a_second.node());
    let (cosine, sine) = rotation(&mut c, diagonal, &between, pair.is_first);
    let values = [ElementValue::new(a.element.part(), cosine), sine];
    finish_all(t, s, &values)
}

/// The column of a rotation at an index.
pub(super) struct RotationColumn {
    index: ScalarNode,
    partner: ScalarNode,
    cosine: ScalarNode,
    sine: ElementValue,
}

impl RotationColumn {
    /// Reads it.
    pub fn of(
        t: &StablehloTranslator<'_>,
        s: &mut StructuredOp,
        (rotations, pairs): (&[TypedTensor], JacobiPairing),
        (outer, index): (&[ScalarNode], ScalarNode),
        round: TensorValue,
    ) -> RotationColumn {
        RotationColumn {
            index,
            partner: partner(s, pairs, index, round),
            cosine: t.read(s, &rotations[0], &and(outer, index)).node(),
            sine: t.read(s, &rotations[1], &and(outer, index)),
        }
    }

    /// An element of a matrix times the rotation; a function gives positions in its row.
    pub fn applied(
        &self,
        t: &StablehloTranslator<'_>,
        s: &mut StructuredOp,
        tensor: &TypedTensor,
        position: impl Fn(ScalarNode) -> Vec<ScalarNode>,
    ) -> ElementValue {
        let own = t.read(s, tensor, &position(self.index));
        let other = t.read(s, tensor, &position(self.partner));
        let mut c = ScalarBuilder::new(&mut s.body);
        let own = c.scaled(&own, self.cosine);
        let other = c.product(&other, &self.sine);
        c.total(&own, &other)
    }
}

//! `getrf`: LU factorisation with rows exchanged, one column a round.

use super::{LapackCall, MatrixBatch, and, first_failure, number};
use crate::translate::element::TensorElement;
use crate::translate::error::TranslateResult;
use crate::translate::linear::{at, split};
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_program::ScalarType as Ty;
use spirula_tensor::ir::{
    AxisKind, DimExtent, NodeGraph, ScalarCombiner, StructuredOp, TensorReduction, TensorValue,
};

/// The factors in one matrix, the rows that were exchanged (from 1), and the first pivot that is 0.
pub(super) fn getrf(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
) -> TranslateResult<Vec<TypedTensor>> {
    let (a, shape) = call.matrices(t, 0)?;
    let count = shape.least();
    let pivots = t.zeros(TensorElement::I32, &shape.with(&[count]));
    let mut results = t.rounds(&[a, pivots], DimExtent::Static(count), |t, state, round| {
        let (a, pivots) = (&state[0], &state[1]);
        let found = pivot_row(t, a, &shape, round);
        let noted = t.map(&shape.with(&[count]), |t, s, point| {
            let at = point[point.len() - 1];
            let old = t.read(s, pivots, point);
            let row = t.read(s, &found, &point[..point.len() - 1]);
            let j = number(s, round);
            let mut c = ScalarBuilder::new(&mut s.body);
            let row = c.plus(row.node(), 1.0);
            let new = ElementValue::new(TensorElement::I32, c.resize(Ty::I32, true, row));
            let is_now = c.eq(at, j);
            Ok(c.choice(is_now, &new, &old))
        })?;
        Ok(vec![eliminated(t, a, (&found, &shape), round)?, noted])
    })?;
    let info = first_failure(t, &results[0], &shape, |c, pivot| {
        let size = c.square_size(pivot);
        let zero = c.like(size, 0.0);
        c.eq(size, zero)
    });
    results.push(info);
    Ok(results)
}

/// The first row, from the round's on, whose element in the round's column is largest.
fn pivot_row(
    t: &mut StablehloTranslator<'_>,
    a: &TypedTensor,
    shape: &MatrixBatch,
    round: TensorValue,
) -> TypedTensor {
    let mut s = StructuredOp::parallel(&shape.batch);
    let outer = s.point();
    let i = s.axis(DimExtent::Static(shape.rows), AxisKind::Reduction);
    let j = number(&mut s, round);
    let element = t.read(&mut s, a, &at(&outer, i, j));
    let mut c = ScalarBuilder::new(&mut s.body);
    let sizes: Vec<_> = element.nodes.iter().map(|part| c.abs(*part)).collect();
    let size = sizes.into_iter().reduce(|a, b| c.add(a, b)).unwrap_or(i);
    let least = c.like(size, -1.0);
    let is_above = c.lt(i, j);
    let size = c.cond(is_above, least, size);
    let beyond = c.body.i64(shape.rows as i64);
    let ty = c.ty(size);
    let found = s.fold(TensorReduction {
        initial: vec![least, beyond],
        values: vec![size, i],
        combiner: largest(ty),
    })[1];
    // Where all are NaN none is largest.
    let mut c = ScalarBuilder::new(&mut s.body);
    let is_row = c.lt(found, beyond);
    let row = c.cond(is_row, found, j);
    t.finish(s, &ElementValue::new(TensorElement::I64, row))
}

/// The larger of two sizes with its index, the first of equal ones.
fn largest(ty: Ty) -> ScalarCombiner {
    let mut body = NodeGraph::default();
    let types = [ty, Ty::I64, ty, Ty::I64];
    let [size, at, other, other_at] = [0, 1, 2, 3].map(|n| body.argument(n, types[n as usize]));
    let mut c = ScalarBuilder::new(&mut body);
    let (greater, equal) = (c.lt(size, other), c.eq(size, other));
    let earlier = c.lt(other_at, at);
    let first = c.and(equal, earlier);
    let takes = c.or(greater, first);
    let results = vec![c.cond(takes, other, size), c.cond(takes, other_at, at)];
    ScalarCombiner { body, results }
}

/// The matrix with two rows exchanged, and what is below and right of the pivot made anew.
fn eliminated(
    t: &mut StablehloTranslator<'_>,
    a: &TypedTensor,
    (found, shape): (&TypedTensor, &MatrixBatch),
    round: TensorValue,
) -> TranslateResult<TypedTensor> {
    t.map(&shape.whole(), |t, s, point| {
        let (outer, row, column) = split(point);
        let j = number(s, round);
        let pivot_row = t.read(s, found, outer).node();
        let mut c = ScalarBuilder::new(&mut s.body);
        let (is_first, is_second) = (c.eq(row, j), c.eq(row, pivot_row));
        let from = c.cond(is_second, j, row);
        let from = c.cond(is_first, pivot_row, from);
        let own = t.read(s, a, &and(&and(outer, from), column));
        let left = t.read(s, a, &at(outer, from, j));
        let pivot = t.read(s, a, &at(outer, pivot_row, j));
        let above = t.read(s, a, &at(outer, pivot_row, column));
        let mut c = ScalarBuilder::new(&mut s.body);
        let size = c.square_size(&pivot);
        let zero = c.like(size, 0.0);
        let is_zero = c.eq(size, zero);
        let factor = c.quotient(&left, &pivot);
        let factor = c.choice(is_zero, &left, &factor);
        let product = c.product(&factor, &above);
        let rest = c.difference(&own, &product);
        let (is_below, is_right) = (c.lt(j, row), c.lt(j, column));
        let is_column = c.eq(column, j);
        let below = c.choice(is_right, &rest, &own);
        let below = c.choice(is_column, &factor, &below);
        Ok(c.choice(is_below, &below, &own))
    })
}

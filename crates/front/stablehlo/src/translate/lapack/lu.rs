//! `getrf`: LU factorisation with partial pivoting, one column in each iteration.

use super::{LapackCall, MatrixBatch, append_index, find_failure, read_iteration_number};
use crate::translate::element::TensorElement;
use crate::translate::error::TranslateResult;
use crate::translate::linear::{matrix_position, split_matrix_position};
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_program::ScalarType as Ty;
use spirula_tensor::ir::{
    AxisKind, DimExtent, NodeGraph, ScalarCombiner, ScalarNode, StructuredOp, TensorReduction,
    TensorValue,
};

/// The factors in one matrix, the rows that were exchanged (from 1), and the first pivot that is 0.
pub(super) fn translate_getrf(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
) -> TranslateResult<Vec<TypedTensor>> {
    let (a, shape) = call.read_matrices(t, 0)?;
    let count = shape.smaller_size();
    let pivots = t.emit_zeros(TensorElement::I32, &shape.batch_shape_with(&[count]));
    let mut results =
        t.iterate_tensors(&[a, pivots], DimExtent::Static(count), |t, state, round| {
            let (a, pivots) = (&state[0], &state[1]);
            let found = pivot_row(t, a, &shape, round);
            let noted = t.map_points(&shape.batch_shape_with(&[count]), |t, s, point| {
                let at = point[point.len() - 1];
                let old = t.read_element(s, pivots, point);
                let row = t.read_element(s, &found, &point[..point.len() - 1]);
                let j = read_iteration_number(s, round);
                let mut c = ScalarBuilder::new(&mut s.body);
                let row = c.add_constant(row.node(), 1.0);
                let new =
                    ElementValue::new(TensorElement::I32, c.resize_integer(Ty::I32, true, row));
                let is_now = c.eq(at, j);
                Ok(c.select_value(is_now, &new, &old))
            })?;
            Ok(vec![eliminate_column(t, a, &found, &shape, round)?, noted])
        })?;
    let info = find_failure(t, &results[0], &shape, |c, pivot| {
        let size = c.square_size(pivot);
        let zero = c.constant_like(size, 0.0);
        c.eq(size, zero)
    })?;
    results.push(info);
    Ok(results)
}

/// The first row, not above the iteration's, whose element in the iteration's column is largest.
fn pivot_row(
    t: &mut StablehloTranslator<'_>,
    a: &TypedTensor,
    shape: &MatrixBatch,
    round: TensorValue,
) -> TypedTensor {
    let mut s = StructuredOp::with_parallel_axes(&shape.batch);
    let outer = s.axis_indices();
    let i = s.add_axis(DimExtent::Static(shape.rows), AxisKind::Reduction);
    let j = read_iteration_number(&mut s, round);
    let element = t.read_element(&mut s, a, &matrix_position(&outer, i, j));
    let mut c = ScalarBuilder::new(&mut s.body);
    let sizes: Vec<_> = element.nodes.iter().map(|part| c.abs(*part)).collect();
    let size = sizes.into_iter().reduce(|a, b| c.add(a, b)).unwrap_or(i);
    let least = c.constant_like(size, -1.0);
    let is_above = c.lt(i, j);
    let size = c.select(is_above, least, size);
    let found = reduce_largest_position(&mut s, size, i, shape.rows);
    // If all are NaN, none is largest.
    let mut c = ScalarBuilder::new(&mut s.body);
    let beyond = c.body.intern_i64(shape.rows as i64);
    let is_row = c.lt(found, beyond);
    let row = c.select(is_row, found, j);
    t.finish_structured(s, &ElementValue::new(TensorElement::I64, row))
}

/// The first index, below `count`, of the largest size that is above -1; `count` if there is none.
pub(super) fn reduce_largest_position(
    s: &mut StructuredOp,
    size: ScalarNode,
    index: ScalarNode,
    count: u64,
) -> ScalarNode {
    let mut c = ScalarBuilder::new(&mut s.body);
    let least = c.constant_like(size, -1.0);
    let beyond = c.body.intern_i64(count as i64);
    let ty = c.node_type(size);
    s.add_reduction(TensorReduction {
        initial: vec![least, beyond],
        values: vec![size, index],
        combiner: build_largest_combiner(ty),
    })[1]
}

/// The larger of two sizes with its index, the first of equal ones.
fn build_largest_combiner(ty: Ty) -> ScalarCombiner {
    let mut body = NodeGraph::default();
    let types = [ty, Ty::I64, ty, Ty::I64];
    let [size, at, other, other_at] =
        [0, 1, 2, 3].map(|n| body.intern_argument(n, types[n as usize]));
    let mut c = ScalarBuilder::new(&mut body);
    let (greater, equal) = (c.lt(size, other), c.eq(size, other));
    let earlier = c.lt(other_at, at);
    let first = c.and(equal, earlier);
    let takes = c.or(greater, first);
    let results = vec![c.select(takes, other, size), c.select(takes, other_at, at)];
    ScalarCombiner { body, results }
}

/// The matrix with two rows exchanged, and the part below and to the right of the pivot updated.
fn eliminate_column(
    t: &mut StablehloTranslator<'_>,
    a: &TypedTensor,
    found: &TypedTensor,
    shape: &MatrixBatch,
    round: TensorValue,
) -> TranslateResult<TypedTensor> {
    t.map_points(&shape.full_shape(), |t, s, point| {
        let (outer, row, column) = split_matrix_position(point);
        let j = read_iteration_number(s, round);
        let pivot_row = t.read_element(s, found, outer).node();
        let mut c = ScalarBuilder::new(&mut s.body);
        let (is_first, is_second) = (c.eq(row, j), c.eq(row, pivot_row));
        let from = c.select(is_second, j, row);
        let from = c.select(is_first, pivot_row, from);
        let own = t.read_element(s, a, &append_index(&append_index(outer, from), column));
        let left = t.read_element(s, a, &matrix_position(outer, from, j));
        let pivot = t.read_element(s, a, &matrix_position(outer, pivot_row, j));
        let above = t.read_element(s, a, &matrix_position(outer, pivot_row, column));
        let mut c = ScalarBuilder::new(&mut s.body);
        let size = c.square_size(&pivot);
        let zero = c.constant_like(size, 0.0);
        let is_zero = c.eq(size, zero);
        let factor = c.divide_values(&left, &pivot);
        let factor = c.select_value(is_zero, &left, &factor);
        let product = c.multiply_values(&factor, &above);
        let rest = c.subtract_values(&own, &product);
        let (is_below, is_right) = (c.lt(j, row), c.lt(j, column));
        let is_column = c.eq(column, j);
        let below = c.select_value(is_right, &rest, &own);
        let below = c.select_value(is_column, &factor, &below);
        Ok(c.select_value(is_below, &below, &own))
    })
}

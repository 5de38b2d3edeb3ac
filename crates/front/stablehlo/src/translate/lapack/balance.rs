//! Balancing of matrices by diagonal matrices of powers of two, which makes norms of rows and columns alike (B. N. Parlett, C.
//! Reinsch, "Balancing a matrix for calculation of eigenvalues and eigenvectors", 1969).

use super::scalar_step::{
    add_sizes, compute_scalars, make_integer, read_scalar, repeat_while, replace_elements,
};
use super::{MatrixBatch, reduce_real_sum};
use crate::translate::element::TensorElement;
use crate::translate::error::TranslateResult;
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_program::{ScalarOp as Scalar, ScalarType as Ty};
use spirula_tensor::ir::{AxisKind, DimExtent, ScalarNode, StructuredOp};

/// The sum of norms that a change must stay below, as a part of the sum before.
const GAIN: f64 = 0.95;

/// Balances matrices with one dimension of a batch. Returns D⁻¹ A D, and the diagonal of each D.
pub(super) fn balance_matrices(
    t: &mut StablehloTranslator<'_>,
    matrix: &TypedTensor,
    shape: &MatrixBatch,
) -> TranslateResult<[TypedTensor; 2]> {
    let real = matrix.element.component_element();
    let diagonal = shape.batch_shape_with(&[shape.rows]);
    let ones = t.map_points(&diagonal, |_, s, _| {
        Ok(ScalarBuilder::new(&mut s.body).make_constant_value(real, 1.0))
    })?;
    let count = if shape.rows == 0 {
        0
    } else {
        shape.batch[0].as_static().unwrap_or(0)
    };
    let zero = make_integer(t, 0);
    let initial = [zero.clone(), zero.clone(), zero, matrix.clone(), ones];
    let goes_on = |t: &StablehloTranslator<'_>, s: &mut StructuredOp, state: &[TypedTensor]| {
        let number = read_scalar(t, s, &state[0]).node();
        let mut c = ScalarBuilder::new(&mut s.body);
        let end = c.body.intern_i64(count as i64);
        c.lt(number, end)
    };
    let size = shape.rows;
    let balanced = repeat_while(t, &initial, goes_on, |t, state| {
        Ok(balance_row(t, state, size))
    })?;
    Ok([balanced[3].clone(), balanced[4].clone()])
}

/// A step for a row and its column. The state has the number of the matrix, the row, the number of changes since the first row,
/// the matrices, and the diagonals.
fn balance_row(
    t: &mut StablehloTranslator<'_>,
    state: &[TypedTensor],
    size: u64,
) -> Vec<TypedTensor> {
    let [number, row, changes, matrix, diagonal] = [0, 1, 2, 3, 4].map(|at| &state[at]);
    let real = diagonal.element;
    let found = compute_scalars(t, |t, s| {
        let j = s.add_axis(DimExtent::Static(size), AxisKind::Reduction);
        let [number, i] = [number, row].map(|tensor| read_scalar(t, s, tensor).node());
        let (below, right) = (
            t.read_element(s, matrix, &[number, j, i]),
            t.read_element(s, matrix, &[number, i, j]),
        );
        let mut c = ScalarBuilder::new(&mut s.body);
        let sizes = [&below, &right].map(|value| add_sizes(&mut c, value));
        let zero = c.constant_like(sizes[0], 0.0);
        let is_diagonal = c.eq(i, j);
        let sizes = sizes.map(|size| c.select(is_diagonal, zero, size));
        let [column, row] = sizes.map(|size| reduce_real_sum(s, size));
        let scale = t.read_element(s, diagonal, &[number, i]).node();
        let [factor, inverse] =
            choose_factor(&mut ScalarBuilder::new(&mut s.body), column, row, scale);
        [factor, inverse]
            .map(|node| ElementValue::new(real, node))
            .to_vec()
    });
    let indices = advance_row(t, [number, row, changes], &found[0], size);
    let scaled = scale_line(t, matrix, [number, row], &found[1], size, BalancedLine::Row);
    let scaled = scale_line(
        t,
        &scaled,
        [number, row],
        &found[0],
        size,
        BalancedLine::Column,
    );
    let diagonal = replace_elements(t, diagonal, &[1], |t, s, _| {
        let [number, i] = [number, row].map(|tensor| read_scalar(t, s, tensor).node());
        let own = t.read_element(s, diagonal, &[number, i]);
        let factor = read_scalar(t, s, &found[0]).node();
        let value = ScalarBuilder::new(&mut s.body).scale_value(&own, factor);
        (vec![number, i], value)
    });
    let mut next = indices;
    next.extend([scaled, diagonal]);
    next
}

/// The power of two by which a column is multiplied, and its inverse; both are 1 if that would gain little.
fn choose_factor(
    c: &mut ScalarBuilder<'_>,
    column: ScalarNode,
    row: ScalarNode,
    scale: ScalarNode,
) -> [ScalarNode; 2] {
    let float = c.node_type(column);
    let (ty, digits, bias) = match float {
        Ty::F64 => (Ty::I64, 52, 1023),
        _ => (Ty::I32, 23, 127),
    };
    let ratio = c.div(row, column);
    let bits = c.cast_bits(ty, ratio);
    let exponent = c.apply_with_constant(Scalar::LShr, bits, digits);
    // Half of the exponent, rounded.
    let exponent = c.add_constant(exponent, 1.0 - bias as f64);
    let half = c.apply_with_constant(Scalar::AShr, exponent, 1);
    let minus = c.neg(half);
    let [factor, inverse] = [half, minus].map(|exponent| {
        let exponent = c.add_constant(exponent, bias as f64);
        let bits = c.apply_with_constant(Scalar::Shl, exponent, digits);
        c.cast_bits(float, bits)
    });
    let (new_column, new_row) = (c.mul(column, factor), c.mul(row, inverse));
    let (before, after) = (c.add(column, row), c.add(new_column, new_row));
    let bound = c.mul_constant(before, GAIN);
    let is_better = c.lt(after, bound);
    let zero = c.constant_like(row, 0.0);
    let (has_column, has_row) = (c.lt(zero, column), c.lt(zero, row));
    let new_scale = c.mul(scale, factor);
    let limit = libm::ldexp(1.0, bias / 2);
    let (least, most) = (
        c.constant_like(scale, 1.0 / limit),
        c.constant_like(scale, limit),
    );
    let is_inside = c.is_between(new_scale, [least, most]);
    let is_better = [has_column, has_row, is_inside]
        .into_iter()
        .fold(is_better, |a, b| c.and(a, b));
    let one = c.constant_like(row, 1.0);
    [factor, inverse].map(|factor| c.select(is_better, factor, one))
}

/// The numbers of the next step: rows are repeated until none changes.
fn advance_row(
    t: &mut StablehloTranslator<'_>,
    state: [&TypedTensor; 3],
    factor: &TypedTensor,
    size: u64,
) -> Vec<TypedTensor> {
    compute_scalars(t, |t, s| {
        let [number, row, changes] = state.map(|tensor| read_scalar(t, s, tensor).node());
        let factor = read_scalar(t, s, factor).node();
        let mut c = ScalarBuilder::new(&mut s.body);
        let one = c.constant_like(factor, 1.0);
        let is_same = c.eq(factor, one);
        let more = c.add_constant(changes, 1.0);
        let changes = c.select(is_same, changes, more);
        let next_row = c.add_constant(row, 1.0);
        let end = c.body.intern_i64(size as i64);
        let zero = c.body.intern_i64(0);
        let is_end = c.eq(next_row, end);
        let is_unchanged = c.eq(changes, zero);
        let is_ready = c.and(is_end, is_unchanged);
        let next_number = c.add_constant(number, 1.0);
        let nodes = [
            c.select(is_ready, next_number, number),
            c.select(is_end, zero, next_row),
            c.select(is_end, zero, changes),
        ];
        nodes
            .map(|node| ElementValue::new(TensorElement::I64, node))
            .to_vec()
    })
}

#[derive(Clone, Copy)]
enum BalancedLine {
    Row,
    Column,
}

/// The matrices with a row or column times a factor.
fn scale_line(
    t: &mut StablehloTranslator<'_>,
    matrix: &TypedTensor,
    place: [&TypedTensor; 2],
    factor: &TypedTensor,
    size: u64,
    kind: BalancedLine,
) -> TypedTensor {
    replace_elements(t, matrix, &[size], |t, s, point| {
        let [number, i] = place.map(|tensor| read_scalar(t, s, tensor).node());
        let position = match kind {
            BalancedLine::Row => vec![number, i, point[0]],
            BalancedLine::Column => vec![number, point[0], i],
        };
        let own = t.read_element(s, matrix, &position);
        let factor = read_scalar(t, s, factor).node();
        let value = ScalarBuilder::new(&mut s.body).scale_value(&own, factor);
        (position, value)
    })
}

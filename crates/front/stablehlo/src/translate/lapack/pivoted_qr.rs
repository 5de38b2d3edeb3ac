//! `geqp3`: QR factorisation with exchanges of columns. Each iteration takes the column whose rest is longest (P. Businger, G. H.
//! Golub, "Linear least squares solutions by Householder transformations", 1965).

use super::lu::reduce_largest_position;
use super::qr::reflect_column;
use super::{LapackCall, MatrixBatch, append_index, read_iteration_number, reduce_real_sum};
use crate::translate::element::TensorElement;
use crate::translate::error::TranslateResult;
use crate::translate::linear::matrix_position;
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_program::ScalarType as Ty;
use spirula_tensor::ir::{AxisKind, DimExtent, ScalarNode, StructuredOp, TensorShape, TensorValue};

/// R with the reflections below it, the number of each column from 1, and each reflection's τ. Columns whose number in the
/// operand is not 0 come first.
pub(super) fn translate_geqp3(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
) -> TranslateResult<Vec<TypedTensor>> {
    let (a, shape) = call.read_matrices(t, 0)?;
    let leading = call.operands[1].clone();
    let columns = shape.batch_shape_with(&[shape.columns]);
    let fits = t.tensor_shape(&leading) == columns;
    t.ensure_holds(call.op, fits, "has another number of columns")?;
    let count = shape.smaller_size();
    let taus = t.emit_zeros(a.element, &shape.batch_shape_with(&[count]));
    let numbers = t.map_points(&columns, |_, s, point| {
        let mut c = ScalarBuilder::new(&mut s.body);
        let number = c.add_constant(point[point.len() - 1], 1.0);
        let number = c.resize_integer(Ty::I32, true, number);
        Ok(ElementValue::new(TensorElement::I32, number))
    })?;
    let initial = [a, numbers, taus];
    t.iterate_tensors(&initial, DimExtent::Static(count), |t, state, round| {
        let (a, numbers, taus) = (&state[0], &state[1], &state[2]);
        let found = find_longest_column(t, a, [numbers, &leading], &shape, round);
        let whole = shape.full_shape();
        let exchanged = exchange_columns(t, a, &found, &whole, round)?;
        let numbers = exchange_columns(t, numbers, &found, &columns, round)?;
        let [new, taus] = reflect_column(t, call.op, [&exchanged, taus], &shape, round)?;
        Ok(vec![new, numbers, taus])
    })
}

/// The column, not before the iteration's, that is longest from the iteration's row on, or the first that has to lead.
fn find_longest_column(
    t: &mut StablehloTranslator<'_>,
    a: &TypedTensor,
    [numbers, leading]: [&TypedTensor; 2],
    shape: &MatrixBatch,
    round: TensorValue,
) -> TypedTensor {
    let mut s = StructuredOp::with_parallel_axes(&shape.batch_shape_with(&[shape.columns]));
    let point = s.axis_indices();
    let (outer, column) = (&point[..point.len() - 1], point[point.len() - 1]);
    let row = s.add_axis(DimExtent::Static(shape.rows), AxisKind::Reduction);
    let j = read_iteration_number(&mut s, round);
    let own = t.read_element(&mut s, a, &matrix_position(outer, row, column));
    let mut c = ScalarBuilder::new(&mut s.body);
    let square = c.square_size(&own);
    let zero = c.constant_like(square, 0.0);
    let is_above = c.lt(row, j);
    let square = c.select(is_above, zero, square);
    let length = reduce_real_sum(&mut s, square);
    let real = a.element.component_element();
    let lengths = t.finish_structured(s, &ElementValue::new(real, length));
    let mut s = StructuredOp::with_parallel_axes(&shape.batch);
    let outer = s.axis_indices();
    let column = s.add_axis(DimExtent::Static(shape.columns), AxisKind::Reduction);
    let j = read_iteration_number(&mut s, round);
    let place = append_index(&outer, column);
    let length = t.read_element(&mut s, &lengths, &place).node();
    let number = t.read_index(&mut s, numbers, &place);
    let number = ScalarBuilder::new(&mut s.body).add_constant(number, -1.0);
    let leads = t
        .read_element(&mut s, leading, &append_index(&outer, number))
        .node();
    let mut c = ScalarBuilder::new(&mut s.body);
    let (least, most) = (
        c.constant_like(length, -1.0),
        c.constant_like(length, f64::INFINITY),
    );
    let zero = c.constant_like(leads, 0.0);
    let is_free = c.eq(leads, zero);
    let length = c.select(is_free, length, most);
    let is_before = c.lt(column, j);
    let length = c.select(is_before, least, length);
    let found = reduce_largest_position(&mut s, length, column, shape.columns);
    // If all are NaN, none is longest.
    let mut c = ScalarBuilder::new(&mut s.body);
    let beyond = c.body.intern_i64(shape.columns as i64);
    let is_column = c.lt(found, beyond);
    let found = c.select(is_column, found, j);
    t.finish_structured(s, &ElementValue::new(TensorElement::I64, found))
}

/// A tensor with the iteration's index and another one exchanged in the last dimension.
fn exchange_columns(
    t: &mut StablehloTranslator<'_>,
    tensor: &TypedTensor,
    found: &TypedTensor,
    shape: &TensorShape,
    round: TensorValue,
) -> TranslateResult<TypedTensor> {
    let batch = t.tensor_shape(found).len();
    t.map_points(shape, |t, s, point| {
        let (outer, column) = (&point[..point.len() - 1], point[point.len() - 1]);
        let j = read_iteration_number(s, round);
        let other: ScalarNode = t.read_element(s, found, &point[..batch]).node();
        let mut c = ScalarBuilder::new(&mut s.body);
        let (is_first, is_second) = (c.eq(column, j), c.eq(column, other));
        let from = c.select(is_second, j, column);
        let from = c.select(is_first, other, from);
        Ok(t.read_element(s, tensor, &append_index(outer, from)))
    })
}

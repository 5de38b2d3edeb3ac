//! `geqrf` and `orgqr`: QR factorisation by A. S. Householder's reflections, one column in each
//! iteration.
//!
//! A reflection is 1 − τ v vᴴ, where v has zeros before its column, 1 there, and is stored below the
//! diagonal otherwise.

use super::{
    LapackCall, MatrixBatch, append_index, build_identity, finish_all, read_iteration_number,
    reduce_real_sum,
};
use crate::mlir::MlirOp;
use crate::translate::error::TranslateResult;
use crate::translate::linear::{matrix_position, split_matrix_position};
use crate::translate::scalar::ScalarBuilder;
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_program::ScalarOp as Scalar;
use spirula_tensor::ir::{AxisKind, DimExtent, StructuredOp, TensorValue};

/// R with the reflections below it, and each one's τ.
pub(super) fn translate_geqrf(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
) -> TranslateResult<Vec<TypedTensor>> {
    let (a, shape) = call.read_matrices(t, 0)?;
    factor_qr(t, call.op, a, &shape)
}

/// The same for a tensor.
pub(super) fn factor_qr(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    a: TypedTensor,
    shape: &MatrixBatch,
) -> TranslateResult<Vec<TypedTensor>> {
    let count = shape.smaller_size();
    let taus = t.emit_zeros(a.element, &shape.batch_shape_with(&[count]));
    t.iterate_tensors(&[a, taus], DimExtent::Static(count), |t, state, round| {
        Ok(reflect_column(t, op, [&state[0], &state[1]], shape, round)?.to_vec())
    })
}

/// The matrix and the factors τ with the reflection of the iteration's column.
pub(super) fn reflect_column(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    [a, taus]: [&TypedTensor; 2],
    shape: &MatrixBatch,
    round: TensorValue,
) -> TranslateResult<[TypedTensor; 2]> {
    let reflection = compute_reflection(t, a, shape, round, 0);
    let products = compute_reflection_products(t, op, a, &reflection, shape, round)?;
    let new = apply_reflection(t, a, &reflection, &products, shape, round)?;
    let count = shape.smaller_size();
    let taus = record_factor(t, taus, &reflection, shape, count, round)?;
    Ok([new, taus])
}

/// The factors τ with that of the iteration.
pub(super) fn record_factor(
    t: &mut StablehloTranslator<'_>,
    taus: &TypedTensor,
    reflection: &HouseholderReflector,
    shape: &MatrixBatch,
    count: u64,
    round: TensorValue,
) -> TranslateResult<TypedTensor> {
    t.map_points(&shape.batch_shape_with(&[count]), |t, s, point| {
        let (outer, at) = (&point[..point.len() - 1], point[point.len() - 1]);
        let (old, tau) = (
            t.read_element(s, taus, point),
            t.read_element(s, &reflection.tau, outer),
        );
        let j = read_iteration_number(s, round);
        let mut c = ScalarBuilder::new(&mut s.body);
        let is_now = c.eq(at, j);
        Ok(c.select_value(is_now, &tau, &old))
    })
}

/// The reflection of a column: the element of R, τ, and the factor that turns the column below the
/// diagonal into v.
pub(super) struct HouseholderReflector {
    pub corner: TypedTensor,
    pub tau: TypedTensor,
    pub scale: TypedTensor,
}

/// The reflection of the iteration's column, whose first element is `shift` rows below the diagonal.
pub(super) fn compute_reflection(
    t: &mut StablehloTranslator<'_>,
    a: &TypedTensor,
    shape: &MatrixBatch,
    round: TensorValue,
    shift: u64,
) -> HouseholderReflector {
    let element = a.element;
    let mut s = StructuredOp::with_parallel_axes(&shape.batch);
    let outer = s.axis_indices();
    let i = s.add_axis(DimExtent::Static(shape.rows), AxisKind::Reduction);
    let j = read_iteration_number(&mut s, round);
    let own = t.read_element(&mut s, a, &matrix_position(&outer, i, j));
    let mut c = ScalarBuilder::new(&mut s.body);
    let pivot = c.add_constant(j, shift as f64);
    let square = c.square_size(&own);
    let zero = c.constant_like(square, 0.0);
    let is_below = c.lt(pivot, i);
    let square = c.select(is_below, square, zero);
    let below = reduce_real_sum(&mut s, square);
    let first = t.read_element(&mut s, a, &matrix_position(&outer, pivot, j));
    let mut c = ScalarBuilder::new(&mut s.body);
    let square = c.square_size(&first);
    let square = c.add(square, below);
    let norm = c.apply_unary(Scalar::Sqrt, square);
    let re = first.node();
    let size = c.copy_sign(norm, re);
    let corner = c.neg(size);
    let (corner_val, one) = (
        c.of_real(element, corner),
        c.make_constant_value(element, 1.0),
    );
    let difference = c.subtract_values(&corner_val, &first);
    let tau = c.divide_values(&difference, &corner_val);
    let difference = c.subtract_values(&first, &corner_val);
    let scale = c.divide_values(&one, &difference);
    // A real column that is zero below the diagonal is unchanged.
    let mut stays = c.eq(below, zero);
    if let [_, im] = first.nodes[..] {
        let is_real = c.eq(im, zero);
        stays = c.and(stays, is_real);
    }
    let nothing = c.make_constant_value(element, 0.0);
    let values = [
        c.select_value(stays, &first, &corner_val),
        c.select_value(stays, &nothing, &tau),
        c.select_value(stays, &nothing, &scale),
    ];
    let mut tensors = finish_all(t, s, &values).into_iter();
    let mut next = || tensors.next().unwrap_or_else(|| a.clone());
    HouseholderReflector {
        corner: next(),
        tau: next(),
        scale: next(),
    }
}

/// conj(τ) vᴴ A, a row for each matrix.
fn compute_reflection_products(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    a: &TypedTensor,
    reflection: &HouseholderReflector,
    shape: &MatrixBatch,
    round: TensorValue,
) -> TranslateResult<TypedTensor> {
    let mut s = StructuredOp::with_parallel_axes(&shape.batch);
    let outer = s.axis_indices();
    let column = s.add_axis(DimExtent::Static(shape.columns), AxisKind::Parallel);
    let i = s.add_axis(DimExtent::Static(shape.rows), AxisKind::Reduction);
    let j = read_iteration_number(&mut s, round);
    let stored = t.read_element(&mut s, a, &matrix_position(&outer, i, j));
    let scale = t.read_element(&mut s, &reflection.scale, &outer);
    let other = t.read_element(&mut s, a, &matrix_position(&outer, i, column));
    let mut c = ScalarBuilder::new(&mut s.body);
    let v = c.multiply_values(&stored, &scale);
    let v = c.conjugate_value(&v);
    let is_below = c.lt(j, i);
    let dot = t.sum_of_products(op, &mut s, &v, &other, Some(is_below), a.element)?;
    let first = t.read_element(&mut s, a, &matrix_position(&outer, j, column));
    let tau = t.read_element(&mut s, &reflection.tau, &outer);
    let mut c = ScalarBuilder::new(&mut s.body);
    let dot = c.add_values(&dot, &first);
    let tau = c.conjugate_value(&tau);
    let value = c.multiply_values(&tau, &dot);
    Ok(t.finish_structured(s, &value))
}

/// The matrix with the reflection applied, which is stored in its column.
fn apply_reflection(
    t: &mut StablehloTranslator<'_>,
    a: &TypedTensor,
    reflection: &HouseholderReflector,
    products: &TypedTensor,
    shape: &MatrixBatch,
    round: TensorValue,
) -> TranslateResult<TypedTensor> {
    t.map_points(&shape.full_shape(), |t, s, point| {
        let (outer, row, column) = split_matrix_position(point);
        let j = read_iteration_number(s, round);
        let own = t.read_element(s, a, point);
        let stored = t.read_element(s, a, &matrix_position(outer, row, j));
        let scale = t.read_element(s, &reflection.scale, outer);
        let product = t.read_element(s, products, &append_index(outer, column));
        let corner = t.read_element(s, &reflection.corner, outer);
        let mut c = ScalarBuilder::new(&mut s.body);
        let v = c.multiply_values(&stored, &scale);
        let (is_row, is_column) = (c.eq(row, j), c.eq(column, j));
        let one = c.make_constant_value(a.element, 1.0);
        let v_here = c.select_value(is_row, &one, &v);
        let change = c.multiply_values(&v_here, &product);
        let right = c.subtract_values(&own, &change);
        let in_column = c.select_value(is_row, &corner, &v);
        let new = c.select_value(is_column, &in_column, &right);
        let (is_above, is_left) = (c.lt(row, j), c.lt(column, j));
        let stays = c.or(is_above, is_left);
        Ok(c.select_value(stays, &own, &new))
    })
}

/// The first columns of the product of reflections.
pub(super) fn translate_orgqr(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
) -> TranslateResult<Vec<TypedTensor>> {
    let (a, shape) = call.read_matrices(t, 0)?;
    let taus = call.operands[1].clone();
    let count = t
        .static_sizes(call.op, &taus)
        .map(|sizes| sizes.last().copied())?;
    let count = count.unwrap_or(0);
    t.ensure_holds(
        call.op,
        count <= shape.smaller_size(),
        "has too many reflections",
    )?;
    Ok(vec![build_unitary(t, call.op, &a, &taus, &shape, count)?])
}

/// The same for tensors. The matrix, which has `count` reflections, has the shape of the result.
pub(super) fn build_unitary(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    a: &TypedTensor,
    taus: &TypedTensor,
    shape: &MatrixBatch,
    count: u64,
) -> TranslateResult<TypedTensor> {
    let identity = build_identity(t, a.element, shape)?;
    t.iterate_tensor(identity, DimExtent::Static(count), |t, q, round| {
        let last = t.builder.add_elementwise(&[round], |body, v| {
            let mut c = ScalarBuilder::new(body);
            let last = c.constant_like(v[0], count as f64 - 1.0);
            c.sub(last, v[0])
        });
        let mut s = StructuredOp::with_parallel_axes(&shape.batch);
        let outer = s.axis_indices();
        let column = s.add_axis(DimExtent::Static(shape.columns), AxisKind::Parallel);
        let i = s.add_axis(DimExtent::Static(shape.rows), AxisKind::Reduction);
        let j = read_iteration_number(&mut s, last);
        let v = t.read_element(&mut s, a, &matrix_position(&outer, i, j));
        let other = t.read_element(&mut s, q, &matrix_position(&outer, i, column));
        let mut c = ScalarBuilder::new(&mut s.body);
        let v = c.conjugate_value(&v);
        let is_below = c.lt(j, i);
        let dot = t.sum_of_products(op, &mut s, &v, &other, Some(is_below), a.element)?;
        let first = t.read_element(&mut s, q, &matrix_position(&outer, j, column));
        let tau = t.read_element(&mut s, taus, &append_index(&outer, j));
        let mut c = ScalarBuilder::new(&mut s.body);
        let dot = c.add_values(&dot, &first);
        let value = c.multiply_values(&tau, &dot);
        let products = t.finish_structured(s, &value);
        t.map_points(&shape.full_shape(), |t, s, point| {
            let (outer, row, column) = split_matrix_position(point);
            let j = read_iteration_number(s, last);
            let own = t.read_element(s, q, point);
            let v = t.read_element(s, a, &matrix_position(outer, row, j));
            let product = t.read_element(s, &products, &append_index(outer, column));
            let mut c = ScalarBuilder::new(&mut s.body);
            let one = c.make_constant_value(a.element, 1.0);
            let (is_row, is_above) = (c.eq(row, j), c.lt(row, j));
            let v = c.select_value(is_row, &one, &v);
            let change = c.multiply_values(&v, &product);
            let new = c.subtract_values(&own, &change);
            Ok(c.select_value(is_above, &own, &new))
        })
    })
}

//! `geqrf` and `orgqr`: QR factorisation by A. S. Householder's reflections, one column a round.
//!
//! A reflection is 1 − τ v vᴴ, where v has zeros before its column, 1 there, and is stored below the
//! diagonal otherwise.

use super::{LapackCall, MatrixBatch, and, finish_all, identity, number, sum};
use crate::mlir::MlirOp;
use crate::translate::error::TranslateResult;
use crate::translate::linear::{at, split};
use crate::translate::scalar::ScalarBuilder;
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_program::ScalarOp as Scalar;
use spirula_tensor::ir::{AxisKind, DimExtent, StructuredOp, TensorValue};

/// R with the reflections below it, and each one's τ.
pub(super) fn geqrf(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
) -> TranslateResult<Vec<TypedTensor>> {
    let (a, shape) = call.matrices(t, 0)?;
    factored(t, call.op, a, &shape)
}

/// The same of a tensor.
pub(super) fn factored(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    a: TypedTensor,
    shape: &MatrixBatch,
) -> TranslateResult<Vec<TypedTensor>> {
    let count = shape.least();
    let taus = t.zeros(a.element, &shape.with(&[count]));
    t.rounds(&[a, taus], DimExtent::Static(count), |t, state, round| {
        let (a, taus) = (&state[0], &state[1]);
        let reflection = reflection(t, a, shape, round);
        let products = products(t, op, a, (&reflection, shape), round)?;
        let new = reflected(t, a, (&reflection, &products, shape), round)?;
        let noted = t.map(&shape.with(&[count]), |t, s, point| {
            let (outer, at) = (&point[..point.len() - 1], point[point.len() - 1]);
            let (old, tau) = (t.read(s, taus, point), t.read(s, &reflection.tau, outer));
            let j = number(s, round);
            let mut c = ScalarBuilder::new(&mut s.body);
            let is_now = c.eq(at, j);
            Ok(c.choice(is_now, &tau, &old))
        })?;
        Ok(vec![new, noted])
    })
}

/// What a column's reflection is made of: the element of R, τ, and what the column below the
/// diagonal is multiplied by to be v.
struct HouseholderReflector {
    corner: TypedTensor,
    tau: TypedTensor,
    scale: TypedTensor,
}

fn reflection(
    t: &mut StablehloTranslator<'_>,
    a: &TypedTensor,
    shape: &MatrixBatch,
    round: TensorValue,
) -> HouseholderReflector {
    let element = a.element;
    let mut s = StructuredOp::parallel(&shape.batch);
    let outer = s.point();
    let i = s.axis(DimExtent::Static(shape.rows), AxisKind::Reduction);
    let j = number(&mut s, round);
    let own = t.read(&mut s, a, &at(&outer, i, j));
    let mut c = ScalarBuilder::new(&mut s.body);
    let square = c.square_size(&own);
    let zero = c.like(square, 0.0);
    let is_below = c.lt(j, i);
    let square = c.cond(is_below, square, zero);
    let below = sum(&mut s, square);
    let first = t.read(&mut s, a, &at(&outer, j, j));
    let mut c = ScalarBuilder::new(&mut s.body);
    let square = c.square_size(&first);
    let square = c.add(square, below);
    let norm = c.op1(Scalar::Sqrt, square);
    let re = first.node();
    let size = c.copy_sign(norm, re);
    let corner = c.neg(size);
    let (corner_val, one) = (c.of_real(element, corner), c.known(element, 1.0));
    let difference = c.difference(&corner_val, &first);
    let tau = c.quotient(&difference, &corner_val);
    let difference = c.difference(&first, &corner_val);
    let scale = c.quotient(&one, &difference);
    // A column that is zero below, and real, stays.
    let mut stays = c.eq(below, zero);
    if let [_, im] = first.nodes[..] {
        let is_real = c.eq(im, zero);
        stays = c.and(stays, is_real);
    }
    let nothing = c.known(element, 0.0);
    let values = [
        c.choice(stays, &first, &corner_val),
        c.choice(stays, &nothing, &tau),
        c.choice(stays, &nothing, &scale),
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
fn products(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    a: &TypedTensor,
    (reflection, shape): (&HouseholderReflector, &MatrixBatch),
    round: TensorValue,
) -> TranslateResult<TypedTensor> {
    let mut s = StructuredOp::parallel(&shape.batch);
    let outer = s.point();
    let column = s.axis(DimExtent::Static(shape.columns), AxisKind::Parallel);
    let i = s.axis(DimExtent::Static(shape.rows), AxisKind::Reduction);
    let j = number(&mut s, round);
    let stored = t.read(&mut s, a, &at(&outer, i, j));
    let scale = t.read(&mut s, &reflection.scale, &outer);
    let other = t.read(&mut s, a, &at(&outer, i, column));
    let mut c = ScalarBuilder::new(&mut s.body);
    let v = c.product(&stored, &scale);
    let v = c.conjugate(&v);
    let is_below = c.lt(j, i);
    let dot = t.sum_of_products(op, &mut s, (&v, &other), Some(is_below), a.element)?;
    let first = t.read(&mut s, a, &at(&outer, j, column));
    let tau = t.read(&mut s, &reflection.tau, &outer);
    let mut c = ScalarBuilder::new(&mut s.body);
    let dot = c.total(&dot, &first);
    let tau = c.conjugate(&tau);
    let value = c.product(&tau, &dot);
    Ok(t.finish(s, &value))
}

/// The matrix with the reflection applied, which is stored in its column.
fn reflected(
    t: &mut StablehloTranslator<'_>,
    a: &TypedTensor,
    (reflection, products, shape): (&HouseholderReflector, &TypedTensor, &MatrixBatch),
    round: TensorValue,
) -> TranslateResult<TypedTensor> {
    t.map(&shape.whole(), |t, s, point| {
        let (outer, row, column) = split(point);
        let j = number(s, round);
        let own = t.read(s, a, point);
        let stored = t.read(s, a, &at(outer, row, j));
        let scale = t.read(s, &reflection.scale, outer);
        let product = t.read(s, products, &and(outer, column));
        let corner = t.read(s, &reflection.corner, outer);
        let mut c = ScalarBuilder::new(&mut s.body);
        let v = c.product(&stored, &scale);
        let (is_row, is_column) = (c.eq(row, j), c.eq(column, j));
        let one = c.known(a.element, 1.0);
        let v_here = c.choice(is_row, &one, &v);
        let change = c.product(&v_here, &product);
        let right = c.difference(&own, &change);
        let in_column = c.choice(is_row, &corner, &v);
        let new = c.choice(is_column, &in_column, &right);
        let (is_above, is_left) = (c.lt(row, j), c.lt(column, j));
        let stays = c.or(is_above, is_left);
        Ok(c.choice(stays, &own, &new))
    })
}

/// The first columns of the product of reflections.
pub(super) fn orgqr(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
) -> TranslateResult<Vec<TypedTensor>> {
    let (a, shape) = call.matrices(t, 0)?;
    let taus = call.operands[1].clone();
    let count = t.sizes(call.op, &taus).map(|sizes| sizes.last().copied())?;
    let count = count.unwrap_or(0);
    t.ensure(call.op, count <= shape.least(), "has too many reflections")?;
    Ok(vec![unitary(t, call.op, (&a, &taus), (&shape, count))?])
}

/// The same of tensors: the matrix, where its reflections are `count`, has the shape of the result.
pub(super) fn unitary(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    (a, taus): (&TypedTensor, &TypedTensor),
    (shape, count): (&MatrixBatch, u64),
) -> TranslateResult<TypedTensor> {
    let identity = identity(t, a.element, shape)?;
    t.rounds_of_one(identity, DimExtent::Static(count), |t, q, round| {
        let last = t.builder.elementwise(&[round], |body, v| {
            let mut c = ScalarBuilder::new(body);
            let last = c.like(v[0], count as f64 - 1.0);
            c.sub(last, v[0])
        });
        let mut s = StructuredOp::parallel(&shape.batch);
        let outer = s.point();
        let column = s.axis(DimExtent::Static(shape.columns), AxisKind::Parallel);
        let i = s.axis(DimExtent::Static(shape.rows), AxisKind::Reduction);
        let j = number(&mut s, last);
        let v = t.read(&mut s, a, &at(&outer, i, j));
        let other = t.read(&mut s, q, &at(&outer, i, column));
        let mut c = ScalarBuilder::new(&mut s.body);
        let v = c.conjugate(&v);
        let is_below = c.lt(j, i);
        let dot = t.sum_of_products(op, &mut s, (&v, &other), Some(is_below), a.element)?;
        let first = t.read(&mut s, q, &at(&outer, j, column));
        let tau = t.read(&mut s, taus, &and(&outer, j));
        let mut c = ScalarBuilder::new(&mut s.body);
        let dot = c.total(&dot, &first);
        let value = c.product(&tau, &dot);
        let products = t.finish(s, &value);
        t.map(&shape.whole(), |t, s, point| {
            let (outer, row, column) = split(point);
            let j = number(s, last);
            let own = t.read(s, q, point);
            let v = t.read(s, a, &at(outer, row, j));
            let product = t.read(s, &products, &and(outer, column));
            let mut c = ScalarBuilder::new(&mut s.body);
            let one = c.known(a.element, 1.0);
            let (is_row, is_above) = (c.eq(row, j), c.lt(row, j));
            let v = c.choice(is_row, &one, &v);
            let change = c.product(&v, &product);
            let new = c.difference(&own, &change);
            Ok(c.choice(is_above, &own, &new))
        })
    })
}

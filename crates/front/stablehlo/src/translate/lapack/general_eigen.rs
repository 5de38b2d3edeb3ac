//! `geev`: eigenvalues and eigenvectors of general matrices, from the Schur form of balanced matrices.

use super::balance::balance_matrices;
use super::eigenvectors::SchurSystem;
use super::general::{ScaledMatrices, find_eigenvalues};
use super::lu::reduce_largest_position;
use super::matrix_product::{MatrixFactor, multiply_matrices};
use super::scalar_step::{add_sizes, limit_index};
use super::{LapackCall, append_index, finish_all, reduce_real_largest, reduce_real_sum};
use crate::mlir::MlirOp;
use crate::translate::element::TensorElement;
use crate::translate::error::TranslateResult;
use crate::translate::linear::{matrix_position, split_matrix_position};
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_program::ScalarOp as Scalar;
use spirula_tensor::ir::{AxisKind, DimExtent, StructuredOp};

/// `info` of matrices that are not finite, as of an argument that is wrong.
const NOT_FINITE: i64 = -4;

/// Which vectors of an eigenvalue λ: A v = λ v, or uᴴ A = λ uᴴ.
#[derive(Clone, Copy, PartialEq, Eq)]
enum VectorSide {
    Right,
    Left,
}

/// Eigenvalues, real and imaginary parts apart for real matrices; left and right vectors as columns, and `info`.
pub(super) fn translate_geev(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
) -> TranslateResult<Vec<TypedTensor>> {
    let (a, shape) = call.read_square_matrices(t)?;
    let sides = [
        (VectorSide::Left, call.read_letter(t, "compute_left")?),
        (VectorSide::Right, call.read_letter(t, "compute_right")?),
    ];
    let mut scaled = ScaledMatrices::from_tensor(t, call.op, &a, &shape)?;
    let [balanced, diagonal] = balance_matrices(t, &scaled.matrix, &scaled.shape)?;
    scaled.matrix = balanced;
    let has_vectors = sides.iter().any(|(_, letter)| *letter == 'V');
    let form = scaled.find_schur_form(t, call.op, has_vectors, has_vectors)?;
    let mut results = Vec::new();
    let values = find_eigenvalues(t, &form.matrix, &scaled.shape)?;
    for part in &values {
        let part = scaled.restore_scale(t, part)?;
        results.push(t.reshape_tensor(call.op, &part, shape.batch_shape_with(&[shape.rows]))?);
    }
    let system = SchurSystem {
        values: join_parts(&values),
        matrix: form.matrix,
        shape: &scaled.shape,
    };
    for (side, letter) in sides {
        let vectors = match &form.vectors {
            Some(unitary) if letter == 'V' => {
                find_vectors(t, call.op, &system, unitary, &diagonal, side)?
            }
            _ => t.emit_zeros(system.values.element, &scaled.shape.full_shape()),
        };
        results.push(t.reshape_tensor(call.op, &vectors, shape.full_shape())?);
    }
    let info = scaled.merge_info(t, &form.info, NOT_FINITE)?;
    results.push(t.reshape_tensor(call.op, &info, shape.batch.clone())?);
    Ok(results)
}

/// Complex values of real and imaginary parts.
fn join_parts(values: &[TypedTensor]) -> TypedTensor {
    let element = match values[0].element {
        TensorElement::Float(float) => TensorElement::Complex(float),
        other => other,
    };
    let parts: Vec<_> = values
        .iter()
        .flat_map(|tensor| tensor.parts.iter().copied())
        .collect();
    TypedTensor::from_components(element, &parts)
}

/// Normalised vectors of the matrices before they were balanced.
fn find_vectors(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    system: &SchurSystem<'_>,
    unitary: &TypedTensor,
    diagonal: &TypedTensor,
    side: VectorSide,
) -> TranslateResult<TypedTensor> {
    let solved = match side {
        VectorSide::Right => system.solve(t)?,
        VectorSide::Left => {
            let reverse = system.reverse(t)?.solve(t)?;
            let last = system.shape.rows as i64 - 1;
            t.map_points(&system.shape.full_shape(), |t, s, point| {
                let (outer, row, column) = split_matrix_position(point);
                let mut c = ScalarBuilder::new(&mut s.body);
                let last = c.body.intern_i64(last);
                let (row, column) = (c.sub(last, row), c.sub(last, column));
                let own = t.read_element(s, &reverse, &matrix_position(outer, row, column));
                Ok(ScalarBuilder::new(&mut s.body).conjugate_value(&own))
            })?
        }
    };
    let (left, right) = (MatrixFactor::plain(unitary), MatrixFactor::plain(&solved));
    let whole = system.shape.full_shape();
    let product = multiply_matrices(t, op, left, right, &whole, system.shape.rows)?;
    let vectors = t.map_points(&system.shape.full_shape(), |t, s, point| {
        let (outer, row, _) = split_matrix_position(point);
        let own = t.read_element(s, &product, point);
        let factor = t
            .read_element(s, diagonal, &append_index(outer, row))
            .node();
        let mut c = ScalarBuilder::new(&mut s.body);
        let factor = match side {
            VectorSide::Right => factor,
            VectorSide::Left => c.reciprocal(factor),
        };
        Ok(c.scale_value(&own, factor))
    })?;
    normalise_columns(t, system, unitary.element, &vectors)
}

/// Columns with norm 1, whose largest element is real. Those of real eigenvalues of a real matrix are real, and those of a
/// pair are exact conjugates.
fn normalise_columns(
    t: &mut StablehloTranslator<'_>,
    system: &SchurSystem<'_>,
    element: TensorElement,
    vectors: &TypedTensor,
) -> TranslateResult<TypedTensor> {
    let is_real = element.component_count() == 1;
    let columns = system.shape.batch_shape_with(&[system.shape.rows]);
    let size = DimExtent::Static(system.shape.rows);
    let mut s = StructuredOp::with_parallel_axes(&columns);
    let point = s.axis_indices();
    let i = s.add_axis(size, AxisKind::Reduction);
    let own = t.read_element(&mut s, vectors, &matrix_position(&point[..1], i, point[1]));
    let sizes = add_sizes(&mut ScalarBuilder::new(&mut s.body), &own);
    let largest = reduce_real_largest(&mut s, sizes);
    let real = vectors.element.component_element();
    let largest = t.finish_structured(s, &ElementValue::new(real, largest));
    let mut s = StructuredOp::with_parallel_axes(&columns);
    let point = s.axis_indices();
    let i = s.add_axis(size, AxisKind::Reduction);
    let own = t.read_element(&mut s, vectors, &matrix_position(&point[..1], i, point[1]));
    let scale = t.read_element(&mut s, &largest, &point).node();
    let mut c = ScalarBuilder::new(&mut s.body);
    let inverse = c.reciprocal(scale);
    let own = c.scale_value(&own, inverse);
    let square = c.square_size(&own);
    let total = reduce_real_sum(&mut s, square);
    let top = reduce_largest_position(&mut s, square, i, system.shape.rows);
    let norm = ScalarBuilder::new(&mut s.body).apply_unary(Scalar::Sqrt, total);
    let values = [
        ElementValue::new(real, norm),
        ElementValue::new(TensorElement::I64, top),
    ];
    let found = finish_all(t, s, &values);
    t.map_points(&system.shape.full_shape(), |t, s, point| {
        let (outer, row, column) = split_matrix_position(point);
        let im = t
            .read_element(s, &system.values, &append_index(outer, column))
            .nodes[1];
        let mut c = ScalarBuilder::new(&mut s.body);
        let zero = c.constant_like(im, 0.0);
        let is_second = c.lt(im, zero);
        let before = c.add_constant(column, -1.0);
        let from = if is_real {
            c.select(is_second, before, column)
        } else {
            column
        };
        let place = append_index(outer, from);
        let own = t.read_element(s, vectors, &matrix_position(outer, row, from));
        let [scale, norm] =
            [&largest, &found[0]].map(|tensor| t.read_element(s, tensor, &place).node());
        let top = t.read_element(s, &found[1], &place).node();
        // There is none in a column of NaN.
        let top = limit_index(&mut ScalarBuilder::new(&mut s.body), top, system.shape.rows);
        let peak = t.read_element(s, vectors, &matrix_position(outer, top, from));
        let mut c = ScalarBuilder::new(&mut s.body);
        let [scale, norm] = [scale, norm].map(|node| c.reciprocal(node));
        let unit = c.scale_value(&own, scale);
        let unit = c.scale_value(&unit, norm);
        // The phase of the largest element.
        let peak = c.scale_value(&peak, scale);
        let square = c.square_size(&peak);
        let size = c.apply_unary(Scalar::Sqrt, square);
        let inverse = c.reciprocal(size);
        let phase = c.scale_value(&peak, inverse);
        let phase = c.conjugate_value(&phase);
        let mut turned = c.multiply_values(&unit, &phase);
        let is_peak = c.eq(row, top);
        turned.nodes[1] = c.select(is_peak, zero, turned.nodes[1]);
        if !is_real {
            return Ok(turned);
        }
        let other = c.conjugate_value(&turned);
        let turned = c.select_value(is_second, &other, &turned);
        let is_single = c.eq(im, zero);
        let single = c.of_real(vectors.element, unit.node());
        Ok(c.select_value(is_single, &single, &turned))
    })
}

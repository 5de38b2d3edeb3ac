//! `gees`: the Schur form of general matrices.

use super::hessenberg::reduce_to_hessenberg;
use super::schur::{SchurForm, reduce_to_schur};
use super::{LapackCall, MatrixBatch, finish_all, reduce_real_largest};
use crate::mlir::MlirOp;
use crate::translate::element::TensorElement;
use crate::translate::error::TranslateResult;
use crate::translate::linear::{matrix_position, split_matrix_position};
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_program::{ScalarOp as Scalar, ScalarType as Ty};
use spirula_tensor::ir::{
    AxisKind, DimExtent, ScalarCombiner, ScalarNode, StructuredOp, TensorReduction, TensorShape,
};

/// Triangular matrices, unitary matrices, eigenvalues, the number of selected ones, which is 0, and `info`.
pub(super) fn translate_gees(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
) -> TranslateResult<Vec<TypedTensor>> {
    let (a, shape) = call.read_square_matrices(t)?;
    let is_sorted = call.read_letter(t, "sort")? == 'S';
    if is_sorted {
        return Err(t.unsupported_error(call.op, "a Schur form with selected eigenvalues"));
    }
    let has_vectors = call.read_letter(t, "mode")? == 'V';
    let scaled = ScaledMatrices::from_tensor(t, call.op, &a, &shape)?;
    let form = scaled.find_schur_form(t, call.op, has_vectors, true)?;
    let triangular = scaled.restore_scale(t, &form.matrix)?;
    let info = scaled.merge_info(t, &form.info, shape.rows as i64)?;
    let whole = shape.full_shape();
    let vectors = match &form.vectors {
        Some(vectors) => t.reshape_tensor(call.op, vectors, whole.clone())?,
        None => a.clone(),
    };
    let mut results = vec![t.reshape_tensor(call.op, &triangular, whole)?, vectors];
    for values in find_eigenvalues(t, &triangular, &scaled.shape)? {
        results.push(t.reshape_tensor(call.op, &values, shape.batch_shape_with(&[shape.rows]))?);
    }
    results.push(t.emit_zeros(TensorElement::I32, &shape.batch));
    results.push(t.reshape_tensor(call.op, &info, shape.batch.clone())?);
    Ok(results)
}

/// Matrices with one dimension of a batch, each times a power of two, such that the largest elements are near 1. Matrices
/// that are not finite are replaced by zeros.
pub(super) struct ScaledMatrices {
    pub shape: MatrixBatch,
    pub matrix: TypedTensor,
    /// The power of two that leads back.
    scale: TypedTensor,
    is_finite: TypedTensor,
}

impl ScaledMatrices {
    pub fn from_tensor(
        t: &mut StablehloTranslator<'_>,
        op: MlirOp,
        a: &TypedTensor,
        shape: &MatrixBatch,
    ) -> TranslateResult<ScaledMatrices> {
        let sizes = t.static_sizes(op, a)?;
        let count = sizes[..sizes.len() - 2].iter().product();
        let shape = MatrixBatch {
            batch: TensorShape::from_slice(&[DimExtent::Static(count)]),
            ..shape.clone()
        };
        let whole = shape.full_shape();
        let a = t.reshape_tensor(op, a, whole.clone())?;
        let mut s = StructuredOp::with_parallel_axes(&shape.batch);
        let outer = s.axis_indices();
        let row = s.add_axis(DimExtent::Static(shape.rows), AxisKind::Reduction);
        let column = s.add_axis(DimExtent::Static(shape.columns), AxisKind::Reduction);
        let own = t.read_element(&mut s, &a, &matrix_position(&outer, row, column));
        let mut c = ScalarBuilder::new(&mut s.body);
        let sizes: Vec<ScalarNode> = own.nodes.iter().map(|part| c.abs(*part)).collect();
        let finite: Vec<ScalarNode> = own.nodes.iter().map(|part| c.is_finite(*part)).collect();
        let size = sizes
            .into_iter()
            .reduce(|a, b| c.apply_binary(Scalar::FMax, a, b));
        let is_finite = finite.into_iter().reduce(|a, b| c.and(a, b));
        let yes = c.truth_constant(true);
        let largest = reduce_real_largest(&mut s, size.unwrap_or(row));
        let is_finite = s.add_reduction(TensorReduction {
            initial: vec![yes],
            values: vec![is_finite.unwrap_or(yes)],
            combiner: ScalarCombiner::from_op(Scalar::LogAnd, Ty::Bool),
        })[0];
        let mut c = ScalarBuilder::new(&mut s.body);
        let [shrink, scale] = choose_powers(&mut c, largest);
        let real = a.element.component_element();
        let values = [
            ElementValue::new(real, shrink),
            ElementValue::new(real, scale),
            ElementValue::from_truth(is_finite),
        ];
        let found = finish_all(t, s, &values);
        let matrix = t.map_points(&whole, |t, s, point| {
            let (outer, _, _) = split_matrix_position(point);
            let own = t.read_element(s, &a, point);
            let shrink = t.read_element(s, &found[0], outer).node();
            let is_finite = t.read_element(s, &found[2], outer).node();
            let mut c = ScalarBuilder::new(&mut s.body);
            let small = c.scale_value(&own, shrink);
            let nothing = c.make_constant_value(a.element, 0.0);
            Ok(c.select_value(is_finite, &small, &nothing))
        })?;
        Ok(ScaledMatrices {
            shape,
            matrix,
            scale: found[1].clone(),
            is_finite: found[2].clone(),
        })
    }

    /// The Schur form of the scaled matrices.
    pub fn find_schur_form(
        &self,
        t: &mut StablehloTranslator<'_>,
        op: MlirOp,
        has_vectors: bool,
        needs_form: bool,
    ) -> TranslateResult<SchurForm> {
        let form = reduce_to_hessenberg(t, op, &self.matrix, &self.shape)?;
        let vectors = if has_vectors {
            Some(form.build_unitary(t, op, &self.shape)?)
        } else {
            None
        };
        let matrix = self.keep_band(t, &form.matrix, 1)?;
        let mut form = reduce_to_schur(t, &matrix, vectors.as_ref(), &self.shape, needs_form)?;
        let is_real = self.matrix.element.component_count() == 1;
        form.matrix = self.keep_band(t, &form.matrix, i64::from(is_real))?;
        Ok(form)
    }

    /// Matrices with zeros except for a number of diagonals below the first, and those above.
    fn keep_band(
        &self,
        t: &mut StablehloTranslator<'_>,
        matrix: &TypedTensor,
        below: i64,
    ) -> TranslateResult<TypedTensor> {
        t.map_points(&self.shape.full_shape(), |t, s, point| {
            let (_, row, column) = split_matrix_position(point);
            let own = t.read_element(s, matrix, point);
            let mut c = ScalarBuilder::new(&mut s.body);
            let end = c.add_constant(column, below as f64);
            let is_below = c.lt(end, row);
            let nothing = c.make_constant_value(matrix.element, 0.0);
            Ok(c.select_value(is_below, &nothing, &own))
        })
    }

    /// A tensor, whose first dimension is the batch, in the scale of the given matrices.
    pub fn restore_scale(
        &self,
        t: &mut StablehloTranslator<'_>,
        tensor: &TypedTensor,
    ) -> TranslateResult<TypedTensor> {
        let shape = t.tensor_shape(tensor);
        t.map_points(&shape, |t, s, point| {
            let own = t.read_element(s, tensor, point);
            let scale = t.read_element(s, &self.scale, &point[..1]).node();
            Ok(ScalarBuilder::new(&mut s.body).scale_value(&own, scale))
        })
    }

    /// `info`, and another value for matrices that are not finite.
    pub fn merge_info(
        &self,
        t: &mut StablehloTranslator<'_>,
        info: &TypedTensor,
        otherwise: i64,
    ) -> TranslateResult<TypedTensor> {
        t.map_points(&self.shape.batch, |t, s, point| {
            let own = t.read_element(s, info, point).node();
            let is_finite = t.read_element(s, &self.is_finite, point).node();
            let mut c = ScalarBuilder::new(&mut s.body);
            let other = c.constant_like(own, otherwise as f64);
            let value = c.select(is_finite, own, other);
            Ok(ElementValue::new(TensorElement::I32, value))
        })
    }
}

/// The powers of two by which a size is divided such that it is between 1 and 4, or small, and by which it is multiplied again.
fn choose_powers(c: &mut ScalarBuilder<'_>, size: ScalarNode) -> [ScalarNode; 2] {
    let float = c.node_type(size);
    let (ty, digits, bias) = match float {
        Ty::F64 => (Ty::I64, 52, 1023),
        _ => (Ty::I32, 23, 127),
    };
    let bits = c.cast_bits(ty, size);
    let exponent = c.apply_with_constant(Scalar::LShr, bits, digits);
    let (least, most) = (
        c.constant_like(exponent, 1.0),
        c.integer_constant(ty, 2 * bias - 1),
    );
    let exponent = c.apply_binary(Scalar::SMax, exponent, least);
    let exponent = c.apply_binary(Scalar::SMin, exponent, most);
    let sum = c.integer_constant(ty, 2 * bias);
    let inverse = c.sub(sum, exponent);
    [inverse, exponent].map(|exponent| {
        let bits = c.apply_with_constant(Scalar::Shl, exponent, digits);
        c.cast_bits(float, bits)
    })
}

/// The eigenvalues of matrices in Schur form: the diagonal of complex matrices, real and imaginary parts of real ones.
pub(super) fn find_eigenvalues(
    t: &mut StablehloTranslator<'_>,
    matrix: &TypedTensor,
    shape: &MatrixBatch,
) -> TranslateResult<Vec<TypedTensor>> {
    let values = shape.batch_shape_with(&[shape.rows]);
    let mut s = StructuredOp::with_parallel_axes(&values);
    let point = s.axis_indices();
    let (outer, k) = (&point[..point.len() - 1], point[point.len() - 1]);
    let own = t.read_element(&mut s, matrix, &matrix_position(outer, k, k));
    if own.nodes.len() == 2 {
        return Ok(vec![t.finish_structured(s, &own)]);
    }
    let mut c = ScalarBuilder::new(&mut s.body);
    let zero = c.constant_like(own.node(), 0.0);
    let (first, last) = (
        c.body.intern_i64(0),
        c.body.intern_i64(shape.rows as i64 - 1),
    );
    // The imaginary part of the first value of a pair is positive.
    let mut parts = Vec::new();
    for by in [1.0, -1.0] {
        let mut c = ScalarBuilder::new(&mut s.body);
        let other = c.add_constant(k, by);
        let exists = if by > 0.0 {
            c.lt(k, last)
        } else {
            c.lt(first, k)
        };
        let (low, high) = if by > 0.0 { (other, k) } else { (k, other) };
        let below = t
            .read_element(&mut s, matrix, &matrix_position(outer, low, high))
            .node();
        let above = t
            .read_element(&mut s, matrix, &matrix_position(outer, high, low))
            .node();
        let mut c = ScalarBuilder::new(&mut s.body);
        let roots = [below, above].map(|node| {
            let size = c.abs(node);
            c.apply_unary(Scalar::Sqrt, size)
        });
        let size = c.mul(roots[0], roots[1]);
        let is_zero = c.eq(below, zero);
        let size = c.select(is_zero, zero, size);
        let size = c.mul_constant(size, by);
        parts.push(c.select(exists, size, zero));
    }
    let mut c = ScalarBuilder::new(&mut s.body);
    let im = c.add(parts[0], parts[1]);
    Ok(finish_all(
        t,
        s,
        &[own.clone(), ElementValue::new(own.element, im)],
    ))
}

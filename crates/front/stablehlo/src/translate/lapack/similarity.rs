//! Reflections of a matrix from both sides, which keep its eigenvalues. The reflection of an iteration begins below the
//! diagonal of the iteration's column.

use super::qr::HouseholderReflector;
use super::{MatrixBatch, append_index, read_iteration_number};
use crate::mlir::MlirOp;
use crate::translate::error::TranslateResult;
use crate::translate::linear::{matrix_position, split_matrix_position};
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_tensor::ir::{AxisKind, DimExtent, ScalarNode, StructuredOp, TensorValue};

/// A step of a reduction: A becomes Hᴴ A H, where H = 1 − τ v vᴴ.
pub(super) struct SimilarityStep<'a> {
    pub op: MlirOp,
    pub matrix: &'a TypedTensor,
    pub reflection: &'a HouseholderReflector,
    pub shape: &'a MatrixBatch,
    pub round: TensorValue,
}

impl SimilarityStep<'_> {
    /// An element of v: 0 up to the diagonal, then 1, then the scaled column.
    fn read_vector(
        &self,
        t: &mut StablehloTranslator<'_>,
        s: &mut StructuredOp,
        outer: &[ScalarNode],
        index: ScalarNode,
    ) -> ElementValue {
        let j = read_iteration_number(s, self.round);
        let stored = t.read_element(s, self.matrix, &matrix_position(outer, index, j));
        let scale = t.read_element(s, &self.reflection.scale, outer);
        let mut c = ScalarBuilder::new(&mut s.body);
        let element = self.matrix.element;
        let first = c.add_constant(j, 1.0);
        let scaled = c.multiply_values(&stored, &scale);
        let (zero, one) = (
            c.make_constant_value(element, 0.0),
            c.make_constant_value(element, 1.0),
        );
        let (is_first, is_above) = (c.eq(index, first), c.lt(index, first));
        let value = c.select_value(is_first, &one, &scaled);
        c.select_value(is_above, &zero, &value)
    }

    /// Hᴴ A = A − v (conj(τ) vᴴ A).
    pub fn reflect_rows(&self, t: &mut StablehloTranslator<'_>) -> TranslateResult<TypedTensor> {
        let mut s = StructuredOp::with_parallel_axes(&self.shape.batch);
        let outer = s.axis_indices();
        let column = s.add_axis(DimExtent::Static(self.shape.columns), AxisKind::Parallel);
        let i = s.add_axis(DimExtent::Static(self.shape.rows), AxisKind::Reduction);
        let v = self.read_vector(t, &mut s, &outer, i);
        let other = t.read_element(&mut s, self.matrix, &matrix_position(&outer, i, column));
        let v = ScalarBuilder::new(&mut s.body).conjugate_value(&v);
        let dot = t.sum_of_products(self.op, &mut s, &v, &other, None, self.matrix.element)?;
        let tau = t.read_element(&mut s, &self.reflection.tau, &outer);
        let mut c = ScalarBuilder::new(&mut s.body);
        let tau = c.conjugate_value(&tau);
        let product = c.multiply_values(&tau, &dot);
        let products = t.finish_structured(s, &product);
        t.map_points(&self.shape.full_shape(), |t, s, point| {
            let (outer, row, column) = split_matrix_position(point);
            let own = t.read_element(s, self.matrix, point);
            let v = self.read_vector(t, s, outer, row);
            let product = t.read_element(s, &products, &append_index(outer, column));
            let mut c = ScalarBuilder::new(&mut s.body);
            let change = c.multiply_values(&v, &product);
            Ok(c.subtract_values(&own, &change))
        })
    }

    /// B H = B − (τ B v) vᴴ.
    pub fn reflect_columns(
        &self,
        t: &mut StablehloTranslator<'_>,
        left: &TypedTensor,
    ) -> TranslateResult<TypedTensor> {
        let mut s = StructuredOp::with_parallel_axes(&self.shape.batch);
        let outer = s.axis_indices();
        let row = s.add_axis(DimExtent::Static(self.shape.rows), AxisKind::Parallel);
        let i = s.add_axis(DimExtent::Static(self.shape.columns), AxisKind::Reduction);
        let v = self.read_vector(t, &mut s, &outer, i);
        let other = t.read_element(&mut s, left, &matrix_position(&outer, row, i));
        let dot = t.sum_of_products(self.op, &mut s, &other, &v, None, left.element)?;
        let tau = t.read_element(&mut s, &self.reflection.tau, &outer);
        let product = ScalarBuilder::new(&mut s.body).multiply_values(&tau, &dot);
        let products = t.finish_structured(s, &product);
        t.map_points(&self.shape.full_shape(), |t, s, point| {
            let (outer, row, column) = split_matrix_position(point);
            let own = t.read_element(s, left, point);
            let v = self.read_vector(t, s, outer, column);
            let product = t.read_element(s, &products, &append_index(outer, row));
            let mut c = ScalarBuilder::new(&mut s.body);
            let v = c.conjugate_value(&v);
            let change = c.multiply_values(&product, &v);
            Ok(c.subtract_values(&own, &change))
        })
    }

    /// The matrix of reflections with this one in its column.
    pub fn pack_reflection(
        &self,
        t: &mut StablehloTranslator<'_>,
        packed: &TypedTensor,
    ) -> TranslateResult<TypedTensor> {
        t.map_points(&self.shape.full_shape(), |t, s, point| {
            let (outer, row, column) = split_matrix_position(point);
            let j = read_iteration_number(s, self.round);
            let old = t.read_element(s, packed, point);
            let v = self.read_vector(t, s, outer, row);
            let mut c = ScalarBuilder::new(&mut s.body);
            let is_now = c.eq(column, j);
            Ok(c.select_value(is_now, &v, &old))
        })
    }
}

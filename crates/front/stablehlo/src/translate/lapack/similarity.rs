//! Reduction of matrices by A. S. Householder's reflections from both sides, which keep their eigenvalues, one column in each
//! iteration. The reflection of an iteration begins below the diagonal of the iteration's column, and is stored in it.

use super::qr::{HouseholderReflector, compute_reflection, record_factor};
use super::{MatrixBatch, append_index, read_iteration_number};
use crate::mlir::MlirOp;
use crate::translate::error::TranslateResult;
use crate::translate::linear::{matrix_position, split_matrix_position};
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_tensor::ir::{AxisKind, DimExtent, ScalarNode, StructuredOp, TensorValue};

/// The matrices in Hessenberg form with the reflections below the subdiagonal, and each reflection's τ.
pub(super) fn reduce_by_reflections(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    a: &TypedTensor,
    shape: &MatrixBatch,
) -> TranslateResult<[TypedTensor; 2]> {
    let count = shape.rows.saturating_sub(1);
    let taus = t.emit_zeros(a.element, &shape.batch_shape_with(&[count]));
    let initial = [a.clone(), taus];
    let reduced = t.iterate_tensors(&initial, DimExtent::Static(count), |t, state, round| {
        let reflection = compute_reflection(t, &state[0], shape, round, 1);
        let step = SimilarityStep {
            op,
            matrix: &state[0],
            reflection: &reflection,
            shape,
            round,
        };
        let matrix = step.reflect(t)?;
        let taus = record_factor(t, &state[1], &reflection, shape, count, round)?;
        Ok(vec![matrix, taus])
    })?;
    Ok([reduced[0].clone(), reduced[1].clone()])
}

/// A step of a reduction: A becomes Hᴴ A H, where H = 1 − τ v vᴴ.
struct SimilarityStep<'a> {
    op: MlirOp,
    matrix: &'a TypedTensor,
    reflection: &'a HouseholderReflector,
    shape: &'a MatrixBatch,
    round: TensorValue,
}

impl SimilarityStep<'_> {
    /// An element of v: 0 up to the diagonal, then 1, then the scaled column.
    fn read_vector(
        &self,
        t: &StablehloTranslator<'_>,
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

    /// conj(τ) vᴴ A for each column.
    fn multiply_rows(&self, t: &mut StablehloTranslator<'_>) -> TranslateResult<TypedTensor> {
        let mut s = StructuredOp::with_parallel_axes(&self.shape.batch);
        let outer = s.axis_indices();
        let column = s.add_axis(DimExtent::Static(self.shape.columns), AxisKind::Parallel);
        let i = s.add_axis(DimExtent::Static(self.shape.rows), AxisKind::Reduction);
        let v = self.read_vector(t, &mut s, &outer, i);
        let own = t.read_element(&mut s, self.matrix, &matrix_position(&outer, i, column));
        let v = ScalarBuilder::new(&mut s.body).conjugate_value(&v);
        let dot = t.sum_of_products(self.op, &mut s, &v, &own, None, self.matrix.element)?;
        let tau = t.read_element(&mut s, &self.reflection.tau, &outer);
        let mut c = ScalarBuilder::new(&mut s.body);
        let tau = c.conjugate_value(&tau);
        let product = c.multiply_values(&tau, &dot);
        Ok(t.finish_structured(s, &product))
    }

    /// A v for each row.
    fn multiply_columns(&self, t: &mut StablehloTranslator<'_>) -> TranslateResult<TypedTensor> {
        let mut s = StructuredOp::with_parallel_axes(&self.shape.batch);
        let outer = s.axis_indices();
        let row = s.add_axis(DimExtent::Static(self.shape.rows), AxisKind::Parallel);
        let i = s.add_axis(DimExtent::Static(self.shape.columns), AxisKind::Reduction);
        let v = self.read_vector(t, &mut s, &outer, i);
        let own = t.read_element(&mut s, self.matrix, &matrix_position(&outer, row, i));
        let dot = t.sum_of_products(self.op, &mut s, &own, &v, None, self.matrix.element)?;
        Ok(t.finish_structured(s, &dot))
    }

    /// conj(τ) vᴴ A v.
    fn multiply_both(
        &self,
        t: &mut StablehloTranslator<'_>,
        rows: &TypedTensor,
    ) -> TranslateResult<TypedTensor> {
        let mut s = StructuredOp::with_parallel_axes(&self.shape.batch);
        let outer = s.axis_indices();
        let i = s.add_axis(DimExtent::Static(self.shape.rows), AxisKind::Reduction);
        let v = self.read_vector(t, &mut s, &outer, i);
        let own = t.read_element(&mut s, rows, &append_index(&outer, i));
        let dot = t.sum_of_products(self.op, &mut s, &own, &v, None, self.matrix.element)?;
        Ok(t.finish_structured(s, &dot))
    }

    /// A − v r − τ (A v − v (r v)) vᴴ, where r is conj(τ) vᴴ A. Columns of earlier reflections are unchanged.
    fn reflect(&self, t: &mut StablehloTranslator<'_>) -> TranslateResult<TypedTensor> {
        let rows = self.multiply_rows(t)?;
        let columns = self.multiply_columns(t)?;
        let both = self.multiply_both(t, &rows)?;
        t.map_points(&self.shape.full_shape(), |t, s, point| {
            let (outer, row, column) = split_matrix_position(point);
            let j = read_iteration_number(s, self.round);
            let own = t.read_element(s, self.matrix, point);
            let (v_row, v_column) = (
                self.read_vector(t, s, outer, row),
                self.read_vector(t, s, outer, column),
            );
            let from_rows = t.read_element(s, &rows, &append_index(outer, column));
            let from_columns = t.read_element(s, &columns, &append_index(outer, row));
            let both = t.read_element(s, &both, outer);
            let tau = t.read_element(s, &self.reflection.tau, outer);
            let corner = t.read_element(s, &self.reflection.corner, outer);
            let mut c = ScalarBuilder::new(&mut s.body);
            let first = c.add_constant(j, 1.0);
            let left = c.multiply_values(&v_row, &from_rows);
            let twice = c.multiply_values(&v_row, &both);
            let rest = c.subtract_values(&from_columns, &twice);
            let factor = c.conjugate_value(&v_column);
            let factor = c.multiply_values(&tau, &factor);
            let right = c.multiply_values(&rest, &factor);
            let changed = c.subtract_values(&own, &left);
            let changed = c.subtract_values(&changed, &right);
            let (is_corner, is_below) = (c.eq(row, first), c.lt(first, row));
            let in_column = c.select_value(is_corner, &corner, &own);
            let in_column = c.select_value(is_below, &v_row, &in_column);
            let (is_column, is_before) = (c.eq(column, j), c.lt(column, j));
            let value = c.select_value(is_column, &in_column, &changed);
            Ok(c.select_value(is_before, &own, &value))
        })
    }
}

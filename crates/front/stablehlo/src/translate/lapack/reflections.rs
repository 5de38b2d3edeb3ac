//! `ormqr` and `unmqr`: products with the unitary matrix of a QR factorisation, one reflection in each iteration.

use super::{LapackCall, MatrixBatch, append_index, read_iteration_number};
use crate::mlir::MlirOp;
use crate::translate::error::TranslateResult;
use crate::translate::linear::{matrix_position, split_matrix_position};
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_tensor::ir::{AxisKind, DimExtent, ScalarNode, StructuredOp, TensorValue};

/// Reflections 1 − τ v vᴴ, each v in a column below the diagonal, and the side on which their product is a factor.
struct ReflectionProduct<'a> {
    op: MlirOp,
    vectors: &'a TypedTensor,
    taus: &'a TypedTensor,
    /// The number of reflections.
    count: u64,
    is_left: bool,
    /// Whether the factor is the adjoint of the product.
    is_adjoint: bool,
}

/// The product of a matrix and the unitary matrix.
pub(super) fn translate_ormqr(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
) -> TranslateResult<Vec<TypedTensor>> {
    let (vectors, shape) = call.read_matrices(t, 0)?;
    let (matrix, result) = call.read_matrices(t, 2)?;
    let taus = &call.operands[1];
    let count = t.static_sizes(call.op, taus)?.last().copied().unwrap_or(0);
    let product = ReflectionProduct {
        op: call.op,
        vectors: &vectors,
        taus,
        count,
        is_left: call.read_truth(t, "left")?,
        is_adjoint: call.read_truth(t, "transpose")?,
    };
    let length = if product.is_left {
        result.rows
    } else {
        result.columns
    };
    let fits = count <= shape.smaller_size() && length == shape.rows;
    t.ensure_holds(call.op, fits, "has matrices that do not fit")?;
    let product = t.iterate_tensor(matrix, DimExtent::Static(count), |t, matrix, round| {
        product.reflect(t, matrix, &result, round)
    })?;
    Ok(vec![product])
}

impl ReflectionProduct<'_> {
    /// The matrix with the reflection of an iteration applied.
    fn reflect(
        &self,
        t: &mut StablehloTranslator<'_>,
        matrix: &TypedTensor,
        shape: &MatrixBatch,
        round: TensorValue,
    ) -> TranslateResult<TypedTensor> {
        let sizes = if self.is_left {
            [shape.columns, shape.rows]
        } else {
            [shape.rows, shape.columns]
        };
        let mut s = StructuredOp::with_parallel_axes(&shape.batch);
        let outer = s.axis_indices();
        let across = s.add_axis(DimExtent::Static(sizes[0]), AxisKind::Parallel);
        let i = s.add_axis(DimExtent::Static(sizes[1]), AxisKind::Reduction);
        let v = self.read_vector(t, &mut s, &outer, i, round);
        let position = if self.is_left {
            matrix_position(&outer, i, across)
        } else {
            matrix_position(&outer, across, i)
        };
        let own = t.read_element(&mut s, matrix, &position);
        let mut c = ScalarBuilder::new(&mut s.body);
        let v = if self.is_left {
            c.conjugate_value(&v)
        } else {
            v
        };
        let sum = t.sum_of_products(self.op, &mut s, &v, &own, None, matrix.element)?;
        let j = self.find_number(&mut s, round);
        let tau = t.read_element(&mut s, self.taus, &append_index(&outer, j));
        let mut c = ScalarBuilder::new(&mut s.body);
        let tau = if self.is_adjoint {
            c.conjugate_value(&tau)
        } else {
            tau
        };
        let sum = c.multiply_values(&tau, &sum);
        let sums = t.finish_structured(s, &sum);
        t.map_points(&shape.full_shape(), |t, s, point| {
            let (outer, row, column) = split_matrix_position(point);
            let (i, across) = if self.is_left {
                (row, column)
            } else {
                (column, row)
            };
            let own = t.read_element(s, matrix, point);
            let v = self.read_vector(t, s, outer, i, round);
            let sum = t.read_element(s, &sums, &append_index(outer, across));
            let mut c = ScalarBuilder::new(&mut s.body);
            let v = if self.is_left {
                v
            } else {
                c.conjugate_value(&v)
            };
            let change = c.multiply_values(&v, &sum);
            Ok(c.subtract_values(&own, &change))
        })
    }

    /// The number of the reflection in an iteration: the first factor beside the matrix is the first.
    fn find_number(&self, s: &mut StructuredOp, round: TensorValue) -> ScalarNode {
        let round = read_iteration_number(s, round);
        if self.is_left == self.is_adjoint {
            return round;
        }
        let mut c = ScalarBuilder::new(&mut s.body);
        let last = c.body.intern_i64(self.count as i64 - 1);
        c.sub(last, round)
    }

    /// An element of v: 0 before the diagonal, then 1, then the column.
    fn read_vector(
        &self,
        t: &StablehloTranslator<'_>,
        s: &mut StructuredOp,
        outer: &[ScalarNode],
        index: ScalarNode,
        round: TensorValue,
    ) -> ElementValue {
        let j = self.find_number(s, round);
        let stored = t.read_element(s, self.vectors, &matrix_position(outer, index, j));
        let mut c = ScalarBuilder::new(&mut s.body);
        let one = c.make_constant_value(stored.element, 1.0);
        let zero = c.make_constant_value(stored.element, 0.0);
        let (is_first, is_above) = (c.eq(index, j), c.lt(index, j));
        let value = c.select_value(is_first, &one, &stored);
        c.select_value(is_above, &zero, &value)
    }
}

//! Products of many reflections as 1 − V T Vᴴ, block by block (R. Schreiber, C. Van Loan, "A storage-efficient WY representation
//! for products of Householder transformations", 1989).

use super::matrix_product::{MatrixFactor, multiply_matrices};
use super::scalar_step::replace_elements;
use super::{MatrixBatch, list_extents, read_iteration_number};
use crate::mlir::MlirOp;
use crate::translate::error::TranslateResult;
use crate::translate::scalar::ScalarBuilder;
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_tensor::ir::{AxisKind, DimExtent, StructuredOp};

/// Reflections of a block.
const BLOCK: u64 = 32;

/// The least number of rows of whole blocks for a number of reflections.
pub(super) fn round_to_blocks(count: u64) -> u64 {
    count.max(1).next_multiple_of(BLOCK)
}

/// Reflections of matrices with one dimension of a batch: vectors as rows, in whole blocks, and their factors τ.
pub(super) struct BlockReflections<'a> {
    pub op: MlirOp,
    pub vectors: &'a TypedTensor,
    pub taus: &'a TypedTensor,
    pub batch: u64,
    /// The number of whole blocks' rows.
    pub rows: u64,
    pub size: u64,
}

impl BlockReflections<'_> {
    fn block_count(&self) -> u64 {
        self.rows / BLOCK
    }

    /// Rows that are multiplied by the product of the reflections: x becomes Q x for each row x.
    pub fn apply_to_rows(
        &self,
        t: &mut StablehloTranslator<'_>,
        rows: &TypedTensor,
        shape: &MatrixBatch,
    ) -> TranslateResult<TypedTensor> {
        let blocks = list_extents(&[self.batch, self.block_count(), BLOCK, self.size]);
        let vectors = t.reshape_tensor(self.op, self.vectors, blocks)?;
        let factors = self.build_factors(t, &vectors)?;
        let whole = shape.full_shape();
        let narrow = shape.batch_shape_with(&[shape.rows, BLOCK]);
        let count = DimExtent::Static(self.block_count());
        t.iterate_tensor(rows.clone(), count, |t, rows, round| {
            let take = |t: &mut StablehloTranslator<'_>, tensor: &TypedTensor, columns| {
                let shape = list_extents(&[self.batch, BLOCK, columns]);
                t.map_points(&shape, |t, s, point| {
                    let round = read_iteration_number(s, round);
                    let mut c = ScalarBuilder::new(&mut s.body);
                    let last = c.body.intern_i64(self.block_count() as i64 - 1);
                    let block = c.sub(last, round);
                    Ok(t.read_element(s, tensor, &[point[0], block, point[1], point[2]]))
                })
            };
            let (v, factor) = (take(t, &vectors, self.size)?, take(t, &factors, BLOCK)?);
            let op = self.op;
            let (own, adjoint) = (
                MatrixFactor::plain(rows),
                MatrixFactor::transposed(&v).conjugate(),
            );
            let dots = multiply_matrices(t, op, own, adjoint, &narrow, self.size)?;
            let (own, factor) = (
                MatrixFactor::plain(&dots),
                MatrixFactor::transposed(&factor),
            );
            let dots = multiply_matrices(t, op, own, factor, &narrow, BLOCK)?;
            let (own, v) = (MatrixFactor::plain(&dots), MatrixFactor::plain(&v));
            let change = multiply_matrices(t, op, own, v, &whole, BLOCK)?;
            t.map_points(&whole, |t, s, point| {
                let [own, change] = [rows, &change].map(|tensor| t.read_element(s, tensor, point));
                Ok(ScalarBuilder::new(&mut s.body).subtract_values(&own, &change))
            })
        })
    }

    /// T of each block, one column in each iteration.
    fn build_factors(
        &self,
        t: &mut StablehloTranslator<'_>,
        vectors: &TypedTensor,
    ) -> TranslateResult<TypedTensor> {
        let element = vectors.element;
        let shape = list_extents(&[self.batch, self.block_count(), BLOCK, BLOCK]);
        let (v, adjoint) = (
            MatrixFactor::transposed(vectors),
            MatrixFactor::plain(vectors).conjugate(),
        );
        let products = multiply_matrices(t, self.op, adjoint, v, &shape, self.size)?;
        let taus = list_extents(&[self.batch, self.block_count(), BLOCK]);
        let taus = t.reshape_tensor(self.op, self.taus, taus)?;
        let zeros = t.emit_zeros(element, &shape);
        let sizes = [self.batch, self.block_count(), BLOCK];
        t.iterate_tensor(zeros, DimExtent::Static(BLOCK), |t, factors, round| {
            let mut s = StructuredOp::with_parallel_axes(&list_extents(&sizes));
            let point = s.axis_indices();
            let k = s.add_axis(DimExtent::Static(BLOCK), AxisKind::Reduction);
            let (batch, block, row) = (point[0], point[1], point[2]);
            let j = read_iteration_number(&mut s, round);
            let own = t.read_element(&mut s, factors, &[batch, block, row, k]);
            let product = t.read_element(&mut s, &products, &[batch, block, k, j]);
            let is_before = ScalarBuilder::new(&mut s.body).lt(k, j);
            let sum =
                t.sum_of_products(self.op, &mut s, &own, &product, Some(is_before), element)?;
            let tau = t.read_element(&mut s, &taus, &[batch, block, j]);
            let mut c = ScalarBuilder::new(&mut s.body);
            let one = c.make_constant_value(element, 1.0);
            let zero = c.make_constant_value(element, 0.0);
            let negative = c.subtract_values(&zero, &sum);
            let (is_corner, is_below) = (c.eq(row, j), c.lt(j, row));
            let value = c.select_value(is_corner, &one, &negative);
            let value = c.select_value(is_below, &zero, &value);
            let value = c.multiply_values(&value, &tau);
            let column = t.finish_structured(s, &value);
            Ok(replace_elements(t, factors, &sizes, |t, s, point| {
                let value = t.read_element(s, &column, point);
                let mut position = point.to_vec();
                position.push(read_iteration_number(s, round));
                (position, value)
            }))
        })
    }
}

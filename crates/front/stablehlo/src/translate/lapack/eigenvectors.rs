//! Eigenvectors of matrices in Schur form by substitution, those of all eigenvalues at once.
//!
//! Where a vector would grow too long, it is scaled. Divisors that are too small are replaced, so defective matrices have
//! vectors that are almost parallel.

use super::scalar_step::{add_sizes, choose_limits};
use super::{MatrixBatch, append_index, finish_all, read_iteration_number};
use crate::mlir::MlirOp;
use crate::translate::error::TranslateResult;
use crate::translate::linear::{matrix_position, split_matrix_position};
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_program::ScalarOp as Scalar;
use spirula_tensor::ir::{AxisKind, DimExtent, ScalarNode, StructuredOp, TensorValue};

/// Growth in one step above which a vector is scaled.
const GROWTH: f64 = 1e10;

/// Matrices in Schur form with their eigenvalues, which are complex numbers.
pub(super) struct SchurSystem<'a> {
    pub op: MlirOp,
    pub matrix: TypedTensor,
    pub values: TypedTensor,
    pub shape: &'a MatrixBatch,
}

/// A row of the matrices, and the row that forms a block of two with it.
struct BlockRow {
    row: ScalarNode,
    /// The other row of the block; the row itself if there is none.
    partner: ScalarNode,
    is_first: ScalarNode,
    is_block: ScalarNode,
}

impl SchurSystem<'_> {
    fn is_real(&self) -> bool {
        self.matrix.element.component_count() == 1
    }

    /// The system whose right vectors, with elements in reverse order, are the conjugates of the left vectors of this one. Its
    /// eigenvalues are in reverse order, too.
    pub fn reverse(&self, t: &mut StablehloTranslator<'_>) -> TranslateResult<SchurSystem<'_>> {
        let last = self.shape.rows as i64 - 1;
        let whole = self.shape.full_shape();
        let matrix = t.gather_elements(&self.matrix, &whole, |c, point| {
            let (outer, row, column) = split_matrix_position(point);
            let last = c.body.intern_i64(last);
            let (row, column) = (c.sub(last, column), c.sub(last, row));
            matrix_position(outer, row, column)
        })?;
        let values = self.shape.batch_shape_with(&[self.shape.rows]);
        let values = t.gather_elements(&self.values, &values, |c, point| {
            let last = c.body.intern_i64(last);
            vec![point[0], c.sub(last, point[1])]
        })?;
        Ok(SchurSystem {
            op: self.op,
            matrix,
            values,
            shape: self.shape,
        })
    }

    /// Right eigenvectors as columns, from the last row to the first.
    pub fn solve(&self, t: &mut StablehloTranslator<'_>) -> TranslateResult<TypedTensor> {
        let whole = self.shape.full_shape();
        let zeros = t.emit_zeros(self.values.element, &whole);
        let count = DimExtent::Static(self.shape.rows);
        t.iterate_tensor(zeros, count, |t, vectors, round| {
            let solved = self.solve_row(t, vectors, round)?;
            t.map_points(&whole, |t, s, point| {
                let (outer, row, column) = split_matrix_position(point);
                let now = self.find_row(s, round);
                let old = t.read_element(s, vectors, point);
                let new = t.read_element(s, &solved[0], &append_index(outer, column));
                let scale = t
                    .read_element(s, &solved[1], &append_index(outer, column))
                    .node();
                let mut c = ScalarBuilder::new(&mut s.body);
                let old = c.scale_value(&old, scale);
                let is_now = c.eq(row, now);
                Ok(c.select_value(is_now, &new, &old))
            })
        })
    }

    /// The row that an iteration solves.
    fn find_row(&self, s: &mut StructuredOp, round: TensorValue) -> ScalarNode {
        let round = read_iteration_number(s, round);
        let mut c = ScalarBuilder::new(&mut s.body);
        let last = c.body.intern_i64(self.shape.rows as i64 - 1);
        c.sub(last, round)
    }

    /// The elements of all vectors in a row, and the factors of the rows that are known.
    fn solve_row(
        &self,
        t: &mut StablehloTranslator<'_>,
        vectors: &TypedTensor,
        round: TensorValue,
    ) -> TranslateResult<Vec<TypedTensor>> {
        let size = DimExtent::Static(self.shape.rows);
        let mut s = StructuredOp::with_parallel_axes(&self.shape.batch);
        let outer = s.axis_indices();
        let k = s.add_axis(size, AxisKind::Parallel);
        let i = s.add_axis(size, AxisKind::Reduction);
        let row = self.find_row(&mut s, round);
        let block = self.find_block(t, &mut s, &outer, row);
        let known = t.read_element(&mut s, vectors, &matrix_position(&outer, i, k));
        let own = self.sum_known(t, &mut s, &outer, block.row, [i, block.partner], &known)?;
        let value = t.read_element(&mut s, &self.values, &append_index(&outer, k));
        let corner = t.read_element(&mut s, &self.matrix, &matrix_position(&outer, row, row));
        let mut c = ScalarBuilder::new(&mut s.body);
        let corner = self.widen_value(&mut c, &corner);
        let divisor = c.subtract_values(&corner, &value);
        let (mut sum, mut divisor) = (own, divisor);
        let mut start = c.make_constant_value(value.element, 1.0);
        let mut end = k;
        let mut is_start = c.eq(row, k);
        if self.is_real() {
            let other = self.sum_known(t, &mut s, &outer, block.partner, [i, block.row], &known)?;
            let pair = self.solve_pair(t, &mut s, &outer, &block, [&sum, &other], &value);
            let vector = self.find_block(t, &mut s, &outer, k);
            let mut c = ScalarBuilder::new(&mut s.body);
            sum = c.select_value(block.is_block, &pair.sum, &sum);
            divisor = c.select_value(block.is_block, &pair.divisor, &divisor);
            start = c.select_value(block.is_block, &pair.start, &start);
            end = c.apply_binary(Scalar::SMax, k, vector.partner);
            let is_partner = c.eq(row, vector.partner);
            is_start = c.or(is_start, is_partner);
        }
        let mut c = ScalarBuilder::new(&mut s.body);
        let is_beyond = c.lt(end, row);
        let (element, scale) = self.divide_sum(&mut c, &sum, &divisor, &value);
        let zero = c.make_constant_value(value.element, 0.0);
        let one = c.constant_like(scale, 1.0);
        let element = c.select_value(is_start, &start, &element);
        let element = c.select_value(is_beyond, &zero, &element);
        let is_given = c.or(is_start, is_beyond);
        let scale = c.select(is_given, one, scale);
        let scale = ElementValue::new(value.element.component_element(), scale);
        Ok(finish_all(t, s, &[element, scale]))
    }

    /// The element of a vector from the sum over its known elements, and the factor of these.
    fn divide_sum(
        &self,
        c: &mut ScalarBuilder<'_>,
        sum: &ElementValue,
        divisor: &ElementValue,
        value: &ElementValue,
    ) -> (ElementValue, ScalarNode) {
        let [unit, least] = choose_limits(self.matrix.element, self.shape.rows);
        let size = add_sizes(c, value);
        let bound = c.mul_constant(size, unit);
        let least = c.constant_like(size, least);
        let bound = c.apply_binary(Scalar::FMax, bound, least);
        let divisor_size = add_sizes(c, divisor);
        let is_small = c.lt(divisor_size, bound);
        let other = c.of_real(value.element, bound);
        let divisor = c.select_value(is_small, &other, divisor);
        let divisor_size = c.select(is_small, bound, divisor_size);
        let sum_size = add_sizes(c, sum);
        let limit = c.mul_constant(divisor_size, GROWTH);
        let is_long = c.lt(limit, sum_size);
        let one = c.constant_like(size, 1.0);
        let inverse = c.div(one, sum_size);
        let scale = c.select(is_long, inverse, one);
        let minus = c.neg(scale);
        let scaled = c.scale_value(sum, minus);
        (c.divide_values(&scaled, &divisor), scale)
    }

    /// A value of the matrix as a complex number.
    fn widen_value(&self, c: &mut ScalarBuilder<'_>, value: &ElementValue) -> ElementValue {
        match value.nodes[..] {
            [re] => c.of_real(self.values.element, re),
            _ => value.clone(),
        }
    }

    /// The block of a row.
    fn find_block(
        &self,
        t: &StablehloTranslator<'_>,
        s: &mut StructuredOp,
        outer: &[ScalarNode],
        row: ScalarNode,
    ) -> BlockRow {
        let mut c = ScalarBuilder::new(&mut s.body);
        let no = c.truth_constant(false);
        if !self.is_real() {
            return BlockRow {
                row,
                partner: row,
                is_first: no,
                is_block: no,
            };
        }
        let (first, last) = (
            c.body.intern_i64(0),
            c.body.intern_i64(self.shape.rows as i64 - 1),
        );
        let (before, after) = (c.add_constant(row, -1.0), c.add_constant(row, 1.0));
        let (has_before, has_after) = (c.lt(first, row), c.lt(row, last));
        let mut read = |row, column| {
            t.read_element(s, &self.matrix, &matrix_position(outer, row, column))
                .node()
        };
        let (low, next) = (read(row, before), read(after, row));
        let mut c = ScalarBuilder::new(&mut s.body);
        let zero = c.constant_like(low, 0.0);
        let [is_second, is_first] = [(has_before, low), (has_after, next)].map(|(exists, node)| {
            let node = c.select(exists, node, zero);
            let is_zero = c.eq(node, zero);
            c.not(is_zero)
        });
        let partner = c.select(is_second, before, row);
        BlockRow {
            row,
            partner: c.select(is_first, after, partner),
            is_first,
            is_block: c.or(is_first, is_second),
        }
    }

    /// The sum of the products of a row of the matrix and the known elements of a vector, without those of the other row of a
    /// block.
    fn sum_known(
        &self,
        t: &StablehloTranslator<'_>,
        s: &mut StructuredOp,
        outer: &[ScalarNode],
        row: ScalarNode,
        [i, partner]: [ScalarNode; 2],
        known: &ElementValue,
    ) -> TranslateResult<ElementValue> {
        let factor = t.read_element(s, &self.matrix, &matrix_position(outer, row, i));
        if !self.is_real() {
            return t.sum_of_products(self.op, s, &factor, known, None, known.element);
        }
        let mut c = ScalarBuilder::new(&mut s.body);
        let is_partner = c.eq(i, partner);
        let is_other = c.eq(i, row);
        let is_inside = c.or(is_partner, is_other);
        let is_known = c.not(is_inside);
        let mut nodes = smallvec::SmallVec::new();
        for part in &known.nodes {
            let part = ElementValue::new(factor.element, *part);
            let sum =
                t.sum_of_products(self.op, s, &factor, &part, Some(is_known), factor.element)?;
            nodes.push(sum.node());
        }
        Ok(ElementValue {
            element: known.element,
            nodes,
        })
    }

    /// A row of a system of two equations as one equation, and the row's element of the vectors of the block itself.
    fn solve_pair(
        &self,
        t: &StablehloTranslator<'_>,
        s: &mut StructuredOp,
        outer: &[ScalarNode],
        block: &BlockRow,
        [own_sum, other_sum]: [&ElementValue; 2],
        value: &ElementValue,
    ) -> PairEquation {
        let mut read = |row, column| {
            t.read_element(s, &self.matrix, &matrix_position(outer, row, column))
                .node()
        };
        let (own, beside) = (read(block.row, block.row), read(block.row, block.partner));
        let (other_beside, other) = (
            read(block.partner, block.row),
            read(block.partner, block.partner),
        );
        let mut c = ScalarBuilder::new(&mut s.body);
        let [own, other] = [own, other].map(|node| {
            let node = c.of_real(value.element, node);
            c.subtract_values(&node, value)
        });
        let sizes = [
            add_sizes(&mut c, &own),
            add_sizes(&mut c, &other),
            c.abs(beside),
            c.abs(other_beside),
        ];
        let scale = sizes
            .into_iter()
            .reduce(|a, b| c.apply_binary(Scalar::FMax, a, b));
        let scale = scale.unwrap_or(beside);
        let one = c.constant_like(scale, 1.0);
        let inverse = c.div(one, scale);
        let [own_part, other_part] = [&own, &other].map(|value| c.scale_value(value, inverse));
        let [beside_part, low_part] = [beside, other_beside].map(|node| c.mul(node, inverse));
        let (first, second) = (
            c.multiply_values(&other_part, own_sum),
            c.scale_value(other_sum, beside_part),
        );
        let sum = c.subtract_values(&first, &second);
        let product = c.multiply_values(&own_part, &other_part);
        let across = c.mul(beside_part, low_part);
        let across = c.of_real(value.element, across);
        let determinant = c.subtract_values(&product, &across);
        let divisor = c.scale_value(&determinant, scale);
        // The row with the larger element beside the diagonal begins with 1.
        let (beside_size, low_size) = (c.abs(beside), c.abs(other_beside));
        let (is_larger, is_least) = (c.le(low_size, beside_size), c.lt(low_size, beside_size));
        let is_one = c.select(block.is_first, is_larger, is_least);
        let unit = c.make_constant_value(value.element, 1.0);
        let minus = c.constant_like(scale, -1.0);
        let ratio = {
            let by = c.div(minus, other_beside);
            c.scale_value(&other, by)
        };
        PairEquation {
            sum,
            divisor,
            start: c.select_value(is_one, &unit, &ratio),
        }
    }
}

/// An equation for an element of a vector: the divisor times the element is minus the sum.
struct PairEquation {
    sum: ElementValue,
    divisor: ElementValue,
    start: ElementValue,
}

//! Eigenvectors of matrices in Schur form by substitution, those of all eigenvalues at once.
//!
//! Where a vector would grow too long, it is scaled. Divisors that are too small are replaced, so defective matrices have
//! vectors that are almost parallel.

use super::scalar_step::{add_sizes, choose_limits};
use super::{MatrixBatch, append_index, finish_all, read_iteration_number};
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
    is_second: ScalarNode,
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
            matrix,
            values,
            shape: self.shape,
        })
    }

    /// Right eigenvectors as columns, from the last row to the first. Rows that are not yet solved have the sums of the products of
    /// the matrix and the known elements.
    pub fn solve(&self, t: &mut StablehloTranslator<'_>) -> TranslateResult<TypedTensor> {
        let whole = self.shape.full_shape();
        let line = self.shape.batch_shape_with(&[self.shape.rows]);
        let element = self.values.element;
        let initial = [t.emit_zeros(element, &whole), t.emit_zeros(element, &line)];
        let count = DimExtent::Static(self.shape.rows);
        let solved = t.iterate_tensors(&initial, count, |t, state, round| {
            let row = self.solve_row(t, &state[0], &state[1], round);
            let vectors = t.map_points(&whole, |t, s, point| {
                let (outer, row_index, column) = split_matrix_position(point);
                let now = self.find_row(s, round);
                let place = append_index(outer, column);
                let old = t.read_element(s, &state[0], point);
                let new = t.read_element(s, &row[0], &place);
                let scale = t.read_element(s, &row[1], &place).node();
                let factor = matrix_position(outer, row_index, now);
                let factor = t.read_element(s, &self.matrix, &factor);
                let mut c = ScalarBuilder::new(&mut s.body);
                let old = c.scale_value(&old, scale);
                let product = match factor.nodes[..] {
                    [re] => c.scale_value(&new, re),
                    _ => c.multiply_values(&factor, &new),
                };
                let sum = c.add_values(&old, &product);
                let (is_before, is_now) = (c.lt(row_index, now), c.eq(row_index, now));
                let value = c.select_value(is_before, &sum, &old);
                Ok(c.select_value(is_now, &new, &value))
            })?;
            Ok(vec![vectors, row[2].clone()])
        })?;
        Ok(solved[0].clone())
    }

    /// The row that an iteration solves.
    fn find_row(&self, s: &mut StructuredOp, round: TensorValue) -> ScalarNode {
        let round = read_iteration_number(s, round);
        let mut c = ScalarBuilder::new(&mut s.body);
        let last = c.body.intern_i64(self.shape.rows as i64 - 1);
        c.sub(last, round)
    }

    /// The elements of all vectors in a row, the factors of the elements that are known and of the sums, and elements of the row
    /// before if both rows are a block. These are solved together, so the next iteration gets them.
    fn solve_row(
        &self,
        t: &mut StablehloTranslator<'_>,
        vectors: &TypedTensor,
        solved: &TypedTensor,
        round: TensorValue,
    ) -> Vec<TypedTensor> {
        let mut s = StructuredOp::with_parallel_axes(&self.shape.batch);
        let outer = s.axis_indices();
        let k = s.add_axis(DimExtent::Static(self.shape.rows), AxisKind::Parallel);
        let row = self.find_row(&mut s, round);
        let value = t.read_element(&mut s, &self.values, &append_index(&outer, k));
        let own = t.read_element(&mut s, vectors, &matrix_position(&outer, row, k));
        let corner = t.read_element(&mut s, &self.matrix, &matrix_position(&outer, row, row));
        let mut c = ScalarBuilder::new(&mut s.body);
        let corner = self.widen_value(&mut c, &corner);
        let divisor = c.subtract_values(&corner, &value);
        let zero = c.make_constant_value(value.element, 0.0);
        let mut start = c.make_constant_value(value.element, 1.0);
        let (mut end, mut is_start) = (k, c.eq(row, k));
        let (mut element, mut scale) = self.divide_sum(&mut c, &own, &divisor, &value);
        let mut before = zero.clone();
        if self.is_real() {
            let block = self.find_block(t, &mut s, &outer, row);
            let vector = self.find_block(t, &mut s, &outer, k);
            let other = matrix_position(&outer, block.partner, k);
            let other = t.read_element(&mut s, vectors, &other);
            let carried = t.read_element(&mut s, solved, &append_index(&outer, k));
            let pair = self.solve_pair(t, &mut s, &outer, &block, [&own, &other], &value);
            let mut c = ScalarBuilder::new(&mut s.body);
            before = pair.elements[1].clone();
            element = c.select_value(block.is_second, &pair.elements[0], &element);
            element = c.select_value(block.is_first, &carried, &element);
            let one = c.constant_like(scale, 1.0);
            scale = c.select(block.is_second, pair.scale, scale);
            scale = c.select(block.is_first, one, scale);
            let is_block = c.or(block.is_first, block.is_second);
            start = c.select_value(is_block, &pair.start, &start);
            end = c.apply_binary(Scalar::SMax, k, vector.partner);
            let is_partner = c.eq(row, vector.partner);
            is_start = c.or(is_start, is_partner);
        }
        let mut c = ScalarBuilder::new(&mut s.body);
        let is_beyond = c.lt(end, row);
        let one = c.constant_like(scale, 1.0);
        let element = c.select_value(is_start, &start, &element);
        let element = c.select_value(is_beyond, &zero, &element);
        let is_given = c.or(is_start, is_beyond);
        let scale = c.select(is_given, one, scale);
        let scale = ElementValue::new(value.element.component_element(), scale);
        finish_all(t, s, &[element, scale, before])
    }

    /// A value of the matrix as a complex number.
    fn widen_value(&self, c: &mut ScalarBuilder<'_>, value: &ElementValue) -> ElementValue {
        match value.nodes[..] {
            [re] => c.of_real(self.values.element, re),
            _ => value.clone(),
        }
    }

    /// The element of a vector from the sum over its known elements, and the factor of these.
    fn divide_sum(
        &self,
        c: &mut ScalarBuilder<'_>,
        sum: &ElementValue,
        divisor: &ElementValue,
        value: &ElementValue,
    ) -> (ElementValue, ScalarNode) {
        let (divisor, divisor_size) = self.limit_divisor(c, divisor, value);
        let sum_size = add_sizes(c, sum);
        let scale = choose_scale(c, sum_size, divisor_size);
        let minus = c.neg(scale);
        let scaled = c.scale_value(sum, minus);
        (c.divide_values(&scaled, &divisor), scale)
    }

    /// A divisor, or one that is not too small beside an eigenvalue, and its size.
    fn limit_divisor(
        &self,
        c: &mut ScalarBuilder<'_>,
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
        (
            c.select_value(is_small, &other, divisor),
            c.select(is_small, bound, divisor_size),
        )
    }

    /// The block of a row of a real matrix.
    fn find_block(
        &self,
        t: &StablehloTranslator<'_>,
        s: &mut StructuredOp,
        outer: &[ScalarNode],
        row: ScalarNode,
    ) -> BlockRow {
        let mut c = ScalarBuilder::new(&mut s.body);
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
            is_second,
        }
    }

    /// Solves a system of two equations: the elements of a row and its partner, and the row's element of the vectors of the block
    /// itself.
    fn solve_pair(
        &self,
        t: &StablehloTranslator<'_>,
        s: &mut StructuredOp,
        outer: &[ScalarNode],
        block: &BlockRow,
        [own_sum, other_sum]: [&ElementValue; 2],
        value: &ElementValue,
    ) -> PairSolution {
        let mut read = |row, column| {
            t.read_element(s, &self.matrix, &matrix_position(outer, row, column))
                .node()
        };
        let (own, beside) = (read(block.row, block.row), read(block.row, block.partner));
        let (low, other) = (
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
            c.abs(low),
        ];
        let largest = sizes
            .into_iter()
            .reduce(|a, b| c.apply_binary(Scalar::FMax, a, b));
        let largest = largest.unwrap_or(beside);
        let inverse = c.reciprocal(largest);
        let [own_part, other_part] = [&own, &other].map(|value| c.scale_value(value, inverse));
        let [beside_part, low_part] = [beside, low].map(|node| c.mul(node, inverse));
        let product = c.multiply_values(&own_part, &other_part);
        let across = c.mul(beside_part, low_part);
        let across = c.of_real(value.element, across);
        let determinant = c.subtract_values(&product, &across);
        let divisor = c.scale_value(&determinant, largest);
        let (divisor, divisor_size) = self.limit_divisor(&mut c, &divisor, value);
        let mut eliminate = |part: &ElementValue, sum: &ElementValue, factor, by: &ElementValue| {
            let (first, second) = (c.multiply_values(part, sum), c.scale_value(by, factor));
            c.subtract_values(&first, &second)
        };
        let sums = [
            eliminate(&other_part, own_sum, beside_part, other_sum),
            eliminate(&own_part, other_sum, low_part, own_sum),
        ];
        let sizes = [&sums[0], &sums[1]].map(|sum| add_sizes(&mut c, sum));
        let size = c.apply_binary(Scalar::FMax, sizes[0], sizes[1]);
        let scale = choose_scale(&mut c, size, divisor_size);
        let minus = c.neg(scale);
        let elements = [&sums[0], &sums[1]].map(|sum| {
            let scaled = c.scale_value(sum, minus);
            c.divide_values(&scaled, &divisor)
        });
        // The row with the larger element beside the diagonal begins with 1.
        let (beside_size, low_size) = (c.abs(beside), c.abs(low));
        let (is_larger, is_least) = (c.le(low_size, beside_size), c.lt(low_size, beside_size));
        let is_one = c.select(block.is_first, is_larger, is_least);
        let unit = c.make_constant_value(value.element, 1.0);
        let minus = c.constant_like(scale, -1.0);
        let ratio = c.div(minus, low);
        let ratio = c.scale_value(&other, ratio);
        PairSolution {
            elements,
            scale,
            start: c.select_value(is_one, &unit, &ratio),
        }
    }
}

/// The elements of two rows, the factor of those that are known, and the first row's element of the vectors of the block.
struct PairSolution {
    elements: [ElementValue; 2],
    scale: ScalarNode,
    start: ElementValue,
}

/// The factor by which known elements are multiplied, so that a quotient is not too long.
fn choose_scale(
    c: &mut ScalarBuilder<'_>,
    size: ScalarNode,
    divisor_size: ScalarNode,
) -> ScalarNode {
    let limit = c.mul_constant(divisor_size, GROWTH);
    let is_long = c.lt(limit, size);
    let one = c.constant_like(size, 1.0);
    let inverse = c.div(one, size);
    c.select(is_long, inverse, one)
}

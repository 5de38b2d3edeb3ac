//! Eigenvalues and vectors of symmetric tridiagonal matrices by J. J. M. Cuppen's method ("A divide and conquer method for the
//! symmetric tridiagonal eigenproblem", 1981).
//!
//! A matrix is two smaller ones and a change of rank 1. Small matrices of one size are reduced by rotations; then each level joins
//! pairs. All matrices of a level, and of a batch, are joined at once.

use super::MatrixBatch;
use super::deflation::DeflatedPairs;
use super::matrix_product::{MatrixFactor, multiply_matrices};
use super::scalar_step::{choose_limits, replace_elements};
use super::secular::SecularEquation;
use super::symmetric_jacobi::diagonalise_matrices;
use super::{append_index, finish_all, list_extents, reduce_real_largest};
use crate::mlir::MlirOp;
use crate::translate::element::TensorElement;
use crate::translate::error::TranslateResult;
use crate::translate::linear::split_matrix_position;
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_program::{ScalarOp as Scalar, ScalarType as Ty};
use spirula_tensor::ir::{
    AxisKind, DimExtent, ScalarCombiner, ScalarNode, StructuredOp, TensorReduction, TensorShape,
};

/// Sizes of the matrices that are not divided.
const LEAF_SIZES: std::ops::RangeInclusive<u64> = 4..=16;

/// Values in ascending order, and vectors as rows.
pub(super) struct SymmetricSpectrum {
    pub values: TypedTensor,
    pub vectors: TypedTensor,
}

/// Matrices with one dimension of a batch. Each element of `beside` is between an element of the diagonal and the next one; the
/// last one has no meaning.
pub(super) struct TridiagonalMatrices<'a> {
    pub op: MlirOp,
    pub diagonal: &'a TypedTensor,
    pub beside: &'a TypedTensor,
    pub count: u64,
    pub size: u64,
}

impl TridiagonalMatrices<'_> {
    pub fn solve(&self, t: &mut StablehloTranslator<'_>) -> TranslateResult<SymmetricSpectrum> {
        let (leaf, leaves) = choose_leaf(self.size);
        let whole = leaf * leaves;
        let [diagonal, beside] = self.divide(t, leaf, whole)?;
        let mut spectrum = self.solve_leaves(t, &diagonal, &beside, leaf, leaves)?;
        let mut half = leaf;
        while half < whole {
            let size = 2 * half;
            let level = SpectrumJoin {
                op: self.op,
                real: self.diagonal.element,
                count: self.count * whole / size,
                size,
            };
            let beside = t.reshape_tensor(self.op, &beside, list_extents(&[level.count, size]))?;
            spectrum = level.join(t, &spectrum, &beside)?;
            half = size;
        }
        let values = list_extents(&[self.count, self.size]);
        let vectors = list_extents(&[self.count, self.size, self.size]);
        Ok(SymmetricSpectrum {
            values: t.gather_elements(&spectrum.values, &values, |_, point| point.to_vec())?,
            vectors: t.gather_elements(&spectrum.vectors, &vectors, |_, point| point.to_vec())?,
        })
    }

    /// The matrices without the changes of rank 1 between leaves, and with further rows to a whole number of leaves, whose
    /// eigenvalues are the largest.
    fn divide(
        &self,
        t: &mut StablehloTranslator<'_>,
        leaf: u64,
        whole: u64,
    ) -> TranslateResult<[TypedTensor; 2]> {
        let real = self.diagonal.element;
        let shape = list_extents(&[self.count, whole]);
        let beside = t.map_points(&shape, |t, s, point| {
            let own = t.read_element(s, self.beside, point).node();
            let mut c = ScalarBuilder::new(&mut s.body);
            let last = c.body.intern_i64(self.size as i64 - 1);
            let exists = c.lt(point[1], last);
            let zero = c.constant_like(own, 0.0);
            Ok(ElementValue::new(real, c.select(exists, own, zero)))
        })?;
        let mut s = StructuredOp::with_parallel_axes(&list_extents(&[self.count]));
        let outer = s.axis_indices();
        let i = s.add_axis(DimExtent::Static(self.size), AxisKind::Reduction);
        let [own, other] = [self.diagonal, &beside].map(|tensor| {
            t.read_element(&mut s, tensor, &append_index(&outer, i))
                .node()
        });
        let mut c = ScalarBuilder::new(&mut s.body);
        let [own, other] = [own, other].map(|node| c.abs(node));
        let [own, other] = [own, other].map(|node| reduce_real_largest(&mut s, node));
        let mut c = ScalarBuilder::new(&mut s.body);
        let twice = c.add(other, other);
        let bound = c.add(own, twice);
        let bound = c.mul_constant(bound, 1.25);
        let bound = t.finish_structured(s, &ElementValue::new(real, bound));
        let diagonal = t.map_points(&shape, |t, s, point| {
            let own = t.read_element(s, self.diagonal, point).node();
            let bound = t.read_element(s, &bound, &point[..1]).node();
            let mut c = ScalarBuilder::new(&mut s.body);
            let size = c.body.intern_i64(self.size as i64);
            let exists = c.lt(point[1], size);
            let mut value = c.select(exists, own, bound);
            for (by, place) in [(0.0, leaf - 1), (-1.0, 0)] {
                let mut c = ScalarBuilder::new(&mut s.body);
                let rest = c.apply_with_constant(Scalar::SMod, point[1], leaf);
                let place = c.body.intern_i64(place as i64);
                let is_edge = c.eq(rest, place);
                let at = c.add_constant(point[1], by);
                let zero = c.body.intern_i64(0);
                let is_inside = c.le(zero, at);
                let is_edge = c.and(is_edge, is_inside);
                let other = t.read_element(s, &beside, &[point[0], at]).node();
                let mut c = ScalarBuilder::new(&mut s.body);
                let other = c.abs(other);
                let less = c.sub(value, other);
                value = c.select(is_edge, less, value);
            }
            Ok(ElementValue::new(real, value))
        })?;
        Ok([diagonal, beside])
    }

    fn solve_leaves(
        &self,
        t: &mut StablehloTranslator<'_>,
        diagonal: &TypedTensor,
        beside: &TypedTensor,
        leaf: u64,
        leaves: u64,
    ) -> TranslateResult<SymmetricSpectrum> {
        let lines = list_extents(&[self.count * leaves, leaf]);
        let diagonal = t.reshape_tensor(self.op, diagonal, lines.clone())?;
        let beside = t.reshape_tensor(self.op, beside, lines.clone())?;
        let shape = MatrixBatch {
            batch: list_extents(&[self.count * leaves]),
            rows: leaf,
            columns: leaf,
        };
        let matrices = t.map_points(&shape.full_shape(), |t, s, point| {
            let (outer, row, column) = split_matrix_position(point);
            let mut c = ScalarBuilder::new(&mut s.body);
            let low = c.apply_binary(Scalar::SMin, row, column);
            let high = c.apply_binary(Scalar::SMax, row, column);
            let [own, other] = [&diagonal, &beside]
                .map(|tensor| t.read_element(s, tensor, &append_index(outer, low)));
            let mut c = ScalarBuilder::new(&mut s.body);
            let next = c.add_constant(low, 1.0);
            let (is_diagonal, is_beside) = (c.eq(low, high), c.eq(next, high));
            let zero = c.make_constant_value(own.element, 0.0);
            let value = c.select_value(is_beside, &other, &zero);
            Ok(c.select_value(is_diagonal, &own, &value))
        })?;
        let [diagonal, vectors] = diagonalise_matrices(t, matrices, &shape)?;
        let vectors = t.gather_elements(&vectors, &shape.full_shape(), |_, point| {
            vec![point[0], point[2], point[1]]
        })?;
        Ok(SymmetricSpectrum {
            values: diagonal,
            vectors,
        })
    }
}

/// The size of the matrices that are not divided, and their number: a power of two, such that few rows are added.
fn choose_leaf(size: u64) -> (u64, u64) {
    let choices = (0..u64::BITS - 8).map(|level| (size.div_ceil(1 << level), 1 << level));
    let suits = |(leaf, _): &(u64, u64)| LEAF_SIZES.contains(leaf);
    let best = choices
        .filter(suits)
        .min_by_key(|(leaf, count)| (leaf * count, *leaf));
    best.unwrap_or((size, 1))
}

/// A step that joins pairs of matrices of half a size.
struct SpectrumJoin {
    op: MlirOp,
    real: TensorElement,
    /// The number of pairs.
    count: u64,
    size: u64,
}

impl SpectrumJoin {
    fn line_shape(&self) -> TensorShape {
        list_extents(&[self.count, self.size])
    }

    /// The spectrum of joined matrices. `beside` has the element between both in the middle.
    fn join(
        &self,
        t: &mut StablehloTranslator<'_>,
        halves: &SymmetricSpectrum,
        beside: &TypedTensor,
    ) -> TranslateResult<SymmetricSpectrum> {
        let whole = list_extents(&[self.count, self.size, self.size]);
        let values = t.reshape_tensor(self.op, &halves.values, self.line_shape())?;
        let order = find_order(t, &values, [self.count, self.size])?;
        let [poles, weights] = self.read_equation(t, &values, halves, beside, &order);
        let [factor, tolerance] = self.choose_tolerance(t, &poles, &weights, beside);
        let rows = t.map_points(&whole, |t, s, point| {
            let from = t.read_element(s, &order, &point[..2]).node();
            let value = self.read_vector(t, s, halves, [point[0], from, point[2]]);
            let mut c = ScalarBuilder::new(&mut s.body);
            let half = c.body.intern_i64(self.size as i64 / 2);
            let (is_low, is_first) = (c.lt(from, half), c.lt(point[2], half));
            let is_inside = c.eq(is_low, is_first);
            let zero = c.constant_like(value, 0.0);
            Ok(ElementValue::new(
                self.real,
                c.select(is_inside, value, zero),
            ))
        })?;
        let equation = SecularEquation {
            real: self.real,
            count: self.count,
            size: self.size,
            factor,
            poles,
            weights,
        };
        let pairs = DeflatedPairs::find(t, &equation, &tolerance)?;
        let rows = pairs.rotate_rows(t, &rows)?;
        let roots = SecularEquation {
            poles: pairs.poles,
            weights: pairs.weights,
            ..equation
        }
        .solve(t)?;
        let order = find_order(t, &roots.values, [self.count, self.size])?;
        let values =
            t.gather_elements(&roots.values, &self.line_shape(), |_, point| point.to_vec())?;
        let values = t.map_points(&self.line_shape(), |t, s, point| {
            let from = t.read_element(s, &order, point).node();
            Ok(t.read_element(s, &values, &[point[0], from]))
        })?;
        let own = roots.build_vectors(t, &order)?;
        let (own, rows) = (MatrixFactor::plain(&own), MatrixFactor::plain(&rows));
        let vectors = multiply_matrices(t, self.op, own, rows, &whole, self.size)?;
        Ok(SymmetricSpectrum { values, vectors })
    }

    /// An element of a vector of a half: its number among those of both halves, and the index within the joined matrix.
    fn read_vector(
        &self,
        t: &StablehloTranslator<'_>,
        s: &mut StructuredOp,
        halves: &SymmetricSpectrum,
        [pair, number, index]: [ScalarNode; 3],
    ) -> ScalarNode {
        let half = self.size / 2;
        let mut c = ScalarBuilder::new(&mut s.body);
        let side = c.apply_with_constant(Scalar::SDiv, number, half);
        let twice = c.add(pair, pair);
        let matrix = c.add(twice, side);
        let [row, column] =
            [number, index].map(|node| c.apply_with_constant(Scalar::SMod, node, half));
        t.read_element(s, &halves.vectors, &[matrix, row, column])
            .node()
    }

    /// The poles of the secular equation, and the square roots of its weights, which are elements of a vector of norm 1: the last
    /// elements of the first half's vectors, and the first elements of the second's.
    fn read_equation(
        &self,
        t: &mut StablehloTranslator<'_>,
        values: &TypedTensor,
        halves: &SymmetricSpectrum,
        beside: &TypedTensor,
        order: &TypedTensor,
    ) -> [TypedTensor; 2] {
        let mut s = StructuredOp::with_parallel_axes(&self.line_shape());
        let point = s.axis_indices();
        let from = t.read_element(&mut s, order, &point).node();
        let pole = t.read_element(&mut s, values, &[point[0], from]);
        let mut c = ScalarBuilder::new(&mut s.body);
        let half = c.body.intern_i64(self.size as i64 / 2);
        let middle = c.add_constant(half, -1.0);
        let is_first = c.lt(from, half);
        let index = c.select(is_first, middle, half);
        let element = self.read_vector(t, &mut s, halves, [point[0], from, index]);
        let coupling = t.read_element(&mut s, beside, &[point[0], middle]).node();
        let mut c = ScalarBuilder::new(&mut s.body);
        let scaled = c.mul_constant(element, std::f64::consts::FRAC_1_SQRT_2);
        let negative = c.neg(scaled);
        let is_negative = c.lt_constant(coupling, 0.0);
        let zero = c.truth_constant(false);
        let is_second = c.select(is_first, zero, is_negative);
        let weight = c.select(is_second, negative, scaled);
        let weight = ElementValue::new(self.real, weight);
        let mut found = finish_all(t, s, &[pole, weight]).into_iter();
        let mut next = || found.next().unwrap_or_else(|| values.clone());
        [next(), next()]
    }

    /// The factor of the change of rank 1, and the size below which numbers are negligible.
    fn choose_tolerance(
        &self,
        t: &mut StablehloTranslator<'_>,
        poles: &TypedTensor,
        weights: &TypedTensor,
        beside: &TypedTensor,
    ) -> [TypedTensor; 2] {
        let mut s = StructuredOp::with_parallel_axes(&list_extents(&[self.count]));
        let outer = s.axis_indices();
        let i = s.add_axis(DimExtent::Static(self.size), AxisKind::Reduction);
        let sizes = [poles, weights].map(|tensor| {
            let own = t
                .read_element(&mut s, tensor, &append_index(&outer, i))
                .node();
            ScalarBuilder::new(&mut s.body).abs(own)
        });
        let [pole, weight] = sizes.map(|size| reduce_real_largest(&mut s, size));
        let middle = s.body.intern_i64(self.size as i64 / 2 - 1);
        let coupling = t
            .read_element(&mut s, beside, &append_index(&outer, middle))
            .node();
        let mut c = ScalarBuilder::new(&mut s.body);
        let coupling = c.abs(coupling);
        let factor = c.add(coupling, coupling);
        let largest = c.apply_binary(Scalar::FMax, pole, weight);
        let [unit, _] = choose_limits(self.real, self.size);
        let tolerance = c.mul_constant(largest, 4.0 * unit);
        let values = [factor, tolerance].map(|node| ElementValue::new(self.real, node));
        let mut found = finish_all(t, s, &values).into_iter();
        let mut next = || found.next().unwrap_or_else(|| poles.clone());
        [next(), next()]
    }
}

/// The indices of elements in ascending order, for each line. Equal elements keep their order.
fn find_order(
    t: &mut StablehloTranslator<'_>,
    values: &TypedTensor,
    sizes: [u64; 2],
) -> TranslateResult<TypedTensor> {
    let shape = list_extents(&sizes);
    let mut s = StructuredOp::with_parallel_axes(&shape);
    let point = s.axis_indices();
    let j = s.add_axis(DimExtent::Static(sizes[1]), AxisKind::Reduction);
    let [own, other] =
        [point[1], j].map(|index| t.read_element(&mut s, values, &[point[0], index]).node());
    let mut c = ScalarBuilder::new(&mut s.body);
    let (is_less, is_equal, is_before) = (c.lt(other, own), c.eq(other, own), c.lt(j, point[1]));
    let is_equal = c.and(is_equal, is_before);
    let counts = c.or(is_less, is_equal);
    let [zero, one] = [0, 1].map(|value| c.body.intern_i64(value));
    let value = c.select(counts, one, zero);
    let rank = s.add_reduction(TensorReduction {
        initial: vec![zero],
        values: vec![value],
        combiner: ScalarCombiner::from_op(Scalar::Add, Ty::I64),
    })[0];
    let ranks = t.finish_structured(s, &ElementValue::new(TensorElement::I64, rank));
    let zeros = t.emit_zeros(TensorElement::I64, &shape);
    Ok(replace_elements(t, &zeros, &sizes, |t, s, point| {
        let rank = t.read_element(s, &ranks, point).node();
        let value = ElementValue::new(TensorElement::I64, point[1]);
        (vec![point[0], rank], value)
    }))
}

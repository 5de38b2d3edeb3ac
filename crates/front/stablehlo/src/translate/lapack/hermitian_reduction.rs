//! Reduction of Hermitian matrices to tridiagonal form by A. S. Householder's reflections, one column in each iteration.
//!
//! An iteration changes only the rows and columns after its own. The loop is split into some, and later ones have smaller
//! matrices.

use super::qr::{HouseholderReflector, compute_reflection};
use super::scalar_step::replace_elements;
use super::{MatrixBatch, append_index, read_iteration_number};
use crate::mlir::MlirOp;
use crate::translate::element::TensorElement;
use crate::translate::error::TranslateResult;
use crate::translate::linear::{matrix_position, split_matrix_position};
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_tensor::ir::{AxisKind, DimExtent, ScalarNode, StructuredOp, TensorValue};

/// Sizes of matrices from which on there is one more loop.
const SPLIT_SIZES: [u64; 3] = [48, 96, 192];

/// Tridiagonal matrices, and the reflections that lead to them.
pub(super) struct TridiagonalForm {
    pub diagonal: TypedTensor,
    /// The elements below the diagonal, and a zero.
    pub beside: TypedTensor,
    /// The vector of each reflection 1 − τ v vᴴ as a row: zeros up to its own index, and then a one. There may be rows of zeros at
    /// the end.
    pub vectors: TypedTensor,
    pub taus: TypedTensor,
}

/// Reduces whole Hermitian matrices. There will be `rows` rows for reflections.
pub(super) fn reduce_hermitian(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    matrix: &TypedTensor,
    shape: &MatrixBatch,
    rows: u64,
) -> TranslateResult<TridiagonalForm> {
    let (size, element) = (shape.rows, matrix.element);
    let real = element.component_element();
    let mut state = vec![
        matrix.clone(),
        t.emit_zeros(real, &shape.batch_shape_with(&[size])),
        t.emit_zeros(real, &shape.batch_shape_with(&[size])),
        t.emit_zeros(element, &shape.batch_shape_with(&[rows, size])),
        t.emit_zeros(element, &shape.batch_shape_with(&[rows])),
    ];
    let loops = 1 + SPLIT_SIZES.iter().filter(|least| size >= **least).count() as u64;
    let last = size.saturating_sub(1);
    for number in 0..loops {
        let [first, end] = [number, number + 1].map(|number| number * last / loops);
        let part = HermitianPart {
            op,
            first,
            shape: MatrixBatch {
                rows: size - first,
                columns: size - first,
                ..shape.clone()
            },
        };
        let before = if number == 0 {
            0
        } else {
            (number - 1) * last / loops
        };
        let removed = first - before;
        state[0] = t.gather_elements(&state[0], &part.shape.full_shape(), |c, point| {
            let (outer, row, column) = split_matrix_position(point);
            let [row, column] = [row, column].map(|index| c.add_constant(index, removed as f64));
            matrix_position(outer, row, column)
        })?;
        let count = DimExtent::Static(end - first);
        state = t.iterate_tensors(&state, count, |t, state, round| {
            part.reduce_column(t, state, round)
        })?;
    }
    let end = size - (loops - 1) * last / loops;
    let matrix = state[0].clone();
    let diagonal = t.map_points(&shape.batch_shape_with(&[size]), |t, s, point| {
        let (outer, at) = (&point[..point.len() - 1], point[point.len() - 1]);
        let own = t.read_element(s, &state[1], point).node();
        let corner = s.body.intern_i64(end as i64 - 1);
        let other = t
            .read_element(s, &matrix, &matrix_position(outer, corner, corner))
            .node();
        let mut c = ScalarBuilder::new(&mut s.body);
        let last = c.body.intern_i64(size as i64 - 1);
        let is_last = c.eq(at, last);
        Ok(ElementValue::new(real, c.select(is_last, other, own)))
    })?;
    Ok(TridiagonalForm {
        diagonal,
        beside: state[2].clone(),
        vectors: state[3].clone(),
        taus: state[4].clone(),
    })
}

/// The rows and columns of the matrices from one on.
struct HermitianPart {
    op: MlirOp,
    first: u64,
    shape: MatrixBatch,
}

impl HermitianPart {
    /// The state has the matrices, their diagonals, elements beside them, the vectors and their factors τ.
    fn reduce_column(
        &self,
        t: &mut StablehloTranslator<'_>,
        state: &[TypedTensor],
        round: TensorValue,
    ) -> TranslateResult<Vec<TypedTensor>> {
        let matrix = &state[0];
        let reflection = compute_reflection(t, matrix, &self.shape, round, 1);
        let vector = self.build_vector(t, matrix, &reflection, round)?;
        let change = self.build_change(t, matrix, &vector, &reflection)?;
        let real = matrix.element.component_element();
        let store = |t: &mut StablehloTranslator<'_>, to: &TypedTensor, from: &TypedTensor| {
            self.store_at_batch(t, to, round, |t, s, outer| {
                ElementValue::new(to.element, t.read_element(s, from, outer).node())
            })
        };
        let beside = store(t, &state[2], &reflection.corner);
        let diagonal = self.store_at_batch(t, &state[1], round, |t, s, outer| {
            let j = read_iteration_number(s, round);
            let corner = t.read_element(s, matrix, &matrix_position(outer, j, j));
            ElementValue::new(real, corner.node())
        });
        let taus = self.store_at_batch(t, &state[4], round, |t, s, outer| {
            t.read_element(s, &reflection.tau, outer)
        });
        let mut sizes = self.batch_sizes();
        sizes.push(self.shape.rows);
        let vectors = replace_elements(t, &state[3], &sizes, |t, s, point| {
            let (outer, at) = (&point[..point.len() - 1], point[point.len() - 1]);
            let value = t.read_element(s, &vector, point);
            let row = self.find_index(s, round);
            let mut c = ScalarBuilder::new(&mut s.body);
            let column = c.add_constant(at, self.first as f64);
            (matrix_position(outer, row, column), value)
        });
        let next = t.map_points(&self.shape.full_shape(), |t, s, point| {
            let (outer, row, column) = split_matrix_position(point);
            let own = t.read_element(s, matrix, point);
            let [[v_row, w_row], [v_column, w_column]] = [row, column].map(|index| {
                [&vector, &change]
                    .map(|tensor| t.read_element(s, tensor, &append_index(outer, index)))
            });
            let mut c = ScalarBuilder::new(&mut s.body);
            let [v_column, w_column] = [v_column, w_column].map(|value| c.conjugate_value(&value));
            let first = c.multiply_values(&v_row, &w_column);
            let second = c.multiply_values(&w_row, &v_column);
            let changed = c.subtract_values(&own, &first);
            Ok(c.subtract_values(&changed, &second))
        })?;
        Ok(vec![next, diagonal, beside, vectors, taus])
    }

    fn batch_sizes(&self) -> Vec<u64> {
        let sizes = self.shape.batch.iter();
        sizes.map(|size| size.as_static().unwrap_or(0)).collect()
    }

    /// The number of the column in the whole matrix.
    fn find_index(&self, s: &mut StructuredOp, round: TensorValue) -> ScalarNode {
        let j = read_iteration_number(s, round);
        ScalarBuilder::new(&mut s.body).add_constant(j, self.first as f64)
    }

    /// A tensor with the element of each matrix at the column's number replaced.
    fn store_at_batch(
        &self,
        t: &mut StablehloTranslator<'_>,
        tensor: &TypedTensor,
        round: TensorValue,
        compute: impl Fn(&StablehloTranslator<'_>, &mut StructuredOp, &[ScalarNode]) -> ElementValue,
    ) -> TypedTensor {
        replace_elements(t, tensor, &self.batch_sizes(), |t, s, outer| {
            let value = compute(t, s, outer);
            (append_index(outer, self.find_index(s, round)), value)
        })
    }

    /// v: zeros up to the diagonal, then 1, then the scaled column.
    fn build_vector(
        &self,
        t: &mut StablehloTranslator<'_>,
        matrix: &TypedTensor,
        reflection: &HouseholderReflector,
        round: TensorValue,
    ) -> TranslateResult<TypedTensor> {
        let shape = self.shape.batch_shape_with(&[self.shape.rows]);
        t.map_points(&shape, |t, s, point| {
            let (outer, index) = (&point[..point.len() - 1], point[point.len() - 1]);
            let j = read_iteration_number(s, round);
            let stored = t.read_element(s, matrix, &matrix_position(outer, index, j));
            let scale = t.read_element(s, &reflection.scale, outer);
            let mut c = ScalarBuilder::new(&mut s.body);
            let first = c.add_constant(j, 1.0);
            let scaled = c.multiply_values(&stored, &scale);
            let [zero, one] = [0.0, 1.0].map(|value| c.make_constant_value(matrix.element, value));
            let (is_first, is_above) = (c.eq(index, first), c.lt(index, first));
            let value = c.select_value(is_first, &one, &scaled);
            Ok(c.select_value(is_above, &zero, &value))
        })
    }

    /// w, with which the matrix becomes A − v wᴴ − w vᴴ: p − conj(τ) (vᴴ p) v / 2, where p is τ A v.
    fn build_change(
        &self,
        t: &mut StablehloTranslator<'_>,
        matrix: &TypedTensor,
        vector: &TypedTensor,
        reflection: &HouseholderReflector,
    ) -> TranslateResult<TypedTensor> {
        let size = DimExtent::Static(self.shape.rows);
        let mut s = StructuredOp::with_parallel_axes(&self.shape.batch);
        let outer = s.axis_indices();
        let row = s.add_axis(size, AxisKind::Parallel);
        let i = s.add_axis(size, AxisKind::Reduction);
        let own = t.read_element(&mut s, matrix, &matrix_position(&outer, row, i));
        let v = t.read_element(&mut s, vector, &append_index(&outer, i));
        let dot = t.sum_of_products(self.op, &mut s, &own, &v, None, matrix.element)?;
        let tau = t.read_element(&mut s, &reflection.tau, &outer);
        let product = ScalarBuilder::new(&mut s.body).multiply_values(&tau, &dot);
        let product = t.finish_structured(s, &product);
        let mut s = StructuredOp::with_parallel_axes(&self.shape.batch);
        let outer = s.axis_indices();
        let i = s.add_axis(size, AxisKind::Reduction);
        let [v, own] = [vector, &product]
            .map(|tensor| t.read_element(&mut s, tensor, &append_index(&outer, i)));
        let v = ScalarBuilder::new(&mut s.body).conjugate_value(&v);
        let dot = t.sum_of_products(self.op, &mut s, &v, &own, None, matrix.element)?;
        let tau = t.read_element(&mut s, &reflection.tau, &outer);
        let mut c = ScalarBuilder::new(&mut s.body);
        let tau = c.conjugate_value(&tau);
        let both = c.multiply_values(&tau, &dot);
        // The product is real.
        let half = c.mul_constant(both.node(), 0.5);
        let real = matrix.element.component_element();
        let half = t.finish_structured(s, &ElementValue::new(real, half));
        t.map_points(
            &self.shape.batch_shape_with(&[self.shape.rows]),
            |t, s, point| {
                let outer = &point[..point.len() - 1];
                let [v, own] = [vector, &product].map(|tensor| t.read_element(s, tensor, point));
                let half = t.read_element(s, &half, outer).node();
                let mut c = ScalarBuilder::new(&mut s.body);
                let change = c.scale_value(&v, half);
                Ok(c.subtract_values(&own, &change))
            },
        )
    }
}

/// A whole matrix in which one triangle counts. The diagonal is real.
pub(super) fn complete_hermitian(
    t: &mut StablehloTranslator<'_>,
    a: &TypedTensor,
    shape: &MatrixBatch,
    is_lower: bool,
) -> TranslateResult<TypedTensor> {
    let element: TensorElement = a.element;
    t.map_points(&shape.full_shape(), |t, s, point| {
        let (outer, row, column) = split_matrix_position(point);
        let own = t.read_element(s, a, point);
        let other = t.read_element(s, a, &matrix_position(outer, column, row));
        let mut c = ScalarBuilder::new(&mut s.body);
        let is_other = if is_lower {
            c.lt(row, column)
        } else {
            c.lt(column, row)
        };
        let other = c.conjugate_value(&other);
        let value = c.select_value(is_other, &other, &own);
        let real = c.of_real(element, value.node());
        let is_diagonal = c.eq(row, column);
        Ok(c.select_value(is_diagonal, &real, &value))
    })
}

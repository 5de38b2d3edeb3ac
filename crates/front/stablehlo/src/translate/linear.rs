//! `cholesky` and `triangular_solve`: loops over the columns or rows of matrices.

use super::dims::{merge_dims, merged_shapes};
use super::element::{TensorElement, to_native_type};
use super::error::TranslateResult;
use super::scalar::{ElementValue, ScalarBuilder};
use super::translator::{StablehloTranslator, TypedTensor};
use crate::dialect::TransposeKind;
use crate::dialect::records::{CholeskyAttributes, TriangularSolveAttributes};
use crate::mlir::{MlirFloat, MlirOp};
use spirula_program::ScalarOp as Scalar;
use spirula_tensor::ir::{AxisKind, DimExtent, ScalarNode, StructuredOp, TensorShape, TensorValue};

/// The type that a factorisation is computed in.
fn choose_computation_type(
    t: &StablehloTranslator<'_>,
    op: MlirOp,
    element: TensorElement,
) -> TranslateResult<TensorElement> {
    match element {
        TensorElement::Complex(_) => Ok(element),
        TensorElement::Float(float) if float.width() >= 32 && to_native_type(float).is_some() => {
            Ok(element)
        }
        TensorElement::Float(_) => Ok(TensorElement::Float(MlirFloat::F32)),
        _ => Err(t.unsupported_error(op, format!("factorisation of {element}"))),
    }
}

impl StablehloTranslator<'_> {
    /// A tensor with each element converted to another type.
    pub fn convert_tensor(
        &mut self,
        op: MlirOp,
        tensor: &TypedTensor,
        to: TensorElement,
    ) -> TranslateResult<TypedTensor> {
        if tensor.element == to {
            return Ok(tensor.clone());
        }
        let shape = self.tensor_shape(tensor);
        self.map_points(&shape, |t, s, point| {
            let value = t.read_element(s, tensor, point);
            let converted = ScalarBuilder::new(&mut s.body).convert_value(&value, to);
            converted.ok_or_else(|| {
                let what = format!("conversion of {} to {to}", tensor.element);
                t.unsupported_error(op, what)
            })
        })
    }
}

/// Batch dimensions and the sizes of the matrices.
pub(super) fn split_matrix_shape(
    t: &StablehloTranslator<'_>,
    op: MlirOp,
    tensor: &TypedTensor,
) -> TranslateResult<(TensorShape, DimExtent, DimExtent)> {
    let sizes = t.tensor_shape(tensor);
    let rank = sizes.len();
    t.ensure_holds(op, rank >= 2, "has no matrices")?;
    let batch = sizes[..rank - 2].iter().copied().collect();
    Ok((batch, sizes[rank - 2], sizes[rank - 1]))
}

/// A position in a batch of matrices.
pub(super) fn matrix_position(
    batch: &[ScalarNode],
    row: ScalarNode,
    column: ScalarNode,
) -> Vec<ScalarNode> {
    let mut position = batch.to_vec();
    position.extend([row, column]);
    position
}

/// `cholesky`: an upper factor is the conjugate transpose of the lower one.
pub(super) fn translate_cholesky(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let operand = t.tensor_operand(op, 0)?;
    let CholeskyAttributes { lower } = t.read_attributes(op)?;
    let lower = lower.unwrap_or(false);
    let element = choose_computation_type(t, op, operand.element)?;
    let a = t.convert_tensor(op, &operand, element)?;
    let factor = t.factor_cholesky(op, &a, lower)?;
    let result = t.convert_tensor(op, &factor, operand.element)?;
    t.bind_result(op, result)
}

impl StablehloTranslator<'_> {
    /// The lower or upper factor of positive definite matrices, of which the same triangle is read;
    /// NaN where there is none. Each iteration computes a column of the lower factor.
    pub fn factor_cholesky(
        &mut self,
        op: MlirOp,
        a: &TypedTensor,
        lower: bool,
    ) -> TranslateResult<TypedTensor> {
        let element = a.element;
        let (batch, n, columns) = split_matrix_shape(self, op, a)?;
        let n = merge_dims(n, columns);
        let n =
            n.ok_or_else(|| self.invalid_error(op, "cholesky has matrices that are not square"))?;
        let shape = self.tensor_shape(a);
        let zeros = self.emit_zeros(element, &shape);
        let factor = self.iterate_tensor(zeros, n, |t, l, column| {
            let sums = column_sums(t, op, a, l, &batch, n, lower, column)?;
            t.map_points(&shape, |t, s, point| {
                let (outer, row, at_column) = split_matrix_position(point);
                let j = s
                    .body
                    .intern_element(column, spirula_program::ScalarType::I64, &[]);
                let mut diagonal = outer.to_vec();
                diagonal.push(j);
                let pivot = t.read_element(s, &sums, &diagonal);
                let mut own = outer.to_vec();
                own.push(row);
                let sum = t.read_element(s, &sums, &own);
                let old = t.read_element(s, l, point);
                let mut c = ScalarBuilder::new(&mut s.body);
                let root = c.apply_unary(Scalar::Sqrt, pivot.node());
                let nodes = sum.nodes.iter().map(|node| c.div(*node, root)).collect();
                let below = ElementValue { element, nodes };
                let nothing = c.make_constant_value(element, 0.0);
                let corner = c.of_real(element, root);
                let (is_above, is_corner) = (c.lt(row, j), c.eq(row, j));
                let new = c.select_value(is_corner, &corner, &below);
                let new = c.select_value(is_above, &nothing, &new);
                let is_column = c.eq(at_column, j);
                Ok(c.select_value(is_column, &new, &old))
            })
        })?;
        if lower {
            Ok(factor)
        } else {
            self.map_points(&shape, |t, s, point| {
                let (outer, row, column) = split_matrix_position(point);
                let val = t.read_element(s, &factor, &matrix_position(outer, column, row));
                Ok(ScalarBuilder::new(&mut s.body).conjugate_value(&val))
            })
        }
    }
}

/// The batch, row and column of a position.
pub(super) fn split_matrix_position(
    point: &[ScalarNode],
) -> (&[ScalarNode], ScalarNode, ScalarNode) {
    let rank = point.len();
    (&point[..rank - 2], point[rank - 2], point[rank - 1])
}

/// A column of the matrix minus the contribution of the factor's columns so far.
fn column_sums(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    a: &TypedTensor,
    l: &TypedTensor,
    batch: &TensorShape,
    n: DimExtent,
    lower: bool,
    column: TensorValue,
) -> TranslateResult<TypedTensor> {
    let mut s = StructuredOp::with_parallel_axes(batch);
    let outer = s.axis_indices();
    let row = s.add_axis(n, AxisKind::Parallel);
    let k = s.add_axis(n, AxisKind::Reduction);
    let j = s
        .body
        .intern_element(column, spirula_program::ScalarType::I64, &[]);
    let left = t.read_element(&mut s, l, &matrix_position(&outer, row, k));
    let right = t.read_element(&mut s, l, &matrix_position(&outer, j, k));
    let right = ScalarBuilder::new(&mut s.body).conjugate_value(&right);
    let sum = t.sum_of_products(op, &mut s, &left, &right, None, a.element)?;
    let position = if lower {
        matrix_position(&outer, row, j)
    } else {
        matrix_position(&outer, j, row)
    };
    let mut own = t.read_element(&mut s, a, &position);
    let mut c = ScalarBuilder::new(&mut s.body);
    if !lower {
        own = c.conjugate_value(&own);
    }
    let value = c.subtract_values(&own, &sum);
    Ok(t.finish_structured(s, &value))
}

/// A triangular system in normal form: the matrix is on the left and lower triangular.
struct TriangularSystem {
    batch: TensorShape,
    n: DimExtent,
    /// Whether its rows are columns of the operand.
    flipped: bool,
    conjugated: bool,
    /// Whether the last row is solved first.
    backwards: bool,
    left: bool,
    unit: bool,
}

/// `triangular_solve`
pub(super) fn triangular_solve(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let (a, b) = (t.tensor_operand(op, 0)?, t.tensor_operand(op, 1)?);
    let triangular: TriangularSolveAttributes = t.read_attributes(op)?;
    let result = t.solve_triangular(op, &a, &b, &triangular)?;
    t.bind_result(op, result)
}

impl StablehloTranslator<'_> {
    /// Solves triangular systems, one row in each iteration.
    pub fn solve_triangular(
        &mut self,
        op: MlirOp,
        a: &TypedTensor,
        b: &TypedTensor,
        triangular: &TriangularSolveAttributes,
    ) -> TranslateResult<TypedTensor> {
        let (batch, n, columns) = split_matrix_shape(self, op, a)?;
        let (other_batch, rows, others) = split_matrix_shape(self, op, b)?;
        let left = triangular.left_side;
        let n =
            merge_dims(n, columns).and_then(|n| merge_dims(n, if left { rows } else { others }));
        let fits = n.is_some();
        let n = n.unwrap_or(columns);
        let same = merged_shapes(&batch, &other_batch).is_some() && a.element == b.element;
        self.ensure_holds(op, fits && same, "has matrices that do not fit")?;
        let is_transposed = matches!(
            triangular.transpose_a,
            TransposeKind::Transpose | TransposeKind::Adjoint
        );
        // x A = b is Aᵀ xᵀ = bᵀ.
        let flipped = is_transposed == left;
        let system = TriangularSystem {
            batch,
            n,
            flipped,
            conjugated: triangular.transpose_a == TransposeKind::Adjoint,
            backwards: triangular.lower == flipped,
            left,
            unit: triangular.unit_diagonal,
        };
        let element = choose_computation_type(self, op, a.element)?;
        let wide = [a, b].map(|tensor| self.convert_tensor(op, tensor, element));
        let [wide_a, wide_b] = wide;
        let (wide_a, wide_b) = (wide_a?, wide_b?);
        let shape = self.tensor_shape(b);
        let zeros = self.emit_zeros(element, &shape);
        let solved = self.iterate_tensor(zeros, n, |t, x, round| {
            let row = solve_row(t, op, &system, [&wide_a, &wide_b, x], round)?;
            t.map_points(&shape, |t, s, point| {
                let (outer, first, second) = split_matrix_position(point);
                let (own, other) = if left {
                    (first, second)
                } else {
                    (second, first)
                };
                let i = find_solved_row(s, &system, round);
                let mut position = outer.to_vec();
                position.push(other);
                let (new, old) = (
                    t.read_element(s, &row, &position),
                    t.read_element(s, x, point),
                );
                let mut c = ScalarBuilder::new(&mut s.body);
                let is_row = c.eq(own, i);
                Ok(c.select_value(is_row, &new, &old))
            })
        })?;
        self.convert_tensor(op, &solved, b.element)
    }
}

/// The row that an iteration solves.
fn find_solved_row(
    s: &mut StructuredOp,
    system: &TriangularSystem,
    round: TensorValue,
) -> ScalarNode {
    let round = s
        .body
        .intern_element(round, spirula_program::ScalarType::I64, &[]);
    let mut c = ScalarBuilder::new(&mut s.body);
    if system.backwards {
        let size = c.body.intern_size(system.n);
        let last = c.add_constant(size, -1.0);
        c.sub(last, round)
    } else {
        round
    }
}

/// The unknowns of a row, from those that are already solved.
fn solve_row(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    system: &TriangularSystem,
    [a, b, x]: [&TypedTensor; 3],
    round: TensorValue,
) -> TranslateResult<TypedTensor> {
    let others = t.tensor_shape(b)[system.batch.len() + usize::from(system.left)];
    let mut s = StructuredOp::with_parallel_axes(&system.batch);
    let outer = s.axis_indices();
    let other = s.add_axis(others, AxisKind::Parallel);
    let k = s.add_axis(system.n, AxisKind::Reduction);
    let i = find_solved_row(&mut s, system, round);
    let matrix = |t: &StablehloTranslator<'_>, s: &mut StructuredOp, row, column| {
        let position = if system.flipped {
            matrix_position(&outer, column, row)
        } else {
            matrix_position(&outer, row, column)
        };
        let val = t.read_element(s, a, &position);
        if system.conjugated {
            ScalarBuilder::new(&mut s.body).conjugate_value(&val)
        } else {
            val
        }
    };
    let unknown = |t: &StablehloTranslator<'_>, s: &mut StructuredOp, of: &TypedTensor, row| {
        let position = if system.left {
            matrix_position(&outer, row, other)
        } else {
            matrix_position(&outer, other, row)
        };
        t.read_element(s, of, &position)
    };
    let factor = matrix(t, &mut s, i, k);
    let known = unknown(t, &mut s, x, k);
    // The other triangle may hold anything.
    let mut c = ScalarBuilder::new(&mut s.body);
    let is_solved = if system.backwards {
        c.lt(i, k)
    } else {
        c.lt(k, i)
    };
    let sum = t.sum_of_products(op, &mut s, &factor, &known, Some(is_solved), a.element)?;
    let own = unknown(t, &mut s, b, i);
    let pivot = matrix(t, &mut s, i, i);
    let mut c = ScalarBuilder::new(&mut s.body);
    let rest = c.subtract_values(&own, &sum);
    let value = if system.unit {
        rest
    } else {
        c.divide_values(&rest, &pivot)
    };
    Ok(t.finish_structured(s, &value))
}

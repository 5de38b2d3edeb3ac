//! Routines of LAPACK that JAX calls on processors: `custom_call @lapack_…_ffi`.
//!
//! A name consists of a letter for the type of the elements and a routine, one row each. Batch
//! dimensions come first. Factorisations are loops, each iteration of which works on all matrices
//! of the batch. Results have LAPACK's meaning: vectors of eigenvalues and singular values may have
//! other signs (or phases), which decompositions leave open.
//!
//! Operands, results and attributes are those of the handlers in jaxlib (`jaxlib/cpu/lapack.h`).

mod balance;
mod block_reflections;
mod bulge;
mod deflation;
mod divide_conquer;
mod eigen;
mod eigenvectors;
mod general;
mod general_eigen;
mod hermitian_reduction;
mod hessenberg;
mod jacobi;
mod lu;
mod matrix_product;
mod narrow_reflection;
mod pivoted_qr;
mod qr;
mod reflections;
mod scalar_step;
mod schur;
mod secular;
mod shift;
mod similarity;
mod svd;
mod symmetric_jacobi;
mod tridiagonal;
mod tridiagonal_solve;

use super::element::TensorElement;
use super::error::TranslateResult;
use super::linear::{matrix_position, split_matrix_position, split_matrix_shape};
use super::scalar::{ElementValue, ScalarBuilder};
use super::translator::{StablehloTranslator, TypedTensor};
use crate::dialect::TransposeKind;
use crate::dialect::records::{TargetParameters, TriangularSolveAttributes};
use crate::mlir::{MlirFloat, MlirOp};
use spirula_program::{ScalarLiteral, ScalarOp as Scalar, ScalarType as Ty};
use spirula_tensor::ir::{
    AxisKind, DimExtent, ScalarCombiner, ScalarNode, StructuredOp, TensorReduction, TensorShape,
    TensorValue,
};

type LapackRoutine =
    fn(&mut StablehloTranslator<'_>, &LapackCall<'_>) -> TranslateResult<Vec<TypedTensor>>;

/// Routines by their names without the letter of the type, with the number of operands.
const ROUTINES: &[(&str, usize, LapackRoutine)] = &[
    ("potrf", 1, translate_potrf),
    ("trsm", 2, translate_trsm),
    ("getrf", 1, lu::translate_getrf),
    ("geqrf", 1, qr::translate_geqrf),
    ("orgqr", 2, qr::translate_orgqr),
    ("ungqr", 2, qr::translate_orgqr),
    ("geqp3", 2, pivoted_qr::translate_geqp3),
    ("ormqr", 3, reflections::translate_ormqr),
    ("unmqr", 3, reflections::translate_ormqr),
    ("gtsv", 4, tridiagonal_solve::translate_gtsv),
    ("syevd", 1, eigen::translate_syevd),
    ("heevd", 1, eigen::translate_syevd),
    ("syevj", 1, eigen::translate_syevj),
    ("heevj", 1, eigen::translate_syevj),
    ("gehrd", 1, hessenberg::translate_gehrd),
    ("geev", 1, general_eigen::translate_geev),
    ("gees", 1, general::translate_gees),
    ("sytrd", 1, tridiagonal::translate_sytrd),
    ("hetrd", 1, tridiagonal::translate_sytrd),
    ("gesdd", 1, svd::translate_gesdd),
    ("gesvd", 1, svd::translate_gesdd),
];

/// Letters and the types that they mean.
const LETTERS: &[(char, TensorElement)] = &[
    ('s', TensorElement::Float(MlirFloat::F32)),
    ('d', TensorElement::Float(MlirFloat::F64)),
    ('c', TensorElement::Complex(MlirFloat::F32)),
    ('z', TensorElement::Complex(MlirFloat::F64)),
];

/// A call of a routine.
struct LapackCall<'a> {
    op: MlirOp,
    operands: &'a [TypedTensor],
}

impl LapackCall<'_> {
    /// A parameter that is a number, such as `low`.
    fn read_number(&self, t: &StablehloTranslator<'_>, name: &str) -> TranslateResult<i64> {
        let parameters: TargetParameters = t.read_attributes(self.op)?;
        let dictionaries = [parameters.typed, parameters.backend_config];
        let mut fields = dictionaries
            .into_iter()
            .flatten()
            .filter_map(|attr| t.module.as_integer(t.module.find_field(attr, name)?));
        let missing = || t.invalid_error(self.op, format!("a call of LAPACK has no {name}"));
        fields.next().ok_or_else(missing)
    }

    /// The letter of a parameter, such as `uplo`.
    fn read_letter(&self, t: &StablehloTranslator<'_>, name: &str) -> TranslateResult<char> {
        let code = u8::try_from(self.read_number(t, name)?).ok();
        let wrong = || t.invalid_error(self.op, format!("a call of LAPACK has a wrong {name}"));
        code.map(char::from).ok_or_else(wrong)
    }

    /// A parameter that is a truth value.
    fn read_truth(&self, t: &StablehloTranslator<'_>, name: &str) -> TranslateResult<bool> {
        Ok(self.read_number(t, name)? != 0)
    }

    /// The matrices of an operand.
    fn read_matrices(
        &self,
        t: &StablehloTranslator<'_>,
        at: usize,
    ) -> TranslateResult<(TypedTensor, MatrixBatch)> {
        let operand = &self.operands[at];
        let (batch, rows, columns) = split_matrix_shape(t, self.op, operand)?;
        let known = rows.as_static().zip(columns.as_static());
        let (rows, columns) = known.ok_or_else(|| t.dynamic_dimension_error(self.op))?;
        let shape = MatrixBatch {
            batch,
            rows,
            columns,
        };
        Ok((operand.clone(), shape))
    }

    /// The same for one that has to be square.
    fn read_square_matrices(
        &self,
        t: &StablehloTranslator<'_>,
    ) -> TranslateResult<(TypedTensor, MatrixBatch)> {
        let (operand, shape) = self.read_matrices(t, 0)?;
        let is_square = shape.rows == shape.columns;
        t.ensure_holds(self.op, is_square, "has matrices that are not square")?;
        Ok((operand, shape))
    }
}

/// The shape of a batch of matrices.
#[derive(Clone)]
struct MatrixBatch {
    batch: TensorShape,
    rows: u64,
    columns: u64,
}

impl MatrixBatch {
    /// The batch with further dimensions.
    fn batch_shape_with(&self, sizes: &[u64]) -> TensorShape {
        let mut shape = self.batch.clone();
        shape.extend(sizes.iter().map(|size| DimExtent::Static(*size)));
        shape
    }

    /// The whole shape.
    fn full_shape(&self) -> TensorShape {
        self.batch_shape_with(&[self.rows, self.columns])
    }

    fn smaller_size(&self) -> u64 {
        self.rows.min(self.columns)
    }
}

/// Columns from which on the matrices of a loop are left to a library. A call ends the kernel that the loop would run in.
const LEAST_IN_LOOP: u64 = 32;

/// Whether a function of the host does the work of a routine.
pub(super) fn is_left_to_library(
    t: &StablehloTranslator<'_>,
    op: MlirOp,
    target: &str,
) -> TranslateResult<bool> {
    if !target.starts_with("lapack_") || !t.foreign.replaces_routine(target) {
        return Ok(false);
    }
    let operands = t.tensor_operands(op)?;
    let is_static = |dim: &DimExtent| dim.as_static().is_some();
    let mut shapes = operands.iter().map(|operand| t.tensor_shape(operand));
    let columns = shapes
        .clone()
        .next()
        .and_then(|sizes| sizes.last()?.as_static());
    let is_large = columns.is_some_and(|columns| columns >= LEAST_IN_LOOP);
    let are_static = shapes.all(|sizes| sizes.iter().all(is_static));
    Ok(are_static && (is_large || !t.is_nested()))
}

/// Translates a call by the name of its target; `None` if the routine is not known.
pub(super) fn translate_lapack_call(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    target: &str,
) -> Option<TranslateResult<()>> {
    let name = target.strip_prefix("lapack_")?.strip_suffix("_ffi")?;
    let (letter, routine) = name.split_at_checked(1)?;
    let (_, element) = LETTERS.iter().find(|(of, _)| letter.starts_with(*of))?;
    let (_, count, routine) = ROUTINES.iter().find(|(of, ..)| *of == routine)?;
    let translate = |t: &mut StablehloTranslator<'_>| {
        let operands = t.tensor_operands(op)?;
        // Numbers of columns are integers.
        let is_right = |o: &TypedTensor| [*element, TensorElement::I32].contains(&o.element);
        let is_first = operands.first().is_some_and(|o| o.element == *element);
        let fits = operands.len() == *count && is_first && operands.iter().all(is_right);
        t.ensure_holds(op, fits, "has wrong operands for a routine of LAPACK")?;
        let call = LapackCall {
            op,
            operands: &operands,
        };
        let results = routine(t, &call)?;
        t.bind_results(op, results)
    };
    Some(translate(t))
}

/// `tridiagonal_solve_perturbed`, which is no routine of LAPACK: solutions of tridiagonal systems that may be singular.
pub(super) fn translate_perturbed_solve(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let operands = t.tensor_operands(op)?;
    let fits = operands.len() == 4
        && operands.iter().all(|o| o.element == operands[0].element)
        && LETTERS
            .iter()
            .any(|(_, element)| *element == operands[0].element);
    t.ensure_holds(op, fits, "has wrong operands for a tridiagonal system")?;
    let solution = tridiagonal_solve::solve_perturbed(t, op, &operands)?;
    t.bind_result(op, solution)
}

/// A shape of known sizes.
fn list_extents(sizes: &[u64]) -> TensorShape {
    sizes.iter().map(|size| DimExtent::Static(*size)).collect()
}

/// A position with another index appended.
fn append_index(outer: &[ScalarNode], index: ScalarNode) -> Vec<ScalarNode> {
    let mut position = outer.to_vec();
    position.push(index);
    position
}

/// The number of the iteration.
fn read_iteration_number(s: &mut StructuredOp, round: TensorValue) -> ScalarNode {
    s.body.intern_element(round, Ty::I64, &[])
}

/// Ones on the diagonal, zeros elsewhere.
fn build_identity(
    t: &mut StablehloTranslator<'_>,
    element: TensorElement,
    shape: &MatrixBatch,
) -> TranslateResult<TypedTensor> {
    t.map_points(&shape.full_shape(), |_, s, point| {
        let (_, row, column) = split_matrix_position(point);
        let mut c = ScalarBuilder::new(&mut s.body);
        let (one, zero) = (
            c.make_constant_value(element, 1.0),
            c.make_constant_value(element, 0.0),
        );
        let is_diagonal = c.eq(row, column);
        Ok(c.select_value(is_diagonal, &one, &zero))
    })
}

/// Several results of one structured operation.
fn finish_all(
    t: &mut StablehloTranslator<'_>,
    mut s: StructuredOp,
    values: &[ElementValue],
) -> Vec<TypedTensor> {
    for node in values.iter().flat_map(|val| &val.nodes) {
        s.add_yield(*node);
    }
    let mut parts = t.builder.add_structured(s).into_iter();
    let tensors = values.iter().map(|val| {
        let own: Vec<TensorValue> = parts.by_ref().take(val.nodes.len()).collect();
        TypedTensor::from_components(val.element, &own)
    });
    tensors.collect()
}

/// The sum of a real value over the reduced axes.
fn reduce_real_sum(s: &mut StructuredOp, value: ScalarNode) -> ScalarNode {
    let ty = s.body.ty(value);
    let zero = s.body.intern_literal(ScalarLiteral::new(ty, 0));
    let sums = s.add_reduction(TensorReduction {
        initial: vec![zero],
        values: vec![value],
        combiner: ScalarCombiner::from_op(Scalar::FAdd, ty),
    });
    sums[0]
}

/// The largest of values that are not negative over the reduced axes.
fn reduce_real_largest(s: &mut StructuredOp, value: ScalarNode) -> ScalarNode {
    let ty = s.body.ty(value);
    let zero = s.body.intern_literal(ScalarLiteral::new(ty, 0));
    let largest = s.add_reduction(TensorReduction {
        initial: vec![zero],
        values: vec![value],
        combiner: ScalarCombiner::from_op(Scalar::FMax, ty),
    });
    largest[0]
}

/// `info` for each matrix: the number, from 1, of the first element of the diagonal that a test
/// considers a failure; 0 if there is none.
fn find_failure(
    t: &mut StablehloTranslator<'_>,
    factor: &TypedTensor,
    shape: &MatrixBatch,
    is_failure: impl FnOnce(&mut ScalarBuilder<'_>, &ElementValue) -> ScalarNode,
) -> TranslateResult<TypedTensor> {
    let diagonal = shape.batch_shape_with(&[shape.smaller_size()]);
    let diagonal = t.gather_elements(factor, &diagonal, |_, point| {
        let (outer, i) = (&point[..point.len() - 1], point[point.len() - 1]);
        matrix_position(outer, i, i)
    })?;
    Ok(find_first_failure(t, &diagonal, is_failure))
}

/// The same for the elements of diagonals.
fn find_first_failure(
    t: &mut StablehloTranslator<'_>,
    diagonal: &TypedTensor,
    is_failure: impl FnOnce(&mut ScalarBuilder<'_>, &ElementValue) -> ScalarNode,
) -> TypedTensor {
    let mut batch = t.tensor_shape(diagonal);
    let size = batch.pop().unwrap_or(DimExtent::Static(0));
    let mut s = StructuredOp::with_parallel_axes(&batch);
    let outer = s.axis_indices();
    let i = s.add_axis(size, AxisKind::Reduction);
    let pivot = t.read_element(&mut s, diagonal, &append_index(&outer, i));
    let mut c = ScalarBuilder::new(&mut s.body);
    let failed = is_failure(&mut c, &pivot);
    let none = c.integer_constant(Ty::I64, i64::MAX as u64);
    let number = c.add_constant(i, 1.0);
    let number = c.select(failed, number, none);
    let found = s.add_reduction(TensorReduction {
        initial: vec![none],
        values: vec![number],
        combiner: ScalarCombiner::from_op(Scalar::SMin, Ty::I64),
    })[0];
    let mut c = ScalarBuilder::new(&mut s.body);
    let is_none = c.eq(found, none);
    let zero = c.integer_constant(Ty::I64, 0);
    let info = c.select(is_none, zero, found);
    let info = c.resize_integer(Ty::I32, true, info);
    t.finish_structured(s, &ElementValue::new(TensorElement::I32, info))
}

/// `info` of a routine that does not fail.
fn make_success_info(t: &mut StablehloTranslator<'_>, shape: &MatrixBatch) -> TypedTensor {
    t.emit_zeros(TensorElement::I32, &shape.batch)
}

/// `potrf`: Cholesky factorisation; the other triangle is unchanged.
fn translate_potrf(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
) -> TranslateResult<Vec<TypedTensor>> {
    let (a, shape) = call.read_square_matrices(t)?;
    let lower = call.read_letter(t, "uplo")? == 'L';
    let factor = t.factor_cholesky(call.op, &a, lower)?;
    let info = find_failure(t, &factor, &shape, |c, pivot| {
        let zero = c.constant_like(pivot.node(), 0.0);
        let is_right = c.lt(zero, pivot.node());
        c.not(is_right)
    })?;
    let result = t.map_points(&shape.full_shape(), |t, s, point| {
        let (_, row, column) = split_matrix_position(point);
        let (new, old) = (
            t.read_element(s, &factor, point),
            t.read_element(s, &a, point),
        );
        let mut c = ScalarBuilder::new(&mut s.body);
        let is_old = if lower {
            c.lt(row, column)
        } else {
            c.lt(column, row)
        };
        Ok(c.select_value(is_old, &old, &new))
    })?;
    Ok(vec![result, info])
}

/// `trsm`: a triangular system.
fn translate_trsm(
    t: &mut StablehloTranslator<'_>,
    call: &LapackCall<'_>,
) -> TranslateResult<Vec<TypedTensor>> {
    let triangular = TriangularSolveAttributes {
        left_side: call.read_letter(t, "side")? == 'L',
        lower: call.read_letter(t, "uplo")? == 'L',
        unit_diagonal: call.read_letter(t, "diag")? == 'U',
        transpose_a: match call.read_letter(t, "trans_x")? {
            'T' => TransposeKind::Transpose,
            'C' => TransposeKind::Adjoint,
            _ => TransposeKind::None,
        },
    };
    let (a, b) = (&call.operands[0], &call.operands[1]);
    Ok(vec![t.solve_triangular(call.op, a, b, &triangular)?])
}

//! Matrix instructions: products and transposes. The scalars of a matrix are ordered column by column.

use super::lowering::ClifLowering;
use super::{ClifResult, ClifScalars};
use crate::module::types::{LoweredTypeKind, ScalarRepr};
use cranelift_codegen::ir::{InstBuilder, Value};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

/// A matrix with widened scalars; a vector is a matrix of one column.
struct MatrixValue {
    rows: usize,
    columns: usize,
    scalars: ClifScalars,
}

impl MatrixValue {
    fn column(&self, n: usize) -> &[Value] {
        &self.scalars[n * self.rows..(n + 1) * self.rows]
    }

    fn row(&self, n: usize) -> ClifScalars {
        (0..self.columns)
            .map(|c| self.scalars[c * self.rows + n])
            .collect()
    }
}

/// The products of matrices and vectors, and `OpOuterProduct`.
pub(crate) fn lower_matrix_product(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let ty = lower.result_type(inst)?;
    let scalar = lower.component_scalar(ty)?;
    let mut a = lower.read_matrix(inst.id_operand(0))?;
    let mut b = lower.read_matrix(inst.id_operand(1))?;
    match inst.op() {
        // A row vector from the left, and from the right for the outer product.
        Op::VectorTimesMatrix => a = transpose_vector(a),
        Op::OuterProduct => b = transpose_vector(b),
        _ => {}
    }
    if a.columns != b.rows {
        return Err(lower.instruction_fault("the sizes of its operands do not fit"));
    }
    let out = multiply_matrices(lower, scalar, &a, &b);
    lower.set_result(inst.result(), &out)
}

/// `OpTranspose`.
pub(crate) fn lower_transpose(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let (rows, columns) = lower.matrix_shape(inst.id_operand(0))?;
    let values = lower.read_values(inst.id_operand(0))?;
    let mut out = ClifScalars::new();
    for row in 0..rows {
        out.extend((0..columns).map(|column| values[column * rows + row]));
    }
    lower.set_result(inst.result(), &out)
}

/// A vector as one row.
fn transpose_vector(vector: MatrixValue) -> MatrixValue {
    MatrixValue {
        rows: vector.columns,
        columns: vector.rows,
        scalars: vector.scalars,
    }
}

fn multiply_matrices(
    lower: &mut ClifLowering,
    scalar: ScalarRepr,
    a: &MatrixValue,
    b: &MatrixValue,
) -> ClifScalars {
    let mut out = ClifScalars::new();
    for column in 0..b.columns {
        for row in 0..a.rows {
            let line = a.row(row);
            let sum = if let ([x], [y]) = (&line[..], b.column(column)) {
                lower.builder.ins().fmul(*x, *y)
            } else {
                lower.sum_of_products(scalar, &line, b.column(column))
            };
            out.push(lower.narrow_to_half(scalar, sum));
        }
    }
    out
}

impl ClifLowering<'_, '_, '_> {
    fn read_matrix(&mut self, id: Id) -> Result<MatrixValue, SourceDiagnostic> {
        let (rows, columns) = self.matrix_shape(id)?;
        Ok(MatrixValue {
            rows,
            columns,
            scalars: self.read_widened_floats(id)?,
        })
    }

    fn matrix_shape(&self, id: Id) -> Result<(usize, usize), SourceDiagnostic> {
        let ty = self.type_of(id)?;
        match self.program.types.kind(ty) {
            LoweredTypeKind::Matrix { column, count } => {
                Ok((self.program.types.scalar_count(column), count as usize))
            }
            LoweredTypeKind::Vector { count, .. } => Ok((count as usize, 1)),
            _ => Err(self.instruction_fault(format!("{id} is no matrix"))),
        }
    }
}

//! Determinant and inverse of square matrices of up to four columns, by cofactors.

use crate::codegen::lowering::ClifLowering;
use crate::codegen::{ClifResult, ClifScalars};
use cranelift_codegen::ir::{InstBuilder, Value};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::ir::InstRef;

/// A square matrix, column by column.
struct SquareMatrix {
    size: usize,
    scalars: ClifScalars,
}

impl SquareMatrix {
    fn from_operand(
        lower: &mut ClifLowering,
        inst: InstRef,
    ) -> Result<SquareMatrix, SourceDiagnostic> {
        let scalars = lower.read_widened_floats(inst.id_operand(2))?;
        let size = (1..=4).find(|n| n * n == scalars.len());
        match size {
            Some(size) => Ok(SquareMatrix { size, scalars }),
            None => lower.fail_unsupported("a matrix of this size"),
        }
    }

    /// The matrix without a column and a row.
    fn minor_without(&self, column: usize, row: usize) -> SquareMatrix {
        let mut scalars = ClifScalars::new();
        for c in (0..self.size).filter(|c| *c != column) {
            let rows = (0..self.size).filter(|r| *r != row);
            scalars.extend(rows.map(|r| self.scalars[c * self.size + r]));
        }
        SquareMatrix {
            size: self.size - 1,
            scalars,
        }
    }

    fn emit_determinant(&self, lower: &mut ClifLowering) -> Value {
        if self.size == 1 {
            return self.scalars[0];
        }
        let mut sum = None;
        for column in 0..self.size {
            let minor = self.minor_without(column, 0).emit_determinant(lower);
            let entry = self.scalars[column * self.size];
            let product = lower.builder.ins().fmul(entry, minor);
            sum = Some(match sum {
                None => product,
                Some(sum) if column % 2 == 0 => lower.builder.ins().fadd(sum, product),
                Some(sum) => lower.builder.ins().fsub(sum, product),
            });
        }
        sum.unwrap_or(self.scalars[0])
    }
}

pub(super) fn lower_determinant(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let square = SquareMatrix::from_operand(lower, inst)?;
    let ty = lower.result_type(inst)?;
    let scalar = lower.component_scalar(ty)?;
    let determinant = square.emit_determinant(lower);
    let determinant = lower.narrow_to_half(scalar, determinant);
    lower.set_result(inst.result(), &[determinant])
}

pub(super) fn lower_inverse(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let square = SquareMatrix::from_operand(lower, inst)?;
    let ty = lower.result_type(inst)?;
    let scalar = lower.component_scalar(ty)?;
    let determinant = square.emit_determinant(lower);
    let one = lower.make_float_constant(determinant, 1.0);
    let factor = lower.builder.ins().fdiv(one, determinant);
    let mut out = ClifScalars::new();
    for column in 0..square.size {
        for row in 0..square.size {
            let minor = match square.size {
                1 => one,
                // The transpose of the cofactors.
                _ => square.minor_without(row, column).emit_determinant(lower),
            };
            let minor = if (column + row) % 2 == 0 {
                minor
            } else {
                lower.builder.ins().fneg(minor)
            };
            let entry = lower.builder.ins().fmul(minor, factor);
            out.push(lower.narrow_to_half(scalar, entry));
        }
    }
    lower.set_result(inst.result(), &out)
}

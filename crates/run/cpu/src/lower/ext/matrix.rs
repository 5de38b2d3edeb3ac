//! Determinant and inverse of square matrices of up to four columns, by cofactors.

use crate::lower::scope::ClifLowering;
use crate::lower::{ClifResult, ClifScalars};
use cranelift_codegen::ir::{InstBuilder, Value};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::ir::InstRef;

/// A square matrix, column by column.
struct SquareMatrix {
    size: usize,
    scalars: ClifScalars,
}

impl SquareMatrix {
    fn of(lower: &mut ClifLowering, inst: InstRef) -> Result<SquareMatrix, SourceDiagnostic> {
        let scalars = lower.reals(inst.id(2))?;
        let size = (1..=4).find(|n| n * n == scalars.len());
        match size {
            Some(size) => Ok(SquareMatrix { size, scalars }),
            None => lower.unsupported("a matrix of this size"),
        }
    }

    /// What is left without a column and a row.
    fn without(&self, column: usize, row: usize) -> SquareMatrix {
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

    fn determinant(&self, lower: &mut ClifLowering) -> Value {
        if self.size == 1 {
            return self.scalars[0];
        }
        let mut sum = None;
        for column in 0..self.size {
            let minor = self.without(column, 0).determinant(lower);
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

pub(super) fn determinant(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let square = SquareMatrix::of(lower, inst)?;
    let ty = lower.result_type(inst)?;
    let scalar = lower.component(ty)?;
    let determinant = square.determinant(lower);
    let determinant = lower.narrow(scalar, determinant);
    lower.set_result(inst.result(), &[determinant])
}

pub(super) fn inverse(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let square = SquareMatrix::of(lower, inst)?;
    let ty = lower.result_type(inst)?;
    let scalar = lower.component(ty)?;
    let determinant = square.determinant(lower);
    let one = lower.real_like(determinant, 1.0);
    let factor = lower.builder.ins().fdiv(one, determinant);
    let mut out = ClifScalars::new();
    for column in 0..square.size {
        for row in 0..square.size {
            let minor = match square.size {
                1 => one,
                // The transpose of the cofactors.
                _ => square.without(row, column).determinant(lower),
            };
            let minor = if (column + row) % 2 == 0 {
                minor
            } else {
                lower.builder.ins().fneg(minor)
            };
            let entry = lower.builder.ins().fmul(minor, factor);
            out.push(lower.narrow(scalar, entry));
        }
    }
    lower.set_result(inst.result(), &out)
}

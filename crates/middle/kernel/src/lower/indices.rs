//! Index arithmetic: 64 bits wide as in the program, or 32 bits where that suffices.

use super::context::KernelLowering;
use crate::ir::{ExprData, ExprId, MemoryElement, MemorySpace, VariableType};
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::{ScalarOp, ScalarType};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

impl KernelLowering<'_> {
    /// An index or a size in 32 bits. It is computed in the width of the program and truncated: drivers fold 64-bit
    /// sums into addresses. They must not fold sums that wrap at 32 bits (on NVIDIA's devices these are twice as
    /// slow).
    pub(super) fn lower_index(&mut self, expr: ExprId) -> Result<Id, SourceDiagnostic> {
        if let ExprData::Literal(literal) = self.p.expr(expr) {
            return Ok(self.const_u32(literal.bits as u32));
        }
        let value = self.lower_expr(expr)?;
        Ok(self.truncate_to_u32(value))
    }

    /// The index of an element. For shared memory it is computed in 32 bits, as its addresses are. The exception is
    /// shared memory whose elements are assembled from smaller ones. Such modules are for devices without explicit
    /// layouts, such as lavapipe, whose compiler unrolls loops over narrow indices and then needs minutes.
    pub(super) fn element_index(
        &mut self,
        element: &MemoryElement,
    ) -> Result<Id, SourceDiagnostic> {
        let is_shared = self.p.var(element.memory).ty == VariableType::Memory(MemorySpace::Shared);
        let splits = self.layout.is_none() && self.memory_use.has_mixed_shared_sizes();
        if is_shared && !splits {
            self.narrow_index(element.index)
        } else {
            self.lower_index(element.index)
        }
    }

    /// An index computed in 32 bits: the lower bits of sums and products depend on lower bits alone. Indices that
    /// are held by variables are left to the optimiser (`narrow-indices`).
    fn narrow_index(&mut self, expr: ExprId) -> Result<Id, SourceDiagnostic> {
        let program = self.p;
        let ExprData::Apply(operator, start) = program.expr(expr) else {
            return self.lower_index(expr);
        };
        if operator.to != ScalarType::I64 {
            return self.lower_index(expr);
        }
        let operands = program.operands(operator, start);
        let op = match operator.op {
            ScalarOp::Add => Op::IAdd,
            ScalarOp::Sub => Op::ISub,
            ScalarOp::Mul => Op::IMul,
            ScalarOp::SExt | ScalarOp::ZExt if operator.from == ScalarType::I32 => {
                return self.lower_expr(operands[0]);
            }
            _ => return self.lower_index(expr),
        };
        let ty = self.uint_type(32);
        let (a, b) = (operands[0], operands[1]);
        let operands = [self.narrow_index(a)?, self.narrow_index(b)?];
        Ok(self.emit_value(op, ty, &operands))
    }

    /// The lower 32 bits of an `i64`.
    pub(super) fn truncate_to_u32(&mut self, value: Id) -> Id {
        let ty = self.uint_type(32);
        self.emit_value(Op::UConvert, ty, &[value])
    }
}

//! Subgroup operations.

use super::context::KernelLowering;
use super::unsupported::unsupported_diagnostic;
use crate::ir::{ExprId, VarId};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::grammar::Op;

/// The scope of a subgroup.
pub(super) const SUBGROUP: u32 = 3;

impl KernelLowering<'_> {
    /// Lowers a shuffle: the value of the invocation whose index in the subgroup differs by a mask.
    pub(super) fn lower_shuffle(
        &mut self,
        to: VarId,
        value: ExprId,
        mask: u32,
    ) -> Result<(), SourceDiagnostic> {
        let ty = self.p.type_of(value);
        let ty = ty.ok_or_else(|| unsupported_diagnostic(self.place, "memory as a value"))?;
        let ty = self.scalar_type(ty);
        let value = self.lower_expr(value)?;
        let operands = [self.const_u32(SUBGROUP), value, self.const_u32(mask)];
        let taken = self.emit_value(Op::GroupNonUniformShuffleXor, ty, &operands);
        self.assign_var(to, taken);
        Ok(())
    }
}

//! What the invocations of a subgroup do together.

use super::{KernelLowering, refusal};
use crate::ir::{ExprId, VarId};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Capability;

/// The scope of a subgroup.
pub(super) const SUBGROUP: u32 = 3;

impl KernelLowering<'_> {
    /// Takes the value of the invocation whose number in the subgroup differs by a mask.
    pub(super) fn shuffle(
        &mut self,
        to: VarId,
        value: ExprId,
        mask: u32,
    ) -> Result<(), SourceDiagnostic> {
        self.b.capability(Capability::GroupNonUniformShuffle);
        let ty = self.p.type_of(value);
        let ty = ty.ok_or_else(|| refusal(self.place, "memory as a value"))?;
        let ty = self.ty(ty);
        let value = self.expr(value)?;
        let operands = [self.u32(SUBGROUP), value, self.u32(mask)];
        let taken = self.value(Op::GroupNonUniformShuffleXor, ty, &operands);
        self.assign(to, taken);
        Ok(())
    }
}

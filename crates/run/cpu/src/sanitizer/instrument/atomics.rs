//! Checks of atomic accesses.

use super::{ClifLowering, SanitizerHooks};
use crate::codegen::access_hooks::MemoryAccessKind;
use crate::codegen::values::PointerOperand;
use crate::module::types::{ScalarLeaf, ScalarRepr};
use cranelift_codegen::ir::InstBuilder;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

impl SanitizerHooks {
    /// Checks the atomic access that is being lowered. Returns the pointer to use.
    pub(super) fn guard_atomic(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        id: Id,
        pointer: PointerOperand,
    ) -> Result<PointerOperand, SourceDiagnostic> {
        let Some(inst) = lower.current else {
            return Ok(pointer);
        };
        let flag = matches!(inst.op(), Op::AtomicFlagTestAndSet | Op::AtomicFlagClear);
        let value = match inst.op() {
            Op::AtomicStore => Some(lower.scalar_of(inst.id_operand(3))?),
            _ => inst
                .result_type()
                .and_then(|ty| lower.program.types.component_scalar(ty)),
        };
        let leaf = ScalarLeaf {
            scalar: value.filter(|_| !flag).unwrap_or(ScalarRepr::Int(32)),
            offset: 0,
        };
        let kind = MemoryAccessKind::Atomic {
            reads: !matches!(inst.op(), Op::AtomicStore | Op::AtomicFlagClear)
                && !self.is_bit_clear(lower, inst),
            writes: inst.op() != Op::AtomicLoad,
            semantics: lower.program.constants.get_u64(inst.id_operand(2)),
        };
        if let Some(byte) = lower.program.byte_in_word(id) {
            return self.guard_byte(lower, byte, kind);
        }
        self.guard_pointer(lower, id, pointer, leaf, kind)
    }

    /// Checks an atomic access to a word that is made for one of its bytes. The other bytes keep their values.
    fn guard_byte(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        byte: Id,
        kind: MemoryAccessKind,
    ) -> Result<PointerOperand, SourceDiagnostic> {
        let leaf = ScalarLeaf {
            scalar: ScalarRepr::Int(8),
            offset: 0,
        };
        let pointer = lower.read_pointer(byte)?;
        let pointer = self.guard_pointer(lower, byte, pointer, leaf, kind)?;
        let address = lower.address_of(pointer)?;
        let word = lower.builder.ins().band_imm_s(address, !3);
        Ok(PointerOperand::Address(word, None))
    }

    /// Whether an atomic instruction only clears bits and nothing uses the others. Values that are narrower than the
    /// memory's elements are stored so.
    fn is_bit_clear(&self, lower: &ClifLowering<'_, '_, '_>, inst: InstRef) -> bool {
        inst.op() == Op::AtomicAnd && self.used_components(lower) == 0
    }
}

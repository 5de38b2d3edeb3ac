//! `printf` of OpenCL.std and of NonSemantic.DebugPrintf.

use crate::codegen::lowering::{ClifLowering, plain_flags};
use crate::codegen::{ClifResult, ClifScalars};
use crate::host::printf::{self, PrintedKind, PrintfArgument};
use crate::module::types::ScalarRepr;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

/// `printf`. The result is 0.
pub(super) fn lower_printf(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let format = lower.read_value(inst.id_operand(2))?;
    lower.emit_printf(inst, format)?;
    let ty = lower.result_type(inst)?;
    let zeros = lower.emit_zeros(ty);
    lower.set_result(inst.result(), &zeros)
}

/// `DebugPrintf`, whose format is an `OpString`.
pub(super) fn lower_debug_printf(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let program = lower.program;
    let format = program.definitions.get(program.module, inst.id_operand(2));
    let Some(format) = format.filter(|f| f.op() == Op::String) else {
        return Err(lower.instruction_fault("its format is no string"));
    };
    let mut bytes = format.string_operand(0).into_bytes();
    bytes.push(0);
    let address = lower.shared.code.memory.keep_bytes(&bytes) as u64;
    lower.shared.strings.push((address, bytes.len() as u64));
    let format = lower.emit_iconst(types::I64, address as i64);
    lower.emit_printf(inst, format)
}

impl ClifLowering<'_, '_, '_> {
    fn emit_printf(&mut self, inst: InstRef, format: Value) -> ClifResult {
        let mut arguments = Vec::new();
        let mut words = ClifScalars::new();
        for id in inst.id_operands(3) {
            let scalar = self.scalar_of(id)?;
            let values = self.read_values(id)?;
            let kind = match scalar {
                ScalarRepr::Pointer => PrintedKind::Pointer,
                _ if scalar.is_float() => PrintedKind::Float,
                other => PrintedKind::Int(other.bits()),
            };
            let count = values.len() as u32;
            arguments.push(PrintfArgument { kind, count });
            for value in values {
                words.push(self.encode_print_word(scalar, value)?);
            }
        }
        let slot = self.stack_slot(8 * words.len().max(1) as u64)?;
        let address = self.builder.ins().stack_addr(types::I64, slot, 0);
        for (n, word) in words.iter().enumerate() {
            let offset = 8 * n as i32;
            self.builder
                .ins()
                .store(plain_flags(), *word, address, offset);
        }
        // Text comes in the order of invocations.
        self.shared.in_order = true;
        let site = self.shared.prints.len() as i64;
        self.shared.prints.push(arguments);
        let site = self.emit_iconst(types::I64, site);
        let args = [self.item.context, site, format, address];
        let callee = printf::print_formatted as *const () as usize;
        self.call_host(callee, &[types::I64; 4], &[], &args);
        Ok(())
    }

    /// A component as a word: floats as `f64`.
    fn encode_print_word(
        &mut self,
        scalar: ScalarRepr,
        value: Value,
    ) -> Result<Value, SourceDiagnostic> {
        if !scalar.is_float() {
            return Ok(self.extend_to(value, types::I64, false));
        }
        let value = self.widen_half(scalar, value);
        let value = match scalar {
            ScalarRepr::F64 => value,
            _ => self.builder.ins().fpromote(types::F64, value),
        };
        Ok(self.bits_of(value))
    }
}

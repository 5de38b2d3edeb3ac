//! Call records: `call`, `invoke` and `callbr`.

use super::function::BitcodeBodyReader;
use super::operation_codes::fast_math_flags;
use super::record_operands::RecordOperands;
use crate::LlvmResult;
use crate::ir::{
    CallInfo, CallingConvention, InstructionExtra, LlvmInstFlags, LlvmOpcode, LlvmPoolRange,
    LlvmType, LlvmTypeKind,
};
use smallvec::SmallVec;

impl BitcodeBodyReader<'_> {
    /// Reads a record of `call` (34), `invoke` (13) or `callbr` (57).
    pub(super) fn read_call(&mut self, code: u64, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let attributes = self.reader.attributes.read_list_number(&mut ops)?;
        let bits = ops.next()?;
        let opcode = match code {
            34 => LlvmOpcode::Call,
            57 => LlvmOpcode::CallBr,
            _ => LlvmOpcode::Invoke,
        };
        let mut targets = SmallVec::new();
        match opcode {
            LlvmOpcode::Invoke => targets = self.find_blocks(ops.take(2)?, &ops)?,
            LlvmOpcode::CallBr => {
                targets.push(self.find_block(ops.next()?, &ops)?);
                let count = ops.next_index()?;
                targets.extend(self.find_blocks(ops.take(count)?, &ops)?);
            }
            _ => {}
        }
        // The position of the calling convention, and whether the record states the function type.
        let (explicit, convention, mut flags) = match opcode {
            LlvmOpcode::Call => (bits >> 15 & 1, bits >> 1 & 0x3ff, tail_flags(bits)),
            LlvmOpcode::CallBr => (bits >> 15 & 1, bits >> 1 & 0x3ff, LlvmInstFlags::NONE),
            _ => (bits >> 13 & 1, bits & 0x3ff, LlvmInstFlags::NONE),
        };
        if opcode == LlvmOpcode::Call && bits >> 17 & 1 != 0 {
            flags |= fast_math_flags(ops.next()?);
        }
        let stated = if explicit != 0 {
            Some(self.reader.types.read_type(&mut ops)?)
        } else {
            None
        };
        let (callee, callee_type) = self.read_value(&mut ops)?;
        let function_type = match (stated, self.reader.module.types.kind(callee_type)) {
            (Some(stated), _) => stated,
            (
                None,
                &LlvmTypeKind::Pointer {
                    pointee: Some(pointee),
                    ..
                },
            ) => pointee,
            _ => return ops.fail_with("a call without a function type"),
        };
        let start = self.func.value_pool.len();
        self.func.value_pool.push(callee);
        let (result, arguments) = self.read_arguments(function_type, &mut ops)?;
        let bundles = self.take_bundles();
        let operands = LlvmPoolRange::from_start(start, &self.func.value_pool);
        let target_start = self.func.block_pool.len();
        self.func.block_pool.extend_from_slice(&targets);
        let targets = LlvmPoolRange::from_start(target_start, &self.func.block_pool);
        self.func.calls.push(CallInfo {
            function_type,
            convention: CallingConvention(convention as u32),
            attributes,
            arguments,
            bundles,
            targets,
        });
        let extra = InstructionExtra::Call(self.func.calls.len() as u32 - 1);
        self.push_pooled(opcode, flags, result, operands, extra, &ops)
    }

    /// Adds the arguments of a call to the pool. Returns the type of its result and their number.
    fn read_arguments(
        &mut self,
        function: LlvmType,
        ops: &mut RecordOperands<'_>,
    ) -> LlvmResult<(LlvmType, u32)> {
        let Some((result, params, variadic)) =
            self.reader.module.types.function_signature(function)
        else {
            return ops.fail_with("a call of a value that is not a function");
        };
        let mut count = params.len() as u32;
        for index in 0..params.len() {
            let ty = self
                .reader
                .module
                .types
                .function_signature(function)
                .map_or(result, |it| it.1[index]);
            if ty == LlvmType::LABEL {
                return ops.fail_with("a call with a label as an argument");
            }
            let value = self.value_of(ty, ops)?;
            self.func.value_pool.push(value);
        }
        while variadic && !ops.is_empty() {
            let (value, _) = self.read_value(ops)?;
            self.func.value_pool.push(value);
            count += 1;
        }
        Ok((result, count))
    }
}

fn tail_flags(bits: u64) -> LlvmInstFlags {
    let table = [
        (0, LlvmInstFlags::TAIL),
        (14, LlvmInstFlags::MUSTTAIL),
        (16, LlvmInstFlags::NOTAIL),
    ];
    table
        .iter()
        .filter(|row| bits >> row.0 & 1 != 0)
        .fold(LlvmInstFlags::NONE, |flags, row| flags | row.1)
}

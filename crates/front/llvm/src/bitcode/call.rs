//! Records of calls.

use super::codes::fast_math_flags;
use super::function::Body;
use super::ops::Ops;
use crate::Error;
use crate::ir::{CallInfo, CallingConvention, Extra, Flags, LlvmType, Opcode, Span, TypeKind};
use smallvec::SmallVec;

impl Body<'_> {
    /// `call` (34), `invoke` (13) and `callbr` (57).
    pub(super) fn call(&mut self, code: u64, mut ops: Ops<'_>) -> Result<(), Error> {
        let attributes = self.reader.attributes.get(&mut ops)?;
        let bits = ops.next()?;
        let opcode = match code {
            34 => Opcode::Call,
            57 => Opcode::CallBr,
            _ => Opcode::Invoke,
        };
        let mut targets = SmallVec::new();
        match opcode {
            Opcode::Invoke => targets = self.targets(ops.take(2)?, &ops)?,
            Opcode::CallBr => {
                targets.push(self.target(ops.next()?, &ops)?);
                let count = ops.index()?;
                targets.extend(self.targets(ops.take(count)?, &ops)?);
            }
            _ => {}
        }
        // Where the record says that it states the function type, and the calling convention.
        let (explicit, convention, mut flags) = match opcode {
            Opcode::Call => (bits >> 15 & 1, bits >> 1 & 0x3ff, tail_flags(bits)),
            Opcode::CallBr => (bits >> 15 & 1, bits >> 1 & 0x3ff, Flags::NONE),
            _ => (bits >> 13 & 1, bits & 0x3ff, Flags::NONE),
        };
        if opcode == Opcode::Call && bits >> 17 & 1 != 0 {
            flags |= fast_math_flags(ops.next()?);
        }
        let stated = if explicit != 0 {
            Some(self.reader.types.take(&mut ops)?)
        } else {
            None
        };
        let (callee, callee_type) = self.value(&mut ops)?;
        let function_type = match (stated, self.reader.module.types.kind(callee_type)) {
            (Some(stated), _) => stated,
            (
                None,
                &TypeKind::Pointer {
                    pointee: Some(pointee),
                    ..
                },
            ) => pointee,
            _ => return ops.error("a call without a function type"),
        };
        let start = self.func.value_pool.len();
        self.func.value_pool.push(callee);
        let (result, arguments) = self.arguments(function_type, &mut ops)?;
        let bundles = self.take_bundles();
        let operands = Span::since(start, &self.func.value_pool);
        let target_start = self.func.block_pool.len();
        self.func.block_pool.extend_from_slice(&targets);
        let targets = Span::since(target_start, &self.func.block_pool);
        self.func.calls.push(CallInfo {
            function_type,
            convention: CallingConvention(convention as u32),
            attributes,
            arguments,
            bundles,
            targets,
        });
        let extra = Extra::Call(self.func.calls.len() as u32 - 1);
        self.gathered(opcode, flags, result, operands, extra, &ops)
    }

    /// Puts the arguments of a call into the pool; gives the type of its result and their number.
    fn arguments(
        &mut self,
        function: LlvmType,
        ops: &mut Ops<'_>,
    ) -> Result<(LlvmType, u32), Error> {
        let Some((result, params, variadic)) = self.reader.module.types.signature(function) else {
            return ops.error("a call of what is no function");
        };
        let mut count = params.len() as u32;
        for index in 0..params.len() {
            let ty = self
                .reader
                .module
                .types
                .signature(function)
                .map_or(result, |it| it.1[index]);
            if ty == LlvmType::LABEL {
                return ops.error("a call with a label as an argument");
            }
            let value = self.value_of(ty, ops)?;
            self.func.value_pool.push(value);
        }
        while variadic && !ops.is_empty() {
            let (value, _) = self.value(ops)?;
            self.func.value_pool.push(value);
            count += 1;
        }
        Ok((result, count))
    }
}

fn tail_flags(bits: u64) -> Flags {
    let table = [(0, Flags::TAIL), (14, Flags::MUSTTAIL), (16, Flags::NOTAIL)];
    table
        .iter()
        .filter(|row| bits >> row.0 & 1 != 0)
        .fold(Flags::NONE, |flags, row| flags | row.1)
}

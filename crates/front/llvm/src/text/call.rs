//! Call parser: `call`, `invoke` and `callbr`.

use super::body_state::LlvmName;
use super::lexer::{LlvmToken, LlvmTokenKind};
use super::parser::LlvmParser;
use crate::ir::{
    AttrSet, CallInfo, CallingConvention, InstructionExtra, LlvmBlock, LlvmInstFlags,
    LlvmInstruction, LlvmOpcode, LlvmPoolRange, LlvmSymbol, LlvmType, LlvmTypeKind, LlvmValue,
    OperandBundle,
};
use crate::{LlvmResult, error_at};

impl LlvmParser<'_> {
    /// Parses `call`, `invoke` or `callbr` after its flags.
    pub(super) fn parse_call(
        &mut self,
        opcode: LlvmOpcode,
        flags: LlvmInstFlags,
        start: usize,
    ) -> LlvmResult<()> {
        let convention = self.parse_convention()?.unwrap_or(CallingConvention::C);
        let result_attributes = self.value_attributes()?;
        self.parse_address_space()?;
        let stated = self.parse_type()?;
        let callee_token = self.token;
        let undeclared = self.parse_undeclared_intrinsic()?;
        let callee = match undeclared {
            Some(_) => LlvmValue::from_local(0),
            None => self.parse_callee(stated)?,
        };
        let mut operands = vec![callee];
        let (types, param_attributes) = self.parse_arguments(&mut operands)?;
        let function_type = self.find_called_type(stated, &types, callee_token)?;
        if let Some(asm) = self.asm_callee.take() {
            self.module.inline_asm[asm as usize].function_type = function_type;
        }
        if let Some(name) = undeclared {
            operands[0] = self.declare_function(name, function_type, callee_token)?;
        }
        let arguments = types.len() as u32;
        let attributes = self.parse_function_attributes()?;
        let bundles = self.parse_bundles(&mut operands)?;
        let targets = self.parse_call_targets(opcode)?;
        let function_set = self.module.attributes.intern_set(attributes);
        let attributes =
            self.module
                .attributes
                .intern_list(function_set, result_attributes, param_attributes);
        let ty = self
            .module
            .types
            .function_signature(function_type)
            .map_or(LlvmType::VOID, |it| it.0);
        let operands = self.current_body()?.func.add_operands(&operands);
        let base = operands.start;
        let place_bundle = |(tag, from, len): (LlvmSymbol, u32, u32)| OperandBundle {
            tag,
            operands: LlvmPoolRange {
                start: base + from,
                len,
            },
        };
        let bundles = bundles.into_iter().map(place_bundle).collect();
        let InstructionExtra::Blocks(targets) = self.add_blocks(&targets)? else {
            return self.fail_expected("blocks");
        };
        let calls = &mut self.current_body()?.func.calls;
        calls.push(CallInfo {
            function_type,
            convention,
            attributes,
            arguments,
            bundles,
            targets,
        });
        let extra = InstructionExtra::Call(calls.len() as u32 - 1);
        self.push_instruction(
            LlvmInstruction {
                opcode,
                flags,
                ty,
                operands,
                extra,
            },
            start,
        )
    }

    /// The type of the called function: as stated, or derived from the stated result type and the
    /// arguments.
    fn find_called_type(
        &mut self,
        stated: LlvmType,
        args: &[LlvmType],
        callee: LlvmToken,
    ) -> LlvmResult<LlvmType> {
        let types = &mut self.module.types;
        let Some((_, params, variadic)) = types.function_signature(stated) else {
            return Ok(types.intern_type(LlvmTypeKind::Function {
                result: stated,
                params: args.into(),
                variadic: false,
            }));
        };
        let agree = |(&a, &b): (&LlvmType, &LlvmType)| types.is_compatible(a, b);
        let fits = args.len() >= params.len()
            && args.iter().zip(params).all(agree)
            && (variadic || args.len() == params.len());
        if !fits {
            let place = self.place_from(callee.start);
            return Err(error_at(
                place,
                "arguments of other types than the function has",
            ));
        }
        Ok(stated)
    }

    /// The name of an intrinsic that is called without a declaration, which LLVM 19 allows.
    fn parse_undeclared_intrinsic(&mut self) -> LlvmResult<Option<LlvmName>> {
        if self.token.kind != LlvmTokenKind::Global
            || !self.token_bytes(self.token).starts_with(b"@llvm.")
        {
            return Ok(None);
        }
        let name = self.name_of(self.token)?;
        if self.globals.contains_key(&name) {
            return Ok(None);
        }
        self.take_token();
        Ok(Some(name))
    }

    fn parse_callee(&mut self, stated: LlvmType) -> LlvmResult<LlvmValue> {
        match self.token.kind {
            LlvmTokenKind::Global => Ok(LlvmValue::from_constant(self.parse_global_reference()?)),
            LlvmTokenKind::Local => {
                let fallback = self.pointer_to(stated, self.module.layout.program_space());
                self.local_of_any_type(fallback)
            }
            _ if self.at_word("asm") => {
                let asm = self.inline_asm(stated)?;
                self.asm_callee = Some(self.module.inline_asm.len() as u32 - 1);
                Ok(LlvmValue::from_constant(asm))
            }
            _ => {
                let ty = self.pointer_to(stated, self.module.layout.program_space());
                Ok(LlvmValue::from_constant(self.parse_constant(ty)?))
            }
        }
    }

    fn parse_arguments(
        &mut self,
        operands: &mut Vec<LlvmValue>,
    ) -> LlvmResult<(Vec<LlvmType>, Vec<AttrSet>)> {
        self.expect_punct(b'(')?;
        let (mut types, mut attributes) = (Vec::new(), Vec::new());
        self.parse_list(b')', |parser| {
            if parser.parse_ellipsis()? {
                return Ok(());
            }
            let ty = parser.parse_type()?;
            types.push(ty);
            attributes.push(parser.value_attributes()?);
            operands.push(parser.parse_value(ty)?);
            Ok(())
        })?;
        Ok((types, attributes))
    }

    /// Parses operand bundles if they follow. Each has a tag, the index of its first operand in the
    /// call, and its number of operands.
    fn parse_bundles(
        &mut self,
        operands: &mut Vec<LlvmValue>,
    ) -> LlvmResult<Vec<(LlvmSymbol, u32, u32)>> {
        let mut bundles = Vec::new();
        if !self.eat_punct(b'[') {
            return Ok(bundles);
        }
        self.parse_list(b']', |parser| {
            let tag = parser.symbol_string()?;
            let from = operands.len();
            parser.expect_punct(b'(')?;
            parser.parse_list(b')', |parser| {
                operands.push(parser.typed_value()?.1);
                Ok(())
            })?;
            bundles.push((tag, from as u32, (operands.len() - from) as u32));
            Ok(())
        })?;
        Ok(bundles)
    }

    fn parse_call_targets(&mut self, opcode: LlvmOpcode) -> LlvmResult<Vec<LlvmBlock>> {
        let mut targets = Vec::new();
        if opcode == LlvmOpcode::Call {
            return Ok(targets);
        }
        self.expect_word("to")?;
        targets.push(self.parse_target()?);
        if opcode == LlvmOpcode::Invoke {
            self.expect_word("unwind")?;
            targets.push(self.parse_target()?);
        } else {
            targets.extend(self.parse_target_list()?);
        }
        Ok(targets)
    }
}

//! Inline assembly: the extension SPV_INTEL_inline_assembly.

use super::translated_entities::TranslatedInlineAsm;
use super::translator::LlvmTranslator;
use super::words::push_string;
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Decoration;
use spirula_spirv::ir::ModuleSection;

/// Length in bytes beyond which the instruction would be too long.
const MAX_TEXT: usize = 100_000;

impl LlvmTranslator<'_> {
    /// The assembly of this number in the module, declared at its first use.
    pub(super) fn declare_assembly(&mut self, number: u32) -> LlvmResult<TranslatedInlineAsm> {
        let module = self.module;
        if let Some(Some(made)) = self.assemblies.get(number as usize) {
            return Ok(made.clone());
        }
        let Some(asm) = module.inline_asm.get(number as usize) else {
            return Err(make_refusal("there is no such inline assembly"));
        };
        if asm.text.len() + asm.constraints.len() > MAX_TEXT {
            return Err(make_refusal("the inline assembly is too long"));
        }
        let Some((result, params, false)) = module.types.function_signature(asm.function_type)
        else {
            return Err(make_refusal("variadic inline assembly"));
        };
        let result = self.register_type(result)?;
        let mut types = Vec::with_capacity(params.len());
        for &param in params {
            types.push(self.register_type(param)?);
        }
        let ty = self.b.function_type(result, &types);
        let target = self.declare_assembly_target();
        let id = self.b.fresh_id();
        let mut words = [result, id, ty, target].map(Id::word).to_vec();
        push_string(&mut words, &asm.text);
        push_string(&mut words, &asm.constraints);
        self.b
            .push_inst(ModuleSection::Globals, Op::AsmINTEL, &words);
        self.b.set_type_of(id, result);
        if asm.side_effect {
            self.b.decorate_id(id, Decoration::SideEffectsINTEL, &[]);
        }
        let made = TranslatedInlineAsm {
            id,
            result,
            params: types,
        };
        self.assemblies[number as usize] = Some(made.clone());
        Ok(made)
    }

    /// The target of the assembly: the module's triple.
    fn declare_assembly_target(&mut self) -> Id {
        if let Some(id) = self.assembly_target {
            return id;
        }
        let triple = self.options.triple.as_deref();
        let id = self.b.fresh_id();
        let mut words = vec![id.word()];
        push_string(&mut words, triple.unwrap_or(&self.module.triple));
        self.b
            .push_inst(ModuleSection::Globals, Op::AsmTargetINTEL, &words);
        self.assembly_target = Some(id);
        id
    }
}

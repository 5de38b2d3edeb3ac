//! Instructions: dispatch by opcode; one file per class.

mod addresses;
mod aggregate;
mod arithmetic;
mod atomic;
mod call;
mod compare;
mod compare_exchange_loops;
mod conversions;
mod memory;
mod partword_atomics;
mod stack_variables;
mod terminators;
mod vector;

pub(super) use partword_atomics::{WORD, has_partword_atomics};

use super::function_body::FunctionTranslator;
use crate::ir::{LlvmInst, LlvmOpcode};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;

impl FunctionTranslator<'_, '_> {
    /// Translates an instruction other than a phi. Returns the id of its result.
    pub(super) fn lower_instruction(&mut self, inst: LlvmInst) -> LlvmResult<Option<Id>> {
        if let Some(made) = self
            .lower_scalarised(inst)
            .or_else(|| self.lower_wide(inst))
        {
            return made;
        }
        let opcode = self.function.inst(inst).opcode;
        match opcode {
            _ if opcode.is_binary() => self.lower_binary(inst).map(Some),
            LlvmOpcode::FNeg => self.lower_negate(inst).map(Some),
            _ if opcode.is_cast() => self.lower_convert(inst).map(Some),
            LlvmOpcode::ICmp | LlvmOpcode::FCmp => self.lower_compare(inst).map(Some),
            LlvmOpcode::Select => self.select_instruction(inst).map(Some),
            LlvmOpcode::Freeze => self.lower_freeze(inst).map(Some),
            LlvmOpcode::Alloca => self.lower_dynamic_allocation(inst).map(Some),
            LlvmOpcode::Load => self.lower_load(inst).map(Some),
            LlvmOpcode::Store => self.lower_store(inst).map(|()| None),
            LlvmOpcode::GetElementPtr => self.lower_address(inst).map(Some),
            LlvmOpcode::AtomicRmw => self.lower_atomic_update(inst).map(Some),
            LlvmOpcode::CmpXchg => self.compare_exchange(inst).map(Some),
            LlvmOpcode::Fence => self.lower_fence(inst).map(|()| None),
            LlvmOpcode::ExtractElement => self.extract_element(inst).map(Some),
            LlvmOpcode::InsertElement => self.insert_element(inst).map(Some),
            LlvmOpcode::ShuffleVector => self.lower_shuffle(inst).map(Some),
            LlvmOpcode::ExtractValue => self.extract_value(inst).map(Some),
            LlvmOpcode::InsertValue => self.insert_value(inst).map(Some),
            LlvmOpcode::Call => self.lower_call(inst),
            LlvmOpcode::Ret => self.lower_return(inst).map(|()| None),
            LlvmOpcode::Br => self.lower_branch(inst).map(|()| None),
            LlvmOpcode::Switch => self.lower_switch(inst).map(|()| None),
            LlvmOpcode::Unreachable => {
                self.emit_unreachable();
                Ok(None)
            }
            _ => Err(make_refusal(format!(
                "the instruction {} has no counterpart in SPIR-V",
                opcode.name()
            ))),
        }
    }
}

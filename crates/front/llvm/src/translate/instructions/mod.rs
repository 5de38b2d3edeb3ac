//! Instructions by class, one file each.

mod aggregate;
mod arithmetic;
mod atomic;
mod call;
mod compare;
mod control;
mod convert;
mod memory;
mod parts_of_words;
mod updates;
mod vector;

pub(super) use parts_of_words::{WORD, has_small_atomics};

use super::body::FunctionTranslator;
use super::refusal::{TranslationResult, refuse};
use crate::ir::{LlvmInst, LlvmOpcode};
use spirula_spirv::Id;

impl FunctionTranslator<'_, '_> {
    /// Translates an instruction other than a phi; gives what it results in.
    pub(super) fn lower(&mut self, inst: LlvmInst) -> TranslationResult<Option<Id>> {
        if let Some(made) = self.lower_parts(inst).or_else(|| self.lower_wide(inst)) {
            return made;
        }
        let opcode = self.function.inst(inst).opcode;
        match opcode {
            _ if opcode.is_binary() => self.binary(inst).map(Some),
            LlvmOpcode::FNeg => self.negate(inst).map(Some),
            _ if opcode.is_cast() => self.convert(inst).map(Some),
            LlvmOpcode::ICmp | LlvmOpcode::FCmp => self.compare(inst).map(Some),
            LlvmOpcode::Select => self.select_instruction(inst).map(Some),
            LlvmOpcode::Freeze => self.freeze(inst).map(Some),
            LlvmOpcode::Alloca => self.allocate(inst).map(Some),
            LlvmOpcode::Load => self.load(inst).map(Some),
            LlvmOpcode::Store => self.store(inst).map(|()| None),
            LlvmOpcode::GetElementPtr => self.address(inst).map(Some),
            LlvmOpcode::AtomicRmw => self.atomic_update(inst).map(Some),
            LlvmOpcode::CmpXchg => self.compare_exchange(inst).map(Some),
            LlvmOpcode::Fence => self.fence(inst).map(|()| None),
            LlvmOpcode::ExtractElement => self.extract_element(inst).map(Some),
            LlvmOpcode::InsertElement => self.insert_element(inst).map(Some),
            LlvmOpcode::ShuffleVector => self.shuffle(inst).map(Some),
            LlvmOpcode::ExtractValue => self.extract_value(inst).map(Some),
            LlvmOpcode::InsertValue => self.insert_value(inst).map(Some),
            LlvmOpcode::Call => self.call(inst),
            LlvmOpcode::Ret => self.return_(inst).map(|()| None),
            LlvmOpcode::Br => self.branch(inst).map(|()| None),
            LlvmOpcode::Switch => self.switch(inst).map(|()| None),
            LlvmOpcode::Unreachable => {
                self.unreachable();
                Ok(None)
            }
            _ => Err(refuse(format!(
                "the instruction {} has no counterpart in SPIR-V",
                opcode.name()
            ))),
        }
    }
}

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

use super::body::Body;
use super::refusal::{Lowered, refuse};
use crate::ir::{LlvmInst, Opcode};
use spirula_spirv::Id;

impl Body<'_, '_> {
    /// Translates an instruction other than a phi; gives what it results in.
    pub(super) fn lower(&mut self, inst: LlvmInst) -> Lowered<Option<Id>> {
        if let Some(made) = self.lower_parts(inst).or_else(|| self.lower_wide(inst)) {
            return made;
        }
        let opcode = self.function.inst(inst).opcode;
        match opcode {
            _ if opcode.is_binary() => self.binary(inst).map(Some),
            Opcode::FNeg => self.negate(inst).map(Some),
            _ if opcode.is_cast() => self.convert(inst).map(Some),
            Opcode::ICmp | Opcode::FCmp => self.compare(inst).map(Some),
            Opcode::Select => self.select_instruction(inst).map(Some),
            Opcode::Freeze => self.freeze(inst).map(Some),
            Opcode::Alloca => self.allocate(inst).map(Some),
            Opcode::Load => self.load(inst).map(Some),
            Opcode::Store => self.store(inst).map(|()| None),
            Opcode::GetElementPtr => self.address(inst).map(Some),
            Opcode::AtomicRmw => self.atomic_update(inst).map(Some),
            Opcode::CmpXchg => self.compare_exchange(inst).map(Some),
            Opcode::Fence => self.fence(inst).map(|()| None),
            Opcode::ExtractElement => self.extract_element(inst).map(Some),
            Opcode::InsertElement => self.insert_element(inst).map(Some),
            Opcode::ShuffleVector => self.shuffle(inst).map(Some),
            Opcode::ExtractValue => self.extract_value(inst).map(Some),
            Opcode::InsertValue => self.insert_value(inst).map(Some),
            Opcode::Call => self.call(inst),
            Opcode::Ret => self.return_(inst).map(|()| None),
            Opcode::Br => self.branch(inst).map(|()| None),
            Opcode::Switch => self.switch(inst).map(|()| None),
            Opcode::Unreachable => {
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

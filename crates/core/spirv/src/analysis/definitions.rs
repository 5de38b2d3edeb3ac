//! Definition table: the defining instruction of each id.

use crate::grammar::Op;
use crate::ir::{Inst, InstRef, SpirvModule};
use crate::{Id, IdNumbers};

/// An instruction for each id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InstOfId(IdNumbers);

impl InstOfId {
    pub fn new(module: &SpirvModule) -> Self {
        InstOfId(IdNumbers::new(module.bound(), module.inst_count()))
    }

    #[inline]
    pub fn get(&self, id: Id) -> Option<Inst> {
        let number = self.0.get(id.word()).checked_sub(1)?;
        Some(Inst::new(number as usize))
    }

    pub fn set(&mut self, id: Id, inst: Option<Inst>) {
        self.0.set(id, inst.map_or(0, |i| i.index() as u32 + 1));
    }

    /// Sets the instruction of an id that has none.
    #[inline]
    pub fn set_if_none(&mut self, id: Id, inst: Inst) {
        if self.0.get(id.word()) == 0 {
            self.set(id, Some(inst));
        }
    }

    /// Number of ids that have rows.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// The defining instruction of every id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdDefinitions {
    by_id: InstOfId,
}

impl IdDefinitions {
    /// One pass over the module. If a module defines an id twice, the first definition counts.
    pub fn from_module(module: &SpirvModule) -> Self {
        let mut by_id = InstOfId::new(module);
        for inst in module.all_insts() {
            if let Some(id) = inst.result() {
                by_id.set_if_none(id, inst.handle());
            }
        }
        IdDefinitions { by_id }
    }

    /// No definitions, with room for those of a module.
    pub(crate) fn without_insts(module: &SpirvModule) -> Self {
        let by_id = InstOfId::new(module);
        IdDefinitions { by_id }
    }

    /// Adds an instruction, unless its id is defined.
    #[inline]
    pub(crate) fn add_inst(&mut self, inst: InstRef<'_>) {
        if let Some(id) = inst.result() {
            self.by_id.set_if_none(id, inst.handle());
        }
    }

    /// Adds the instructions that were created after the first `count` ones. Entries of deleted instructions
    /// remain.
    pub fn add_new_insts(&mut self, module: &SpirvModule, count: usize) {
        for inst in module.insts_since(count) {
            let is_in = module.list_of(inst.handle()).is_some()
                || matches!(inst.op(), Op::Label | Op::Function);
            if let Some(id) = inst.result().filter(|_| is_in) {
                self.by_id.set(id, Some(inst.handle()));
            }
        }
    }

    /// The instruction that defines an id.
    #[inline]
    pub fn get<'a>(&self, module: &'a SpirvModule, id: Id) -> Option<InstRef<'a>> {
        self.by_id.get(id).map(|inst| module.inst(inst))
    }

    /// The handle of the instruction that defines an id.
    #[inline]
    pub fn defining_inst(&self, id: Id) -> Option<Inst> {
        self.by_id.get(id)
    }

    /// The opcode that defines an id.
    #[inline]
    pub fn defining_op(&self, module: &SpirvModule, id: Id) -> Option<Op> {
        self.get(module, id).map(InstRef::op)
    }

    /// The value of an integer constant of at most 64 bits that cannot be specialised, zero-extended from its
    /// words. `OpConstantNull` and Booleans count as integers.
    pub fn constant_value(&self, module: &SpirvModule, id: Id) -> Option<u64> {
        match self.defining_op(module, id)? {
            Op::Constant | Op::ConstantTrue | Op::ConstantFalse | Op::ConstantNull => {
                self.default_value(module, id)
            }
            _ => None,
        }
    }

    /// As [`IdDefinitions::constant_value`]. Specialisation constants other than operations have their default
    /// value.
    pub fn default_value(&self, module: &SpirvModule, id: Id) -> Option<u64> {
        let inst = self.get(module, id)?;
        match inst.op() {
            Op::Constant | Op::SpecConstant => {
                let high = inst.operands().get(1).copied().unwrap_or(0);
                Some(u64::from(inst.operand_word(0)) | u64::from(high) << 32)
            }
            Op::ConstantTrue | Op::SpecConstantTrue => Some(1),
            Op::ConstantFalse | Op::SpecConstantFalse | Op::ConstantNull => Some(0),
            _ => None,
        }
    }
}

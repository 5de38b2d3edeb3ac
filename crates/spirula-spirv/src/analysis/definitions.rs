//! Which instruction defines an id.

use crate::grammar::Op;
use crate::ir::{Inst, InstRef, Module};
use crate::{Id, IdMap};

/// The defining instruction of every id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definitions {
    by_id: IdMap<Option<Inst>>,
}

impl Definitions {
    /// One pass over the module. Where a module defines an id twice, the first counts.
    pub fn compute(module: &Module) -> Self {
        let mut by_id = IdMap::new(module.bound(), None);
        for inst in module.all_insts() {
            if let Some(id) = inst.result() {
                by_id.get_mut(id).get_or_insert(inst.handle());
            }
        }
        Definitions { by_id }
    }

    /// Takes note of the instructions that were made when there were `count` already. What was deleted
    /// since is still known of.
    pub fn learn(&mut self, module: &Module, count: usize) {
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
    pub fn get<'a>(&self, module: &'a Module, id: Id) -> Option<InstRef<'a>> {
        self.by_id[id].map(|inst| module.inst(inst))
    }

    /// The handle of the instruction that defines an id.
    #[inline]
    pub fn handle(&self, id: Id) -> Option<Inst> {
        self.by_id[id]
    }

    /// The opcode that defines an id.
    #[inline]
    pub fn op(&self, module: &Module, id: Id) -> Option<Op> {
        self.get(module, id).map(InstRef::op)
    }

    /// The value of an integer constant of at most 64 bits that is known before specialisation,
    /// zero-extended from its words. `OpConstantNull` and booleans count.
    pub fn constant(&self, module: &Module, id: Id) -> Option<u64> {
        match self.op(module, id)? {
            Op::Constant | Op::ConstantTrue | Op::ConstantFalse | Op::ConstantNull => {
                self.default_value(module, id)
            }
            _ => None,
        }
    }

    /// The same, and for specialisation constants that are no operations the value that they have
    /// when they are not specialised.
    pub fn default_value(&self, module: &Module, id: Id) -> Option<u64> {
        let inst = self.get(module, id)?;
        match inst.op() {
            Op::Constant | Op::SpecConstant => {
                let high = inst.operands().get(1).copied().unwrap_or(0);
                Some(u64::from(inst.word(0)) | u64::from(high) << 32)
            }
            Op::ConstantTrue | Op::SpecConstantTrue => Some(1),
            Op::ConstantFalse | Op::SpecConstantFalse | Op::ConstantNull => Some(0),
            _ => None,
        }
    }
}

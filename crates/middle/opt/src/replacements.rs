//! Replacement of values: values that stand for deleted ones, and blocks that are joined with them.

use spirula_spirv::ir::{ErasedIds, Func, IdWords, InstRef, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// The value that stands for each that was deleted.
#[derive(Debug)]
pub struct ValueReplacements {
    new: IdMap<Option<Id>>,
}

impl ValueReplacements {
    /// Nothing is replaced yet.
    pub fn new(module: &SpirvModule) -> Self {
        ValueReplacements {
            new: IdMap::new(module.bound(), None),
        }
    }

    /// Has a value stand for a deleted one.
    pub fn set_replacement(&mut self, old: Id, value: Id) {
        let value = self.resolve_replacement(value);
        if value != old {
            self.new.set(old, Some(value));
        }
    }

    /// What stands for an id: itself unless it was deleted.
    pub fn resolve_replacement(&self, mut id: Id) -> Id {
        while let Some(next) = self.new[id] {
            id = next;
        }
        id
    }

    /// Joins the blocks of a function that always follow each other; their number. What took from their phis
    /// has to be rewritten ([`ValueReplacements::rewrite_uses`]).
    pub fn join_blocks(
        &mut self,
        module: &mut SpirvModule,
        ids: &IdWords,
        func: Func,
        erased: &mut ErasedIds,
    ) -> usize {
        module.join_blocks(
            ids,
            func,
            |old, value| self.set_replacement(old, value),
            erased,
        )
    }

    /// Gives the instructions of a function what stands for what they use.
    pub fn rewrite_uses(&self, module: &mut SpirvModule, ids: &IdWords, func: Func) {
        for block in module.function(func).blocks.clone() {
            let mut next = module.body(block).next().map(InstRef::handle);
            while let Some(inst) = next {
                next = module.next(inst);
                ids.rewrite_uses(module, inst, |id| self.resolve_replacement(id));
            }
        }
    }
}

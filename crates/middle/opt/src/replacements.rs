//! Replacement of values: values that stand for deleted ones, and blocks that are joined with them.

use spirula_spirv::ir::{ErasedIds, Func, IdWords, InstRef, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// The replacement of each deleted value.
#[derive(Debug)]
pub struct ValueReplacements {
    new: IdMap<Option<Id>>,
}

impl ValueReplacements {
    /// No replacements.
    pub fn new(module: &SpirvModule) -> Self {
        ValueReplacements {
            new: IdMap::new(module.bound(), None),
        }
    }

    /// Records the replacement of a deleted value.
    pub fn set_replacement(&mut self, old: Id, value: Id) {
        let value = self.resolve_replacement(value);
        if value != old {
            self.new.set(old, Some(value));
        }
    }

    /// The replacement of an id; the id itself if it was not deleted.
    pub fn resolve_replacement(&self, mut id: Id) -> Id {
        while let Some(next) = self.new[id] {
            id = next;
        }
        id
    }

    /// Joins the blocks of a function that always follow each other, and returns their number. Uses of their
    /// phis must then be rewritten ([`ValueReplacements::rewrite_uses`]).
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

    /// Rewrites the operands of a function by the replacements.
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

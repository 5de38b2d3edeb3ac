//! Erasure of instructions together with their names and decorations.

use super::{Inst, InstRef, ModuleSection, SpirvModule};
use crate::grammar::{ExtInstSet, Op};
use crate::{Id, IdMap, IdSet};

/// Ids whose instructions were deleted, and whose names and decorations remain.
///
/// Names and decorations are found by a pass over all of them. Collecting the ids makes this one pass for any
/// number of deletions. Pass it to [`SpirvModule::sweep_annotations`] before the module is used.
#[derive(Debug, Default)]
#[must_use = "names and decorations of deleted ids make a module invalid; Module::sweep them"]
pub struct ErasedIds {
    ids: IdSet,
    any: bool,
}

impl ErasedIds {
    /// Nothing deleted yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records an id that has lost its definition.
    pub fn insert(&mut self, id: Id) {
        self.ids.insert(id);
        self.any = true;
    }

    /// Whether an id was deleted.
    pub fn contains(&self, id: Id) -> bool {
        self.ids.contains(id)
    }

    /// Whether nothing was deleted.
    pub fn is_empty(&self) -> bool {
        !self.any
    }
}

impl SpirvModule {
    /// Takes an instruction out of the module for good. Its result must not be used any more, but
    /// for names and decorations.
    pub fn erase_inst(&mut self, inst: Inst, erased: &mut ErasedIds) {
        if let Some(id) = self.inst(inst).result() {
            erased.insert(id);
        }
        self.remove_inst(inst);
    }

    /// Removes the names and decorations of deleted ids.
    pub fn sweep_annotations(&mut self, erased: &ErasedIds) {
        if erased.is_empty() {
            return;
        }
        let mut at = self
            .section_insts(ModuleSection::Names)
            .next()
            .map(InstRef::handle);
        while let Some(inst) = at {
            at = self.next(inst);
            let target = self.inst(inst).get_id(0);
            if target.is_some_and(|id| erased.contains(id)) {
                self.remove_inst(inst);
            }
        }
        let mut at = self
            .section_insts(ModuleSection::Annotations)
            .next()
            .map(InstRef::handle);
        while let Some(inst) = at {
            at = self.next(inst);
            self.sweep_decoration(inst, erased);
        }
    }

    fn sweep_decoration(&mut self, inst: Inst, erased: &ErasedIds) {
        let decoration = self.inst(inst);
        let dead = |word: &u32| Id::new(*word).is_some_and(|id| erased.contains(id));
        let step = match decoration.op() {
            Op::GroupDecorate => 1,
            Op::GroupMemberDecorate => 2,
            _ => {
                if decoration.operands().first().is_some_and(dead) {
                    self.remove_inst(inst);
                }
                return;
            }
        };
        let words = decoration.words();
        let Some((group, targets)) = words.split_first() else {
            return;
        };
        let kept = targets.chunks(step).filter(|t| !dead(&t[0])).flatten();
        let kept: Vec<u32> = std::iter::once(group).chain(kept).copied().collect();
        if dead(group) || kept.len() == 1 {
            self.remove_inst(inst);
        } else if kept.len() < words.len() {
            self.replace_words(inst, &kept);
        }
    }

    /// Takes functions with all their instructions out of the module.
    pub fn erase_functions(&mut self, dead: impl Fn(super::Func) -> bool, erased: &mut ErasedIds) {
        let order = std::mem::take(&mut self.order);
        let (removed, kept): (Vec<_>, Vec<_>) = order.into_iter().partition(|f| dead(*f));
        for func in removed {
            for inst in self.function_insts(func) {
                if let Some(id) = inst.result() {
                    erased.insert(id);
                }
            }
        }
        self.as_read = false;
        self.order = kept;
    }

    /// Renumbers ids densely, in the order of their definitions, and sets the bound. Returns the new id of each
    /// old one.
    pub fn compact_ids(&mut self) -> IdMap<Option<Id>> {
        let ids = super::IdWords::new(self);
        let mut new = IdMap::new(self.bound, None);
        let mut next = 1;
        let mut all: Vec<Inst> = Vec::with_capacity(self.inst_count());
        all.extend(self.all_insts().map(InstRef::handle));
        let number = |id: Id, new: &mut IdMap<Option<Id>>, next: &mut u32| {
            if new[id].is_none() {
                new.set(id, Id::new(*next));
                *next += 1;
            }
        };
        for inst in &all {
            if let Some(id) = self.inst(*inst).result() {
                number(id, &mut new, &mut next);
            }
        }
        for inst in all {
            // Undefined ids get a number, too.
            ids.rewrite_uses(self, inst, |id| {
                number(id, &mut new, &mut next);
                new[id].unwrap_or(id)
            });
            let result = self.inst(inst).result().and_then(|id| new[id]);
            if let Some(id) = result {
                let at = self.inst(inst).words().len() - self.inst(inst).operands().len() - 1;
                self.words_mut(inst)[at] = id.word();
            }
        }
        self.bound = next;
        new
    }

    /// Whether the tables know every instruction with its operands, and every set of extended instructions
    /// except non-semantic ones. Passes leave other modules unchanged, because their ids cannot be distinguished
    /// from their numbers.
    pub fn is_known(&self) -> bool {
        let mut imports = self.section_insts(ModuleSection::Imports);
        let means_nothing = |name: &str| name.starts_with("NonSemantic.");
        let is_known = |name: &str| means_nothing(name) || ExtInstSet::by_name(name).is_some();
        if !imports.all(|import| is_known(&import.string_operand(0))) {
            return false;
        }
        let ids = super::IdWords::new(self);
        self.all_insts().all(|i| ids.is_certain(i))
    }
}

//! Cloning of blocks and functions.

use super::module::{Block, Func, Inst, ModuleSection, SpirvModule};
use super::{EditError, IdWords, InstRef, List};
use crate::grammar::Op;
use crate::grammar::enumerants::Decoration;
use crate::{Id, IdMap};

/// The clones of ids.
#[derive(Clone, Debug)]
pub struct CloneMap {
    new: IdMap<Option<Id>>,
    /// Clones of blocks in the given order.
    pub blocks: Vec<Block>,
}

impl CloneMap {
    /// The clone of an id, where there is one.
    pub fn get(&self, id: Id) -> Option<Id> {
        self.new[id]
    }

    fn resolve_id(&self, id: Id) -> Id {
        self.new[id].unwrap_or(id)
    }
}

impl SpirvModule {
    /// Clones blocks of one function. The clones come after the last of the blocks. They branch among themselves
    /// as the blocks do, and to the same blocks outside of the set. Phis there get the values of a clone, or of
    /// its original, for it. Nothing leads to the clones yet: lead an edge there with
    /// [`SpirvModule::redirect_edge`] or [`SpirvModule::add_edge`], which complete their phis.
    ///
    /// Names and decorations are cloned as well, in one pass over those of the module. Remarks of unknown sets
    /// are not cloned ([`IdWords::is_unknown_remark`]). Callers must ensure that values of the set which are
    /// used outside of it have one definition at their uses.
    ///
    /// # Errors
    /// If control flow must be structured and a merge instruction in the set names a block outside, because a
    /// block merges one construct only. Also if a block belongs to another function than the first, or is an
    /// entry block with variables. Nothing is changed then.
    pub fn clone_blocks(&mut self, ids: &IdWords, blocks: &[Block]) -> Result<CloneMap, EditError> {
        let Some(func) = blocks.first().map(|b| self.block(*b).func) else {
            return Ok(self.fresh_clones(std::iter::empty()));
        };
        let mut inside = vec![false; self.block_count()];
        for block in blocks {
            inside[block.index()] = true;
        }
        self.check_clonable(func, blocks, &inside)?;
        let results: Vec<Id> = blocks
            .iter()
            .flat_map(|b| {
                let body = self.body(*b).filter(|i| !ids.is_unknown_remark(*i));
                std::iter::once(self.label(*b)).chain(body.filter_map(InstRef::result))
            })
            .collect();
        let mut clones = self.fresh_clones(results.iter().copied());
        for block in blocks {
            let label = clones.resolve_id(self.label(*block));
            let new = self.create_block(func, label);
            self.clone_insts(ids, *block, new, &clones);
            clones.blocks.push(new);
        }
        let order = &mut self.functions[func.index()].blocks;
        let last = order
            .iter()
            .rposition(|b| inside.get(b.index()) == Some(&true));
        order[last.map_or(0, |last| last + 1)..].rotate_right(clones.blocks.len());
        self.settle_phis(ids, func, blocks, &clones);
        self.clone_annotations(&results, &clones);
        Ok(clones)
    }

    fn check_clonable(
        &self,
        func: Func,
        blocks: &[Block],
        inside: &[bool],
    ) -> Result<(), EditError> {
        let labels = super::LabelPositions::from_function(self, func);
        for block in blocks {
            let label = self.label(*block);
            if self.block(*block).func != func {
                return Err(EditError::Entry(label));
            }
            let has_variables = self
                .body(*block)
                .any(|i| matches!(i.op(), Op::Variable | Op::UntypedVariableKHR));
            if has_variables {
                return Err(EditError::Entry(label));
            }
            let Some(merge) = self.merge_inst(*block).filter(|_| self.is_structured()) else {
                continue;
            };
            let count = if merge.op() == Op::LoopMerge { 2 } else { 1 };
            for named in merge.id_operands(0).take(count) {
                let at = labels.position(named);
                let named = at.map(|at| self.function(func).blocks[at as usize]);
                if !named.is_some_and(|b| inside[b.index()]) {
                    return Err(EditError::Unstructured(label));
                }
            }
        }
        Ok(())
    }

    /// Removes outside predecessors from the phis of clones, and adds clones to the phis outside.
    fn settle_phis(&mut self, ids: &IdWords, func: Func, blocks: &[Block], clones: &CloneMap) {
        let labels = super::LabelPositions::from_function(self, func);
        let mut own: Vec<Id> = clones.blocks.iter().map(|b| self.label(*b)).collect();
        own.sort_unstable();
        for block in &clones.blocks {
            let phis: Vec<Inst> = self.phis(*block).map(InstRef::handle).collect();
            for phi in phis {
                let (head, pairs) = self.inst(phi).words().split_at(2);
                let is_own =
                    |p: &&[u32]| Id::new(p[1]).is_some_and(|l| own.binary_search(&l).is_ok());
                let kept = pairs.chunks_exact(2).filter(is_own).flatten();
                let words: Vec<u32> = head.iter().chain(kept).copied().collect();
                self.replace_words(phi, &words);
            }
        }
        for (block, clone) in blocks.iter().zip(&clones.blocks) {
            let (old, new) = (self.label(*block), self.label(*clone));
            let mut targets: Vec<Id> = self
                .block_targets(ids, *clone)
                .iter()
                .map(|t| t.1)
                .collect();
            targets.sort_unstable();
            targets.dedup();
            for target in targets
                .into_iter()
                .filter(|t| own.binary_search(t).is_err())
            {
                let at = labels.position(target);
                let Some(at) = at.map(|at| self.function(func).blocks[at as usize]) else {
                    continue;
                };
                let phis: Vec<Inst> = self.phis(at).map(InstRef::handle).collect();
                for phi in phis {
                    if let Some(value) = self.phi_value(phi, old) {
                        self.set_phi_value(phi, new, clones.resolve_id(value));
                    }
                }
            }
        }
    }

    /// Clones a function with its parameters, blocks, names and decorations. Its linkage is not cloned, because
    /// a symbol has one definition. The clone comes after the other functions of its kind.
    pub fn clone_function(&mut self, ids: &IdWords, func: Func) -> (Func, CloneMap) {
        let known = self.function_insts(func);
        let known = known.filter(|i| !ids.is_unknown_remark(*i));
        let results: Vec<Id> = known.filter_map(InstRef::result).collect();
        let mut clones = self.fresh_clones(results.iter().copied());
        let from = self.function(func).clone();
        let def = self.clone_inst(ids, from.def, &clones);
        let new = self.create_function(def);
        if !self.is_empty(from.lead) {
            let to = self.function_lead(new);
            self.clone_list(ids, from.lead, to, &clones);
        }
        self.clone_list(ids, from.params, self.function(new).params, &clones);
        if !self.is_empty(from.tail) {
            let to = self.function_tail(new);
            self.clone_list(ids, from.tail, to, &clones);
        }
        for block in from.blocks {
            let label = clones.resolve_id(self.label(block));
            let clone = self.create_block(new, label);
            self.clone_insts(ids, block, clone, &clones);
            clones.blocks.push(clone);
        }
        self.clone_annotations(&results, &clones);
        self.place_declarations_first();
        (new, clones)
    }

    fn fresh_clones(&mut self, ids: impl Iterator<Item = Id>) -> CloneMap {
        let mut new = IdMap::new(0, None);
        for id in ids {
            new.set(id, Some(self.fresh_id()));
        }
        CloneMap {
            new,
            blocks: Vec::new(),
        }
    }

    /// Clones the instructions of a block except its label.
    fn clone_insts(&mut self, ids: &IdWords, from: Block, to: Block, clones: &CloneMap) {
        let lead = self.block(from).lead;
        if !self.is_empty(lead) {
            let to = self.block_lead(to);
            self.clone_list(ids, lead, to, clones);
        }
        self.clone_list(ids, self.block(from).body, self.block(to).body, clones);
    }

    fn clone_list(&mut self, ids: &IdWords, from: List, to: List, clones: &CloneMap) {
        let known = self.list_insts(from).filter(|i| !ids.is_unknown_remark(*i));
        let all: Vec<Inst> = known.map(InstRef::handle).collect();
        for inst in all {
            let clone = self.clone_inst(ids, inst, clones);
            self.append_inst(to, clone);
        }
    }

    /// An instruction whose ids are those of clones.
    fn clone_inst(&mut self, ids: &IdWords, inst: Inst, clones: &CloneMap) -> Inst {
        let old = self.inst(inst);
        let mut words = old.words().to_vec();
        ids.visit_uses(old, |at, id| words[at] = clones.resolve_id(id).word());
        if let Some(id) = old.result() {
            let at = words.len() - old.operands().len() - 1;
            words[at] = clones.resolve_id(id).word();
        }
        let op = old.op();
        self.create_inst(op, &words)
    }

    /// Gives clones the names and decorations of their originals.
    fn clone_annotations(&mut self, originals: &[Id], clones: &CloneMap) {
        if originals.is_empty() {
            return;
        }
        for section in [ModuleSection::Names, ModuleSection::Annotations] {
            let all: Vec<Inst> = self.section_insts(section).map(InstRef::handle).collect();
            for inst in all {
                self.clone_annotation(inst, clones);
            }
        }
    }

    fn clone_annotation(&mut self, inst: Inst, clones: &CloneMap) {
        let old = self.inst(inst);
        let step = match old.op() {
            Op::GroupDecorate => 1,
            Op::GroupMemberDecorate => 2,
            op => {
                let target = old.get_id(0).and_then(|id| clones.get(id));
                let is_linkage = old.operands().get(1) == Some(&Decoration::LinkageAttributes.0);
                if let Some(new) = target.filter(|_| op != Op::Decorate || !is_linkage) {
                    let mut words = old.words().to_vec();
                    words[0] = new.word();
                    let clone = self.create_inst(op, &words);
                    self.insert_after(inst, clone);
                }
                return;
            }
        };
        let mut words = old.words().to_vec();
        for target in old.words()[1..].chunks(step) {
            if let Some(new) = Id::new(target[0]).and_then(|id| clones.get(id)) {
                words.push(new.word());
                words.extend_from_slice(&target[1..]);
            }
        }
        if words.len() > old.words().len() && words.len() < 0xffff {
            self.replace_words(inst, &words);
        }
    }

    /// Moves functions without a body before those with one, as the specification requires (section 2.4). The
    /// order is otherwise kept.
    pub fn place_declarations_first(&mut self) {
        let order = self.order.clone();
        let is_declaration = |f: &Func| self.functions[f.index()].blocks.is_empty();
        let (mut first, rest): (Vec<Func>, Vec<Func>) = order.into_iter().partition(is_declaration);
        first.extend(rest);
        self.as_read &= first == self.order;
        self.order = first;
    }
}

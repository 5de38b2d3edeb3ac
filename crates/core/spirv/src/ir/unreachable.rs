//! Removal of unreachable blocks.

use super::module::{Block, Func, Inst, ModuleSection, SpirvModule};
use super::{ErasedIds, IdWords, InstRef, LabelPositions};
use crate::Id;
use crate::grammar::Op;

/// The treatment of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BlockReachability {
    Gone,
    /// Reached from the entry.
    Reached,
    /// A reachable header names it as its merge block, or as continue target of what is no loop: it stays as
    /// `OpUnreachable`.
    Merge,
    /// Named as continue target: stays as a branch to the header at this position.
    Continue(u32),
}

impl SpirvModule {
    /// Removes the unreachable blocks of a function. Blocks that merge instructions name stay, with nothing but
    /// a terminator. Returns whether anything changed.
    pub fn remove_unreachable(
        &mut self,
        ids: &IdWords,
        func: Func,
        erased: &mut ErasedIds,
    ) -> bool {
        let blocks = self.function(func).blocks.clone();
        let labels = LabelPositions::from_function(self, func);
        let states = self.classify_blocks(ids, &blocks, &labels);
        if states.iter().all(|f| *f == BlockReachability::Reached) {
            return false;
        }
        let mut changed = false;
        for (block, state) in blocks.iter().zip(&states) {
            changed |= self.clear_unreached_block(*block, *state, erased);
        }
        for (block, state) in blocks.iter().zip(&states) {
            match state {
                BlockReachability::Reached => {
                    let leads = |module: &SpirvModule, parent, label| {
                        let at = labels.position(parent).map(|p| p as usize);
                        at.filter(|at| states[*at] != BlockReachability::Gone)
                            .is_some_and(|at| {
                                let targets = module.block_targets(ids, blocks[at]);
                                targets.iter().any(|t| t.1 == label)
                            })
                    };
                    changed |= self.trim_phis(*block, leads);
                }
                BlockReachability::Continue(header) => {
                    let label = self.label(*block);
                    let header = blocks[*header as usize];
                    changed |= self.complete_phis(header, label, erased);
                }
                _ => {}
            }
        }
        let kept = blocks
            .iter()
            .zip(&states)
            .filter(|(_, f)| **f != BlockReachability::Gone);
        let kept = kept.map(|(b, _)| *b).collect();
        self.set_blocks(func, kept);
        changed
    }

    /// Whether each block can be reached from the entry, by terminators.
    pub(super) fn find_reached(
        &self,
        ids: &IdWords,
        blocks: &[Block],
        labels: &LabelPositions,
    ) -> Vec<bool> {
        let mut reached = vec![false; blocks.len()];
        let mut work = Vec::new();
        if let Some(entry) = reached.first_mut() {
            *entry = true;
            work.push(0);
        }
        while let Some(at) = work.pop() {
            self.visit_targets(ids, self.terminator(blocks[at]), |_, target| {
                if let Some(next) = labels.position(target).map(|p| p as usize)
                    && !std::mem::replace(&mut reached[next], true)
                {
                    work.push(next);
                }
            });
        }
        reached
    }

    fn classify_blocks(
        &self,
        ids: &IdWords,
        blocks: &[Block],
        labels: &LabelPositions,
    ) -> Vec<BlockReachability> {
        let reached = self.find_reached(ids, blocks, labels);
        let state = |reached: bool| {
            if reached {
                BlockReachability::Reached
            } else {
                BlockReachability::Gone
            }
        };
        let mut states: Vec<BlockReachability> = reached.into_iter().map(state).collect();
        for at in 0..blocks.len() {
            if states[at] != BlockReachability::Reached {
                continue;
            }
            let Some(inst) = self.merge_inst(blocks[at]) else {
                continue;
            };
            let position = |n| inst.get_id(n).and_then(|l| labels.position(l));
            if let Some(merge) = position(0).map(|p| p as usize)
                && states[merge] == BlockReachability::Gone
            {
                states[merge] = BlockReachability::Merge;
            }
            if inst.op() == Op::LoopMerge
                && let Some(next) = position(1).map(|p| p as usize)
                && matches!(
                    states[next],
                    BlockReachability::Gone | BlockReachability::Merge
                )
            {
                // Nothing leads to an entry block; it heads a loop only without structure.
                states[next] = match at {
                    0 => BlockReachability::Merge,
                    _ => BlockReachability::Continue(at as u32),
                };
            }
        }
        states
    }

    /// Empties a block that is not reached.
    fn clear_unreached_block(
        &mut self,
        block: Block,
        state: BlockReachability,
        erased: &mut ErasedIds,
    ) -> bool {
        let terminator = match state {
            BlockReachability::Reached => return false,
            BlockReachability::Gone => {
                let label = self.label(block);
                erased.insert(label);
                None
            }
            BlockReachability::Merge => Some((Op::Unreachable, None)),
            BlockReachability::Continue(header) => {
                let func = self.block(block).func;
                let header = self.function(func).blocks[header as usize];
                Some((Op::Branch, Some(self.label(header))))
            }
        };
        let insts: Vec<Inst> = self.body(block).map(InstRef::handle).collect();
        if let Some((op, target)) = terminator {
            let last = self.terminator(block);
            if insts.len() == 1 && last.op() == op && last.get_id(0) == target {
                return false;
            }
        }
        for inst in insts {
            self.erase_inst(inst, erased);
        }
        if let Some((op, target)) = terminator {
            let words: Vec<u32> = target.map(Id::word).into_iter().collect();
            let inst = self.create_inst(op, &words);
            let body = self.block(block).body;
            self.append_inst(body, inst);
        }
        true
    }

    /// Removes former predecessors from the phis of a block.
    fn trim_phis(&mut self, block: Block, leads: impl Fn(&SpirvModule, Id, Id) -> bool) -> bool {
        let label = self.label(block);
        let Some(first) = self.phis(block).next() else {
            return false;
        };
        let parents: Vec<Id> = first.id_operands(0).skip(1).step_by(2).collect();
        let mut changed = false;
        for parent in parents {
            if !leads(self, parent, label) {
                self.remove_phi_parent(block, parent);
                changed = true;
            }
        }
        changed
    }

    /// Gives each phi of a header a value for an emptied continue target.
    fn complete_phis(&mut self, header: Block, parent: Id, erased: &ErasedIds) -> bool {
        let phis: Vec<Inst> = self.phis(header).map(InstRef::handle).collect();
        let mut changed = false;
        for phi in phis {
            let known = self.phi_value(phi, parent);
            if known.is_some_and(|v| !erased.contains(v)) {
                continue;
            }
            if let Some(ty) = self.inst(phi).result_type() {
                let undef = self.ensure_undef(ty);
                self.set_phi_value(phi, parent, undef);
                changed = true;
            }
        }
        changed
    }

    /// An undefined value of a type, at module level; one that is there is used again.
    pub fn ensure_undef(&mut self, ty: Id) -> Id {
        let globals = self.section_insts(ModuleSection::Globals);
        let mut known = globals.filter(|i| i.op() == Op::Undef && i.result_type() == Some(ty));
        if let Some(id) = known.next().and_then(InstRef::result) {
            return id;
        }
        let id = self.fresh_id();
        let inst = self.create_inst(Op::Undef, &[ty.word(), id.word()]);
        self.append_inst(ModuleSection::Globals.list(), inst);
        id
    }
}

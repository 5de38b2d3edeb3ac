//! Block joining: merges blocks that always follow each other.

use super::module::{Block, Func, Inst, SpirvModule};
use super::{ErasedIds, IdWords, InstRef, LabelPositions};
use crate::Id;
use crate::grammar::Op;

const NONE: u32 = u32::MAX;

/// The roles of a block in merge instructions and switches; stronger roles come later.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum BlockTargetRole {
    Nowhere,
    Case,
    Continue,
    Merge,
}

impl SpirvModule {
    /// Joins each block of a function with its single successor, if that has no other predecessor and no merge
    /// instruction names it. A loop header absorbs blocks that are no headers. A continue target is absorbed by the
    /// block that branches to it, which then becomes the target. A merge block or a case is not. The phis of an
    /// absorbed block have one value each: `rename` receives the phi and the value, and must replace the former by the
    /// latter. Unreachable blocks are left alone, because they may use any definition. Returns the number of absorbed
    /// blocks. Takes time linear in the function.
    pub fn join_blocks(
        &mut self,
        ids: &IdWords,
        func: Func,
        mut rename: impl FnMut(Id, Id),
        erased: &mut ErasedIds,
    ) -> usize {
        let blocks = self.function(func).blocks.clone();
        let labels = LabelPositions::from_function(self, func);
        let (mut joinable, mut named) = self.find_joinable(ids, &blocks, &labels);
        if !joinable.contains(&true) {
            return 0;
        }
        for (joinable, reached) in joinable
            .iter_mut()
            .zip(self.find_reached(ids, &blocks, &labels))
        {
            *joinable &= reached;
        }
        let mut into = vec![NONE; blocks.len()];
        let mut joined = 0;
        for at in 0..blocks.len() {
            // A block that ends in a branch to the next of its chain takes that in when it is the
            // chain's head, so that every instruction moves once.
            if into[at] != NONE || joinable[at] {
                continue;
            }
            while let Some(next) = self.sole_target(blocks[at], &blocks, &labels)
                && joinable[next as usize]
                && (named[next as usize] != BlockTargetRole::Continue
                    || named[at] == BlockTargetRole::Nowhere)
            {
                if named[next as usize] == BlockTargetRole::Continue {
                    named[at] = BlockTargetRole::Continue;
                }
                self.absorb_block(blocks[at], blocks[next as usize], &mut rename, erased);
                into[next as usize] = at as u32;
                joined += 1;
            }
        }
        if joined > 0 {
            self.rename_joined(&blocks, &labels, &into);
            let kept = blocks.iter().zip(&into).filter(|(_, i)| **i == NONE);
            let kept = kept.map(|(b, _)| *b).collect();
            self.set_blocks(func, kept);
        }
        joined
    }

    /// Whether each block can be absorbed: it has one predecessor, which ends in a branch and is no selection
    /// header, and it is no merge block. Also its role.
    fn find_joinable(
        &self,
        ids: &IdWords,
        blocks: &[Block],
        labels: &LabelPositions,
    ) -> (Vec<bool>, Vec<BlockTargetRole>) {
        let mut edges = vec![0u32; blocks.len()];
        let mut joinable = vec![false; blocks.len()];
        let mut named = vec![BlockTargetRole::Nowhere; blocks.len()];
        let mut name = |label: Id, what: BlockTargetRole| {
            if let Some(at) = labels.position(label) {
                named[at as usize] = named[at as usize].max(what);
            }
        };
        for block in blocks {
            let terminator = self.terminator(*block);
            self.visit_targets(ids, terminator, |_, target| {
                if let Some(at) = labels.position(target) {
                    edges[at as usize] += 1;
                }
                if terminator.op() == Op::Switch {
                    name(target, BlockTargetRole::Case);
                }
            });
            if let Some(at) = self.sole_target(*block, blocks, labels) {
                joinable[at as usize] = true;
            }
            if let Some(merge) = self.merge_inst(*block) {
                name(merge.id_operand(0), BlockTargetRole::Merge);
                if merge.op() == Op::LoopMerge {
                    name(merge.id_operand(1), BlockTargetRole::Continue);
                }
            }
        }
        for at in 0..blocks.len() {
            joinable[at] &= at != 0 && edges[at] == 1 && named[at] != BlockTargetRole::Merge;
        }
        (joinable, named)
    }

    /// The single successor of a block. A loop header can absorb a block that is no header: its merge
    /// instruction moves to the end.
    fn sole_target(&self, block: Block, blocks: &[Block], labels: &LabelPositions) -> Option<u32> {
        let terminator = self.terminator(block);
        if terminator.op() != Op::Branch {
            return None;
        }
        let at = labels.position(terminator.id_operand(0))?;
        if let Some(merge) = self.merge_inst(block) {
            let next = *blocks.get(at as usize)?;
            let ends = self.terminator(next).op();
            let plain = matches!(ends, Op::Branch | Op::BranchConditional);
            if merge.op() != Op::LoopMerge || !plain || self.merge_inst(next).is_some() {
                return None;
            }
        }
        Some(at)
    }

    fn absorb_block(
        &mut self,
        first: Block,
        second: Block,
        rename: &mut impl FnMut(Id, Id),
        erased: &mut ErasedIds,
    ) {
        let branch = self.terminator(first).handle();
        let merge = self.merge_inst(first).map(InstRef::handle);
        self.remove_inst(branch);
        if let Some(merge) = merge {
            self.remove_inst(merge);
        }
        let body = self.block(first).body;
        let lead = self.list_insts(self.block(second).lead);
        let moved: Vec<Inst> = lead.chain(self.body(second)).map(InstRef::handle).collect();
        for inst in moved {
            let i = self.inst(inst);
            if let (Op::Phi, Some(old), Some(new)) = (i.op(), i.result(), i.get_id(0)) {
                rename(old, new);
                self.erase_inst(inst, erased);
            } else {
                self.remove_inst(inst);
                self.append_inst(body, inst);
            }
        }
        if let Some(merge) = merge {
            let end = self.terminator(first).handle();
            self.insert_before(end, merge);
        }
        let label = self.label(second);
        erased.insert(label);
    }

    /// Phis that took from a block which is no more take from the one that it is part of, and loops go
    /// on there.
    fn rename_joined(&mut self, blocks: &[Block], labels: &LabelPositions, into: &[u32]) {
        let head = |label: Id| {
            let at = labels.position(label)? as usize;
            let head = *into.get(at).filter(|i| **i != NONE)?;
            Some(blocks[head as usize])
        };
        let kept = blocks.iter().zip(into).filter(|(_, into)| **into == NONE);
        for (block, _) in kept {
            if let Some(merge) = self.merge_inst(*block).filter(|m| m.op() == Op::LoopMerge)
                && let (Some(head), handle) = (head(merge.id_operand(1)), merge.handle())
            {
                self.words_mut(handle)[1] = self.label(head).word();
            }
            let phis: Vec<Inst> = self.phis(*block).map(InstRef::handle).collect();
            for phi in phis {
                let words = self.inst(phi).words().to_vec();
                for (at, word) in words.iter().enumerate().skip(3).step_by(2) {
                    if let Some(head) = Id::new(*word).and_then(head) {
                        self.words_mut(phi)[at] = self.label(head).word();
                    }
                }
            }
        }
    }
}

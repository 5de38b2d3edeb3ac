//! Joining blocks that always follow each other.

use super::module::{Block, Func, Inst, Module};
use super::{Erased, IdWords, InstRef, Labels};
use crate::Id;
use crate::grammar::Op;

const NONE: u32 = u32::MAX;

impl Module {
    /// Joins each block of a function with the only one that it branches to, where that has no other
    /// predecessor and is named by no merge instruction; a loop's header takes in what heads nothing. The phis of such a block have one value
    /// each: `rename` is told of the phi and the value, and has to replace the one by the other.
    /// Returns the number of blocks that are no more. Takes time linear in the function.
    pub fn join_blocks(
        &mut self,
        ids: &IdWords,
        func: Func,
        mut rename: impl FnMut(Id, Id),
        erased: &mut Erased,
    ) -> usize {
        let blocks = self.function(func).blocks.clone();
        let labels = Labels::of(self, func);
        let joinable = self.joinable(ids, &blocks, &labels);
        if !joinable.contains(&true) {
            return 0;
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
            {
                self.absorb(blocks[at], blocks[next as usize], &mut rename, erased);
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

    /// Whether each block can become the end of another: it has one predecessor, which ends in a
    /// branch and heads no selection, and no merge instruction names it.
    fn joinable(&self, ids: &IdWords, blocks: &[Block], labels: &Labels) -> Vec<bool> {
        let mut edges = vec![0u32; blocks.len()];
        let mut joinable = vec![false; blocks.len()];
        let mut named = vec![false; blocks.len()];
        for (own, block) in blocks.iter().enumerate() {
            self.visit_targets(ids, self.terminator(*block), |_, target| {
                if let Some(at) = labels.position(target) {
                    edges[at as usize] += 1;
                }
            });
            // Only blocks that cannot be reached stand before their only predecessor, and what they
            // define would then stand behind its uses.
            if let Some(at) = self.sole_target(*block, blocks, labels)
                && at as usize > own
            {
                joinable[at as usize] = true;
            }
            if let Some(merge) = self.merge(*block) {
                let count = if merge.op() == Op::LoopMerge { 2 } else { 1 };
                for at in merge.ids(0).take(count).filter_map(|l| labels.position(l)) {
                    named[at as usize] = true;
                }
            }
        }
        for at in 0..blocks.len() {
            joinable[at] &= at != 0 && edges[at] == 1 && !named[at];
        }
        joinable
    }

    /// The block that alone follows. The header of a loop can take in one that heads nothing itself:
    /// its merge instruction goes to the end.
    fn sole_target(&self, block: Block, blocks: &[Block], labels: &Labels) -> Option<u32> {
        let terminator = self.terminator(block);
        if terminator.op() != Op::Branch {
            return None;
        }
        let at = labels.position(terminator.id(0))?;
        if let Some(merge) = self.merge(block) {
            let next = *blocks.get(at as usize)?;
            let ends = self.terminator(next).op();
            let plain = matches!(ends, Op::Branch | Op::BranchConditional);
            if merge.op() != Op::LoopMerge || !plain || self.merge(next).is_some() {
                return None;
            }
        }
        Some(at)
    }

    fn absorb(
        &mut self,
        first: Block,
        second: Block,
        rename: &mut impl FnMut(Id, Id),
        erased: &mut Erased,
    ) {
        let branch = self.terminator(first).handle();
        let merge = self.merge(first).map(InstRef::handle);
        self.remove(branch);
        if let Some(merge) = merge {
            self.remove(merge);
        }
        let body = self.block(first).body;
        let lead = self.insts(self.block(second).lead);
        let moved: Vec<Inst> = lead.chain(self.body(second)).map(InstRef::handle).collect();
        for inst in moved {
            let i = self.inst(inst);
            if let (Op::Phi, Some(old), Some(new)) = (i.op(), i.result(), i.get_id(0)) {
                rename(old, new);
                self.erase(inst, erased);
            } else {
                self.remove(inst);
                self.append(body, inst);
            }
        }
        if let Some(merge) = merge {
            let end = self.terminator(first).handle();
            self.insert_before(end, merge);
        }
        let label = self.label(second);
        erased.insert(label);
    }

    /// Phis that took from a block which is no more take from the one that it is part of.
    fn rename_joined(&mut self, blocks: &[Block], labels: &Labels, into: &[u32]) {
        let head = |label: Id| {
            let at = labels.position(label)? as usize;
            let head = *into.get(at).filter(|i| **i != NONE)?;
            Some(blocks[head as usize])
        };
        for block in blocks {
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

//! Phi placement at iterated dominance frontiers.

use super::candidates::PromotionCandidates;
use crate::Id;
use crate::analysis::{DominanceFrontiers, FlowEdges};
use crate::ir::SpirvModule;
use std::ops::Range;

/// A phi without its instruction yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingPhi {
    pub block: u32,
    pub slot: u32,
    pub id: Id,
    /// Where its values and labels begin among those of all, and how many words of them are known.
    first: u32,
    words: u32,
}

/// The phis of a function, sorted by block.
#[derive(Debug)]
pub(super) struct PendingPhis {
    all: Vec<PendingPhi>,
    /// Values and labels: room for each predecessor of each phi.
    words: Vec<u32>,
}

impl PendingPhis {
    /// Phis for all candidates.
    pub fn place_at_frontiers(
        module: &mut SpirvModule,
        candidates: &PromotionCandidates,
        graph: &FlowEdges,
        frontiers: &DominanceFrontiers,
    ) -> PendingPhis {
        let blocks = graph.successors.len();
        let mut marks = PhiPlacementMarks {
            of_block: vec![0; blocks],
            work: Vec::new(),
        };
        let mut phis = Vec::new();
        let (mut reads, mut writes) = (&candidates.reads[..], &candidates.writes[..]);
        while let Some(&(slot, _)) = reads.first() {
            let of_slot = reads.partition_point(|r| r.0 <= slot);
            let (own, rest) = reads.split_at(of_slot);
            reads = rest;
            writes = &writes[writes.partition_point(|w| w.0 < slot)..];
            let written = &writes[..writes.partition_point(|w| w.0 <= slot)];
            if written.is_empty() {
                continue;
            }
            marks.of_slot(slot, own, written, graph, frontiers, |block| {
                phis.push(PendingPhi {
                    block,
                    slot,
                    id: module.fresh_id(),
                    first: 0,
                    words: 0,
                });
            });
        }
        phis.sort_by_key(|p| p.block);
        let mut end = 0;
        for phi in &mut phis {
            phi.first = end;
            end += 2 * graph.predecessors.targets(phi.block).len() as u32;
        }
        PendingPhis {
            all: phis,
            words: vec![0; end as usize],
        }
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn get(&self, at: usize) -> PendingPhi {
        self.all[at]
    }

    /// The phis of a block.
    pub fn of_block(&self, block: u32) -> Range<usize> {
        let first = self.all.partition_point(|p| p.block < block);
        first..first + self.all[first..].partition_point(|p| p.block == block)
    }

    /// The values and labels of a phi that are known.
    pub fn incoming_pairs(&self, at: usize) -> &[u32] {
        let PendingPhi { first, words, .. } = self.all[at];
        &self.words[first as usize..][..words as usize]
    }

    pub fn add_pair(&mut self, at: usize, value: Id, label: u32) {
        let phi = &mut self.all[at];
        let end = (phi.first + phi.words) as usize;
        self.words[end..end + 2].copy_from_slice(&[value.word(), label]);
        phi.words += 2;
    }
}

/// Facts about each block.
struct PhiPlacementMarks {
    /// A candidate and the facts about it, valid while it is the current one. Candidates are counted from 1.
    of_block: Vec<u32>,
    work: Vec<u32>,
}

/// Its value is needed at the begin of the block.
const LIVE: u32 = 1;
/// The block writes it.
const WRITTEN: u32 = 2;
/// The block has a phi of it.
const PLACED: u32 = 4;

impl PhiPlacementMarks {
    /// Facts about a block and a candidate.
    fn block_flags(&self, block: u32, slot: u32) -> u32 {
        let mark = self.of_block[block as usize];
        if mark >> 3 == slot + 1 { mark & 7 } else { 0 }
    }

    fn add_block_flags(&mut self, block: u32, slot: u32, what: u32) {
        self.of_block[block as usize] = (slot + 1) << 3 | self.block_flags(block, slot) | what;
    }

    fn of_slot(
        &mut self,
        slot: u32,
        reads: &[(u32, u32)],
        writes: &[(u32, u32)],
        graph: &FlowEdges,
        frontiers: &DominanceFrontiers,
        mut place: impl FnMut(u32),
    ) {
        for (_, block) in writes {
            self.add_block_flags(*block, slot, WRITTEN);
        }
        for (_, block) in reads {
            self.add_block_flags(*block, slot, LIVE);
            self.work.push(*block);
        }
        while let Some(block) = self.work.pop() {
            for &before in graph.predecessors.targets(block) {
                if self.block_flags(before, slot) & (WRITTEN | LIVE) == 0 {
                    self.add_block_flags(before, slot, LIVE);
                    self.work.push(before);
                }
            }
        }
        self.work.extend(writes.iter().map(|w| w.1));
        while let Some(block) = self.work.pop() {
            for &join in frontiers.of_block(block) {
                let known = self.block_flags(join, slot);
                if known & (PLACED | LIVE) == LIVE {
                    self.add_block_flags(join, slot, PLACED);
                    place(join);
                    if known & WRITTEN == 0 {
                        self.work.push(join);
                    }
                }
            }
        }
    }
}

//! Where phis must stand.

use super::NONE;
use super::candidates::Candidates;
use crate::Id;
use crate::analysis::{Cfg, Frontiers};
use crate::ir::Module;

/// A phi without its instruction yet.
#[derive(Clone, Debug)]
pub(super) struct Phi {
    pub block: u32,
    pub slot: u32,
    pub id: Id,
    /// Values and labels.
    pub pairs: Vec<u32>,
}

/// Phis for all candidates, sorted by block.
pub(super) fn place(
    module: &mut Module,
    candidates: &Candidates,
    cfg: &Cfg,
    frontiers: &Frontiers,
) -> Vec<Phi> {
    let mut marks = Marks {
        live: vec![NONE; cfg.len()],
        written: vec![NONE; cfg.len()],
        placed: vec![NONE; cfg.len()],
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
        marks.of_slot(slot, own, written, cfg, frontiers, |block| {
            phis.push(Phi {
                block,
                slot,
                id: module.fresh_id(),
                pairs: Vec::new(),
            });
        });
    }
    phis.sort_by_key(|p| p.block);
    phis
}

/// What is known of each block, valid where it names the candidate at hand.
struct Marks {
    live: Vec<u32>,
    written: Vec<u32>,
    placed: Vec<u32>,
    work: Vec<u32>,
}

impl Marks {
    fn of_slot(
        &mut self,
        slot: u32,
        reads: &[(u32, u32)],
        writes: &[(u32, u32)],
        cfg: &Cfg,
        frontiers: &Frontiers,
        mut place: impl FnMut(u32),
    ) {
        for (_, block) in writes {
            self.written[*block as usize] = slot;
        }
        for (_, block) in reads {
            self.live[*block as usize] = slot;
            self.work.push(*block);
        }
        while let Some(block) = self.work.pop() {
            for &before in cfg.predecessors(block) {
                let at = before as usize;
                if self.written[at] != slot && self.live[at] != slot {
                    self.live[at] = slot;
                    self.work.push(before);
                }
            }
        }
        self.work.extend(writes.iter().map(|w| w.1));
        while let Some(block) = self.work.pop() {
            for &join in frontiers.of_block(block) {
                let at = join as usize;
                if self.placed[at] != slot && self.live[at] == slot {
                    self.placed[at] = slot;
                    place(join);
                    if self.written[at] != slot {
                        self.work.push(join);
                    }
                }
            }
        }
    }
}

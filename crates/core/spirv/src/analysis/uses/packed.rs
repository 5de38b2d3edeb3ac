//! Packed use lists: the uses of a module at the time when the chains are computed. The uses of each id are
//! adjacent, with six bytes for each.
//!
//! A walk over the module counts the uses and records for each instruction where its ids are. The uses are then
//! placed by the counts and that record alone. Recording the uses during the walk would take a tenth less time for
//! the module as a whole, and as much more memory as the file has.

use super::super::definitions::InstOfId;
use super::IdUse;
use crate::Id;
use crate::ir::{IdWords, Inst, InstRef, SpirvModule};
use std::ops::Range;

/// The uses at the time when the chains were computed.
#[derive(Clone, Debug)]
pub(super) struct PackedUses {
    /// Begin of each id's uses, which is the end of those of the previous id.
    first: Vec<u32>,
    uses: Vec<PackedUse>,
    /// Number of instructions at that time.
    of: usize,
}

/// A use, in six bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(2))]
struct PackedUse {
    inst: Inst,
    at: u16,
}

impl PackedUses {
    /// The uses of every id; definitions are found on the way.
    pub fn from_module(
        module: &SpirvModule,
        words: &IdWords,
        definitions: &mut InstOfId,
    ) -> PackedUses {
        // The row after the last id ends its uses.
        let mut first = vec![0u32; module.bound() as usize + 1];
        let masks = count_uses(module, words, definitions, &mut first);
        let mut end = 0;
        for row in &mut first {
            end += *row;
            *row = end;
        }
        let none = PackedUse {
            inst: Inst::FIRST,
            at: 0,
        };
        let mut uses = vec![none; end as usize];
        let (rows, places) = (first.as_mut_slice(), uses.as_mut_slice());
        let mut put = |id: u32, inst: Inst, at: u16| {
            if let Some(row) = rows.get_mut(id as usize) {
                *row -= 1;
                places[*row as usize] = PackedUse { inst, at };
            }
        };
        for (index, mask) in masks.iter().enumerate().filter(|(_, mask)| **mask != 0) {
            let inst = module.inst(Inst::new(index));
            let handle = inst.handle();
            if *mask == SPLIT {
                words.visit_uses(inst, |at, id| put(id.word(), handle, at as u16));
            } else {
                visit_selected_words(inst.words(), u32::from(*mask), |at, id| {
                    put(id, handle, at as u16)
                });
            }
        }
        PackedUses {
            first,
            uses,
            of: module.inst_count(),
        }
    }

    /// Number of instructions whose uses are recorded.
    pub fn inst_count(&self) -> usize {
        self.of
    }

    /// A bound above every id with recorded uses.
    pub fn bound(&self) -> usize {
        self.first.len()
    }

    /// The positions of the uses of an id.
    pub fn use_range(&self, id: Id) -> Range<usize> {
        match self.first.get(id.index()..id.index() + 2) {
            Some(ends) => ends[0] as usize..ends[1] as usize,
            None => 0..0,
        }
    }

    /// The use at a position of [`Self::use_range`].
    pub fn get(&self, at: usize) -> IdUse {
        let PackedUse { inst, at } = self.uses[at];
        IdUse { inst, at }
    }

    /// Moves the uses of a range that are kept to its begin. Returns their number.
    pub fn retain_in_range(
        &mut self,
        range: Range<usize>,
        is_wanted: impl Fn(Inst) -> bool,
    ) -> usize {
        let mut kept = range.start;
        for at in range.clone() {
            if is_wanted(self.uses[at].inst) {
                self.uses[kept] = self.uses[at];
                kept += 1;
            }
        }
        kept - range.start
    }
}

/// Marks an instruction with an id beyond the bits of the mask, which has to be split.
const SPLIT: u16 = u16::MAX;

/// Counts the uses of each id. Returns for each instruction a bit mask of the words that are ids; zero for
/// removed ones.
fn count_uses(
    module: &SpirvModule,
    words: &IdWords,
    definitions: &mut InstOfId,
    counts: &mut [u32],
) -> Vec<u16> {
    let mut masks = vec![0; module.inst_count()];
    let mut add = |id: u32| {
        if let Some(count) = counts.get_mut(id as usize) {
            *count += 1;
        }
    };
    let mut one = |inst: InstRef<'_>| {
        let (handle, shape) = (inst.handle(), inst.op().shape());
        if let Some(id) = shape.result_of(inst.words()) {
            definitions.set_if_none(id, handle);
        }
        let mask = match shape.use_mask(inst.words()) {
            Some(mask) => {
                visit_selected_words(inst.words(), mask, |_, id| add(id));
                u16::try_from(mask).unwrap_or(SPLIT)
            }
            None => {
                let mut mask = 0;
                words.visit_uses(inst, |at, id| {
                    add(id.word());
                    mask |= 1u16.checked_shl(at as u32).unwrap_or(SPLIT);
                });
                mask
            }
        };
        masks[handle.index()] = mask;
    };
    match module.insts_as_read() {
        Some(insts) => insts.for_each(one),
        None => module.all_insts().for_each(&mut one),
    }
    masks
}

/// Visits the words of a mask.
#[inline(always)]
fn visit_selected_words(words: &[u32], mut mask: u32, mut take: impl FnMut(u32, u32)) {
    while mask != 0 {
        let at = mask.trailing_zeros();
        if let Some(id) = words.get(at as usize) {
            take(at, *id);
        }
        mask &= mask - 1;
    }
}

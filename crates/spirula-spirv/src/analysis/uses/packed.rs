//! The uses of a module as it is when the chains are computed: those of each id side by side, six bytes
//! for each.
//!
//! Uses are counted in a walk over the module, which notes for each instruction where its ids stand, and
//! then put where the count says, in the order of that note. Of each instruction four uses are looked at,
//! whether it has as many or not, since a branch on how many it has cannot be foreseen: those that are not
//! there are of the id 0, which no use is of.

use super::Use;
use crate::ir::{IdWords, Inst, Module};
use crate::{Id, IdMap};
use std::ops::Range;

/// The uses when the chains were computed.
#[derive(Clone, Debug)]
pub(super) struct Packed {
    /// Begin of each id's uses; they end where those of the next id begin.
    first: Vec<u32>,
    uses: Vec<Place>,
    /// Number of instructions that there were.
    of: usize,
}

/// A use, in six bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(2))]
struct Place {
    inst: Inst,
    at: u16,
}

impl Packed {
    /// The uses of every id; definitions are found on the way.
    pub fn compute(
        module: &Module,
        words: &IdWords,
        definitions: &mut IdMap<Option<Inst>>,
    ) -> Packed {
        // The row behind the ids' ends the uses of the last one.
        let mut first = vec![0u32; module.bound() as usize + 1];
        let rows = first.as_mut_slice();
        // Nothing for instructions that were removed.
        let mut masks = vec![0; module.inst_count()];
        for inst in module.all_insts() {
            let shape = inst.op().shape();
            if let Some(id) = shape.result_of(inst.words()) {
                definitions.get_mut(id).get_or_insert(inst.handle());
            }
            let mask = shape.uses(inst.words()).unwrap_or(SPLIT);
            masks[inst.handle().index()] = mask;
            if mask == SPLIT {
                words.visit(inst, |_, id| count(rows, id.word()));
            } else {
                visit(inst.words(), mask, |id, _, _| count(rows, id));
            }
        }
        rows[0] = 0;
        let mut end = 0;
        for row in rows.iter_mut() {
            end += *row;
            *row = end;
        }
        // The place behind all others is where uses go that are not there.
        rows[0] = end;
        let none = Place {
            inst: Inst::FIRST,
            at: 0,
        };
        let mut uses = vec![none; end as usize + 1];
        let places = uses.as_mut_slice();
        for (index, mask) in masks.iter().enumerate().filter(|(_, mask)| **mask != 0) {
            let inst = module.inst(Inst::at(index));
            let handle = inst.handle();
            if *mask == SPLIT {
                words.visit(inst, |at, id| {
                    let (inst, at) = (handle, at as u16);
                    put(rows, places, id.word(), 1, Place { inst, at });
                });
            } else {
                visit(inst.words(), *mask, |id, at, is_there| {
                    let (inst, at) = (handle, at as u16);
                    put(rows, places, id, is_there, Place { inst, at });
                });
            }
        }
        Packed {
            first,
            uses,
            of: module.inst_count(),
        }
    }

    /// Number of instructions of which the uses are known.
    pub fn inst_count(&self) -> usize {
        self.of
    }

    /// Above every id of which uses are known.
    pub fn bound(&self) -> usize {
        self.first.len()
    }

    /// Where the uses of an id are.
    pub fn range(&self, id: Id) -> Range<usize> {
        match self.first.get(id.index()..id.index() + 2) {
            Some(ends) => ends[0] as usize..ends[1] as usize,
            None => 0..0,
        }
    }

    /// The use at a position of [`Self::range`].
    pub fn get(&self, at: usize) -> Use {
        let Place { inst, at } = self.uses[at];
        Use { inst, at }
    }

    /// Moves the uses in a range that are still wanted to its begin; how many they are.
    pub fn retain(&mut self, range: Range<usize>, is_wanted: impl Fn(Inst) -> bool) -> usize {
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

#[inline]
fn count(rows: &mut [u32], id: u32) {
    if let Some(count) = rows.get_mut(id as usize) {
        *count += 1;
    }
}

/// Puts a use, or one that is not there, before what was put of its id.
#[inline]
fn put(rows: &mut [u32], places: &mut [Place], id: u32, is_there: u32, place: Place) {
    if let Some(row) = rows.get_mut(id as usize) {
        *row -= is_there;
        places[*row as usize] = place;
    }
}

/// Instead of a mask: the instruction has to be split.
const SPLIT: u32 = u32::MAX;

/// Uses that are looked at together: most instructions have no more.
const TOGETHER: usize = 4;

/// Visits the ids that a mask says, and some 0 that are not there: id, position, and 1 or 0.
#[inline(always)]
fn visit(words: &[u32], mut mask: u32, mut take: impl FnMut(u32, u32, u32)) {
    while mask != 0 {
        for _ in 0..TOGETHER {
            let at = mask.trailing_zeros();
            let is_there = mask != 0;
            let id = words.get(at as usize).copied().unwrap_or(0);
            take(if is_there { id } else { 0 }, at, u32::from(is_there));
            mask &= mask.wrapping_sub(1);
        }
    }
}

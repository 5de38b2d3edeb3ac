//! Replacements of ids: one word for each id, because the tables of a promotion are as long as the bound of the
//! module.

use super::NONE;
use crate::{Id, IdMap};

/// Set in the words of candidates.
const SLOT: u32 = 1 << 31;

/// For each id: the candidate that it is or whose cast address it is, or the id that replaces it. No id is both,
/// because candidates are pointers and replaced ids were loaded.
#[derive(Clone, Debug)]
pub(super) struct PromotionReplacements(IdMap<u32>);

impl PromotionReplacements {
    /// Nothing is known of ids below a bound.
    pub fn new(bound: u32) -> Self {
        PromotionReplacements(IdMap::new(bound, 0))
    }

    /// The candidate of an id, [`NONE`] for others.
    pub fn slot_of(&self, id: Id) -> u32 {
        let word = self.0[id];
        if word & SLOT == 0 { NONE } else { word ^ SLOT }
    }

    /// The id belongs to a candidate.
    pub fn set_slot(&mut self, id: Id, slot: u32) {
        self.0.set(id, slot | SLOT);
    }

    /// The id stays as it is.
    pub fn keep_id(&mut self, id: Id) {
        self.0.set(id, 0);
    }

    /// Another id takes the place of this one.
    pub fn replace_id(&mut self, id: Id, new: Id) {
        self.0.set(id, new.word());
    }

    /// The final replacement of an id.
    pub fn resolve_id(&self, mut id: Id) -> Id {
        while let Some(new) = Id::new(self.0[id]).filter(|new| new.word() & SLOT == 0) {
            id = new;
        }
        id
    }
}

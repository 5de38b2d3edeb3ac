//! Def-use chains: definitions and uses of every id.

mod packed;

use super::definitions::InstOfId;
use crate::ir::{IdWords, Inst, InstRef, SpirvModule};
use crate::{Id, IdMap};
use packed::PackedUses;
use std::fmt;

/// A place where an id is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IdUse {
    /// The instruction.
    pub inst: Inst,
    /// Position among its words.
    pub at: u16,
}

/// Def-use chains: for each id its definition and its uses. Callers report each change to keep them up to date.
///
/// The uses of an unedited module are packed, those of each id side by side: six bytes for each use. Later
/// changes are recorded in `UseEdits`, which is created with the first one. Recording a change takes time
/// proportional to the instruction's operands, iterating over an id's uses to their number.
#[derive(Clone, Debug)]
pub struct DefUse {
    words: IdWords,
    definitions: InstOfId,
    packed: PackedUses,
    edits: Option<Box<UseEdits>>,
}

const NONE: u32 = u32::MAX;

/// Where the uses of an instruction are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UseLocation {
    /// In the packed lists.
    Packed,
    Nowhere,
    /// In the added lists, from this position on.
    Added(u32),
}

/// A use that was added.
#[derive(Clone, Copy, Debug)]
struct AddedUse {
    place: IdUse,
    id: Id,
    previous: u32,
    next: u32,
}

/// The changes to an id's uses.
#[derive(Clone, Copy, Debug)]
struct IdUseChanges {
    /// Number of packed uses that are still iterated, and of stale ones among them.
    packed: u32,
    stale: u32,
    /// Number of added uses, and the last of them.
    added: u32,
    last: u32,
}

/// Changes since the uses were packed: instructions whose packed uses are stale, and for each id a linked list
/// of added uses.
#[derive(Clone, Debug)]
struct UseEdits {
    insts: Vec<UseLocation>,
    ids: IdMap<Option<IdUseChanges>>,
    added: Vec<AddedUse>,
}

impl DefUse {
    /// Two passes over the module.
    pub fn from_module(module: &SpirvModule) -> Self {
        let words = IdWords::new(module);
        let mut definitions = InstOfId::new(module);
        let packed = PackedUses::from_module(module, &words, &mut definitions);
        DefUse {
            words,
            definitions,
            packed,
            edits: None,
        }
    }

    /// Records an instruction that was inserted into the module.
    pub fn add_inst(&mut self, inst: InstRef<'_>) {
        let handle = inst.handle();
        self.words.record_inst(inst);
        if let Some(id) = inst.result() {
            self.definitions.set_if_none(id, handle);
        }
        let (packed, edits) = (&self.packed, ensure_edits(&mut self.edits, &self.packed));
        let first = edits.added.len() as u32;
        self.words.visit_uses(inst, |at, id| {
            let own = edits.added.len() as u32;
            let uses = get_changes_mut(&mut edits.ids, packed, id);
            let previous = std::mem::replace(&mut uses.last, own);
            uses.added += 1;
            if let Some(before) = edits.added.get_mut(previous as usize) {
                before.next = own;
            }
            let at = at as u16;
            edits.added.push(AddedUse {
                place: IdUse { inst: handle, at },
                id,
                previous,
                next: NONE,
            });
        });
        *get_location_mut(&mut edits.insts, handle) = UseLocation::Added(first);
    }

    /// Records that an instruction is removed from the module, or is about to change. Its words must still be
    /// the recorded ones.
    pub fn remove_inst(&mut self, inst: InstRef<'_>) {
        let handle = inst.handle();
        if let Some(id) = inst.result()
            && self.definitions.get(id) == Some(handle)
        {
            self.definitions.set(id, None);
        }
        let edits = ensure_edits(&mut self.edits, &self.packed);
        let before = std::mem::replace(
            get_location_mut(&mut edits.insts, handle),
            UseLocation::Nowhere,
        );
        match before {
            UseLocation::Nowhere => {}
            UseLocation::Added(first) => edits.unlink_uses(&self.packed, handle, first as usize),
            UseLocation::Packed => {
                let packed = &mut self.packed;
                self.words.visit_uses(inst, |_, id| {
                    if !packed.use_range(id).is_empty() {
                        get_changes_mut(&mut edits.ids, packed, id).stale += 1;
                    }
                });
                // Instructions that use an id twice are complete by now.
                self.words
                    .visit_uses(inst, |_, id| edits.drop_stale_uses(packed, id));
            }
        }
    }

    /// The instruction that defines an id.
    pub fn definition(&self, id: Id) -> Option<Inst> {
        self.definitions.get(id)
    }

    /// The uses of an id, the newest first.
    pub fn uses(&self, id: Id) -> impl Iterator<Item = IdUse> + '_ {
        let edits = self.edits.as_deref();
        let changed = edits.and_then(|e| e.ids[id]);
        let mut last = changed.map_or(NONE, |c| c.last);
        let added = std::iter::from_fn(move || {
            let use_ = edits?.added.get(last as usize)?;
            last = use_.previous;
            Some(use_.place)
        });
        let mut range = self.packed.use_range(id);
        if let Some(changed) = changed {
            range.end = range.start + changed.packed as usize;
        }
        let packed = range.map(|at| self.packed.get(at));
        added.chain(packed.filter(move |place| {
            edits.is_none_or(|e| e.insts[place.inst.index()] == UseLocation::Packed)
        }))
    }

    /// The number of uses of an id, names and decorations included.
    pub fn use_count(&self, id: Id) -> u32 {
        let changed = self.edits.as_deref().and_then(|e| e.ids[id]);
        match changed {
            Some(uses) => uses.packed - uses.stale + uses.added,
            None => self.packed.use_range(id).len() as u32,
        }
    }

    /// Replaces every use of `old` by `new`, except in names and decorations.
    pub fn replace_all(&mut self, module: &mut SpirvModule, old: Id, new: Id) {
        if old == new {
            return;
        }
        let users: Vec<IdUse> = self.uses(old).collect();
        for place in users {
            if module.inst(place.inst).op().is_about_ids() {
                continue;
            }
            self.remove_inst(module.inst(place.inst));
            module.words_mut(place.inst)[usize::from(place.at)] = new.word();
            self.add_inst(module.inst(place.inst));
        }
    }
}

fn ensure_edits<'a>(edits: &'a mut Option<Box<UseEdits>>, packed: &PackedUses) -> &'a mut UseEdits {
    edits.get_or_insert_with(|| {
        Box::new(UseEdits {
            insts: vec![UseLocation::Packed; packed.inst_count()],
            ids: IdMap::new(packed.bound() as u32, None),
            added: Vec::new(),
        })
    })
}

fn get_location_mut(insts: &mut Vec<UseLocation>, inst: Inst) -> &mut UseLocation {
    if inst.index() >= insts.len() {
        insts.resize(inst.index() + 1, UseLocation::Nowhere);
    }
    &mut insts[inst.index()]
}

fn get_changes_mut<'a>(
    ids: &'a mut IdMap<Option<IdUseChanges>>,
    packed: &PackedUses,
    id: Id,
) -> &'a mut IdUseChanges {
    ids.get_mut(id).get_or_insert_with(|| IdUseChanges {
        packed: packed.use_range(id).len() as u32,
        stale: 0,
        added: 0,
        last: NONE,
    })
}

impl UseEdits {
    /// Removes the uses of an instruction, which begin at a position, from their lists.
    fn unlink_uses(&mut self, packed: &PackedUses, inst: Inst, first: usize) {
        for at in first..self.added.len() {
            let AddedUse {
                place,
                id,
                previous,
                next,
            } = self.added[at];
            if place.inst != inst {
                break;
            }
            let uses = get_changes_mut(&mut self.ids, packed, id);
            uses.added -= 1;
            match self.added.get_mut(next as usize) {
                Some(next) => next.previous = previous,
                None => uses.last = previous,
            }
            if let Some(before) = self.added.get_mut(previous as usize) {
                before.next = next;
            }
        }
    }

    /// Drops the stale packed uses of an id when they are the majority.
    fn drop_stale_uses(&mut self, packed: &mut PackedUses, id: Id) {
        let range = packed.use_range(id);
        let Some(uses) = self.ids.get_mut(id) else {
            return;
        };
        if uses.stale * 2 <= uses.packed {
            return;
        }
        let range = range.start..range.start + uses.packed as usize;
        let kept = packed.retain_in_range(range, |inst| {
            self.insts[inst.index()] == UseLocation::Packed
        });
        (uses.packed, uses.stale) = (kept as u32, 0);
    }
}

impl PartialEq for DefUse {
    fn eq(&self, other: &DefUse) -> bool {
        let bound = self.bound().max(other.bound());
        let sorted = |chains: &DefUse, id| {
            let mut uses: Vec<IdUse> = chains.uses(id).collect();
            uses.sort_unstable();
            uses
        };
        (1..bound).filter_map(Id::new).all(|id| {
            self.definition(id) == other.definition(id) && sorted(self, id) == sorted(other, id)
        })
    }
}

impl DefUse {
    /// A bound above every recorded id.
    fn bound(&self) -> u32 {
        let edited = self.edits.as_ref().map_or(0, |e| e.ids.len());
        self.packed.bound().max(edited).max(self.definitions.len()) as u32
    }
}

impl fmt::Display for DefUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for id in (1..self.bound()).filter_map(Id::new) {
            if self.definition(id).is_some() {
                writeln!(f, "{id} ; uses: {}", self.use_count(id))?;
            }
        }
        Ok(())
    }
}

//! Definitions and uses of every id.

use crate::ir::{IdWords, Inst, InstRef, Module};
use crate::{Id, IdMap};
use std::fmt;

/// A place where an id is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    /// The instruction.
    pub inst: Inst,
    /// Position among its words.
    pub at: u16,
}

/// Def-use chains: for each id its definition and its uses, which are kept up by telling of each
/// change.
///
/// The uses of an unedited module lie packed, those of each id side by side: six bytes for each use.
/// What changes since is noted beside them ([`Edits`], made with the first change). Taking note of a
/// change takes time in the instruction's operands, going through an id's uses in their number.
#[derive(Clone, Debug)]
pub struct DefUse {
    words: IdWords,
    definitions: IdMap<Option<Inst>>,
    packed: Packed,
    edits: Option<Box<Edits>>,
}

/// The uses when the chains were computed.
#[derive(Clone, Debug)]
struct Packed {
    /// Begin of each id's uses; they end where those of the next id begin.
    first: Vec<u32>,
    insts: Vec<Inst>,
    at: Vec<u16>,
    /// Number of instructions that there were.
    of: usize,
}

impl Packed {
    /// Uses are counted, and then put where the count says: the module is walked twice, the definitions
    /// are found on the way.
    fn compute(module: &Module, words: &IdWords, definitions: &mut IdMap<Option<Inst>>) -> Packed {
        // The row behind the ids' ends the uses of the last one.
        let mut first = vec![0u32; module.bound() as usize + 1];
        let rows = first.as_mut_slice();
        // Where each instruction's ids stand, so that the second walk need not ask again.
        let mut masks = vec![SPLIT; module.inst_count()];
        for inst in module.all_insts() {
            if let Some(id) = inst.result() {
                definitions.get_mut(id).get_or_insert(inst.handle());
            }
            let mask = IdWords::mask(inst).unwrap_or(SPLIT);
            masks[inst.handle().index()] = mask;
            visit(words, inst, mask, |_, id| {
                if let Some(count) = rows.get_mut(id as usize) {
                    *count += 1;
                }
            });
        }
        let mut end = 0;
        for row in rows.iter_mut() {
            end += *row;
            *row = end;
        }
        let (mut insts, mut at) = (vec![Inst::FIRST; end as usize], vec![0; end as usize]);
        let (of_inst, of_at) = (insts.as_mut_slice(), at.as_mut_slice());
        for inst in module.all_insts() {
            let handle = inst.handle();
            visit(words, inst, masks[handle.index()], |position, id| {
                if let Some(row) = rows.get_mut(id as usize) {
                    let slot = *row as usize - 1;
                    *row = slot as u32;
                    of_inst[slot] = handle;
                    of_at[slot] = position as u16;
                }
            });
        }
        Packed {
            first,
            insts,
            at,
            of: module.inst_count(),
        }
    }

    fn range(&self, id: Id) -> std::ops::Range<usize> {
        match self.first.get(id.index()..id.index() + 2) {
            Some(ends) => ends[0] as usize..ends[1] as usize,
            None => 0..0,
        }
    }
}

/// Instead of a mask: the instruction has to be split.
const SPLIT: u32 = u32::MAX;

/// [`IdWords::visit`] with one loop for almost all instructions, of which the mask is known.
#[inline(always)]
fn visit(words: &IdWords, inst: InstRef<'_>, mut mask: u32, mut visit: impl FnMut(usize, u32)) {
    if mask == SPLIT {
        return words.visit(inst, |at, id| visit(at, id.word()));
    }
    let words = inst.words();
    while mask != 0 {
        let at = mask.trailing_zeros() as usize;
        visit(at, words[at]);
        mask &= mask - 1;
    }
}

const NONE: u32 = u32::MAX;

/// Where the uses of an instruction are noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Noted {
    /// Among the packed ones.
    Packed,
    Nowhere,
    /// Among the added ones, from this position on.
    Added(u32),
}

/// A use that was added.
#[derive(Clone, Copy, Debug)]
struct Added {
    place: Use,
    id: Id,
    previous: u32,
    next: u32,
}

/// What changed of an id's uses.
#[derive(Clone, Copy, Debug)]
struct Uses {
    /// Packed uses that are still gone through, and how many of them hold no more.
    packed: u32,
    gone: u32,
    /// Number of the uses that were added, and the last of them.
    added: u32,
    last: u32,
}

/// What changed since the uses were packed: instructions whose packed uses hold no more, and for each
/// id a linked list of the uses that were added.
#[derive(Clone, Debug)]
struct Edits {
    insts: Vec<Noted>,
    ids: IdMap<Option<Uses>>,
    added: Vec<Added>,
}

impl DefUse {
    /// Two passes over the module.
    pub fn compute(module: &Module) -> Self {
        let words = IdWords::new(module);
        let mut definitions = IdMap::new(module.bound(), None);
        let packed = Packed::compute(module, &words, &mut definitions);
        DefUse {
            words,
            definitions,
            packed,
            edits: None,
        }
    }

    /// Takes note of an instruction that was put into the module.
    pub fn add(&mut self, inst: InstRef<'_>) {
        let handle = inst.handle();
        if let Some(id) = inst.result() {
            self.definitions.get_mut(id).get_or_insert(handle);
        }
        let (packed, edits) = (&self.packed, edits(&mut self.edits, &self.packed));
        let first = edits.added.len() as u32;
        self.words.visit(inst, |at, id| {
            let own = edits.added.len() as u32;
            let uses = uses(&mut edits.ids, packed, id);
            let previous = std::mem::replace(&mut uses.last, own);
            uses.added += 1;
            if let Some(before) = edits.added.get_mut(previous as usize) {
                before.next = own;
            }
            let at = at as u16;
            edits.added.push(Added {
                place: Use { inst: handle, at },
                id,
                previous,
                next: NONE,
            });
        });
        *noted(&mut edits.insts, handle) = Noted::Added(first);
    }

    /// Takes note that an instruction goes out of the module, or is about to change: its words are
    /// still those of which the chains know.
    pub fn remove(&mut self, inst: InstRef<'_>) {
        let handle = inst.handle();
        if let Some(id) = inst.result()
            && self.definitions[id] == Some(handle)
        {
            self.definitions.set(id, None);
        }
        let edits = edits(&mut self.edits, &self.packed);
        let before = std::mem::replace(noted(&mut edits.insts, handle), Noted::Nowhere);
        match before {
            Noted::Nowhere => {}
            Noted::Added(first) => edits.unlink(&self.packed, handle, first as usize),
            Noted::Packed => {
                let packed = &mut self.packed;
                self.words.visit(inst, |_, id| {
                    if !packed.range(id).is_empty() {
                        uses(&mut edits.ids, packed, id).gone += 1;
                    }
                });
                // Instructions that use an id twice are counted completely by now.
                self.words.visit(inst, |_, id| edits.shorten(packed, id));
            }
        }
    }

    /// The instruction that defines an id.
    pub fn definition(&self, id: Id) -> Option<Inst> {
        self.definitions[id]
    }

    /// The uses of an id, the newest first.
    pub fn uses(&self, id: Id) -> impl Iterator<Item = Use> + '_ {
        let edits = self.edits.as_deref();
        let changed = edits.and_then(|e| e.ids[id]);
        let mut last = changed.map_or(NONE, |c| c.last);
        let added = std::iter::from_fn(move || {
            let use_ = edits?.added.get(last as usize)?;
            last = use_.previous;
            Some(use_.place)
        });
        let mut range = self.packed.range(id);
        if let Some(changed) = changed {
            range.end = range.start + changed.packed as usize;
        }
        let packed = range.map(|at| Use {
            inst: self.packed.insts[at],
            at: self.packed.at[at],
        });
        added.chain(packed.filter(move |place| {
            edits.is_none_or(|e| e.insts[place.inst.index()] == Noted::Packed)
        }))
    }

    /// The number of uses of an id, names and decorations included.
    pub fn count(&self, id: Id) -> u32 {
        let changed = self.edits.as_deref().and_then(|e| e.ids[id]);
        match changed {
            Some(uses) => uses.packed - uses.gone + uses.added,
            None => self.packed.range(id).len() as u32,
        }
    }

    /// Has every use of `old` use `new`, names and decorations left out.
    pub fn replace_all(&mut self, module: &mut Module, old: Id, new: Id) {
        if old == new {
            return;
        }
        let users: Vec<Use> = self.uses(old).collect();
        for place in users {
            if module.inst(place.inst).op().is_about_ids() {
                continue;
            }
            self.remove(module.inst(place.inst));
            module.words_mut(place.inst)[usize::from(place.at)] = new.word();
            self.add(module.inst(place.inst));
        }
    }
}

fn edits<'a>(edits: &'a mut Option<Box<Edits>>, packed: &Packed) -> &'a mut Edits {
    edits.get_or_insert_with(|| {
        Box::new(Edits {
            insts: vec![Noted::Packed; packed.of],
            ids: IdMap::new(packed.first.len() as u32, None),
            added: Vec::new(),
        })
    })
}

fn noted(insts: &mut Vec<Noted>, inst: Inst) -> &mut Noted {
    if inst.index() >= insts.len() {
        insts.resize(inst.index() + 1, Noted::Nowhere);
    }
    &mut insts[inst.index()]
}

fn uses<'a>(ids: &'a mut IdMap<Option<Uses>>, packed: &Packed, id: Id) -> &'a mut Uses {
    ids.get_mut(id).get_or_insert_with(|| Uses {
        packed: packed.range(id).len() as u32,
        gone: 0,
        added: 0,
        last: NONE,
    })
}

impl Edits {
    /// Takes the uses of an instruction, which begin at a position, out of their lists.
    fn unlink(&mut self, packed: &Packed, inst: Inst, first: usize) {
        for at in first..self.added.len() {
            let Added {
                place,
                id,
                previous,
                next,
            } = self.added[at];
            if place.inst != inst {
                break;
            }
            let uses = uses(&mut self.ids, packed, id);
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

    /// Drops the packed uses of an id that hold no more, once they are the greater part of them.
    fn shorten(&mut self, packed: &mut Packed, id: Id) {
        let range = packed.range(id);
        let Some(uses) = self.ids.get_mut(id) else {
            return;
        };
        if uses.gone * 2 <= uses.packed {
            return;
        }
        let mut kept = range.start;
        for at in range.start..range.start + uses.packed as usize {
            if self.insts[packed.insts[at].index()] == Noted::Packed {
                packed.insts[kept] = packed.insts[at];
                packed.at[kept] = packed.at[at];
                kept += 1;
            }
        }
        (uses.packed, uses.gone) = ((kept - range.start) as u32, 0);
    }
}

impl PartialEq for DefUse {
    fn eq(&self, other: &DefUse) -> bool {
        let bound = self.bound().max(other.bound());
        let sorted = |chains: &DefUse, id| {
            let mut uses: Vec<Use> = chains.uses(id).collect();
            uses.sort_unstable();
            uses
        };
        (1..bound).filter_map(Id::new).all(|id| {
            self.definition(id) == other.definition(id) && sorted(self, id) == sorted(other, id)
        })
    }
}

impl DefUse {
    /// Above every id of which something is known.
    fn bound(&self) -> u32 {
        let edited = self.edits.as_ref().map_or(0, |e| e.ids.len());
        self.packed
            .first
            .len()
            .max(edited)
            .max(self.definitions.len()) as u32
    }
}

impl fmt::Display for DefUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for id in (1..self.bound()).filter_map(Id::new) {
            if self.definition(id).is_some() {
                writeln!(f, "{id} ; uses: {}", self.count(id))?;
            }
        }
        Ok(())
    }
}

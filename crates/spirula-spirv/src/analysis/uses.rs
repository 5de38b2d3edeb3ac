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

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node {
    place: Use,
    id: Id,
    previous: u32,
    next: u32,
}

/// Def-use chains: for each id its definition and a linked list of its uses, which are kept up by
/// telling of each change. Every operation takes time in the instruction's operands, or in the uses
/// of the ids concerned.
#[derive(Clone, Debug)]
pub struct DefUse {
    words: IdWords,
    definitions: IdMap<Option<Inst>>,
    /// Last use of each id in `nodes`.
    last: IdMap<u32>,
    count: IdMap<u32>,
    nodes: Vec<Node>,
    /// Begin and number of each instruction's uses in `nodes`.
    of_inst: Vec<(u32, u32)>,
}

impl DefUse {
    /// One pass over the module.
    pub fn compute(module: &Module) -> Self {
        let mut chains = DefUse {
            words: IdWords::new(module),
            definitions: IdMap::new(module.bound(), None),
            last: IdMap::new(module.bound(), NONE),
            count: IdMap::new(module.bound(), 0),
            nodes: Vec::with_capacity(module.inst_count() * 2),
            of_inst: vec![(0, 0); module.inst_count()],
        };
        for inst in module.all_insts() {
            chains.add(inst);
        }
        chains
    }

    /// Takes note of an instruction that was put into the module.
    pub fn add(&mut self, inst: InstRef<'_>) {
        let handle = inst.handle();
        if let Some(id) = inst.result() {
            self.definitions.get_mut(id).get_or_insert(handle);
        }
        let first = self.nodes.len() as u32;
        let DefUse {
            words,
            nodes,
            last,
            count,
            ..
        } = self;
        words.visit(inst, |at, id| {
            let own = nodes.len() as u32;
            let previous = std::mem::replace(last.get_mut(id), own);
            if previous != NONE {
                nodes[previous as usize].next = own;
            }
            *count.get_mut(id) += 1;
            let place = Use {
                inst: handle,
                at: at as u16,
            };
            nodes.push(Node {
                place,
                id,
                previous,
                next: NONE,
            });
        });
        let number = self.nodes.len() as u32 - first;
        if handle.index() >= self.of_inst.len() {
            self.of_inst.resize(handle.index() + 1, (0, 0));
        }
        self.of_inst[handle.index()] = (first, number);
    }

    /// Takes note that an instruction goes out of the module, or is about to change.
    pub fn remove(&mut self, inst: InstRef<'_>) {
        let handle = inst.handle();
        if let Some(id) = inst.result()
            && self.definitions[id] == Some(handle)
        {
            self.definitions.set(id, None);
        }
        let row = self.of_inst.get_mut(handle.index());
        let Some((first, number)) = row.map(std::mem::take) else {
            return;
        };
        for at in first..first + number {
            let Node {
                id, previous, next, ..
            } = self.nodes[at as usize];
            match next {
                NONE => self.last.set(id, previous),
                next => self.nodes[next as usize].previous = previous,
            }
            if previous != NONE {
                self.nodes[previous as usize].next = next;
            }
            *self.count.get_mut(id) -= 1;
        }
    }

    /// The instruction that defines an id.
    pub fn definition(&self, id: Id) -> Option<Inst> {
        self.definitions[id]
    }

    /// The uses of an id, the newest first.
    pub fn uses(&self, id: Id) -> impl Iterator<Item = Use> + '_ {
        let mut at = self.last[id];
        std::iter::from_fn(move || {
            let node = self.nodes.get(at as usize)?;
            at = node.previous;
            Some(node.place)
        })
    }

    /// The number of uses of an id, names and decorations included.
    pub fn count(&self, id: Id) -> u32 {
        self.count[id]
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

impl PartialEq for DefUse {
    fn eq(&self, other: &DefUse) -> bool {
        let bound = self.last.len().max(other.last.len()) as u32;
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

impl fmt::Display for DefUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for id in (1..self.last.len() as u32).filter_map(Id::new) {
            if self.definition(id).is_some() {
                writeln!(f, "{id} ; uses: {}", self.count(id))?;
            }
        }
        Ok(())
    }
}

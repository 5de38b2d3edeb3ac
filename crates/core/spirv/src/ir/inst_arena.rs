//! The instruction arena: eight bytes for each instruction, and links for those that were moved.
//!
//! Instructions get their handles in the order in which they are read or created. The list neighbours of most
//! instructions are therefore the previous and the next handle. Two bits of a node tell whether its instruction is
//! the first or the last of its list. Removed instructions are skipped: the first and the last of a run of them
//! hold its length. Only instructions with other neighbours have explicit links. Links are in pages of [`PAGE`],
//! which are allocated when the first instruction of a page needs one. Memory grows with insertions, not with the
//! module, nor with deletions.

use super::edit::GROWTH;
use super::module::{Inst, List, trim_capacity};

/// An instruction in the arena.
#[derive(Clone, Copy, Debug)]
struct InstNode {
    /// Its first word in the pool.
    start: u32,
    /// Number of its list, from 1 on, and flags for its neighbours. For a removed instruction the length of the
    /// run of which it is the first or the last.
    list: u32,
}

/// It is the first of its list.
const FIRST: u32 = 1 << 31;
/// It is the last of its list.
const LAST: u32 = 1 << 30;
/// Its neighbours are written down, and the other two bits mean nothing.
const LINKED: u32 = 1 << 29;
/// It was in a list and is in none.
const GONE: u32 = 1 << 28;

/// Most lists of a module. This limits the words of a module: no instruction creates more lists than it has
/// words.
pub(super) const MOST_LISTS: usize = GONE as usize - 1;

/// Instructions whose links are kept together.
const PAGE: usize = 8;

/// No page.
const NONE: u32 = u32::MAX;

/// The neighbours of an instruction.
#[derive(Clone, Copy, Debug, Default)]
struct InstLink {
    previous: Option<Inst>,
    next: Option<Inst>,
}

/// The nodes of all instructions of a module.
#[derive(Clone, Debug, Default)]
pub(super) struct InstArena {
    rows: Vec<InstNode>,
    /// Number of the page of each [`PAGE`] instructions, as far as any of them has links.
    pages: Vec<u32>,
    links: Vec<InstLink>,
}

impl InstArena {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_full(&self) -> bool {
        self.rows.len() == self.rows.capacity()
    }

    pub fn reserve_exact(&mut self, more: usize) {
        self.rows.reserve_exact(more);
    }

    /// Releases unused room, if it is more than a little.
    pub fn trim_rows(&mut self) {
        trim_capacity(&mut self.rows);
    }

    /// A new instruction whose words begin at `start`, in no list.
    #[inline]
    pub fn push_free(&mut self, start: u32) -> Inst {
        self.push_node(start, FIRST | LAST)
    }

    /// A new instruction in a list: after the previously created one unless it is the first.
    #[inline]
    pub fn push_in(&mut self, start: u32, list: List, is_first: bool, is_last: bool) -> Inst {
        let first = if is_first { FIRST } else { 0 };
        let last = if is_last { LAST } else { 0 };
        self.push_node(start, list_number(list) | first | last)
    }

    #[inline]
    fn push_node(&mut self, start: u32, list: u32) -> Inst {
        if self.is_full() {
            self.rows.reserve_exact(self.rows.len() / GROWTH + 16);
        }
        let inst = Inst::new(self.rows.len());
        self.rows.push(InstNode { start, list });
        inst
    }

    #[inline]
    pub fn start(&self, inst: Inst) -> u32 {
        self.rows[inst.index()].start
    }

    pub fn set_start(&mut self, inst: Inst, start: u32) {
        self.rows[inst.index()].start = start;
    }

    pub fn containing_list(&self, inst: Inst) -> Option<List> {
        let known = self.rows[inst.index()].list;
        let number = if known & GONE == 0 {
            known & (GONE - 1)
        } else {
            0
        };
        number.checked_sub(1).map(|at| List::new(at as usize))
    }

    /// Appends a new instruction to a list that is empty or whose last instruction was created just before it.
    /// Returns whether that was so.
    #[inline]
    pub fn append_adjacent(&mut self, inst: Inst, list: List, tail: Option<Inst>) -> bool {
        let at = inst.index();
        if self.rows[at].list != FIRST | LAST {
            return false;
        }
        let first = match tail {
            None => FIRST,
            Some(tail) => {
                let known = &mut self.rows[tail.index()].list;
                if tail.index() + 1 != at || *known & LINKED != 0 {
                    return false;
                }
                *known &= !LAST;
                0
            }
        };
        self.rows[at].list = list_number(list) | first | LAST;
        true
    }

    /// Links a free instruction between two instructions of a list.
    pub fn insert_between(
        &mut self,
        inst: Inst,
        list: List,
        previous: Option<Inst>,
        next: Option<Inst>,
    ) {
        if self.rows[inst.index()].list & GONE != 0 {
            self.leave_run(inst);
        }
        self.rows[inst.index()].list = list_number(list) | FIRST | LAST;
        if let Some(previous) = previous {
            self.set_next(previous, Some(inst));
        }
        if let Some(next) = next {
            self.set_previous(next, Some(inst));
        }
        self.set_previous(inst, previous);
        self.set_next(inst, next);
    }

    /// Takes an instruction out of its list, from between its neighbours.
    pub fn unlink_node(&mut self, inst: Inst, previous: Option<Inst>, next: Option<Inst>) {
        let at = inst.index();
        let before = at
            .checked_sub(1)
            .map_or(0, |at| self.removed_run_length(at));
        let after = self.removed_run_length(at + 1);
        self.rows[at].list = GONE;
        self.set_run(at - before, before + 1 + after);
        if let Some(previous) = previous {
            self.set_next(previous, next);
        }
        if let Some(next) = next {
            self.set_previous(next, previous);
        }
    }

    /// Length of the run of instructions taken out that a node is the first or the last of.
    fn removed_run_length(&self, at: usize) -> usize {
        match self.rows.get(at) {
            Some(node) if node.list & GONE != 0 => (node.list & (GONE - 1)) as usize,
            _ => 0,
        }
    }

    /// The instructions from a place on that were taken out are a run of this length.
    fn set_run(&mut self, from: usize, length: usize) {
        if length > 0 {
            self.rows[from].list = GONE | length as u32;
            self.rows[from + length - 1].list = GONE | length as u32;
        }
    }

    /// Writes explicit links for the two instructions around a run, and splits the run around one of its own
    /// that is linked again. Searching the nearer end takes time proportional to the smaller part.
    fn leave_run(&mut self, inst: Inst) {
        let at = inst.index();
        let is_gone = |nodes: &InstArena, at: Option<usize>| {
            let node = at.and_then(|at| nodes.rows.get(at));
            node.is_some_and(|n| n.list & GONE != 0)
        };
        let mut far = 0;
        let (first, length) = loop {
            if !is_gone(self, at.checked_sub(far + 1)) {
                let first = at - far;
                break (first, self.removed_run_length(first));
            }
            if !is_gone(self, Some(at + far + 1)) {
                let last = at + far;
                let length = self.removed_run_length(last);
                break (last + 1 - length, length);
            }
            far += 1;
        };
        let is_implied = |nodes: &InstArena, at: usize, end: u32| {
            let node = nodes.rows.get(at);
            node.is_some_and(|n| n.list & (LINKED | end) == 0)
        };
        if let Some(before) = first.checked_sub(1)
            && is_implied(self, before, LAST)
        {
            self.write_down(Inst::new(before));
        }
        if is_implied(self, first + length, FIRST) {
            self.write_down(Inst::new(first + length));
        }
        self.rows[at].list = FIRST | LAST;
        self.set_run(first, at - first);
        self.set_run(at + 1, first + length - at - 1);
    }

    #[inline]
    pub fn next(&self, inst: Inst) -> Option<Inst> {
        let flags = self.rows[inst.index()].list;
        if flags & (LAST | LINKED) == 0 {
            return Some(self.live_after(inst));
        }
        if flags & LINKED != 0 {
            self.links[self.link_index(inst)].next
        } else {
            None
        }
    }

    #[inline]
    pub fn previous(&self, inst: Inst) -> Option<Inst> {
        let flags = self.rows[inst.index()].list;
        if flags & LINKED != 0 {
            self.links[self.link_index(inst)].previous
        } else if flags & FIRST != 0 {
            None
        } else {
            self.live_before(inst)
        }
    }

    /// The instruction with the next handle, those that were taken out passed over.
    #[inline]
    fn live_after(&self, inst: Inst) -> Inst {
        let after = inst.next_handle();
        match self.removed_run_length(after.index()) {
            0 => after,
            length => Inst::new(after.index() + length),
        }
    }

    /// The instruction with the handle before, those that were taken out passed over.
    #[inline]
    fn live_before(&self, inst: Inst) -> Option<Inst> {
        let before = inst.index().checked_sub(1)?;
        before
            .checked_sub(self.removed_run_length(before))
            .map(Inst::new)
    }

    pub fn set_next(&mut self, inst: Inst, next: Option<Inst>) {
        let implied = self.live_after(inst);
        let flags = &mut self.rows[inst.index()].list;
        if *flags & LINKED == 0 {
            if next.is_none() {
                *flags |= LAST;
                return;
            }
            if next == Some(implied) {
                *flags &= !LAST;
                return;
            }
            self.write_down(inst);
        }
        let at = self.link_index(inst);
        self.links[at].next = next;
    }

    fn set_previous(&mut self, inst: Inst, previous: Option<Inst>) {
        let implied = self.live_before(inst);
        let flags = &mut self.rows[inst.index()].list;
        if *flags & LINKED == 0 {
            if previous.is_none() {
                *flags |= FIRST;
                return;
            }
            if previous == implied {
                *flags &= !FIRST;
                return;
            }
            self.write_down(inst);
        }
        let at = self.link_index(inst);
        self.links[at].previous = previous;
    }

    /// The position of the explicit links of an instruction.
    fn link_index(&self, inst: Inst) -> usize {
        let page = self.pages[inst.index() / PAGE] as usize;
        page * PAGE + inst.index() % PAGE
    }

    /// Writes the implicit neighbours of an instruction as explicit links.
    fn write_down(&mut self, inst: Inst) {
        let known = InstLink {
            previous: self.previous(inst),
            next: self.next(inst),
        };
        let at = inst.index() / PAGE;
        if at >= self.pages.len() {
            self.pages.resize(self.rows.len().div_ceil(PAGE), NONE);
        }
        if self.pages[at] == NONE {
            self.pages[at] = (self.links.len() / PAGE) as u32;
            if self.links.len() == self.links.capacity() {
                // Doubling would take more than the module for a module that is changed everywhere.
                self.links.reserve_exact(self.links.len() / GROWTH + PAGE);
            }
            self.links.extend([InstLink::default(); PAGE]);
        }
        self.rows[inst.index()].list |= LINKED;
        let at = self.link_index(inst);
        self.links[at] = known;
    }
}

/// A list number in a node.
fn list_number(list: List) -> u32 {
    list.index() as u32 + 1
}

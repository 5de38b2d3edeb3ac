//! Where instructions stand: eight bytes for each, and links for those that were moved.
//!
//! Instructions get their handles in the order in which they are read or made, so that the neighbours of
//! most in their list have the handles before and behind. A node says by a bit each that its instruction is
//! the first or the last of its list. Only instructions whose neighbours are others have these written
//! down, in pages of [`PAGE`] links that are made when the first instruction of a page needs one: memory
//! grows with edits, not with the module.

use super::edit::GROWTH;
use super::module::{Inst, List};

/// An instruction in the arena.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// Its first word in the pool.
    start: u32,
    /// Number of its list, from 1 on, and what is known of its neighbours.
    list: u32,
}

/// No instruction stands before it in its list.
const FIRST: u32 = 1 << 31;
/// None stands behind it.
const LAST: u32 = 1 << 30;
/// Its neighbours are written down, and the other two bits mean nothing.
const LINKED: u32 = 1 << 29;

/// Most lists that a module may have, which limits the words of a module: no instruction makes more lists
/// than it has words.
pub(super) const MOST_LISTS: usize = LINKED as usize - 1;

/// Instructions whose links are kept together.
const PAGE: usize = 16;

/// No page.
const NONE: u32 = u32::MAX;

/// The neighbours of an instruction.
#[derive(Clone, Copy, Debug, Default)]
struct Link {
    previous: Option<Inst>,
    next: Option<Inst>,
}

/// The nodes of all instructions of a module.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    rows: Vec<Node>,
    /// Number of the page of each [`PAGE`] instructions, as far as any of them has links.
    pages: Vec<u32>,
    links: Vec<Link>,
}

impl Nodes {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_full(&self) -> bool {
        self.rows.len() == self.rows.capacity()
    }

    pub fn reserve_exact(&mut self, more: usize) {
        self.rows.reserve_exact(more);
    }

    /// Gives back the room that was not needed.
    pub fn trim(&mut self) {
        self.rows.shrink_to_fit();
    }

    /// A new instruction whose words begin at `start`, in no list.
    #[inline]
    pub fn push(&mut self, start: u32) -> Inst {
        self.push_node(start, FIRST | LAST)
    }

    /// A new instruction in a list: behind the one made before it unless it is the first.
    #[inline]
    pub fn push_in(&mut self, start: u32, list: List, is_first: bool, is_last: bool) -> Inst {
        let first = if is_first { FIRST } else { 0 };
        let last = if is_last { LAST } else { 0 };
        self.push_node(start, number(list) | first | last)
    }

    #[inline]
    fn push_node(&mut self, start: u32, list: u32) -> Inst {
        if self.is_full() {
            self.rows.reserve_exact(self.rows.len() / GROWTH + 16);
        }
        let inst = Inst::at(self.rows.len());
        self.rows.push(Node { start, list });
        inst
    }

    #[inline]
    pub fn start(&self, inst: Inst) -> u32 {
        self.rows[inst.index()].start
    }

    pub fn set_start(&mut self, inst: Inst, start: u32) {
        self.rows[inst.index()].start = start;
    }

    pub fn list(&self, inst: Inst) -> Option<List> {
        let number = self.rows[inst.index()].list & (LINKED - 1);
        number.checked_sub(1).map(|at| List::at(at as usize))
    }

    /// Puts an instruction into a list, between two of its instructions.
    pub fn put(&mut self, inst: Inst, list: List, previous: Option<Inst>, next: Option<Inst>) {
        self.rows[inst.index()].list = number(list) | FIRST | LAST;
        self.set_previous(inst, previous);
        self.set_next(inst, next);
    }

    /// Takes an instruction out of its list; its neighbours still know it.
    pub fn free(&mut self, inst: Inst) {
        self.rows[inst.index()].list = FIRST | LAST;
    }

    #[inline]
    pub fn next(&self, inst: Inst) -> Option<Inst> {
        let flags = self.rows[inst.index()].list;
        if flags & (LAST | LINKED) == 0 {
            return Some(inst.behind());
        }
        if flags & LINKED != 0 {
            self.links[self.link(inst)].next
        } else {
            None
        }
    }

    #[inline]
    pub fn previous(&self, inst: Inst) -> Option<Inst> {
        let flags = self.rows[inst.index()].list;
        if flags & LINKED != 0 {
            self.links[self.link(inst)].previous
        } else if flags & FIRST != 0 {
            None
        } else {
            inst.index().checked_sub(1).map(Inst::at)
        }
    }

    pub fn set_next(&mut self, inst: Inst, next: Option<Inst>) {
        let flags = &mut self.rows[inst.index()].list;
        if *flags & LINKED == 0 {
            if next.is_none() {
                *flags |= LAST;
                return;
            }
            if next == Some(inst.behind()) {
                *flags &= !LAST;
                return;
            }
            self.write_down(inst);
        }
        let at = self.link(inst);
        self.links[at].next = next;
    }

    pub fn set_previous(&mut self, inst: Inst, previous: Option<Inst>) {
        let flags = &mut self.rows[inst.index()].list;
        if *flags & LINKED == 0 {
            match previous {
                None => {
                    *flags |= FIRST;
                    return;
                }
                Some(previous) if previous.behind() == inst => {
                    *flags &= !FIRST;
                    return;
                }
                Some(_) => self.write_down(inst),
            }
        }
        let at = self.link(inst);
        self.links[at].previous = previous;
    }

    /// Where the links of an instruction that has some stand.
    fn link(&self, inst: Inst) -> usize {
        let page = self.pages[inst.index() / PAGE] as usize;
        page * PAGE + inst.index() % PAGE
    }

    /// Writes down the neighbours that an instruction's bits say.
    fn write_down(&mut self, inst: Inst) {
        let known = Link {
            previous: self.previous(inst),
            next: self.next(inst),
        };
        let at = inst.index() / PAGE;
        if at >= self.pages.len() {
            self.pages.resize(self.rows.len().div_ceil(PAGE), NONE);
        }
        if self.pages[at] == NONE {
            self.pages[at] = (self.links.len() / PAGE) as u32;
            self.links.extend([Link::default(); PAGE]);
        }
        self.rows[inst.index()].list |= LINKED;
        let at = self.link(inst);
        self.links[at] = known;
    }
}

/// A list as it stands in a node.
fn number(list: List) -> u32 {
    list.index() as u32 + 1
}

//! Linked lists of instructions in the arena of a module.

use super::InstRef;
use super::module::{Inst, List, SpirvModule};

/// First and last instruction of a list.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InstListEnds {
    pub head: Option<Inst>,
    pub tail: Option<Inst>,
}

/// Iterator over the instructions of a list, from either end.
#[derive(Clone)]
pub struct InstIter<'a> {
    module: &'a SpirvModule,
    front: Option<Inst>,
    back: Option<Inst>,
}

impl<'a> InstIter<'a> {
    pub(super) fn new(module: &'a SpirvModule, list: List) -> Self {
        let ends = module.list_ends(list);
        InstIter {
            module,
            front: ends.head,
            back: ends.tail,
        }
    }
}

impl<'a> Iterator for InstIter<'a> {
    type Item = InstRef<'a>;

    #[inline]
    fn next(&mut self) -> Option<InstRef<'a>> {
        let inst = self.front?;
        if self.back == Some(inst) {
            self.front = None;
            self.back = None;
        } else {
            self.front = self.module.next(inst);
        }
        Some(self.module.inst(inst))
    }
}

impl DoubleEndedIterator for InstIter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let inst = self.back?;
        if self.front == Some(inst) {
            self.front = None;
            self.back = None;
        } else {
            self.back = self.module.previous(inst);
        }
        Some(self.module.inst(inst))
    }
}

//! Lists of instructions beside vectors: whatever is taken out and put in, in whatever order.

use proptest::prelude::*;
use spirula_spirv::grammar::{Op, SpirvVersion};
use spirula_spirv::ir::{Inst, InstRef, List, ModuleSection, SpirvModule};

/// Instructions that each list begins with.
const LENGTH: usize = 12;

/// A change: what happens to an instruction, and where.
#[derive(Clone, Copy, Debug)]
enum ListChange {
    /// Taken out.
    Remove(usize),
    /// Taken out where it is in a list, and put before or after another, or at the end of a list.
    Before(usize, usize),
    After(usize, usize),
    Append(usize, usize),
    /// A new instruction before another.
    New(usize),
}

fn change() -> impl Strategy<Value = ListChange> {
    let at = || 0..LENGTH * 4;
    prop_oneof![
        6 => at().prop_map(ListChange::Remove),
        2 => (at(), at()).prop_map(|(a, b)| ListChange::Before(a, b)),
        2 => (at(), at()).prop_map(|(a, b)| ListChange::After(a, b)),
        1 => (at(), 0..2usize).prop_map(|(a, l)| ListChange::Append(a, l)),
        1 => at().prop_map(ListChange::New),
    ]
}

/// A module's lists, and the same as vectors.
struct MirroredLists {
    module: SpirvModule,
    lists: [(List, Vec<Inst>); 2],
    all: Vec<Inst>,
}

impl MirroredLists {
    fn new() -> MirroredLists {
        let mut module = SpirvModule::new(SpirvVersion::NEWEST);
        let mut all = Vec::new();
        let lists = [ModuleSection::Sources, ModuleSection::Globals].map(|section| {
            let own: Vec<Inst> = (0..LENGTH)
                .map(|_| module.create_inst(Op::Nop, &[]))
                .collect();
            for inst in &own {
                module.append_inst(section.list(), *inst);
            }
            all.extend(&own);
            (section.list(), own)
        });
        MirroredLists { module, lists, all }
    }

    /// The list and the position of an instruction.
    fn place(&self, inst: Inst) -> Option<(usize, usize)> {
        let places = self.lists.iter().enumerate();
        let mut found = places.filter_map(|(list, (_, own))| {
            let at = own.iter().position(|i| *i == inst)?;
            Some((list, at))
        });
        found.next()
    }

    fn remove(&mut self, inst: Inst) {
        if let Some((list, at)) = self.place(inst) {
            self.lists[list].1.remove(at);
        }
        self.module.remove_inst(inst);
    }

    fn change(&mut self, change: ListChange) {
        let inst = |at: usize| self.all.get(at).copied();
        match change {
            ListChange::Remove(at) => {
                if let Some(inst) = inst(at) {
                    self.remove(inst);
                }
            }
            ListChange::Append(at, list) => {
                if let Some(inst) = inst(at) {
                    self.remove(inst);
                    self.module.append_inst(self.lists[list].0, inst);
                    self.lists[list].1.push(inst);
                }
            }
            ListChange::New(beside) => {
                let new = self.module.create_inst(Op::Nop, &[]);
                self.all.push(new);
                self.beside(new, self.all[beside % self.all.len()], false);
            }
            ListChange::Before(at, beside) | ListChange::After(at, beside) => {
                if let (Some(inst), Some(beside)) = (inst(at), inst(beside)) {
                    let after = matches!(change, ListChange::After(..));
                    self.beside(inst, beside, after);
                }
            }
        }
    }

    fn beside(&mut self, inst: Inst, beside: Inst, after: bool) {
        if inst == beside || self.place(beside).is_none() {
            return;
        }
        self.remove(inst);
        let Some((list, at)) = self.place(beside) else {
            return;
        };
        if after {
            self.module.insert_after(beside, inst);
        } else {
            self.module.insert_before(beside, inst);
        }
        self.lists[list].1.insert(at + usize::from(after), inst);
    }

    fn check(&self) {
        for (list, own) in &self.lists {
            let forth = self.module.list_insts(*list).map(InstRef::handle);
            assert_eq!(forth.collect::<Vec<_>>(), *own);
            let back = self.module.list_insts(*list).rev().map(InstRef::handle);
            assert!(back.eq(own.iter().rev().copied()), "backwards");
            assert!(own.iter().all(|i| self.module.list_of(*i) == Some(*list)));
        }
        let free = self.all.iter().filter(|i| self.place(**i).is_none());
        for inst in free {
            assert_eq!(self.module.list_of(*inst), None);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn lists_are_as_vectors(changes in prop::collection::vec(change(), 1..80)) {
        let mut both = MirroredLists::new();
        for change in changes {
            both.change(change);
            both.check();
        }
    }
}

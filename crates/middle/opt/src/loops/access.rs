//! What loops read and write, and whether that may be the same.

use crate::gvn::{Event, Kind, Memory, Place};
use crate::values::Facts;
use spirula_spirv::grammar::{Effects, Op};
use spirula_spirv::ir::{Block, Inst, InstRef, Module};

/// A load or store.
#[derive(Clone, Copy)]
pub struct Access {
    pub inst: Inst,
    pub place: Place,
}

/// What is read and what is written, in the order of the blocks.
#[derive(Default)]
pub struct Accesses {
    pub reads: Vec<Access>,
    pub writes: Vec<Access>,
}

/// What blocks read and write; `None` where more happens than that.
pub fn accesses(
    module: &Module,
    facts: &Facts,
    memory: &Memory,
    blocks: &[Block],
) -> Option<Accesses> {
    let mut found = Accesses::default();
    for i in blocks.iter().flat_map(|b| module.body(*b)) {
        let (inst, op) = (i.handle(), i.op());
        match memory.event(facts, module, i) {
            Some(Event::Write(place)) if op == Op::Store && place.kind != Kind::Volatile => {
                found.writes.push(Access { inst, place });
                continue;
            }
            Some(_) => return None,
            None => {}
        }
        if op == Op::Load {
            let place = memory.place(facts, module, i.id(0));
            if place.kind == Kind::Volatile {
                return None;
            }
            found.reads.push(Access { inst, place });
            continue;
        }
        if !is_plain(facts, i) {
            return None;
        }
    }
    Some(found)
}

/// Whether an instruction decides, or computes, and does nothing else.
pub fn is_plain(facts: &Facts, inst: InstRef<'_>) -> bool {
    match inst.op() {
        Op::Phi | Op::LoopMerge | Op::SelectionMerge | Op::Branch => true,
        Op::BranchConditional | Op::Switch => true,
        Op::ExtInst => {
            let set = facts.ids.set(inst);
            set.is_some_and(|s| s.is_debug_info() || s.effects(inst.word(1)).is_pure())
        }
        op => op.is_line() || op.effects().is_pure() || op.effects() == Effects::TRAPS,
    }
}

/// Whether two accesses are apart in all rounds: within one variable, what differs in one round may be
/// the same in another.
pub fn are_apart(module: &Module, facts: &Facts, memory: &Memory, a: &Access, b: &Access) -> bool {
    a.place.base != b.place.base && !memory.may_be_same(facts, module, &a.place, &b.place)
}

//! Order of global instructions in a linked module.

use crate::IdMap;
use crate::grammar::Op;
use crate::ir::{IdWords, Inst, InstRef, ModuleSection, SpirvModule};

/// Moves each global before its users, and otherwise keeps the order. Valid uses before the definition, after
/// `OpTypeForwardPointer`, are left alone. Line instructions move with their subjects.
pub(super) fn definitions_first(module: &mut SpirvModule) {
    let ids = IdWords::new(module);
    let mut leader: IdMap<Option<u32>> = IdMap::new(module.bound(), None);
    let mut groups: Vec<(Inst, Inst)> = Vec::new();
    let mut forward = IdMap::new(0, false);
    let mut lines = None;
    for inst in module.section_insts(ModuleSection::Globals) {
        let first = *lines.get_or_insert(inst.handle());
        if inst.op().is_line() {
            continue;
        }
        lines = None;
        if let Some(id) = inst.result() {
            leader.set(id, Some(groups.len() as u32));
        }
        if inst.op() == Op::TypeForwardPointer {
            forward.set(inst.id_operand(0), true);
        }
        groups.push((first, inst.handle()));
    }
    let mut order = Vec::with_capacity(groups.len());
    let mut state = vec![GlobalVisitState::New; groups.len()];
    let mut stack: Vec<u32> = Vec::new();
    for start in 0..groups.len() as u32 {
        stack.push(start);
        while let Some(&at) = stack.last() {
            match std::mem::replace(&mut state[at as usize], GlobalVisitState::Open) {
                GlobalVisitState::New => {
                    let inst = module.inst(groups[at as usize].1);
                    let begin = stack.len();
                    // Debug information may refer to later instructions.
                    if inst.op() != Op::ExtInstWithForwardRefsKHR
                        && inst.op() != Op::TypeForwardPointer
                    {
                        ids.visit_uses(inst, |_, id| {
                            let next = leader[id].filter(|_| !forward[id]);
                            stack.extend(
                                next.filter(|n| state[*n as usize] == GlobalVisitState::New),
                            );
                        });
                    }
                    stack[begin..].reverse();
                }
                GlobalVisitState::Open => {
                    state[at as usize] = GlobalVisitState::Done;
                    order.push(at);
                    stack.pop();
                }
                GlobalVisitState::Done => {
                    state[at as usize] = GlobalVisitState::Done;
                    stack.pop();
                }
            }
        }
    }
    for at in order {
        let (first, last) = groups[at as usize];
        let mut next = Some(first);
        while let Some(inst) = next {
            next = module.next(inst).filter(|_| inst != last);
            module.remove_inst(inst);
            module.append_inst(ModuleSection::Globals.list(), inst);
        }
    }
    // Lines after the last global stay there.
    let trailing = lines;
    move_to_end(module, trailing);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum GlobalVisitState {
    New,
    Open,
    Done,
}

fn move_to_end(module: &mut SpirvModule, first: Option<Inst>) {
    let Some(first) = first else { return };
    let rest: Vec<Inst> = module
        .section_insts(ModuleSection::Globals)
        .map(InstRef::handle)
        .skip_while(|i| *i != first)
        .take_while(|i| module.inst(*i).op().is_line())
        .collect();
    for inst in rest {
        module.remove_inst(inst);
        module.append_inst(ModuleSection::Globals.list(), inst);
    }
}

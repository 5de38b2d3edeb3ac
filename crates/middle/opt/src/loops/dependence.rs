//! Dependence tests of loops: which memory a loop reads and writes, and whether two accesses may alias.

use crate::gvn::{AliasAnalysis, MemoryEvent, MemoryLocation, WriterScope};
use crate::values::ModuleValues;
use spirula_spirv::grammar::{InstructionEffects, Op};
use spirula_spirv::ir::{Block, Inst, InstRef, SpirvModule};

/// A load or store.
#[derive(Clone, Copy)]
pub struct LoopAccess {
    pub inst: Inst,
    pub place: MemoryLocation,
}

/// Loads and stores in block order.
#[derive(Default)]
pub struct LoopAccesses {
    pub reads: Vec<LoopAccess>,
    pub writes: Vec<LoopAccess>,
}

/// The loads and stores of blocks; `None` if they have other effects.
pub fn gather_accesses(
    module: &SpirvModule,
    facts: &ModuleValues,
    memory: &AliasAnalysis,
    blocks: &[Block],
) -> Option<LoopAccesses> {
    let mut found = LoopAccesses::default();
    for i in blocks.iter().flat_map(|b| module.body(*b)) {
        let (inst, op) = (i.handle(), i.op());
        match memory.classify_event(facts, module, i) {
            Some(MemoryEvent::Write(place))
                if op == Op::Store && place.kind != WriterScope::Volatile =>
            {
                found.writes.push(LoopAccess { inst, place });
                continue;
            }
            Some(_) => return None,
            None => {}
        }
        if op == Op::Load {
            let place = memory.pointer_location(facts, module, i.id_operand(0));
            if place.kind == WriterScope::Volatile {
                return None;
            }
            found.reads.push(LoopAccess { inst, place });
            continue;
        }
        if !is_plain(facts, i) {
            return None;
        }
    }
    Some(found)
}

/// Whether an instruction is a branch or a computation without effects.
pub fn is_plain(facts: &ModuleValues, inst: InstRef<'_>) -> bool {
    match inst.op() {
        Op::Phi | Op::LoopMerge | Op::SelectionMerge | Op::Branch => true,
        Op::BranchConditional | Op::Switch => true,
        Op::ExtInst => {
            let set = facts.ids.ext_inst_set(inst);
            set.is_some_and(|s| {
                s.is_debug_info() || s.instruction_effects(inst.operand_word(1)).is_pure()
            })
        }
        op => op.is_line() || op.effects().is_pure() || op.effects() == InstructionEffects::TRAPS,
    }
}

/// Whether two accesses are independent in all iterations. Within one variable, elements that differ in one
/// iteration may coincide in another.
pub fn are_apart(
    module: &SpirvModule,
    facts: &ModuleValues,
    memory: &AliasAnalysis,
    a: &LoopAccess,
    b: &LoopAccess,
) -> bool {
    a.place.base != b.place.base && !memory.may_be_same(facts, module, &a.place, &b.place)
}

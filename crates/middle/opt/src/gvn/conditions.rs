//! Condition propagation: conditions whose value is known in a block because a branch above has decided them.
//!
//! A block that is reached by one edge of a branch only knows the condition, and so do all blocks that it
//! dominates. A conjunction that is true decides both of its operands, and so does a disjunction that is false.
//! LLVM's `GVN` propagates equalities in the same way. Cost: one entry for each such block and operand, and a look
//! at a few entries for each use.

use crate::analyses::FlowAnalysis;
use crate::values::ModuleValues;
use rustc_hash::FxHashMap;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::SpirvModule;

/// Most parts of a condition that are examined for a branch.
const MOST_PARTS: usize = 16;

/// Most entries that are examined for a use.
const MOST_ENTRIES: usize = 8;

/// The decided conditions of a function, each with the blocks from which on it is decided.
#[derive(Default)]
pub struct DecidedConditions {
    decided: FxHashMap<Id, Vec<(u32, bool)>>,
}

impl DecidedConditions {
    /// Removes all entries.
    pub fn clear(&mut self) {
        self.decided.clear();
    }

    /// Records the conditions that a block decides. Its dominators must have been entered before.
    pub fn enter_block(
        &mut self,
        facts: &ModuleValues,
        module: &SpirvModule,
        flow: &FlowAnalysis,
        at: u32,
    ) {
        let Some((condition, value)) = find_deciding_condition(module, flow, at) else {
            return;
        };
        let mut open = vec![(condition, value)];
        for _ in 0..MOST_PARTS {
            let Some((id, value)) = open.pop() else {
                return;
            };
            self.decided.entry(id).or_default().push((at, value));
            let Some(inst) = facts.definition(module, id) else {
                continue;
            };
            match (inst.op(), value) {
                (Op::LogicalNot, _) => open.push((inst.id_operand(0), !value)),
                (Op::LogicalAnd, true) | (Op::LogicalOr, false) => {
                    open.extend([(inst.id_operand(0), value), (inst.id_operand(1), value)]);
                }
                _ => {}
            }
        }
    }

    /// The value of a condition in a block, if it is decided there.
    pub fn condition_value(&self, flow: &FlowAnalysis, condition: Id, at: u32) -> Option<bool> {
        let entries = self.decided.get(&condition)?.iter().rev();
        let mut entries = entries.take(MOST_ENTRIES);
        let found = entries.find(|(block, _)| flow.dominators.dominates(*block, at));
        found.map(|(_, value)| *value)
    }
}

/// The single condition by which a block is reached, and its value.
fn find_deciding_condition(
    module: &SpirvModule,
    flow: &FlowAnalysis,
    at: u32,
) -> Option<(Id, bool)> {
    let [before] = *flow.cfg.predecessors(at) else {
        return None;
    };
    let branch = module.terminator(flow.cfg.block(before));
    if branch.op() != Op::BranchConditional || branch.id_operand(1) == branch.id_operand(2) {
        return None;
    }
    let is_first = flow.cfg.block_position(branch.id_operand(1)) == Some(at);
    Some((branch.id_operand(0), is_first))
}

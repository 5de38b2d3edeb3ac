//! Uses of locals: properties of a function's values that depend on all their uses.
//!
//! Each property is computed for all locals at its first request. Cost: one pass over the
//! function for each property.

use crate::ir::{LlvmFunction, LlvmOpcode};

/// The properties that were computed so far, by local. An empty list was not computed yet.
#[derive(Debug, Default)]
pub(super) struct LocalUses {
    /// Whether a local has uses other than the extraction of a member.
    used_whole: Vec<bool>,
    /// Whether a local is an operand of a phi.
    phi_operands: Vec<bool>,
}

impl LocalUses {
    /// Whether a local has uses other than the extraction of a member.
    pub(super) fn is_used_whole(&mut self, function: &LlvmFunction, local: usize) -> bool {
        if self.used_whole.is_empty() {
            self.used_whole = mark_operands(function, |opcode| opcode != LlvmOpcode::ExtractValue);
        }
        self.used_whole[local]
    }

    /// Whether a phi has a local as an operand.
    pub(super) fn is_phi_operand(&mut self, function: &LlvmFunction, local: usize) -> bool {
        if self.phi_operands.is_empty() {
            self.phi_operands = mark_operands(function, |opcode| opcode == LlvmOpcode::Phi);
        }
        self.phi_operands[local]
    }
}

/// By local: whether it is an operand of an instruction with one of these opcodes.
fn mark_operands(function: &LlvmFunction, opcodes: impl Fn(LlvmOpcode) -> bool) -> Vec<bool> {
    let mut marked = vec![false; function.local_count()];
    for inst in function.insts.iter().filter(|inst| opcodes(inst.opcode)) {
        let operands = &function.value_pool[inst.operands.to_range()];
        for local in operands.iter().filter_map(|value| value.as_local()) {
            marked[local] = true;
        }
    }
    marked
}

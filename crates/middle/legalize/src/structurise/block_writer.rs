//! Block writer: blocks, branches, and the variables that replace phis.

use super::emit::ControlFlowEmitter;
use super::reducible_graph::{ControlFlowEdge, NONE};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Block, Inst};

/// The store of an edge for a phi of its target.
#[derive(Clone, Copy)]
pub(super) struct PhiStore {
    /// Label of the target.
    pub(super) to: Id,
    pub(super) slot: Id,
    pub(super) value: Id,
}

/// A terminator with several targets.
pub(super) struct MultiwayTerminator {
    pub(super) words: Vec<u32>,
    /// Positions of targets among the words.
    pub(super) targets: Vec<(usize, Id)>,
}

impl ControlFlowEmitter<'_> {
    /// Turns each phi into a load of a variable that the edges store.
    pub(super) fn demote_phis(&mut self) {
        let blocks = self.module.function(self.func).blocks.clone();
        for block in blocks {
            let phis: Vec<Inst> = self.module.phis(block).map(|p| p.handle()).collect();
            let after = self.module.first_after_phis(block);
            let to = self.module.label(block);
            for phi in phis {
                let inst = self.module.inst(phi);
                let (Some(ty), Some(id)) = (inst.result_type(), inst.result()) else {
                    continue;
                };
                let pairs: Vec<Id> = inst.id_operands(0).collect();
                let slot = self.slots.create_variable(self.module, ty);
                for pair in pairs.chunks_exact(2) {
                    let value = pair[0];
                    let moves = self.moves.entry(pair[1]).or_default();
                    moves.push(PhiStore { to, slot, value });
                }
                let words = [ty.word(), id.word(), slot.word()];
                let load = self.module.create_inst(Op::Load, &words);
                self.module.insert_before(after, load);
                self.module.remove_inst(phi);
            }
        }
    }

    /// Removes the terminator of a block, with its merge instruction.
    pub(super) fn take_terminator(&mut self, block: Block) -> (Op, Vec<u32>) {
        if let Some(merge) = self.module.merge_inst(block).map(|m| m.handle()) {
            self.module.remove_inst(merge);
        }
        let terminator = self.module.terminator(block);
        let taken = (terminator.op(), terminator.words().to_vec());
        let inst = terminator.handle();
        self.module.remove_inst(inst);
        taken
    }

    /// Opcode and words of the instruction that selects among a node's edges.
    pub(super) fn take_selector(&mut self, node: u32, block: Block) -> (Op, MultiwayTerminator) {
        if let Some(at) = node.checked_sub(self.graph.blocks) {
            let note = self.notes[at as usize];
            let value = self.load_number(note);
            let to: Vec<u32> = self.graph.edges[node as usize]
                .iter()
                .map(|e| e.to)
                .collect();
            let mut words = vec![value.word(), self.node_label(to[0]).word()];
            let mut targets = vec![(1, self.node_label(to[0]))];
            for (number, node) in to.iter().enumerate().skip(1) {
                words.push(number as u32);
                targets.push((words.len(), self.node_label(*node)));
                words.push(self.node_label(*node).word());
            }
            return (Op::Switch, MultiwayTerminator { words, targets });
        }
        let targets = self.module.block_targets(self.ids, block);
        let (op, mut words) = self.take_terminator(block);
        if op == Op::BranchConditional {
            // Branch weights belong to the original edges.
            words.truncate(3);
        }
        (op, MultiwayTerminator { words, targets })
    }

    pub(super) fn has_writes(&self, node: u32, edge: ControlFlowEdge) -> bool {
        edge.note != NONE || !self.list_phi_stores(node, edge).is_empty()
    }

    pub(super) fn list_phi_stores(&self, node: u32, edge: ControlFlowEdge) -> Vec<PhiStore> {
        if edge.origin == NONE {
            return Vec::new();
        }
        let to = self.module.label(self.cfg.block(edge.origin));
        let from = self.node_label(node);
        let moves = self.moves.get(&from).into_iter().flatten();
        moves.filter(|m| m.to == to).copied().collect()
    }

    /// Emits the stores of an edge for its target.
    pub(super) fn emit_edge_stores(&mut self, node: u32, edge: ControlFlowEdge) {
        for PhiStore { slot, value, .. } in self.list_phi_stores(node, edge) {
            self.append_instruction(Op::Store, &[slot.word(), value.word()]);
        }
        if edge.note != NONE {
            let note = self.notes[(edge.to - self.graph.blocks) as usize];
            let number = self.numbers.make_constant(self.module, edge.note);
            self.append_instruction(Op::Store, &[note.word(), number.word()]);
        }
    }

    /// Stores the number of the target.
    pub(super) fn store_target(&mut self, node: u32) {
        let target = self.target_variable();
        let number = self.numbers.make_constant(self.module, node);
        self.append_instruction(Op::Store, &[target.word(), number.word()]);
    }

    pub(super) fn target_variable(&mut self) -> Id {
        let (slots, module, ty) = (&mut *self.slots, &mut *self.module, self.numbers.ty);
        *self
            .target
            .get_or_insert_with(|| slots.create_variable(module, ty))
    }

    pub(super) fn load_number(&mut self, variable: Id) -> Id {
        let id = self.module.fresh_id();
        let words = [self.numbers.ty.word(), id.word(), variable.word()];
        self.append_instruction(Op::Load, &words);
        id
    }

    /// Ends the open block: branches to `there` if `node` is the target, else to `after`, where both paths meet.
    pub(super) fn emit_target_test(&mut self, node: u32, there: Id, after: Id) {
        let target = self.target_variable();
        let value = self.load_number(target);
        let number = self.numbers.make_constant(self.module, node);
        let (ty, id) = (
            self.numbers.make_bool_type(self.module),
            self.module.fresh_id(),
        );
        let words = [ty, id, value, number].map(Id::word);
        self.append_instruction(Op::IEqual, &words);
        self.append_instruction(Op::SelectionMerge, &[after.word(), 0]);
        self.append_instruction(Op::BranchConditional, &[id, there, after].map(Id::word));
        self.current = None;
    }

    /// Begins a block.
    pub(super) fn open_block(&mut self, label: Id) -> Block {
        let block = self.module.create_block(self.func, label);
        self.order.push(block);
        self.current = Some(block);
        block
    }

    /// Ends the open block.
    pub(super) fn emit_branch(&mut self, label: Id) {
        self.append_instruction(Op::Branch, &[label.word()]);
        self.current = None;
    }

    pub(super) fn append_instruction(&mut self, op: Op, words: &[u32]) {
        let inst = self.module.create_inst(op, words);
        if let Some(block) = self.current {
            self.module.append_inst(self.module.block(block).body, inst);
        }
    }
}

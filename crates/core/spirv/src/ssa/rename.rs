//! Renaming: replaces loads by the values that reach them.

use super::candidates::PromotionCandidates;
use super::phis::PendingPhis;
use super::{NONE, VariablePromoter, debug};
use crate::Id;
use crate::analysis::{DominanceTree, EdgeLists};
use crate::grammar::Op;
use crate::grammar::enumerants::Decoration;
use crate::ir::{Block, ErasedIds, Func, Inst, InstRef, ModuleSection, SpirvModule};

/// A walk over the blocks with the value that each variable has.
pub(super) struct SsaRenamer<'a> {
    promoter: &'a mut VariablePromoter,
    module: &'a mut SpirvModule,
    func: Func,
    candidates: PromotionCandidates,
    phis: &'a mut PendingPhis,
    erased: &'a mut ErasedIds,
    /// Value of each candidate here, none before it was written.
    current: Vec<Option<Id>>,
    /// Previous values, restored after a subtree has been walked.
    undo: Vec<(u32, Option<Id>)>,
}

impl<'a> SsaRenamer<'a> {
    pub fn new(
        promoter: &'a mut VariablePromoter,
        module: &'a mut SpirvModule,
        func: Func,
        candidates: PromotionCandidates,
        phis: &'a mut PendingPhis,
        erased: &'a mut ErasedIds,
    ) -> Self {
        SsaRenamer {
            promoter,
            module,
            func,
            current: vec![None; candidates.all.len()],
            candidates,
            phis,
            erased,
            undo: Vec::new(),
        }
    }

    /// Finds the value of every load and the incoming values of every phi.
    pub fn walk_dominator_tree(&mut self, tree: &DominanceTree, successors: &EdgeLists) {
        let mut stack: Vec<(u32, usize)> = Vec::new();
        for &block in &tree.preorder {
            while let Some(&(above, log)) = stack.last() {
                if tree.is_above(above, block) {
                    break;
                }
                self.restore_values(log);
                stack.pop();
            }
            stack.push((block, self.undo.len()));
            self.rename_block(block, successors);
        }
        self.restore_values(0);
        for block in 0..successors.len() as u32 {
            if !tree.is_reached(block) {
                self.rename_block(block, successors);
                self.restore_values(0);
            }
        }
    }

    /// Inserts the phis and rewrites every instruction.
    pub fn apply_renames(mut self) {
        self.insert_phis();
        self.rewrite_uses();
    }

    fn block_handle(&self, block: u32) -> Block {
        self.module.function(self.func).blocks[block as usize]
    }

    fn restore_values(&mut self, log: usize) {
        for (slot, value) in self.undo.drain(log..).rev() {
            self.current[slot as usize] = value;
        }
    }

    fn set_value(&mut self, slot: u32, value: Id) {
        let old = self.current[slot as usize].replace(value);
        self.undo.push((slot, old));
    }

    fn current_value(&mut self, slot: u32) -> Id {
        match self.current[slot as usize] {
            Some(value) => value,
            None => {
                let ty = self.candidates.all[slot as usize].ty;
                self.promoter.ensure_undef(self.module, ty)
            }
        }
    }

    fn rename_block(&mut self, at: u32, successors: &EdgeLists) {
        let block = self.block_handle(at);
        let begin = self.module.first_after_phis(block);
        for phi in self.phis.of_block(at) {
            let phi = self.phis.get(phi);
            self.set_value(phi.slot, phi.id);
            self.emit_debug_value(phi.slot, phi.id, begin);
        }
        let mut next = self.module.body(block).next().map(InstRef::handle);
        while let Some(inst) = next {
            next = self.module.next(inst);
            self.rename_inst(inst, next);
        }
        let label = self.module.label(block).word();
        for &successor in successors.targets(at) {
            for phi in self.phis.of_block(successor) {
                if self.phis.incoming_pairs(phi).last() != Some(&label) {
                    let value = self.current_value(self.phis.get(phi).slot);
                    self.phis.add_pair(phi, value, label);
                }
            }
        }
    }

    fn rename_inst(&mut self, handle: Inst, next: Option<Inst>) {
        let inst = self.module.inst(handle);
        let slot = |n: usize| {
            inst.get_id(n)
                .map_or(NONE, |id| self.promoter.replacements.slot_of(id))
        };
        match inst.op() {
            Op::Variable => {
                let own = inst
                    .result()
                    .map_or(NONE, |id| self.promoter.replacements.slot_of(id));
                if own != NONE {
                    if let Some(value) = inst.get_id(1) {
                        self.set_value(own, value);
                    }
                    self.module.erase_inst(handle, self.erased);
                }
            }
            Op::Load => {
                let (own, result) = (slot(0), inst.result());
                if let (Some(result), true) = (result, own != NONE) {
                    let value = self.current_value(own);
                    let value = self.promoter.resolve_id(value);
                    // Equal only in a module that uses a value before it is defined.
                    if value != result {
                        self.promoter.replacements.replace_id(result, value);
                    }
                    self.module.erase_inst(handle, self.erased);
                }
            }
            Op::Store => {
                let (own, value) = (slot(0), inst.id_operand(1));
                if own != NONE {
                    let value = self.promoter.resolve_id(value);
                    self.set_value(own, value);
                    if let Some(next) = next {
                        self.emit_debug_value(own, value, next);
                    }
                    self.module.erase_inst(handle, self.erased);
                }
            }
            Op::LifetimeStart | Op::LifetimeStop | Op::Bitcast if slot(0) != NONE => {
                self.module.erase_inst(handle, self.erased);
            }
            Op::ExtInst => self.erase_declaration(handle),
            _ => {}
        }
    }

    /// Deletes a debug instruction about a variable. If the variable has a value already, a record of the value
    /// replaces it.
    fn erase_declaration(&mut self, handle: Inst) {
        let inst = self.module.inst(handle);
        if !self
            .promoter
            .ids
            .ext_inst_set(inst)
            .is_some_and(|s| s.is_debug_info())
        {
            return;
        }
        let mut own = NONE;
        self.promoter.ids.visit_uses(inst, |_, id| {
            if self.promoter.replacements.slot_of(id) != NONE {
                own = self.promoter.replacements.slot_of(id);
            }
        });
        if own == NONE {
            return;
        }
        if let Some(value) = self.current[own as usize] {
            debug::insert_debug_value(self.promoter, self.module, handle, value, handle);
        }
        self.module.erase_inst(handle, self.erased);
    }

    /// Tells debuggers the value of a variable from an instruction on.
    fn emit_debug_value(&mut self, slot: u32, value: Id, at: Inst) {
        for declaration in &self.candidates.all[slot as usize].declarations {
            debug::insert_debug_value(self.promoter, self.module, *declaration, value, at);
        }
    }

    fn insert_phis(&mut self) {
        for at in 0..self.phis.len() {
            let phi = self.phis.get(at);
            let candidate = &self.candidates.all[phi.slot as usize];
            let (variable, head) = (candidate.variable, [candidate.ty.word(), phi.id.word()]);
            let inst = self
                .module
                .create_parts(Op::Phi, &head, self.phis.incoming_pairs(at));
            let body = self.module.body(self.block_handle(phi.block)).next();
            if let Some(first) = body.map(InstRef::handle) {
                self.module.insert_before(first, inst);
            }
            self.copy_name_and_decorations(variable, phi.id);
        }
    }

    /// A phi has the name of its variable, and its decoration.
    fn copy_name_and_decorations(&mut self, variable: Id, phi: Id) {
        if let Some(name) = self.promoter.names.get(variable) {
            let mut words = self.module.inst(name).words().to_vec();
            words[0] = phi.word();
            let name = self.module.create_inst(Op::Name, &words);
            self.module.append_inst(ModuleSection::Names.list(), name);
        }
        if self.promoter.relaxed.contains(variable) {
            let words = [phi.word(), Decoration::RelaxedPrecision.0];
            let decoration = self.module.create_inst(Op::Decorate, &words);
            self.module
                .append_inst(ModuleSection::Annotations.list(), decoration);
        }
    }

    fn rewrite_uses(self) {
        for at in 0..self.module.function(self.func).blocks.len() as u32 {
            let block = self.block_handle(at);
            let mut next = self.module.body(block).next().map(InstRef::handle);
            while let Some(inst) = next {
                next = self.module.next(inst);
                let promoter = &*self.promoter;
                let ids = &promoter.ids;
                ids.rewrite_uses(self.module, inst, |id| promoter.resolve_id(id));
            }
        }
    }
}

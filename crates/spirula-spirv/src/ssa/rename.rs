//! Replacing loads by the values that reach them.

use super::candidates::Candidates;
use super::phis::Phi;
use super::{NONE, Promoter, debug};
use crate::Id;
use crate::analysis::{Cfg, Dominators};
use crate::grammar::Op;
use crate::grammar::enumerants::Decoration;
use crate::ir::{Erased, Inst, InstRef, Module, Section};

/// A walk over the blocks with the value that each variable has.
pub(super) struct Renamer<'a> {
    promoter: &'a mut Promoter,
    module: &'a mut Module,
    candidates: &'a Candidates,
    cfg: &'a Cfg,
    phis: &'a mut [Phi],
    erased: &'a mut Erased,
    /// Value of each candidate here, none before it was written.
    current: Vec<Option<Id>>,
    /// What values were before, to return to when a subtree has been walked.
    undo: Vec<(u32, Option<Id>)>,
}

impl<'a> Renamer<'a> {
    pub fn new(
        promoter: &'a mut Promoter,
        module: &'a mut Module,
        candidates: &'a Candidates,
        cfg: &'a Cfg,
        phis: &'a mut [Phi],
        erased: &'a mut Erased,
    ) -> Self {
        Renamer {
            promoter,
            module,
            candidates,
            cfg,
            phis,
            erased,
            current: vec![None; candidates.all.len()],
            undo: Vec::new(),
        }
    }

    pub fn run(mut self, dominators: &Dominators) {
        let mut stack: Vec<(u32, usize)> = Vec::new();
        for &block in dominators.preorder() {
            while let Some(&(above, log)) = stack.last() {
                if dominators.dominates(above, block) {
                    break;
                }
                self.restore(log);
                stack.pop();
            }
            stack.push((block, self.undo.len()));
            self.block(block);
        }
        self.restore(0);
        for block in 0..self.cfg.len() as u32 {
            if !dominators.is_reachable(block) {
                self.block(block);
                self.restore(0);
            }
        }
        self.insert_phis();
        self.rewrite();
    }

    fn restore(&mut self, log: usize) {
        for (slot, value) in self.undo.drain(log..).rev() {
            self.current[slot as usize] = value;
        }
    }

    fn set(&mut self, slot: u32, value: Id) {
        let old = self.current[slot as usize].replace(value);
        self.undo.push((slot, old));
    }

    fn value(&mut self, slot: u32) -> Id {
        match self.current[slot as usize] {
            Some(value) => value,
            None => {
                let ty = self.candidates.all[slot as usize].ty;
                self.promoter.undef(self.module, ty)
            }
        }
    }

    fn phis_of(&self, block: u32) -> std::ops::Range<usize> {
        let first = self.phis.partition_point(|p| p.block < block);
        first..first + self.phis[first..].partition_point(|p| p.block == block)
    }

    fn block(&mut self, at: u32) {
        let block = self.cfg.block(at);
        let begin = self.module.first_after_phis(block);
        for phi in self.phis_of(at) {
            let (slot, id) = (self.phis[phi].slot, self.phis[phi].id);
            self.set(slot, id);
            self.tell(slot, id, begin);
        }
        let mut next = self.module.body(block).next().map(InstRef::handle);
        while let Some(inst) = next {
            next = self.module.next(inst);
            self.inst(inst, next);
        }
        let label = self.module.label(block).word();
        for &successor in self.cfg.successors(at) {
            for phi in self.phis_of(successor) {
                if self.phis[phi].pairs.last() != Some(&label) {
                    let value = self.value(self.phis[phi].slot);
                    self.phis[phi].pairs.extend([value.word(), label]);
                }
            }
        }
    }

    fn inst(&mut self, handle: Inst, next: Option<Inst>) {
        let inst = self.module.inst(handle);
        let slot = |n: usize| {
            inst.get_id(n)
                .map_or(NONE, |id| self.promoter.fates.slot(id))
        };
        match inst.op() {
            Op::Variable => {
                let own = inst
                    .result()
                    .map_or(NONE, |id| self.promoter.fates.slot(id));
                if own != NONE {
                    if let Some(value) = inst.get_id(1) {
                        self.set(own, value);
                    }
                    self.module.erase(handle, self.erased);
                }
            }
            Op::Load => {
                let (own, result) = (slot(0), inst.result());
                if let (Some(result), true) = (result, own != NONE) {
                    let value = self.value(own);
                    let value = self.promoter.resolve(value);
                    // Equal only in a module that uses a value before it is defined.
                    if value != result {
                        self.promoter.fates.replace(result, value);
                    }
                    self.module.erase(handle, self.erased);
                }
            }
            Op::Store => {
                let (own, value) = (slot(0), inst.id(1));
                if own != NONE {
                    let value = self.promoter.resolve(value);
                    self.set(own, value);
                    if let Some(next) = next {
                        self.tell(own, value, next);
                    }
                    self.module.erase(handle, self.erased);
                }
            }
            Op::LifetimeStart | Op::LifetimeStop | Op::Bitcast if slot(0) != NONE => {
                self.module.erase(handle, self.erased);
            }
            Op::ExtInst => self.declaration(handle),
            _ => {}
        }
    }

    /// A debug instruction about a variable goes; where the variable has a value already, that is
    /// told in its place.
    fn declaration(&mut self, handle: Inst) {
        let inst = self.module.inst(handle);
        if !self
            .promoter
            .ids
            .set(inst)
            .is_some_and(|s| s.is_debug_info())
        {
            return;
        }
        let mut own = NONE;
        self.promoter.ids.visit(inst, |_, id| {
            if self.promoter.fates.slot(id) != NONE {
                own = self.promoter.fates.slot(id);
            }
        });
        if own == NONE {
            return;
        }
        if let Some(value) = self.current[own as usize] {
            debug::tell(self.promoter, self.module, handle, value, handle);
        }
        self.module.erase(handle, self.erased);
    }

    /// Tells debuggers the value of a variable from an instruction on.
    fn tell(&mut self, slot: u32, value: Id, at: Inst) {
        for declaration in &self.candidates.all[slot as usize].declarations {
            debug::tell(self.promoter, self.module, *declaration, value, at);
        }
    }

    fn insert_phis(&mut self) {
        for phi in 0..self.phis.len() {
            let Phi {
                block, slot, id, ..
            } = self.phis[phi];
            let candidate = &self.candidates.all[slot as usize];
            let mut words = vec![candidate.ty.word(), id.word()];
            words.append(&mut self.phis[phi].pairs);
            let inst = self.module.create(Op::Phi, &words);
            let body = self.module.body(self.cfg.block(block)).next();
            if let Some(first) = body.map(InstRef::handle) {
                self.module.insert_before(first, inst);
            }
            self.describe(candidate.variable, id);
        }
    }

    /// A phi has the name of its variable, and its decoration.
    fn describe(&mut self, variable: Id, phi: Id) {
        if let Some(name) = self.promoter.names[variable] {
            let mut words = self.module.inst(name).words().to_vec();
            words[0] = phi.word();
            let name = self.module.create(Op::Name, &words);
            self.module.append(Section::Names.list(), name);
        }
        if self.promoter.relaxed[variable] {
            let words = [phi.word(), Decoration::RelaxedPrecision.0];
            let decoration = self.module.create(Op::Decorate, &words);
            self.module.append(Section::Annotations.list(), decoration);
        }
    }

    fn rewrite(self) {
        for at in 0..self.cfg.len() as u32 {
            let block = self.cfg.block(at);
            let mut next = self.module.body(block).next().map(InstRef::handle);
            while let Some(inst) = next {
                next = self.module.next(inst);
                let promoter = &*self.promoter;
                let ids = &promoter.ids;
                ids.rewrite(self.module, inst, |id| promoter.resolve(id));
            }
        }
    }
}

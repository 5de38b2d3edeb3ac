//! Terminators.

use crate::ir::Inst;
use crate::translate::body::Body;
use crate::translate::refusal::{Lowered, refuse};
use crate::translate::types::Elem;
use spirula_spirv::grammar::Op;

/// Words beyond which an instruction would be too long.
const MAX_WORDS: usize = 65_000;

impl Body<'_, '_> {
    pub(super) fn return_(&mut self, inst: Inst) -> Lowered<()> {
        match self.function.operands(inst).first() {
            Some(&value) => {
                let ty = self.signature.result;
                let id = self.value_as(value, ty)?;
                self.t.b.effect(Op::ReturnValue, &[id.word()]);
            }
            None => self.t.b.effect(Op::Return, &[]),
        }
        Ok(())
    }

    pub(super) fn unreachable(&mut self) {
        self.t.b.effect(Op::Unreachable, &[]);
    }

    pub(super) fn branch(&mut self, inst: Inst) -> Lowered<()> {
        let targets = self.function.blocks_of(inst);
        match (self.function.operands(inst), targets) {
            (_, [target]) => {
                let label = self.label(*target);
                self.t.b.effect(Op::Branch, &[label.word()]);
            }
            ([_], [yes, no]) if yes == no => {
                let label = self.label(*yes);
                self.t.b.effect(Op::Branch, &[label.word()]);
            }
            ([condition], [yes, no]) => {
                let condition = self.value(*condition)?;
                let words = [condition, self.label(*yes), self.label(*no)].map(|id| id.word());
                self.t.b.effect(Op::BranchConditional, &words);
            }
            _ => return Err(refuse("a branch without targets")),
        }
        Ok(())
    }

    pub(super) fn switch(&mut self, inst: Inst) -> Lowered<()> {
        let operands = self.function.operands(inst);
        let targets = self.function.blocks_of(inst);
        let shape = self.shape_of(operands[0])?;
        let selector = self.value(operands[0])?;
        if shape.elem == Elem::Bool {
            return self.switch_on_bool(inst);
        }
        let default = self.label(targets[0]);
        let mut words = vec![selector.word(), default.word()];
        for (case, &target) in operands[1..].iter().zip(&targets[1..]) {
            let Some(value) = self.t.module.as_u64(*case) else {
                return Err(refuse("a case that is no number"));
            };
            words.push(value as u32);
            if shape.width > 32 {
                words.push((value >> 32) as u32);
            }
            words.push(self.label(target).word());
        }
        if words.len() > MAX_WORDS {
            return Err(refuse(format!(
                "a switch of {} cases is too large",
                operands.len() - 1
            )));
        }
        self.t.b.effect(Op::Switch, &words);
        Ok(())
    }

    fn switch_on_bool(&mut self, inst: Inst) -> Lowered<()> {
        let operands = self.function.operands(inst);
        let targets = self.function.blocks_of(inst);
        let target = |body: &Self, wanted: u64| {
            let case = operands[1..]
                .iter()
                .position(|case| body.t.module.as_u64(*case) == Some(wanted));
            targets[case.map_or(0, |case| case + 1)]
        };
        let (yes, no) = (target(self, 1), target(self, 0));
        let condition = self.value(operands[0])?;
        let words = [condition, self.label(yes), self.label(no)].map(|id| id.word());
        match yes == no {
            true => self.t.b.effect(Op::Branch, &words[1..2]),
            false => self.t.b.effect(Op::BranchConditional, &words),
        }
        Ok(())
    }
}

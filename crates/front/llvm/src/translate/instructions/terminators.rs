//! Terminator instructions: returns, branches and switches.

use crate::ir::{ConstKind, LlvmInst, LlvmOpcode, LlvmValue};
use crate::translate::function_body::FunctionTranslator;
use crate::translate::loop_hints::LoopHints;
use crate::translate::shapes::NumericElement;
use crate::{LlvmResult, make_refusal};
use spirula_spirv::grammar::Op;

/// Words beyond which an instruction would be too long.
const MAX_WORDS: usize = 65_000;

impl FunctionTranslator<'_, '_> {
    pub(super) fn lower_return(&mut self, inst: LlvmInst) -> LlvmResult<()> {
        match self.function.operands(inst).first() {
            Some(&value) => {
                let ty = self.signature.result;
                let id = self.value_as(value, ty)?;
                self.t.b.append_effect(Op::ReturnValue, &[id.word()]);
            }
            None => self.t.b.append_effect(Op::Return, &[]),
        }
        Ok(())
    }

    pub(super) fn emit_unreachable(&mut self) {
        self.t.b.append_effect(Op::Unreachable, &[]);
    }

    pub(super) fn lower_branch(&mut self, inst: LlvmInst) -> LlvmResult<()> {
        let targets = self.function.blocks_of(inst);
        match (self.function.operands(inst), targets) {
            (_, [target]) => {
                let label = self.label_of(*target);
                self.merge_loop(inst);
                self.t.b.append_effect(Op::Branch, &[label.word()]);
            }
            ([_], [yes, no]) if yes == no => {
                let label = self.label_of(*yes);
                self.t.b.append_effect(Op::Branch, &[label.word()]);
            }
            ([condition], [yes, no]) => {
                let condition = self.lower_value(*condition)?;
                let words =
                    [condition, self.label_of(*yes), self.label_of(*no)].map(|id| id.word());
                self.merge_loop(inst);
                self.t.b.append_effect(Op::BranchConditional, &words);
            }
            _ => return Err(make_refusal("a branch without targets")),
        }
        Ok(())
    }

    pub(super) fn lower_switch(&mut self, inst: LlvmInst) -> LlvmResult<()> {
        let operands = self.function.operands(inst);
        let targets = self.function.blocks_of(inst);
        let shape = self.shape_of(operands[0])?;
        let selector = self.lower_value(operands[0])?;
        if shape.elem == NumericElement::Bool {
            return self.lower_boolean_switch(inst);
        }
        let default = self.label_of(targets[0]);
        let mut words = vec![selector.word(), default.word()];
        for (case, &target) in operands[1..].iter().zip(&targets[1..]) {
            let Some(number) = self.case_words(*case) else {
                return Err(make_refusal("a case that is not a number"));
            };
            let count = shape.width.div_ceil(32) as usize;
            let number = number.into_iter().chain(std::iter::repeat(0));
            words.extend(number.take(count));
            words.push(self.label_of(target).word());
        }
        if words.len() > MAX_WORDS {
            return Err(make_refusal(format!(
                "a switch of {} cases is too large",
                operands.len() - 1
            )));
        }
        self.t.b.append_effect(Op::Switch, &words);
        Ok(())
    }

    /// The words of a case, least significant first.
    fn case_words(&self, case: LlvmValue) -> Option<Vec<u32>> {
        let constants = &self.t.module.consts;
        let words = match constants.kind(case.as_const()?) {
            ConstKind::Int(value) => vec![*value],
            ConstKind::Wide(words) => words.to_vec(),
            _ => return None,
        };
        let halves = words.iter().flat_map(|w| [*w as u32, (*w >> 32) as u32]);
        Some(halves.collect())
    }

    fn lower_boolean_switch(&mut self, inst: LlvmInst) -> LlvmResult<()> {
        let operands = self.function.operands(inst);
        let targets = self.function.blocks_of(inst);
        let target = |body: &Self, wanted: u64| {
            let case = operands[1..]
                .iter()
                .position(|case| body.t.module.as_u64(*case) == Some(wanted));
            targets[case.map_or(0, |case| case + 1)]
        };
        let (yes, no) = (target(self, 1), target(self, 0));
        let condition = self.lower_value(operands[0])?;
        let words = [condition, self.label_of(yes), self.label_of(no)].map(|id| id.word());
        if yes == no {
            self.t.b.append_effect(Op::Branch, &words[1..2])
        } else {
            self.t.b.append_effect(Op::BranchConditional, &words)
        }
        Ok(())
    }
}

impl FunctionTranslator<'_, '_> {
    /// Writes the merge instruction of the loop whose header ends with an instruction, which is
    /// about to be written as a branch.
    pub(in crate::translate) fn merge_loop(&mut self, inst: LlvmInst) {
        if self.loops.is_empty() || self.function.inst(inst).opcode != LlvmOpcode::Br {
            return;
        }
        let here = self.current_label();
        let ends = |hints: &&LoopHints| self.function.terminator(hints.header) == inst;
        let Some(hints) = self.loops.iter().find(ends).cloned() else {
            return;
        };
        if self.label_of(hints.header) != here {
            return;
        }
        let mut words = vec![
            self.label_of(hints.merge).word(),
            self.label_of(hints.latch).word(),
        ];
        words.extend(hints.control);
        self.t.b.append_effect(Op::LoopMerge, &words);
    }
}

//! Remainders by quotients: `x mod y` is `x - (x / y) * y` where `x / y` was computed before. A division takes as long as many
//! multiplications (H. Warren, "Hacker's Delight", 2nd edition, 2012, chapter 10).

use super::GvnWalker;
use super::dominator_walk::hash_value;
use crate::analyses::FlowAnalysis;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Inst, SpirvModule};

impl GvnWalker<'_> {
    /// Rewrites a remainder whose quotient is available.
    pub(super) fn reuse_quotient(
        &mut self,
        module: &mut SpirvModule,
        flow: &FlowAnalysis,
        inst: Inst,
        block: u32,
    ) {
        let i = module.inst(inst);
        let division = match i.op() {
            Op::UMod => Op::UDiv,
            Op::SRem => Op::SDiv,
            _ => return,
        };
        let (dividend, divisor) = (i.id_operand(0), i.id_operand(1));
        let Some(quotient) = self.find_quotient(module, flow, inst, division, block) else {
            return;
        };
        let Some(ty) = module.inst(inst).result_type() else {
            return;
        };
        let factors = [quotient.word(), divisor.word()];
        let facts = &mut *self.facts;
        let product = facts.insert_inst(module, inst, Op::IMul, ty, &factors);
        facts.rewrite_inst(module, inst, Op::ISub, &[dividend.word(), product.word()]);
        self.counts.simplified += 1;
    }

    /// The quotient of the operands of a remainder, if a block that dominates its own has computed it.
    fn find_quotient(
        &self,
        module: &SpirvModule,
        flow: &FlowAnalysis,
        inst: Inst,
        division: Op,
        block: u32,
    ) -> Option<Id> {
        let i = module.inst(inst);
        let marks = self.facts.decoration_marks(i.result()?)?;
        let known = self.known.get(&hash_value(division, i, marks, block))?;
        let other = module.inst(known.inst);
        let is_quotient = other.op() == division
            && other.result_type() == i.result_type()
            && other.operands() == i.operands()
            && flow.dominators.dominates(known.block, block);
        other.result().filter(|_| is_quotient)
    }
}

//! Remainders by quotients: `x mod y` is `x - (x / y) * y` where `x / y` was computed before. A division takes as long as many
//! multiplications (H. Warren, "Hacker's Delight", 2nd edition, 2012, chapter 10).

use super::GvnWalker;
use super::dominator_walk::hash_value;
use crate::analyses::FlowAnalysis;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Inst, SpirvModule};

impl GvnWalker<'_> {
    /// Rewrites a remainder whose quotient is available, unless it is itself. Returns the new product.
    pub(super) fn reuse_quotient(
        &mut self,
        module: &mut SpirvModule,
        flow: &FlowAnalysis,
        inst: Inst,
        block: u32,
    ) -> Option<Inst> {
        let i = module.inst(inst);
        let division = match i.op() {
            Op::UMod => Op::UDiv,
            Op::SRem => Op::SDiv,
            _ => return None,
        };
        let (dividend, divisor) = (i.id_operand(0), i.id_operand(1));
        let ty = i.result_type()?;
        let find = |op| self.find_value(module, flow, inst, op, block);
        let quotient = find(division).filter(|_| find(i.op()).is_none())?;
        let factors = [quotient.word(), divisor.word()];
        let facts = &mut *self.facts;
        let product = facts.insert_inst(module, inst, Op::IMul, ty, &factors);
        facts.rewrite_inst(module, inst, Op::ISub, &[dividend.word(), product.word()]);
        self.counts.simplified += 1;
        Some(facts.definition(module, product)?.handle())
    }

    /// The value that an opcode has of the operands of an instruction, if a block that dominates its own has computed it.
    fn find_value(
        &self,
        module: &SpirvModule,
        flow: &FlowAnalysis,
        inst: Inst,
        op: Op,
        block: u32,
    ) -> Option<Id> {
        let i = module.inst(inst);
        let marks = self.facts.decoration_marks(i.result()?)?;
        let known = self.known.get(&hash_value(op, i, marks, block))?;
        let other = module.inst(known.inst);
        let is_same = other.op() == op
            && other.result_type() == i.result_type()
            && other.operands() == i.operands()
            && flow.dominators.dominates(known.block, block);
        other.result().filter(|_| is_same)
    }
}

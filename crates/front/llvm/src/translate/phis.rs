//! Phis: they are emitted without operands, and completed when all blocks are translated.

use super::function_body::{FunctionTranslator, MAX_OPERANDS};
use super::words::TranslationWords;
use crate::ir::{LlvmBlock, LlvmInst};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::ir as spirv;

/// The state of a function's phis.
pub(super) struct PhiState {
    pending: Vec<IncompletePhi>,
    /// By block: the label of the last SPIR-V block that it became, if it is reachable.
    pub(super) exits: Vec<Option<Id>>,
    /// By block: the last phi that has an operand for it, counted from 1.
    marks: Vec<u32>,
    mark: u32,
}

/// A phi that has no operands yet.
struct IncompletePhi {
    inst: LlvmInst,
    block: LlvmBlock,
    phi: spirv::Inst,
}

impl PhiState {
    pub(super) fn new(blocks: usize) -> PhiState {
        PhiState {
            pending: Vec::new(),
            exits: vec![None; blocks],
            marks: vec![0; blocks],
            mark: 0,
        }
    }
}

impl FunctionTranslator<'_, '_> {
    pub(super) fn begin_phi(&mut self, block: LlvmBlock, inst: LlvmInst) -> LlvmResult<Id> {
        let ty = self.result_type(inst)?;
        let (id, phi) = self.t.b.append_phi(ty);
        self.phis.pending.push(IncompletePhi { inst, block, phi });
        Ok(id)
    }

    /// Completes the phis with one operand for each reachable predecessor.
    pub(super) fn finish_phis(&mut self) {
        let phis = std::mem::take(&mut self.phis.pending);
        if phis.is_empty() {
            return;
        }
        let before = self.count_predecessors();
        for IncompletePhi { inst, block, phi } in phis {
            let count = before[block.index()];
            if let Err(refusal) = self.finish_phi(inst, block, phi, count) {
                self.t
                    .report_refusal(self.func, self.function.inst_place(inst), &refusal);
            }
        }
    }

    /// By block: the number of reachable predecessors.
    fn count_predecessors(&self) -> Vec<usize> {
        let mut counts = vec![0; self.function.blocks.len()];
        let mut last = vec![None; self.function.blocks.len()];
        for block in self.function.block_ids() {
            if self.phis.exits[block.index()].is_none() {
                continue;
            }
            for next in self.function.successors(block) {
                if last[next.index()].replace(block) != Some(block) {
                    counts[next.index()] += 1;
                }
            }
        }
        counts
    }

    fn finish_phi(
        &mut self,
        inst: LlvmInst,
        here: LlvmBlock,
        phi: spirv::Inst,
        before: usize,
    ) -> LlvmResult<()> {
        let function = self.function;
        let ty = self.result_type(inst)?;
        let mut words = TranslationWords::new();
        let blocks = function.blocks_of(inst);
        self.phis.mark += 1;
        let mut fits = true;
        for (&value, &block) in function.operands(inst).iter().zip(blocks) {
            let Some(exit) = self.phis.exits[block.index()] else {
                continue;
            };
            // A phi of LLVM has one entry per edge, a phi of SPIR-V one per block.
            if std::mem::replace(&mut self.phis.marks[block.index()], self.phis.mark)
                == self.phis.mark
            {
                continue;
            }
            fits &= function.successors(block).contains(&here);
            let value = self.value_as(value, ty)?;
            words.extend_from_slice(&[value.word(), exit.word()]);
        }
        if !fits || words.len() != before * 2 {
            return Err(make_refusal(
                "a phi does not match the predecessors of its block",
            ));
        }
        if words.len() > MAX_OPERANDS {
            return Err(make_refusal("a phi with too many operands"));
        }
        self.t.b.set_phi(phi, &words);
        Ok(())
    }
}

//! Divergent regions: the variance of values that a divergent branch causes.

use super::GangRefusal;
use super::divergence::{LaneVariance, VarianceAnalysis, block_call_arguments, branch_block_calls};
use super::flow_graph::{BranchRegion, ClifFlowGraph};
use cranelift_codegen::ir::{Opcode, Value, ValueDef};

impl VarianceAnalysis<'_> {
    /// Propagates variance from a divergent branch to its region.
    pub(super) fn propagate_divergence(
        &mut self,
        graph: &ClifFlowGraph,
        uses: &[Vec<u32>],
    ) -> Result<bool, GangRefusal> {
        let mut changed = false;
        let mut left = 16 * graph.blocks.len() + 64;
        for at in 0..graph.blocks.len() as u32 {
            if self.divergent_branch(graph, at).is_none() {
                continue;
            }
            let region = graph.find_branch_region(at).ok_or(GangRefusal)?;
            left = left.checked_sub(region.blocks.len()).ok_or(GangRefusal)?;
            let is_barrier = |inst| self.func.dfg.insts[inst].opcode() == Opcode::Nop;
            let mut blocks = region.blocks.iter();
            if blocks.any(|block| graph.block_insts(self.func, *block).any(is_barrier)) {
                return Err(GangRefusal);
            }
            changed |= self.vary_join(graph, at, &region);
            for block in &region.blocks {
                changed |= self.vary_block(graph, *block, &region, uses)?;
            }
        }
        Ok(changed)
    }

    /// Lets the parameters of a join block vary, except those that all paths pass the same value.
    fn vary_join(&mut self, graph: &ClifFlowGraph, from: u32, region: &BranchRegion) -> bool {
        let params = self
            .func
            .dfg
            .block_params(graph.blocks[region.join as usize]);
        let mut changed = false;
        for (n, param) in params.iter().enumerate() {
            if self.same_argument(graph, from, region, n).is_none() {
                changed |= self.raise_variance(*param, LaneVariance::Varying);
            }
        }
        changed
    }

    /// The argument that all paths of a region pass for parameter `n` of its join block. None where they differ or
    /// define it within the region.
    pub fn same_argument(
        &self,
        graph: &ClifFlowGraph,
        from: u32,
        region: &BranchRegion,
        n: usize,
    ) -> Option<Value> {
        let dfg = &self.func.dfg;
        let join = graph.blocks[region.join as usize];
        let mut same: Option<Value> = None;
        let before = graph.predecessors[region.join as usize].iter();
        for at in before.filter(|at| **at == from || region.contains(**at)) {
            let last = self.func.layout.last_inst(graph.blocks[*at as usize])?;
            let to_join = branch_block_calls(self.func, last).iter();
            for call in to_join.filter(|c| c.block(&dfg.value_lists) == join) {
                let arg = dfg.resolve_aliases(block_call_arguments(self.func, *call).nth(n)?);
                let constant = self.integer_constant(arg);
                let equal = same.is_none_or(|s| {
                    s == arg || (constant.is_some() && self.integer_constant(s) == constant)
                });
                let outside = self
                    .block_of(graph, arg)
                    .is_some_and(|b| !region.contains(b));
                if !equal || !(outside || constant.is_some()) {
                    return None;
                }
                same = same.or(Some(arg));
            }
        }
        same
    }

    /// The block that defines a value.
    pub fn block_of(&self, graph: &ClifFlowGraph, value: Value) -> Option<u32> {
        let block = match self.func.dfg.value_def(value) {
            ValueDef::Result(inst, _) => self.func.layout.inst_block(inst)?,
            ValueDef::Param(block, _) => block,
            ValueDef::Union(..) => return None,
        };
        graph.block_position(block)
    }

    /// Lets the values vary that a block of a region defines for code after the region.
    fn vary_block(
        &mut self,
        graph: &ClifFlowGraph,
        at: u32,
        region: &BranchRegion,
        uses: &[Vec<u32>],
    ) -> Result<bool, GangRefusal> {
        let mut changed = false;
        let func = self.func;
        let mut defined: Vec<Value> = Vec::new();
        if region.is_loop {
            defined.extend(func.dfg.block_params(graph.blocks[at as usize]));
        }
        for inst in graph.block_insts(func, at) {
            let opcode = func.dfg.insts[inst].opcode();
            if let (Some(slot), Opcode::Store) = (self.frame_slot(inst), opcode) {
                changed |= slot.shape != LaneVariance::Varying;
                self.change_slot(slot.offset, |slot| slot.shape = LaneVariance::Varying);
            }
            // Invocations that wait for each other would wait forever if one of them had to continue by itself. Such
            // loops are left to the code for single invocations.
            if region.is_loop && is_shared(opcode) {
                return Err(GangRefusal);
            }
            if region.is_loop {
                defined.extend(func.dfg.inst_results(inst));
            }
        }
        for value in defined {
            let outside = uses[value.as_u32() as usize].iter();
            if outside.into_iter().any(|at| !region.contains(*at)) {
                changed |= self.raise_variance(value, LaneVariance::Varying);
            }
        }
        Ok(changed)
    }
}

/// Whether an instruction may exchange values with other invocations.
fn is_shared(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::AtomicLoad
            | Opcode::AtomicStore
            | Opcode::AtomicRmw
            | Opcode::AtomicCas
            | Opcode::Call
    )
}

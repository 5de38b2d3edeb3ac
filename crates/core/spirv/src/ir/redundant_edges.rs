//! Redundant edges: edges that structured control flow can do without.
//!
//! Cost: linear in the function for each queried edge. Edges of modules without structured control flow are not
//! examined.

use super::module::{Block, SpirvModule};
use super::{EditError, IdWords};
use crate::analysis::{BlockDominators, ConstructTree, FlowGraph};
use crate::grammar::Op;

impl SpirvModule {
    /// Refuses edges without which a loop would have no way back to its header. These are the edge to the header, and
    /// those on the way to it from the continue target.
    pub(super) fn check_loop_stays(
        &self,
        ids: &IdWords,
        from: Block,
        to: Block,
    ) -> Result<(), EditError> {
        if !self.is_structured() {
            return Ok(());
        }
        let refused = EditError::Unstructured(self.label(from));
        let (cfg, dominators) = self.build_flow_graph(ids, from, true)?;
        let position = |block| cfg.block_position(self.label(block)).ok_or(refused);
        let (from, to) = (position(from)?, position(to)?);
        let is_loop = |at: u32| {
            let merge = self.merge_inst(cfg.block(at));
            merge.filter(|m| m.op() == Op::LoopMerge)
        };
        // Of blocks that cannot be reached it is not known which loop they are in.
        let is_back_edge = dominators.dominates(to, from) || !dominators.is_reachable(from);
        if is_back_edge && is_loop(to).is_some() {
            return Err(refused);
        }
        for merge in (0..cfg.len() as u32).filter_map(is_loop) {
            let (Some(merge), Some(next)) = (
                cfg.block_position(merge.id_operand(0)),
                cfg.block_position(merge.id_operand(1)),
            ) else {
                return Err(refused);
            };
            let is_inside = dominators.dominates(next, from) && !dominators.dominates(merge, from);
            if is_inside && to != merge {
                return Err(refused);
            }
        }
        Ok(())
    }

    /// Refuses to take the merge instruction from a selection that is left from further inside.
    pub(super) fn check_merge_can_go(&self, ids: &IdWords, header: Block) -> Result<(), EditError> {
        let merge = self
            .merge_inst(header)
            .filter(|m| m.op() == Op::SelectionMerge);
        if merge.is_none() || !self.is_structured() {
            return Ok(());
        }
        let (cfg, dominators) = self.build_flow_graph(ids, header, false)?;
        let constructs = ConstructTree::from_cfg(self, &cfg, &dominators);
        let at = cfg.block_position(self.label(header));
        let fits = at.is_some_and(|at| {
            !dominators.is_reachable(at) || constructs.is_left_directly(self, &cfg, &dominators, at)
        });
        fits.then_some(())
            .ok_or(EditError::Unstructured(self.label(header)))
    }

    /// The graph of a block's function and its dominators. In the structural graph (specification,
    /// section 2.11) merge instructions are edges too.
    fn build_flow_graph(
        &self,
        ids: &IdWords,
        at: Block,
        is_structural: bool,
    ) -> Result<(FlowGraph, BlockDominators), EditError> {
        let func = self.block(at).func;
        let cfg = FlowGraph::of_targets(self, func, |terminator, visit| {
            self.visit_targets(ids, terminator, |_, label| visit(label));
            let before = self.previous(terminator.handle()).map(|i| self.inst(i));
            match before.map(|i| (i.op(), i)) {
                Some((Op::SelectionMerge, i)) if is_structural => visit(i.id_operand(0)),
                Some((Op::LoopMerge, i)) if is_structural => {
                    i.id_operands(0).take(2).for_each(visit)
                }
                _ => {}
            }
        });
        let cfg = cfg.map_err(|_| EditError::Unstructured(self.label(at)))?;
        let dominators = BlockDominators::from_cfg(&cfg);
        Ok((cfg, dominators))
    }
}

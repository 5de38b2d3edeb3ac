//! Block order: places blocks after their dominators, as the specification requires (section 2.16.1).

use super::IdWords;
use super::module::{Func, SpirvModule};
use crate::analysis::{BlockDominators, FlowGraph};

const NONE: u32 = u32::MAX;

impl SpirvModule {
    /// Moves each block that precedes its immediate dominator to the place after it, together with the blocks
    /// that depend on it. Unreachable blocks move to the end, because they may use any definition. The order of
    /// the others does not change. Edits of edges change dominators: call this after them. Returns whether a
    /// block moved; takes time linear in the function.
    pub fn order_blocks(&mut self, ids: &IdWords, func: Func) -> bool {
        let cfg = FlowGraph::of_targets(self, func, |terminator, visit| {
            self.visit_targets(ids, terminator, |_, label| visit(label));
        });
        let Ok(cfg) = cfg else { return false };
        let dominators = BlockDominators::from_cfg(&cfg);
        self.order_blocks_by(func, &cfg, &dominators)
    }

    /// As [`SpirvModule::order_blocks`], with known graph and dominators.
    pub fn order_blocks_by(
        &mut self,
        func: Func,
        cfg: &FlowGraph,
        dominators: &BlockDominators,
    ) -> bool {
        let count = cfg.len() as u32;
        let early = |at: &u32| dominators.immediate_dominator(*at).is_some_and(|d| d > *at);
        if !(0..count).any(|at| early(&at)) {
            return false;
        }
        let mut placed = vec![false; cfg.len()];
        // Blocks that wait for a dominator, in lists: the first of each, and the next of each.
        let mut first = vec![NONE; cfg.len()];
        let mut next = vec![NONE; cfg.len()];
        let mut order = Vec::with_capacity(cfg.len());
        let mut stack = Vec::new();
        for at in (0..count).filter(|at| dominators.is_reachable(*at)) {
            if let Some(above) = dominators.immediate_dominator(at)
                && !placed[above as usize]
            {
                next[at as usize] = std::mem::replace(&mut first[above as usize], at);
                continue;
            }
            stack.push(at);
            while let Some(block) = stack.pop() {
                placed[block as usize] = true;
                order.push(cfg.block(block));
                let mut waiting = first[block as usize];
                while waiting != NONE {
                    stack.push(waiting);
                    waiting = next[waiting as usize];
                }
            }
        }
        let unreached = (0..count).filter(|at| !dominators.is_reachable(*at));
        order.extend(unreached.map(|at| cfg.block(at)));
        self.set_blocks(func, order);
        true
    }
}

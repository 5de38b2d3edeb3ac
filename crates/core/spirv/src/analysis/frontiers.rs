//! Dominance frontiers of a control-flow graph.

use super::{BlockDominators, FlowEdges, FlowGraph, PostDominators};
use std::fmt;

/// The dominance frontier of each block: the blocks that it does not strictly dominate but whose predecessor it
/// dominates. The walk is that of Cooper, Harvey and Kennedy (2001). It takes time in the size of the result,
/// which is linear except for deep nests of loops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DominanceFrontiers {
    first: Vec<u32>,
    blocks: Vec<u32>,
}

impl DominanceFrontiers {
    /// The frontiers of a function's blocks.
    pub fn from_cfg(cfg: &FlowGraph, dominators: &BlockDominators) -> Self {
        let up = |block| dominators.immediate_dominator(block);
        Self::of_graph(cfg.graph(), |b| dominators.is_reachable(b), up)
    }

    /// As [`DominanceFrontiers::from_cfg`], from the reachability and the immediate dominator of each block.
    pub(crate) fn of_graph(
        graph: &FlowEdges,
        is_reachable: impl Fn(u32) -> bool,
        up: impl Fn(u32) -> Option<u32>,
    ) -> Self {
        Self::from_pairs(graph.successors.len(), |visit| {
            for join in &graph.reverse_postorder {
                let sources = graph.predecessors.targets(*join);
                if sources.len() < 2 {
                    continue;
                }
                let end = up(*join);
                for source in sources.iter().filter(|s| is_reachable(**s)) {
                    visit_ancestors(*source, end, &up, |b| visit(b, *join));
                }
            }
        })
    }

    /// The frontiers in the reversed graph: the branches that decide whether a block runs. See Cytron et al.,
    /// "Efficiently Computing Static Single Assignment Form and the Control Dependence Graph", 1991.
    pub fn control_dependence(cfg: &FlowGraph, tree: &PostDominators) -> Self {
        Self::from_pairs(cfg.len(), |visit| {
            for branch in cfg.reverse_postorder() {
                let targets = cfg.successors(*branch);
                let ways = targets.len() + usize::from(tree.is_leaf(*branch));
                if ways < 2 {
                    continue;
                }
                let end = tree.immediate_post_dominator(*branch);
                for target in targets {
                    visit_ancestors(
                        *target,
                        end,
                        |b| tree.immediate_post_dominator(b),
                        |b| visit(b, *branch),
                    );
                }
            }
        })
    }

    /// Frontiers from a walk over their pairs. Repetitions of a block in a frontier are consecutive. The walk is
    /// made twice, because the pairs would take more memory than the frontiers.
    fn from_pairs(blocks: usize, walk: impl Fn(&mut dyn FnMut(u32, u32))) -> Self {
        let mut last = vec![u32::MAX; blocks];
        // Counts are one row further, so that filling moves each begin to its place.
        let mut first = vec![0u32; blocks + 2];
        walk(&mut |block, end| {
            if std::mem::replace(&mut last[block as usize], end) != end {
                first[block as usize + 2] += 1;
            }
        });
        for at in 2..first.len() {
            first[at] += first[at - 1];
        }
        let mut ends = vec![0; first[blocks + 1] as usize];
        last.fill(u32::MAX);
        walk(&mut |block, end| {
            if std::mem::replace(&mut last[block as usize], end) != end {
                let slot = &mut first[block as usize + 1];
                ends[*slot as usize] = end;
                *slot += 1;
            }
        });
        first.truncate(blocks + 1);
        DominanceFrontiers {
            first,
            blocks: ends,
        }
    }

    /// The frontier of a block, without repetition.
    pub fn of_block(&self, block: u32) -> &[u32] {
        let range = self.first[block as usize] as usize..self.first[block as usize + 1] as usize;
        &self.blocks[range]
    }
}

impl fmt::Display for DominanceFrontiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for block in 0..self.first.len() as u32 - 1 {
            writeln!(f, "block {block} ; frontier: {:?}", self.of_block(block))?;
        }
        Ok(())
    }
}

/// Visits the ancestors of `at`, itself included, up to `end`, which is excluded.
fn visit_ancestors(
    at: u32,
    end: Option<u32>,
    up: impl Fn(u32) -> Option<u32>,
    mut visit: impl FnMut(u32),
) {
    let mut next = Some(at);
    while let Some(block) = next.filter(|_| next != end) {
        visit(block);
        next = up(block);
    }
}

//! Post-dominator tree of a function.

use super::FlowGraph;
use super::dominators::DominanceTree;
use std::fmt;

/// Post-dominator tree: the blocks that are on every path from a block to the end of the function.
///
/// The end is a virtual block after all blocks without successors. One block of each infinite region counts as
/// its predecessor, too, so that every reachable block has a post-dominator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostDominators {
    tree: DominanceTree,
    endless: Vec<u32>,
    leaves: Vec<bool>,
}

impl PostDominators {
    /// Computed as [`super::BlockDominators`], on the reversed graph.
    pub fn from_cfg(cfg: &FlowGraph) -> Self {
        let exit = cfg.len() as u32;
        let mut reached = vec![false; cfg.len()];
        for block in cfg.reverse_postorder() {
            reached[*block as usize] = true;
        }
        let mut walk = ReverseFlowWalk {
            cfg,
            wanted: reached,
            postorder: Vec::with_capacity(cfg.len() + 1),
        };
        let mut leaves = vec![false; cfg.len()];
        let mut endless = Vec::new();
        for block in cfg.reverse_postorder().iter().rev() {
            if cfg.successors(*block).is_empty() {
                leaves[*block as usize] = true;
                walk.walk_from(*block);
            }
        }
        for block in cfg.reverse_postorder().iter().rev() {
            if walk.wanted[*block as usize] {
                leaves[*block as usize] = true;
                endless.push(*block);
                walk.walk_from(*block);
            }
        }
        let mut order = walk.postorder;
        order.push(exit);
        order.reverse();
        let tree = DominanceTree::from_predecessors(cfg.len() + 1, &order, |node, visit| {
            if node == exit {
                return;
            }
            cfg.successors(node).iter().copied().for_each(&mut *visit);
            if leaves[node as usize] {
                visit(exit);
            }
        });
        PostDominators {
            tree,
            endless,
            leaves,
        }
    }

    /// The immediate post-dominator of a block; `None` if it is the end itself.
    pub fn immediate_post_dominator(&self, block: u32) -> Option<u32> {
        let exit = self.leaves.len() as u32;
        self.tree.parent(block).filter(|b| *b != exit)
    }

    /// Whether `a` post-dominates `b`, that is, is on every path from `b` to the end. A block post-dominates
    /// itself.
    pub fn dominates(&self, a: u32, b: u32) -> bool {
        self.tree.is_above(a, b)
    }

    /// The blocks whose immediate post-dominator is this one.
    pub fn children(&self, block: u32) -> &[u32] {
        self.tree.children(block)
    }

    /// The blocks whose immediate post-dominator is the end: the roots of a forest.
    pub fn roots(&self) -> &[u32] {
        self.tree.children(self.leaves.len() as u32)
    }

    /// The index of a block among the children of its immediate post-dominator, or among the [`Self::roots`],
    /// from 0.
    pub fn sibling_index(&self, block: u32) -> Option<usize> {
        self.tree.sibling_index(block)
    }

    /// Whether a block leads to the end directly, or counts as doing so.
    pub fn is_leaf(&self, block: u32) -> bool {
        self.leaves[block as usize]
    }

    /// One block of each infinite region.
    pub fn infinite_region_blocks(&self) -> &[u32] {
        &self.endless
    }
}

impl fmt::Display for PostDominators {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for block in 0..self.leaves.len() as u32 {
            match self.immediate_post_dominator(block) {
                Some(d) => writeln!(f, "block {block} ; immediate post-dominator: {d}")?,
                None => writeln!(f, "block {block} ; immediate post-dominator: the end")?,
            }
        }
        Ok(())
    }
}

/// Depth-first walk against the edges.
struct ReverseFlowWalk<'a> {
    cfg: &'a FlowGraph,
    /// Reachable blocks that have not been visited.
    wanted: Vec<bool>,
    postorder: Vec<u32>,
}

impl ReverseFlowWalk<'_> {
    fn walk_from(&mut self, start: u32) {
        if !std::mem::take(&mut self.wanted[start as usize]) {
            return;
        }
        let mut stack = vec![(start, 0)];
        while let Some((at, next)) = stack.last_mut() {
            match self.cfg.predecessors(*at).get(*next).copied() {
                Some(before) => {
                    *next += 1;
                    if std::mem::take(&mut self.wanted[before as usize]) {
                        stack.push((before, 0));
                    }
                }
                None => {
                    self.postorder.push(*at);
                    stack.pop();
                }
            }
        }
    }
}

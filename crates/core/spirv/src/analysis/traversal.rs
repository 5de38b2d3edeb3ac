//! Graph traversals of a control-flow graph: depth-first and breadth-first trees, and walks that avoid a block.

use super::FlowGraph;
use super::dominators::DominanceTree;

/// The spanning tree of a walk from the entry: the parent of a block is the one from which it was reached.
/// Blocks are identified by their position in the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockTraversal {
    tree: DominanceTree,
    preorder: Vec<u32>,
    postorder: Vec<u32>,
}

impl BlockTraversal {
    /// Depth-first, successors in the order of the terminator. Takes time proportional to blocks and edges.
    pub fn depth_first(cfg: &FlowGraph) -> Self {
        let mut parent = vec![u32::MAX; cfg.len()];
        let (mut preorder, mut postorder) = (Vec::new(), Vec::new());
        let mut stack = Vec::new();
        if !cfg.is_empty() {
            parent[0] = 0;
            preorder.push(0);
            stack.push((0u32, 0usize));
        }
        while let Some((block, next)) = stack.last_mut() {
            let block = *block;
            match cfg.successors(block).get(*next).copied() {
                Some(successor) => {
                    *next += 1;
                    if parent[successor as usize] == u32::MAX {
                        parent[successor as usize] = block;
                        preorder.push(successor);
                        stack.push((successor, 0));
                    }
                }
                None => {
                    postorder.push(block);
                    stack.pop();
                }
            }
        }
        BlockTraversal {
            tree: DominanceTree::from_parents(parent, &preorder),
            preorder,
            postorder,
        }
    }

    /// Breadth-first. Its pre-order is the order of the walk.
    pub fn breadth_first(cfg: &FlowGraph) -> Self {
        let mut parent = vec![u32::MAX; cfg.len()];
        let mut order = Vec::new();
        if !cfg.is_empty() {
            parent[0] = 0;
            order.push(0);
        }
        let mut at = 0;
        while let Some(block) = order.get(at).copied() {
            at += 1;
            for successor in cfg.successors(block) {
                if parent[*successor as usize] == u32::MAX {
                    parent[*successor as usize] = block;
                    order.push(*successor);
                }
            }
        }
        let tree = DominanceTree::from_parents(parent, &order);
        let postorder = order.iter().rev().copied().collect();
        BlockTraversal {
            tree,
            preorder: order,
            postorder,
        }
    }

    /// The reached blocks in the order of the first visit.
    pub fn preorder(&self) -> &[u32] {
        &self.preorder
    }

    /// The reached blocks, each after its descendants.
    pub fn postorder(&self) -> &[u32] {
        &self.postorder
    }

    /// The parent of a block; `None` for the entry and unreachable blocks.
    pub fn parent(&self, block: u32) -> Option<u32> {
        self.tree.parent(block)
    }

    /// The children of a block, in the order in which they were reached.
    pub fn children(&self, block: u32) -> &[u32] {
        self.tree.children(block)
    }

    /// The index of a block among the children of its parent, from 0.
    pub fn sibling_index(&self, block: u32) -> Option<usize> {
        self.tree.sibling_index(block)
    }

    /// Whether `a` is `b` or an ancestor of it.
    pub fn is_above(&self, a: u32, b: u32) -> bool {
        self.tree.is_above(a, b)
    }
}

impl FlowGraph {
    /// The blocks that are reachable from `start` without entering `stop`, breadth-first. `start` comes first,
    /// even if it is `stop`. With a loop header as `stop`, a walk from the body gives the body.
    pub fn reached_without(&self, start: u32, stop: Option<u32>) -> Vec<u32> {
        let mut seen = vec![false; self.len()];
        let mut order = vec![start];
        seen[start as usize] = true;
        if let Some(stop) = stop {
            seen[stop as usize] = true;
        }
        let mut at = 0;
        while let Some(block) = order.get(at).copied() {
            at += 1;
            for successor in self.successors(block) {
                if !std::mem::replace(&mut seen[*successor as usize], true) {
                    order.push(*successor);
                }
            }
        }
        order
    }
}

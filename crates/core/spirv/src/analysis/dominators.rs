//! Dominator tree of a function.

use super::lengauer_tarjan::find_immediate_dominators;
use super::{EdgeLists, FlowGraph};
use std::fmt;
use std::sync::OnceLock;

/// Dominator tree, by the algorithm of Lengauer and Tarjan (the module `lengauer_tarjan` gives the reason).
/// Nodes are numbered so that dominance queries take constant time. Blocks are identified by their position in
/// the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockDominators {
    tree: DominanceTree,
}

impl BlockDominators {
    /// Computes the tree.
    pub fn from_cfg(cfg: &FlowGraph) -> Self {
        let order = cfg.reverse_postorder();
        let tree = DominanceTree::from_parents(cfg.graph().compute_dominators(), order);
        BlockDominators { tree }
    }

    /// The immediate dominator of a block; `None` for the entry and for unreachable blocks.
    #[inline]
    pub fn immediate_dominator(&self, block: u32) -> Option<u32> {
        self.tree.parent(block)
    }

    /// Whether `a` dominates `b`, that is, is on every path to it. A block dominates itself. Unreachable blocks
    /// are dominated by themselves only.
    #[inline]
    pub fn dominates(&self, a: u32, b: u32) -> bool {
        self.tree.is_above(a, b)
    }

    /// Whether the block can be reached from the entry.
    #[inline]
    pub fn is_reachable(&self, block: u32) -> bool {
        self.tree.is_reached(block)
    }

    /// The blocks whose immediate dominator is this one, in reverse post-order.
    pub fn children(&self, block: u32) -> &[u32] {
        self.tree.children(block)
    }

    /// The index of a block among the children of its immediate dominator, from 0.
    pub fn sibling_index(&self, block: u32) -> Option<usize> {
        self.tree.sibling_index(block)
    }

    /// The reachable blocks, each before those that it dominates.
    pub fn preorder(&self) -> &[u32] {
        &self.tree.preorder
    }
}

impl fmt::Display for BlockDominators {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for block in 0..self.tree.parent.len() as u32 {
            match self.immediate_dominator(block) {
                Some(d) => writeln!(f, "block {block} ; immediate dominator: {d}")?,
                None if self.is_reachable(block) => writeln!(f, "block {block} ; entry")?,
                None => writeln!(f, "block {block} ; unreachable")?,
            }
        }
        Ok(())
    }
}

/// A dominator tree of any graph, numbered depth-first.
#[derive(Clone, Debug)]
pub struct DominanceTree {
    /// Parent of each node. The root is its own; unreachable nodes have `u32::MAX`.
    parent: Vec<u32>,
    pub(crate) preorder: Vec<u32>,
    /// Number of each node in `preorder`, `u32::MAX` for unreachable nodes, and one more than the number of its
    /// last descendant.
    begin: Vec<u32>,
    end: Vec<u32>,
    /// Lists of children, computed on first use: most users ask for ancestors only.
    children: OnceLock<EdgeLists>,
}

/// Trees are equal if their parents and their order are; the rest follows.
impl PartialEq for DominanceTree {
    fn eq(&self, other: &DominanceTree) -> bool {
        self.parent == other.parent && self.preorder == other.preorder
    }
}

impl Eq for DominanceTree {}

impl DominanceTree {
    /// Dominators of the nodes in `order`, a reverse post-order that begins with the root.
    pub fn from_predecessors(
        nodes: usize,
        order: &[u32],
        predecessors: impl Fn(u32, &mut dyn FnMut(u32)),
    ) -> DominanceTree {
        DominanceTree::from_parents(
            find_immediate_dominators(nodes, order, &predecessors),
            order,
        )
    }

    /// The tree with these parents. `order` has each reachable node after its parent, the root first.
    pub fn from_parents(parent: Vec<u32>, order: &[u32]) -> DominanceTree {
        let nodes = parent.len();
        let below = order.get(1..).unwrap_or(&[]);
        // First the number of nodes in each subtree, then the number that the next child gets. It ends as the
        // end of the subtree.
        let mut end = vec![0u32; nodes];
        for node in order {
            end[*node as usize] = 1;
        }
        for node in below.iter().rev() {
            end[parent[*node as usize] as usize] += end[*node as usize];
        }
        let mut begin = vec![u32::MAX; nodes];
        let mut preorder = vec![0; order.len()];
        if let Some(root) = order.first() {
            begin[*root as usize] = 0;
            end[*root as usize] = 1;
            preorder[0] = *root;
        }
        for node in below {
            let size = end[*node as usize];
            let next = &mut end[parent[*node as usize] as usize];
            let own = std::mem::replace(next, *next + size);
            begin[*node as usize] = own;
            end[*node as usize] = own + 1;
            preorder[own as usize] = *node;
        }
        DominanceTree {
            parent,
            preorder,
            begin,
            end,
            children: OnceLock::new(),
        }
    }

    /// Whether a node can be reached from the root.
    #[inline]
    pub fn is_reached(&self, node: u32) -> bool {
        self.begin[node as usize] != u32::MAX
    }

    /// The nodes whose parent is this one.
    pub fn children(&self, node: u32) -> &[u32] {
        let lists = self.children.get_or_init(|| {
            let nodes = self.preorder.iter().copied();
            EdgeLists::from_pairs(self.parent.len(), || {
                nodes
                    .clone()
                    .filter_map(|node| Some((self.parent(node)?, node)))
            })
        });
        lists.targets(node)
    }

    /// The index of a node among the children of its parent, from 0, in time logarithmic in their number.
    pub fn sibling_index(&self, node: u32) -> Option<usize> {
        let begin = |node: u32| self.begin[node as usize];
        let siblings = self.children(self.parent(node)?);
        Some(siblings.partition_point(|s| begin(*s) < begin(node)))
    }

    /// The parent of a node; `None` for the root and for unreachable nodes.
    #[inline]
    pub fn parent(&self, node: u32) -> Option<u32> {
        let parent = self.parent[node as usize];
        (parent != u32::MAX && parent != node).then_some(parent)
    }

    /// Whether `a` is an ancestor of `b`; a node is its own ancestor.
    #[inline]
    pub fn is_above(&self, a: u32, b: u32) -> bool {
        let (a, b) = (a as usize, b as usize);
        a == b
            || self.begin[b] != u32::MAX
                && self.begin[a] <= self.begin[b]
                && self.begin[b] < self.end[a]
    }
}

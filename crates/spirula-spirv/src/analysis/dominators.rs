//! The dominator tree of a function.

use super::Cfg;
use super::lengauer_tarjan::parents;
use std::fmt;

/// Immediate dominators, by Lengauer and Tarjan's algorithm (the module `lengauer_tarjan` says why), with
/// the tree numbered so that dominance is asked in constant time.
/// Blocks are known by their position in the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dominators {
    tree: Tree,
}

impl Dominators {
    /// Computes the tree.
    pub fn compute(cfg: &Cfg) -> Self {
        let order = cfg.reverse_postorder();
        let tree = Tree::compute(cfg.len(), order, |b, visit| {
            cfg.predecessors(b).iter().copied().for_each(visit);
        });
        Dominators { tree }
    }

    /// The closest block that is on every path to this one; none for the entry and for blocks that
    /// cannot be reached.
    #[inline]
    pub fn immediate(&self, block: u32) -> Option<u32> {
        self.tree.parent(block)
    }

    /// Whether `a` is on every path to `b`; a block dominates itself. Unreachable blocks are
    /// dominated by themselves only.
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

    /// Which child of its immediate dominator a block is, counted from 0.
    pub fn position(&self, block: u32) -> Option<usize> {
        self.tree.position(block)
    }

    /// The reachable blocks, each before those that it dominates.
    pub fn preorder(&self) -> &[u32] {
        &self.tree.preorder
    }
}

impl fmt::Display for Dominators {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for block in 0..self.tree.parent.len() as u32 {
            match self.immediate(block) {
                Some(d) => writeln!(f, "block {block} ; immediate dominator: {d}")?,
                None if self.is_reachable(block) => writeln!(f, "block {block} ; entry")?,
                None => writeln!(f, "block {block} ; unreachable")?,
            }
        }
        Ok(())
    }
}

/// A dominator tree of any graph, numbered depth-first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// Parent of each node; its own for the root, `u32::MAX` where unreachable.
    parent: Vec<u32>,
    /// Begin of each node's children in `children`.
    first: Vec<u32>,
    children: Vec<u32>,
    pub(crate) preorder: Vec<u32>,
    /// Number of each node in `preorder`, `u32::MAX` where unreachable, and one more than the
    /// number of the last node below it.
    begin: Vec<u32>,
    end: Vec<u32>,
}

impl Tree {
    /// Dominators of the nodes in `order`, a reverse post-order that begins with the root.
    pub fn compute(
        nodes: usize,
        order: &[u32],
        predecessors: impl Fn(u32, &mut dyn FnMut(u32)),
    ) -> Tree {
        Tree::numbered(parents(nodes, order, &predecessors), order)
    }

    /// The tree of known parents; `order` has each reached node behind its parent, the root first.
    pub fn numbered(parent: Vec<u32>, order: &[u32]) -> Tree {
        let nodes = parent.len();
        let mut first = vec![0; nodes + 1];
        let below = order.get(1..).unwrap_or(&[]);
        for node in below {
            first[parent[*node as usize] as usize + 1] += 1;
        }
        for at in 0..nodes {
            first[at + 1] += first[at];
        }
        let mut fill = first.clone();
        let mut children = vec![0; below.len()];
        for node in below {
            let slot = &mut fill[parent[*node as usize] as usize];
            children[*slot as usize] = *node;
            *slot += 1;
        }
        let mut tree = Tree {
            parent,
            first,
            children,
            preorder: Vec::with_capacity(order.len()),
            begin: vec![u32::MAX; nodes],
            end: vec![0; nodes],
        };
        let mut stack: Vec<u32> = order.first().copied().into_iter().collect();
        while let Some(node) = stack.pop() {
            tree.begin[node as usize] = tree.preorder.len() as u32;
            tree.preorder.push(node);
            let range = tree.range(node);
            stack.extend(tree.children[range].iter().rev());
        }
        for at in (0..tree.preorder.len()).rev() {
            let node = tree.preorder[at];
            let own = at as u32 + 1;
            let last = tree.children(node).last();
            tree.end[node as usize] = last.map_or(own, |c| tree.end[*c as usize]);
        }
        tree
    }

    /// Whether a node can be reached from the root.
    #[inline]
    pub fn is_reached(&self, node: u32) -> bool {
        self.begin[node as usize] != u32::MAX
    }

    fn range(&self, node: u32) -> std::ops::Range<usize> {
        self.first[node as usize] as usize..self.first[node as usize + 1] as usize
    }

    /// The nodes whose parent is this one.
    pub fn children(&self, node: u32) -> &[u32] {
        &self.children[self.range(node)]
    }

    /// Which child of its parent a node is, counted from 0, in time logarithmic in their number.
    pub fn position(&self, node: u32) -> Option<usize> {
        let begin = |node: u32| self.begin[node as usize];
        let siblings = self.children(self.parent(node)?);
        Some(siblings.partition_point(|s| begin(*s) < begin(node)))
    }

    /// The closest node that is on every path to this one; none for the root and for nodes that
    /// cannot be reached.
    #[inline]
    pub fn parent(&self, node: u32) -> Option<u32> {
        let parent = self.parent[node as usize];
        (parent != u32::MAX && parent != node).then_some(parent)
    }

    /// Whether `a` is on every path to `b`; a node is above itself.
    #[inline]
    pub fn is_above(&self, a: u32, b: u32) -> bool {
        let (a, b) = (a as usize, b as usize);
        a == b
            || self.begin[b] != u32::MAX
                && self.begin[a] <= self.begin[b]
                && self.begin[b] < self.end[a]
    }
}

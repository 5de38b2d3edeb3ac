//! Loop nest of a function.

use super::{BlockDominators, EdgeLists, FlowGraph};
use spirula_entity::UnionFind;
use std::fmt;

/// A natural loop: all paths that lead back to a header which dominates them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NaturalLoop {
    /// The header, through which alone the loop is entered.
    pub header: u32,
    /// The loop around it, as an index into the nest.
    pub parent: Option<u32>,
    /// Nesting depth, 1 for outermost loops.
    pub depth: u32,
    /// The sources of the back edges.
    pub latches: Vec<u32>,
}

/// Natural loops of a function, inner loops before outer ones.
///
/// Cycles with several entries (irreducible ones) are no natural loops. They are not in the nest;
/// [`LoopNest::irreducible_edges`] has their edges. Loops are found against the edges from each latch. Inner
/// loops are skipped in one step, so that the time is almost linear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopNest {
    loops: Vec<NaturalLoop>,
    /// Innermost loop of each block, `u32::MAX` for none.
    innermost: Vec<u32>,
    irreducible: Vec<(u32, u32)>,
    children: EdgeLists,
}

impl LoopNest {
    /// Computes the nest.
    pub fn from_cfg(cfg: &FlowGraph, dominators: &BlockDominators) -> Self {
        let mut nest = LoopNest {
            loops: Vec::new(),
            innermost: vec![u32::MAX; cfg.len()],
            irreducible: Vec::new(),
            children: EdgeLists::default(),
        };
        // The set of a loop contains the loops within it. Its root is the outermost one found so far.
        let mut outer = UnionFind::default();
        let mut number = vec![u32::MAX; cfg.len()];
        for (at, block) in cfg.reverse_postorder().iter().enumerate() {
            number[*block as usize] = at as u32;
        }
        for &header in dominators.preorder().iter().rev() {
            let mut latches = Vec::new();
            for &source in cfg.predecessors(header) {
                if dominators.is_reachable(source) && dominators.dominates(header, source) {
                    // A branch may name a block twice; predecessors are sorted.
                    if latches.last() != Some(&source) {
                        latches.push(source);
                    }
                } else if dominators.is_reachable(source)
                    && number[source as usize] >= number[header as usize]
                {
                    nest.irreducible.push((source, header));
                }
            }
            if !latches.is_empty() {
                nest.discover_loop(cfg, dominators, header, latches, &mut outer);
            }
        }
        for at in (0..nest.loops.len()).rev() {
            let up = nest.loops[at].parent;
            nest.loops[at].depth = 1 + up.map_or(0, |p| nest.loops[p as usize].depth);
        }
        nest.irreducible.sort_unstable();
        let parent = |at: u32| nest.loops[at as usize].parent;
        nest.children = EdgeLists::to_children(nest.loops.len(), parent);
        nest
    }

    /// Whether a function has any natural loop, which is cheaper than to compute the nest.
    pub fn are_in(cfg: &FlowGraph, dominators: &BlockDominators) -> bool {
        let goes_back = |at: &u32| {
            let next = cfg.successors(*at).iter();
            next.into_iter().any(|to| dominators.dominates(*to, *at))
        };
        cfg.reverse_postorder().iter().any(goes_back)
    }

    fn discover_loop(
        &mut self,
        cfg: &FlowGraph,
        dominators: &BlockDominators,
        header: u32,
        latches: Vec<u32>,
        outermost: &mut UnionFind,
    ) {
        let own = self.loops.len() as u32;
        let mut work = latches.clone();
        self.loops.push(NaturalLoop {
            header,
            parent: None,
            depth: 0,
            latches,
        });
        outermost.add_set();
        // The root of each loop found so far, so that each nest is climbed once for a block.
        while let Some(block) = work.pop() {
            let inner = self.innermost[block as usize];
            if inner == u32::MAX {
                self.innermost[block as usize] = own;
                if block != header {
                    work.extend(reachable_predecessors(cfg, dominators, block));
                }
                continue;
            }
            let outer = outermost.find_root(inner);
            if outer != own {
                self.loops[outer as usize].parent = Some(own);
                outermost.join_roots(own, outer);
                let entry = self.loops[outer as usize].header;
                if entry == header {
                    continue;
                }
                let outside = reachable_predecessors(cfg, dominators, entry);
                work.extend(outside.filter(|b| {
                    let inner = self.innermost[*b as usize];
                    inner == u32::MAX || outermost.find_root(inner) != own
                }));
            }
        }
        if self.innermost[header as usize] == u32::MAX {
            self.innermost[header as usize] = own;
        }
    }

    /// The loops, inner loops before outer ones.
    pub fn loops(&self) -> &[NaturalLoop] {
        &self.loops
    }

    /// The innermost loop that a block is in, as an index into [`LoopNest::loops`].
    pub fn innermost_loop(&self, block: u32) -> Option<u32> {
        let at = self.innermost[block as usize];
        (at != u32::MAX).then_some(at)
    }

    /// The loops directly within a loop.
    pub fn children(&self, at: u32) -> &[u32] {
        self.children.targets(at)
    }

    /// The index of a loop among the children of its parent, from 0.
    pub fn sibling_index(&self, at: u32) -> Option<usize> {
        let parent = self.loops[at as usize].parent?;
        self.children(parent).binary_search(&at).ok()
    }

    /// Whether a block is in a loop, at any depth within it.
    pub fn contains(&self, at: u32, block: u32) -> bool {
        let mut inner = self.innermost_loop(block);
        while let Some(l) = inner {
            if l == at {
                return true;
            }
            inner = self.loops[l as usize].parent;
        }
        false
    }

    /// The edges that close irreducible cycles, source and target, in increasing order.
    pub fn irreducible_edges(&self) -> &[(u32, u32)] {
        &self.irreducible
    }

    /// The blocks of each loop, those of inner loops included, in the given order. Takes time proportional to
    /// blocks times depth.
    pub fn collect_members(&self, order: &[u32]) -> Vec<Vec<u32>> {
        let mut members = vec![Vec::new(); self.loops.len()];
        for &block in order {
            let mut at = self.innermost_loop(block);
            while let Some(l) = at {
                members[l as usize].push(block);
                at = self.loops[l as usize].parent;
            }
        }
        members
    }
}

impl fmt::Display for LoopNest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, l) in self.loops.iter().enumerate() {
            let NaturalLoop {
                header,
                depth,
                latches,
                ..
            } = l;
            write!(
                f,
                "loop {at} of block {header} ; depth {depth}, latches: {latches:?}"
            )?;
            match l.parent {
                Some(p) => writeln!(f, ", in loop {p}")?,
                None => writeln!(f)?,
            }
        }
        for (from, to) in &self.irreducible {
            writeln!(f, "edge {from} to {to} ; irreducible")?;
        }
        Ok(())
    }
}

fn reachable_predecessors<'a>(
    cfg: &'a FlowGraph,
    dominators: &'a BlockDominators,
    block: u32,
) -> impl Iterator<Item = u32> + 'a {
    let sources = cfg.predecessors(block).iter().copied();
    sources.filter(|b| dominators.is_reachable(*b))
}

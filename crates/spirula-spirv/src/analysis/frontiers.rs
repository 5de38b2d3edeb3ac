//! Dominance frontiers.

use super::{Cfg, Dominators, PostDominators};
use std::fmt;

/// Where the dominance of each block ends: the blocks that it does not strictly dominate but whose
/// predecessor it dominates. By the walk of Cooper, Harvey and Kennedy (2001): time in the size of
/// the result, which is linear but for deep nests of loops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frontiers {
    first: Vec<u32>,
    blocks: Vec<u32>,
}

impl Frontiers {
    /// The frontiers of a function's blocks.
    pub fn compute(cfg: &Cfg, dominators: &Dominators) -> Self {
        Self::of(cfg.len(), |visit| {
            for join in cfg.reverse_postorder() {
                let sources = cfg.predecessors(*join);
                if sources.len() < 2 {
                    continue;
                }
                let end = dominators.immediate(*join);
                for source in sources.iter().filter(|s| dominators.is_reachable(**s)) {
                    climb(
                        *source,
                        end,
                        |b| dominators.immediate(b),
                        |b| visit(b, *join),
                    );
                }
            }
        })
    }

    /// The frontiers in the reversed graph: the branches that decide whether a block is run
    /// (Cytron et al., "Efficiently Computing Static Single Assignment Form and the Control
    /// Dependence Graph", 1991).
    pub fn control_dependence(cfg: &Cfg, tree: &PostDominators) -> Self {
        Self::of(cfg.len(), |visit| {
            for branch in cfg.reverse_postorder() {
                let targets = cfg.successors(*branch);
                let ways = targets.len() + usize::from(tree.is_leaf(*branch));
                if ways < 2 {
                    continue;
                }
                let end = tree.immediate(*branch);
                for target in targets {
                    climb(*target, end, |b| tree.immediate(b), |b| visit(b, *branch));
                }
            }
        })
    }

    fn of(blocks: usize, walk: impl Fn(&mut dyn FnMut(u32, u32))) -> Self {
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        let mut last = vec![u32::MAX; blocks];
        walk(&mut |block, end| {
            if std::mem::replace(&mut last[block as usize], end) != end {
                pairs.push((block, end));
            }
        });
        let mut first = vec![0; blocks + 1];
        for (block, _) in &pairs {
            first[*block as usize + 1] += 1;
        }
        for at in 0..blocks {
            first[at + 1] += first[at];
        }
        let mut fill = first.clone();
        let mut ends = vec![0; pairs.len()];
        for (block, end) in pairs {
            ends[fill[block as usize] as usize] = end;
            fill[block as usize] += 1;
        }
        Frontiers {
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

impl fmt::Display for Frontiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for block in 0..self.first.len() as u32 - 1 {
            writeln!(f, "block {block} ; frontier: {:?}", self.of_block(block))?;
        }
        Ok(())
    }
}

/// Visits the nodes from `at` up the tree until `end`, which is not visited.
fn climb(at: u32, end: Option<u32>, up: impl Fn(u32) -> Option<u32>, mut visit: impl FnMut(u32)) {
    let mut next = Some(at);
    while let Some(block) = next.filter(|_| next != end) {
        visit(block);
        next = up(block);
    }
}

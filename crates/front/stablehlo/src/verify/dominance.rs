//! Dominators of the blocks of a region.
//!
//! Cooper, Harvey, Kennedy: "A simple, fast dominance algorithm" (2001).

use crate::mlir::{MlirBlock, MlirModule, MlirRegion};

/// Immediate dominator of each block of a region, by its position there. The entry's is itself;
/// unreachable blocks have none.
pub(crate) struct RegionDominators {
    immediate: Vec<Option<u32>>,
    /// Position in reverse post-order.
    order: Vec<u32>,
    /// Times at which a walk of the tree enters and leaves a block.
    visits: Vec<(u32, u32)>,
}

impl RegionDominators {
    /// `position` has the position of each block within its region.
    pub fn from_region(
        module: &MlirModule,
        region: MlirRegion,
        position: &[u32],
    ) -> RegionDominators {
        let blocks = module.blocks(region);
        let successors = |at: usize| -> &[MlirBlock] {
            let last = module.ops(blocks[at]).last();
            last.map_or(&[], |&op| module.successors(op))
        };
        let sequence = reverse_post_order(blocks.len(), position, &successors);
        let mut order = vec![u32::MAX; blocks.len()];
        for (at, &block) in sequence.iter().enumerate() {
            order[block] = at as u32;
        }
        let mut predecessors = vec![Vec::new(); blocks.len()];
        for &at in &sequence {
            for to in successors(at) {
                predecessors[position[to.index()] as usize].push(at as u32);
            }
        }
        let mut dominators = RegionDominators {
            immediate: vec![None; blocks.len()],
            order,
            visits: Vec::new(),
        };
        if !blocks.is_empty() {
            dominators.immediate[0] = Some(0);
        }
        let mut changed = true;
        while changed {
            changed = false;
            for &at in sequence.iter().skip(1) {
                let known = predecessors[at].iter().copied();
                let known = known.filter(|&p| dominators.immediate[p as usize].is_some());
                let new = known.reduce(|a, b| dominators.find_common_dominator(a, b));
                if new != dominators.immediate[at] {
                    dominators.immediate[at] = new;
                    changed = true;
                }
            }
        }
        dominators.visits = dominators.number_visits();
        dominators
    }

    /// Numbers the blocks of the tree: the blocks that a block dominates are visited between its
    /// own times.
    fn number_visits(&self) -> Vec<(u32, u32)> {
        let mut children = vec![Vec::new(); self.immediate.len()];
        for (at, up) in self.immediate.iter().enumerate().skip(1) {
            if let Some(up) = up {
                children[*up as usize].push(at);
            }
        }
        let mut visits = vec![(0, 0); self.immediate.len()];
        let mut clock = 0;
        let mut open: Vec<(usize, bool)> = vec![(0, false)];
        open.truncate(self.immediate.len());
        while let Some((at, leaving)) = open.pop() {
            clock += 1;
            if leaving {
                visits[at].1 = clock;
                continue;
            }
            visits[at].0 = clock;
            open.push((at, true));
            open.extend(children[at].iter().map(|&child| (child, false)));
        }
        visits
    }

    fn find_common_dominator(&self, mut a: u32, mut b: u32) -> u32 {
        let up = |block: u32| self.immediate[block as usize].unwrap_or(0);
        while a != b {
            if self.order[a as usize] > self.order[b as usize] {
                a = up(a);
            } else {
                b = up(b);
            }
        }
        a
    }

    /// Whether every path to block `b` goes through block `a`. An unreachable block is dominated by
    /// all.
    pub fn dominates(&self, a: u32, b: u32) -> bool {
        let (outer, inner) = (self.visits[a as usize], self.visits[b as usize]);
        self.immediate[b as usize].is_none() || (outer.0 <= inner.0 && inner.1 <= outer.1)
    }
}

fn reverse_post_order<'m>(
    count: usize,
    position: &[u32],
    successors: &impl Fn(usize) -> &'m [MlirBlock],
) -> Vec<usize> {
    let mut seen = vec![false; count];
    let mut post = Vec::new();
    let mut open = Vec::new();
    if count > 0 {
        seen[0] = true;
        open.push((0, 0));
    }
    while let Some((at, next)) = open.pop() {
        let Some(to) = successors(at).get(next) else {
            post.push(at);
            continue;
        };
        open.push((at, next + 1));
        let to = position[to.index()] as usize;
        if !std::mem::replace(&mut seen[to], true) {
            open.push((to, 0));
        }
    }
    post.reverse();
    post
}

//! The dominator tree of a function.

use super::Cfg;

/// Immediate dominators, by the iterative algorithm of Cooper, Harvey and Kennedy ("A Simple, Fast
/// Dominance Algorithm", 2001). Blocks are known by their position in the function.
#[derive(Clone, Debug)]
pub struct Dominators {
    /// Immediate dominator of each block; its own for the entry, `u32::MAX` where unreachable.
    immediate: Vec<u32>,
    /// Position of each block in reverse post-order.
    number: Vec<u32>,
}

impl Dominators {
    /// Computes the tree.
    pub fn compute(cfg: &Cfg) -> Self {
        let order = cfg.reverse_postorder();
        let mut number = vec![u32::MAX; cfg.len()];
        for (at, block) in order.iter().enumerate() {
            number[*block as usize] = at as u32;
        }
        let mut tree = Dominators {
            immediate: vec![u32::MAX; cfg.len()],
            number,
        };
        let Some((&entry, rest)) = order.split_first() else {
            return tree;
        };
        tree.immediate[entry as usize] = entry;
        let mut changed = true;
        while changed {
            changed = false;
            for &block in rest {
                let done = cfg.predecessors(block).iter().copied();
                let mut done = done.filter(|p| tree.immediate[*p as usize] != u32::MAX);
                let Some(first) = done.next() else { continue };
                let common = done.fold(first, |a, b| tree.common(a, b));
                changed |= std::mem::replace(&mut tree.immediate[block as usize], common) != common;
            }
        }
        tree
    }

    /// The closest block that is on every path to this one; none for the entry and for blocks that
    /// cannot be reached.
    pub fn immediate(&self, block: u32) -> Option<u32> {
        let dominator = self.immediate[block as usize];
        (dominator != u32::MAX && dominator != block).then_some(dominator)
    }

    /// Whether `a` is on every path to `b`; a block dominates itself. Unreachable blocks are
    /// dominated by themselves only. Takes time in the depth of the tree.
    pub fn dominates(&self, a: u32, mut b: u32) -> bool {
        while b != a {
            match self.immediate(b) {
                Some(up) => b = up,
                None => return false,
            }
        }
        true
    }

    fn common(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            if self.number[a as usize] > self.number[b as usize] {
                a = self.immediate[a as usize];
            } else {
                b = self.immediate[b as usize];
            }
        }
        a
    }
}

//! Union-find over slots.

/// Disjoint sets of slots with path halving: joins and look-ups in nearly constant time.
#[derive(Clone, Debug)]
pub(crate) struct SlotUnionFind {
    parent: Vec<u32>,
}

impl SlotUnionFind {
    /// Creates `count` slots, each in its own set.
    pub(crate) fn new(count: usize) -> Self {
        SlotUnionFind {
            parent: (0..count as u32).collect(),
        }
    }

    /// The representative of the set of `slot`: its smallest member.
    pub(crate) fn find_root(&mut self, slot: u32) -> u32 {
        let mut at = slot;
        while self.parent[at as usize] != at {
            let grandparent = self.parent[self.parent[at as usize] as usize];
            self.parent[at as usize] = grandparent;
            at = grandparent;
        }
        at
    }

    /// Joins the sets of two slots.
    pub(crate) fn union_sets(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find_root(a), self.find_root(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::SlotUnionFind;

    #[test]
    fn joined_slots_share_their_smallest() {
        let mut classes = SlotUnionFind::new(6);
        classes.union_sets(4, 5);
        classes.union_sets(5, 1);
        assert_eq!([1, 1, 0], [4, 5, 0].map(|slot| classes.find_root(slot)));
    }
}

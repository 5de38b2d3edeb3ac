//! Union-find: disjoint sets of numbers (R. Tarjan, 1975), with path halving.

/// Disjoint sets of the numbers from 0. A set is named by one of its numbers, its root.
#[derive(Clone, Debug, Default)]
pub struct UnionFind {
    /// A number nearer to the root of the set; roots have themselves.
    parents: Vec<u32>,
}

impl UnionFind {
    /// Sets of one number each, from 0 to `count - 1`.
    pub fn new(count: usize) -> Self {
        UnionFind {
            parents: (0..count as u32).collect(),
        }
    }

    /// Adds the next number as a set of its own and returns it.
    pub fn add_set(&mut self) -> u32 {
        let number = self.parents.len() as u32;
        self.parents.push(number);
        number
    }

    /// Count of numbers.
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Whether there is no number.
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// Whether a number is the root of its set.
    pub fn is_root(&self, number: u32) -> bool {
        self.parents[number as usize] == number
    }

    /// The root of the set of a number. Shortens the path to it.
    pub fn find_root(&mut self, mut number: u32) -> u32 {
        while self.parents[number as usize] != number {
            let parent = self.parents[number as usize];
            self.parents[number as usize] = self.parents[parent as usize];
            number = self.parents[number as usize];
        }
        number
    }

    /// The root of the set of a number, found without a change of the paths.
    pub fn peek_root(&self, mut number: u32) -> u32 {
        while self.parents[number as usize] != number {
            number = self.parents[number as usize];
        }
        number
    }

    /// Joins the sets of two numbers. The smaller one of their roots becomes the root.
    pub fn join_sets(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find_root(a), self.find_root(b));
        self.join_roots(a.min(b), a.max(b));
    }

    /// Joins the set of the root `gone` to that of the root `kept`, which stays a root.
    pub fn join_roots(&mut self, kept: u32, gone: u32) {
        debug_assert!(self.is_root(kept) && self.is_root(gone));
        self.parents[gone as usize] = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::UnionFind;

    #[test]
    fn joined_sets_have_their_smallest_number_as_root() {
        let mut sets = UnionFind::new(6);
        sets.join_sets(4, 5);
        sets.join_sets(5, 1);
        assert_eq!([4, 5, 0].map(|number| sets.peek_root(number)), [1, 1, 0]);
        assert_eq!([4, 5, 0].map(|number| sets.find_root(number)), [1, 1, 0]);
    }

    #[test]
    fn a_root_can_be_chosen() {
        let mut sets = UnionFind::default();
        let [a, b, c] = std::array::from_fn(|_| sets.add_set());
        sets.join_roots(c, a);
        assert_eq!([a, b, c].map(|number| sets.find_root(number)), [c, b, c]);
        assert!(sets.is_root(c) && !sets.is_root(a));
        assert_eq!(sets.len(), 3);
        assert!(!sets.is_empty());
    }
}

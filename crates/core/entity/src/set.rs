//! Sets of ids as bit vectors.

use crate::EntityIndex;
use std::marker::PhantomData;

/// A set of ids, one bit each, that grows with the ids put into it.
#[derive(Clone, Debug)]
pub struct EntitySet<K> {
    bits: Vec<u64>,
    keys: PhantomData<fn(K)>,
}

impl<K> Default for EntitySet<K> {
    fn default() -> Self {
        EntitySet {
            bits: Vec::new(),
            keys: PhantomData,
        }
    }
}

impl<K: EntityIndex> EntitySet<K> {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty set with room for ids whose index is below `bound`.
    pub fn with_bound(bound: u32) -> Self {
        EntitySet {
            bits: vec![0; bound as usize / 64 + 1],
            keys: PhantomData,
        }
    }

    /// Adds an id. Returns whether the set did not have it before.
    #[inline]
    pub fn insert(&mut self, id: K) -> bool {
        let (word, bit) = (id.index() / 64, 1 << (id.index() % 64));
        if word >= self.bits.len() {
            self.bits.resize(word + 1, 0);
        }
        let is_new = self.bits[word] & bit == 0;
        self.bits[word] |= bit;
        is_new
    }

    /// Whether an id is in the set.
    #[inline]
    pub fn contains(&self, id: K) -> bool {
        let bits = self.bits.get(id.index() / 64).copied().unwrap_or(0);
        bits >> (id.index() % 64) & 1 == 1
    }

    /// Whether no id is in the set.
    pub fn is_empty(&self) -> bool {
        self.bits.iter().all(|bits| *bits == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::EntitySet;

    crate::define_ids! {
        /// An id.
        struct SetKey: "test";
    }

    #[test]
    fn a_set_holds_what_was_inserted() {
        let mut set = EntitySet::with_bound(3);
        assert!(set.is_empty());
        assert!(set.insert(SetKey::new(200)));
        assert!(!set.insert(SetKey::new(200)));
        let found = [1, 200, 201, 9_999].map(|index| set.contains(SetKey::new(index)));
        assert_eq!(found, [false, true, false, false]);
    }
}

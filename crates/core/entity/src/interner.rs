//! Interning of values: equal values are stored once and have the same id.

use crate::DenseId;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::{BuildHasher, Hash};

/// All distinct values of one type, in the order of their first occurrence.
///
/// A look-up hashes the value once. Nothing is copied: the hash table keeps ids only.
#[derive(Clone, Debug)]
pub struct ValueInterner<K, V> {
    values: Vec<V>,
    ids: HashTable<K>,
}

impl<K, V> Default for ValueInterner<K, V> {
    fn default() -> Self {
        ValueInterner {
            values: Vec::new(),
            ids: HashTable::new(),
        }
    }
}

impl<K: DenseId, V: Eq + Hash> ValueInterner<K, V> {
    /// The id of a value, which is added if it is new.
    pub fn intern(&mut self, value: V) -> K {
        let hash = FxBuildHasher.hash_one(&value);
        let ValueInterner { values, ids } = self;
        if let Some(&id) = ids.find(hash, |id| values[id.index()] == value) {
            return id;
        }
        let id = K::from_index(values.len());
        values.push(value);
        ids.insert_unique(hash, id, |id| FxBuildHasher.hash_one(&values[id.index()]));
        id
    }

    /// The id of a value, if it was interned.
    pub fn find(&self, value: &V) -> Option<K> {
        let hash = FxBuildHasher.hash_one(value);
        let found = self.ids.find(hash, |id| self.values[id.index()] == *value);
        found.copied()
    }

    /// The value of an id.
    pub fn get(&self, id: K) -> &V {
        &self.values[id.index()]
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// All values with their ids, in the order of their first occurrence.
    pub fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        let values = self.values.iter().enumerate();
        values.map(|(index, value)| (K::from_index(index), value))
    }
}

#[cfg(test)]
mod tests {
    use super::ValueInterner;

    crate::define_ids! {
        /// An id.
        struct InternedId: "test";
    }

    #[test]
    fn equal_values_have_one_id() {
        let mut values: ValueInterner<InternedId, (u32, bool)> = ValueInterner::default();
        let first = values.intern((1, true));
        let second = values.intern((1, false));
        assert_ne!(first, second);
        assert_eq!(values.intern((1, true)), first);
        assert_eq!(values.find(&(1, false)), Some(second));
        assert_eq!(values.find(&(2, false)), None);
        assert_eq!(*values.get(second), (1, false));
        assert!(!values.is_empty());
        assert_eq!(values.iter().count(), values.len());
    }
}

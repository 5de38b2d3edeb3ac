//! Arenas: all entities of one kind, each with the id that is its position.

use crate::DenseId;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// The entities of one kind in the order of their ids. Entities are added and never removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityArena<K, V> {
    rows: Vec<V>,
    keys: PhantomData<fn(K)>,
}

impl<K, V> Default for EntityArena<K, V> {
    fn default() -> Self {
        EntityArena {
            rows: Vec::new(),
            keys: PhantomData,
        }
    }
}

impl<K: DenseId, V> EntityArena<K, V> {
    /// Adds an entity. Its id is the number of entities before.
    ///
    /// # Panics
    /// If there are `u32::MAX` entities. Readers bound their inputs far below.
    pub fn push(&mut self, entity: V) -> K {
        let id = K::from_index(self.rows.len());
        self.rows.push(entity);
        id
    }

    /// Number of entities.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The ids of all entities, in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = K> + use<K, V> {
        (0..self.rows.len()).map(K::from_index)
    }

    /// All entities with their ids, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (K, &V)> {
        self.rows
            .iter()
            .enumerate()
            .map(|(index, entity)| (K::from_index(index), entity))
    }
}

impl<K: DenseId, V> Index<K> for EntityArena<K, V> {
    type Output = V;

    #[inline]
    fn index(&self, id: K) -> &V {
        &self.rows[id.index()]
    }
}

impl<K: DenseId, V> IndexMut<K> for EntityArena<K, V> {
    #[inline]
    fn index_mut(&mut self, id: K) -> &mut V {
        &mut self.rows[id.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::EntityArena;

    crate::define_ids! {
        /// An id.
        struct TestId: "test";
    }

    #[test]
    fn ids_are_positions() {
        let mut arena: EntityArena<TestId, char> = EntityArena::default();
        let ids = ['a', 'b'].map(|entity| arena.push(entity));
        arena[ids[0]] = 'c';
        assert_eq!(
            arena.iter().collect::<Vec<_>>(),
            [(ids[0], &'c'), (ids[1], &'b')]
        );
        assert!(arena.ids().eq(ids));
        assert_eq!((arena.len(), arena.is_empty()), (2, false));
    }
}

//! Secondary maps: a value for each id, with a default for ids that have none.

use crate::EntityIndex;
use std::marker::PhantomData;

/// A table keyed by id: a flat vector that grows with the ids put into it.
#[derive(Clone, Debug)]
pub struct SecondaryMap<K, V> {
    rows: Vec<V>,
    default: V,
    keys: PhantomData<fn(K)>,
}

impl<K: EntityIndex, V: Clone> SecondaryMap<K, V> {
    /// A table in which every id has the value `default`, with rows for ids whose index is below `bound`.
    pub fn new(bound: u32, default: V) -> Self {
        SecondaryMap {
            rows: vec![default.clone(); bound as usize],
            default,
            keys: PhantomData,
        }
    }

    /// Number of ids that have rows; the others have the default.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether no id has a row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Sets the value of an id.
    pub fn set(&mut self, id: K, value: V) {
        if id.index() == self.rows.len() {
            self.rows.push(value);
        } else {
            *self.get_mut(id) = value;
        }
    }

    /// The value of an id, to change in place.
    #[inline]
    pub fn get_mut(&mut self, id: K) -> &mut V {
        if id.index() >= self.rows.len() {
            self.grow_to(id);
        }
        &mut self.rows[id.index()]
    }

    #[cold]
    fn grow_to(&mut self, id: K) {
        self.rows.resize(id.index() + 1, self.default.clone());
    }
}

/// Maps are equal if every id has the same value; the number of rows does not matter.
impl<K, V: PartialEq> PartialEq for SecondaryMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        let common = self.rows.len().min(other.rows.len());
        let rest = |map: &Self, default: &V| map.rows[common..].iter().all(|r| r == default);
        self.rows[..common] == other.rows[..common]
            && self.default == other.default
            && rest(self, &self.default)
            && rest(other, &other.default)
    }
}

impl<K, V: Eq> Eq for SecondaryMap<K, V> {}

impl<K: EntityIndex, V> std::ops::Index<K> for SecondaryMap<K, V> {
    type Output = V;

    #[inline]
    fn index(&self, id: K) -> &V {
        self.rows.get(id.index()).unwrap_or(&self.default)
    }
}

#[cfg(test)]
mod tests {
    use super::SecondaryMap;

    crate::define_ids! {
        /// An id.
        struct MapKey: "test";
    }

    #[test]
    fn ids_without_a_row_have_the_default() {
        let mut map = SecondaryMap::new(1, 7);
        map.set(MapKey::new(3), 2);
        *map.get_mut(MapKey::new(5)) += 1;
        let values = [0, 3, 4, 5, 99].map(|index| map[MapKey::new(index)]);
        assert_eq!(values, [7, 2, 7, 8, 7]);
        assert_eq!(map.len(), 6);
    }

    #[test]
    fn maps_are_equal_whatever_rows_they_have() {
        let mut map = SecondaryMap::new(2, 0);
        map.set(MapKey::new(9), 0);
        assert_eq!(map, SecondaryMap::new(0, 0));
        map.set(MapKey::new(9), 1);
        assert_ne!(map, SecondaryMap::new(0, 0));
    }
}

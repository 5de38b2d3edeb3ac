//! Numbered objects: what a device holds, by the numbers of handles, which are never used again.

use rustc_hash::FxHashMap;

/// Values by number, in the order of their creation. A value that is removed leaves nothing behind, so that a device that
/// lives long does not grow.
#[derive(Debug)]
pub(crate) struct NumberedObjects<T> {
    entries: FxHashMap<usize, T>,
    next: usize,
}

impl<T> Default for NumberedObjects<T> {
    fn default() -> Self {
        NumberedObjects {
            entries: FxHashMap::default(),
            next: 0,
        }
    }
}

impl<T> NumberedObjects<T> {
    /// The number that the next value gets.
    pub fn next_number(&self) -> usize {
        self.next
    }

    /// Adds a value under the next number, which is returned.
    pub fn insert(&mut self, value: T) -> usize {
        let number = self.next;
        self.next += 1;
        self.entries.insert(number, value);
        number
    }

    /// The value with a number, unless it was removed.
    pub fn get(&self, number: usize) -> Option<&T> {
        self.entries.get(&number)
    }

    /// The value with a number, to change it.
    pub fn get_mut(&mut self, number: usize) -> Option<&mut T> {
        self.entries.get_mut(&number)
    }

    /// Removes a value.
    pub fn remove(&mut self, number: usize) -> Option<T> {
        self.entries.remove(&number)
    }

    /// The numbers with their values, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        self.entries.iter().map(|(number, value)| (*number, value))
    }
}

#[cfg(test)]
mod tests {
    use super::NumberedObjects;

    #[test]
    fn numbers_are_not_used_again() {
        let mut table = NumberedObjects::default();
        assert_eq!([table.insert('a'), table.insert('b')], [0, 1]);
        assert_eq!(table.remove(1), Some('b'));
        assert_eq!(table.get(1), None);
        assert_eq!(table.remove(1), None);
        assert_eq!(table.next_number(), 2);
        assert_eq!(table.insert('c'), 2);
        let mut held: Vec<_> = table.iter().collect();
        held.sort_unstable();
        assert_eq!(held, [(0, &'a'), (2, &'c')]);
    }

    #[test]
    fn removed_values_take_no_memory() {
        let mut table = NumberedObjects::default();
        for n in 0..100_000 {
            let number = table.insert(n);
            assert_eq!(table.remove(number), Some(n));
        }
        assert!(table.entries.capacity() < 100);
    }
}

//! Result ids, and maps and sets keyed by them.

use spirula_entity::{EntityIndex, EntitySet, SecondaryMap};
use std::fmt;
use std::num::NonZeroU32;

/// The id of a result: never 0, below the module's bound.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Id(NonZeroU32);

impl Id {
    /// An id from a word, `None` for 0.
    pub const fn new(word: u32) -> Option<Id> {
        match NonZeroU32::new(word) {
            Some(n) => Some(Id(n)),
            None => None,
        }
    }

    /// The largest id; modules that have it are refused, so it never names a result.
    pub const MAX: Id = Id(NonZeroU32::MAX);

    /// The word.
    pub const fn word(self) -> u32 {
        self.0.get()
    }

    /// The id as an index into a table sized by the module's bound.
    pub const fn index(self) -> usize {
        self.0.get() as usize
    }
}

impl From<Id> for u32 {
    fn from(id: Id) -> u32 {
        id.word()
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl EntityIndex for Id {
    #[inline]
    fn index(self) -> usize {
        Id::index(self)
    }
}

/// A table keyed by result id. Its bound is that of a module.
pub type IdMap<T> = SecondaryMap<Id, T>;

/// A set of result ids, one bit each.
pub type IdSet = EntitySet<Id>;

/// A number for each id; 0 for none. Numbers take 16 bits each while all of them fit, because tables of ids are
/// among the largest that a module needs.
#[derive(Clone, Debug)]
pub(crate) struct IdNumbers {
    narrow: Vec<u16>,
    /// Replaces the narrow table.
    wide: Vec<u32>,
}

impl IdNumbers {
    /// A table without numbers, with room for ids below `bound`. Numbers up to `most` are expected.
    pub fn new(bound: u32, most: usize) -> Self {
        let bound = bound.max(1) as usize;
        let is_narrow = most <= usize::from(u16::MAX);
        let (narrow, wide) = if is_narrow { (bound, 0) } else { (0, bound) };
        IdNumbers {
            narrow: vec![0; narrow],
            wide: vec![0; wide],
        }
    }

    /// The number of an id, or of any word.
    #[inline]
    pub fn get(&self, id: u32) -> u32 {
        match self.narrow.get(id as usize) {
            Some(number) => u32::from(*number),
            None => self.wide.get(id as usize).copied().unwrap_or(0),
        }
    }

    #[inline]
    pub fn set(&mut self, id: Id, number: u32) {
        let at = id.index();
        match (self.narrow.get_mut(at), u16::try_from(number)) {
            (Some(row), Ok(number)) => *row = number,
            _ => self.set_wide(at, number),
        }
    }

    /// Sets a number that does not fit the narrow table, or for which it has no row.
    #[inline(never)]
    fn set_wide(&mut self, at: usize, number: u32) {
        let is_narrow = self.wide.is_empty();
        match u16::try_from(number) {
            Ok(number) if is_narrow => {
                self.narrow.resize(at + 1, 0);
                self.narrow[at] = number;
            }
            _ => {
                let narrow = std::mem::take(&mut self.narrow);
                self.wide.extend(narrow.into_iter().map(u32::from));
                if at >= self.wide.len() {
                    self.wide.resize(at + 1, 0);
                }
                self.wide[at] = number;
            }
        }
    }

    /// Number of ids that have rows.
    pub fn len(&self) -> usize {
        self.narrow.len().max(self.wide.len())
    }
}

/// Tables are equal if every id has the same number; the number of rows does not matter.
impl PartialEq for IdNumbers {
    fn eq(&self, other: &Self) -> bool {
        let ids = 0..self.len().max(other.len()) as u32;
        ids.into_iter().all(|id| self.get(id) == other.get(id))
    }
}

impl Eq for IdNumbers {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_kept_when_they_outgrow_16_bits() {
        let id = |word: u32| Id::new(word).expect("it is not 0");
        let mut numbers = IdNumbers::new(4, 10);
        numbers.set(id(3), 7);
        numbers.set(id(9), 65_535);
        let narrow = numbers.clone();
        numbers.set(id(5), 65_536);
        numbers.set(id(20), 2);
        let known: Vec<u32> = [1, 3, 5, 9, 20, 99].map(|word| numbers.get(word)).to_vec();
        assert_eq!(known, [0, 7, 65_536, 65_535, 2, 0]);
        assert_ne!(numbers, narrow);
        numbers.set(id(5), 0);
        numbers.set(id(20), 0);
        assert_eq!(numbers, narrow);
    }
}

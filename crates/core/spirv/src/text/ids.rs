//! Tables keyed by unchecked ids, since the text of a module may use any number as an id.

use rustc_hash::FxHashMap;

/// Ids below this have a row in a flat vector. No valid module has an id above it: 4,194,303 is
/// the largest bound that every consumer must accept (specification, section 2.17).
const DENSE: usize = 1 << 22;

/// Values by id; memory grows with the largest id below [`DENSE`] and the number of those above.
#[derive(Debug)]
pub struct IdTable<T> {
    dense: Vec<T>,
    sparse: FxHashMap<u32, T>,
}

impl<T> Default for IdTable<T> {
    fn default() -> Self {
        IdTable {
            dense: Vec::new(),
            sparse: FxHashMap::default(),
        }
    }
}

impl<T: Copy + Default> IdTable<T> {
    pub fn get(&self, id: u32) -> T {
        match self.dense.get(id as usize) {
            Some(value) => *value,
            None if (id as usize) < DENSE => T::default(),
            None => self.sparse.get(&id).copied().unwrap_or_default(),
        }
    }

    pub fn set(&mut self, id: u32, value: T) {
        let at = id as usize;
        if at >= DENSE {
            self.sparse.insert(id, value);
            return;
        }
        if at >= self.dense.len() {
            self.dense.resize(at + 1, T::default());
        }
        self.dense[at] = value;
    }
}

//! Interning: equal things are stored once and have the same id.

use super::id::dense_id;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::{BuildHasher, Hash};

/// All distinct values of one type, in the order in which they came. One lookup hashes the value
/// once; nothing is copied.
#[derive(Clone, Debug)]
pub(crate) struct Interner<T> {
    items: Vec<T>,
    index: HashTable<u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner {
            items: Vec::new(),
            index: HashTable::new(),
        }
    }
}

impl<T: Eq + Hash> Interner<T> {
    /// The position of a value, which is added if it is new.
    pub fn intern(&mut self, item: T) -> usize {
        let hash = FxBuildHasher.hash_one(&item);
        let Interner { items, index } = self;
        if let Some(&at) = index.find(hash, |&at| items[at as usize] == item) {
            return at as usize;
        }
        let at = items.len();
        items.push(item);
        index.insert_unique(hash, at as u32, |&at| {
            FxBuildHasher.hash_one(&items[at as usize])
        });
        at
    }

    /// The position of a value, if it was ever interned.
    pub fn find(&self, item: &T) -> Option<usize> {
        let hash = FxBuildHasher.hash_one(item);
        let found = self
            .index
            .find(hash, |&at| self.items[at as usize] == *item);
        found.map(|&at| at as usize)
    }

    /// The value at a position.
    pub fn get(&self, at: usize) -> &T {
        &self.items[at]
    }

    /// Number of distinct values.
    pub fn len(&self) -> usize {
        self.items.len()
    }
}

dense_id! {
    /// An interned string.
    MlirSymbol, "sym"
}

/// All names and strings of a module, each once, in one buffer.
#[derive(Clone, Debug, Default)]
pub(crate) struct MlirStrings {
    text: String,
    ends: Vec<u32>,
    index: HashTable<MlirSymbol>,
}

impl MlirStrings {
    /// The symbol of a text.
    pub fn intern(&mut self, text: &str) -> MlirSymbol {
        let hash = FxBuildHasher.hash_one(text);
        let MlirStrings {
            text: all,
            ends,
            index,
        } = self;
        if let Some(&found) = index.find(hash, |&at| symbol_slice(all, ends, at) == text) {
            return found;
        }
        let symbol = MlirSymbol::new(ends.len());
        all.push_str(text);
        ends.push(u32::try_from(all.len()).expect("readers bound the size of their input"));
        index.insert_unique(hash, symbol, |&at| {
            FxBuildHasher.hash_one(symbol_slice(all, ends, at))
        });
        symbol
    }

    /// The symbol of a text, if it was ever interned.
    pub fn find(&self, text: &str) -> Option<MlirSymbol> {
        let hash = FxBuildHasher.hash_one(text);
        self.index
            .find(hash, |&at| symbol_slice(&self.text, &self.ends, at) == text)
            .copied()
    }

    /// The text of a symbol.
    pub fn get(&self, symbol: MlirSymbol) -> &str {
        symbol_slice(&self.text, &self.ends, symbol)
    }
}

fn symbol_slice<'a>(text: &'a str, ends: &[u32], at: MlirSymbol) -> &'a str {
    let start = match at.index() {
        0 => 0,
        at => ends[at - 1] as usize,
    };
    &text[start..ends[at.index()] as usize]
}

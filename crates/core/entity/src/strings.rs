//! Interning of strings: equal strings are stored once, in one buffer, and have the same id.

use crate::DenseId;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// All distinct strings, in the order of their first occurrence. Their total length is below 4 GiB.
#[derive(Clone, Debug)]
pub struct StringInterner<K> {
    /// All strings, one after the other.
    text: String,
    /// The end of each string in `text`.
    ends: Vec<u32>,
    ids: HashTable<K>,
}

impl<K> Default for StringInterner<K> {
    fn default() -> Self {
        StringInterner {
            text: String::new(),
            ends: Vec::new(),
            ids: HashTable::new(),
        }
    }
}

impl<K: DenseId> StringInterner<K> {
    /// The id of a string, which is added if it is new.
    ///
    /// # Panics
    /// If the strings exceed 4 GiB. Readers bound their inputs far below.
    pub fn intern(&mut self, string: &str) -> K {
        let hash = FxBuildHasher.hash_one(string);
        let StringInterner { text, ends, ids } = self;
        if let Some(&id) = ids.find(hash, |&id| slice_text(text, ends, id) == string) {
            return id;
        }
        let id = K::from_index(ends.len());
        text.push_str(string);
        ends.push(u32::try_from(text.len()).expect("readers bound the size of their input"));
        ids.insert_unique(hash, id, |&id| {
            FxBuildHasher.hash_one(slice_text(text, ends, id))
        });
        id
    }

    /// The id of a string, if it was interned.
    pub fn find(&self, string: &str) -> Option<K> {
        let hash = FxBuildHasher.hash_one(string);
        let found = self.ids.find(hash, |&id| self.get(id) == string);
        found.copied()
    }

    /// The string of an id.
    pub fn get(&self, id: K) -> &str {
        slice_text(&self.text, &self.ends, id)
    }
}

impl<K: DenseId> std::ops::Index<K> for StringInterner<K> {
    type Output = str;

    fn index(&self, id: K) -> &str {
        self.get(id)
    }
}

fn slice_text<'a>(text: &'a str, ends: &[u32], id: impl DenseId) -> &'a str {
    let index = id.index();
    let start = if index == 0 { 0 } else { ends[index - 1] };
    &text[start as usize..ends[index] as usize]
}

#[cfg(test)]
mod tests {
    use super::StringInterner;

    crate::define_ids! {
        /// An id.
        struct TextKey: "test";
    }

    #[test]
    fn equal_strings_have_one_id() {
        let mut strings: StringInterner<TextKey> = StringInterner::default();
        let ids = ["a", "", "bc", "a"].map(|string| strings.intern(string));
        assert_eq!(ids[0], ids[3]);
        assert_eq!(ids[..3].iter().map(|id| id.index()).max(), Some(2));
        assert_eq!([&strings[ids[1]], &strings[ids[2]]], ["", "bc"]);
        assert_eq!(strings.find("bc"), Some(ids[2]));
        assert_eq!(strings.find("d"), None);
    }
}

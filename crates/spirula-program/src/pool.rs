//! Blocks of the device that nothing refers to any more, kept to be used again.
//!
//! Programs make and free blocks of the same sizes over and over, and a device takes longer to make
//! a large one than to run a kernel on it. What is taken again has the contents that it was left
//! with. Cost: a search in a tree of sizes.

use std::collections::BTreeMap;

/// Bytes that may always be kept.
const LEAST: u64 = 256 << 20;

/// Bytes by which a block may be larger than what is asked for, where that is more than its half.
const SLACK: u64 = 4096;

/// Blocks by their sizes.
pub(crate) struct Pool<B> {
    blocks: BTreeMap<u64, Vec<B>>,
    bytes: u64,
}

impl<B> Pool<B> {
    pub fn new() -> Self {
        Pool {
            blocks: BTreeMap::new(),
            bytes: 0,
        }
    }

    /// The smallest block of at least so many bytes that is not far larger, and its size.
    pub fn take(&mut self, size: u64) -> Option<(B, u64)> {
        let most = size.saturating_mul(2).max(size.saturating_add(SLACK));
        let (&found, _) = self.blocks.range(size..=most).next()?;
        Some((self.remove(found)?, found))
    }

    /// Keeps a block. Those that are more than so many bytes, the most that were ever in use, are given
    /// back: a program that is called again wants as many again.
    pub fn put(&mut self, block: B, size: u64, most: u64) -> Vec<B> {
        self.blocks.entry(size).or_default().push(block);
        self.bytes += size;
        let mut excess = Vec::new();
        while self.bytes > LEAST.max(most)
            && let Some((&largest, _)) = self.blocks.last_key_value()
        {
            excess.extend(self.remove(largest));
        }
        excess
    }

    /// All blocks, which are no longer kept.
    pub fn drain(&mut self) -> Vec<B> {
        self.bytes = 0;
        let all = std::mem::take(&mut self.blocks);
        all.into_values().flatten().collect()
    }

    fn remove(&mut self, size: u64) -> Option<B> {
        let same = self.blocks.get_mut(&size)?;
        let block = same.pop();
        if same.is_empty() {
            self.blocks.remove(&size);
        }
        self.bytes -= size;
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_that_fits_is_taken() {
        let mut pool = Pool::new();
        for (block, size) in [('a', 16), ('b', 5000), ('c', 1 << 20), ('d', 5000)] {
            assert!(pool.put(block, size, 0).is_empty());
        }
        assert_eq!(pool.take(4000), Some(('d', 5000)));
        assert_eq!(pool.take(5000), Some(('b', 5000)));
        assert_eq!(pool.take(5000), None);
        assert_eq!(pool.take(16), Some(('a', 16)));
        assert_eq!(pool.take(u64::MAX), None);
        assert_eq!(pool.drain(), ['c']);
        assert_eq!(pool.take(1 << 20), None);
    }

    #[test]
    fn the_largest_go_where_too_many_are_kept() {
        let mut pool = Pool::new();
        assert!(pool.put(1, LEAST / 2, 0).is_empty());
        assert!(pool.put(2, LEAST / 4, 0).is_empty());
        assert_eq!(pool.put(3, LEAST, 0), [3]);
        assert!(pool.put(4, LEAST, 2 * LEAST).is_empty());
        assert_eq!(pool.put(5, 16, 0), [4]);
    }
}

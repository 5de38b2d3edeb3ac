//! Blocks of the device that nothing refers to any more, kept to be used again.
//!
//! Programs make and free blocks of the same sizes over and over, and a device takes longer to make
//! a large one than to run a kernel on it. What is taken again has the contents that it was left
//! with. Cost: a search in a tree of sizes.
//!
//! A launch that overwrites a block has to wait for those that still use what was there before, though they
//! have nothing to do with each other. Small blocks are therefore left alone for a while where launches run beside
//! each other, as processors rename registers (Tomasulo, An Efficient Algorithm for Exploiting Multiple Arithmetic
//! Units, 1967).

use std::collections::{BTreeMap, VecDeque};

/// Bytes that may be kept beyond the most that were ever in use.
const LEAST: u64 = 256 << 20;

/// Bytes by which a block may be larger than what is asked for, where that is more than its half.
const SLACK: u64 = 4096;

/// Blocks that are kept after one before that is taken again, if it has no more bytes than these.
const RESTS: u64 = 8;
const SMALL: u64 = 512 << 10;

/// Blocks by their sizes.
pub(crate) struct Pool<B> {
    /// Those of a size, with the number of blocks that were kept before each, the oldest first.
    blocks: BTreeMap<u64, VecDeque<(B, u64)>>,
    bytes: u64,
    /// Blocks that were ever kept.
    count: u64,
    /// Whether small blocks rest.
    rests: bool,
}

impl<B> Pool<B> {
    /// None yet, for a machine that runs launches beside each other or does not.
    pub fn new(rests: bool) -> Self {
        Pool {
            blocks: BTreeMap::new(),
            bytes: 0,
            count: 0,
            rests,
        }
    }

    /// The smallest block of at least so many bytes that is not far larger, and its size.
    pub fn take(&mut self, size: u64) -> Option<(B, u64)> {
        let most = size.saturating_mul(2).max(size.saturating_add(SLACK));
        let is_due = |size: u64, blocks: &VecDeque<(B, u64)>| {
            let rested = |(_, before): &(B, u64)| before + RESTS < self.count;
            !self.rests || size > SMALL || blocks.front().is_some_and(rested)
        };
        let mut fitting = self.blocks.range(size..=most);
        let (&found, _) = fitting.find(|(size, blocks)| is_due(**size, blocks))?;
        Some((self.remove(found)?, found))
    }

    /// Keeps a block. Those that are far more than so many bytes, the most that were ever in use, are given
    /// back: a program that is called again wants as many again, and small ones that rest besides.
    pub fn put(&mut self, block: B, size: u64, most: u64) -> Vec<B> {
        let same = self.blocks.entry(size).or_default();
        same.push_back((block, self.count));
        self.count += 1;
        self.bytes += size;
        let mut excess = Vec::new();
        while self.bytes > most.saturating_add(LEAST)
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
        all.into_values()
            .flatten()
            .map(|(block, _)| block)
            .collect()
    }

    fn remove(&mut self, size: u64) -> Option<B> {
        let same = self.blocks.get_mut(&size)?;
        let block = match self.rests {
            true => same.pop_front(),
            false => same.pop_back(),
        };
        if same.is_empty() {
            self.blocks.remove(&size);
        }
        self.bytes -= size;
        block.map(|(block, _)| block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_that_fits_is_taken() {
        let mut pool = Pool::new(false);
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
    fn small_blocks_rest_where_launches_run_beside_each_other() {
        let mut pool = Pool::new(true);
        for block in 0..=RESTS {
            assert_eq!(pool.take(16), None);
            assert!(pool.put(block, 16, 0).is_empty());
        }
        assert_eq!(pool.take(16), Some((0, 16)));
        assert_eq!(pool.take(16), None);
        pool.put(100, SMALL + 16, 0);
        assert_eq!(pool.take(SMALL + 16), Some((100, SMALL + 16)));
        assert_eq!(pool.take(16), Some((1, 16)));
    }

    #[test]
    fn the_largest_go_where_too_many_are_kept() {
        let mut pool = Pool::new(false);
        assert!(pool.put(1, LEAST / 2, 0).is_empty());
        assert!(pool.put(2, LEAST / 4, 0).is_empty());
        assert_eq!(pool.put(3, LEAST, 0), [3]);
        assert!(pool.put(4, LEAST, LEAST).is_empty());
        assert_eq!(pool.put(5, 16, 0), [4]);
    }
}

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

/// A block of the device as it is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PooledBlock<B> {
    /// The block.
    pub block: B,
    /// Its bytes.
    pub size: u64,
    /// Its number in the order in which blocks were made.
    pub number: u64,
}

/// Blocks by their sizes.
pub(crate) struct BlockPool<B> {
    /// Those of a size, the oldest first, with the number of blocks that have to be kept before each is due.
    pieces: BTreeMap<u64, VecDeque<(PooledBlock<B>, u64)>>,
    bytes: u64,
    /// Blocks that were ever kept.
    count: u64,
    /// Whether small blocks rest.
    rests: bool,
}

impl<B> BlockPool<B> {
    /// None yet, for a machine that runs launches beside each other or does not.
    pub fn new(rests: bool) -> Self {
        BlockPool {
            pieces: BTreeMap::new(),
            bytes: 0,
            count: 0,
            rests,
        }
    }

    /// The smallest block of at least so many bytes that is not far larger.
    pub fn take(&mut self, size: u64) -> Option<PooledBlock<B>> {
        let most = size.saturating_mul(2).max(size.saturating_add(SLACK));
        let is_due = |pieces: &VecDeque<(PooledBlock<B>, u64)>| {
            let rested = |(_, due): &(PooledBlock<B>, u64)| *due <= self.count;
            !self.rests || pieces.front().is_some_and(rested)
        };
        let mut fitting = self.pieces.range(size..=most);
        let (&found, _) = fitting.find(|(_, pieces)| is_due(pieces))?;
        self.remove(found)
    }

    /// Keeps a block. Those that are far more than so many bytes, the most that were ever in use, are given
    /// back: a program that is called again wants as many again, and small ones that rest besides.
    pub fn keep_piece(&mut self, piece: PooledBlock<B>, most: u64) -> Vec<B> {
        let size = piece.size;
        self.count += 1;
        let due = match size > SMALL {
            true => 0,
            false => self.count + RESTS,
        };
        let same = self.pieces.entry(size).or_default();
        same.push_back((piece, due));
        self.bytes += size;
        let mut excess = Vec::new();
        while self.bytes > most.saturating_add(LEAST)
            && let Some((&largest, _)) = self.pieces.last_key_value()
        {
            excess.extend(self.remove(largest).map(|piece| piece.block));
        }
        excess
    }

    /// Takes note that nothing uses any of them any more. They are handed out as if they were new, in the order in which
    /// they were made: what asks for the same again gets the same.
    pub fn mark_all_unused(&mut self) {
        if !self.rests {
            return;
        }
        for same in self.pieces.values_mut() {
            let same = same.make_contiguous();
            same.iter_mut().for_each(|(_, due)| *due = 0);
            same.sort_unstable_by_key(|(piece, _)| piece.number);
        }
    }

    /// All blocks, which are no longer kept.
    pub fn drain(&mut self) -> Vec<B> {
        self.bytes = 0;
        let all = std::mem::take(&mut self.pieces);
        all.into_values()
            .flatten()
            .map(|(piece, _)| piece.block)
            .collect()
    }

    fn remove(&mut self, size: u64) -> Option<PooledBlock<B>> {
        let same = self.pieces.get_mut(&size)?;
        let piece = match self.rests {
            true => same.pop_front(),
            false => same.pop_back(),
        };
        if same.is_empty() {
            self.pieces.remove(&size);
        }
        self.bytes -= size;
        piece.map(|(piece, _)| piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_piece<B>(block: B, size: u64) -> PooledBlock<B> {
        PooledBlock {
            block,
            size,
            number: 0,
        }
    }

    /// Takes a block: which, and its size.
    fn take_block<B>(pool: &mut BlockPool<B>, size: u64) -> Option<(B, u64)> {
        pool.take(size).map(|piece| (piece.block, piece.size))
    }

    #[test]
    fn the_smallest_that_fits_is_taken() {
        let mut pool = BlockPool::new(false);
        for (block, size) in [('a', 16), ('b', 5000), ('c', 1 << 20), ('d', 5000)] {
            assert!(pool.keep_piece(make_piece(block, size), 0).is_empty());
        }
        assert_eq!(take_block(&mut pool, 4000), Some(('d', 5000)));
        assert_eq!(take_block(&mut pool, 5000), Some(('b', 5000)));
        assert_eq!(take_block(&mut pool, 5000), None);
        assert_eq!(take_block(&mut pool, 16), Some(('a', 16)));
        assert_eq!(take_block(&mut pool, u64::MAX), None);
        assert_eq!(pool.drain(), ['c']);
        assert_eq!(take_block(&mut pool, 1 << 20), None);
    }

    #[test]
    fn small_blocks_rest_where_launches_run_beside_each_other() {
        let mut pool = BlockPool::new(true);
        for block in 0..=RESTS {
            assert_eq!(take_block(&mut pool, 16), None);
            assert!(pool.keep_piece(make_piece(block, 16), 0).is_empty());
        }
        assert_eq!(take_block(&mut pool, 16), Some((0, 16)));
        assert_eq!(take_block(&mut pool, 16), None);
        pool.keep_piece(make_piece(100, SMALL + 16), 0);
        assert_eq!(take_block(&mut pool, SMALL + 16), Some((100, SMALL + 16)));
        assert_eq!(take_block(&mut pool, 16), Some((1, 16)));
    }

    #[test]
    fn the_largest_go_where_too_many_are_kept() {
        let mut pool = BlockPool::new(false);
        assert!(pool.keep_piece(make_piece(1, LEAST / 2), 0).is_empty());
        assert!(pool.keep_piece(make_piece(2, LEAST / 4), 0).is_empty());
        assert_eq!(pool.keep_piece(make_piece(3, LEAST), 0), [3]);
        assert!(pool.keep_piece(make_piece(4, LEAST), LEAST).is_empty());
        assert_eq!(pool.keep_piece(make_piece(5, 16), 0), [4]);
    }

    #[test]
    fn what_asks_for_the_same_again_gets_the_same() {
        let mut pool = BlockPool::new(true);
        for number in 0..3 {
            let block = number;
            pool.keep_piece(
                PooledBlock {
                    block,
                    size: 16,
                    number,
                },
                0,
            );
        }
        for _ in 0..3 {
            assert_eq!(pool.take(16), None);
            pool.mark_all_unused();
            let taken = [0, 1, 2].map(|_| pool.take(16).unwrap());
            assert_eq!(taken.map(|piece| piece.block), [0, 1, 2]);
            for piece in [taken[2], taken[0], taken[1]] {
                pool.keep_piece(piece, 0);
            }
        }
    }
}

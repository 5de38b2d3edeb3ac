//! Block pool: blocks of the device without references, kept for reuse.
//!
//! Programs allocate and free blocks of the same sizes over and over. A device takes longer to allocate a large block than
//! to run a kernel on it. A reused block has its old contents. Cost: a search in a tree of sizes.
//!
//! A launch that overwrites a block must wait for those that still use its old contents, though they are independent.
//! Where launches run concurrently, small blocks are therefore not reused for a while, as processors rename registers.
//! Source: Tomasulo, "An Efficient Algorithm for Exploiting Multiple Arithmetic Units" (1967).

use std::collections::{BTreeMap, VecDeque};

/// Bytes that the pool may keep beyond the most that were ever in use.
const LEAST: u64 = 256 << 20;

/// Bytes by which a block may be larger than the request, if that is more than half of it.
const SLACK: u64 = 4096;

/// Number of blocks that are freed after a small one before that is reused.
const RESTS: u64 = 8;
/// Most bytes of a small block.
const SMALL: u64 = 512 << 10;

/// A block of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PooledBlock<B> {
    /// The block.
    pub block: B,
    /// Its size in bytes.
    pub size: u64,
    /// Its number in the order of allocation.
    pub number: u64,
}

/// A block that rests: it is due once the pool has received this number of blocks in all.
struct RestingBlock<B> {
    piece: PooledBlock<B>,
    due: u64,
    /// Number of blocks that the pool had been given when it was kept.
    kept: u64,
}

/// Blocks by their sizes.
pub(crate) struct BlockPool<B> {
    /// Those of a size, the oldest first.
    pieces: BTreeMap<u64, VecDeque<RestingBlock<B>>>,
    /// An empty queue for the next size: a small program takes and gives back the only block of a size again and again.
    spare: VecDeque<RestingBlock<B>>,
    bytes: u64,
    /// Number of blocks that the pool was given in all.
    count: u64,
    /// Whether small blocks rest before they are reused.
    rests: bool,
}

impl<B> BlockPool<B> {
    /// An empty pool. `rests` says whether the machine runs launches concurrently.
    pub fn new(rests: bool) -> Self {
        BlockPool {
            pieces: BTreeMap::new(),
            spare: VecDeque::new(),
            bytes: 0,
            count: 0,
            rests,
        }
    }

    /// Takes the smallest block of at least `size` bytes that is not much larger.
    pub fn take_piece(&mut self, size: u64) -> Option<PooledBlock<B>> {
        let most = size.saturating_mul(2).max(size.saturating_add(SLACK));
        let is_due = |pieces: &VecDeque<RestingBlock<B>>| {
            let first = pieces.front();
            !self.rests || first.is_some_and(|resting| resting.due <= self.count)
        };
        let mut fitting = self.pieces.range(size..=most);
        let (&found, _) = fitting.find(|(_, pieces)| is_due(pieces))?;
        self.remove_piece(found)
    }

    /// Keeps a block. Returns blocks to be freed, if the pool has much more than `most` bytes, the most that were ever in
    /// use. A program that is called again needs as many, and small blocks that rest. Blocks that were not used for the longest time
    /// go first: they are of programs that are not called any more. Cost: a search among all blocks for each that goes.
    pub fn keep_piece(&mut self, piece: PooledBlock<B>, most: u64) -> Vec<B> {
        let size = piece.size;
        self.count += 1;
        let due = if size > SMALL { 0 } else { self.count + RESTS };
        let same = self.pieces.entry(size);
        let same = same.or_insert_with(|| std::mem::take(&mut self.spare));
        same.push_back(RestingBlock {
            piece,
            due,
            kept: self.count,
        });
        self.bytes += size;
        let mut excess = Vec::new();
        while self.bytes > most.saturating_add(LEAST)
            && let Some(oldest) = self.remove_oldest()
        {
            excess.push(oldest.block);
        }
        excess
    }

    /// Takes the block that was kept first.
    fn remove_oldest(&mut self) -> Option<PooledBlock<B>> {
        let oldest = self.pieces.iter().flat_map(|(size, same)| {
            let same = same.iter().enumerate();
            same.map(|(at, resting)| (resting.kept, *size, at))
        });
        let (_, size, at) = oldest.min()?;
        self.remove_at(size, at)
    }

    /// Marks all blocks as unused. They are then reused in the order of their allocation, so that equal requests get equal
    /// blocks.
    pub fn mark_all_unused(&mut self) {
        if !self.rests {
            return;
        }
        for same in self.pieces.values_mut() {
            let same = same.make_contiguous();
            same.iter_mut().for_each(|resting| resting.due = 0);
            same.sort_unstable_by_key(|resting| resting.piece.number);
        }
    }

    /// Takes all blocks.
    pub fn drain(&mut self) -> Vec<B> {
        self.bytes = 0;
        let all = std::mem::take(&mut self.pieces);
        all.into_values()
            .flatten()
            .map(|resting| resting.piece.block)
            .collect()
    }

    fn remove_piece(&mut self, size: u64) -> Option<PooledBlock<B>> {
        let last = self.pieces.get(&size)?.len().checked_sub(1)?;
        self.remove_at(size, if self.rests { 0 } else { last })
    }

    /// Takes the block of a size at a place among those of this size.
    fn remove_at(&mut self, size: u64, at: usize) -> Option<PooledBlock<B>> {
        let same = self.pieces.get_mut(&size)?;
        let resting = same.remove(at)?;
        if same.is_empty() {
            self.spare = self.pieces.remove(&size).unwrap_or_default();
        }
        self.bytes -= size;
        Some(resting.piece)
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

    /// Takes a block; returns it and its size.
    fn take_block<B>(pool: &mut BlockPool<B>, size: u64) -> Option<(B, u64)> {
        pool.take_piece(size).map(|piece| (piece.block, piece.size))
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
    fn the_oldest_go_where_too_many_are_kept() {
        let mut pool = BlockPool::new(false);
        assert!(pool.keep_piece(make_piece(1, LEAST / 2), 0).is_empty());
        assert!(pool.keep_piece(make_piece(2, LEAST / 4), 0).is_empty());
        assert_eq!(pool.keep_piece(make_piece(3, LEAST), 0), [1, 2]);
        assert!(pool.keep_piece(make_piece(4, LEAST), LEAST).is_empty());
        assert_eq!(pool.keep_piece(make_piece(5, 16), 0), [3, 4]);
    }

    /// Blocks of a program that is not called any more give way to those of one that is.
    #[test]
    fn another_program_keeps_its_blocks() {
        for rests in [false, true] {
            let mut pool = BlockPool::new(rests);
            for block in 0..4 {
                pool.keep_piece(make_piece((0, block), LEAST / 4), 0);
            }
            let mut made = 0;
            for _ in 0..5 {
                let blocks: Vec<_> = (0..2)
                    .map(|block| {
                        pool.take_piece(LEAST / 2).unwrap_or_else(|| {
                            made += 1;
                            make_piece((1, block), LEAST / 2)
                        })
                    })
                    .collect();
                for block in blocks {
                    pool.keep_piece(block, 0);
                }
                pool.mark_all_unused();
            }
            assert_eq!(made, 2);
        }
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
            assert_eq!(pool.take_piece(16), None);
            pool.mark_all_unused();
            let taken = [0, 1, 2].map(|_| pool.take_piece(16).unwrap());
            assert_eq!(taken.map(|piece| piece.block), [0, 1, 2]);
            for piece in [taken[2], taken[0], taken[1]] {
                pool.keep_piece(piece, 0);
            }
        }
    }
}

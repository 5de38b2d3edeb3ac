//! Ids: dense `u32` newtypes, and ranges of pools.

use spirula_entity::define_ids;

define_ids! {
    /// An operation.
    pub struct MlirOp: "op";
    /// A region of an operation.
    pub struct MlirRegion: "region";
    /// A block of a region.
    pub struct MlirBlock: "block";
    /// A result of an operation or an argument of a block.
    pub struct MlirValue: "%";
}

/// A range of one of the pools of a module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct PoolRange {
    /// Index of the first element.
    pub start: u32,
    /// Number of elements.
    pub len: u32,
}

impl PoolRange {
    /// The range of `len` elements from `start`. Inputs are below 4 GiB, and no pool has more
    /// elements than the input has bytes.
    pub fn new(start: usize, len: usize) -> Self {
        PoolRange {
            start: start as u32,
            len: len as u32,
        }
    }

    /// As a range of indices.
    pub fn to_range(self) -> std::ops::Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }
}

/// Appends elements to a pool and returns their range.
pub(crate) fn append_to_pool<T: Copy>(pool: &mut Vec<T>, elements: &[T]) -> PoolRange {
    let start = pool.len();
    pool.extend_from_slice(elements);
    PoolRange::new(start, elements.len())
}

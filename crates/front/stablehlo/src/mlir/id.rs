//! Ids: dense `u32` newtypes, and spans into pools.

/// Defines a dense id whose `Option` is as small as itself, with the prefix it is shown with.
macro_rules! dense_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(std::num::NonZeroU32);

        impl $name {
            /// The id of the entity at `index` of its arena.
            ///
            /// # Panics
            /// When `index` is `u32::MAX` or above; readers bound their inputs far below.
            pub const fn new(index: usize) -> Self {
                assert!(index < u32::MAX as usize, "too many entities of one kind");
                match std::num::NonZeroU32::new(index as u32 + 1) {
                    Some(id) => $name(id),
                    None => unreachable!(),
                }
            }

            /// Its position in its arena: side tables are vectors indexed by it.
            pub const fn index(self) -> usize {
                self.0.get() as usize - 1
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.index())
            }
        }
    };
}
pub(crate) use dense_id;

dense_id! {
    /// An operation.
    MlirOp, "op"
}
dense_id! {
    /// A region of an operation.
    MlirRegion, "region"
}
dense_id! {
    /// A block of a region.
    MlirBlock, "block"
}
dense_id! {
    /// A result of an operation or an argument of a block.
    MlirValue, "%"
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
    /// The span of `len` elements from `start`. Inputs are below 4 GiB, and no pool has more
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

/// Appends elements to a pool and returns where they are.
pub(crate) fn append_to_pool<T: Copy>(pool: &mut Vec<T>, elements: &[T]) -> PoolRange {
    let start = pool.len();
    pool.extend_from_slice(elements);
    PoolRange::new(start, elements.len())
}

//! Memory: spans that a caller lends, allocations between guard pages, and blocks that code refers to.

pub(crate) mod guarded_pages;
pub(crate) mod kept_memory;
pub(crate) mod memory_span;
pub(crate) mod thread_memory;

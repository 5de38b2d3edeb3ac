//! Memory of launches: spans that the caller lends, and allocations between guard pages.

pub(crate) mod guarded_pages;
pub(crate) mod kept_memory;
pub(crate) mod memory_span;
pub(crate) mod thread_memory;

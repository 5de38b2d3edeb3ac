//! Memory of launches: spans that the caller lends, and allocations between guard pages.

pub(crate) mod guarded_pages;
pub(crate) mod thread_memory;

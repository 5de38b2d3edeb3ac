//! Interface of PJRT, generated from its C header.

mod interface;

pub use interface::*;

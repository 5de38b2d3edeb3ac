//! Cooperative matrices: what generated code calls for them.

pub(crate) mod cooperative_product;
pub(crate) mod in_memory;

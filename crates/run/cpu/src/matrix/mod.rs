//! Cooperative matrices: the shape of a product, and functions for matrices in memory that generated code calls.

pub(crate) mod cooperative_product;
pub(crate) mod in_memory;

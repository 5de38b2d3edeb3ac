//! Analyses of a module for one entry point, before code is generated.

pub(crate) mod analysed_module;
pub(crate) mod block_counters;
pub(crate) mod function_info;
pub(crate) mod liveness;
pub(crate) mod non_temporal_stores;
pub(crate) mod pointer_roots;
pub(crate) mod privatised_atomics;
pub(crate) mod promoted_variables;
pub(crate) mod provenance;
pub(crate) mod reached_functions;
pub(crate) mod suspension;

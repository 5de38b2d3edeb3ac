//! Analyses of the functions that an entry point reaches.
//!
//! They run before code is generated: which functions are inlined, which variables become SSA values, what is live at
//! suspension points, where pointers come from, and which memory is only written or only updated.

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
pub(crate) mod register_pressure;
pub(crate) mod suspension;

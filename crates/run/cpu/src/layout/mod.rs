//! Layouts that generated code and its caller share: launch context, frames, parameters, places of variables.

pub(crate) mod async_copy;
pub(crate) mod frames;
pub(crate) mod globals;
pub(crate) mod invocation_range;
pub(crate) mod launch_context;
pub(crate) mod module_variables;
pub(crate) mod parameters;

//! Layouts that generated code and its caller share: launch context, frames, parameters, variables.

pub(crate) mod globals;
pub(crate) mod launch_context;

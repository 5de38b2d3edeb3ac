//! SPIR-V module: its types, constants and entry points as the lowering sees them.

pub(crate) mod address_arithmetic;
pub(crate) mod constants;
pub(crate) mod program;
pub(crate) mod types;

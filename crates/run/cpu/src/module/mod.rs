//! Typed module: a SPIR-V module with its types, constants and entry point.

pub(crate) mod address_arithmetic;
pub(crate) mod constants;
pub(crate) mod entry_point;
pub(crate) mod operand_ids;
pub(crate) mod typed_module;
pub(crate) mod types;

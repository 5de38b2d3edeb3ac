//! Emission of LLVM assembly: instructions, types, and the scalar operations of TTIR.

mod constant;
mod convert;
mod external;
mod llvm_text;
mod operators;
mod scalar;
mod types;

pub(crate) use constant::emit_constant;
pub(crate) use convert::{convert_format, emit_promoted};
pub(crate) use llvm_text::LlvmText;
pub(crate) use scalar::{ScalarUse, emit_scalar, is_scalar_operation, operation_cost};
pub(crate) use types::{storage_type, value_type, write_float};

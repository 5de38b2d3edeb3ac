//! LLVM IR front end: LLVM IR (text and bitcode) to SPIR-V, and SPIR-V back to LLVM IR.
//!
//! - [`ir`]: the arena IR, which both readers produce and the translator consumes.
//! - [`read_module`]: reads a module from bitcode or text and detects which it is.
//! - [`print_assembly()`]: prints a module as LLVM assembly.
//! - [`pointee_inference`]: infers the pointee types of opaque pointers.
//! - [`translate_module()`]: translates to SPIR-V for OpenCL environments.
//! - [`lift_module()`]: lifts SPIR-V to LLVM IR.
//! - [`make_intrinsic_libraries()`]: defines intrinsics that modules of SPIR-V import.

pub mod ir;
pub mod pointee_inference;

mod auto_upgrade;
mod bitcode;
mod detect_format;
mod error;
mod intrinsic_libraries;
mod lift;
mod text;
mod translate;
mod verify;

pub use detect_format::{is_bitcode, looks_like_llvm_text, read_module};
pub(crate) use error::{LlvmError, LlvmResult, error_at, make_refusal};
pub use intrinsic_libraries::make_intrinsic_libraries;
pub use lift::lift_module;
pub use text::print_assembly;
pub use translate::{
    AllowedExtensions, DebugInfo, PointerTyping, TranslationOptions, is_shader, print_reference,
    translate_module,
};

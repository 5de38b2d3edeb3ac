//! LLVM IR in, SPIR-V out; and back.
//!
//! - [`ir`]: the arena IR that both readers produce and the translator consumes.
//! - [`read_module`]: reads a module, bitcode or text, whichever it is.
//! - [`print_assembly()`]: the module as LLVM assembly.
//! - [`pointee_inference`]: what opaque pointers point to.
//! - [`translate_module()`]: to SPIR-V for OpenCL environments.
//! - [`lift_module()`]: from SPIR-V back to LLVM IR.

pub mod ir;
pub mod pointee_inference;

mod auto_upgrade;
mod bitcode;
mod detect_format;
mod error;
mod lift;
mod text;
mod translate;
mod verify;

pub use detect_format::{is_bitcode, looks_like_llvm_text, read_module};
pub(crate) use error::{BoxedDiagnostic, error_at};
pub use lift::lift_module;
pub use text::print_assembly;
pub use translate::{
    AllowedExtensions, DebugInfo, PointerTyping, TranslationOptions, is_shader, print_reference,
    translate_module,
};

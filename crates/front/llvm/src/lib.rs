//! LLVM IR in, SPIR-V out; and back.
//!
//! - [`ir`]: the arena IR that both readers produce and the translator consumes.
//! - [`read_module`]: reads a module, bitcode or text, whichever it is.
//! - [`print_assembly()`]: the module as LLVM assembly.
//! - [`infer`]: what opaque pointers point to.
//! - [`translate_module()`]: to SPIR-V for OpenCL environments.
//! - [`lift_module()`]: from SPIR-V back to LLVM IR.

pub mod infer;
pub mod ir;

mod bitcode;
mod error;
mod input;
mod lift;
mod text;
mod translate;
mod upgrade;
mod verify;

pub(crate) use error::{BoxedDiagnostic, error_at};
pub use input::{is_bitcode, looks_like_llvm_text, read_module};
pub use lift::lift_module;
pub use text::print_assembly;
pub use translate::{
    AllowedExtensions, DebugInfo, PointerTyping, TranslationOptions, is_shader, print_reference,
    translate_module,
};

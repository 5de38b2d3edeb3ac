//! LLVM IR in, SPIR-V out; and back.
//!
//! - [`ir`]: the arena IR that both readers produce and the translator consumes.
//! - [`read`]: reads a module, bitcode or text, whichever it is.
//! - [`print()`]: the module as LLVM assembly.
//! - [`infer`]: what opaque pointers point to.
//! - [`translate()`]: to SPIR-V for OpenCL environments.
//! - [`lift()`]: from SPIR-V back to LLVM IR.

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

pub(crate) use error::{BoxedDiagnostic, fault};
pub use input::{is_bitcode, looks_like_llvm_text, read};
pub use lift::lift;
pub use text::print;
pub use translate::{
    AllowedExtensions, DebugInfo, PointerTyping, TranslationOptions, is_shader, reference,
    translate,
};

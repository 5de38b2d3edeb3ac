//! GLSL and HLSL to SPIR-V, by an installed glslang or DXC that runs as a process.
//!
//! [`ShaderJob`] is a source. [`ShaderJob::compile`] finds a compiler of its language and runs it. The stage of a GLSL
//! source, and the entry point of an HLSL source, are read from it.

mod error;
mod job;
mod program;

pub use error::ShaderError;
pub use job::{ShaderJob, ShaderLanguage};

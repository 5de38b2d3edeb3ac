//! LLVM IR in, SPIR-V out.
//!
//! - [`ir`]: the arena IR that both readers produce and the translator consumes.

pub mod ir;

//! LLVM assembly, LLVM's text form.
//!
//! - [`lexer`], [`parser`]: tokens, and the parser's state.
//! - [`module`]: what stands outside of functions; the entry point.
//! - [`global`], [`signature`]: variables, aliases and comdats; what functions have before bodies.
//! - [`types`], [`value`], [`number`], [`attributes`], [`metadata`]: what stands in both.
//! - [`function`], [`instruction`]: bodies.
//! - [`encoding`], [`float`]: tables and literals.
//! - [`print_assembly`]: the way back.
//!
//! Reads what LLVM 14 to 23 write, typed pointers included. Cost: the text is cut into tokens
//! twice.

mod attribute_encoding;
mod attributes;
mod call;
mod float;
mod function;
mod function_signature;
mod global;
mod instruction;
mod lexer;
mod memory;
mod metadata;
mod module;
mod numbers;
mod parser;
mod print;
mod types;
mod value;

pub use module::parse_assembly;
pub use print::print_assembly;
pub(crate) use print::print_type;

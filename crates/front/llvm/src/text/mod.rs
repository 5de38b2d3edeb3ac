//! LLVM assembly reader: LLVM's text form.
//!
//! - [`lexer`], [`parser`]: tokens, and the parser's state.
//! - [`module`]: top-level entities; the entry point.
//! - [`global`], [`function_signature`]: variables, aliases and comdats; functions without their
//!   bodies.
//! - [`types`], [`value`], [`numbers`], [`attributes`], [`metadata`]: constructs that both globals
//!   and bodies use.
//! - [`function`], [`body_state`], [`instruction`], [`memory`], [`call`]: bodies.
//! - [`attribute_encoding`], [`float`]: tables and literals.
//! - [`print_assembly`]: the printer.
//!
//! It reads the assembly of LLVM 14 to 23, typed pointers included. Cost: the text is tokenised
//! twice.

mod attribute_encoding;
mod attributes;
mod body_state;
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

//! SPIR-V assembly: text from words and words from text.
//!
//! The language is that of SPIRV-Tools (its `docs/syntax.md`), so that its assembler reads what
//! [`print_assembly()`] writes and [`parse_assembly`] reads what its disassembler writes. Both work on words by the
//! tables of [`crate::grammar`] and know nothing of the module IR; neither judges whether a module
//! is valid.
//!
//! Invariant: assembling the disassembly of any module that [`crate::binary::InstructionStream`] can walk
//! gives the same words, as long as ids are printed as numbers and no id reaches the header's
//! bound. Items that the tables do not know are written as numbers: a value as `!5`, a whole instruction as
//! `OpUnknown(opcode, words)`.
//!
//! Cost: one pass over the input either way, and one more over a text or module that has named
//! ids; memory is proportional to the input.

mod float;
mod header;
mod ids;
mod integer;
mod lexer;
mod literal;
mod names;
mod nesting;
mod notes;
mod operand;
mod parse;
mod print;
mod print_options;
mod symbols;

pub use lexer::looks_like_assembly;
pub use parse::{ParseOptions, locate_words, parse_assembly};
pub use print::{ModuleDisassembly, print_assembly, print_instructions};
pub use print_options::PrintOptions;

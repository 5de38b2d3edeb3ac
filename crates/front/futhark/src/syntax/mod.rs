//! Syntax of Futhark source: tokens, trees, parser and printer.
//!
//! The language is that of Futhark 0.28. The grammar is described in its language reference
//! (<https://futhark.readthedocs.io/en/latest/language-reference.html>).

mod declaration_tree;
mod lexer;
mod literal;
mod operator;
mod parser;
mod snippet;
pub mod token;
pub mod tree;
mod type_tree;

pub use lexer::{TokenList, read_tokens};
pub use operator::{OperatorPrecedence, find_precedence};
pub use parser::{parse_file, parse_partial_file};
pub use snippet::{SnippetKind, classify_snippet};

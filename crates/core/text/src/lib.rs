//! Lexer of the text forms of intermediate representations.
//!
//! The forms of the tensor IR and of the kernel IR have the same tokens. A [`TokenSyntax`] states where they differ.
//! [`lex_tokens`] returns all tokens with their places, and each representation has a parser of its own.
//!
//! [`hex`] writes and reads bytes as hexadecimal digits, which text forms, names of files and interfaces have.
//!
//! This crate knows no representation.

pub mod hex;
mod lexer;
mod string;

pub use lexer::{PlacedToken, TextToken, TokenSyntax, ValueNames, lex_tokens};

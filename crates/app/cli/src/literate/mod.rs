//! Literate programs: Futhark source whose comments are text, and whose directives show results.
//!
//! - `block`: splits a source into text, code and directives.
//! - `directive`: directives with their parameters.
//! - `show`: results of directives as Markdown, with pictures, films, plots and sounds in files.
//!
//! Source: manual page `futhark-literate`.

mod block;
mod directive;
mod show;

pub use block::{LiterateBlock, split_blocks};
pub use show::{DirectiveOutput, OutputFile, run_directive};

//! The text form: [`print_program()`], and [`parse_program`], which reads its output.
//!
//! ```text
//! function @double(%n: i64, %xs: device) -> (%out: device) {
//!   var %m: device
//!   %m = alloc mul.i64(4i64, %n)
//!   launch [sdiv_up.i64(%n, 256i64)] size [constant 256i64] uses (%n, %xs, %m) tolerant {
//!     var %g: i32
//!     %g = group_id 0
//!     ...
//!   }
//!   %out = memory %m
//! }
//! ```
//!
//! Names of variables begin with `%`, names of functions with `@`. A name with characters other than letters,
//! digits, `_`, `.`, `'` and `#` is quoted. A name is unique within a function together with the globals.

mod declaration;
mod fragment;
mod parse;
mod print;
mod statement;

pub use parse::parse_program;
pub use print::print_program;

use spirula_text::{TokenSyntax, ValueNames};

/// The tokens of this form.
const SYNTAX: TokenSyntax = TokenSyntax {
    comment: ";",
    values: ValueNames::Names,
    name_characters: "",
};

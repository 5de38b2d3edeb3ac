//! The text form of functions: its printer and its parser.

mod build_body;
mod parse;
mod parse_body;
mod parse_effect;
mod print;
mod syntax;

pub use parse::parse_function;
pub(crate) use print::{NodeNames, format_axes, format_body, format_list};
pub use print::{print_function, write_function};

use spirula_text::{TokenSyntax, ValueNames};

/// The tokens of this form.
const SYNTAX: TokenSyntax = TokenSyntax {
    comment: "//",
    values: ValueNames::Numbers,
    name_characters: "$-",
};

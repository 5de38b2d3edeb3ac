//! The text form of functions.

mod print;

pub use print::print_function;
pub(crate) use print::{NodeNames, format_axes, format_body, format_list};

//! Parser of modules in text.

mod affine;
mod alias;
mod attributes;
mod cursor;
mod dense;
mod file;
mod format;
mod location;
mod number;
mod operation;
mod parser;
mod scope;
mod types;

pub(crate) use cursor::MlirParseResult;
pub use file::{parse_text, split_sections};
pub(crate) use operation::{BlockArgument, OperationState};
pub(crate) use parser::MlirParser;

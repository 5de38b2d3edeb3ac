//! Source locations and the diagnostics that point at them.
//!
//! Every reader of Spirula reports through this crate. Every IR carries [`SourceLocation`]s, so that a fault that is
//! found late can still be shown where it was written.
//!
//! - [`SourceLocation`]: where something stands in its input, text or binary.
//! - [`SourceDiagnostic`]: what is wrong, where, and what to do about it.
//! - [`DiagnosticList`]: several of them as one error.
//! - [`SourceFile`]: an input with its name, against which diagnostics are rendered.
//! - [`LineStarts`]: lines and columns of a text.
//! - [`find_nearest`]: the known name that a misspelt one is nearest to.

mod diagnostic;
mod lines;
mod list;
mod location;
mod render;
mod suggest;

pub use diagnostic::{DiagnosticSeverity, SourceDiagnostic};
pub use lines::{ColumnUnit, LineColumn, LineStarts, find_line_column};
pub use list::DiagnosticList;
pub use location::SourceLocation;
pub use render::{SourceFile, render_diagnostic};
pub use suggest::find_nearest;

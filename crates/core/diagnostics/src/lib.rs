//! Places in input files and the diagnostics that point at them.
//!
//! Every reader of Spirula reports through this crate, and every IR carries [`Place`]s, so that a
//! fault found late can still be shown where it was written.
//!
//! - [`Place`]: where something stands in its input, text or binary.
//! - [`Diagnostic`]: what is wrong, where, and what to do about it.
//! - [`Source`]: an input with its name, against which diagnostics are rendered.

mod diagnostic;
mod place;
mod render;

pub use diagnostic::{Diagnostic, Severity};
pub use place::Place;
pub use render::{Source, render};

//! The front ends of Futhark: source, and the imperative form that Futhark's compiler prints.
//!
//! Source passes through these steps, each with a folder or file of its own:
//!
//! - [`syntax`]: source text as tokens and trees.
//! - [`source`]: the files of a program.
//! - [`check`]: names, modules and types.
//! - `restrictions`: exhaustive matches, ranges of literals, liftedness and recursion.
//! - `consumption`: uniqueness types and aliases.
//! - [`sizes`]: sizes as types, on typed source.
//! - [`typed`]: programs with names resolved and types inferred.
//! - [`typed_text`]: the text of typed source.
//! - [`document`]: the documentation of a program's definitions.
//! - [`format`]: source text as the formatter lays it out.
//! - [`interface`]: the entry points of a program, for tools that call them.
//! - [`value_structure`]: structures of values, for tools that print them.
//! - [`export`]: the entry points of a program with the names of foreign interfaces.
//! - [`intrinsic`]: the scalar functions of the compiler.
//! - [`internalise`]: from typed source to the soac form ([`spirula_soac`]).
//! - [`query`]: questions about source at a place, for editors.
//! - [`evaluate`]: what a program means, as a reference for tests.
//! - [`compile`]: all of these together.
//!
//! The printed form is read by [`read_futhark`].

pub mod check;
pub mod compile;
mod constants;
mod consumption;
pub mod document;
pub mod evaluate;
pub mod export;
pub mod format;
pub mod interface;
pub mod internalise;
pub mod intrinsic;
mod local_slots;
mod printed;
pub mod query;
mod restrictions;
pub mod sizes;
pub mod source;
mod spelled_type;
pub mod syntax;
pub mod typed;
mod typed_children;
pub mod typed_text;
pub mod value_structure;

pub use printed::{looks_like_futhark, read_futhark};

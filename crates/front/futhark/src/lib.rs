//! The front end of Futhark.
//!
//! - [`read_futhark`]: the reader of the imperative form that Futhark's compiler prints.

mod printed;

pub use printed::{looks_like_futhark, read_futhark};

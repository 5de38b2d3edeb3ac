//! Taking variables of functions apart: how they are accessed, splitting them, and reaching their
//! components through the whole.

mod accesses;
mod split;
mod widen;

pub use accesses::{Accesses, Variable};
pub use split::Splitter;
pub use widen::widen;

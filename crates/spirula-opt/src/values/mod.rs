//! What is known of values: their definitions, types, decorations, and constants as numbers.

mod facts;
mod fold;

pub use facts::{Facts, Simple};
pub use fold::first_value;

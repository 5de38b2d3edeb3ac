//! What is known of values: their definitions, types, decorations, and constants as numbers.

mod facts;
mod fold;
mod halves;

pub use facts::{Facts, MOST_COMPONENTS, Simple};
pub use fold::first_value;
pub use halves::{Halves, operands};

//! Value analysis: definitions, types and decorations of values, and constants as numbers.

mod facts;
mod fold;
mod halves;

pub use facts::{MOST_COMPONENTS, ModuleValues, SimplifyOutcome};
pub use fold::first_value;
pub use halves::{LowHalves, count_low_bits_operands};

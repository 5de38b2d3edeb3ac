//! Value analysis: definitions, types and decorations of values, and constants as numbers.

mod constant_folding;
mod low_halves;
mod module_values;

pub use constant_folding::first_value;
pub use low_halves::{LowHalves, count_low_bits_operands};
pub use module_values::{MOST_COMPONENTS, ModuleValues, SimplifyOutcome};

//! Taking variables of functions apart: how they are accessed, splitting them, and reaching their
//! components through the whole.

mod accesses;
mod split;
mod widen;

pub use accesses::{AggregateAccesses, AggregateVariable};
pub use split::AggregateSplitter;
pub use widen::vectorise_accesses;

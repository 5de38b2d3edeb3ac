//! Scalar replacement of aggregates: access analysis, splitting of variables, and widening of component accesses.

mod accesses;
mod split;
mod widen;

pub use accesses::{AggregateAccesses, AggregateVariable};
pub use split::AggregateSplitter;
pub use widen::vectorise_accesses;

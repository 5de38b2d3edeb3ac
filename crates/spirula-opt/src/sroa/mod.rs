//! Taking variables of functions apart: which can be, and into what.

mod accesses;
mod split;

pub use accesses::Accesses;
pub use split::Splitter;

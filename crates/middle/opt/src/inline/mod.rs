//! Putting functions in the place of calls: which can be, copying them, what is told of the copies.

mod callees;
mod scopes;
mod splice;
mod told;

pub use callees::{Callees, Policy};
pub use scopes::{Kind as DebugKind, kind as debug_kind};
pub use splice::Splicer;
pub use told::{InstRefId, Told};

//! Putting functions in the place of calls: which can be, copying them, what is told of the copies.

mod callees;
mod scopes;
mod splice;
mod told;

pub use callees::{CalleeTable, InlinePolicy};
pub use scopes::{DebugInstKind as DebugKind, classify_debug_inst as debug_kind};
pub use splice::CallInliner;
pub use told::{IdAnnotations, InstRefId};

//! Inlining: which functions can be inlined, how they are copied, and the names, decorations and debug scopes of
//! copies.

mod callees;
mod scopes;
mod splice;
mod told;

pub use callees::{CalleeTable, InlinePolicy};
pub use scopes::{DebugInstKind as DebugKind, classify_debug_inst as debug_kind};
pub use splice::CallInliner;
pub use told::{IdAnnotations, InstRefId};

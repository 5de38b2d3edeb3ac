//! Inlining: which functions can be inlined, how they are copied, and the names, decorations and debug scopes of
//! copies.

mod callees;
mod names_and_decorations;
mod scopes;
mod splice;

pub use callees::{CalleeTable, InlinePolicy};
pub use names_and_decorations::{IdAnnotations, InstRefId};
pub use scopes::{DebugInstKind as DebugKind, classify_debug_inst as debug_kind};
pub use splice::CallInliner;

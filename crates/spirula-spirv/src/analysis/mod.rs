//! Facts about modules, each computed once from a module and valid until it changes.

mod cfg;
mod definitions;
mod dominators;
mod layout;
mod names;

pub use cfg::Cfg;
pub use definitions::Definitions;
pub use dominators::Dominators;
pub use layout::{Layouts, MemberLayout, TypeLayout};
pub use names::{Decorations, Names};

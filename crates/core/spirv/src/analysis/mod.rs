//! Facts about modules, each computed once from a module and valid until it changes.

mod calls;
mod cfg;
mod constructs;
mod definitions;
mod dominators;
mod edges;
mod frontiers;
mod layout;
mod lengauer_tarjan;
mod loops;
mod names;
mod needs;
mod pointers;
mod post_dominators;
mod reach;
mod traversal;
mod uses;

pub use calls::CallGraph;
pub use cfg::Cfg;
pub(crate) use cfg::Graph;
pub use constructs::{Construct, Constructs};
pub use definitions::Definitions;
pub use dominators::{Dominators, Tree};
pub(crate) use edges::{Edges, reverse_postorder};
pub use frontiers::Frontiers;
pub use layout::{Layouts, MemberLayout, TypeLayout};
pub use loops::{Loop, Loops};
pub use names::{Decorations, Names, function_name};
pub(crate) use needs::ROUNDING;
pub use needs::{Ceiling, Choice, Exceeded, Needs, Reason};
pub use pointers::PointerBases;
pub use post_dominators::PostDominators;
pub use reach::Reach;
pub use traversal::Traversal;
pub use uses::{DefUse, Use};

//! Analyses of modules. Each is computed once from a module and stays valid until the module changes.

mod calls;
mod cfg;
mod constructs;
mod definitions;
mod dominators;
mod edge_lists;
mod frontiers;
mod layout;
mod lengauer_tarjan;
mod loops;
mod names;
mod needs;
mod pointer_bases;
mod post_dominators;
mod reachability;
mod traversal;
mod uses;

pub use calls::SpirvCallGraph;
pub(crate) use cfg::FlowEdges;
pub use cfg::FlowGraph;
pub use constructs::{ConstructTree, StructuredConstruct};
pub use definitions::IdDefinitions;
pub use dominators::{BlockDominators, DominanceTree};
pub(crate) use edge_lists::EdgeLists;
pub use edge_lists::reverse_postorder;
pub use frontiers::DominanceFrontiers;
pub use layout::{MemberLayout, TypeLayout, TypeLayouts};
pub use loops::{LoopNest, NaturalLoop};
pub use names::{IdDecorations, IdNames, function_name};
pub(crate) use needs::ROUNDING;
pub use needs::{
    AllowedExtensions, ExceededRequirement, ModuleRequirements, RequirementCeiling,
    RequirementChoice, RequirementReason,
};
pub use pointer_bases::PointerBases;
pub use post_dominators::PostDominators;
pub use reachability::EntryReach;
pub use traversal::BlockTraversal;
pub use uses::{DefUse, IdUse};

//! Partitioner of StableHLO programs over the devices of a mesh.
//!
//! A program for whole tensors, with shardings, becomes the program that each device runs on its parts, with collectives
//! between devices ([`partition_module`]). The model is that of Shardy (<https://openxla.org/shardy>): meshes of named axes,
//! shardings of dimensions, and rules of factors for each operation.
//!
//! 1. [`mesh`]: the axes of all meshes of the program are split into indivisible parts, its atoms.
//! 2. [`graph`]: the program with its calls inlined.
//! 3. [`rules`]: the rule of each operation: which dimensions of its tensors correspond.
//! 4. [`propagate`]: layouts of all values, by the rules, to a fix point.
//! 5. `plan`: for each operation the way of the least cost in which devices share it.
//! 6. `emit`: the local program. An operation without a rule is computed by every device as a whole, with a warning.
//!
//! [`wrap_as_manual`] makes of a local program a global one that one device runs, so that results can be compared.
//! [`wrap_for_shards`] makes one that takes and gives the parts of all devices as they are. [`call_exchanges`] makes one that a
//! process runs for each of its devices, with calls of a function that moves elements between processes.
//! The cost is linear in the operations of the program. It depends on the number of devices by the lists of groups of
//! collectives alone, each of which is made once.

mod emit;
mod exchange;
mod flatten;
pub mod graph;
mod inspect;
pub mod layout;
pub mod mesh;
mod neutral;
mod partition;
mod plan;
pub mod propagate;
mod report;
pub mod reshard;
pub mod rule;
pub mod rules;
mod wrap;

pub use exchange::{EXCHANGE_TARGET, ElementMovement, EntryMoves, call_exchanges};
pub use inspect::{InspectedLayout, asks_for_layouts, inspect_layouts};
pub use partition::{PartitionOptions, PartitionedModule, partition_module};
pub use report::{CollectiveCount, PartitionReport};
pub use wrap::{wrap_as_manual, wrap_for_shards};

use spirula_diagnostics::SourceDiagnostic;

/// Result of a step of the partitioning.
pub type PartitionResult<T> = Result<T, SourceDiagnostic>;

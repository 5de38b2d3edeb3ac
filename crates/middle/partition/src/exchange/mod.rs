//! The program of one device with its collectives as foreign calls, for devices of several processes.
//!
//! The entry point gets the number of the device as a further first argument. A collective becomes operations on the device and
//! calls of [`EXCHANGE_TARGET`], which only move elements. So reductions are computed by the program itself, in the order of the
//! devices in their group, and give the same result on every device.
//!
//! | Collective | Calls |
//! | --- | --- |
//! | `all_gather`, `all_reduce` of few bytes | `gather` |
//! | `all_reduce` of many bytes | `all_to_all` of parts, and `gather` of their sums |
//! | `reduce_scatter`, `all_to_all` | `all_to_all` |
//! | `collective_broadcast`, `collective_permute` | `broadcast`, `permute` |
//!
//! - `rewrite`: the copy of the program.
//! - `collective`: collectives.
//! - `alignment`: arguments and results on meshes with another order of devices.
//! - `only_device`: calls that one device makes for all.
//! - `combine`: combination of the elements of several devices.
//! - `operation`: single operations.

mod alignment;
mod collective;
mod combine;
mod only_device;
mod operation;
mod rewrite;

pub use alignment::EntryMoves;

use crate::PartitionResult;
use crate::partition::PartitionedModule;
use spirula_stablehlo::mlir::MlirModule;

/// The foreign function that moves elements between devices. Its attributes are `kind`, an [`ElementMovement`] by its name, the number
/// `site` of the call, and the devices of `groups`, of which each has `width`.
pub const EXCHANGE_TARGET: &str = "spirula.exchange";

/// A way in which elements move between the devices of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementMovement {
    /// Every device gets the operands of all, one after the other.
    Gather,
    /// The operand has a part for each device, and the result one of each.
    AllToAll,
    /// Every device gets the operand of the first one.
    Broadcast,
    /// The second device of each group gets the operand of the first. Others get zeros.
    Permute,
}

impl ElementMovement {
    /// All kinds with their names.
    const NAMES: [(ElementMovement, &'static str); 4] = [
        (ElementMovement::Gather, "gather"),
        (ElementMovement::AllToAll, "all_to_all"),
        (ElementMovement::Broadcast, "broadcast"),
        (ElementMovement::Permute, "permute"),
    ];

    /// The name in the attributes of calls.
    pub fn name(self) -> &'static str {
        let mut names = Self::NAMES.iter();
        let found = names.find(|(kind, _)| *kind == self);
        found.map_or("", |(_, name)| name)
    }

    /// The kind of a name.
    pub fn from_name(name: &str) -> Option<ElementMovement> {
        let mut names = Self::NAMES.iter();
        let found = names.find(|(_, own)| *own == name);
        found.map(|(kind, _)| *kind)
    }
}

/// The program of one device, whose collectives call [`EXCHANGE_TARGET`]. Parts of arguments and results move where their meshes have
/// the devices in another order.
///
/// # Errors
/// When a collective is of a form that is not supported.
pub fn call_exchanges(
    partitioned: &PartitionedModule,
    moves: &EntryMoves,
) -> PartitionResult<MlirModule> {
    rewrite::rewrite_program(partitioned, moves)
}

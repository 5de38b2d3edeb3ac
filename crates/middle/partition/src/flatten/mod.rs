//! Construction of the graph of a program.
//!
//! - `builder`: the state of a construction, and the operations of blocks.
//! - `value`: values, and their given layouts.
//! - `operation`: operations of tensors, constraints and groups.
//! - `rotation`: rotations of tensors.
//! - `control`: calls, loops and branches.
//! - `manual`: manual computations.
//! - `entry`: the graph of an entry point.

mod builder;
mod control;
mod entry;
mod manual;
mod operation;
mod rotation;
mod value;

pub(crate) use entry::{EntryPins, build_graph};

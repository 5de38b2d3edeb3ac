//! Rewriting of a program to the one that each device runs.
//!
//! Every value of the graph has the layouts in which it was computed so far, each with its local tensor. A user asks for the
//! layout that its plan needs; collectives make it from the one that costs least. Layouts that were made in a block are
//! forgotten at its end.
//!
//! - `emitter`: the state of a rewriting.
//! - `operation`: operations of tensors.
//! - `control`: loops, branches and manual computations.
//! - `reshard`: changes of layouts, and combination of partial results.
//! - `position`: the position of the device, and groups of devices.
//! - `entry`: functions.

mod control;
mod emitter;
mod entry;
mod operation;
mod position;
mod reshard;

pub(crate) use entry::emit_program;

//! Rewriting of a program to the one that each device runs.
//!
//! Every value of the graph has the layouts in which it was computed so far, each with its local tensor. A user asks for the
//! layout that its plan needs; collectives make it from the one that costs least. Layouts that were made in a block are
//! forgotten at its end.
//!
//! - `emitter`: the state of a rewriting.
//! - `operation`: operations of tensors.
//! - `control`: loops, branches and manual computations.
//! - `reshard`: changes of layouts.
//! - `partial`: combination of partial results.
//! - `halo`: elements that windows need of neighbours' parts.
//! - `selection`: indices that select along a dimension of which devices have parts.
//! - `arithmetic`: operations of local tensors.
//! - `position`: the position of the device, and groups of devices.
//! - `entry`: functions.

mod arithmetic;
mod control;
mod emitter;
mod entry;
mod halo;
mod operation;
mod partial;
mod position;
mod reshard;
mod selection;

pub(crate) use entry::emit_program;
pub(crate) use operation::ONLY_DEVICE;

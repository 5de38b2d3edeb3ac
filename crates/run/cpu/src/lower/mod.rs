//! From SPIR-V to Cranelift's IR, one function at a time.
//!
//! A value is a list of scalars; vectors and small aggregates are taken apart. What instructions do
//! is in the tables of [`table`]; which invocation runs is the business of [`entry`] alone.

mod arithmetic;
mod atomic;
mod bits;
mod builtin;
mod call;
mod checked;
mod compare;
mod composite;
mod control;
mod convert;
mod cooperative;
mod dense;
mod enqueue;
mod entry;
mod exchange;
mod ext;
mod generic;
mod globals;
mod half;
mod image;
mod integer;
mod lanes;
mod matrix;
mod memory;
mod pipe;
mod pointer;
mod scope;
mod table;
mod values;

pub(crate) use call::signature;
pub(crate) use checked::{Checking, RowKind};
pub(crate) use dense::{dense_base, workgroup_align};
pub(crate) use entry::{
    Frame, Slot, SlotKind, entry_signature, lower_entry, parameter_slots, private_room,
};
pub(crate) use ext::check as check_extended;
pub(crate) use globals::{BindingSlot, Global, Globals, PlacedVariables, What};
pub(crate) use scope::{Entered, Shared};
pub(crate) use table::is_supported;

use cranelift_codegen::ir::Value;
use smallvec::SmallVec;
use spirula_diagnostics::Diagnostic;

/// The scalars of a value.
pub(crate) type Values = SmallVec<[Value; 4]>;
/// What lowering an instruction gives.
pub(crate) type Done = Result<(), Diagnostic>;

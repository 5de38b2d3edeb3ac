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

pub(crate) use call::build_signature;
pub(crate) use checked::{RowKind, SanitizerAnalysis};
pub(crate) use dense::{dense_base, workgroup_align};
pub(crate) use entry::{
    FrameExtent, ParameterSlot, SlotKind, entry_signature, lower_entry, parameter_slots,
    private_room,
};
pub(crate) use ext::check_ext_inst as check_extended;
pub(crate) use globals::{
    BindingSlot, GlobalLocation, ParameterResource, PlacedVariables, ReachedGlobals,
};
pub(crate) use scope::{ClifKernelContext, GangLoop};
pub(crate) use table::is_supported;

use cranelift_codegen::ir::Value;
use smallvec::SmallVec;
use spirula_diagnostics::SourceDiagnostic;

/// The scalars of a value.
pub(crate) type ClifScalars = SmallVec<[Value; 4]>;
/// What lowering an instruction gives.
pub(crate) type ClifResult = Result<(), SourceDiagnostic>;

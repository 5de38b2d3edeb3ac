//! From SPIR-V to Cranelift's IR, one function at a time.
//!
//! A value is a list of scalars; vectors and small aggregates are taken apart. What instructions do
//! is in the tables of [`table`]; which invocation runs is the business of [`entry`] alone.

pub(crate) mod arithmetic;
pub(crate) mod atomic;
pub(crate) mod bits;
pub(crate) mod builtin;
pub(crate) mod call;
pub(crate) mod compare;
pub(crate) mod composite;
pub(crate) mod control;
pub(crate) mod convert;
pub(crate) mod cooperative;
pub(crate) mod crowded_functions;
pub(crate) mod enqueue;
pub(crate) mod entry;
pub(crate) mod exchange;
pub(crate) mod ext;
pub(crate) mod gang_loop;
pub(crate) mod generic_pointer;
pub(crate) mod half;
pub(crate) mod image;
pub(crate) mod in_memory_matrix;
pub(crate) mod instruction_table;
pub(crate) mod integer;
pub(crate) mod jit;
pub(crate) mod lanes;
pub(crate) mod loop_exits;
pub(crate) mod lowering;
pub(crate) mod matrix;
pub(crate) mod memory;
pub(crate) mod non_temporal_stub;
pub(crate) mod pipe;
pub(crate) mod pointer;
pub(crate) mod values;

use cranelift_codegen::ir::Value;
use smallvec::SmallVec;
use spirula_diagnostics::SourceDiagnostic;

/// The scalars of a value.
pub(crate) type ClifScalars = SmallVec<[Value; 4]>;
/// What lowering an instruction gives.
pub(crate) type ClifResult = Result<(), SourceDiagnostic>;

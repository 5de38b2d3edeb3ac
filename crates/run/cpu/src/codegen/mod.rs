//! Code generation: from SPIR-V to Cranelift's IR, one function at a time, and to machine code.
//!
//! A value is a list of scalars: vectors and small aggregates are split. The rows of [`instruction_table`] say how each
//! instruction is lowered. Only [`entry`] knows which invocation runs. [`access_hooks`] has the events at which other
//! layers may add code.

pub(crate) mod access_hooks;
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
pub(crate) mod function_body;
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
/// The result of lowering an instruction.
pub(crate) type ClifResult = Result<(), SourceDiagnostic>;

//! Lowering to the imperative IR: kernels, and the host program that launches them.
//!
//! Tensors are blocks of device memory, those of rank 0 that need no device scalars of the host.
//! Constants are globals that are filled once.

mod node_emitter;
mod host_program;
mod kernel;
mod last_uses;
mod host_scalars;
mod vector_access;
mod element_write;

pub use lifetime::{TensorMemoryUse, measure_memory_use};

use crate::ir::{OpKind, StructuredOp, TensorBlock, TensorFunction, TensorValue};
use crate::schedule::{self, DispatchTuning, ScheduleProfile, TensorDispatch};
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceDiagnostic;
use spirula_kernel::ir::KernelProgram;

/// Forms the dispatches of a function, in the order of its operations.
///
/// # Errors
/// When an operation has too many axes.
pub fn form_dispatches(
    function: &TensorFunction,
    profile: ScheduleProfile,
    tuning: &DispatchTuning,
) -> Result<Vec<TensorDispatch>, SourceDiagnostic> {
    let is_host = host_scalars::find_host_scalars(function);
    let mut dispatches = Vec::new();
    form_block_dispatches(
        function,
        function.body(),
        &is_host,
        (profile, tuning),
        &mut dispatches,
    )?;
    Ok(dispatches)
}

fn form_block_dispatches(
    function: &TensorFunction,
    block: TensorBlock,
    is_host: &[bool],
    (profile, tuning): (ScheduleProfile, &DispatchTuning),
    dispatches: &mut Vec<TensorDispatch>,
) -> Result<(), SourceDiagnostic> {
    for op in &function.block(block).ops {
        for inner in op.kind.blocks() {
            form_block_dispatches(function, inner, is_host, (profile, tuning), dispatches)?;
        }
        let OpKind::Structured(structured) = &op.kind else {
            continue;
        };
        let structured: &StructuredOp = structured;
        let on_device = op.results.iter().any(|v| !is_host[v.index()]);
        if on_device && !structured.is_empty() {
            let name = format!("{}.{}", function.name, dispatches.len());
            let profile = tuning.profile_for(function, structured, profile);
            dispatches.push(schedule::form_dispatch(
                &name,
                op,
                (function, structured),
                profile,
            )?);
        }
    }
    Ok(())
}

/// A function with its scheduled dispatches as a program.
pub fn lower_to_program(
    function: &TensorFunction,
    dispatches: Vec<TensorDispatch>,
) -> KernelProgram {
    let keyed = dispatches.into_iter().map(|d| (d.results[0], d));
    let keyed: FxHashMap<TensorValue, TensorDispatch> = keyed.collect();
    host_program::lower_host_program(function, &keyed)
}

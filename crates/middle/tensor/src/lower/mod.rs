//! Lowering to the imperative IR: kernels, and the host program that launches them.
//!
//! Tensors are allocations of device memory; those of rank 0 are scalars of the host where possible ([`host_scalars`]).
//! Constants are globals that are filled once.

mod element_write;
mod host_program;
mod host_scalars;
mod kernel;
mod kernel_loop;
mod memory_use;
mod node_emitter;
mod radix_sort;
mod scalar_operation;
mod small_quotient;
mod vector_access;
mod while_statement;
mod word_selection;

pub use memory_use::{TensorMemoryUse, measure_memory_use};

pub(crate) use kernel_loop::select_kernel_loops;

use crate::ir::{OpKind, TensorBlock, TensorFunction, TensorValue};
use crate::schedule::{DispatchTuning, ScheduleProfile, TensorDispatch, form_dispatch};
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
    let kernel_loops = select_kernel_loops(function, &profile);
    let mut former = DispatchFormer {
        function,
        is_host: host_scalars::find_host_scalars(function, &kernel_loops),
        kernel_loops,
        profile,
        tuning,
        dispatches: Vec::new(),
    };
    former.visit_block(function.body())?;
    Ok(former.dispatches)
}

struct DispatchFormer<'a> {
    function: &'a TensorFunction,
    is_host: Vec<bool>,
    kernel_loops: kernel_loop::KernelLoops,
    profile: ScheduleProfile,
    tuning: &'a DispatchTuning,
    dispatches: Vec<TensorDispatch>,
}

impl DispatchFormer<'_> {
    /// Forms the dispatches of a block, those of blocks within an operation first.
    fn visit_block(&mut self, block: TensorBlock) -> Result<(), SourceDiagnostic> {
        let function = self.function;
        for (at, op) in function.block(block).ops.iter().enumerate() {
            if self.kernel_loops.contains_key(&(block, at)) {
                continue;
            }
            for inner in op.kind.blocks() {
                self.visit_block(inner)?;
            }
            let OpKind::Structured(structured) = &op.kind else {
                continue;
            };
            let on_device = op.results.iter().any(|v| !self.is_host[v.index()]);
            if on_device && !structured.is_empty() {
                let name = format!("{}.{}", function.name, self.dispatches.len());
                let profile = self.tuning.profile_for(function, structured, self.profile);
                let dispatch = form_dispatch(&name, op, function, structured, profile)?;
                self.dispatches.push(dispatch);
            }
        }
        Ok(())
    }
}

/// The program of a function with its scheduled dispatches.
pub fn lower_to_program(
    function: &TensorFunction,
    dispatches: Vec<TensorDispatch>,
    profile: ScheduleProfile,
) -> KernelProgram {
    let keyed = dispatches.into_iter().map(|d| (d.results[0], d));
    let keyed: FxHashMap<TensorValue, TensorDispatch> = keyed.collect();
    host_program::lower_host_program(function, &keyed, profile)
}

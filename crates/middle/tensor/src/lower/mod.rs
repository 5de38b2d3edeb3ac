//! Lowering to the imperative IR: kernels, and the host program that launches them.
//!
//! Tensors are blocks of device memory, those of rank 0 that need no device scalars of the host.
//! Constants are globals that are filled once.

mod emit;
mod host;
mod kernel;
mod lifetime;
mod placement;
mod vectors;
mod write;

pub use lifetime::{Memory, memory};

use crate::ir::{Block, Function, OpKind, Structured, Value};
use crate::schedule::{self, Dispatch, Profile, Tuning};
use rustc_hash::FxHashMap;
use spirula_diagnostics::Diagnostic;
use spirula_kernel::ir::Program;

/// Forms the dispatches of a function, in the order of its operations.
///
/// # Errors
/// When an operation has too many axes.
pub fn dispatches(
    function: &Function,
    profile: Profile,
    tuning: &Tuning,
) -> Result<Vec<Dispatch>, Diagnostic> {
    let is_host = placement::placement(function);
    let mut dispatches = Vec::new();
    form(
        function,
        function.body(),
        &is_host,
        (profile, tuning),
        &mut dispatches,
    )?;
    Ok(dispatches)
}

fn form(
    function: &Function,
    block: Block,
    is_host: &[bool],
    (profile, tuning): (Profile, &Tuning),
    dispatches: &mut Vec<Dispatch>,
) -> Result<(), Diagnostic> {
    for op in &function.block(block).ops {
        for inner in op.kind.blocks() {
            form(function, inner, is_host, (profile, tuning), dispatches)?;
        }
        let OpKind::Structured(structured) = &op.kind else {
            continue;
        };
        let structured: &Structured = structured;
        let on_device = op.results.iter().any(|v| !is_host[v.index()]);
        if on_device && !structured.is_empty() {
            let name = format!("{}.{}", function.name, dispatches.len());
            let profile = tuning.profile(function, structured, profile);
            dispatches.push(schedule::form(&name, op, (function, structured), profile)?);
        }
    }
    Ok(())
}

/// A function with its scheduled dispatches as a program.
pub fn lower(function: &Function, dispatches: Vec<Dispatch>) -> Program {
    let keyed = dispatches.into_iter().map(|d| (d.results[0], d));
    let keyed: FxHashMap<Value, Dispatch> = keyed.collect();
    host::lower(function, &keyed)
}

//! Compilation: the pipeline from functions to programs.

use crate::ir::TensorFunction;
use crate::schedule::{DispatchTuning, PASSES, ScheduleProfile, TensorDispatch};
use crate::text::print_function;
use crate::{lower, passes, schedule};
use spirula_diagnostics::SourceDiagnostic;
use spirula_kernel::ir::KernelProgram;

/// Names of all stages that [`compile_function`] shows, in their order, with their effects.
pub fn list_stages() -> impl Iterator<Item = (&'static str, &'static str)> {
    let passes = passes::PASSES.iter().map(|p| (p.name, p.about));
    let form = [(
        "dispatches",
        "Makes a dispatch of each structured operation",
    )];
    let scheduled = PASSES.iter().map(|p| (p.name, p.about));
    passes.chain(form).chain(scheduled)
}

/// An observer of stages. It is given the name of each, and a function that prints its result.
pub type TensorStageObserver<'a> = dyn FnMut(&str, &dyn Fn() -> String) + 'a;

/// Fuses a function, schedules it for a kind of device and lowers it.
///
/// # Errors
/// When an operation has no lowering; the message names it.
pub fn compile_function(
    function: TensorFunction,
    profile: ScheduleProfile,
    tuning: &DispatchTuning,
    shown: &mut TensorStageObserver<'_>,
) -> Result<KernelProgram, SourceDiagnostic> {
    let (function, dispatches) = schedule_function(function, profile, tuning, shown)?;
    Ok(lower::lower_to_program(&function, dispatches, profile))
}

/// The first part of [`compile_function`]: the fused function, and its dispatches with their schedules, in the order in
/// which the program numbers its kernels.
///
/// # Errors
/// As [`compile_function`].
pub fn schedule_function(
    mut function: TensorFunction,
    profile: ScheduleProfile,
    tuning: &DispatchTuning,
    shown: &mut TensorStageObserver<'_>,
) -> Result<(TensorFunction, Vec<TensorDispatch>), SourceDiagnostic> {
    for pass in passes::PASSES {
        (pass.run)(&mut function, &profile);
        shown(pass.name, &|| format_with_notes(&function, pass, &profile));
    }
    let mut dispatches = lower::form_dispatches(&function, profile, tuning)?;
    shown("dispatches", &|| schedule::print_all(&dispatches));
    for pass in PASSES {
        dispatches.iter_mut().for_each(pass.run);
        shown(pass.name, &|| schedule::print_all(&dispatches));
    }
    Ok((function, dispatches))
}

/// The text of a function after a pass, with the pass's remarks.
fn format_with_notes(
    function: &TensorFunction,
    pass: &passes::TensorPass,
    profile: &ScheduleProfile,
) -> String {
    let mut text = print_function(function);
    for note in (pass.notes)(function, profile) {
        text.push_str(&format!("// {note}\n"));
    }
    text
}

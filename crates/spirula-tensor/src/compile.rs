//! The pipeline from functions to programs.

use crate::ir::Function;
use crate::{lower, passes, print, schedule};
use spirula_kernel::ir::Program;
use spirula_source::Diagnostic;

/// Names of all stages that [`compile`] shows, in their order, with what they do.
pub fn stages() -> impl Iterator<Item = (&'static str, &'static str)> {
    let passes = passes::PASSES.iter().map(|p| (p.name, p.about));
    let form = [(
        "dispatches",
        "Makes a dispatch of each structured operation",
    )];
    let scheduled = schedule::PASSES.iter().map(|p| (p.name, p.about));
    passes.chain(form).chain(scheduled)
}

/// Fuses a function, schedules it for a kind of device and lowers it. `shown` is given the name of each stage and a function
/// for the text of what it left.
///
/// # Errors
/// When something has no lowering; the message names it.
pub fn compile(
    mut function: Function,
    profile: schedule::Profile,
    shown: &mut dyn FnMut(&str, &dyn Fn() -> String),
) -> Result<Program, Diagnostic> {
    for pass in passes::PASSES {
        (pass.run)(&mut function, &profile);
        shown(pass.name, &|| print(&function));
    }
    let mut dispatches = lower::dispatches(&function, profile)?;
    let all = |dispatches: &[schedule::Dispatch]| {
        let texts: Vec<String> = dispatches.iter().map(schedule::print).collect();
        texts.join("\n")
    };
    shown("dispatches", &|| all(&dispatches));
    for pass in schedule::PASSES {
        dispatches.iter_mut().for_each(pass.run);
        shown(pass.name, &|| all(&dispatches));
    }
    Ok(lower::lower(&function, dispatches))
}

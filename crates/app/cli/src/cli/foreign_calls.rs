//! Foreign calls of programs that the command runs. It has no functions of other programs.

use super::stderr::print_stderr_line;
use spirula_program::program::HostStep;
use spirula_program::{CompiledProgram, ForeignFunctionCall, ForeignFunctionTable};
use std::collections::BTreeMap;

/// Functions that do nothing, with a warning, for calls without results: `jax.debug.print` and the like. Calls with results
/// fail where they are reached.
pub fn skip_calls_without_results(program: &CompiledProgram) -> ForeignFunctionTable {
    // Whether no call of a function has results.
    let mut targets: BTreeMap<&str, bool> = BTreeMap::new();
    for step in program.functions.iter().flat_map(|f| &f.steps) {
        if let HostStep::Foreign(step) = step {
            let is_skipped = targets.entry(&step.signature.target).or_insert(true);
            *is_skipped &= step.signature.results.is_empty();
        }
    }
    let mut functions = ForeignFunctionTable::default();
    for (target, _) in targets.into_iter().filter(|(_, is_skipped)| *is_skipped) {
        print_stderr_line!(
            "warning: calls of the foreign function {target:?} are skipped: they have no results"
        );
        functions.register(target, |_: &mut ForeignFunctionCall<'_>| Ok(()));
    }
    functions
}

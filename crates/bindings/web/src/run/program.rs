//! Runs of programs: a call of one entry point.

use super::run_array::RunArray;
use super::script::{RunScript, RunScriptFault, RunScriptValue};
use super::{WrittenArray, refuse_script};
use crate::request::RequestFailure;
use spirula_interpreter::{InterpreterMachine, KernelExecutor};
use spirula_program::{CompiledProgram, KernelMachine, ProgramError, ProgramSession, ProgramValue};
use std::fmt::Display;

/// Calls an entry point of a program as a script says, with kernels on an executor, and returns its results.
///
/// # Errors
/// When the script does not fit the entry point, or the program fails.
pub(super) fn run_program(
    program: &CompiledProgram,
    script: &RunScript,
    executor: KernelExecutor,
) -> Result<Vec<WrittenArray>, RequestFailure> {
    let machine = InterpreterMachine::with_executor(executor);
    call_program(program, script, machine)
}

/// Calls an entry point of a program on a machine.
///
/// # Errors
/// Those of [`run_program`].
pub(super) fn call_program<M: KernelMachine>(
    program: &CompiledProgram,
    script: &RunScript,
    machine: M,
) -> Result<Vec<WrittenArray>, RequestFailure> {
    let named = script.entry.as_deref();
    let mut entries = program.entries.iter();
    let entry = entries.find(|entry| named.is_none_or(|name| entry.name == name));
    let entry = entry.ok_or_else(|| {
        let names: Vec<&str> = program
            .entries
            .iter()
            .map(|entry| entry.name.as_str())
            .collect();
        let message = format!("no such entry point; there are: {}", names.join(", "));
        RequestFailure::from_message(message)
    })?;
    let (mut values, mut known) = (Vec::new(), Vec::new());
    for (number, parameter) in entry.parameters.iter().enumerate() {
        let numbered = number.to_string();
        let names = [parameter.name.as_str(), &numbered];
        known.extend(names.map(str::to_owned));
        values.push(find_value(script, &names).map_err(refuse_script)?);
    }
    script.check_names(&known).map_err(refuse_script)?;
    let session = ProgramSession::new(program, machine);
    let mut session = session.map_err(|error| refuse_run(&error))?;
    let results = session.call_entry(&entry.name, &values);
    let results = results
        .map_err(|error| refuse_run(&error))?
        .into_iter()
        .enumerate();
    Ok(results
        .filter_map(|(number, result)| {
            Some(WrittenArray {
                name: format!("result {number}"),
                buffer: None,
                value: RunArray::from_program(result?),
            })
        })
        .collect())
}

fn find_value(script: &RunScript, names: &[&str]) -> Result<ProgramValue, RunScriptFault> {
    let line = script.find_argument(names)?;
    match &line.value {
        RunScriptValue::Array(value) => Ok(value.to_program()),
        RunScriptValue::Local(_) => Err(RunScriptFault {
            message: format!("{}: programs take no workgroup memory", line.name),
            line: Some(line.line),
        }),
    }
}

fn refuse_run<E: Display>(error: &ProgramError<E>) -> RequestFailure {
    RequestFailure::from_message(error.to_string())
}

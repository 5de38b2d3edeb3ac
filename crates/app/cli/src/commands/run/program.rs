//! Run of an entry point of a program.

use super::bind::{self, BoundParameter, ValueLabel, ValueRole};
use super::named_arrays::expand_array_files;
use super::prepare;
use super::results::{self, OutputArray};
use super::stages::StageTimings;
use crate::bench::{BenchBudget, BenchClock, MeanEstimate, time_calls, to_microseconds};
use crate::cli::args::RunArgs;
use crate::cli::foreign_calls::skip_calls_without_results;
use crate::cli::progress::ProgressIndicator;
use crate::cli::stderr::{print_stderr, print_stderr_line};
use crate::cli::{CommandFailure, CommandResult, dump_kernels, files};
use crate::commands::info::describe_program_entry;
use crate::values::items::{group_into_items, parts_of, value_types};
use crate::values::program::{of_array, to_array};
use crate::values::{ArgSpec, ArrayFiles, ValueSpec, tensor};
use spirula::TensorSignature;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_program::program::ProgramEntry;
use spirula_program::{CallValue, CompiledProgram, ProgramError, ProgramSession, ProgramValue};
use spirula_runtime::{ComputeDevice, DeviceError, DeviceMachine};
use std::io::{IsTerminal, stdin};
use std::path::Path;
use std::time::Duration;

/// Copies of a value at a time: the argument, and the copy on the device.
const COPIES: u64 = 2;

/// The default entry point of programs with several.
const MAIN: &str = "main";

/// Runs an entry point and processes its results.
pub fn run_program_entry(
    args: &RunArgs,
    program: &CompiledProgram,
    tensors: Option<&TensorSignature>,
    mut stages: StageTimings,
) -> CommandResult {
    refuse_sizes(args)?;
    let entry = find_entry(program, args.entry.as_deref())?;
    check_parameters(args, program)?;
    let wanted = results::RequestedResults::parse_requests(args)?;
    if let Some(folder) = &args.dump_spirv {
        let name = args.from.path.file_stem().unwrap_or_default();
        let name = name.to_string_lossy();
        dump_kernels::dump_kernels(program, folder, &name).map_err(CommandFailure::from_message)?;
    }
    let mut device = super::open_requested_device(args)?;
    let limit = device.info().limits.buffer_size / COPIES;
    let values = stages.time_stage("make arguments", || {
        if args.arg.is_empty() {
            read_values(args, entry, tensors)
        } else {
            make_values(&args.arg, args.seed, entry, tensors, limit)
        }
    })?;
    let progress = ProgressIndicator::new_spinner("running");
    let items = group_into_items(values, entry);
    let called = call_program_entry(args, program, entry, &items, &mut device);
    drop(progress);
    super::report_device_outcome(&mut device, &mut stages);
    let given = called?;
    super::tell_agreement(args);
    args.checking.write_report_file(&[])?;
    let computed = collect_result_arrays(&given, tensors)?;
    match tensors {
        Some(_) if !args.binary => results::show_changed_outputs(&computed, args)?,
        _ => print_results(&given, args.binary)?,
    }
    let outcome = results::process_outputs(&computed, &wanted, args, &mut stages);
    if args.profile {
        print_stderr!("{stages}");
    }
    outcome?;
    match args.runs {
        Some(runs) => time_program_entry(args, program, entry, &items, runs.into()),
        None => Ok(()),
    }
}

/// Calls the entry point several times on an idle device with the arguments in its memory, and prints the time of a call.
fn time_program_entry(
    args: &RunArgs,
    program: &CompiledProgram,
    entry: &ProgramEntry,
    items: &[CallValue],
    runs: usize,
) -> CommandResult {
    let mut device = super::open_requested_device(args)?;
    let session = open_session(args, program, &mut device)?;
    let budget = BenchBudget {
        runs,
        time: Duration::ZERO,
        most: Duration::MAX,
        clock: BenchClock::Wall,
    };
    let times = time_calls(session, &entry.name, items, budget);
    let times = times.map_err(|error| to_call_failure(error, args))?;
    let mean = MeanEstimate::from_times(&to_microseconds(&times));
    print_stderr_line!("{}: {mean}, {runs} runs", entry.name);
    Ok(())
}

/// Refuses options about launches: a program launches its kernels itself.
fn refuse_sizes(args: &RunArgs) -> CommandResult {
    let sizes = [&args.global, &args.local, &args.groups, &args.offset];
    let is_any = sizes.into_iter().any(Option::is_some);
    if is_any || !args.push.is_empty() || !args.spec.is_empty() {
        let text = "--global, --local, --groups, --offset, --push and --spec are for modules; the \
                    input is a program, which launches its kernels itself";
        return Err(CommandFailure::Usage(text.to_owned()));
    }
    Ok(())
}

/// The requested entry point, or the only one, or `main`.
fn find_entry<'a>(
    program: &'a CompiledProgram,
    asked: Option<&str>,
) -> Result<&'a ProgramEntry, CommandFailure> {
    let named = |name: &str| program.entries.iter().find(|e| e.name == name);
    let found = match (asked, program.entries.as_slice()) {
        (Some(name), _) => named(name),
        (None, [only]) => Some(only),
        (None, _) => named(MAIN),
    };
    let text = match asked {
        Some(name) => format!("the program has no entry point {name}"),
        None => format!(
            "the program has {} entry points: choose one with --entry",
            program.entries.len()
        ),
    };
    let names: Vec<&str> = program.entries.iter().map(|e| e.name.as_str()).collect();
    found.ok_or_else(|| CommandFailure::with_hint(text, format!("it has: {}", names.join(", "))))
}

/// Checks that the program has the tuning parameters, or their classes.
fn check_parameters(args: &RunArgs, program: &CompiledProgram) -> CommandResult {
    for set in &args.param {
        let is_meant = |p: &spirula_program::ProgramParameter| {
            p.name == set.name || p.class.name() == Some(&set.name)
        };
        if !program.parameters.iter().any(is_meant) {
            let text = format!("the program has no tuning parameter {}", set.name);
            return Err(CommandFailure::with_hint(
                text,
                "spirula info lists those that it has",
            ));
        }
    }
    Ok(())
}

/// Reads the values on standard input. For an entry point without parameters nothing is read.
fn read_values(
    args: &RunArgs,
    entry: &ProgramEntry,
    tensors: Option<&TensorSignature>,
) -> Result<Vec<ProgramValue>, CommandFailure> {
    if entry.parameters.is_empty() {
        return Ok(Vec::new());
    }
    let is_taken = files::is_standard(&args.from.path);
    if is_taken || stdin().is_terminal() {
        let text = format!("{} takes arguments", entry.name);
        let takes = describe_program_entry(entry, tensors);
        let how = "give each with --arg, or all of them as text on standard input";
        return Err(CommandFailure::with_hint(text, format!("{takes}  {how}")));
    }
    let input = files::read_input_file(Path::new("-"))?;
    let parameters = entry.parameters.iter();
    let types = parameters.flat_map(|p| value_types(p.value.as_ref(), p.opaque.as_ref()));
    let types: Vec<_> = types.collect();
    let values = match ProgramValue::read_all_as(&input.bytes, &types) {
        Ok(values) => values,
        Err(fault) => {
            let place = match std::str::from_utf8(&input.bytes) {
                Ok(_) => SourceLocation::from_text_range(fault.at, fault.at + 1),
                Err(_) => SourceLocation::Byte(fault.at as u64),
            };
            let error = SourceDiagnostic::error(place, fault.message);
            return Err(CommandFailure::from_diagnostics(input, vec![error]));
        }
    };
    let (wanted, found) = (types.len(), values.len());
    if wanted != found {
        let text = format!("{} takes {wanted} values, {found} are given", entry.name);
        return Err(CommandFailure::with_hint(
            text,
            describe_program_entry(entry, tensors),
        ));
    }
    Ok(values)
}

/// Prepares the values of `--arg`.
pub fn make_values(
    given: &[ArgSpec],
    seed: u64,
    entry: &ProgramEntry,
    tensors: Option<&TensorSignature>,
    mut limit: u64,
) -> Result<Vec<ProgramValue>, CommandFailure> {
    let mut files = ArrayFiles::default();
    let given = expand_array_files(given, entry, &mut files)?;
    let slots = bind::bind_arguments(&entry.name, bind::program_parameters(entry), &given);
    let slots = slots
        .map_err(|text| CommandFailure::with_hint(text, describe_program_entry(entry, tensors)))?;
    let mut values = Vec::new();
    for BoundParameter { label, value, .. } in &slots {
        let title = format!("{} of {}", label.title(), entry.name);
        let seed = seed.wrapping_add(label.number as u64);
        let array = match value {
            ValueSpec::File(path) => files.read_array(path),
            value => prepare::of_spec(value, seed, limit),
        };
        let array = array.map_err(|f| match f {
            CommandFailure::Message { text, hint } => CommandFailure::Message {
                text: format!("{title}: {text}"),
                hint,
            },
            other => other,
        })?;
        limit = limit.saturating_sub(array.bytes().len() as u64);
        let ty = array.element();
        let value = match tensors.and_then(|t| t.parameters.get(label.number)) {
            Some(parameter) => tensor::to_value(array, parameter),
            None => of_array(array).ok_or_else(|| format!("programs have no {ty}")),
        };
        values
            .push(value.map_err(|text| CommandFailure::from_message(format!("{title}: {text}")))?);
    }
    Ok(values)
}

/// Calls the entry point. Its trace is printed, also when it fails.
fn call_program_entry(
    args: &RunArgs,
    program: &CompiledProgram,
    entry: &ProgramEntry,
    items: &[CallValue],
    device: &mut ComputeDevice,
) -> Result<Vec<CallValue>, CommandFailure> {
    let mut session = open_session(args, program, device)?;
    let called = session.call_items(&entry.name, items);
    for line in session.take_traced() {
        print_stderr_line!("{line}");
    }
    called.map_err(|error| to_call_failure(error, args))
}

/// The program on a device, with the tuning parameters that the command line sets.
fn open_session<'p, 'd: 'p>(
    args: &RunArgs,
    program: &'p CompiledProgram,
    device: &'d mut ComputeDevice,
) -> Result<ProgramSession<'p, DeviceMachine<'d>>, CommandFailure> {
    let mut machine = DeviceMachine::new(device);
    for set in &args.param {
        machine.set_parameter(&set.name, set.value);
    }
    let session = ProgramSession::new(program, machine);
    let mut session = session.map_err(|error| to_call_failure(error, args))?;
    session.set_foreign_functions(skip_calls_without_results(program));
    Ok(session)
}

fn to_call_failure(error: ProgramError<DeviceError>, args: &RunArgs) -> CommandFailure {
    match error {
        ProgramError::Machine(error) => super::to_run_failure(error, args),
        error => CommandFailure::from_message(error.to_string()),
    }
}

/// Prints results in the form in which values are read. Those without an external form are printed by their parts.
fn print_results(given: &[CallValue], binary: bool) -> CommandResult {
    let output = Path::new("-");
    let parts = given.iter().flat_map(parts_of);
    if binary {
        let all = parts.map(ProgramValue::to_binary);
        return files::write_binary(output, &all.collect::<Vec<_>>().concat());
    }
    let lines = parts.map(|value| format!("{value}\n"));
    files::write_text(output, &lines.collect::<String>())
}

/// Results with an external form, as arrays.
fn collect_result_arrays(
    given: &[CallValue],
    tensors: Option<&TensorSignature>,
) -> Result<Vec<OutputArray>, CommandFailure> {
    let mut arrays = Vec::new();
    for (number, value) in given.iter().enumerate() {
        let CallValue::Plain(value) = value else {
            continue;
        };
        let array = match tensors.and_then(|t| t.results.get(number)) {
            Some(result) => tensor::to_array(value, result),
            None => to_array(value).map_err(|e| e.to_string()),
        };
        arrays.push(OutputArray {
            label: ValueLabel {
                role: ValueRole::Result,
                number,
                name: None,
                binding: None,
            },
            array: array.map_err(CommandFailure::from_message)?,
            changed: true,
        });
    }
    Ok(arrays)
}

//! `spirula run`: runs an entry point on a device.

mod bind;
mod compare;
mod kernel;
mod named_arrays;
mod prepare;
pub(super) mod program;
mod results;
mod size;
mod specialise;
mod stages;

use super::compile::compile_options;
use crate::cli::args::{RunArgs, ValidationMode};
use crate::cli::shader_source::read_compilable_file;
use crate::cli::stderr::print_stderr_line;
use crate::cli::{CommandFailure, CommandResult, failure, schedule};
use crate::values::tensor::array_element;
use crate::values::{ArgSpec, ArrayFiles, ValueSpec};
use spirula::{CompileOptions, CompileOutput, KnownArguments, TensorSignature};
use spirula_runtime::{
    ComputeDevice, DeviceError, DeviceOptions, FloatTolerance, find_cache_folder,
};
use stages::StageTimings;
use std::time::Duration;

/// Runs `spirula run`.
pub fn run_entry_point(args: &RunArgs) -> CommandResult {
    let mut stages = StageTimings::new();
    let input = stages.time_stage("read file", || read_compilable_file(&args.from.path))?;
    let options = CompileOptions {
        known: KnownArguments {
            shapes: known_shapes(&args.arg),
            ..KnownArguments::default()
        },
        profile: schedule::choose_schedule_profile(args.how.schedule.as_ref(), first_device(args)),
        tuning: args.how.read_dispatch_tuning()?,
        ..compile_options(&args.how, args.entry.as_deref())
    };
    let read = stages.time_stage("read", || {
        spirula::read_located_input(&input.bytes, &input.name)
    });
    let compiled =
        read.and_then(|read| stages.time_stage("translate", || read.compile_with(&options)));
    let compiled = match compiled {
        Ok(compiled) => compiled,
        Err(error) => return Err(CommandFailure::from_compile_error(input, error)),
    };
    failure::report_diagnostics(&input.name, &input.bytes, &compiled.diagnostics);
    match compiled.output {
        CompileOutput::Module(_)
            if !args.param.is_empty()
                || args.binary
                || args.dump_spirv.is_some()
                || args.runs.is_some() =>
        {
            let text = "--param, --binary, --runs and --dump-spirv are for programs, the input is \
                        a module";
            Err(CommandFailure::Usage(text.to_owned()))
        }
        CompileOutput::Module(module) => match spirula::split_rare_types(*module) {
            Ok(module) => kernel::run_module_entry(args, input, &module, stages),
            Err(error) => Err(CommandFailure::from_compile_error(input, error)),
        },
        CompileOutput::Program(program) => {
            program::run_program_entry(args, &program, compiled.tensors.as_ref(), stages)
        }
    }
}

/// Shapes of the arguments that name no place, as far as they are known before compilation. Faults in arguments are
/// reported when they are prepared.
pub(super) fn known_shapes(given: &[ArgSpec]) -> Vec<Vec<u64>> {
    let sizes = |shape: &[usize]| shape.iter().map(|n| *n as u64).collect();
    let in_order = given.iter().take_while(|arg| arg.place.is_none());
    let known = in_order.map_while(|arg| match &arg.value {
        ValueSpec::Scalar(..) => Some(Vec::new()),
        ValueSpec::Array { shape, .. } => Some(sizes(shape)),
        // Its arrays are bound by their names.
        ValueSpec::File(path) if path.is_whole_file() => None,
        ValueSpec::File(path) => {
            let array = ArrayFiles::default().read_array(path).ok()?;
            Some(sizes(array.shape()))
        }
        ValueSpec::Local(_)
        | ValueSpec::Bytes(_)
        | ValueSpec::Image(_)
        | ValueSpec::Sampler(_)
        | ValueSpec::Pipe(_)
        | ValueSpec::Address(_) => None,
    });
    known.collect()
}

/// Random arguments for a program of tensors whose shapes are known.
pub(super) fn default_arguments(tensors: &TensorSignature) -> Result<Vec<ArgSpec>, CommandFailure> {
    let parameters = tensors.parameters.iter();
    let specs = parameters.map(|parameter| {
        let element = array_element(parameter.element)?;
        let pair = (parameter.element.component_count() == 2).then_some(Some(2));
        let sizes = parameter.shape.iter().copied().chain(pair);
        let sizes: String = sizes
            .map(|size| Some(format!("{}x", size?)))
            .collect::<Option<_>>()?;
        format!("{sizes}{}=random", element.name()).parse().ok()
    });
    let specs: Option<Vec<ArgSpec>> = specs.collect();
    specs.ok_or_else(|| {
        let text = "no arguments can be made for this program: give each with --arg";
        CommandFailure::Usage(text.to_owned())
    })
}

/// The device that programs are scheduled for.
fn first_device(args: &RunArgs) -> &str {
    args.devices.first().unwrap_or(&args.device)
}

/// Opens the requested device, or several that are compared.
fn open_requested_device(args: &RunArgs) -> Result<ComputeDevice, CommandFailure> {
    let options = DeviceOptions {
        threads: args.threads.map(usize::from),
        validation: args.validation.is_some(),
        gpu_checks: args.validation == Some(ValidationMode::Shaders),
        times: args.profile,
        cache: find_cache_folder(),
        timeout: args.timeout.map(Duration::from_secs),
        check: args.checking.device_options(),
    };
    if !args.compare {
        return ComputeDevice::open(&args.device, &options).map_err(to_command_failure);
    }
    if args.devices.len() < 2 {
        let text = "--compare takes two devices at least, as --devices cpu,vulkan";
        return Err(CommandFailure::Usage(text.to_owned()));
    }
    let devices = args
        .devices
        .iter()
        .map(|name| ComputeDevice::open(name, &options));
    let devices = devices
        .collect::<Result<_, _>>()
        .map_err(to_command_failure)?;
    let tolerance = FloatTolerance {
        absolute: args.atol,
        relative: args.rtol,
    };
    ComputeDevice::with_comparison(devices, tolerance).map_err(to_command_failure)
}

/// Reports the timings and warnings of a device after a run.
fn report_device_outcome(device: &mut ComputeDevice, stages: &mut StageTimings) {
    stages.add_device_timings(device);
    for warning in device.take_warnings() {
        failure::report_line("warning", &warning, None);
    }
}

/// Reports that compared devices had the same results.
fn tell_agreement(args: &RunArgs) {
    if args.compare {
        print_stderr_line!("{} agree", args.devices.join(", "));
    }
}

/// The failure of a run. Where devices differ, a reproducer is written.
fn to_run_failure(error: DeviceError, args: &RunArgs) -> CommandFailure {
    match error {
        DeviceError::Parted(parted) => compare::write_reproducer(&parted, args),
        DeviceError::Faults(reports) => match args.checking.write_report_file(&reports) {
            Ok(()) => to_command_failure(DeviceError::Faults(reports)),
            Err(failure) => failure,
        },
        error => to_command_failure(error),
    }
}

fn to_command_failure(error: DeviceError) -> CommandFailure {
    CommandFailure::from_message(error.to_string())
}

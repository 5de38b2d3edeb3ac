//! `spirula run`.

mod bind;
mod compare;
mod kernel;
mod made;
pub(super) mod program;
mod results;
mod size;
mod specialise;
mod stages;

use super::compile::options;
use crate::cli::args::{Run, Validation};
use crate::cli::say::say_line;
use crate::cli::{Failure, Outcome, cache, failure, files, schedule};
use crate::values::tensor::array_element;
use crate::values::{ArgSpec, ValueSpec};
use spirula::{CompileOptions, Known, Output, Tensors};
use spirula_runtime::data::read_npy;
use spirula_runtime::{Device, DeviceOptions, Error, Tolerance};
use stages::Stages;
use std::time::Duration;

/// Runs an entry point of a module or program and deals with what it computed.
pub fn run(args: &Run) -> Outcome {
    let mut stages = Stages::new();
    let input = stages.time("read file", || files::read(&args.from.path))?;
    let options = CompileOptions {
        known: Known {
            shapes: known_shapes(&args.arg),
            ..Known::default()
        },
        profile: schedule::profile(args.how.schedule.as_ref(), first_device(args)),
        tuning: args.how.tuning()?,
        ..options(&args.how, args.entry.as_deref())
    };
    let read = stages.time("read", || spirula::read(&input.bytes));
    let compiled = read.and_then(|read| stages.time("translate", || read.compile(&options)));
    let compiled = match compiled {
        Ok(compiled) => compiled,
        Err(error) => return Err(Failure::compile(input, error)),
    };
    failure::tell(&input.name, &input.bytes, &compiled.diagnostics);
    match compiled.output {
        Output::Module(_) if !args.param.is_empty() || args.binary || args.dump_spirv.is_some() => {
            let text = "--param, --binary and --dump-spirv are for programs, the input is a module";
            Err(Failure::Usage(text.to_owned()))
        }
        Output::Module(module) => match spirula::for_devices(*module) {
            Ok(module) => kernel::run(args, input, &module, stages),
            Err(error) => Err(Failure::compile(input, error)),
        },
        Output::Program(program) => program::run(args, &program, compiled.tensors.as_ref(), stages),
    }
}

/// Shapes of the arguments that are given in order, as far as they are known before anything is
/// compiled; faults in them are told when they are made.
pub(super) fn known_shapes(given: &[ArgSpec]) -> Vec<Vec<u64>> {
    let sizes = |shape: &[usize]| shape.iter().map(|n| *n as u64).collect();
    let in_order = given.iter().take_while(|arg| arg.place.is_none());
    let known = in_order.map_while(|arg| match &arg.value {
        ValueSpec::Scalar(..) => Some(Vec::new()),
        ValueSpec::Array { shape, .. } => Some(sizes(shape)),
        ValueSpec::File(path) => {
            let array = read_npy(&std::fs::read(path).ok()?).ok()?;
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
pub(super) fn default_arguments(tensors: &Tensors) -> Result<Vec<ArgSpec>, Failure> {
    let parameters = tensors.parameters.iter();
    let specs = parameters.map(|parameter| {
        let element = array_element(parameter.element)?;
        let pair = (parameter.element.parts() == 2).then_some(Some(2));
        let sizes = parameter.shape.iter().copied().chain(pair);
        let sizes: String = sizes
            .map(|size| Some(format!("{}x", size?)))
            .collect::<Option<_>>()?;
        format!("{sizes}{}=random", element.name()).parse().ok()
    });
    let specs: Option<Vec<ArgSpec>> = specs.collect();
    specs.ok_or_else(|| {
        let text = "no arguments can be made for this program: give each with --arg";
        Failure::Usage(text.to_owned())
    })
}

/// The device that programs are scheduled for.
fn first_device(args: &Run) -> &str {
    args.devices.first().unwrap_or(&args.device)
}

/// The device that is asked for, or several to be compared.
fn open(args: &Run) -> Result<Device, Failure> {
    let options = DeviceOptions {
        threads: args.threads.map(usize::from),
        validation: args.validation.is_some(),
        gpu_checks: args.validation == Some(Validation::Shaders),
        times: args.profile,
        cache: cache::folder(),
        timeout: args.timeout.map(Duration::from_secs),
        check: args.checking.options(),
    };
    if !args.compare {
        return Device::open(&args.device, &options).map_err(told);
    }
    if args.devices.len() < 2 {
        let text = "--compare takes two devices at least, as --devices cpu,vulkan";
        return Err(Failure::Usage(text.to_owned()));
    }
    let devices = args.devices.iter().map(|name| Device::open(name, &options));
    let devices = devices.collect::<Result<_, _>>().map_err(told)?;
    let tolerance = Tolerance {
        absolute: args.atol,
        relative: args.rtol,
    };
    Device::comparing(devices, tolerance).map_err(told)
}

/// What a device has to say after a run.
fn closing(device: &mut Device, stages: &mut Stages) {
    stages.device(device);
    for warning in device.take_warnings() {
        failure::tell_line("warning", &warning, None);
    }
}

/// Says that the devices of a run which has ended came to the same results, if they were compared.
fn tell_agreement(args: &Run) {
    if args.compare {
        say_line!("{} agree", args.devices.join(", "));
    }
}

/// A failure of a run, with a reproducer where devices came to different results.
fn ended(error: Error, args: &Run) -> Failure {
    match error {
        Error::Parted(parted) => compare::reproduce(&parted, args),
        Error::Faults(reports) => match args.checking.write(&reports) {
            Ok(()) => told(Error::Faults(reports)),
            Err(failure) => failure,
        },
        error => told(error),
    }
}

fn told(error: Error) -> Failure {
    Failure::message(error.to_string())
}

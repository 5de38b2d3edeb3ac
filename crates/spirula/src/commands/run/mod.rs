//! `spirula run`.

mod bind;
mod kernel;
mod made;
mod program;
mod results;
mod size;
mod specialise;
mod stages;

use super::compile::options;
use crate::cli::args::Run;
use crate::cli::{Failure, Outcome, failure, files, schedule};
use crate::values::{ArgSpec, ValueSpec};
use spirula::{CompileOptions, Output};
use spirula_runtime::data::read_npy;
use spirula_runtime::{Device, DeviceOptions, Error};
use stages::Stages;

/// Runs an entry point of a module or program and deals with what it computed.
pub fn run(args: &Run) -> Outcome {
    let mut stages = Stages::new();
    let input = stages.time("read file", || files::read(&args.from.path))?;
    let options = CompileOptions {
        shapes: shapes(&args.arg),
        profile: schedule::profile(args.how.schedule, &args.device),
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
        Output::Module(_) if !args.param.is_empty() || args.binary => Err(Failure::Usage(
            "--param and --binary are for programs, the input is a module".to_owned(),
        )),
        Output::Module(module) => kernel::run(args, input, &module, stages),
        Output::Program(program) => program::run(args, &program, compiled.tensors.as_ref(), stages),
    }
}

/// Shapes of the arguments that are given in order, as far as they are known before anything is
/// compiled; faults in them are told when they are made.
fn shapes(given: &[ArgSpec]) -> Vec<Vec<u64>> {
    let sizes = |shape: &[usize]| shape.iter().map(|n| *n as u64).collect();
    let in_order = given.iter().take_while(|arg| arg.place.is_none());
    let known = in_order.map_while(|arg| match &arg.value {
        ValueSpec::Scalar(..) => Some(Vec::new()),
        ValueSpec::Array { shape, .. } => Some(sizes(shape)),
        ValueSpec::File(path) => {
            let array = read_npy(&std::fs::read(path).ok()?).ok()?;
            Some(sizes(array.shape()))
        }
        ValueSpec::Local(_) | ValueSpec::Bytes(_) => None,
    });
    known.collect()
}

/// The device that is asked for.
fn open(args: &Run) -> Result<Device, Failure> {
    let options = DeviceOptions {
        threads: args.threads.map(usize::from),
        ..DeviceOptions::default()
    };
    Device::open(&args.device, &options).map_err(told)
}

fn told(error: Error) -> Failure {
    Failure::message(error.to_string())
}

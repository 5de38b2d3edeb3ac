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
use crate::cli::{Failure, Outcome, failure, files};
use spirula::Output;
use spirula_runtime::{Device, DeviceOptions, Error};
use stages::Stages;

/// Runs an entry point of a module or program and deals with what it computed.
pub fn run(args: &Run) -> Outcome {
    let mut stages = Stages::new();
    let input = stages.time("read file", || files::read(&args.from.path))?;
    let options = options(&args.how, args.entry.as_deref());
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

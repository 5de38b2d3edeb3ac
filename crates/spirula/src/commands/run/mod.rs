//! `spirula run`.

mod bind;
mod made;
mod results;
mod size;
mod specialise;
mod stages;

use super::compile::options;
use super::info::describe_entry;
use crate::cli::args::Run;
use crate::cli::files::{self, Input};
use crate::cli::progress::Progress;
use crate::cli::{Failure, Outcome, failure};
use bind::Slot;
use made::Made;
use spirula_runtime::types::TypeNames;
use spirula_runtime::{Argument, Bound, Buffer, Device, DeviceOptions, Error, Inputs, Launch};
use spirula_spirv::ir::Module;
use spirula_spirv::reflect::{Interface, entry_points};
use stages::Stages;

/// Copies of a buffer that there are at a time: before the run, on the device, and after it.
const COPIES: u64 = 3;

/// Runs a kernel and deals with what it computed.
pub fn run(args: &Run) -> Outcome {
    let mut stages = Stages::new();
    let input = stages.time("read file", || files::read(&args.from.path))?;
    let (input, module) = compile(args, input, &mut stages)?;
    let types = TypeNames::compute(&module);
    let entry = find_entry(&module, args.entry.as_deref())?;
    let interface = match Interface::of(&module, &entry) {
        Ok(interface) => interface,
        Err(error) => return Err(Failure::diagnostics(input, vec![error])),
    };
    let size = size::of(args, &interface)?;
    let spec = specialise::values(&args.spec, &module, &types)?;
    let wanted = results::Wanted::parse(args)?;

    let threads = args.threads.map(usize::from);
    let options = DeviceOptions {
        threads,
        ..DeviceOptions::default()
    };
    let mut device = Device::open(&args.device, &options).map_err(told)?;
    let slots = bind::slots(&interface, &args.arg).map_err(|text| {
        let takes = describe_entry(&interface, &types);
        Failure::hinted(
            text,
            format!("{takes}  (see run --help for how arguments are written)"),
        )
    })?;
    let mut limit = device.info().limits.buffer_size / COPIES;
    let values = stages.time("make arguments", || {
        let mut make = |slot: &Slot| {
            let value = made::make(slot, &interface, &types, args.seed, limit)?;
            limit = limit.saturating_sub(value.size());
            Ok(value)
        };
        slots
            .iter()
            .map(&mut make)
            .collect::<Result<Vec<_>, Failure>>()
    })?;
    let push = made::push_constants(&args.push, args.seed, limit)?;

    let progress = Progress::spinner("running");
    let kernel = match device.create_kernel(&module, &interface.name, &spec) {
        Ok(kernel) => kernel,
        Err(Error::Module(fault)) => return Err(Failure::diagnostics(input, vec![*fault])),
        Err(Error::Unsupported(faults)) => return Err(Failure::diagnostics(input, faults)),
        Err(error) => return Err(told(error)),
    };
    let buffers = upload(&mut device, &values)?;
    let inputs = inputs(&slots, &values, &buffers, push);
    let launch = Launch {
        kernel,
        size,
        inputs,
    };
    device
        .launch(&launch)
        .and_then(|()| device.wait())
        .map_err(told)?;
    let results = results::collect(&mut device, &slots, values, &buffers)?;
    drop(progress);
    stages.device(device.profile());
    let outcome = results::tell(&results, &wanted, args, &mut stages);
    if args.profile {
        eprint!("{stages}");
    }
    outcome
}

fn compile(args: &Run, input: Input, stages: &mut Stages) -> Result<(Input, Module), Failure> {
    let read = stages.time("read", || spirula::read(&input.bytes));
    let compiled = read
        .and_then(|program| stages.time("translate", || program.into_spirv(&options(&args.how))));
    match compiled {
        Ok(compiled) => {
            failure::tell(&input.name, &input.bytes, &compiled.diagnostics);
            Ok((input, compiled.module))
        }
        Err(error) => Err(Failure::compile(input, error)),
    }
}

fn told(error: Error) -> Failure {
    Failure::message(error.to_string())
}

/// The entry point that is asked for, or the only one.
fn find_entry(module: &Module, asked: Option<&str>) -> Result<String, Failure> {
    let mut names: Vec<String> = entry_points(module)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    if let Some(name) = asked {
        return Ok(name.to_owned());
    }
    match names.len() {
        0 => Err(Failure::message("the module has no entry point")),
        1 => Ok(names.remove(0)),
        _ => Err(Failure::hinted(
            format!(
                "the module has {} entry points: say which with --entry",
                names.len()
            ),
            format!("it has: {}", names.join(", ")),
        )),
    }
}

/// Brings arrays onto the device; one entry for each value.
fn upload(device: &mut Device, values: &[Made]) -> Result<Vec<Option<Buffer>>, Failure> {
    let one = |value: &Made| match value {
        Made::Buffer(array) => device.upload(array.bytes()).map(Some).map_err(told),
        _ => Ok(None),
    };
    values.iter().map(one).collect()
}

fn inputs(slots: &[Slot], values: &[Made], buffers: &[Option<Buffer>], push: Vec<u8>) -> Inputs {
    let is_shader = slots.iter().any(|s| s.binding.is_some());
    let all = slots.iter().zip(values).zip(buffers);
    if is_shader || slots.is_empty() {
        let bound = |((slot, _), buffer): ((&Slot, _), &Option<Buffer>)| {
            let (set, binding, index) = slot.binding?;
            Some(Bound {
                set,
                binding,
                index,
                buffer: (*buffer)?,
            })
        };
        return Inputs::Resources {
            bindings: all.filter_map(bound).collect(),
            push,
        };
    }
    let argument = |((_, value), buffer): ((_, &Made), &Option<Buffer>)| match (value, buffer) {
        (_, Some(buffer)) => Argument::Buffer(*buffer),
        (Made::Local(bytes), _) => Argument::Local(*bytes),
        (Made::Bytes(bytes), _) => Argument::Bytes(bytes.clone()),
        (Made::Buffer(array), _) => Argument::Bytes(array.bytes().to_vec()),
    };
    Inputs::Arguments(all.map(argument).collect())
}

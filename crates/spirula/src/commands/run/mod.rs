//! `spirula run`.

mod bind;
mod made;
mod results;
mod stages;

use super::compile::options;
use super::info::describe_entry;
use crate::cli::args::Run;
use crate::cli::files::{self, Input};
use crate::cli::progress::Progress;
use crate::cli::sizes::Sizes;
use crate::cli::{Failure, Outcome, failure};
use bind::Slot;
use made::Made;
use spirula_runtime::types::TypeNames;
use spirula_runtime::{
    Argument, Bound, Buffer, Device, DeviceOptions, Error, Inputs, Launch, Size,
};
use spirula_spirv::analysis::{Decorations, Definitions};
use spirula_spirv::grammar::enumerants::ExecutionModel;
use spirula_spirv::ir::Module;
use spirula_spirv::reflect::{Interface, entry_points, spec_constants};
use stages::Stages;

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
    let size = launch_size(args, &interface)?;
    let spec = specialisation(&args.spec, &module, &types)?;
    let wanted = results::Wanted::parse(args)?;

    let threads = args.threads.map(usize::from);
    let mut device = Device::open(&args.device, &DeviceOptions { threads }).map_err(told)?;
    let slots = bind::slots(&interface, &args.arg).map_err(|text| {
        let takes = describe_entry(&interface, &types);
        Failure::hinted(
            text,
            format!("{takes}  (see run --help for how arguments are written)"),
        )
    })?;
    let limit = device.info().limits.buffer_size;
    let values = stages.time("make arguments", || {
        let make = |slot: &Slot| made::make(slot, &interface, &types, args.seed, limit);
        slots.iter().map(make).collect::<Result<Vec<_>, Failure>>()
    })?;
    let push = made::push_constants(&args.push, args.seed, limit)?;

    let progress = Progress::spinner("running");
    let kernel = match device.create_kernel(&module, &interface.name, &spec) {
        Ok(kernel) => kernel,
        Err(Error::Module(d) | Error::Unsupported(d)) => {
            return Err(Failure::diagnostics(input, vec![*d]));
        }
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

fn launch_size(args: &Run, interface: &Interface) -> Result<Size, Failure> {
    let narrow = |sizes: [u64; 3], what: &str| -> Result<[u32; 3], Failure> {
        let mut out = [0; 3];
        for (to, from) in out.iter_mut().zip(sizes) {
            *to = u32::try_from(from)
                .map_err(|_| Failure::message(format!("a {what} of {from} is too large")))?;
        }
        Ok(out)
    };
    let local = args
        .local
        .as_ref()
        .map(|l| narrow(l.three(1), "workgroup size"));
    let local = local.transpose()?;
    let given = [&args.local, &args.offset].into_iter().flatten();
    let most = given.map(Sizes::dimensions).max().unwrap_or(1);
    let dimensions = |of: &Sizes| of.dimensions().max(most);
    let is_shader = interface.model == ExecutionModel::GLCompute;
    let own = interface.workgroup_size;
    if is_shader {
        if args.offset.is_some() {
            return Err(Failure::message(
                "a shader takes no --offset: its ids begin at 0",
            ));
        }
        if let Some(local) = local.filter(|l| *l != own.unwrap_or([1; 3])) {
            let own = own.unwrap_or([1; 3]);
            return Err(Failure::message(format!(
                "the shader's workgroups are {own:?}, not {local:?}"
            )));
        }
    }
    match (&args.global, &args.groups) {
        (None, None) => Err(Failure::Usage(
            "give --global X[,Y[,Z]] or --groups X[,Y[,Z]]".to_owned(),
        )),
        (Some(global), _) if is_shader => {
            let mut groups = global.three(1);
            for (n, l) in groups.iter_mut().zip(own.unwrap_or([1; 3])) {
                let l = u64::from(l.max(1));
                if *n % l != 0 {
                    return Err(Failure::message(format!(
                        "the global size {n} is no multiple of the workgroup's {l}"
                    )));
                }
                *n /= l;
            }
            Ok(Size::Groups(narrow(groups, "number of workgroups")?))
        }
        (None, Some(groups)) if is_shader => Ok(Size::Groups(narrow(
            groups.three(1),
            "number of workgroups",
        )?)),
        (Some(global), _) => Ok(Size::Items {
            dimensions: dimensions(global),
            global: global.three(1),
            local,
            offset: args.offset.as_ref().map_or([0; 3], |o| o.three(0)),
        }),
        (None, Some(groups)) => {
            let Some(size) = local.or(own) else {
                return Err(Failure::Usage(
                    "with --groups, a kernel needs --local X[,Y[,Z]] too".to_owned(),
                ));
            };
            let mut global = groups.three(1);
            for (n, l) in global.iter_mut().zip(size) {
                *n = n
                    .checked_mul(l.into())
                    .ok_or_else(|| Failure::message("the global size is beyond 64 bits"))?;
            }
            Ok(Size::Items {
                dimensions: dimensions(groups),
                global,
                local: Some(size),
                offset: args.offset.as_ref().map_or([0; 3], |o| o.three(0)),
            })
        }
    }
}

/// `ID=VALUE` as bits, by the types of the constants.
fn specialisation(
    given: &[String],
    module: &Module,
    types: &TypeNames<'_>,
) -> Result<Vec<(u32, u64)>, Failure> {
    let definitions = Definitions::compute(module);
    let constants = spec_constants(module, &definitions, &Decorations::compute(module));
    let parse = |text: &String| {
        let (id, value) = text
            .split_once('=')
            .and_then(|(id, value)| Some((id.trim().parse::<u32>().ok()?, value.trim())))
            .ok_or_else(|| {
                Failure::Usage(format!(
                    "{text:?} is no ID=VALUE of a specialisation constant"
                ))
            })?;
        let constant = constants.iter().find(|c| c.spec_id == id);
        let element = constant.and_then(|c| types.value(c.ty)).map(|v| v.element);
        let Some(element) = element else {
            let ids: Vec<_> = constants.iter().map(|c| c.spec_id.to_string()).collect();
            let text = format!("the module has no specialisation constant {id}");
            return Err(Failure::hinted(text, format!("it has: {}", ids.join(" "))));
        };
        let number = element.parse(value);
        let number =
            number.map_err(|e| Failure::message(format!("specialisation constant {id}: {e}")))?;
        let mut bytes = Vec::new();
        element.encode(number, &mut bytes);
        bytes.resize(8, 0);
        let bits = bytes.first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
        Ok((id, bits))
    };
    given.iter().map(parse).collect()
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

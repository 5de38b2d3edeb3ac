//! Launching one entry point of a module.

use super::bind::{self, BoundParameter};
use super::prepare::{self, PreparedValue, PushConstantData};
use super::stages::StageTimings;
use super::{results, size, specialise, to_command_failure};
use crate::cli::args::RunArgs;
use crate::cli::failure::{report_diagnostics, tell_line};
use crate::cli::files::InputFile;
use crate::cli::progress::ProgressIndicator;
use crate::cli::stderr::print_stderr;
use crate::cli::{CommandFailure, CommandResult};
use crate::commands::info::describe_entry;
use spirula_runtime::types::TypeNames;
use spirula_runtime::{
    ComputeDevice, DeviceBuffer, DeviceError, KernelArgument, KernelLaunch, LaunchBinding,
    LaunchInputs,
};
use spirula_spirv::grammar::enumerants::ExecutionMode;
use spirula_spirv::ir::ModuleSection;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::{EntryInterface, entry_points};
use std::io::Write;

/// Copies of a buffer that there are at a time: before the run, on the device, and after it.
const COPIES: u64 = 3;

/// Runs an entry point and deals with what it computed.
pub fn run_module_entry(
    args: &RunArgs,
    input: InputFile,
    module: &SpirvModule,
    mut stages: StageTimings,
) -> CommandResult {
    let types = TypeNames::from_module(module);
    let entry = find_entry(module, args.entry.as_deref())?;
    let interface = match EntryInterface::from_module(module, &entry) {
        Ok(interface) => interface,
        Err(error) => return Err(CommandFailure::from_diagnostics(input, vec![error])),
    };
    let size = size::parse_index_space(args, &interface)?;
    let spec = specialise::parse_specialisations(&args.spec, module, &types)?;
    let wanted = results::RequestedResults::parse_requests(args)?;

    let mut device = super::open_requested_device(args)?;
    if !device.info().id.starts_with("cpu") {
        let warning: Vec<_> = spirula::warn_of_initialisers(module).into_iter().collect();
        report_diagnostics(&input.name, &input.bytes, &warning);
    }
    let free = free_slots(&interface, args);
    let mut slots = bind::bind_arguments(&interface.name, free, &args.arg).map_err(|text| {
        let takes = describe_entry(&interface, &types);
        CommandFailure::with_hint(
            text,
            format!("{takes}  (see run --help for how arguments are written)"),
        )
    })?;
    let mut limit = device.info().limits.buffer_size / COPIES;
    let mut values = stages.time_stage("make arguments", || {
        let mut make = |slot: &BoundParameter| {
            let value = prepare::prepare_value(slot, &interface, &types, args.seed, limit)?;
            limit = limit.saturating_sub(value.byte_size());
            Ok(value)
        };
        slots
            .iter()
            .map(&mut make)
            .collect::<Result<Vec<_>, CommandFailure>>()
    })?;
    let pushed = push_constants(&interface, args, limit)?;
    let (mut push, given) = (pushed.bytes, slots.len());
    let mut places = Vec::new();
    for (at, number, array) in pushed.buffers {
        places.push(at);
        slots.push(BoundParameter::from_push_constant(
            number,
            args.push[number].clone(),
        ));
        values.push(PreparedValue::Address(array));
    }

    let progress = ProgressIndicator::new_spinner("running");
    let kernel = match device.create_kernel(module, &interface.name, &spec) {
        Ok(kernel) => kernel,
        Err(DeviceError::Module(fault)) => {
            return Err(CommandFailure::from_diagnostics(input, vec![*fault]));
        }
        Err(DeviceError::Unsupported(faults)) => {
            return Err(CommandFailure::from_diagnostics(input, faults));
        }
        Err(error) => return Err(to_command_failure(error)),
    };
    let buffers = upload_buffers(&mut device, &values)?;
    let addresses = query_buffer_addresses(&mut device, &values, &buffers)?;
    for (at, address) in places.iter().zip(&addresses[given..]) {
        push[*at..at + 8].copy_from_slice(&address.unwrap_or(0).to_le_bytes());
    }
    let inputs = if interface.takes_arguments() {
        build_kernel_inputs(&values[..given], &buffers, &addresses)
    } else {
        build_shader_inputs(&slots, &buffers, push)
    };
    let launch = KernelLaunch {
        kernel,
        size,
        inputs,
    };
    let ended = device
        .launch_kernel(&launch)
        .and_then(|()| device.wait_idle());
    let printed = device.take_printed();
    std::io::stdout().write_all(&printed)?;
    if printed.last().is_some_and(|last| *last != b'\n') {
        // What follows is no part of what was printed last.
        std::io::stdout().write_all(b"\n")?;
    }
    ended.map_err(|e| super::to_run_failure(e, args))?;
    super::tell_agreement(args);
    args.checking.write_report_file(&[])?;
    let results = results::collect_outputs(&mut device, &slots, values, &buffers)?;
    drop(progress);
    super::report_device_outcome(&mut device, &mut stages);
    results::show_changed_outputs(&results, args)?;
    let outcome = results::process_outputs(&results, &wanted, args, &mut stages);
    if args.profile {
        print_stderr!("{stages}");
    }
    outcome
}

/// What arguments are for, with a note of each descriptor that the shader does not have.
fn free_slots(interface: &EntryInterface, args: &RunArgs) -> Vec<bind::UnboundParameter> {
    let unused = bind::find_unused_descriptors(interface, &args.arg);
    for free in &unused {
        let (name, place) = (&interface.name, free.format_descriptor());
        let text = format!("{name} has no {place}: what is given is not bound");
        tell_line("note", &text, None);
    }
    bind::in_order(bind::module_parameters(interface, &args.arg), unused)
}

/// The push constants. A shader that has none goes without, which a note says.
fn push_constants(
    interface: &EntryInterface,
    args: &RunArgs,
    limit: u64,
) -> Result<PushConstantData, CommandFailure> {
    let pushed = prepare::push_constants(&args.push, args.seed, limit)?;
    let takes_some = interface.push_constant_bytes > 0 || interface.takes_arguments();
    if takes_some || pushed.bytes.is_empty() {
        return Ok(pushed);
    }
    let name = &interface.name;
    let text = format!("{name} has no push constants: their bytes are left out");
    tell_line("note", &text, None);
    Ok(PushConstantData::default())
}

/// Whether an entry point runs before or after all others.
fn is_initialiser_or_finaliser(module: &SpirvModule, name: &str) -> bool {
    let mut points = module.section_insts(ModuleSection::EntryPoints);
    let entry = points
        .find(|point| point.string_operand(2) == name)
        .map(|point| point.id_operand(1));
    let mut modes = module.section_insts(ModuleSection::ExecutionModes);
    modes.any(|mode| {
        let which = ExecutionMode(mode.operand_word(1));
        let around = matches!(which, ExecutionMode::Initializer | ExecutionMode::Finalizer);
        around && Some(mode.id_operand(0)) == entry
    })
}

/// The entry point that is asked for, or the only one.
fn find_entry(module: &SpirvModule, asked: Option<&str>) -> Result<String, CommandFailure> {
    if let Some(name) = asked {
        return Ok(name.to_owned());
    }
    let names = entry_points(module).into_iter().map(|(name, _)| name);
    let mut names: Vec<String> = names
        .filter(|name| !is_initialiser_or_finaliser(module, name))
        .collect();
    match names.len() {
        0 => Err(CommandFailure::from_message(
            "the module has no entry point",
        )),
        1 => Ok(names.remove(0)),
        _ => Err(CommandFailure::with_hint(
            format!(
                "the module has {} entry points: say which with --entry",
                names.len()
            ),
            format!("it has: {}", names.join(", ")),
        )),
    }
}

/// Brings arrays onto the device; one entry for each value.
fn upload_buffers(
    device: &mut ComputeDevice,
    values: &[PreparedValue],
) -> Result<Vec<Option<DeviceBuffer>>, CommandFailure> {
    let one = |value: &PreparedValue| match value {
        PreparedValue::Buffer(array) | PreparedValue::Address(array) => device
            .upload_data(array.bytes())
            .map(Some)
            .map_err(to_command_failure),
        PreparedValue::Image(shape, sampler, texels) => {
            let image = device
                .create_image(shape, sampler)
                .map_err(to_command_failure)?;
            device
                .write_buffer(image, 0, texels.bytes())
                .map_err(to_command_failure)?;
            Ok(Some(image))
        }
        PreparedValue::Sampler(sampler) => device
            .create_sampler(sampler)
            .map(Some)
            .map_err(to_command_failure),
        PreparedValue::Pipe(shape) => device
            .create_pipe(*shape)
            .map(Some)
            .map_err(to_command_failure),
        _ => Ok(None),
    };
    values.iter().map(one).collect()
}

/// The addresses of buffers that are passed by them.
fn query_buffer_addresses(
    device: &mut ComputeDevice,
    values: &[PreparedValue],
    buffers: &[Option<DeviceBuffer>],
) -> Result<Vec<Option<u64>>, CommandFailure> {
    let one = |(value, buffer): (&PreparedValue, &Option<DeviceBuffer>)| match (value, buffer) {
        (PreparedValue::Address(_), Some(buffer)) => device
            .buffer_address(*buffer)
            .map(Some)
            .map_err(to_command_failure),
        _ => Ok(None),
    };
    values.iter().zip(buffers).map(one).collect()
}

/// What a shader is given.
fn build_shader_inputs(
    slots: &[BoundParameter],
    buffers: &[Option<DeviceBuffer>],
    push: Vec<u8>,
) -> LaunchInputs {
    let bound = |(slot, buffer): (&BoundParameter, &Option<DeviceBuffer>)| {
        let (set, binding, index) = slot.label.binding.filter(|_| slot.is_used)?;
        Some(LaunchBinding {
            set,
            binding,
            index,
            buffer: (*buffer)?,
            region: None,
        })
    };
    LaunchInputs::Resources {
        bindings: slots.iter().zip(buffers).filter_map(bound).collect(),
        push,
    }
}

/// What a kernel is given.
fn build_kernel_inputs(
    values: &[PreparedValue],
    buffers: &[Option<DeviceBuffer>],
    addresses: &[Option<u64>],
) -> LaunchInputs {
    let argument = |((value, buffer), address): (
        (&PreparedValue, &Option<DeviceBuffer>),
        &Option<u64>,
    )| match (value, buffer) {
        (PreparedValue::Address(_), _) => {
            KernelArgument::Bytes(address.unwrap_or(0).to_le_bytes().to_vec())
        }
        (_, Some(buffer)) => KernelArgument::Buffer(*buffer),
        (PreparedValue::Local(bytes), _) => KernelArgument::Local(*bytes),
        (PreparedValue::Bytes(bytes), _) => KernelArgument::Bytes(bytes.clone()),
        (PreparedValue::Buffer(array) | PreparedValue::Image(_, _, array), _) => {
            KernelArgument::Bytes(array.bytes().to_vec())
        }
        (PreparedValue::Sampler(_) | PreparedValue::Pipe(_), _) => {
            KernelArgument::Bytes(Vec::new())
        }
    };
    let all = values.iter().zip(buffers).zip(addresses);
    LaunchInputs::Arguments(all.map(argument).collect())
}

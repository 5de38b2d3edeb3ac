//! Launch of an entry point of a module.

use super::bind::{self, BoundParameter};
use super::prepare::{self, PreparedValue, PushConstantData};
use super::stages::StageTimings;
use super::{results, size, specialise, to_command_failure};
use crate::cli::args::RunArgs;
use crate::cli::failure::{report_diagnostics, report_line};
use crate::cli::input_file::InputFile;
use crate::cli::progress::ProgressIndicator;
use crate::cli::stderr::print_stderr;
use crate::cli::{CommandFailure, CommandResult};
use crate::commands::info::describe_entry;
use spirula_runtime::type_names::TypeNames;
use spirula_runtime::{
    ComputeDevice, DeviceError, KernelArgument, KernelLaunch, LaunchBinding, LaunchInputs,
    ResourceHandle,
};
use spirula_spirv::grammar::enumerants::ExecutionMode;
use spirula_spirv::ir::ModuleSection;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::{EntryInterface, entry_points};
use std::io::Write;

/// Copies of a buffer at a time: before the run, on the device, and after the run.
const COPIES: u64 = 3;

/// Runs an entry point and processes its results.
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
    let limit = device.info().limits.buffer_size / COPIES;
    let arguments = prepare_arguments(args, &interface, &types, limit, &mut stages)?;

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
    let buffers = upload_buffers(&mut device, &arguments.values)?;
    let inputs = arguments.build_inputs(&interface, &mut device, &buffers)?;
    let launch = KernelLaunch {
        kernel,
        size,
        inputs,
    };
    launch_and_print(&mut device, &launch, args)?;
    super::tell_agreement(args);
    args.checking.write_report_file(&[])?;
    let ModuleArguments { slots, values, .. } = arguments;
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

/// Arguments of a launch, ready for the device.
struct ModuleArguments {
    /// Parameters and descriptors, and after them the buffers whose addresses are push constants.
    slots: Vec<BoundParameter>,
    /// The value of each slot.
    values: Vec<PreparedValue>,
    /// Number of parameters and descriptors among the slots.
    parameters: usize,
    /// Push constants, with zeros for addresses.
    push: Vec<u8>,
    /// Offsets of addresses in the push constants.
    address_offsets: Vec<usize>,
}

/// Binds and prepares the arguments of an entry point. `limit` is the most bytes of all arrays.
fn prepare_arguments(
    args: &RunArgs,
    interface: &EntryInterface,
    types: &TypeNames<'_>,
    mut limit: u64,
    stages: &mut StageTimings,
) -> Result<ModuleArguments, CommandFailure> {
    let free = free_slots(interface, args);
    let mut slots = bind::bind_arguments(&interface.name, free, &args.arg).map_err(|text| {
        let takes = describe_entry(interface, types);
        let hint = format!("{takes}  (see run --help for the syntax of arguments)");
        CommandFailure::with_hint(text, hint)
    })?;
    let mut values = Vec::new();
    stages.time_stage("make arguments", || {
        for slot in &slots {
            let value = prepare::prepare_value(slot, interface, types, args.seed, limit)?;
            limit = limit.saturating_sub(value.byte_size());
            values.push(value);
        }
        Ok::<(), CommandFailure>(())
    })?;
    let pushed = push_constants(interface, args, limit)?;
    let parameters = slots.len();
    let mut address_offsets = Vec::new();
    for buffer in pushed.buffers {
        address_offsets.push(buffer.offset);
        let value = args.push[buffer.number].clone();
        slots.push(BoundParameter::from_push_constant(buffer.number, value));
        values.push(PreparedValue::Address(buffer.contents));
    }
    Ok(ModuleArguments {
        slots,
        values,
        parameters,
        push: pushed.bytes,
        address_offsets,
    })
}

impl ModuleArguments {
    /// The inputs of a launch. Each value has its buffer, if it has one.
    fn build_inputs(
        &self,
        interface: &EntryInterface,
        device: &mut ComputeDevice,
        buffers: &[Option<ResourceHandle>],
    ) -> Result<LaunchInputs, CommandFailure> {
        let addresses = query_buffer_addresses(device, &self.values, buffers)?;
        if interface.takes_arguments() {
            let values = &self.values[..self.parameters];
            return Ok(build_kernel_inputs(values, buffers, &addresses));
        }
        let mut push = self.push.clone();
        for (offset, address) in self
            .address_offsets
            .iter()
            .zip(&addresses[self.parameters..])
        {
            push[*offset..*offset + 8].copy_from_slice(&address.unwrap_or(0).to_le_bytes());
        }
        Ok(build_shader_inputs(&self.slots, buffers, push))
    }
}

/// Launches a kernel, waits for its end, and prints its output.
fn launch_and_print(
    device: &mut ComputeDevice,
    launch: &KernelLaunch,
    args: &RunArgs,
) -> CommandResult {
    let ended = device
        .launch_kernel(launch)
        .and_then(|()| device.wait_idle());
    let printed = device.take_printed();
    std::io::stdout().write_all(&printed)?;
    if printed.last().is_some_and(|last| *last != b'\n') {
        // The next output begins on a line of its own.
        std::io::stdout().write_all(b"\n")?;
    }
    ended.map_err(|e| super::to_run_failure(e, args))
}

/// The parameters of an entry point. A note names each descriptor that the shader lacks.
fn free_slots(interface: &EntryInterface, args: &RunArgs) -> Vec<bind::UnboundParameter> {
    let unused = bind::find_unused_descriptors(interface, &args.arg);
    for free in &unused {
        let (name, place) = (&interface.name, free.format_descriptor());
        let text = format!("{name} has no {place}: what is given is not bound");
        report_line("note", &text, None);
    }
    bind::in_order(bind::module_parameters(interface, &args.arg), unused)
}

/// Prepares the push constants. For a shader without push constants they are left out, with a note.
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
    report_line("note", &text, None);
    Ok(PushConstantData::default())
}

/// Whether an entry point is a constructor or a destructor.
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

/// The requested entry point, or the only one.
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
                "the module has {} entry points: choose one with --entry",
                names.len()
            ),
            format!("it has: {}", names.join(", ")),
        )),
    }
}

/// Uploads arrays and creates images, samplers and pipes: one entry for each value.
fn upload_buffers(
    device: &mut ComputeDevice,
    values: &[PreparedValue],
) -> Result<Vec<Option<ResourceHandle>>, CommandFailure> {
    let one = |value: &PreparedValue| match value {
        PreparedValue::Buffer(array) | PreparedValue::Address(array) => device
            .upload_data(array.bytes())
            .map(|buffer| Some(buffer.into()))
            .map_err(to_command_failure),
        PreparedValue::Image(shape, sampler, texels) => {
            let image = device
                .create_image(shape, sampler)
                .map_err(to_command_failure)?;
            device
                .write_image(image, 0, texels.bytes())
                .map_err(to_command_failure)?;
            Ok(Some(image.into()))
        }
        PreparedValue::Sampler(sampler) => device
            .create_sampler(sampler)
            .map(|sampler| Some(sampler.into()))
            .map_err(to_command_failure),
        PreparedValue::Pipe(shape) => device
            .create_pipe(*shape)
            .map(|pipe| Some(pipe.into()))
            .map_err(to_command_failure),
        _ => Ok(None),
    };
    values.iter().map(one).collect()
}

/// The addresses of buffers that are passed by address.
fn query_buffer_addresses(
    device: &mut ComputeDevice,
    values: &[PreparedValue],
    buffers: &[Option<ResourceHandle>],
) -> Result<Vec<Option<u64>>, CommandFailure> {
    let mut addresses = Vec::new();
    for (value, buffer) in values.iter().zip(buffers) {
        addresses.push(match (value, buffer) {
            (PreparedValue::Address(_), Some(ResourceHandle::Buffer(buffer))) => {
                Some(device.buffer_address(*buffer).map_err(to_command_failure)?)
            }
            _ => None,
        });
    }
    Ok(addresses)
}

/// The inputs of a shader.
fn build_shader_inputs(
    slots: &[BoundParameter],
    buffers: &[Option<ResourceHandle>],
    push: Vec<u8>,
) -> LaunchInputs {
    let mut bindings = Vec::new();
    for (slot, buffer) in slots.iter().zip(buffers) {
        let place = slot.label.binding.filter(|_| slot.is_used);
        if let (Some((set, binding, index)), Some(buffer)) = (place, *buffer) {
            bindings.push(LaunchBinding {
                set,
                binding,
                index,
                resource: buffer,
                region: None,
            });
        }
    }
    LaunchInputs::Resources { bindings, push }
}

/// The inputs of a kernel.
fn build_kernel_inputs(
    values: &[PreparedValue],
    buffers: &[Option<ResourceHandle>],
    addresses: &[Option<u64>],
) -> LaunchInputs {
    let mut arguments = Vec::new();
    for ((value, buffer), address) in values.iter().zip(buffers).zip(addresses) {
        arguments.push(match (value, buffer) {
            (PreparedValue::Address(_), _) => {
                KernelArgument::Bytes(address.unwrap_or(0).to_le_bytes().to_vec())
            }
            (_, Some(buffer)) => KernelArgument::from(*buffer),
            (PreparedValue::Local(bytes), _) => KernelArgument::Local(*bytes),
            (PreparedValue::Bytes(bytes), _) => KernelArgument::Bytes(bytes.clone()),
            (PreparedValue::Buffer(array) | PreparedValue::Image(_, _, array), _) => {
                KernelArgument::Bytes(array.bytes().to_vec())
            }
            (PreparedValue::Sampler(_) | PreparedValue::Pipe(_), _) => {
                KernelArgument::Bytes(Vec::new())
            }
        });
    }
    LaunchInputs::Arguments(arguments)
}

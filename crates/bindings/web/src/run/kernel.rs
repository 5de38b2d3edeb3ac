//! Runs of modules: a launch of one entry point.

use super::run_array::RunArray;
use super::script::{PushedValue, RunScript, RunScriptArgument, RunScriptFault, RunScriptValue};
use super::{WrittenArray, refuse_script};
use crate::found_problem::FoundProblem;
use crate::module_report::locate_faults;
use crate::pass_record::print_module;
use crate::request::RequestFailure;
use spirula_diagnostics::SourceDiagnostic;
use spirula_interpreter::{
    InterpretedArgument, InterpretedLaunch, KernelExecutor, ResourceSlot, find_buffer_address,
};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::{EntryInterface, InterfaceBinding, ParamKind, entry_points};

/// The size of workgroups where neither the module nor the script has one.
const USUAL_SIZE: [u32; 3] = [64, 1, 1];

/// The buffers and arguments of a launch.
#[derive(Default)]
pub(super) struct GatheredInputs<'s> {
    pub(super) arguments: Vec<InterpretedArgument>,
    pub(super) resources: Vec<ResourceSlot>,
    pub(super) buffers: Vec<Vec<u8>>,
    /// The line of each buffer.
    pub(super) lines: Vec<(&'s RunScriptArgument, &'s RunArray)>,
}

/// Runs an entry point of a module by an executor as a script says. Returns the buffers that changed, or all if none did.
///
/// # Errors
/// When the script does not fit the entry point, or the launch fails.
pub(super) fn run_module(
    module: &SpirvModule,
    script: &RunScript,
    mut executor: KernelExecutor,
) -> Result<Vec<WrittenArray>, RequestFailure> {
    let entries = entry_points(module);
    let entry = match (&script.entry, entries.first()) {
        (Some(name), _) => name.clone(),
        (None, Some((name, _))) => name.clone(),
        (None, None) => {
            return Err(RequestFailure::from_message(
                "the module has no entry point",
            ));
        }
    };
    let refuse = |fault: SourceDiagnostic| refuse_launch(module, &fault);
    let interface = EntryInterface::from_module(module, &entry).map_err(refuse)?;
    let kernel = executor.prepare_kernel(module, &entry, &[]);
    let kernel = kernel.map_err(refuse)?;
    let mut inputs = gather_inputs(&interface, script).map_err(refuse_script)?;
    let push = gather_push_constants(script, &inputs).map_err(refuse_script)?;
    let launch = InterpretedLaunch {
        groups: script.groups.unwrap_or([1; 3]),
        workgroup: script.size.unwrap_or(USUAL_SIZE),
        arguments: &inputs.arguments,
        resources: &inputs.resources,
        push: &push,
        ..InterpretedLaunch::default()
    };
    executor
        .run_launch(&kernel, &launch, &mut inputs.buffers)
        .map_err(refuse)?;
    let is_changed = |number: usize| inputs.buffers[number] != inputs.lines[number].1.bytes;
    let has_changes = (0..inputs.buffers.len()).any(is_changed);
    let shown = (0..inputs.buffers.len()).filter(|number| !has_changes || is_changed(*number));
    let results = shown.map(|number| {
        let (line, value) = inputs.lines[number];
        WrittenArray {
            name: line.name.clone(),
            buffer: Some(number),
            value: value.with_bytes(inputs.buffers[number].clone()),
        }
    });
    Ok(results.collect())
}

/// The failure of a launch, at a line of the assembly.
fn refuse_launch(module: &SpirvModule, fault: &SourceDiagnostic) -> RequestFailure {
    let words = module.to_words();
    // Places are those of the module as it was read.
    let text = print_module(module);
    let problems: Vec<FoundProblem> = locate_faults(std::slice::from_ref(fault), &words, &text);
    RequestFailure::from_problems(fault.message.clone(), problems)
}

/// The inputs of an entry point, of the lines of a script.
///
/// # Errors
/// When a line is missing, or does not fit.
pub(super) fn gather_inputs<'s>(
    interface: &EntryInterface,
    script: &'s RunScript,
) -> Result<GatheredInputs<'s>, RunScriptFault> {
    let mut inputs = GatheredInputs::default();
    let mut known = Vec::new();
    if interface.takes_arguments() {
        for (number, param) in interface.params.iter().enumerate() {
            let numbered = number.to_string();
            let names = [param.name.as_deref().unwrap_or(&numbered), &numbered];
            known.extend(names.map(str::to_owned));
            inputs.push_argument(param.kind, script.find_argument(&names)?)?;
        }
    } else {
        for binding in &interface.bindings {
            for index in 0..binding.count {
                let names = name_descriptor(binding, index);
                let line = script.find_argument(&names.each_ref().map(String::as_str))?;
                known.extend(names);
                inputs.resources.push(ResourceSlot {
                    set: binding.set,
                    binding: binding.binding,
                    index,
                    buffer: inputs.buffers.len(),
                });
                inputs.push_buffer(line)?;
            }
        }
    }
    for push in &script.push {
        let PushedValue::Address { buffer, .. } = push else {
            continue;
        };
        if !known.contains(buffer) {
            known.push(buffer.clone());
            inputs.push_buffer(script.find_argument(&[buffer])?)?;
        }
    }
    script.check_names(&known)?;
    Ok(inputs)
}

/// The names of a descriptor: that of its variable, and its set and binding, with its number in an array.
pub(super) fn name_descriptor(binding: &InterfaceBinding, index: u32) -> [String; 2] {
    let numbered = format!("{}.{}", binding.set, binding.binding);
    let name = binding.name.clone().unwrap_or_else(|| numbered.clone());
    if binding.count == 1 {
        return [name, numbered];
    }
    [name, numbered].map(|name| format!("{name}[{index}]"))
}

fn refuse_line(line: &RunScriptArgument, message: &str) -> RunScriptFault {
    RunScriptFault {
        message: format!("{}: {message}", line.name),
        line: Some(line.line),
    }
}

impl<'s> GatheredInputs<'s> {
    fn push_buffer(&mut self, line: &'s RunScriptArgument) -> Result<(), RunScriptFault> {
        let RunScriptValue::Array(value) = &line.value else {
            return Err(refuse_line(line, "a resource is an array"));
        };
        self.buffers.push(value.bytes.clone());
        self.lines.push((line, value));
        Ok(())
    }

    fn push_argument(
        &mut self,
        kind: ParamKind,
        line: &'s RunScriptArgument,
    ) -> Result<(), RunScriptFault> {
        let argument = match (kind, &line.value) {
            (ParamKind::Buffer { .. }, RunScriptValue::Array(value)) => {
                self.buffers.push(value.bytes.clone());
                self.lines.push((line, value));
                InterpretedArgument::Buffer(self.buffers.len() - 1)
            }
            (ParamKind::Value { size, .. }, RunScriptValue::Array(value)) => {
                let mut bytes = value.bytes.clone();
                if bytes.len() as u64 > size {
                    let message =
                        format!("{} bytes are given, the parameter has {size}", bytes.len());
                    return Err(refuse_line(line, &message));
                }
                bytes.resize(size as usize, 0);
                InterpretedArgument::Value(bytes)
            }
            (ParamKind::Workgroup { .. }, RunScriptValue::Local(bytes)) => {
                InterpretedArgument::Workgroup(*bytes)
            }
            (ParamKind::Workgroup { .. }, _) => {
                return Err(refuse_line(
                    line,
                    "the parameter is workgroup memory, as in local 1024",
                ));
            }
            (ParamKind::Opaque { .. }, _) => {
                return Err(refuse_line(line, "images and samplers cannot be given"));
            }
            (_, RunScriptValue::Local(_)) => {
                return Err(refuse_line(line, "the parameter is no workgroup memory"));
            }
        };
        self.arguments.push(argument);
        Ok(())
    }
}

/// The bytes of push constants, each aligned to its elements.
///
/// # Errors
/// When the address is that of an array which the launch does not have.
pub(super) fn gather_push_constants(
    script: &RunScript,
    inputs: &GatheredInputs<'_>,
) -> Result<Vec<u8>, RunScriptFault> {
    let mut out = Vec::new();
    for pushed in &script.push {
        let (align, bytes) = match pushed {
            PushedValue::Array(value) => (value.element.size() as usize, value.bytes.clone()),
            PushedValue::Address { buffer, line } => {
                let mut lines = inputs.lines.iter();
                let number = lines.position(|(argument, _)| argument.name == *buffer);
                let number = number.ok_or_else(|| RunScriptFault {
                    message: format!("{buffer} is no buffer of the launch"),
                    line: Some(*line),
                })?;
                (8, find_buffer_address(number).to_le_bytes().to_vec())
            }
        };
        out.resize(out.len().next_multiple_of(align.max(1)), 0);
        out.extend(bytes);
    }
    Ok(out)
}

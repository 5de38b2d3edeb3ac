//! Launches on WebGPU: a shader in WGSL with its buffers.

use super::kernel::{gather_inputs, gather_push_constants};
use super::script::RunScript;
use super::{RunRequest, refuse_script};
use crate::compile::compile_output;
use crate::request::RequestFailure;
use serde::Serialize;
use spirula::CompileOutput;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::{BindingKind, EntryInterface, entry_points};
use spirula_text::hex::write_hex;

/// A launch that JavaScript runs.
#[derive(Serialize)]
pub(crate) struct DeviceLaunch {
    /// The shader in WGSL, which has one entry point.
    source: String,
    groups: [u32; 3],
    buffers: Vec<ShaderBuffer>,
}

/// A buffer of a launch.
#[derive(Serialize)]
struct ShaderBuffer {
    group: u32,
    binding: u32,
    /// The type of its binding, as WebGPU names it.
    usage: &'static str,
    /// The contents in hexadecimal digits.
    contents: String,
    /// Its number among the buffers of the run; none for push constants.
    number: Option<usize>,
}

/// Compiles an input to WGSL, with the buffers that a script describes.
///
/// # Errors
/// When the input is refused, is no shader, or the script does not fit it.
pub(crate) fn prepare_launch(
    request: &RunRequest,
    input: &[u8],
) -> Result<DeviceLaunch, RequestFailure> {
    let script = RunScript::from_text(&request.script).map_err(refuse_script)?;
    match compile_output(&request.compile, input)? {
        CompileOutput::Module(module) => prepare_module(&module, &script),
        CompileOutput::Program(_) => Err(RequestFailure::from_message(
            "programs of several kernels run by WebAssembly, not on WebGPU",
        )),
    }
}

fn prepare_module(
    module: &SpirvModule,
    script: &RunScript,
) -> Result<DeviceLaunch, RequestFailure> {
    let refuse = |fault: SourceDiagnostic| RequestFailure::from_message(fault.message);
    let [(entry, _)] = &entry_points(module)[..] else {
        let message = "WebGPU runs modules of one entry point";
        return Err(RequestFailure::from_message(message));
    };
    let interface = EntryInterface::from_module(module, entry).map_err(refuse)?;
    if interface.takes_arguments() {
        let message = "kernels of OpenCL run by WebAssembly, WebGPU takes shaders alone";
        return Err(RequestFailure::from_message(message));
    }
    let inputs = gather_inputs(&interface, script).map_err(refuse_script)?;
    let shader = spirula::translate_to_wgsl(module)
        .map_err(|error| RequestFailure::from_message(error.to_string()))?;
    let bound = EntryInterface::from_module(&shader.module, entry).map_err(refuse)?;
    let mut buffers = Vec::new();
    for binding in &bound.bindings {
        let place = (binding.set, binding.binding);
        let mut slots = inputs.resources.iter();
        let slot = slots.find(|slot| (slot.set, slot.binding) == place);
        let contents = match slot {
            Some(slot) => inputs.buffers[slot.buffer].clone(),
            None => gather_push_constants(script, &inputs).map_err(refuse_script)?,
        };
        let usage = match binding.kind {
            BindingKind::Storage(_) if binding.read_only => "read-only-storage",
            BindingKind::Storage(_) => "storage",
            BindingKind::Uniform(_) => "uniform",
            BindingKind::Opaque(_) => {
                let message = "images and samplers cannot be given";
                return Err(RequestFailure::from_message(message));
            }
        };
        buffers.push(ShaderBuffer {
            group: binding.set,
            binding: binding.binding,
            usage,
            contents: write_hex(&contents),
            number: slot.map(|slot| slot.buffer),
        });
    }
    Ok(DeviceLaunch {
        source: shader.source,
        groups: script.groups.unwrap_or([1; 3]),
        buffers,
    })
}

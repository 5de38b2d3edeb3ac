//! Runs: kernels and programs on arrays that a script describes, by WebAssembly or the interpreter.

mod device_comparison;
#[cfg(feature = "wgsl")]
mod device_launch;
mod kernel;
mod program;
mod run_array;
mod script;
mod template;

#[cfg(feature = "wgsl")]
pub(crate) use device_launch::prepare_launch;
pub(crate) use template::{describe_kernels, describe_program};

use crate::compile::{PageCompilation, compile_output};
use crate::found_problem::FoundProblem;
use crate::request::RequestFailure;
use device_comparison::DeviceComparison;
use run_array::RunArray;
use script::{RunScript, RunScriptFault};
use serde::{Deserialize, Serialize};
use spirula::CompileOutput;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_interpreter::{KernelExecutor, StepLimits, WasmEngine};
use spirula_text::hex::read_hex;

/// Steps of a second that only loops without work exceed. A launch that needs more steps than the seconds of a run allow is stopped at
/// the place that it has reached. Others are stopped by the time alone.
const STEP_RATES: StepLimits = StepLimits {
    translated: 2_000_000_000,
    interpreted: 10_000_000,
};

/// Seconds of a run, where the request states none.
const USUAL_SECONDS: u64 = 60;

/// Options of a run, as the page sends them.
#[derive(Debug, Deserialize)]
pub(crate) struct RunRequest {
    /// The arguments.
    script: String,
    /// Whether kernels are interpreted in any case.
    #[serde(default)]
    interpret: bool,
    /// The seconds that a launch may take, by an estimate of its steps.
    #[serde(default = "usual_seconds")]
    seconds: u64,
    /// The buffers of a launch on WebGPU in hexadecimal digits, which are shown and compared with the results of this run.
    #[serde(default)]
    device_buffers: Option<Vec<String>>,
    #[serde(flatten)]
    compile: PageCompilation,
}

impl RunRequest {
    /// The bytes of buffers that a device has written.
    fn read_device_buffers(&self) -> Result<Option<Vec<Vec<u8>>>, RequestFailure> {
        let Some(buffers) = &self.device_buffers else {
            return Ok(None);
        };
        let bytes: Option<Vec<Vec<u8>>> = buffers
            .iter()
            .map(|digits| read_hex(digits.as_bytes()))
            .collect();
        let message = "the buffers of the device are no hexadecimal digits";
        bytes
            .map(Some)
            .ok_or_else(|| RequestFailure::from_message(message))
    }
}

fn usual_seconds() -> u64 {
    USUAL_SECONDS
}

/// A run that succeeded.
#[derive(Serialize)]
pub(crate) struct RunReply {
    results: Vec<ArrayResult>,
    /// The executor of the kernels.
    executor: &'static str,
    /// The reason why some are interpreted.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// How the results of a device differ from those of the executor.
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<String>,
}

/// An array that a run has written.
#[derive(Serialize)]
struct ArrayResult {
    name: String,
    #[serde(rename = "type")]
    ty: String,
    shape: Vec<u64>,
    text: String,
    /// The numbers, where there are few enough for a picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    numbers: Option<Vec<f64>>,
}

/// An array that a run has written, before it is shown.
#[derive(Clone, Debug, PartialEq)]
struct WrittenArray {
    name: String,
    /// The buffer of a launch that it is; none for a result of a program.
    buffer: Option<usize>,
    value: RunArray,
}

impl WrittenArray {
    fn show(&self) -> ArrayResult {
        ArrayResult {
            name: self.name.clone(),
            ty: self.value.type_name(),
            shape: self.value.shape.clone(),
            text: self.value.print_elements(),
            numbers: self.value.list_numbers(),
        }
    }
}

/// Compiles an input, and runs it as a script says.
///
/// # Errors
/// When the input is refused, the script does not fit it, or the run fails.
pub(crate) fn run_source(request: &RunRequest, input: &[u8]) -> Result<RunReply, RequestFailure> {
    let script = RunScript::from_text(&request.script).map_err(refuse_script)?;
    let executor = make_executor(request);
    let report = executor.report();
    let device_buffers = request.read_device_buffers()?;
    let mut results = match compile_output(&request.compile, input)? {
        CompileOutput::Module(module) => kernel::run_module(&module, &script, executor)?,
        CompileOutput::Program(program) => program::run_program(&program, &script, executor)?,
    };
    let comparison = device_buffers.map(|buffers| take_device_results(&mut results, &buffers));
    let report = report.borrow().clone();
    Ok(RunReply {
        results: results.iter().map(WrittenArray::show).collect(),
        executor: match (report.translated, report.interpreted) {
            (_, 0) => "WebAssembly",
            (0, _) => "the interpreter",
            _ => "WebAssembly and the interpreter",
        },
        reason: report.reason,
        comparison,
    })
}

/// Replaces results by those that a device has written, and describes how they differ.
fn take_device_results(results: &mut [WrittenArray], buffers: &[Vec<u8>]) -> String {
    let mut comparison = DeviceComparison::default();
    for result in results {
        let written = result.buffer.and_then(|number| buffers.get(number));
        let mut bytes = written.cloned().unwrap_or_default();
        bytes.resize(result.value.bytes.len(), 0);
        let found = result.value.with_bytes(bytes);
        comparison.add_array(&found, &result.value);
        result.value = found;
    }
    comparison.describe()
}

/// The executor of a run. Only in WebAssembly is there an engine for it.
fn make_executor(request: &RunRequest) -> KernelExecutor {
    let mut executor = if request.interpret {
        KernelExecutor::default()
    } else {
        KernelExecutor::with_engine(find_engine())
    };
    executor.limit_steps(StepLimits {
        translated: STEP_RATES.translated.saturating_mul(request.seconds),
        interpreted: STEP_RATES.interpreted.saturating_mul(request.seconds),
    });
    executor
}

#[cfg(target_arch = "wasm32")]
fn find_engine() -> Option<Box<dyn WasmEngine>> {
    Some(Box::<crate::host_engine::HostEngine>::default())
}

#[cfg(not(target_arch = "wasm32"))]
fn find_engine() -> Option<Box<dyn WasmEngine>> {
    None
}

/// The failure of a script with a fault.
fn refuse_script(fault: RunScriptFault) -> RequestFailure {
    let diagnostic = SourceDiagnostic::error(SourceLocation::Unknown, fault.message.clone());
    let problem = FoundProblem::from_line(&diagnostic, fault.line);
    RequestFailure::from_problems(fault.message, vec![problem])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use spirula_interpreter::{InterpretedArgument, KernelInterpreter};
    use spirula_runtime::{
        ComputeDevice, DeviceMachine, IndexSpace, KernelArgument, KernelLaunch, LaunchBinding,
        LaunchInputs,
    };
    use spirula_spirv::ir::SpirvModule;
    use spirula_spirv::reflect::EntryInterface;
    use std::path::Path;

    /// Runs a module on the CPU device, and returns the buffers in the order of the script.
    fn run_on_device(module: &SpirvModule, script: &RunScript) -> Vec<WrittenArray> {
        let mut device = ComputeDevice::open("cpu", &Default::default()).unwrap();
        let entry = script.entry.as_deref().unwrap();
        let interface = EntryInterface::from_module(module, entry).unwrap();
        let inputs = kernel::gather_inputs(&interface, script).unwrap();
        let kernel = device.create_kernel(module, entry, &[]).unwrap();
        let uploaded = inputs
            .buffers
            .iter()
            .map(|bytes| device.upload_data(bytes).unwrap());
        let buffers: Vec<_> = uploaded.collect();
        let arguments = inputs.arguments.iter().map(|argument| match argument {
            InterpretedArgument::Buffer(number) => KernelArgument::from(buffers[*number]),
            InterpretedArgument::Value(bytes) => KernelArgument::Bytes(bytes.clone()),
            InterpretedArgument::Workgroup(bytes) => KernelArgument::Local(*bytes),
        });
        let bindings = inputs.resources.iter().map(|slot| LaunchBinding {
            set: slot.set,
            index: slot.index,
            ..LaunchBinding::with_whole_buffer(slot.binding, buffers[slot.buffer])
        });
        let groups = script.groups.unwrap_or([1; 3]);
        let fixed = KernelInterpreter::from_module(module, entry, &[])
            .unwrap()
            .fixed_workgroup();
        let local = fixed.or(script.size).unwrap();
        let is_kernel = interface.takes_arguments();
        let launched = device.launch_kernel(&KernelLaunch {
            kernel,
            size: if is_kernel {
                IndexSpace::Items {
                    dimensions: 3,
                    global: [0, 1, 2].map(|n| u64::from(groups[n]) * u64::from(local[n])),
                    local: Some(local),
                    offset: [0; 3],
                }
            } else {
                IndexSpace::Groups(groups)
            },
            inputs: if is_kernel {
                LaunchInputs::Arguments(arguments.collect())
            } else {
                LaunchInputs::Resources {
                    bindings: bindings.collect(),
                    push: Vec::new(),
                }
            },
        });
        launched.unwrap();
        let results = buffers.iter().zip(&inputs.lines).enumerate().map(
            |(number, (buffer, (line, value)))| {
                let mut bytes = vec![0; value.bytes.len()];
                device.read_buffer(*buffer, 0, &mut bytes).unwrap();
                WrittenArray {
                    name: line.name.clone(),
                    buffer: Some(number),
                    value: value.with_bytes(bytes),
                }
            },
        );
        results.collect()
    }

    /// The FNV-1a hash of numbers as 64-bit floats.
    fn hash_numbers(numbers: &[f64]) -> u32 {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
        bytes.fold(0x811c_9dc5, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        })
    }

    #[test]
    fn examples_have_the_results_of_the_cpu_device() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let read = |path: &str| std::fs::read(root.join("page").join(path)).unwrap();
        let examples: Value = serde_json::from_slice(&read("examples.json")).unwrap();
        let mut rows = String::new();
        for example in examples.as_array().unwrap() {
            let file = example["file"].as_str().unwrap();
            if !can_read(file) {
                continue;
            }
            let source = read(&format!("examples/{file}"));
            let (stem, _) = file.rsplit_once('.').unwrap();
            let script = String::from_utf8(read(&format!("examples/{stem}.run"))).unwrap();
            let passes = example["passes"].as_str().unwrap_or_default();
            let request = PageCompilation::with_passes(passes);
            let script = RunScript::from_text(&script).unwrap();
            let (found, expected) = match compile_output(&request, &source).unwrap() {
                CompileOutput::Module(module) => (
                    kernel::run_module(&module, &script, KernelExecutor::default()).unwrap(),
                    run_on_device(&module, &script),
                ),
                CompileOutput::Program(program) => {
                    let mut device = ComputeDevice::open("cpu", &Default::default()).unwrap();
                    let machine = DeviceMachine::new(&mut device);
                    (
                        program::run_program(&program, &script, KernelExecutor::default()).unwrap(),
                        program::call_program(&program, &script, machine).unwrap(),
                    )
                }
            };
            assert!(!found.is_empty(), "{file}");
            for result in &found {
                assert!(expected.contains(result), "{file}: {} differs", result.name);
                let hash = hash_numbers(&result.value.list_numbers().unwrap());
                let (name, ty) = (&result.name, result.value.type_name());
                rows += &format!("{file}\t{name}\t{ty}\t{hash:08x}\n");
            }
        }
        let path = root.join("tests/examples.tsv");
        if std::env::var_os("BLESS").is_some() {
            assert!(can_read(".wgsl"), "examples are renewed with all features");
            std::fs::write(&path, &rows).unwrap();
        }
        let expected = std::fs::read_to_string(&path).unwrap();
        let expected = expected.lines().filter(|row| {
            let (file, _) = row.split_once('\t').unwrap();
            can_read(file)
        });
        let expected: Vec<&str> = expected.collect();
        let rows: Vec<&str> = rows.lines().collect();
        assert_eq!(rows, expected, "BLESS=1 renews the file");
    }

    /// Whether the features of this build read an example. The tests of the page read all of them.
    fn can_read(file: &str) -> bool {
        cfg!(feature = "wgsl") || !file.ends_with(".wgsl")
    }

    #[test]
    fn faults_of_launches_have_lines() {
        let source = std::fs::read(
            Path::new(env!("CARGO_MANIFEST_DIR")).join("page/examples/rotate.spvasm"),
        );
        let request = RunRequest {
            interpret: false,
            seconds: 1,
            device_buffers: None,
            script: "numbers: u32[2] = 0".to_owned(),
            compile: PageCompilation::default(),
        };
        let failure = run_source(&request, &source.unwrap()).err().unwrap();
        let failure = serde_json::to_string(&failure).unwrap();
        assert!(
            failure.contains("outside of memory") && failure.contains("\"line\":"),
            "{failure}"
        );
        let request = RunRequest {
            script: "numbers: u32 = x".to_owned(),
            ..request
        };
        let failure = run_source(&request, b"").err().unwrap();
        assert!(
            serde_json::to_string(&failure)
                .unwrap()
                .contains("x is no u32")
        );
    }
}

//! Kernels of the corpus, from LLVM IR.

use crate::contents::{compare_elements, read_hex, read_scalar, read_seeded_fill};
use crate::executors::TestedExecutor;
use crate::{CorpusTally, is_chosen, open_processor};
use serde_json::Value;
use spirula_interpreter::{InterpretedArgument, InterpretedLaunch, KernelExecutor};
use spirula_runtime::data::{ElementType, generate_elements};
use spirula_runtime::{
    BufferHandle, ComputeDevice, IndexSpace, KernelArgument, KernelLaunch, LaunchInputs,
};
use spirula_spirv::ir::SpirvModule;
use std::collections::HashMap;
use std::path::Path;

/// Most steps of a launch.
const MOST_STEPS: u64 = 400_000_000;

/// Kernels of the corpus with equal results, at least.
const LEAST_EQUAL: usize = 265;

/// A buffer on both devices.
struct TestBuffer {
    element: ElementType,
    handle: BufferHandle,
    /// Its number among those of the interpreter.
    number: usize,
    /// Whether the order of its elements depends on the schedule, so that nothing is compared.
    is_free: bool,
}

/// The buffers of a program, by name.
struct TestBuffers {
    device: ComputeDevice,
    executor: KernelExecutor,
    memory: Vec<Vec<u8>>,
    named: HashMap<String, TestBuffer>,
}

/// Those that are translated to WebAssembly.
const LEAST_TRANSLATED: usize = 265;

#[test]
fn kernels_write_what_the_cpu_device_writes() {
    compare_kernels(TestedExecutor::Interpreter, LEAST_EQUAL);
}

#[test]
fn translated_kernels_write_what_the_cpu_device_writes() {
    compare_kernels(TestedExecutor::WebAssembly, LEAST_TRANSLATED);
}

fn compare_kernels(tested: TestedExecutor, least: usize) {
    let Some(folder) = spirula_testing::find_corpus("llvm-ir/kernels") else {
        return;
    };
    let manifest = std::fs::read(folder.join("manifest.json")).expect("the manifest is readable");
    let manifest: Value = serde_json::from_slice(&manifest).expect("the manifest is JSON");
    let mut tally = CorpusTally::default();
    let mut number = 0;
    for test in manifest["tests"].as_array().expect("tests are a list") {
        for file in test["ir"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
        {
            if is_chosen(file) && tested.is_chosen(number) {
                tally.add_result(file, compare_devices(&folder.join(file), test, tested));
            }
            number += 1;
        }
    }
    tally.check(tested, least);
}

fn compare_devices(path: &Path, test: &Value, tested: TestedExecutor) -> Result<(), String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let compiled = spirula::compile_input(&bytes, &Default::default());
    let module = compiled.and_then(|compiled| compiled.into_module());
    let module = module.map_err(|error| error.to_string())?;
    let device = open_processor()?;
    let mut buffers = TestBuffers {
        device,
        executor: tested.make(),
        memory: Vec::new(),
        named: HashMap::new(),
    };
    for launch in test["kernels"].as_array().into_iter().flatten() {
        buffers.run_both(&module, launch)?;
    }
    buffers.compare_all()
}

/// Three sizes of a list that may be shorter.
fn read_sizes(list: &Value, default: u64) -> [u64; 3] {
    [0, 1, 2].map(|n| list[n].as_u64().unwrap_or(default))
}

impl TestBuffers {
    /// Runs a launch on both devices.
    fn run_both(&mut self, module: &SpirvModule, launch: &Value) -> Result<(), String> {
        let name = launch["name"].as_str().unwrap_or_default();
        let kernel = self.executor.prepare_kernel(module, name, &[]);
        let kernel = kernel.map_err(|error| format!("refused: {error}"))?;
        if let Some(reason) = &self.executor.report().borrow().reason {
            return Err(format!("refused: {reason}"));
        }
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for argument in launch["args"].as_array().into_iter().flatten() {
            let (interpreted, compiled) = self.make_argument(argument)?;
            own.push(interpreted);
            others.push(compiled);
        }
        let global = read_sizes(&launch["global"], 1);
        let offset = read_sizes(&launch["offset"], 0);
        let local = read_sizes(&launch["local"], 1).map(|n| n as u32);
        let local = kernel.fixed_workgroup().unwrap_or(local);
        let created = self.device.create_kernel(module, name, &[]);
        let created = created.map_err(|error| error.to_string())?;
        let launched = self.device.launch_kernel(&KernelLaunch {
            kernel: created,
            size: IndexSpace::Items {
                dimensions: launch["global"].as_array().map_or(1, Vec::len) as u32,
                global,
                local: Some(local),
                offset,
            },
            inputs: LaunchInputs::Arguments(others),
        });
        launched.map_err(|error| format!("the CPU device: {error}"))?;
        self.device.wait_idle().map_err(|error| error.to_string())?;
        let interpreted = InterpretedLaunch {
            groups: [0, 1, 2].map(|n| global[n].div_ceil(local[n].into()) as u32),
            workgroup: local,
            global: Some(global),
            offset,
            arguments: &own,
            most_steps: MOST_STEPS,
            ..InterpretedLaunch::default()
        };
        let ran = self
            .executor
            .run_launch(&kernel, &interpreted, &mut self.memory);
        ran.map_err(|error| format!("{name}: {error} {}", error.notes.join(", ")))
    }

    /// An argument for the interpreter, and for the CPU device.
    fn make_argument(
        &mut self,
        argument: &Value,
    ) -> Result<(InterpretedArgument, KernelArgument), String> {
        if let Some(name) = argument["buf"].as_str() {
            let element: ElementType = name.parse().map_err(|_| format!("{name} is no type"))?;
            let count = argument["n"].as_u64().unwrap_or(0) as usize;
            let fill = read_seeded_fill(element, &argument["init"])?;
            let bytes = generate_elements(element, count, &fill).map_err(|e| e.to_string())?;
            let handle = self.device.upload_data(&bytes).map_err(|e| e.to_string())?;
            let number = self.memory.len();
            self.memory.push(bytes);
            let made = TestBuffer {
                element,
                handle,
                number,
                is_free: argument.get("check").is_some(),
            };
            let title = argument["as"].as_str().unwrap_or_default();
            self.named.insert(title.to_owned(), made);
            return Ok((InterpretedArgument::Buffer(number), handle.into()));
        }
        if let Some(name) = argument["ref"].as_str() {
            let made = self
                .named
                .get(name)
                .ok_or_else(|| format!("no buffer {name}"))?;
            return Ok((InterpretedArgument::Buffer(made.number), made.handle.into()));
        }
        if let Some(bytes) = argument["local"].as_u64() {
            return Ok((
                InterpretedArgument::Workgroup(bytes),
                KernelArgument::Local(bytes),
            ));
        }
        let bytes = match argument["bytes"].as_str() {
            Some(digits) => read_hex(digits),
            None => read_scalar(argument)?.1,
        };
        Ok((
            InterpretedArgument::Value(bytes.clone()),
            KernelArgument::Bytes(bytes),
        ))
    }

    fn compare_all(&mut self) -> Result<(), String> {
        for (name, buffer) in self.named.iter().filter(|(_, buffer)| !buffer.is_free) {
            let found = &self.memory[buffer.number];
            let mut expected = vec![0; found.len()];
            let read = self.device.read_buffer(buffer.handle, 0, &mut expected);
            read.map_err(|error| error.to_string())?;
            compare_elements(name, buffer.element, &expected, found)?;
        }
        Ok(())
    }
}

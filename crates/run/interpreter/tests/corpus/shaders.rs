//! Shaders of the corpus.

use crate::contents::{compare_elements, read_hex, read_named_fill, read_scalar};
use crate::executors::TestedExecutor;
use crate::{CorpusTally, is_chosen, open_processor};
use serde_json::Value;
use spirula_interpreter::{InterpretedLaunch, ResourceSlot};
use spirula_runtime::data::{ElementType, generate_elements};
use spirula_runtime::{IndexSpace, KernelLaunch, LaunchBinding, LaunchInputs, load_module};
use std::path::Path;

/// Most steps of a launch.
const MOST_STEPS: u64 = 400_000_000;

/// A buffer of a test.
struct TestBuffer {
    element: ElementType,
    set: u32,
    binding: u32,
    bytes: Vec<u8>,
}

/// Shaders of the corpus with equal results, at least.
const LEAST_EQUAL: usize = 223;

/// Those that are translated to WebAssembly.
const LEAST_TRANSLATED: usize = 223;

#[test]
fn shaders_write_what_the_cpu_device_writes() {
    compare_shaders(TestedExecutor::Interpreter, LEAST_EQUAL);
}

#[test]
fn translated_shaders_write_what_the_cpu_device_writes() {
    compare_shaders(TestedExecutor::WebAssembly, LEAST_TRANSLATED);
}

fn compare_shaders(tested: TestedExecutor, least: usize) {
    let Some(folder) = spirula_testing::find_corpus("spirv/compute") else {
        return;
    };
    let manifest = std::fs::read(folder.join("manifest.json")).expect("the manifest is readable");
    let manifest: Value = serde_json::from_slice(&manifest).expect("the manifest is JSON");
    let mut tally = CorpusTally::default();
    let tests = manifest["tests"].as_array().expect("tests are a list");
    for (number, test) in tests.iter().enumerate() {
        let id = test["id"].as_str().unwrap_or_default();
        if is_chosen(id) && tested.is_chosen(number) {
            tally.add_result(id, compare_devices(&folder, test, tested));
        }
    }
    tally.check(tested, least);
}

fn compare_devices(folder: &Path, test: &Value, tested: TestedExecutor) -> Result<(), String> {
    let name = test["module"].as_str().ok_or("no module")?;
    let own = folder.join("modules").join(name);
    let path = if own.is_file() {
        own
    } else {
        folder.join("../modules").join(name)
    };
    let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let module = load_module(&bytes).map_err(|error| error.to_string())?;
    let specialised = read_specialisation(&test["spec"]);
    let mut executor = tested.make();
    let kernel = executor.prepare_kernel(&module, "main", &specialised);
    let kernel = kernel.map_err(|error| format!("refused: {error}"))?;
    if let Some(reason) = &executor.report().borrow().reason {
        return Err(format!("refused: {reason}"));
    }
    let buffers = read_buffers(&test["buffers"])?;
    let mut device = open_processor()?;
    let compiled = device
        .create_kernel(&module, "main", &specialised)
        .map_err(|e| e.to_string())?;
    let handles: Result<Vec<_>, _> = buffers
        .iter()
        .map(|b| device.upload_data(&b.bytes))
        .collect();
    let handles = handles.map_err(|error| error.to_string())?;
    let bindings: Vec<_> = buffers
        .iter()
        .zip(&handles)
        .map(|(buffer, handle)| LaunchBinding {
            set: buffer.set,
            ..LaunchBinding::with_whole_buffer(buffer.binding, *handle)
        })
        .collect();
    let slots: Vec<ResourceSlot> = buffers
        .iter()
        .enumerate()
        .map(|(number, buffer)| ResourceSlot {
            set: buffer.set,
            binding: buffer.binding,
            buffer: number,
        })
        .collect();
    let mut memory: Vec<Vec<u8>> = buffers.iter().map(|b| b.bytes.clone()).collect();
    for dispatch in test["dispatches"].as_array().into_iter().flatten() {
        let push = read_push_constants(&dispatch["push"])?;
        let count = |n: usize| dispatch["groups"][n].as_u64().unwrap_or(1) as u32;
        let groups = [count(0), count(1), count(2)];
        let launched = device.launch_kernel(&KernelLaunch {
            kernel: compiled,
            size: IndexSpace::Groups(groups),
            inputs: LaunchInputs::Resources {
                bindings: bindings.clone(),
                push: push.clone(),
            },
        });
        launched.map_err(|error| format!("the CPU device: {error}"))?;
        let launch = InterpretedLaunch {
            groups,
            resources: &slots,
            push: &push,
            most_steps: MOST_STEPS,
            ..InterpretedLaunch::default()
        };
        let ran = executor.run_launch(&kernel, &launch, &mut memory);
        ran.map_err(|error| format!("{error} {}", error.notes.join(", ")))?;
    }
    device.wait_idle().map_err(|error| error.to_string())?;
    for (number, (buffer, handle)) in buffers.iter().zip(&handles).enumerate() {
        let mut expected = vec![0; buffer.bytes.len()];
        device
            .read_buffer(*handle, 0, &mut expected)
            .map_err(|e| e.to_string())?;
        compare_elements(
            &format!("buffer {number}"),
            buffer.element,
            &expected,
            &memory[number],
        )?;
    }
    Ok(())
}

fn read_specialisation(spec: &Value) -> Vec<(u32, u64)> {
    let constants = spec.as_object().into_iter().flatten();
    constants
        .filter_map(|(id, value)| {
            let (_, mut bytes) = read_scalar(value).ok()?;
            bytes.resize(8, 0);
            Some((id.parse().ok()?, u64::from_le_bytes(bytes.try_into().ok()?)))
        })
        .collect()
}

fn read_push_constants(items: &Value) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    for item in items.as_array().into_iter().flatten() {
        if let Some(digits) = item["bytes"].as_str() {
            out.extend(read_hex(digits));
            continue;
        }
        let (element, bytes) = read_scalar(item)?;
        out.resize(out.len().next_multiple_of(element.size()), 0);
        out.extend(bytes);
    }
    Ok(out)
}

fn read_buffers(specs: &Value) -> Result<Vec<TestBuffer>, String> {
    let listed = || specs.as_array().into_iter().flatten();
    let is_array = |spec: &Value| {
        let place = |spec: &Value| (spec["set"].as_u64(), spec["binding"].as_u64());
        listed().filter(|other| place(other) == place(spec)).count() > 1
    };
    if listed().any(is_array) {
        return Err("refused: an array of descriptors".to_owned());
    }
    listed()
        .enumerate()
        .map(|(number, spec)| {
            let binding = spec["binding"]
                .as_u64()
                .ok_or("refused: a buffer without a binding")?;
            let name = spec["type"].as_str().unwrap_or_default();
            let element: ElementType = name.parse().map_err(|_| format!("{name} is no type"))?;
            let count = spec["n"].as_u64().unwrap_or(0) as usize;
            let bytes = generate_elements(
                element,
                count,
                &read_named_fill(element, &spec["init"], number)?,
            );
            Ok(TestBuffer {
                element,
                set: spec["set"].as_u64().unwrap_or(0) as u32,
                binding: binding as u32,
                bytes: bytes.map_err(|error| error.to_string())?,
            })
        })
        .collect()
}

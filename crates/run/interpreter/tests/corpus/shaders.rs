//! Shaders of the corpus.

use crate::contents::{compare_elements, read_hex, read_named_fill, read_scalar};
use crate::executors::TestedExecutor;
use crate::{CorpusTally, is_chosen, open_processor};
use serde_json::Value;
use spirula_interpreter::{InterpretedLaunch, ResourceSlot, find_buffer_address};
use spirula_runtime::data::{ElementType, generate_elements};
use spirula_runtime::{
    BufferHandle, IndexSpace, KernelLaunch, LaunchBinding, LaunchInputs, load_module,
};
use std::path::Path;

/// Most steps of a launch.
const MOST_STEPS: u64 = 400_000_000;

/// A buffer of a test.
struct TestBuffer {
    element: ElementType,
    set: u32,
    /// None for a buffer that is reached by its address alone.
    binding: Option<u32>,
    /// Its number in an array of descriptors.
    index: u32,
    bytes: Vec<u8>,
    /// Whether it is compared. Lists that are linked by addresses differ between devices.
    is_compared: bool,
}

/// Shaders of the corpus with equal results, at least.
const LEAST_EQUAL: usize = 227;

/// Those that are translated to WebAssembly.
const LEAST_TRANSLATED: usize = 227;

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
    let bindings = bind_buffers(&buffers, &handles);
    let slots = place_buffers(&buffers);
    let mut memory: Vec<Vec<u8>> = buffers.iter().map(|b| b.bytes.clone()).collect();
    for dispatch in test["dispatches"].as_array().into_iter().flatten() {
        let push = read_push_constants(&dispatch["push"], find_buffer_address)?;
        let addresses: Result<Vec<u64>, _> = handles
            .iter()
            .map(|handle| device.buffer_address(*handle))
            .collect();
        let addresses = addresses.map_err(|error| error.to_string())?;
        let device_push = read_push_constants(&dispatch["push"], |number| addresses[number])?;
        let count = |n: usize| dispatch["groups"][n].as_u64().unwrap_or(1) as u32;
        let groups = [count(0), count(1), count(2)];
        let launched = device.launch_kernel(&KernelLaunch {
            kernel: compiled,
            size: IndexSpace::Groups(groups),
            inputs: LaunchInputs::Resources {
                bindings: bindings.clone(),
                push: device_push,
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
    let compared = buffers.iter().zip(&handles).enumerate();
    for (number, (buffer, handle)) in compared.filter(|(_, (buffer, _))| buffer.is_compared) {
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

/// The bytes of push constants. An item may be the address of a buffer by its number.
fn read_push_constants(
    items: &Value,
    find_address: impl Fn(usize) -> u64,
) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    for item in items.as_array().into_iter().flatten() {
        if let Some(number) = item["address"].as_u64() {
            out.resize(out.len().next_multiple_of(8), 0);
            out.extend(find_address(number as usize).to_le_bytes());
            continue;
        }
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
    let mut buffers: Vec<TestBuffer> = Vec::new();
    for (number, spec) in specs.as_array().into_iter().flatten().enumerate() {
        let set = spec["set"].as_u64().unwrap_or(0) as u32;
        let binding = spec["binding"].as_u64().map(|binding| binding as u32);
        let before = buffers.iter();
        let before = before.filter(|other| (other.set, other.binding) == (set, binding));
        let name = spec["type"].as_str().unwrap_or_default();
        let element: ElementType = name.parse().map_err(|_| format!("{name} is no type"))?;
        let count = spec["n"].as_u64().unwrap_or(0) as usize;
        let fill = read_named_fill(element, &spec["init"], number)?;
        let bytes = generate_elements(element, count, &fill);
        buffers.push(TestBuffer {
            element,
            set,
            binding,
            index: before.count() as u32,
            bytes: bytes.map_err(|error| error.to_string())?,
            is_compared: binding.is_some(),
        });
    }
    Ok(buffers)
}

/// The bindings of buffers for the CPU device.
fn bind_buffers(buffers: &[TestBuffer], handles: &[BufferHandle]) -> Vec<LaunchBinding> {
    let bound = buffers.iter().zip(handles).filter_map(|(buffer, handle)| {
        Some(LaunchBinding {
            set: buffer.set,
            index: buffer.index,
            ..LaunchBinding::with_whole_buffer(buffer.binding?, *handle)
        })
    });
    bound.collect()
}

/// The bindings of buffers for the interpreter.
fn place_buffers(buffers: &[TestBuffer]) -> Vec<ResourceSlot> {
    let placed = buffers.iter().enumerate().filter_map(|(number, buffer)| {
        Some(ResourceSlot {
            set: buffer.set,
            binding: buffer.binding?,
            index: buffer.index,
            buffer: number,
        })
    });
    placed.collect()
}

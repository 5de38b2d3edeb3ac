//! Tests of kernels: files of TTIR run on the processor, and the elements of their buffers are compared with files.
//!
//! Comments at the beginning of a file say the grid and the arguments: `// grid: 2`, `// buffer: f32 16 ramp` with elements 0, 1,
//! 2, …, `// buffer: f32 16 zero`, and `// value: i32 13`. Results do not depend on the number of invocations of a program.

use spirula_opt::{PassPipeline, PipelineOptions, optimise_module};
use spirula_runtime::{
    BufferHandle, ComputeDevice, DeviceOptions, IndexSpace, KernelArgument, KernelLaunch,
    LaunchInputs,
};
use spirula_testing::{GoldenFiles, list_files};
use spirula_triton::{TileKernel, lower_module, read_module};
use std::fmt::Write as _;
use std::path::Path;

/// Numbers of invocations of a program.
const WIDTHS: [u32; 2] = [1, 8];

/// The arguments of a kernel.
#[derive(Default)]
struct LaunchPlan {
    grid: u32,
    arguments: Vec<KernelArgument>,
    buffers: Vec<(BufferHandle, String)>,
}

/// Encodes a number.
fn encode_number(ty: &str, value: i32) -> Vec<u8> {
    match ty {
        "i8" => (value as i8).to_le_bytes().to_vec(),
        "i32" => value.to_le_bytes().to_vec(),
        "i64" => i64::from(value).to_le_bytes().to_vec(),
        "f32" => (value as f32).to_le_bytes().to_vec(),
        "f64" => f64::from(value).to_le_bytes().to_vec(),
        other => panic!("{other} is no type of buffers"),
    }
}

/// The elements of a buffer as text.
fn print_elements(ty: &str, bytes: &[u8]) -> String {
    let size = encode_number(ty, 0).len();
    let numbers = bytes.chunks_exact(size).map(|chunk| match ty {
        "i8" => (chunk[0] as i8).to_string(),
        "i32" => i32::from_le_bytes(chunk.try_into().unwrap()).to_string(),
        "i64" => i64::from_le_bytes(chunk.try_into().unwrap()).to_string(),
        "f32" => f32::from_le_bytes(chunk.try_into().unwrap()).to_string(),
        _ => f64::from_le_bytes(chunk.try_into().unwrap()).to_string(),
    });
    numbers.collect::<Vec<_>>().join(" ")
}

/// Reads the comments of a file.
fn plan_launch(device: &mut ComputeDevice, text: &str) -> LaunchPlan {
    let mut plan = LaunchPlan {
        grid: 1,
        ..LaunchPlan::default()
    };
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["//", "grid:", count] => plan.grid = count.parse().unwrap(),
            ["//", "value:", ty, value] => {
                let bytes = encode_number(ty, value.parse().unwrap());
                plan.arguments.push(KernelArgument::Bytes(bytes));
            }
            ["//", "buffer:", ty, count, content] => {
                let count: i32 = count.parse().unwrap();
                let step = i32::from(*content == "ramp");
                let bytes: Vec<u8> = (0..count)
                    .flat_map(|number| encode_number(ty, number * step))
                    .collect();
                let buffer = device.upload_data(&bytes).unwrap();
                plan.arguments.push(KernelArgument::from(buffer));
                plan.buffers.push((buffer, (*ty).to_owned()));
            }
            _ => {}
        }
    }
    plan
}

/// Runs a kernel, and returns the elements of its buffers and its output.
fn run_kernel(kernel: &TileKernel, text: &str) -> String {
    let module = spirula_llvm::read_module(kernel.assembly.as_bytes()).unwrap();
    let options = spirula_llvm::TranslationOptions::default();
    let mut module = spirula_llvm::translate_module(&module, &options).unwrap();
    let pipeline: PassPipeline = "O2".parse().unwrap();
    optimise_module(&mut module, &pipeline, &mut PipelineOptions::default()).unwrap();
    let mut device = ComputeDevice::open("cpu", &DeviceOptions::default()).unwrap();
    let handle = device.create_kernel(&module, &kernel.name, &[]).unwrap();
    let plan = plan_launch(&mut device, text);
    let launch = KernelLaunch {
        kernel: handle,
        size: IndexSpace::Items {
            dimensions: 1,
            global: [u64::from(plan.grid * kernel.width), 1, 1],
            local: Some([kernel.width, 1, 1]),
            offset: [0; 3],
        },
        inputs: LaunchInputs::Arguments(plan.arguments),
    };
    device.launch_kernel(&launch).unwrap();
    device.wait_idle().unwrap();
    let mut result = String::new();
    for (buffer, ty) in plan.buffers {
        let bytes = device.download_buffer(buffer).unwrap();
        writeln!(result, "{}", print_elements(&ty, &bytes)).unwrap();
    }
    let printed = device.take_printed();
    let mut lines: Vec<&str> = std::str::from_utf8(&printed).unwrap().lines().collect();
    lines.sort_unstable();
    for line in lines {
        writeln!(result, "{line}").unwrap();
    }
    result
}

#[test]
fn kernels_have_the_expected_results() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run");
    let mut golden = GoldenFiles::new();
    for file in list_files(&folder, ".ttir") {
        let text = std::fs::read_to_string(&file).unwrap();
        let module = read_module(&text).unwrap_or_else(|error| panic!("{file:?}: {error:?}"));
        for width in WIDTHS {
            let kernel = lower_module(&module, width);
            let kernel = kernel.unwrap_or_else(|error| panic!("{file:?}: {error:?}"));
            golden.compare_file(&file.with_extension("out"), &run_kernel(&kernel, &text));
        }
    }
    golden.finish_comparison();
}

//! Shaders that were changed for a device compute what they computed before.

mod bank_conflicts;
mod buffer_addresses;
mod exact_functions;
mod exact_remainders;
mod read_ahead;

use spirula_runtime::{
    ComputeDevice, DeviceOptions, IndexSpace, KernelLaunch, LaunchBinding, LaunchInputs,
};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text::{ParseOptions, parse_assembly};
use spirula_spirv::verify;

/// Parses a module in assembly.
fn parse_module(source: &str) -> SpirvModule {
    let words = parse_assembly(source, &ParseOptions::default()).expect("the text is right");
    SpirvModule::from_words(words).expect("it is a module")
}

/// Checks that a module is valid.
fn assert_valid(module: &SpirvModule) {
    let faults = verify::verify_module(module, &verify::VerifyOptions::default());
    assert!(faults.is_ok(), "{faults:?}");
}

/// Runs one workgroup of a shader on a buffer of words, with one word of push constants, and returns the buffer.
fn run_shader(module: &SpirvModule, pushed: u32, words: &[u32]) -> Vec<u32> {
    let options = DeviceOptions::default();
    let mut device = ComputeDevice::open("cpu", &options).expect("it is always there");
    let kernel = device.create_kernel(module, "main", &[]);
    let kernel = kernel.expect("it is a shader");
    let buffer = device.upload_data(words).expect("there is memory");
    let launch = KernelLaunch {
        kernel,
        size: IndexSpace::Groups([1; 3]),
        inputs: LaunchInputs::Resources {
            bindings: vec![LaunchBinding::with_whole_buffer(0, buffer)],
            push: pushed.to_le_bytes().to_vec(),
        },
    };
    device.launch_kernel(&launch).expect("it runs");
    device.download_as::<u32>(buffer).expect("it is there")
}

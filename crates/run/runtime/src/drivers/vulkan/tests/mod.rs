//! Tests of the driver that change its functions, and what they share.

mod call_hooks;
mod device_faults;
mod replay;
mod staging;

use crate::{
    BufferHandle, ComputeDevice, DeviceError, IndexSpace, KernelLaunch, LaunchBinding,
    LaunchInputs, list_devices,
};
use spirula_spirv::grammar::SpirvVersion;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text::{ParseOptions, parse_assembly};

/// Whether there is a Vulkan device. If one is required, a missing device is a failure.
pub(super) fn has_device() -> bool {
    let is_there = list_devices().iter().any(|d| d.id == "vulkan:0");
    if !is_there {
        let required = std::env::var_os("SPIRULA_REQUIRE_VULKAN").is_some();
        assert!(!required, "no Vulkan device, and one is required");
        eprintln!("NOT TESTED: this machine has no Vulkan device");
    }
    is_there
}

/// Parses a module of SPIR-V 1.3.
pub(super) fn parse_module(text: &str) -> SpirvModule {
    let options = ParseOptions {
        version: Some(SpirvVersion::new(1, 3)),
        ..ParseOptions::default()
    };
    SpirvModule::from_words(parse_assembly(text, &options).unwrap()).unwrap()
}

/// Runs a kernel of a module in assembly on a buffer.
pub(super) fn run_kernel(
    device: &mut ComputeDevice,
    text: &str,
    kernel: &str,
    groups: u32,
    buffer: BufferHandle,
) -> Result<(), DeviceError> {
    let kernel = device.create_kernel(&parse_module(text), kernel, &[])?;
    let bound = LaunchBinding::with_whole_buffer(0, buffer);
    let launch = KernelLaunch {
        kernel,
        size: IndexSpace::Groups([groups, 1, 1]),
        inputs: LaunchInputs::Resources {
            bindings: vec![bound],
            push: Vec::new(),
        },
    };
    device.launch_kernel(&launch)
}

/// Squares 64-bit numbers; the result is right even if the device lacks 64-bit integers.
pub(super) fn multiplies_wide_numbers(device: &mut ComputeDevice) {
    let text = include_str!("../../../../tests/vulkan/wide.spvasm");
    let numbers = [3_u64, 1 << 40, u64::MAX];
    let buffer = device.upload_data(&numbers).unwrap();
    run_kernel(device, text, "main", 3, buffer).unwrap();
    let got = device.download_as::<u64>(buffer).unwrap();
    assert_eq!(got, numbers.map(|n| n.wrapping_mul(n).wrapping_add(7)));
}

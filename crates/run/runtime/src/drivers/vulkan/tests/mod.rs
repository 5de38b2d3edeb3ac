//! What tests of the driver share: whether there is a device, and a kernel that runs on one buffer.

mod call_hooks;
mod device_faults;
mod replay;

use crate::{
    ComputeDevice, DeviceBuffer, DeviceError, IndexSpace, KernelLaunch, LaunchBinding,
    LaunchInputs, list_devices,
};
use spirula_spirv::grammar::SpirvVersion;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text::{ParseOptions, parse_assembly};

/// Whether there is Vulkan; where there has to be, none is a failure.
pub(super) fn has_device() -> bool {
    let is_there = list_devices().iter().any(|d| d.id == "vulkan:0");
    if !is_there {
        let required = std::env::var_os("SPIRULA_REQUIRE_VULKAN").is_some();
        assert!(!required, "no Vulkan device, and one is required");
        eprintln!("NOT TESTED: this machine has no Vulkan device");
    }
    is_there
}

/// A module of SPIR-V 1.3.
pub(super) fn parse_module(text: &str) -> SpirvModule {
    let options = ParseOptions {
        version: Some(SpirvVersion::new(1, 3)),
        ..ParseOptions::default()
    };
    SpirvModule::from_words(parse_assembly(text, &options).unwrap()).unwrap()
}

/// Runs the first kernel of a module, given as text, in so many workgroups on a buffer.
pub(super) fn run_kernel(
    device: &mut ComputeDevice,
    (text, kernel): (&str, &str),
    groups: u32,
    buffer: DeviceBuffer,
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

/// Numbers of 64 bits are multiplied by themselves, right whatever the device lacks.
pub(super) fn multiplies_wide_numbers(device: &mut ComputeDevice) {
    let kernel = (include_str!("../../../../tests/vulkan/wide.spvasm"), "main");
    let numbers = [3_u64, 1 << 40, u64::MAX];
    let buffer = device.upload_data(&numbers).unwrap();
    run_kernel(device, kernel, 3, buffer).unwrap();
    let got = device.download_as::<u64>(buffer).unwrap();
    assert_eq!(got, numbers.map(|n| n.wrapping_mul(n).wrapping_add(7)));
}

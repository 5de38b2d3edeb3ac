//! Kernels on devices that run shaders: results are those of the kernel itself.

use spirula_runtime::{
    ComputeDevice, DeviceOptions, IndexSpace, KernelArgument, KernelLaunch, LaunchInputs,
    list_devices,
};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text::{ParseOptions, parse_assembly};

/// Sums of what stands before in each workgroup, times a factor, plus the global size.
fn kernel() -> SpirvModule {
    let words = parse_assembly(
        include_str!("kernels/scan.spvasm"),
        &ParseOptions::default(),
    );
    SpirvModule::from_words(words.expect("the text is correct")).expect("the module is correct")
}

fn shader() -> SpirvModule {
    spirula_legalize::compile_kernels(
        &kernel(),
        &spirula_legalize::VulkanCompileOptions::default(),
    )
    .unwrap()
}

/// The results of the kernel over eight invocations after four that are left out.
fn run(device: &mut ComputeDevice, module: &SpirvModule) -> Vec<i32> {
    let values: Vec<u8> = (1..=12_i32).flat_map(i32::to_le_bytes).collect();
    let from = device.upload_data(&values).unwrap();
    let to = device.create_buffer(48).unwrap();
    let kernel = device.create_kernel(module, "scan", &[]).unwrap();
    let launch = |local: u32| KernelLaunch {
        kernel,
        size: IndexSpace::Items {
            dimensions: 1,
            global: [8, 1, 1],
            local: Some([local, 1, 1]),
            offset: [4, 0, 0],
        },
        inputs: LaunchInputs::Arguments(vec![
            KernelArgument::from(to),
            KernelArgument::from(from),
            KernelArgument::Local(4 * u64::from(local)),
            KernelArgument::Bytes(10_i32.to_le_bytes().to_vec()),
        ]),
    };
    // Each size is a pipeline of its own; the second one stands.
    device.launch_kernel(&launch(2)).unwrap();
    device.launch_kernel(&launch(4)).unwrap();
    device.wait_idle().unwrap();
    let bytes = device.download_buffer(to).unwrap();
    let words = bytes.chunks_exact(4);
    words
        .map(|w| i32::from_le_bytes(w.try_into().unwrap()))
        .collect()
}

const WANTED: [i32; 12] = [0, 0, 0, 0, 58, 118, 188, 268, 98, 198, 308, 428];

fn open(name: &str) -> ComputeDevice {
    ComputeDevice::open(name, &DeviceOptions::default()).unwrap()
}

#[test]
fn kernel_and_shader_on_the_processor() {
    assert_eq!(run(&mut open("cpu"), &kernel()), WANTED);
    assert_eq!(run(&mut open("cpu"), &shader()), WANTED);
}

#[test]
fn kernel_on_vulkan() {
    if list_devices().iter().all(|d| d.id != "vulkan:0") {
        let required = std::env::var_os("SPIRULA_REQUIRE_VULKAN").is_some();
        assert!(!required, "no Vulkan device, and one is required");
        eprintln!("NOT TESTED: this machine has no Vulkan device");
        return;
    }
    assert_eq!(run(&mut open("vulkan"), &kernel()), WANTED);
    assert_eq!(run(&mut open("vulkan"), &shader()), WANTED);
}

#[test]
fn what_a_shader_takes_is_known() {
    let interface = spirula_spirv::reflect::EntryInterface::from_module(&shader(), "scan").unwrap();
    assert_eq!(interface.params.len(), 4);
    let passing = interface.passing.unwrap();
    assert!(passing.workgroup_size.is_some());
    assert_eq!(passing.global_offset, Some(0));
}

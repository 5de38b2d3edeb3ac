//! Vulkan devices with small shaders of our own, those of this folder.
//!
//! Where there is no Vulkan device the tests say so and pass, unless `SPIRULA_REQUIRE_VULKAN` is
//! set. `SPIRULA_VULKAN_VALIDATION=1` runs them all under Vulkan's validation layer.
#![cfg(feature = "vulkan")]

mod images;
mod limits;

use spirula_runtime::{
    BufferHandle, ComputeDevice, DeviceError, DeviceOptions, IndexSpace, KernelHandle,
    KernelLaunch, LaunchBinding, LaunchInputs, ResourceHandle, list_devices,
};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text::{ParseOptions, parse_assembly};
use std::process::Command;

const SAXPY: &str = include_str!("saxpy.spvasm");
const WIDTHS: &str = include_str!("widths.spvasm");
const ARRAYS: &str = include_str!("arrays.spvasm");
const UNSIZED: &str = include_str!("unsized.spvasm");
const ADDRESS: &str = include_str!("address.spvasm");

/// Set in the process that looks at Vulkan without a driver.
const CHILD: &str = "SPIRULA_TEST_NO_DRIVER";

fn device() -> Option<ComputeDevice> {
    if !list_devices().iter().any(|d| d.id == "vulkan:0") {
        let required = std::env::var_os("SPIRULA_REQUIRE_VULKAN").is_some();
        assert!(!required, "no Vulkan device, and one is required");
        eprintln!("NOT TESTED: this machine has no Vulkan device");
        return None;
    }
    Some(ComputeDevice::open("vulkan", &DeviceOptions::default()).unwrap())
}

fn module(text: &str) -> SpirvModule {
    // The last with storage buffers in the storage class Uniform.
    let options = ParseOptions {
        version: Some(spirula_spirv::grammar::SpirvVersion::new(1, 3)),
        ..ParseOptions::default()
    };
    SpirvModule::from_words(parse_assembly(text, &options).unwrap()).unwrap()
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn floats(values: impl Iterator<Item = f32>) -> Vec<u8> {
    values.flat_map(f32::to_le_bytes).collect()
}

fn bound(set: u32, binding: u32, index: u32, resource: impl Into<ResourceHandle>) -> LaunchBinding {
    LaunchBinding {
        set,
        binding,
        index,
        resource: resource.into(),
        region: None,
    }
}

fn one(kernel: KernelHandle, bindings: Vec<LaunchBinding>, push: Vec<u8>) -> KernelLaunch {
    KernelLaunch {
        kernel,
        size: IndexSpace::Groups([1, 1, 1]),
        inputs: LaunchInputs::Resources { bindings, push },
    }
}

/// A launch of saxpy over `groups`, with `a` and the number of elements.
fn saxpy(
    kernel: KernelHandle,
    x: BufferHandle,
    y: BufferHandle,
    a: f32,
    n: u32,
    groups: u32,
) -> KernelLaunch {
    let push = [a.to_le_bytes(), n.to_le_bytes()].concat();
    let bindings = vec![bound(0, 0, 0, x), bound(1, 2, 0, y)];
    KernelLaunch {
        size: IndexSpace::Groups([groups, 1, 1]),
        ..one(kernel, bindings, push)
    }
}

fn text(error: &DeviceError) -> String {
    match error {
        DeviceError::Unsupported(faults) => faults[0].message.clone(),
        DeviceError::Module(fault) => fault.message.clone(),
        error => error.to_string(),
    }
}

#[test]
fn devices_are_found_by_number_and_name() {
    let Some(device) = device() else { return };
    let info = device.info();
    assert_eq!(info.id, "vulkan:0");
    assert!(info.driver.contains("Vulkan 1."), "{}", info.driver);
    assert!(info.subgroup_size.is_power_of_two());
    assert!(info.limits.workgroup_invocations >= 128);
    assert!(info.limits.buffer_size >= 1 << 27);
    for name in ["vulkan:0", &format!("vulkan:{}", info.name.to_uppercase())] {
        let same = ComputeDevice::open(name, &DeviceOptions::default()).unwrap();
        assert_eq!(same.info().name, info.name);
    }
    let error = ComputeDevice::open("vulkan:none such", &DeviceOptions::default()).err();
    let Some(DeviceError::NoDevice { name, available }) = error else {
        panic!("{error:?}")
    };
    assert_eq!(name, "vulkan:none such");
    assert!(available.contains(&info.name), "{available}");
}

#[test]
fn saxpy_with_a_specialised_workgroup() {
    let Some(mut device) = device() else { return };
    let module = module(SAXPY);
    let count = 1000_u32;
    let x = device.upload_data(&floats((0..count).map(|i| i as f32)));
    let x = x.unwrap();
    for width in [1, 7, 64] {
        let y = floats((0..count).map(|i| 1.0 + i as f32));
        let y = device.upload_data(&y).unwrap();
        let kernel = device.create_kernel(&module, "saxpy", &[(0, width)]);
        let groups = count.div_ceil(width as u32);
        let launch = saxpy(kernel.unwrap(), x, y, 2.0, count - 1, groups);
        device.launch_kernel(&launch).unwrap();
        let mut wanted: Vec<_> = (0..count).map(|i| 1.0 + 3.0 * i as f32).collect();
        wanted[count as usize - 1] = count as f32;
        let got = device.download_buffer(y).unwrap();
        assert_eq!(got, floats(wanted.into_iter()), "workgroups of {width}");
    }
}

#[test]
fn launches_over_items_are_whole_workgroups() {
    let Some(mut device) = device() else { return };
    let kernel = device.create_kernel(&module(SAXPY), "saxpy", &[(0, 8)]);
    let kernel = kernel.unwrap();
    let x = device.upload_data(&floats([1.0; 16].into_iter())).unwrap();
    let y = device.create_buffer(64).unwrap();
    let over = |global, local, offset| KernelLaunch {
        size: IndexSpace::Items {
            dimensions: 1,
            global: [global, 1, 1],
            local,
            offset: [offset, 0, 0],
        },
        ..saxpy(kernel, x, y, 3.0, 16, 1)
    };
    device.launch_kernel(&over(16, None, 0)).unwrap();
    assert_eq!(
        device.download_buffer(y).unwrap(),
        floats([3.0; 16].into_iter())
    );
    for (launch, problem) in [
        (over(12, None, 0), "multiple"),
        (over(16, None, 8), "offset"),
    ] {
        let error = text(&device.launch_kernel(&launch).unwrap_err());
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn constants_of_every_width() {
    let Some(mut device) = device() else { return };
    let module = module(WIDTHS);
    let out = device.create_buffer(48).unwrap();
    let mut run = |spec: &[(u32, u64)]| {
        let kernel = device.create_kernel(&module, "main", spec)?;
        device.launch_kernel(&one(kernel, vec![bound(0, 0, 0, out)], vec![]))?;
        let bytes = device.download_buffer(out)?;
        let (longs, _) = bytes.as_chunks();
        Ok::<_, DeviceError>(longs.iter().map(|l| u64::from_le_bytes(*l)).collect())
    };
    let half = u64::from(0.5_f32.to_bits());
    let defaults: Vec<u64> = match run(&[]) {
        Err(DeviceError::Unsupported(why)) => {
            eprintln!("NOT TESTED: {}", why[0].message);
            return;
        }
        defaults => defaults.unwrap(),
    };
    assert_eq!(defaults, [1, 2, 3, 4, 0, half]);
    let given = [
        (64, 0x0123_4567_89ab_cdef),
        (33, 0x3fc0_0000),
        (32, 0x89ab_cdef),
        (16, 0xabcd),
        (8, 0xef),
        (1, 1),
    ];
    let wanted = [0xef, 0xabcd, 0x89ab_cdef, given[0].1, 1, 0x3fc0_0000];
    assert_eq!(run(&given).unwrap(), wanted);
    let some = run(&[(16, 9), (1, 1)]).unwrap();
    assert_eq!(some, [1, 9, 3, 4, 1, half]);
}

#[test]
fn arrays_of_buffers_and_a_uniform_buffer() {
    let Some(mut device) = device() else { return };
    let kernel = device.create_kernel(&module(ARRAYS), "main", &[]).unwrap();
    let parts = [7, 8, 9].map(|n| device.upload_data(&words(&[n])).unwrap());
    let scale = device.upload_data(&words(&[2])).unwrap();
    let out = device.create_buffer(4).unwrap();
    let mut bindings = vec![
        bound(0, 3, 2, parts[2]),
        bound(0, 1, 0, scale),
        bound(0, 3, 0, parts[0]),
        bound(0, 0, 0, out),
        bound(0, 3, 1, parts[1]),
    ];
    device
        .launch_kernel(&one(kernel, bindings.clone(), vec![]))
        .unwrap();
    assert_eq!(device.download_buffer(out).unwrap(), words(&[2 * 987]));
    bindings.pop();
    let error = device
        .launch_kernel(&one(kernel, bindings, vec![]))
        .unwrap_err();
    assert_eq!(
        text(&error),
        "set 0, binding 3 (parts): no buffer is bound for element 1"
    );
}

#[test]
fn arrays_of_buffers_without_a_size() {
    let Some(mut device) = device() else { return };
    let kernel = match device.create_kernel(&module(UNSIZED), "main", &[]) {
        Err(DeviceError::Unsupported(why)) => return eprintln!("NOT TESTED: {}", why[0].message),
        kernel => kernel.unwrap(),
    };
    let out = device.create_buffer(4).unwrap();
    let mut bindings = vec![bound(2, 0, 0, out)];
    for n in 0..5 {
        let part = device.upload_data(&words(&[100 + n])).unwrap();
        bindings.push(bound(0, 0, n, part));
    }
    let launch = |n| one(kernel, bindings.clone(), words(&[n]));
    for n in [4, 0, 3] {
        device.launch_kernel(&launch(n)).unwrap();
        assert_eq!(device.download_buffer(out).unwrap(), words(&[100 + n]));
    }
}

#[test]
fn addresses_outlive_their_buffer_in_pending_launches() {
    let Some(mut device) = device() else { return };
    let kernel = match device.create_kernel(&module(ADDRESS), "main", &[]) {
        Err(DeviceError::Unsupported(why)) => return eprintln!("NOT TESTED: {}", why[0].message),
        kernel => kernel.unwrap(),
    };
    let pair = device.upload_data(&words(&[40, 2])).unwrap();
    let address = device.buffer_address(pair).unwrap();
    assert_eq!(address % 128, 0);
    let launch = one(kernel, vec![], address.to_le_bytes().to_vec());
    device.launch_kernel(&launch).unwrap();
    assert_eq!(device.download_buffer(pair).unwrap(), words(&[42, 2]));
    device.launch_kernel(&launch).unwrap();
    device.destroy_buffer(pair).unwrap();
    let other = device.create_buffer(8).unwrap();
    device.wait_idle().unwrap();
    assert_eq!(device.download_buffer(other).unwrap(), words(&[0, 0]));
}

#[test]
fn launches_and_copies_keep_their_order() {
    let Some(mut device) = device() else { return };
    let kernel = device.create_kernel(&module(SAXPY), "saxpy", &[]).unwrap();
    let x = device.upload_data(&floats([1.0].into_iter())).unwrap();
    let y = device.create_buffer(4).unwrap();
    // Several batches, each launch on what the one before it wrote.
    for _ in 0..200 {
        device
            .launch_kernel(&saxpy(kernel, x, y, 1.0, 1, 1))
            .unwrap();
    }
    // Launches before a write see what was there before it.
    device
        .write_buffer(x, 0, &floats([0.5].into_iter()))
        .unwrap();
    device
        .launch_kernel(&saxpy(kernel, y, y, 1.0, 1, 1))
        .unwrap();
    device
        .launch_kernel(&saxpy(kernel, x, y, 1.0, 1, 1))
        .unwrap();
    let got = device.download_buffer(y).unwrap();
    assert_eq!(got, floats([400.5].into_iter()));
}

#[test]
fn buffers_are_zeros_of_any_size() {
    let Some(mut device) = device() else { return };
    for size in [0, 1, 3, 5, 4096, 5 << 20] {
        let buffer = device.create_buffer(size).unwrap();
        assert_eq!(
            device.download_buffer(buffer).unwrap(),
            vec![0; size as usize]
        );
        device
            .write_buffer(buffer, 0, &vec![7; size as usize])
            .unwrap();
        assert_eq!(
            device.download_buffer(buffer).unwrap(),
            vec![7; size as usize]
        );
        device.destroy_buffer(buffer).unwrap();
        // Memory that was used before.
        let again = device.create_buffer(size).unwrap();
        assert_eq!(
            device.download_buffer(again).unwrap(),
            vec![0; size as usize]
        );
    }
    let limit = device.info().limits.buffer_size;
    let error = device.create_buffer(limit + 1).unwrap_err();
    let size = limit + 1;
    assert_eq!(error, DeviceError::Memory { size, limit });
}

#[test]
fn what_the_device_lacks_is_named() {
    let Some(mut device) = device() else { return };
    let name = device.info().name.clone();
    let mut refusal = |text: &str, entry: &str| match device
        .create_kernel(&module(text), entry, &[])
        .unwrap_err()
    {
        DeviceError::Unsupported(mut faults) => faults.remove(0).message,
        other => panic!("{other:?}"),
    };
    let with = |capability: &str| {
        let more = format!("OpCapability Shader\nOpCapability {capability}");
        SAXPY.replacen("OpCapability Shader", &more, 1)
    };
    for capability in ["InputAttachment", "Pipes"] {
        assert_eq!(
            refusal(&with(capability), "saxpy"),
            format!("vulkan:0 ({name}) does not support the capability {capability}")
        );
    }
    let kernel = "OpCapability Addresses\nOpCapability Kernel\nOpMemoryModel Physical64 OpenCL\n\
        OpEntryPoint Kernel %f \"f\"\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n\
        %f = OpFunction %void None %fn\n%l = OpLabel\nOpMemoryNamedBarrier %l %l %l\nOpReturn\n\
        OpFunctionEnd";
    assert_eq!(
        refusal(kernel, "f"),
        "OpMemoryNamedBarrier is not supported for Vulkan"
    );
    let error = device.create_kernel(
        &module(&with("Pipes\nOpCapability InputAttachment")),
        "saxpy",
        &[],
    );
    let Err(DeviceError::Unsupported(faults)) = error else {
        panic!("{error:?}")
    };
    assert_eq!(faults.len(), 2, "{faults:?}");
}

#[test]
fn the_validation_layer_has_no_complaints() {
    if device().is_none() {
        return;
    }
    let options = DeviceOptions {
        validation: true,
        ..DeviceOptions::default()
    };
    let mut device = match ComputeDevice::open("vulkan", &options) {
        Err(DeviceError::Failed(text)) if text.contains("VK_LAYER_KHRONOS_validation") => {
            return eprintln!("NOT TESTED: {text}");
        }
        device => device.unwrap(),
    };
    let kernel = device.create_kernel(&module(SAXPY), "saxpy", &[]).unwrap();
    let y = device.upload_data(&floats([1.0].into_iter())).unwrap();
    device
        .launch_kernel(&saxpy(kernel, y, y, 1.0, 1, 1))
        .unwrap();
    assert_eq!(
        device.download_buffer(y).unwrap(),
        floats([2.0].into_iter())
    );
    // A module that is not valid, which the layer sees before the driver does.
    let twice = SAXPY.replacen("OpReturn\n", "OpStore %y_ptr %i\nOpReturn\n", 1);
    let error = device.create_kernel(&module(&twice), "saxpy", &[]);
    let error = text(&error.unwrap_err());
    assert!(error.starts_with("Vulkan's validation layer: "), "{error}");
}

#[test]
fn a_missing_driver_is_an_error() {
    let error = |name| {
        let error = ComputeDevice::open(name, &DeviceOptions::default()).err();
        error.map_or_else(|| "opened".to_owned(), |e| e.to_string())
    };
    if std::env::var_os(CHILD).is_some() {
        assert!(list_devices().iter().all(|d| !d.id.starts_with("vulkan")));
        let error = error("vulkan");
        let told = ["no Vulkan driver is installed", "Vulkan is not installed"];
        assert!(told.iter().any(|t| error.starts_with(t)), "{error}");
        return;
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_missing_driver_is_an_error"])
        .env(CHILD, "1")
        .env("VK_DRIVER_FILES", "/nowhere.json")
        .env("VK_ICD_FILENAMES", "/nowhere.json")
        .output();
    let child = child.unwrap();
    let told = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{told}");
    assert!(told.contains("1 passed"), "{told}");
}

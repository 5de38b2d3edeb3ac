//! OpenCL devices with small kernels of our own.
//!
//! Where no OpenCL device takes SPIR-V the tests say so and pass, unless `SPIRULA_REQUIRE_OPENCL` is
//! set.
#![cfg(feature = "opencl")]

use spirula_runtime::{
    ComputeDevice, DeviceError, DeviceOptions, IndexSpace, KernelArgument, KernelLaunch,
    LaunchInputs, list_devices,
};
use spirula_spirv::grammar::SpirvVersion;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text::{ParseOptions, parse_assembly};
use std::process::Command;

/// Set in the process that looks at OpenCL without a driver.
const CHILD: &str = "SPIRULA_TEST_NO_OPENCL";

fn device() -> Option<ComputeDevice> {
    let takes =
        |d: &spirula_runtime::DeviceInfo| d.id.starts_with("opencl:") && d.newest_module.is_some();
    if !list_devices().iter().any(takes) {
        let required = std::env::var_os("SPIRULA_REQUIRE_OPENCL").is_some();
        assert!(
            !required,
            "no OpenCL device takes SPIR-V, and one is required"
        );
        eprintln!("NOT TESTED: no OpenCL device of this machine takes SPIR-V");
        return None;
    }
    let options = DeviceOptions {
        times: true,
        ..DeviceOptions::default()
    };
    Some(ComputeDevice::open("opencl", &options).unwrap())
}

fn module(text: &str, version: SpirvVersion) -> SpirvModule {
    let options = ParseOptions {
        version: Some(version),
        ..ParseOptions::default()
    };
    SpirvModule::from_words(parse_assembly(text, &options).unwrap()).unwrap()
}

const SCAN: &str = include_str!("kernels/scan.spvasm");
/// `out[i] = i * factor`, `factor` being the constant 7, 3 by default.
const FACTOR: &str = include_str!("opencl/factor.spvasm");

fn ints(bytes: &[u8]) -> Vec<i32> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|w| i32::from_le_bytes(*w)).collect()
}

#[test]
fn arguments_of_every_kind_offsets_and_workgroups() {
    let Some(mut device) = device() else { return };
    let values: Vec<u8> = (1..=12_i32).flat_map(i32::to_le_bytes).collect();
    // A version that no driver takes is brought to one that it does.
    for version in [SpirvVersion::new(1, 4), SpirvVersion::new(1, 6)] {
        let from = device.upload_data(&values).unwrap();
        let to = device.create_buffer(48).unwrap();
        let kernel = device
            .create_kernel(&module(SCAN, version), "scan", &[])
            .unwrap();
        for local in [2_u32, 4] {
            let launch = KernelLaunch {
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
            device.launch_kernel(&launch).unwrap();
        }
        let wanted = [0, 0, 0, 0, 58, 118, 188, 268, 98, 198, 308, 428];
        assert_eq!(
            ints(&device.download_buffer(to).unwrap()),
            wanted,
            "SPIR-V {version}"
        );
    }
    let launches: u64 = device.kernel_times().iter().map(|k| k.launches).sum();
    assert_eq!(launches, 4);
}

#[test]
fn specialised_constants() {
    let Some(mut device) = device() else { return };
    let module = module(FACTOR, SpirvVersion::new(1, 4));
    for (spec, factor) in [(&[][..], 3), (&[(7, 0xffff_fffb)], -5)] {
        let out = device.create_buffer(16).unwrap();
        let kernel = device.create_kernel(&module, "factor", spec).unwrap();
        let launch = KernelLaunch {
            kernel,
            size: IndexSpace::Items {
                dimensions: 1,
                global: [4, 1, 1],
                local: None,
                offset: [0; 3],
            },
            inputs: LaunchInputs::Arguments(vec![KernelArgument::from(out)]),
        };
        device.launch_kernel(&launch).unwrap();
        let got = ints(&device.download_buffer(out).unwrap());
        assert_eq!(got, [0, factor, 2 * factor, 3 * factor]);
    }
}

#[test]
fn bytes_of_buffers() {
    let Some(mut device) = device() else { return };
    for size in [0, 1, 5, 4096] {
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
    }
    let limit = device.info().limits.buffer_size;
    let error = device.create_buffer(limit + 1).unwrap_err();
    let size = limit + 1;
    assert_eq!(error, DeviceError::Memory { size, limit });
}

#[test]
fn buffers_are_copied_and_filled() {
    let Some(mut device) = device() else { return };
    let from = device.upload_data(&[1_u8, 2, 3, 4, 5]).unwrap();
    let to = device.create_buffer(9).unwrap();
    device.fill_buffer(to, 1, 8, &[6, 7]).unwrap();
    device.copy_buffer(from, 1, to, 3, 4).unwrap();
    device.copy_buffer(to, 3, to, 0, 2).unwrap();
    let found = device.download_buffer(to).unwrap();
    assert_eq!(found, [2, 3, 7, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn pointers_other_than_to_buffers_are_refused() {
    let Some(mut device) = device() else { return };
    let module = module(FACTOR, SpirvVersion::new(1, 4));
    let kernel = device.create_kernel(&module, "factor", &[]).unwrap();
    let buffer = device.create_buffer(32).unwrap();
    let mut launch = |argument: KernelArgument| {
        let launch = device.prepare_launch(kernel).with_global_size(4);
        launch.with_argument(argument).run_and_wait()
    };
    let part = |offset| KernelArgument::Part { buffer, offset };
    launch(part(0)).unwrap();
    for pointer in [part(16), KernelArgument::Address(4096)] {
        let refused = launch(pointer);
        let is_unsupported = matches!(refused, Err(DeviceError::Unsupported(_)));
        assert!(is_unsupported, "{refused:?}");
    }
}

#[test]
fn what_no_driver_should_see_is_refused() {
    let Some(mut device) = device() else { return };
    let invalid = FACTOR.replacen("OpReturn", "OpStore %place %place\nOpReturn", 1);
    let error = device.create_kernel(&module(&invalid, SpirvVersion::new(1, 4)), "factor", &[]);
    assert!(matches!(error, Err(DeviceError::Module(_))), "{error:?}");
    let shader = include_str!("cpu/scale.spvasm");
    let error = device.create_kernel(&module(shader, SpirvVersion::new(1, 4)), "main", &[]);
    let Err(DeviceError::Unsupported(faults)) = error else {
        panic!("{error:?}")
    };
    let wanted = "main is a GLCompute shader: opencl:";
    assert!(
        faults[0].message.starts_with(wanted),
        "{}",
        faults[0].message
    );
    assert!(matches!(
        device.open_address(),
        Err(DeviceError::Unsupported(_))
    ));
}

trait OpenAddress {
    fn open_address(&mut self) -> Result<u64, DeviceError>;
}

impl OpenAddress for ComputeDevice {
    fn open_address(&mut self) -> Result<u64, DeviceError> {
        let buffer = self.create_buffer(4)?;
        self.buffer_address(buffer)
    }
}

#[test]
fn drivers_without_spirv_say_so() {
    for info in list_devices() {
        if !info.id.starts_with("opencl:") || info.newest_module.is_some() {
            continue;
        }
        let error = ComputeDevice::open(&info.id, &DeviceOptions::default()).err();
        let text = error.map(|e| e.to_string()).unwrap_or_default();
        let wanted = format!("{} ({}) takes no SPIR-V", info.id, info.name);
        assert!(text.starts_with(&wanted), "{text}");
    }
}

#[test]
fn a_missing_driver_is_an_error() {
    if std::env::var_os(CHILD).is_some() {
        assert!(list_devices().iter().all(|d| !d.id.starts_with("opencl")));
        let error = ComputeDevice::open("opencl", &DeviceOptions::default()).err();
        let text = error.map_or_else(|| "opened".to_owned(), |e| e.to_string());
        let told = ["no OpenCL driver is installed", "OpenCL is not installed"];
        assert!(told.iter().any(|t| text.starts_with(t)), "{text}");
        return;
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_missing_driver_is_an_error"])
        .env(CHILD, "1")
        .env("OCL_ICD_VENDORS", "/nowhere")
        .env("OCL_ICD_FILENAMES", "")
        .output();
    let child = child.unwrap();
    let told = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{told}");
    assert!(told.contains("1 passed"), "{told}");
}

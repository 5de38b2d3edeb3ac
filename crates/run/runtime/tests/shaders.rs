//! Effects of kernels besides computing with their arguments, once they are shaders: on the processor, and on
//! Vulkan where there is a device.

use spirula_runtime::{
    ComputeDevice, DeviceOptions, ImageDimensions, ImageShape, KernelModuleScope, SamplerFilter,
    SamplerState, TexelFormat, list_devices,
};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text::{ParseOptions, parse_assembly};
use std::sync::{Mutex, PoisonError};

#[path = "kernels/images.rs"]
mod images;

fn module(text: &str) -> SpirvModule {
    let words = parse_assembly(text, &ParseOptions::default()).expect("the text is correct");
    SpirvModule::from_words(words).expect("the module is correct")
}

/// Not all drivers can be opened by several threads at once.
static ALONE: Mutex<()> = Mutex::new(());

/// Tries kernels as shaders on the processor, and on Vulkan.
fn on_devices(text: &str, check: impl Fn(&mut ComputeDevice, &SpirvModule)) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let kernel = module(text);
    let shader = spirula_legalize::compile_kernels(
        &kernel,
        &spirula_legalize::VulkanCompileOptions::default(),
    )
    .unwrap();
    check(&mut open("cpu"), &shader);
    check(&mut open("cpu"), &kernel);
    if has_vulkan() {
        check(&mut open("vulkan"), &shader);
        // Kernel by kernel.
        check(&mut open("vulkan"), &kernel);
    }
}

fn open(name: &str) -> ComputeDevice {
    ComputeDevice::open(name, &DeviceOptions::default()).unwrap()
}

fn has_vulkan() -> bool {
    let found = list_devices().iter().any(|d| d.id == "vulkan:0");
    if !found {
        let required = std::env::var_os("SPIRULA_REQUIRE_VULKAN").is_some();
        assert!(!required, "no Vulkan device, and one is required");
        eprintln!("NOT TESTED: this machine has no Vulkan device");
    }
    found
}

#[test]
fn variables_at_program_scope() {
    on_devices(include_str!("kernels/program.spvasm"), |device, module| {
        let add = device.create_kernel(module, "add", &[]).unwrap();
        let get = device.create_kernel(module, "get", &[]).unwrap();
        let out = device.create_buffer(12).unwrap();
        for wanted in [[10_u32, 25, 30], [10, 30, 30]] {
            device
                .prepare_launch(add)
                .with_global_size(1)
                .with_argument(5_u32)
                .run_and_wait()
                .unwrap();
            device
                .prepare_launch(get)
                .with_global_size(1)
                .with_argument(out)
                .run_and_wait()
                .unwrap();
            assert_eq!(device.download_as::<u32>(out).unwrap(), wanted);
        }
    });
}

#[test]
fn variables_of_a_scope_are_shared() {
    on_devices(include_str!("kernels/program.spvasm"), |device, module| {
        let kernels = [1, 2].map(|number| {
            let make = |device: &mut ComputeDevice, name| {
                let scope = KernelModuleScope(number);
                device
                    .create_scoped_kernel(scope, module, name, &[])
                    .unwrap()
            };
            (make(device, "add"), make(device, "get"))
        });
        let out = device.create_buffer(12).unwrap();
        let launch = device.prepare_launch(kernels[0].0).with_global_size(1);
        launch.with_argument(7_u32).run_and_wait().unwrap();
        for ((_, get), wanted) in kernels.into_iter().zip([[10_u32, 27, 30], [10, 20, 30]]) {
            let launch = device.prepare_launch(get).with_global_size(1);
            launch.with_argument(out).run_and_wait().unwrap();
            assert_eq!(device.download_as::<u32>(out).unwrap(), wanted);
        }
    });
}

#[test]
fn variables_of_specialisation_constants() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let module = module(include_str!("kernels/specialised.spvasm"));
    let names: &[&str] = if has_vulkan() {
        &["cpu", "vulkan"]
    } else {
        &["cpu"]
    };
    for name in names {
        let device = &mut open(name);
        let run = |device: &mut ComputeDevice, kernel| {
            let out = device.create_buffer(8).unwrap();
            let launch = device.prepare_launch(kernel).with_global_size(1);
            launch.with_argument(out).run_and_wait().unwrap();
            device.download_as::<u32>(out).unwrap()
        };
        // Values of another kernel are in variables of their own.
        let usual = device.create_kernel(&module, "count", &[]).unwrap();
        assert_eq!(run(device, usual), [11, 1], "{name}");
        let given = device.create_kernel(&module, "count", &[(3, 70), (4, 0)]);
        let given = given.unwrap();
        assert_eq!(run(device, given), [71, 2], "{name}");
        assert_eq!(run(device, usual), [12, 1], "{name}");
    }
}

#[test]
fn pointers_of_arguments() {
    on_devices(include_str!("kernels/pointers.spvasm"), |device, module| {
        let compare = device.create_kernel(module, "compare", &[]).unwrap();
        let other = device.create_buffer(16).unwrap();
        let out = device.create_buffer(16).unwrap();
        for (second, wanted) in [(other, [0, 1, 1, 7]), (out, [1, 0, 1, 7])] {
            let launch = device.prepare_launch(compare).with_global_size(1);
            let launch = launch.with_argument(out).with_argument(second);
            launch.run_and_wait().unwrap();
            assert_eq!(device.download_as::<u32>(out).unwrap(), wanted);
        }
    });
}

#[test]
fn what_is_printed() {
    on_devices(include_str!("kernels/printf.spvasm"), |device, module| {
        let tell = device.create_kernel(module, "tell", &[]).unwrap();
        device
            .prepare_launch(tell)
            .with_global_size(3)
            .with_argument(1.5_f32)
            .run_and_wait()
            .unwrap();
        let printed = String::from_utf8(device.take_printed()).unwrap();
        let mut lines: Vec<&str> = printed.lines().collect();
        lines.sort_unstable();
        let wanted = [
            "0: 1.5,-1.5 done !",
            "1: 1.5,-1.5 done !",
            "2: 1.5,-1.5 done !",
        ];
        assert_eq!(lines, wanted);
        // The next launch finds the buffer empty.
        device
            .prepare_launch(tell)
            .with_global_size(1)
            .with_argument(0.0_f32)
            .run_and_wait()
            .unwrap();
        assert_eq!(device.take_printed(), b"0: 0.0,-0.0 done !\n");
        assert_eq!(device.take_printed(), b"");
    });
}

#[test]
fn atomics_that_vulkan_lacks() {
    on_devices(include_str!("kernels/small.spvasm"), |device, module| {
        let count = device.create_kernel(module, "count", &[]).unwrap();
        let bytes = device.upload_data(&[0_u8, 1, 2, 255]).unwrap();
        let halves = device.upload_data(&[0_u16, 100]).unwrap();
        let most = device.upload_data(&[-1.0_f32]).unwrap();
        let call = device
            .prepare_launch(count)
            .with_global_size(64)
            .with_argument(bytes);
        call.with_argument(halves)
            .with_argument(most)
            .run_and_wait()
            .unwrap();
        assert_eq!(device.download_buffer(bytes).unwrap(), [48, 49, 50, 47]);
        let wanted = [0_u16.wrapping_sub(32), 100 - 32];
        assert_eq!(device.download_as::<u16>(halves).unwrap(), wanted);
        assert_eq!(device.download_as::<f32>(most).unwrap(), [63.0]);
    });
}

/// A shader made of a kernel that takes images and samplers; see the text.
fn pictures(device: &mut ComputeDevice) {
    let module = module(include_str!("kernels/pictures.spvasm"));
    let kernel = device.create_kernel(&module, "pictures", &[]).unwrap();
    let image = |format: &str, size| {
        let format = TexelFormat::from_name(format).unwrap();
        ImageShape::new(ImageDimensions::D2, format, size)
    };
    let sampler = SamplerState::from_opencl(
        spirula_runtime::SamplerAddressing::ClampToEdge,
        SamplerFilter::Linear,
        false,
    );
    let nearest = SamplerState::default();
    let from = image("rg8", [4, 1, 1]);
    let from = device.create_image(&from, &nearest).unwrap();
    let texels = [0, 255, 51, 0, 102, 0, 204, 0];
    device.write_image(from, 0, &texels).unwrap();
    let to = image("rgba32f", [4, 2, 1]);
    let to = device.create_image(&to, &nearest).unwrap();
    let words = ImageShape::new(
        ImageDimensions::Buffer,
        TexelFormat::from_name("r32ui").unwrap(),
        [2, 1, 1],
    );
    let words = device.create_image(&words, &nearest).unwrap();
    let how = device.create_sampler(&sampler).unwrap();
    let call = device
        .prepare_launch(kernel)
        .with_global_size(4)
        .with_argument(from)
        .with_argument(how);
    call.with_argument(to)
        .with_argument(10.0_f32)
        .with_argument(words)
        .run_and_wait()
        .unwrap();
    let got: Vec<f32> = device.download_as(to).unwrap();
    let red = |n: usize| got[4 * n];
    // Between two texels both count half.
    for (n, wanted) in [0.0, 1.0, 3.0, 6.0].into_iter().enumerate() {
        assert!((red(n) - wanted).abs() < 0.02, "{got:?}");
    }
    for (n, wanted) in [0.0, 0.2, 0.4, 0.8].into_iter().enumerate() {
        assert!((red(4 + n) - wanted).abs() < 1e-6, "{got:?}");
    }
    assert!((got[16 + 1] - 1.0).abs() < 1e-6 && (got[16 + 3] - 1.0).abs() < 1e-6);
    // CL_RG and CL_UNORM_INT8.
    assert_eq!(device.download_as::<u32>(words).unwrap(), [0x10B2, 0x10D2]);
    let call = device
        .prepare_launch(kernel)
        .with_global_size(4)
        .with_argument(how)
        .with_argument(how);
    let error = call
        .with_argument(to)
        .with_argument(10.0_f32)
        .with_argument(words)
        .run_and_wait()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "argument 0 (from): it takes an image, a sampler is given"
    );
}

#[test]
fn images_and_samplers_as_arguments() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    pictures(&mut open("cpu"));
    if has_vulkan() {
        pictures(&mut open("vulkan"));
    }
}

#[test]
fn atomics_on_parts_of_words() {
    on_devices(include_str!("kernels/packed.spvasm"), |device, module| {
        let packed = device.create_kernel(module, "packed", &[]).unwrap();
        let sizes = [16, 8, 4, 16];
        let out = sizes.map(|size| device.create_buffer(size).unwrap());
        let call = device.prepare_launch(packed).with_global_size(64);
        let call = out
            .into_iter()
            .fold(call, |call, buffer| call.with_argument(buffer));
        call.run_and_wait().unwrap();
        let halves = [16, 1016, 2016, 3016, 4000 - 6400, 63 * 90, 77, 7000];
        assert_eq!(device.download_as::<i16>(out[0]).unwrap(), halves);
        let words = [0, 66051 * 64].map(u32::to_le_bytes).concat();
        assert_eq!(device.download_buffer(out[1]).unwrap(), words);
        assert_eq!(device.download_as::<f32>(out[2]).unwrap(), [63.0]);
        let quarters = [65535, 65535, 0, 0, 63, 0, 1, 0];
        assert_eq!(device.download_as::<u16>(out[3]).unwrap(), quarters);
    });
}

//! What kernels do besides computing with their arguments, once they are shaders: on the processor, and on
//! Vulkan where there is a device.

use spirula_runtime::{Device, DeviceOptions, devices};
use spirula_spirv::ir::Module;
use spirula_spirv::text::{ParseOptions, parse};
use std::sync::{Mutex, PoisonError};

fn module(text: &str) -> Module {
    let words = parse(text, &ParseOptions::default()).expect("the text is correct");
    Module::from_words(words).expect("the module is correct")
}

/// Not all drivers can be opened by several threads at once.
static ALONE: Mutex<()> = Mutex::new(());

/// Tries kernels as shaders on the processor, and on Vulkan.
fn on_devices(text: &str, check: impl Fn(&mut Device, &Module)) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let kernel = module(text);
    let options = DeviceOptions::default();
    let shader = spirula_vulkan::compile(&kernel, &spirula_vulkan::Options::default()).unwrap();
    check(&mut Device::open("cpu", &options).unwrap(), &shader);
    if devices().iter().any(|d| d.id == "vulkan:0") {
        let open = || Device::open("vulkan", &options).unwrap();
        check(&mut open(), &shader);
        // Kernel by kernel.
        check(&mut open(), &kernel);
    } else {
        let required = std::env::var_os("SPIRULA_REQUIRE_VULKAN").is_some();
        assert!(!required, "no Vulkan device, and one is required");
        eprintln!("NOT TESTED: this machine has no Vulkan device");
    }
}

#[test]
fn variables_at_program_scope() {
    on_devices(include_str!("kernels/program.spvasm"), |device, module| {
        let add = device.create_kernel(module, "add", &[]).unwrap();
        let get = device.create_kernel(module, "get", &[]).unwrap();
        let out = device.create_buffer(12).unwrap();
        for wanted in [[10_u32, 25, 30], [10, 30, 30]] {
            device.call(add).global(1).arg(5_u32).run().unwrap();
            device.call(get).global(1).arg(out).run().unwrap();
            assert_eq!(device.download_as::<u32>(out).unwrap(), wanted);
        }
    });
}

#[test]
fn what_is_printed() {
    on_devices(include_str!("kernels/printf.spvasm"), |device, module| {
        let tell = device.create_kernel(module, "tell", &[]).unwrap();
        device.call(tell).global(3).arg(1.5_f32).run().unwrap();
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
        device.call(tell).global(1).arg(0.0_f32).run().unwrap();
        assert_eq!(device.take_printed(), b"0: 0.0,-0.0 done !\n");
        assert_eq!(device.take_printed(), b"");
    });
}

#[test]
fn atomics_that_vulkan_lacks() {
    on_devices(include_str!("kernels/small.spvasm"), |device, module| {
        let count = device.create_kernel(module, "count", &[]).unwrap();
        let bytes = device.upload(&[0_u8, 1, 2, 255]).unwrap();
        let halves = device.upload(&[0_u16, 100]).unwrap();
        let most = device.upload(&[-1.0_f32]).unwrap();
        let call = device.call(count).global(64).arg(bytes);
        call.arg(halves).arg(most).run().unwrap();
        assert_eq!(device.download(bytes).unwrap(), [48, 49, 50, 47]);
        let wanted = [0_u16.wrapping_sub(32), 100 - 32];
        assert_eq!(device.download_as::<u16>(halves).unwrap(), wanted);
        assert_eq!(device.download_as::<f32>(most).unwrap(), [63.0]);
    });
}

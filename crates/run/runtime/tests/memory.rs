//! Pointers that kernels are passed, and resources over memory of the caller.
//!
//! Where there is no Vulkan device the tests say so and try the CPU devices alone, unless `SPIRULA_REQUIRE_VULKAN` is set.
#![allow(unsafe_code)] // Resources are made of memory that the tests own.

use spirula_runtime::{
    BufferHandle, ComputeDevice, DeviceError, DeviceKind, DeviceOptions, FloatTolerance,
    ImageDimensions, ImageShape, KernelArgument, KernelHandle, SamplerState, TexelFormat,
    list_devices,
};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text::{ParseOptions, parse_assembly};
use std::ptr::NonNull;

const PROCESSORS: [&str; 3] = ["cpu", "cpu+scalar", "cpu+san"];

fn parse_module(text: &str) -> SpirvModule {
    let words = parse_assembly(text, &ParseOptions::default()).expect("the text is correct");
    SpirvModule::from_words(words).expect("the module is correct")
}

fn create_kernel(device: &mut ComputeDevice, name: &str) -> KernelHandle {
    let module = parse_module(include_str!("memory/sum.spvasm"));
    device.create_kernel(&module, name, &[]).unwrap()
}

fn open(name: &str) -> ComputeDevice {
    ComputeDevice::open(name, &DeviceOptions::default()).unwrap()
}

/// The names of all devices on which kernels are tried.
fn list_names() -> Vec<&'static str> {
    let mut names = PROCESSORS.to_vec();
    if list_devices().iter().any(|d| d.id == "vulkan:0") {
        names.push("vulkan");
    } else {
        let required = std::env::var_os("SPIRULA_REQUIRE_VULKAN").is_some();
        assert!(!required, "no Vulkan device, and one is required");
        eprintln!("NOT TESTED: this machine has no Vulkan device");
    }
    names
}

fn part(buffer: BufferHandle, offset: u64) -> KernelArgument {
    KernelArgument::Part { buffer, offset }
}

/// Launches `sum` over four invocations.
fn sum(
    device: &mut ComputeDevice,
    kernel: KernelHandle,
    arguments: [KernelArgument; 3],
) -> Result<(), DeviceError> {
    let [out, first, second] = arguments;
    device
        .prepare_launch(kernel)
        .with_global_size(4)
        .with_argument(out)
        .with_argument(first)
        .with_argument(second)
        .begin_launch()
}

#[test]
fn pointers_begin_within_buffers() {
    for name in list_names() {
        let mut device = open(name);
        let kernel = create_kernel(&mut device, "sum");
        let from = device
            .upload_data(&[1_u32, 2, 3, 4, 50, 60, 70, 80])
            .unwrap();
        let to = device.create_buffer(32).unwrap();
        let out = part(to, 12);
        sum(&mut device, kernel, [out, from.into(), part(from, 16)]).unwrap();
        // The second launch depends on the first one.
        let out = part(to, 16);
        sum(&mut device, kernel, [out, part(to, 16), part(from, 0)]).unwrap();
        device.wait_idle().unwrap();
        let found = device.download_as::<u32>(to).unwrap();
        assert_eq!(found, [0, 0, 0, 51, 63, 75, 87, 4], "{name}");
        let beyond = sum(&mut device, kernel, [to.into(), part(from, 33), to.into()]);
        assert_eq!(
            beyond.unwrap_err().to_string(),
            "argument 1: byte 33 is not within its buffer of 32 bytes"
        );
    }
}

#[test]
fn null_pointers_are_passed() {
    for name in list_names() {
        let mut device = open(name);
        let kernel = create_kernel(&mut device, "sum");
        let from = device.upload_data(&[1_u32, 2, 3, 4]).unwrap();
        let to = device.create_buffer(16).unwrap();
        let arguments = [to.into(), from.into(), KernelArgument::Null];
        sum(&mut device, kernel, arguments).unwrap();
        device.wait_idle().unwrap();
        let found = device.download_as::<u32>(to).unwrap();
        assert_eq!(found, [101, 102, 103, 104], "{name}");
    }
}

#[test]
fn addresses_are_passed() {
    for name in list_names() {
        let mut device = open(name);
        let kernel = create_kernel(&mut device, "sum");
        let from = device.upload_data(&[1_u32, 2, 3, 4]).unwrap();
        let to = device.create_buffer(32).unwrap();
        let [source, target] = [from, to].map(|buffer| device.buffer_address(buffer).unwrap());
        let [source, target] = [source, target + 16].map(KernelArgument::Address);
        sum(&mut device, kernel, [target, source, KernelArgument::Null]).unwrap();
        sum(&mut device, kernel, [to.into(), part(to, 16), from.into()]).unwrap();
        device.wait_idle().unwrap();
        let found = device.download_as::<u32>(to).unwrap();
        assert_eq!(found, [102, 104, 106, 108, 101, 102, 103, 104], "{name}");
    }
}

/// Only a kernel tells the address, so that the device does not know which buffer a launch writes.
#[test]
fn launches_with_unknown_addresses_are_waited_for() {
    const COUNT: usize = 1 << 20;
    for name in list_names() {
        let mut device = open(name);
        let [locate, kernel] = ["locate", "sum"].map(|name| create_kernel(&mut device, name));
        let from = device.upload_data(&vec![3_u32; COUNT]).unwrap();
        let to = device.create_buffer(4 * COUNT as u64).unwrap();
        let place = device.create_buffer(8).unwrap();
        let launch = device.prepare_launch(locate).with_global_size(1);
        let launch = launch.with_argument(place).with_argument(to);
        launch.run_and_wait().unwrap();
        let address = device.download_as::<u64>(place).unwrap()[0];
        let launch = device
            .prepare_launch(kernel)
            .with_global_size(COUNT as u64)
            .with_argument(KernelArgument::Address(address));
        let launch = launch.with_argument(from).with_argument(from);
        launch.begin_launch().unwrap();
        let found = device.download_as::<u32>(to).unwrap();
        assert!(found.iter().all(|n| *n == 6), "{name}");
    }
}

/// A kernel counts in copies of its threads only if no other pointer may reach the counts.
#[test]
fn counts_at_an_address_are_exact() {
    let options = DeviceOptions {
        threads: Some(4),
        ..DeviceOptions::default()
    };
    let mut device = ComputeDevice::open("cpu", &options).unwrap();
    let kernel = create_kernel(&mut device, "count");
    let numbers: Vec<u32> = (0..1 << 16).collect();
    let numbers = device.upload_data(&numbers).unwrap();
    let bins = device.upload_data(&[5_u32; 8]).unwrap();
    let address = device.buffer_address(bins).unwrap();
    for argument in [part(bins, 16), KernelArgument::Address(address + 16)] {
        let launch = device.prepare_launch(kernel).with_global_size(1 << 16);
        let launch = launch.with_argument(argument).with_argument(numbers);
        launch.run_and_wait().unwrap();
    }
    let counted = 5 + 2 * (1 << 14);
    let wanted = [5, 5, 5, 5, counted, counted, counted, counted];
    assert_eq!(device.download_as::<u32>(bins).unwrap(), wanted);
}

#[test]
fn the_sanitizer_knows_the_ends_of_pointers() {
    let mut device = open("cpu+san");
    let kernel = create_kernel(&mut device, "sum");
    let from = device.upload_data(&[1_u32, 2, 3, 4]).unwrap();
    let to = device.create_buffer(16).unwrap();
    let mut report = |first: KernelArgument| {
        sum(&mut device, kernel, [to.into(), first, from.into()]).unwrap();
        device.wait_idle().unwrap_err().to_string()
    };
    let after = report(part(from, 4));
    assert!(after.contains("offset 12"), "{after}");
    assert!(after.contains("which has 12 bytes"), "{after}");
    let end = report(part(from, 16));
    assert!(end.contains("which has 0 bytes"), "{end}");
    let null = report(KernelArgument::Null);
    assert!(null.contains("which has 0 bytes"), "{null}");
    // A buffer that begins within a shadow cell.
    let mut memory = [0_u32; 6];
    let start = NonNull::from(&mut memory).cast::<u8>();
    // SAFETY: the bytes are within the array, which outlives the device and is not accessed by the host.
    let within = unsafe { device.import_buffer(start.add(2), 20) }.unwrap();
    let out = part(within, 2);
    sum(&mut device, kernel, [out, from.into(), from.into()]).unwrap();
    device.wait_idle().unwrap();
    let found = device.download_buffer(within).unwrap();
    assert_eq!(found[..12], [0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 6, 0]);
}

#[test]
fn devices_are_compared_with_pointers() {
    let devices = vec![open("cpu"), open("cpu+scalar")];
    let tolerance = FloatTolerance::default();
    let mut device = ComputeDevice::with_comparison(devices, tolerance).unwrap();
    let kernel = create_kernel(&mut device, "sum");
    let from = device.upload_data(&[1_u32, 2, 3, 4, 5]).unwrap();
    let to = device.create_buffer(20).unwrap();
    let arguments = [part(to, 4), part(from, 4), KernelArgument::Null];
    sum(&mut device, kernel, arguments).unwrap();
    let found = device.download_as::<u32>(to).unwrap();
    assert_eq!(found, [0, 102, 103, 104, 105]);
    device.copy_buffer(from, 0, to, 8, 4).unwrap();
    device.fill_buffer(to, 0, 4, &[1, 0]).unwrap();
    sum(&mut device, kernel, [from.into(), to.into(), to.into()]).unwrap();
    let found = device.download_as::<u32>(from).unwrap();
    assert_eq!(found, [0x2_0002, 204, 2, 208, 5]);
    let address = KernelArgument::Address(4096);
    let refused = sum(&mut device, kernel, [to.into(), from.into(), address]);
    assert!(matches!(refused, Err(DeviceError::Unsupported(_))));
    let mut bytes = [0; 4];
    // SAFETY: the array outlives the device's use of it, which refuses it.
    let imported = unsafe { device.import_buffer(NonNull::from(&mut bytes).cast(), 4) };
    assert!(matches!(imported, Err(DeviceError::Unsupported(_))));
}

#[test]
fn buffers_are_made_of_memory_of_the_caller() {
    for name in PROCESSORS {
        let mut memory = [7_u32, 1, 2, 3, 4, 7, 0, 0, 0, 0, 7];
        let mut device = open(name);
        let start = NonNull::from(&mut memory).cast::<u8>();
        // SAFETY: the ranges are within the array, which outlives the device and is accessed by the host only between its
        // calls.
        let [from, to] = [4, 24].map(|at| unsafe { device.import_buffer(start.add(at), 16) });
        let (from, to) = (from.unwrap(), to.unwrap());
        let kernel = create_kernel(&mut device, "sum");
        sum(&mut device, kernel, [to.into(), from.into(), part(from, 0)]).unwrap();
        device.wait_idle().unwrap();
        assert_eq!(device.download_as::<u32>(to).unwrap(), [2, 4, 6, 8]);
        device.write_buffer(from, 8, &9_u32.to_le_bytes()).unwrap();
        device.destroy_buffer(from).unwrap();
        drop(device);
        assert_eq!(memory, [7, 1, 2, 9, 4, 7, 2, 4, 6, 8, 7], "{name}");
    }
}

/// A Vulkan device imports the pages with the bytes, where it can.
#[test]
fn vulkan_devices_import_memory() {
    if !list_names().contains(&"vulkan") {
        return;
    }
    let mut memory = vec![0_u32; 5000];
    let mut device = open("vulkan");
    let start = NonNull::from(memory.as_mut_slice()).cast::<u8>();
    // Alignment of all buffers that the device may demand.
    let first = start.align_offset(256);
    // SAFETY: the ranges are within the list, which outlives the device and is accessed by the host only while the device is
    // idle.
    let imported =
        [first, first + 8192].map(|at| unsafe { device.import_buffer(start.add(at), 8000) });
    let [Ok(from), Ok(to)] = imported else {
        let [from, to] = imported.map(|buffer| buffer.map(|_| ()));
        assert!(matches!(from, Err(DeviceError::Unsupported(_))), "{from:?}");
        assert!(matches!(to, Err(DeviceError::Unsupported(_))), "{to:?}");
        assert_ne!(device.info().kind, DeviceKind::Cpu);
        return;
    };
    let kernel = create_kernel(&mut device, "sum");
    device.write_buffer(from, 0, &[7; 16]).unwrap();
    sum(&mut device, kernel, [to.into(), from.into(), from.into()]).unwrap();
    device.copy_buffer(to, 0, from, 7984, 16).unwrap();
    device.wait_idle().unwrap();
    let address = device.host_address(from.into()).unwrap();
    assert_eq!(
        address.map(|a| a.addr().get()),
        Some(start.addr().get() + first)
    );
    drop(device);
    let words = &memory[first / 4..];
    assert_eq!(words[..4], [0x0707_0707; 4]);
    for at in [1996, 2048] {
        assert_eq!(words[at..at + 4], [0x0e0e_0e0e; 4]);
    }
    assert_eq!(words[2000], 0);
}

#[test]
fn images_are_made_of_memory_of_the_caller() {
    let format = TexelFormat::from_name("rgba8ui").unwrap();
    let shape = ImageShape::new(ImageDimensions::D2, format, [3, 2, 1]);
    let module = parse_module(include_str!("memory/texels.spvasm"));
    for name in PROCESSORS {
        let mut device = open(name);
        let mut memory: Vec<u8> = (0..25).collect();
        let texels = NonNull::from(memory.as_mut_slice()).cast::<u8>();
        let sampler = SamplerState::default();
        // SAFETY: the texels are within the list, which outlives the device and is accessed by the host only between its
        // calls.
        let from = unsafe { device.import_image(&shape, &sampler, texels.add(1)) }.unwrap();
        let to = device.create_image(&shape, &sampler).unwrap();
        let kernel = device.create_kernel(&module, "next", &[]).unwrap();
        let launch = device.prepare_launch(kernel).with_global_size([3, 2]);
        let launch = launch.with_argument(from).with_argument(to);
        launch.run_and_wait().unwrap();
        let wanted: Vec<u8> = (2..26).collect();
        assert_eq!(device.download_image(to).unwrap(), wanted, "{name}");
        device.write_image(from, 23, &[77]).unwrap();
        drop(device);
        assert_eq!(memory[23..], [23, 77]);
    }
}

/// The host writes the operand of a launch and reads its result, without copies.
#[test]
fn launches_access_bytes_of_the_host() {
    for name in list_names() {
        let mut device = open(name);
        let kernel = create_kernel(&mut device, "sum");
        let from = device.create_buffer(16).unwrap();
        // More than what is in host-visible memory on a graphics card.
        let to = device.create_buffer(1 << 20).unwrap();
        let addresses = [from, to].map(|buffer| device.host_address(buffer.into()).unwrap());
        let [Some(source), Some(target)] = addresses else {
            assert_ne!(device.info().kind, DeviceKind::Cpu, "{name}");
            continue;
        };
        let (source, target) = (source.cast::<[u32; 4]>(), target.cast::<[u32; 4]>());
        for round in 1..4 {
            device.wait_idle().unwrap();
            // SAFETY: the buffers have as many bytes, and the device is idle.
            unsafe { source.write([round, 2, 3, 4]) };
            let end = part(to, 16);
            sum(&mut device, kernel, [end, from.into(), from.into()]).unwrap();
            device.copy_buffer(to, 16, to, 0, 16).unwrap();
            device.wait_idle().unwrap();
            // SAFETY: as above.
            let found = unsafe { target.read() };
            assert_eq!(found, [2 * round, 4, 6, 8], "{name}");
        }
    }
}

#[test]
fn the_host_accesses_bytes_in_place() {
    let mut device = open("cpu");
    let buffer = device.upload_data(&[1_u8, 2, 3]).unwrap();
    let address = device.host_address(buffer.into()).unwrap().unwrap();
    assert_eq!(
        address.addr().get() as u64,
        device.buffer_address(buffer).unwrap()
    );
    // SAFETY: the buffer has three bytes, and the device does nothing.
    unsafe { address.add(1).write(9) };
    assert_eq!(device.download_buffer(buffer).unwrap(), [1, 9, 3]);
    let sampler = device.create_sampler(&SamplerState::default()).unwrap();
    assert_eq!(device.host_address(sampler.into()).unwrap(), None);
    device.destroy_buffer(buffer).unwrap();
    assert!(device.host_address(buffer.into()).is_err());
}

/// Copies and fills of all sizes and patterns, between launches that depend on them.
#[test]
fn buffers_are_copied_and_filled() {
    for name in list_names() {
        let mut device = open(name);
        let kernel = create_kernel(&mut device, "sum");
        let from = device.upload_data(&[1_u32, 2, 3, 4]).unwrap();
        let to = device.create_buffer(48).unwrap();
        sum(&mut device, kernel, [to.into(), from.into(), from.into()]).unwrap();
        device.copy_buffer(to, 0, to, 16, 16).unwrap();
        device.fill_buffer(to, 0, 16, &5_u32.to_le_bytes()).unwrap();
        let out = part(to, 32);
        sum(&mut device, kernel, [out, part(to, 16), to.into()]).unwrap();
        device.copy_buffer(to, 33, to, 1, 1).unwrap();
        let found = device.download_as::<u32>(to).unwrap();
        assert_eq!(found, [5, 5, 5, 5, 2, 4, 6, 8, 7, 9, 11, 13], "{name}");
    }
}

#[test]
fn patterns_of_all_lengths_are_repeated() {
    for name in list_names() {
        let mut device = open(name);
        // More than the host writes without waiting, and an end within a word.
        let size = 100_003;
        let buffer = device.create_buffer(size as u64).unwrap();
        let mut wanted = vec![0; size];
        for length in [1, 2, 3, 4, 8, 16, 63, 128] {
            let pattern: Vec<u8> = (0..length).map(|n| (n % 5 + length) as u8).collect();
            for (offset, count) in [(0, 1), (4, 12), (1, 3), (3, 90_000 / length / 4 * 4)] {
                let bytes = count * length;
                let filled = device.fill_buffer(buffer, offset as u64, bytes as u64, &pattern);
                filled.unwrap();
                wanted[offset..][..bytes].copy_from_slice(&pattern.repeat(count));
            }
            let found = device.download_buffer(buffer).unwrap();
            assert!(found == wanted, "{name}: {length}");
        }
    }
}

#[test]
fn copies_and_fills_that_do_not_fit_are_errors() {
    let mut device = open("cpu");
    let [one, other] = [8, 4].map(|size| device.create_buffer(size).unwrap());
    let mut copy = |from_offset, to, to_offset, size| {
        let copied = device.copy_buffer(one, from_offset, to, to_offset, size);
        copied.map_err(|error| error.to_string())
    };
    assert_eq!(copy(4, other, 0, 4), Ok(()));
    assert_eq!(copy(8, other, 4, 0), Ok(()));
    let beyond = Err("bytes 0 to 5 are not within a buffer of 4 bytes".to_owned());
    assert_eq!(copy(0, other, 0, 5), beyond);
    let beyond = Err("bytes 6 to 9 are not within a buffer of 8 bytes".to_owned());
    assert_eq!(copy(6, other, 0, 3), beyond);
    assert_eq!(copy(0, one, 4, 4), Ok(()));
    let overlapping = Err("a copy of 4 bytes from 0 to 3 overlaps itself".to_owned());
    assert_eq!(copy(0, one, 3, 4), overlapping);
    let mut fill = |size, pattern: &[u8]| {
        let filled = device.fill_buffer(one, 0, size, pattern);
        filled.map_err(|error| error.to_string())
    };
    assert_eq!(fill(6, &[1, 2, 3]), Ok(()));
    let uneven = "8 bytes are no repetitions of a pattern of 3 bytes".to_owned();
    assert_eq!(fill(8, &[1, 2, 3]), Err(uneven));
    let empty = "a pattern has 1 to 128 bytes, not 0".to_owned();
    assert_eq!(fill(8, &[]), Err(empty));
    assert!(fill(0, &[0; 129]).is_err());
}

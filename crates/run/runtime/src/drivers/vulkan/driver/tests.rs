//! The driver with memory and features that the device hides from it.

use super::super::tests::{self, has_device, multiplies_wide_numbers};
use super::*;
use crate::{ComputeDevice, DeviceKind};
use ash::vk;

/// A device whose memory counts as invisible to the host, like that of most graphics cards.
fn open_remote_device() -> Option<ComputeDevice> {
    if !has_device() {
        return None;
    }
    let driver = VulkanDriver::open_with("vulkan", &DeviceOptions::default(), false, |d| d);
    Some(ComputeDevice::with_driver(Box::new(driver.unwrap())))
}

#[test]
fn what_the_device_lacks_is_emulated_and_told() {
    if !has_device() {
        return;
    }
    let mut driver = VulkanDriver::open("vulkan", &DeviceOptions::default()).unwrap();
    driver.features.core.shader_int64 = vk::FALSE;
    let mut device = ComputeDevice::with_driver(Box::new(driver));
    multiplies_wide_numbers(&mut device);
    let wanted = "main: vulkan:0 lacks Int64, which is emulated";
    assert_eq!(device.take_warnings(), [wanted]);
}

#[test]
fn buffers_of_own_kernels_come_by_address_on_processors() {
    if !has_device() {
        return;
    }
    let mut driver = VulkanDriver::open("vulkan", &DeviceOptions::default()).unwrap();
    let is_processor = driver.info().kind == DeviceKind::Cpu;
    let text = include_str!("../../../../tests/vulkan/saxpy.spvasm");
    let module = tests::parse_module(text);
    let interface = EntryInterface::from_module(&module, "saxpy").unwrap();
    for stays in [true, false] {
        let added = driver.add_kernel(&module, &interface, &[(0, 4)], stays);
        added.unwrap();
    }
    let found = [0, 1].map(|number| driver.kernels.get(number).map(|kernel| kernel.by_address));
    assert_eq!(found, [Some(is_processor), Some(false)]);
}

#[test]
fn memory_that_the_host_does_not_see_is_copied_in_pieces() {
    let Some(mut device) = open_remote_device() else {
        return;
    };
    // Three pieces, of which the last is short; no offset is a whole word.
    let data: Vec<u8> = (0..36_000_001_u32).map(|i| (i * 7 / 8) as u8).collect();
    let buffer = device.create_buffer(36_000_011).unwrap();
    assert!(
        device
            .download_buffer(buffer)
            .unwrap()
            .iter()
            .all(|b| *b == 0)
    );
    device.write_buffer(buffer, 7, &data).unwrap();
    let got = device.download_buffer(buffer).unwrap();
    assert_eq!(got[..7], [0; 7]);
    assert!(got[7..36_000_008] == data);
    assert_eq!(got[36_000_008..], [0; 3]);
    let mut some = [1; 5];
    device.read_buffer(buffer, 36_000_005, &mut some).unwrap();
    assert_eq!(some[..3], data[35_999_998..]);
    assert_eq!(some[3..], [0; 2]);
}

#[test]
fn memory_that_was_used_is_cleared() {
    let Some(mut device) = open_remote_device() else {
        return;
    };
    for size in [0, 1, 5, 4096] {
        let buffer = device.upload_data(&vec![9_u8; size]).unwrap();
        device.destroy_buffer(buffer).unwrap();
        let again = device.create_buffer(size as u64).unwrap();
        assert_eq!(device.download_buffer(again).unwrap(), vec![0; size]);
    }
}

//! Copies through staging buffers, of several pieces.

use super::super::driver::VulkanDriver;
use super::has_device;
use crate::{ComputeDevice, DeviceOptions};

/// More than four pieces, the last of which is not whole.
const LENGTH: usize = (17 << 20) + 5;

#[test]
fn pieces_arrive_in_their_order() {
    if !has_device() {
        return;
    }
    let options = DeviceOptions::default();
    let driver = VulkanDriver::open_with("vulkan", &options, false, |device| device).unwrap();
    let mut device = ComputeDevice::with_driver(Box::new(driver));
    let mut expected: Vec<u8> = (0..LENGTH)
        .map(|at| ((at / 3) ^ (at >> 13)) as u8)
        .collect();
    let buffer = device.create_buffer(LENGTH as u64).unwrap();
    device.write_buffer(buffer, 0, &expected).unwrap();
    // Writes that overlap are ordered, and parts are read before, between and after them.
    for (offset, size) in [(1, 9 << 20), (5 << 20, 12 << 20), (LENGTH - 7, 7)] {
        let data: Vec<u8> = (0..size).map(|at| (at * 7 + offset) as u8).collect();
        device.write_buffer(buffer, offset as u64, &data).unwrap();
        expected[offset..][..size].copy_from_slice(&data);
        let (first, last) = (offset / 2, (offset + size + 3).min(LENGTH));
        let mut part = vec![0; last - first];
        device.read_buffer(buffer, first as u64, &mut part).unwrap();
        assert!(part == expected[first..last], "{size} bytes from {offset}");
    }
    let mut whole = vec![0; LENGTH];
    device.read_buffer(buffer, 0, &mut whole).unwrap();
    assert!(whole == expected);
}

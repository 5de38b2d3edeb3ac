//! Replay: repeated batches are submitted again, and batches that differ are recorded again. Results are compared with those of the
//! same launches on the host.

use super::super::driver::VulkanDriver;
use super::call_hooks;
use super::{has_device, parse_module};
use crate::{
    BufferHandle, ComputeDevice, DeviceOptions, IndexSpace, KernelHandle, KernelLaunch,
    LaunchBinding, LaunchInputs,
};
use spirula_program::ByteRegion;

/// Elements of a buffer.
const LENGTH: usize = 8;

/// A device with buffers and their expected contents.
struct ReplayFixture {
    device: ComputeDevice,
    /// Kernels with different factors.
    kernels: [(KernelHandle, u32); 2],
    buffers: Vec<(BufferHandle, [u32; LENGTH])>,
}

impl ReplayFixture {
    /// Three buffers, which are only accessed by copies unless `direct`; `None` without Vulkan.
    fn new(direct: bool, change: fn(ash::Device) -> ash::Device) -> Option<ReplayFixture> {
        if !has_device() {
            return None;
        }
        let options = DeviceOptions::default();
        let driver = VulkanDriver::open_with("vulkan", &options, direct, change).unwrap();
        let mut device = ComputeDevice::with_driver(Box::new(driver));
        let chain = parse_module(include_str!("../../../../tests/vulkan/chain.spvasm"));
        let kernels = [3, 5].map(|factor| {
            let spec = [(0, u64::from(factor))];
            (
                device.create_kernel(&chain, "chain", &spec).unwrap(),
                factor,
            )
        });
        let mut chain = ReplayFixture {
            device,
            kernels,
            buffers: Vec::new(),
        };
        for number in 0..3 {
            let made = chain.upload_sequence(number);
            chain.buffers.push(made);
        }
        Some(chain)
    }

    fn upload_sequence(&mut self, first: u32) -> (BufferHandle, [u32; LENGTH]) {
        let contents = std::array::from_fn(|at| first + at as u32);
        (self.device.upload_data(&contents).unwrap(), contents)
    }

    /// Launches a kernel over the first elements of two buffers. A push constant with too many bytes is refused.
    fn launch_kernel(&mut self, kernel: usize, to: usize, from: usize, groups: usize, push: &[u8]) {
        let (kernel, factor) = self.kernels[kernel];
        let row = |binding, buffer: &(BufferHandle, _), region| LaunchBinding {
            region,
            ..LaunchBinding::with_whole_buffer(binding, buffer.0)
        };
        let region = ByteRegion::from_dimensions(4, 0, [(groups as i64, 1)].into_iter());
        let launch = KernelLaunch {
            kernel,
            size: IndexSpace::Groups([groups as u32, 1, 1]),
            inputs: LaunchInputs::Resources {
                bindings: vec![
                    row(
                        0,
                        &self.buffers[to],
                        region.filter(|_| groups.is_multiple_of(2)),
                    ),
                    row(1, &self.buffers[from], None),
                ],
                push: push.to_vec(),
            },
        };
        let launched = self.device.launch_kernel(&launch);
        let Ok(push) = push.try_into().map(u32::from_le_bytes) else {
            launched.unwrap_err();
            return;
        };
        launched.unwrap();
        for at in 0..groups {
            let value = self.buffers[from].1[at];
            self.buffers[to].1[at] = value.wrapping_mul(factor).wrapping_add(push);
        }
    }

    /// Copies elements from one buffer to other places of another one, or of itself. There is no room for five.
    fn copy_elements(&mut self, to: usize, from: usize, count: usize) {
        let [source, target] = [from, to].map(|at| self.buffers[at].0);
        let size = 4 * count as u64;
        let copied = self.device.copy_buffer(source, 0, target, 16, size);
        if count > 4 {
            copied.unwrap_err();
            return;
        }
        copied.unwrap();
        let elements = self.buffers[from].1;
        self.buffers[to].1[4..][..count].copy_from_slice(&elements[..count]);
    }

    /// Fills elements of a buffer with a word, or a longer pattern.
    fn fill_elements(&mut self, to: usize, number: usize) {
        let pattern = [number as u32, 7, number as u32, 9];
        let length = [1, 2, 4, 1][number];
        let bytes = bytemuck::cast_slice(&pattern[..length]);
        let buffer = self.buffers[to].0;
        self.device.fill_buffer(buffer, 16, 16, bytes).unwrap();
        for (at, element) in self.buffers[to].1[4..].iter_mut().enumerate() {
            *element = pattern[at % length];
        }
    }

    fn compare_buffers(&mut self) {
        for (buffer, wanted) in &self.buffers {
            let got = self.device.download_as::<u32>(*buffer).unwrap();
            assert_eq!(got, wanted);
        }
    }

    /// Does one step of a program, chosen by a number.
    fn run_step(&mut self, number: u32) {
        let (a, b) = ((number / 16) as usize % 3, (number / 48) as usize % 2 + 1);
        let (to, from) = (a, (a + b) % 3);
        let push = [1_u32, 2, 70_000][number as usize / 96 % 3].to_le_bytes();
        match number % 16 {
            0 => self.device.wait_idle().unwrap(),
            1 => self.compare_buffers(),
            2 => {
                // The new buffer may have the address of the old one.
                self.device.destroy_buffer(self.buffers[to].0).unwrap();
                self.buffers[to] = self.upload_sequence(number);
            }
            3 => {
                let value = number.to_le_bytes();
                self.device
                    .write_buffer(self.buffers[to].0, 4, &value)
                    .unwrap();
                self.buffers[to].1[1] = number;
            }
            4 => self.launch_kernel(0, to, from, LENGTH, &[0; 8]),
            5 => self.launch_kernel(0, to, from, 3, &push),
            6 => self.launch_kernel(0, to, from, 2, &push),
            7 | 8 => self.launch_kernel(1, to, from, LENGTH, &push),
            9 => self.copy_elements(to, from, number as usize / 96 % 6),
            10 => self.fill_elements(to, number as usize / 96 % 4),
            _ => self.launch_kernel(0, to, from, LENGTH, &push),
        }
    }

    /// Runs launches that each wait for the one before; returns the number of submissions. The host may wait after every second one.
    fn run_dependent_launches(&mut self, waits: bool) -> usize {
        let before = call_hooks::count_submitted();
        let launches = [(1, 0, 5_u32), (2, 1, 6), (0, 2, 7), (1, 0, 8), (2, 1, 9)];
        for (at, (to, from, push)) in launches.into_iter().enumerate() {
            self.launch_kernel(0, to, from, LENGTH, &push.to_le_bytes());
            if waits && at % 2 == 1 {
                self.device.wait_idle().unwrap();
            }
        }
        self.device.wait_idle().unwrap();
        let submitted = call_hooks::count_submitted() - before;
        self.compare_buffers();
        submitted
    }

    /// Does steps of programs in an order with repeated sequences.
    fn run_random_steps(&mut self, seed: u32) {
        let mut state = seed;
        let mut next = move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 8
        };
        let parts: Vec<Vec<u32>> = (0..4)
            .map(|_| (0..2 + next() % 9).map(|_| next()).collect())
            .collect();
        for _ in 0..120 {
            for number in &parts[next() as usize % 4] {
                // Some sequences are interrupted or end early.
                match next() % 40 {
                    0 => self.run_step(next()),
                    1 => break,
                    _ => {}
                }
                self.run_step(*number);
            }
            if next() % 3 > 0 {
                self.device.wait_idle().unwrap();
            }
        }
        self.compare_buffers();
    }
}

#[test]
fn the_same_launches_are_recorded_once() {
    let Some(mut chain) = ReplayFixture::new(true, call_hooks::with_busy_timeline) else {
        return;
    };
    let mut begun = Vec::new();
    for _ in 0..6 {
        chain.run_dependent_launches(false);
        begun.push(call_hooks::count_begun());
    }
    assert_eq!(begun[1..], [begun[1]; 5]);
    chain.launch_kernel(0, 1, 0, LENGTH, &[0; 4]);
    chain.compare_buffers();
    let last = begun[5];
    assert!(call_hooks::count_begun() > last);
}

#[test]
fn copies_and_fills_are_recorded_once() {
    let Some(mut chain) = ReplayFixture::new(true, call_hooks::with_busy_timeline) else {
        return;
    };
    let mut begun = Vec::new();
    for round in 0..7 {
        // The fills differ in the last round.
        let other = usize::from(round == 6);
        chain.launch_kernel(0, 1, 0, LENGTH, &[0; 4]);
        chain.copy_elements(2, 1, 4);
        chain.fill_elements(1, 1 + other);
        chain.launch_kernel(0, 0, 2, LENGTH, &[0; 4]);
        chain.copy_elements(0, 0, 3);
        chain.fill_elements(2, 3 * (1 - other));
        chain.launch_kernel(1, 2, 1, LENGTH, &[0; 4]);
        chain.device.wait_idle().unwrap();
        begun.push(call_hooks::count_begun());
        chain.compare_buffers();
    }
    assert_eq!(begun[1..6], [begun[1]; 5]);
    assert!(begun[6] > begun[5]);
}

#[test]
fn what_ended_early_is_joined_while_the_device_is_busy() {
    let Some(mut chain) = ReplayFixture::new(true, call_hooks::with_busy_timeline) else {
        return;
    };
    let mut round = |waits| chain.run_dependent_launches(waits);
    assert_eq!(round(true), 3);
    assert_eq!([round(false), round(false), round(false)], [1; 3]);
    // Joined batches also work if the host waits in between.
    assert_eq!([round(true), round(false)], [3, 1]);
}

#[test]
fn what_begins_with_the_same_launches_is_told_apart() {
    let Some(mut chain) = ReplayFixture::new(true, call_hooks::with_busy_timeline) else {
        return;
    };
    let mut begun = Vec::new();
    for _ in 0..6 {
        for last in [5_u32, 6, 7, 6] {
            for (to, from, push) in [(1, 0, 1), (2, 1, 2), (0, 2, last)] {
                chain.launch_kernel(0, to, from, LENGTH, &push.to_le_bytes());
            }
            chain.device.wait_idle().unwrap();
        }
        chain.compare_buffers();
        begun.push(call_hooks::count_begun());
    }
    // Common prefixes are first recorded as batches of their own.
    assert_eq!(begun[2..], [begun[2]; 4]);
}

#[test]
fn few_launches_behind_few_are_handed_over_with_them() {
    let Some(mut chain) = ReplayFixture::new(true, call_hooks::with_idle_timeline) else {
        return;
    };
    let mut round = || chain.run_dependent_launches(false);
    // This is known only if the successor came at once.
    assert_eq!([round(), round(), round(), round()], [2, 2, 1, 1]);
}

#[test]
fn launches_that_may_run_concurrently_are_submitted_together() {
    let Some(mut chain) = ReplayFixture::new(true, call_hooks::with_idle_timeline) else {
        return;
    };
    let mut submitted = Vec::new();
    for (to, from) in [(1, 0), (2, 1), (0, 2), (1, 0), (2, 0), (0, 2), (1, 0)] {
        chain.launch_kernel(0, to, from, LENGTH, &[1; 4]);
        submitted.push(call_hooks::count_submitted());
    }
    assert_eq!(submitted, [0, 0, 0, 0, 0, 1, 1]);
    chain.compare_buffers();
}

#[test]
fn what_differs_is_recorded_afresh() {
    for change in [
        |device| device,
        call_hooks::with_busy_timeline,
        call_hooks::with_idle_timeline,
    ] {
        for (direct, seed) in [(true, 1), (true, 2), (false, 3), (true, 4), (false, 5)] {
            let Some(mut chain) = ReplayFixture::new(direct, change) else {
                return;
            };
            chain.run_random_steps(seed);
        }
    }
}

#[test]
fn devices_of_two_threads_have_nothing_to_do_with_each_other() {
    std::thread::scope(|scope| {
        for seed in [11, 12] {
            scope.spawn(move || {
                let chain = ReplayFixture::new(true, |device| device);
                if let Some(mut chain) = chain {
                    chain.run_random_steps(seed);
                }
            });
        }
    });
}

/// Once addresses are known to the program, launches wait for all before them, also those that were recorded before.
#[test]
fn what_was_recorded_before_addresses_were_known_is_not_repeated() {
    let Some(mut chain) = ReplayFixture::new(true, |device| device) else {
        return;
    };
    for round in 0..4 {
        if round == 2 && chain.device.buffer_address(chain.buffers[0].0).is_err() {
            return;
        }
        chain.launch_kernel(0, 1, 0, LENGTH, &[1; 4]);
        chain.launch_kernel(0, 2, 0, LENGTH, &[2; 4]);
        chain.compare_buffers();
    }
}

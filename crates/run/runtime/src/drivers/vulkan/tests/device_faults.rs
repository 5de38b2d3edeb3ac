//! Device faults: the errors of failing devices, and that the process continues. Drivers fail unpredictably, hence these are real
//! devices with one replaced function.

use super::super::driver::VulkanDriver;
use super::call_hooks::with_changed_functions;
use super::{has_device, multiplies_wide_numbers, run_kernel};
use crate::{ComputeDevice, DeviceError, DeviceOptions};
use ash::vk;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// A device with replaced functions; `None` without Vulkan.
fn open_changed_device(change: fn(ash::Device) -> ash::Device) -> Option<ComputeDevice> {
    if !has_device() {
        return None;
    }
    let options = DeviceOptions::default();
    let driver = VulkanDriver::open_with("vulkan", &options, true, change).unwrap();
    Some(ComputeDevice::with_driver(Box::new(driver)))
}

/// Runs the kernel `count` and reads what it wrote.
fn run_count_kernel(device: &mut ComputeDevice) -> Result<(), DeviceError> {
    let text = include_str!("../../../../tests/vulkan/long.spvasm");
    let out = device.create_buffer(4)?;
    run_kernel(device, text, "count", 1, out)?;
    device.download_buffer(out).map(drop)
}

/// A lost device reports the loss with the kernel on each call; another device works.
fn is_lost(mut device: ComputeDevice, call: &str) {
    let error = run_count_kernel(&mut device).unwrap_err().to_string();
    let wanted = format!("{call}: the device was lost (ERROR_DEVICE_LOST), while running count");
    assert_eq!(error, wanted);
    assert_eq!(
        run_count_kernel(&mut device).unwrap_err().to_string(),
        wanted
    );
    drop(device);
    let mut other = ComputeDevice::open("vulkan", &DeviceOptions::default()).unwrap();
    run_count_kernel(&mut other).unwrap();
}

unsafe extern "system" fn fail_submit(
    _: vk::Queue,
    _: u32,
    _: *const vk::SubmitInfo<'_>,
    _: vk::Fence,
) -> vk::Result {
    vk::Result::ERROR_DEVICE_LOST
}

#[test]
fn a_device_that_is_lost_when_work_is_submitted() {
    let change =
        |device| with_changed_functions(&device, |first, _| first.queue_submit = fail_submit);
    let Some(device) = open_changed_device(change) else {
        return;
    };
    is_lost(device, "vkQueueSubmit");
}

static WAIT: OnceLock<vk::PFN_vkWaitSemaphores> = OnceLock::new();

unsafe extern "system" fn fail_wait(
    device: vk::Device,
    info: *const vk::SemaphoreWaitInfo<'_>,
    timeout: u64,
) -> vk::Result {
    // The device was not really lost, so that its work has to end first.
    let wait = WAIT.get().expect("it was set with this");
    // SAFETY: these are the arguments of a call of the function.
    let _ = unsafe { wait(device, info, timeout) };
    vk::Result::ERROR_DEVICE_LOST
}

#[test]
fn a_device_that_is_lost_when_work_is_waited_for() {
    let change = |device| {
        with_changed_functions(&device, |_, third| {
            WAIT.get_or_init(|| third.wait_semaphores);
            third.wait_semaphores = fail_wait;
        })
    };
    let Some(device) = open_changed_device(change) else {
        return;
    };
    is_lost(device, "vkWaitSemaphores");
}

static ALLOCATE: OnceLock<vk::PFN_vkAllocateMemory> = OnceLock::new();
static IS_FULL: AtomicBool = AtomicBool::new(false);

unsafe extern "system" fn fail_allocation(
    device: vk::Device,
    info: *const vk::MemoryAllocateInfo<'_>,
    callbacks: *const vk::AllocationCallbacks<'_>,
    memory: *mut vk::DeviceMemory,
) -> vk::Result {
    if IS_FULL.load(Ordering::Relaxed) {
        return vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
    }
    let allocate = ALLOCATE.get().expect("it was set with this");
    // SAFETY: these are the arguments of a call of the function.
    unsafe { allocate(device, info, callbacks, memory) }
}

#[test]
fn memory_of_the_device_that_is_exhausted() {
    let change = |device| {
        with_changed_functions(&device, |first, _| {
            ALLOCATE.get_or_init(|| first.allocate_memory);
            first.allocate_memory = fail_allocation;
        })
    };
    let Some(mut device) = open_changed_device(change) else {
        return;
    };
    let kept = device.upload_data(&[1_u32, 2, 3]).unwrap();
    IS_FULL.store(true, Ordering::Relaxed);
    let size = 64 << 20;
    let limit = device.info().limits.buffer_size;
    let error = device.create_buffer(size).unwrap_err();
    assert_eq!(error, DeviceError::Memory { size, limit });
    assert_eq!(device.download_as::<u32>(kept).unwrap(), [1, 2, 3]);
    IS_FULL.store(false, Ordering::Relaxed);
    device.create_buffer(size).unwrap();
    run_count_kernel(&mut device).unwrap();
}

static COMPILE: OnceLock<vk::PFN_vkCreateComputePipelines> = OnceLock::new();
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

unsafe extern "system" fn fail_compilation(
    device: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::ComputePipelineCreateInfo<'_>,
    callbacks: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    if !HAS_FAILED.swap(true, Ordering::Relaxed) {
        // SAFETY: there is room for as many pipelines as are asked for, one at least.
        unsafe { *pipelines = vk::Pipeline::null() };
        return vk::Result::ERROR_UNKNOWN;
    }
    let compile = COMPILE.get().expect("it was set with this");
    // SAFETY: these are the arguments of a call of the function.
    unsafe { compile(device, cache, count, infos, callbacks, pipelines) }
}

/// If the driver cannot compile a kernel, 64-bit integers are emulated, with a warning.
#[test]
fn a_compiler_that_fails() {
    let change = |device| {
        with_changed_functions(&device, |first, _| {
            COMPILE.get_or_init(|| first.create_compute_pipelines);
            first.create_compute_pipelines = fail_compilation;
        })
    };
    let Some(mut device) = open_changed_device(change) else {
        return;
    };
    multiplies_wide_numbers(&mut device);
    let told = "main: the compiler of vulkan:0 fails on it; its integers of 64 bits are emulated";
    assert_eq!(device.take_warnings(), [told]);
}

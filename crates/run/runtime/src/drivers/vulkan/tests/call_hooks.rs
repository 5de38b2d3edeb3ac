//! Call hooks: devices with replaced functions. Calls are counted by thread, and the end of work is reported late or waited for.

use ash::vk;
use std::cell::Cell;
use std::sync::OnceLock;

thread_local! {
    static BEGUN: Cell<usize> = const { Cell::new(0) };
    static SUBMITTED: Cell<usize> = const { Cell::new(0) };
}

/// The functions of the driver.
struct DriverFunctions {
    begin: vk::PFN_vkBeginCommandBuffer,
    submit: vk::PFN_vkQueueSubmit,
    wait: vk::PFN_vkDeviceWaitIdle,
    counter: vk::PFN_vkGetSemaphoreCounterValue,
}

static DRIVER: OnceLock<DriverFunctions> = OnceLock::new();

fn get_driver_functions() -> &'static DriverFunctions {
    DRIVER.get().expect("it was set with what calls this")
}

/// Number of command buffers that this thread began to record.
pub fn count_begun() -> usize {
    BEGUN.get()
}

/// Number of submissions of this thread.
pub fn count_submitted() -> usize {
    SUBMITTED.get()
}

unsafe extern "system" fn hook_begin_command_buffer(
    commands: vk::CommandBuffer,
    info: *const vk::CommandBufferBeginInfo<'_>,
) -> vk::Result {
    BEGUN.set(BEGUN.get() + 1);
    // SAFETY: these are the arguments of a call of the function.
    unsafe { (get_driver_functions().begin)(commands, info) }
}

unsafe extern "system" fn hook_queue_submit(
    queue: vk::Queue,
    count: u32,
    infos: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    SUBMITTED.set(SUBMITTED.get() + 1);
    // SAFETY: these are the arguments of a call of the function.
    unsafe { (get_driver_functions().submit)(queue, count, infos, fence) }
}

unsafe extern "system" fn not_yet(_: vk::Device, _: vk::Semaphore, value: *mut u64) -> vk::Result {
    // SAFETY: the caller has a place for the value.
    unsafe { value.write(0) };
    vk::Result::SUCCESS
}

unsafe extern "system" fn when_done(
    device: vk::Device,
    semaphore: vk::Semaphore,
    value: *mut u64,
) -> vk::Result {
    // SAFETY: these are the arguments of a call of the function, by the only thread that uses the device.
    unsafe {
        match (get_driver_functions().wait)(device) {
            vk::Result::SUCCESS => (get_driver_functions().counter)(device, semaphore, value),
            failed => failed,
        }
    }
}

/// A device with changed functions.
pub fn with_changed_functions(
    device: &ash::Device,
    change: impl FnOnce(&mut ash::DeviceFnV1_0, &mut ash::DeviceFnV1_2),
) -> ash::Device {
    let mut first = device.fp_v1_0().clone();
    let mut third = device.fp_v1_2().clone();
    change(&mut first, &mut third);
    let (second, last) = (device.fp_v1_1().clone(), device.fp_v1_3().clone());
    ash::Device::from_parts_1_3(device.handle(), first, second, third, last)
}

fn with_counted_calls(
    device: &ash::Device,
    counter: vk::PFN_vkGetSemaphoreCounterValue,
) -> ash::Device {
    with_changed_functions(device, |first, third| {
        DRIVER.get_or_init(|| DriverFunctions {
            begin: first.begin_command_buffer,
            submit: first.queue_submit,
            wait: first.device_wait_idle,
            counter: third.get_semaphore_counter_value,
        });
        first.begin_command_buffer = hook_begin_command_buffer;
        first.queue_submit = hook_queue_submit;
        third.get_semaphore_counter_value = counter;
    })
}

/// A device that appears busy until it is waited for.
pub fn with_busy_timeline(device: ash::Device) -> ash::Device {
    with_counted_calls(&device, not_yet)
}

/// A device that is idle whenever it is queried.
pub fn with_idle_timeline(device: ash::Device) -> ash::Device {
    with_counted_calls(&device, when_done)
}

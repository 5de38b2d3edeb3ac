//! A host program that launches a kernel which `spirula compile --target-env vulkan1.3` made, by nothing but `ash`.
//!
//! `saxpy.spv` is `examples/saxpy.cl`, compiled. The arguments of a kernel are push constants, at the offsets that `spirula info` shows.
#![allow(unsafe_code, reason = "every call of Vulkan is unsafe")]

use ash::prelude::VkResult;
use ash::vk;
use std::error::Error;
use std::ffi::CStr;

/// The name of the entry point: that of the kernel.
const KERNEL: &CStr = c"saxpy";
/// Invocations of a workgroup.
const GROUP: u32 = 64;

/// A buffer whose address a kernel gets.
struct SharedBuffer {
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    address: vk::DeviceAddress,
    mapped: *mut f32,
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("the module is missing")?;
    let words = ash::util::read_spv(&mut std::fs::File::open(path)?)?;
    // SAFETY: every handle is used on its device, and until it is destroyed. Memory is accessed while no work runs.
    let y = unsafe { run_saxpy(&words, 2.0, &[0.0, 1.0, 2.0, 3.0], &[1.0; 4]) }?;
    println!("{y:?}");
    Ok(())
}

/// Computes `a * x + y` on the first device.
///
/// # Safety
/// The module is `saxpy`.
unsafe fn run_saxpy(
    words: &[u32],
    a: f32,
    x: &[f32],
    y: &[f32],
) -> Result<Vec<f32>, Box<dyn Error>> {
    unsafe {
        let entry = ash::Entry::load()?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        let instance = entry.create_instance(&info, None)?;
        let devices = instance.enumerate_physical_devices()?;
        let physical = *devices.first().ok_or("there is no device")?;
        let families = instance.get_physical_device_queue_family_properties(physical);
        let family = families
            .iter()
            .position(|f| f.queue_flags.contains(vk::QueueFlags::COMPUTE))
            .ok_or("no queue computes")? as u32;
        let device = create_device(&instance, physical, family)?;
        let types = instance.get_physical_device_memory_properties(physical);

        let x = create_buffer(&device, &types, x)?;
        let result = create_buffer(&device, &types, y)?;

        // Bytes 0 to 16 are the global offset. `n`, `a`, `x` and `y` follow.
        let mut arguments = vec![0; 16];
        arguments.extend((y.len() as u32).to_ne_bytes());
        arguments.extend(a.to_ne_bytes());
        arguments.extend(x.address.to_ne_bytes());
        arguments.extend(result.address.to_ne_bytes());
        launch_kernel(&device, family, words, &arguments, y.len() as u32)?;

        let computed = std::slice::from_raw_parts(result.mapped, y.len()).to_vec();
        for buffer in [x, result] {
            device.destroy_buffer(buffer.buffer, None);
            device.free_memory(buffer.memory, None);
        }
        device.destroy_device(None);
        instance.destroy_instance(None);
        Ok(computed)
    }
}

/// Creates a device with the features that kernels need.
unsafe fn create_device(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    family: u32,
) -> VkResult<ash::Device> {
    let queues = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(family)
        .queue_priorities(&[1.0])];
    let core = vk::PhysicalDeviceFeatures::default().shader_int64(true);
    let mut features = vk::PhysicalDeviceVulkan12Features::default()
        .buffer_device_address(true)
        .vulkan_memory_model(true);
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_features(&core)
        .push_next(&mut features);
    unsafe { instance.create_device(physical, &info, None) }
}

/// Creates a buffer with numbers, in memory that the host accesses.
unsafe fn create_buffer(
    device: &ash::Device,
    types: &vk::PhysicalDeviceMemoryProperties,
    numbers: &[f32],
) -> Result<SharedBuffer, Box<dyn Error>> {
    unsafe {
        let usage =
            vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        let size = size_of_val(numbers) as u64;
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        let buffer = device.create_buffer(&info, None)?;
        let needs = device.get_buffer_memory_requirements(buffer);
        let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let index = (0..types.memory_type_count)
            .find(|&at| {
                let has = types.memory_types[at as usize].property_flags;
                needs.memory_type_bits >> at & 1 == 1 && has.contains(wanted)
            })
            .ok_or("the host accesses no memory")?;
        let mut flags =
            vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(index)
            .push_next(&mut flags);
        let memory = device.allocate_memory(&info, None)?;
        device.bind_buffer_memory(buffer, memory, 0)?;
        let mapped = device.map_memory(memory, 0, size, vk::MemoryMapFlags::empty())?;
        let mapped = mapped.cast::<f32>();
        std::ptr::copy_nonoverlapping(numbers.as_ptr(), mapped, numbers.len());
        let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
        let address = device.get_buffer_device_address(&info);
        Ok(SharedBuffer {
            buffer,
            memory,
            address,
            mapped,
        })
    }
}

/// Launches a kernel with a number of invocations, and waits for it.
unsafe fn launch_kernel(
    device: &ash::Device,
    family: u32,
    words: &[u32],
    arguments: &[u8],
    invocations: u32,
) -> VkResult<()> {
    unsafe {
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        let shader = device.create_shader_module(&info, None)?;
        let ranges = [vk::PushConstantRange::default()
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
            .size(arguments.len() as u32)];
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&ranges);
        let layout = device.create_pipeline_layout(&info, None)?;

        // Specialisation constants 0 to 2 are the size of a workgroup.
        let entries = [0, 1, 2].map(|id| vk::SpecializationMapEntry {
            constant_id: id,
            offset: id * 4,
            size: 4,
        });
        let size: Vec<u8> = [GROUP, 1, 1].iter().flat_map(|n| n.to_ne_bytes()).collect();
        let constants = vk::SpecializationInfo::default()
            .map_entries(&entries)
            .data(&size);
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(shader)
            .name(KERNEL)
            .specialization_info(&constants);
        let info = vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(layout);
        let pipelines = device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None);
        let pipeline = pipelines.map_err(|(_, error)| error)?[0];

        let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
        let pool = device.create_command_pool(&info, None)?;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .command_buffer_count(1);
        let commands = device.allocate_command_buffers(&info)?;
        let launch = commands[0];
        device.begin_command_buffer(launch, &vk::CommandBufferBeginInfo::default())?;
        device.cmd_bind_pipeline(launch, vk::PipelineBindPoint::COMPUTE, pipeline);
        let stage = vk::ShaderStageFlags::COMPUTE;
        device.cmd_push_constants(launch, layout, stage, 0, arguments);
        device.cmd_dispatch(launch, invocations.div_ceil(GROUP), 1, 1);
        device.end_command_buffer(launch)?;

        let queue = device.get_device_queue(family, 0);
        let work = vk::SubmitInfo::default().command_buffers(&commands);
        device.queue_submit(queue, &[work], vk::Fence::null())?;
        device.queue_wait_idle(queue)?;

        device.destroy_command_pool(pool, None);
        device.destroy_pipeline(pipeline, None);
        device.destroy_pipeline_layout(layout, None);
        device.destroy_shader_module(shader, None);
        Ok(())
    }
}

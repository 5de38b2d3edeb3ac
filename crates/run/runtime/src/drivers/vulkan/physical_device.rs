//! Physical devices: the Vulkan devices of the system, before they are opened.

use super::compute_units::count_compute_units;
use super::error::VulkanCallResult;
use super::features::VulkanFeatures;
use super::instance::{NEWEST, VulkanInstance};
use super::kernel_features::{SubgroupSizeChoice, find_kernel_features, find_size_choice};
use super::matrix_shapes;
use crate::DeviceError;
use crate::driver::{DeviceInfo, DeviceKind, DeviceLimits};
use crate::drivers::device_names;
use ash::{ext, khr, vk};
use spirula_spirv::grammar::SpirvVersion;
use spirula_spirv::grammar::enumerants::Capability;
use std::ffi::CStr;

/// Oldest version of Vulkan that is supported.
const OLDEST: u32 = vk::API_VERSION_1_2;

/// A device that is not opened yet.
pub struct VulkanPhysicalDevice {
    /// Its handle.
    pub raw: vk::PhysicalDevice,
    /// Facts of the device for callers.
    pub info: DeviceInfo,
    /// Newest version of Vulkan that both it and this driver support.
    pub version: u32,
    /// Identity of the device and its driver.
    pub properties: vk::PhysicalDeviceProperties,
    /// The valid bits of its queue's timestamps, and the nanoseconds of a tick; known once it is opened.
    pub timestamps: Option<(u64, f32)>,
    /// Its driver.
    pub driver_id: vk::DriverId,
    /// Capabilities that it claims and implements wrongly.
    pub wrong: Vec<Capability>,
    /// Its limits.
    pub limits: vk::PhysicalDeviceLimits,
    /// Properties of its subgroups.
    pub subgroup: vk::PhysicalDeviceSubgroupProperties<'static>,
    /// How the size of its subgroups is determined.
    pub size_choice: SubgroupSizeChoice,
    /// Most subgroups of a workgroup whose pipeline demands their size.
    pub most_subgroups: u32,
    /// Properties of its floating-point arithmetic.
    pub floats: vk::PhysicalDeviceFloatControlsProperties<'static>,
    /// Whether all of its local memory is host-visible.
    pub is_seen_whole: bool,
    extensions: Vec<vk::ExtensionProperties>,
}

impl VulkanPhysicalDevice {
    /// All supported devices of an instance.
    pub fn enumerate_devices(
        instance: &VulkanInstance,
    ) -> Result<Vec<VulkanPhysicalDevice>, DeviceError> {
        // SAFETY: the instance is alive.
        let all = unsafe { instance.raw().enumerate_physical_devices() };
        let all = all.check_call("vkEnumeratePhysicalDevices")?.into_iter();
        let all = all.enumerate();
        let all =
            all.map(|(number, raw)| VulkanPhysicalDevice::query_device(instance, raw, number));
        all.filter_map(Result::transpose).collect()
    }

    /// The device with a name such as `vulkan`, `vulkan:1` or `vulkan:llvmpipe`.
    pub fn find_named(
        instance: &VulkanInstance,
        name: &str,
    ) -> Result<VulkanPhysicalDevice, DeviceError> {
        let mut all = VulkanPhysicalDevice::enumerate_devices(instance)?;
        let found = match name.strip_prefix("vulkan:") {
            None => (!all.is_empty()).then_some(0),
            Some(part) => device_names::find_position(all.iter().map(|d| &d.info), name, part),
        };
        match found {
            Some(found) => Ok(all.swap_remove(found)),
            None if all.is_empty() => Err(DeviceError::Failed(
                "no Vulkan device with Vulkan 1.2 is present".to_owned(),
            )),
            None => Err(DeviceError::NoDevice {
                name: name.to_owned(),
                available: device_names::format_devices(all.iter().map(|d| &d.info)),
            }),
        }
    }

    fn query_device(
        instance: &VulkanInstance,
        raw: vk::PhysicalDevice,
        number: usize,
    ) -> Result<Option<VulkanPhysicalDevice>, DeviceError> {
        // SAFETY: the handle is of this instance.
        let base = unsafe { instance.raw().get_physical_device_properties(raw) };
        if base.api_version < OLDEST {
            return Ok(None);
        }
        // SAFETY: as above.
        let extensions = unsafe { instance.raw().enumerate_device_extension_properties(raw) };
        let extensions = extensions.check_call("vkEnumerateDeviceExtensionProperties")?;
        let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
        let mut floats = vk::PhysicalDeviceFloatControlsProperties::default();
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut size_control = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
        let mut maintenance = vk::PhysicalDeviceMaintenance3Properties::default();
        let mut all = vk::PhysicalDeviceProperties2::default()
            .push_next(&mut subgroup)
            .push_next(&mut floats)
            .push_next(&mut driver)
            .push_next(&mut maintenance);
        if base.api_version >= vk::API_VERSION_1_3
            || has_extension(&extensions, ext::subgroup_size_control::NAME)
        {
            all = all.push_next(&mut size_control);
        }
        // SAFETY: as above; the structures chained are those of its version and extensions.
        unsafe {
            instance
                .raw()
                .get_physical_device_properties2(raw, &mut all);
        }
        subgroup.p_next = std::ptr::null_mut();
        floats.p_next = std::ptr::null_mut();
        // SAFETY: as above.
        let memory = unsafe { instance.raw().get_physical_device_memory_properties(raw) };
        let heaps = memory.memory_heaps_as_slice();
        let heap = heaps.iter().map(|h| h.size).max().unwrap_or(0);
        let most = heap.min(maintenance.max_memory_allocation_size);
        let info = DeviceInfo {
            id: format!("vulkan:{number}"),
            name: decode_text(base.device_name_as_c_str()),
            kind: to_device_kind(base.device_type),
            driver: describe_driver(&driver, base.api_version),
            newest_module: Some(newest_module(base.api_version)),
            subgroup_size: subgroup.subgroup_size,
            subgroup_sizes: Vec::new(),
            has_shuffles: has_subgroup_operations(&subgroup, vk::SubgroupFeatureFlags::SHUFFLE),
            features: Vec::new(),
            has_forward_progress: continues_prefix(driver.driver_id),
            special_values: special_values(&floats),
            matrices: Vec::new(),
            has_dense_matrices: false,
            compute_units: count_compute_units(instance, raw, base.device_type, |name| {
                has_extension(&extensions, name)
            }),
            memory_size: heap,
            limits: to_device_limits(&base.limits, most),
        };
        let mut physical = VulkanPhysicalDevice {
            raw,
            info,
            version: base.api_version.min(NEWEST),
            limits: base.limits,
            properties: base,
            timestamps: None,
            driver_id: driver.driver_id,
            wrong: Vec::new(),
            subgroup,
            size_choice: SubgroupSizeChoice::default(),
            most_subgroups: size_control.max_compute_workgroup_subgroups,
            floats,
            extensions,
            is_seen_whole: is_seen_whole(&memory),
        };
        if physical.has_extension(khr::cooperative_matrix::NAME) {
            physical.info.matrices = matrix_shapes::query_matrix_shapes(instance, raw);
        }
        let features = VulkanFeatures::query_device(instance, &physical);
        physical.size_choice = find_size_choice(&features, subgroup.subgroup_size, &size_control);
        physical.info.features = find_kernel_features(&physical, &features);
        Ok(Some(physical))
    }

    /// The properties of timestamps on a family's queues, where they have any.
    pub fn timestamps_of(&self, family: &vk::QueueFamilyProperties) -> Option<(u64, f32)> {
        let mask = match family.timestamp_valid_bits {
            0 => return None,
            64.. => u64::MAX,
            bits => (1 << bits) - 1,
        };
        Some((mask, self.limits.timestamp_period))
    }

    /// Whether it has an extension.
    pub fn has_extension(&self, name: &CStr) -> bool {
        has_extension(&self.extensions, name)
    }
}

fn has_extension(extensions: &[vk::ExtensionProperties], name: &CStr) -> bool {
    let mut names = extensions.iter().map(|e| e.extension_name_as_c_str());
    names.any(|n| n == Ok(name))
}

/// Whether the largest heap of local memory is entirely host-visible.
fn is_seen_whole(memory: &vk::PhysicalDeviceMemoryProperties) -> bool {
    let heaps = memory.memory_heaps_as_slice().iter().enumerate();
    let own = heaps.filter(|(_, h)| h.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
    let Some((largest, _)) = own.max_by_key(|(_, h)| h.size) else {
        return false;
    };
    memory.memory_types_as_slice().iter().any(|ty| {
        let wanted = vk::MemoryPropertyFlags::DEVICE_LOCAL
            | vk::MemoryPropertyFlags::HOST_VISIBLE
            | vk::MemoryPropertyFlags::HOST_COHERENT;
        ty.heap_index as usize == largest && ty.property_flags.contains(wanted)
    })
}

/// Newest version of SPIR-V that a version of Vulkan accepts.
fn newest_module(version: u32) -> SpirvVersion {
    match version {
        vk::API_VERSION_1_3.. => SpirvVersion::new(1, 6),
        _ => SpirvVersion::new(1, 5),
    }
}

/// Whether a driver is known to guarantee progress of each workgroup that has begun. Apple's graphics cards do not, and for those
/// of telephones it is unknown (Sorensen et al., Specifying and Testing GPU Workgroup Progress Models, 2021).
fn continues_prefix(driver: vk::DriverId) -> bool {
    const KNOWN: [vk::DriverId; 8] = [
        vk::DriverId::NVIDIA_PROPRIETARY,
        vk::DriverId::MESA_NVK,
        vk::DriverId::AMD_PROPRIETARY,
        vk::DriverId::AMD_OPEN_SOURCE,
        vk::DriverId::MESA_RADV,
        vk::DriverId::INTEL_PROPRIETARY_WINDOWS,
        vk::DriverId::INTEL_OPEN_SOURCE_MESA,
        vk::DriverId::MESA_LLVMPIPE,
    ];
    KNOWN.contains(&driver)
}

/// Whether subgroups of compute shaders support some operations.
pub fn has_subgroup_operations(
    subgroup: &vk::PhysicalDeviceSubgroupProperties<'_>,
    operations: vk::SubgroupFeatureFlags,
) -> bool {
    let stages = subgroup.supported_stages;
    stages.contains(vk::ShaderStageFlags::COMPUTE)
        && subgroup.supported_operations.contains(operations)
}

/// The widths of floats whose signed zeros, infinities and NaNs can be preserved, a bit each.
fn special_values(floats: &vk::PhysicalDeviceFloatControlsProperties<'_>) -> u32 {
    let widths = [
        (16, floats.shader_signed_zero_inf_nan_preserve_float16),
        (32, floats.shader_signed_zero_inf_nan_preserve_float32),
        (64, floats.shader_signed_zero_inf_nan_preserve_float64),
    ];
    let had = widths.iter().filter(|(_, has)| *has == vk::TRUE);
    had.map(|(width, _)| *width).sum()
}

fn to_device_limits(limits: &vk::PhysicalDeviceLimits, buffer_size: u64) -> DeviceLimits {
    DeviceLimits {
        buffer_size,
        workgroup_size: limits.max_compute_work_group_size,
        workgroup_invocations: limits.max_compute_work_group_invocations,
        workgroup_memory: limits.max_compute_shared_memory_size.into(),
        groups: limits.max_compute_work_group_count,
        folds: true,
        partial_groups: false,
        push_constants: limits.max_push_constants_size,
    }
}

fn to_device_kind(kind: vk::PhysicalDeviceType) -> DeviceKind {
    match kind {
        vk::PhysicalDeviceType::CPU => DeviceKind::Cpu,
        vk::PhysicalDeviceType::DISCRETE_GPU
        | vk::PhysicalDeviceType::INTEGRATED_GPU
        | vk::PhysicalDeviceType::VIRTUAL_GPU => DeviceKind::Gpu,
        _ => DeviceKind::Other,
    }
}

fn describe_driver(driver: &vk::PhysicalDeviceDriverProperties<'_>, version: u32) -> String {
    let name = decode_text(driver.driver_name_as_c_str());
    let info = decode_text(driver.driver_info_as_c_str());
    let driver = format!("{name} {info}");
    let major = vk::api_version_major(version);
    let minor = vk::api_version_minor(version);
    let patch = vk::api_version_patch(version);
    format!("{}, Vulkan {major}.{minor}.{patch}", driver.trim())
}

fn decode_text(text: Result<&CStr, std::ffi::FromBytesUntilNulError>) -> String {
    text.map_or_else(|_| String::new(), |t| t.to_string_lossy().into_owned())
}

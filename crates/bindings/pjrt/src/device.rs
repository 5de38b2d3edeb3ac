//! Devices and their descriptions.

use crate::boundary::{PluginCall, make_cleared};
use crate::error::{PluginError, PluginResult};
use crate::generated::{
    PjrtDevice, PjrtDeviceAddressableMemoriesArgs, PjrtDeviceDefaultMemoryArgs,
    PjrtDeviceDescription, PjrtDeviceDescriptionAttributesArgs,
    PjrtDeviceDescriptionDebugStringArgs, PjrtDeviceDescriptionIdArgs,
    PjrtDeviceDescriptionKindArgs, PjrtDeviceDescriptionProcessIndexArgs,
    PjrtDeviceDescriptionToStringArgs, PjrtDeviceGetDescriptionArgs, PjrtDeviceIsAddressableArgs,
    PjrtDeviceLocalHardwareIdArgs, PjrtDeviceMemoryStatsArgs, PjrtMemory,
};
use crate::handle::{ApiObject, PointerList, as_pointer, get_ref};
use crate::memory::{Memory, MemoryKind};
use crate::named_value::{NamedValue, NamedValueList, OptionValue};
use crate::queue::DeviceQueue;
use spirula_runtime::{ComputeDevice, DeviceInfo, DeviceOptions};
use std::sync::Arc;

/// The description of a device.
pub struct DeviceDescription {
    pub id: i32,
    pub kind: String,
    text: String,
    debug_text: String,
    attributes: NamedValueList,
}

impl ApiObject for DeviceDescription {
    type Opaque = PjrtDeviceDescription;
    const NAME: &'static str = "description of a device";
}

impl DeviceDescription {
    /// The description of the device of a number and a kind.
    pub fn new(id: i32, platform: &str, kind: &str, driver: &str) -> DeviceDescription {
        let coordinates = OptionValue::Integers(vec![id.into(), 0, 0]);
        let attributes = vec![
            NamedValue::new("coords", coordinates),
            NamedValue::new("driver", OptionValue::Text(driver.to_owned())),
        ];
        DeviceDescription {
            id,
            kind: kind.to_owned(),
            text: format!("{platform}:{id}"),
            debug_text: format!("{platform}:{id}, {kind}, {driver}"),
            attributes: NamedValueList::new(attributes),
        }
    }
}

/// A device of a client: one that was opened, or one of several logical devices that share its memory and its queue.
pub struct Device {
    pub description: DeviceDescription,
    /// Its memories, in the order of their kinds.
    pub memories: Box<[Memory]>,
    pub queue: Arc<DeviceQueue>,
    pub info: DeviceInfo,
    memory_pointers: PointerList<PjrtMemory>,
}

impl ApiObject for Device {
    type Opaque = PjrtDevice;
    const NAME: &'static str = "device";
}

impl Device {
    /// The logical devices of a device that was opened, numbered from 0.
    pub fn open_all(
        count: i32,
        platform: &str,
        opened: ComputeDevice,
        options: &DeviceOptions,
    ) -> PluginResult<Vec<Arc<Device>>> {
        let info = opened.info().clone();
        let queue = Arc::new(DeviceQueue::new(opened, options)?);
        let make = |id| Device::new(id, platform, &info, &queue);
        Ok((0..count).map(make).collect())
    }

    fn new(id: i32, platform: &str, info: &DeviceInfo, queue: &Arc<DeviceQueue>) -> Arc<Device> {
        let memories = Box::new(Memory::list_of_device(id, &info.name));
        let device = Arc::new(Device {
            description: DeviceDescription::new(id, platform, &info.name, &info.driver),
            memory_pointers: PointerList::from_objects(memories.iter()),
            memories,
            queue: queue.clone(),
            info: info.clone(),
        });
        for memory in &device.memories {
            memory.attach_device(&device);
        }
        device
    }

    /// The memory of a kind.
    pub fn memory(&self, kind: MemoryKind) -> &Memory {
        &self.memories[kind as usize]
    }
}

impl PluginCall for PjrtDeviceDescriptionIdArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        self.id = get_ref::<DeviceDescription>(self.device_description)?.id;
        Ok(())
    }
}

impl PluginCall for PjrtDeviceDescriptionProcessIndexArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        get_ref::<DeviceDescription>(self.device_description)?;
        self.process_index = 0;
        Ok(())
    }
}

impl PluginCall for PjrtDeviceDescriptionAttributesArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let description = get_ref::<DeviceDescription>(self.device_description)?;
        self.attributes = description.attributes.as_ptr();
        self.num_attributes = description.attributes.len();
        Ok(())
    }
}

impl PluginCall for PjrtDeviceDescriptionKindArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let description = get_ref::<DeviceDescription>(self.device_description)?;
        self.device_kind = description.kind.as_ptr().cast();
        self.device_kind_size = description.kind.len();
        Ok(())
    }
}

impl PluginCall for PjrtDeviceDescriptionDebugStringArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let description = get_ref::<DeviceDescription>(self.device_description)?;
        self.debug_string = description.debug_text.as_ptr().cast();
        self.debug_string_size = description.debug_text.len();
        Ok(())
    }
}

impl PluginCall for PjrtDeviceDescriptionToStringArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let description = get_ref::<DeviceDescription>(self.device_description)?;
        self.to_string = description.text.as_ptr().cast();
        self.to_string_size = description.text.len();
        Ok(())
    }
}

impl PluginCall for PjrtDeviceGetDescriptionArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let device = get_ref::<Device>(self.device)?;
        self.device_description = as_pointer(&device.description);
        Ok(())
    }
}

impl PluginCall for PjrtDeviceIsAddressableArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        get_ref::<Device>(self.device)?;
        self.is_addressable = true.into();
        Ok(())
    }
}

impl PluginCall for PjrtDeviceLocalHardwareIdArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        self.local_hardware_id = get_ref::<Device>(self.device)?.description.id;
        Ok(())
    }
}

impl PluginCall for PjrtDeviceAddressableMemoriesArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let device = get_ref::<Device>(self.device)?;
        self.memories = device.memory_pointers.as_ptr();
        self.num_memories = device.memory_pointers.len();
        Ok(())
    }
}

impl PluginCall for PjrtDeviceDefaultMemoryArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        self.memory = as_pointer(get_ref::<Device>(self.device)?.memory(MemoryKind::Device));
        Ok(())
    }
}

impl PluginCall for PjrtDeviceMemoryStatsArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let device = get_ref::<Device>(self.device)?;
        let usage = device.queue.run(|state| Ok(state.heap.memory_use()))?;
        let to_integer = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        *self = PjrtDeviceMemoryStatsArgs {
            struct_size: self.struct_size,
            extension_start: self.extension_start,
            device: self.device,
            ..make_cleared()
        };
        self.bytes_in_use = to_integer(usage.in_use);
        self.peak_bytes_in_use = to_integer(usage.most_in_use);
        self.peak_bytes_in_use_is_set = true.into();
        self.num_allocs = to_integer(usage.allocations);
        self.num_allocs_is_set = true.into();
        self.bytes_limit = to_integer(device.info.limits.buffer_size);
        self.bytes_limit_is_set = true.into();
        Ok(())
    }
}

/// The place of a buffer that a caller asks for, by a device or by a memory.
///
/// # Errors
/// When the caller names neither.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn find_place(
    device: *const PjrtDevice,
    memory: *const PjrtMemory,
) -> PluginResult<(Arc<Device>, MemoryKind)> {
    if memory.is_null() {
        let device = crate::handle::get_shared(device)?;
        return Ok((device, MemoryKind::Device));
    }
    let memory = get_ref::<Memory>(memory)?;
    let devices = memory.devices.get();
    let device = devices.map(|devices| *devices.as_ptr());
    let device = device.ok_or_else(|| PluginError::internal("a memory has no device"))?;
    Ok((crate::handle::get_shared(device)?, memory.kind))
}

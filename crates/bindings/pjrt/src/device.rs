//! Devices and their descriptions.

use crate::boundary::{PluginCall, make_cleared};
use crate::cluster::ProcessProfile;
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
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The devices of all clients.
static ALL_DEVICES: Mutex<Vec<Weak<Device>>> = Mutex::new(Vec::new());

/// The list of all devices without those that have ended.
fn list_alive() -> MutexGuard<'static, Vec<Weak<Device>>> {
    let mut all = ALL_DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|device| device.strong_count() > 0);
    all
}

/// The description of a device.
pub struct DeviceDescription {
    pub id: i32,
    /// The process that has the device.
    pub process: i32,
    pub kind: String,
    /// Platform and number.
    pub text: String,
    debug_text: String,
    attributes: NamedValueList,
}

impl ApiObject for DeviceDescription {
    type Opaque = PjrtDeviceDescription;
    const NAME: &'static str = "description of a device";
}

impl DeviceDescription {
    /// The description of the device of a number and a process.
    pub fn new(id: i32, process: i32, profile: &ProcessProfile) -> DeviceDescription {
        let ProcessProfile {
            platform,
            kind,
            driver,
            ..
        } = profile;
        let coordinates = OptionValue::Integers(vec![id.into(), 0, 0]);
        let attributes = vec![
            NamedValue::new("coords", coordinates),
            NamedValue::new("driver", OptionValue::Text(driver.clone())),
        ];
        DeviceDescription {
            id,
            process,
            kind: kind.clone(),
            text: format!("{platform}:{id}"),
            debug_text: format!("{platform}:{id}, {kind}, {driver}"),
            attributes: NamedValueList::new(attributes),
        }
    }
}

/// A device of a client. It was opened and has a queue of its own, or it is one of several logical devices that share
/// memory and queue. Others belong to another process.
pub struct Device {
    pub description: DeviceDescription,
    /// The number among the devices of this process; `None` for one of another process, which no job is for.
    pub local: Option<i32>,
    /// The member of the client's mesh that has the device: its process, or its number among the opened devices of the only process.
    pub owner: usize,
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
    /// The devices of all processes, numbered from 0. Those of this process are the devices that were opened, or share the only one.
    pub fn open_all(
        process: usize,
        profiles: &[ProcessProfile],
        opened: Vec<ComputeDevice>,
        options: &DeviceOptions,
    ) -> PluginResult<Vec<Arc<Device>>> {
        let pool = Arc::default();
        let opened = opened.into_iter().map(|device| {
            let info = device.info().clone();
            Ok((info, Arc::new(DeviceQueue::new(device, options, &pool)?)))
        });
        let opened = opened.collect::<PluginResult<Vec<_>>>()?;
        let mut devices = Vec::new();
        for (owner, profile) in profiles.iter().enumerate() {
            for at in 0..profile.devices {
                let id = devices.len() as i32;
                let description = DeviceDescription::new(id, owner as i32, profile);
                let local = (owner == process).then_some(at);
                let member = if opened.len() > 1 { at as usize } else { 0 };
                let (info, queue) = &opened[member];
                let owner = owner + member;
                devices.push(Device::new(description, local, owner, info, queue));
            }
        }
        Ok(devices)
    }

    fn new(
        description: DeviceDescription,
        local: Option<i32>,
        owner: usize,
        info: &DeviceInfo,
        queue: &Arc<DeviceQueue>,
    ) -> Arc<Device> {
        let memories = Box::new(Memory::list_of_device(description.id, &description.kind));
        let device = Arc::new(Device {
            description,
            local,
            owner,
            memory_pointers: PointerList::from_objects(memories.iter()),
            memories,
            queue: queue.clone(),
            info: info.clone(),
        });
        for memory in &device.memories {
            memory.attach_device(&device);
        }
        list_alive().push(Arc::downgrade(&device));
        device
    }

    /// One device of each queue of this process, of all clients.
    pub fn list_queue_owners() -> Vec<Arc<Device>> {
        let mut owners: Vec<Arc<Device>> = Vec::new();
        for device in list_alive().iter().filter_map(Weak::upgrade) {
            let is_of = |owner: &Arc<Device>| Arc::ptr_eq(&owner.queue, &device.queue);
            if device.local.is_some() && !owners.iter().any(is_of) {
                owners.push(device);
            }
        }
        owners
    }

    /// Refuses a device of another process.
    ///
    /// # Errors
    /// When it is one.
    pub fn check_local(&self) -> PluginResult<()> {
        if self.local.is_some() {
            return Ok(());
        }
        let DeviceDescription { id, process, .. } = &self.description;
        let message = format!("device {id} belongs to process {process}, not to this one");
        Err(PluginError::invalid(message))
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
        self.process_index = get_ref::<DeviceDescription>(self.device_description)?.process;
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
        self.is_addressable = get_ref::<Device>(self.device)?.local.is_some().into();
        Ok(())
    }
}

impl PluginCall for PjrtDeviceLocalHardwareIdArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        // PJRT's number of a device of another process.
        self.local_hardware_id = get_ref::<Device>(self.device)?.local.unwrap_or(-1);
        Ok(())
    }
}

impl PluginCall for PjrtDeviceAddressableMemoriesArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let device = get_ref::<Device>(self.device)?;
        if device.local.is_none() {
            self.num_memories = 0;
            return Ok(());
        }
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
        device.check_local()?;
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
        let device: Arc<Device> = crate::handle::get_shared(device)?;
        device.check_local()?;
        return Ok((device, MemoryKind::Device));
    }
    let memory = get_ref::<Memory>(memory)?;
    let devices = memory.devices.get();
    let device = devices.map(|devices| *devices.as_ptr());
    let device = device.ok_or_else(|| PluginError::internal("a memory has no device"))?;
    let device: Arc<Device> = crate::handle::get_shared(device)?;
    device.check_local()?;
    Ok((device, memory.kind))
}

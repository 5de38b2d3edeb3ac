//! Memories: the one in which a device has its arrays.

use crate::boundary::PluginCall;
use crate::device::Device;
use crate::error::PluginResult;
use crate::generated::{
    PjrtDevice, PjrtMemory, PjrtMemoryAddressableByDevicesArgs, PjrtMemoryDebugStringArgs,
    PjrtMemoryIdArgs, PjrtMemoryKindArgs, PjrtMemoryKindIdArgs, PjrtMemoryToStringArgs,
};
use crate::handle::{ApiObject, PointerList, get_ref};
use std::sync::OnceLock;

/// The kind of memory that JAX expects arrays in.
pub const DEVICE_MEMORY: &str = "device";

/// The memory of a device.
pub struct Memory {
    id: i32,
    text: String,
    /// The device. It is set when the device has been made.
    pub devices: OnceLock<PointerList<PjrtDevice>>,
}

impl ApiObject for Memory {
    type Opaque = PjrtMemory;
    const NAME: &'static str = "memory";
}

impl Memory {
    /// The memory of the device of a number.
    pub fn new(id: i32, device: &str) -> Memory {
        Memory {
            id,
            text: format!("{DEVICE_MEMORY} memory of {device}"),
            devices: OnceLock::new(),
        }
    }

    /// Lists the device among those that access the memory.
    pub fn attach_device(&self, device: &Device) {
        // A memory is attached once.
        let _ = self.devices.set(PointerList::from_objects([device]));
    }
}

impl PluginCall for PjrtMemoryIdArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        self.id = get_ref::<Memory>(self.memory)?.id;
        Ok(())
    }
}

impl PluginCall for PjrtMemoryKindArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        get_ref::<Memory>(self.memory)?;
        self.kind = DEVICE_MEMORY.as_ptr().cast();
        self.kind_size = DEVICE_MEMORY.len();
        Ok(())
    }
}

impl PluginCall for PjrtMemoryKindIdArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        get_ref::<Memory>(self.memory)?;
        self.kind_id = 0;
        Ok(())
    }
}

impl PluginCall for PjrtMemoryDebugStringArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let memory = get_ref::<Memory>(self.memory)?;
        self.debug_string = memory.text.as_ptr().cast();
        self.debug_string_size = memory.text.len();
        Ok(())
    }
}

impl PluginCall for PjrtMemoryToStringArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let memory = get_ref::<Memory>(self.memory)?;
        self.to_string = memory.text.as_ptr().cast();
        self.to_string_size = memory.text.len();
        Ok(())
    }
}

impl PluginCall for PjrtMemoryAddressableByDevicesArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let memory = get_ref::<Memory>(self.memory)?;
        if let Some(devices) = memory.devices.get() {
            self.devices = devices.as_ptr();
            self.num_devices = devices.len();
        }
        Ok(())
    }
}

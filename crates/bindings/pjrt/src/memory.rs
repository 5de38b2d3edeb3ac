//! Memories: the one in which a device has its arrays, and that of the host.

use crate::boundary::PluginCall;
use crate::device::Device;
use crate::error::PluginResult;
use crate::generated::{
    PjrtDevice, PjrtMemory, PjrtMemoryAddressableByDevicesArgs, PjrtMemoryDebugStringArgs,
    PjrtMemoryIdArgs, PjrtMemoryKindArgs, PjrtMemoryKindIdArgs, PjrtMemoryToStringArgs,
};
use crate::handle::{ApiObject, PointerList, get_ref};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// A kind of memory. Memory of the host holds arrays that a device has no room for; a processor has all its arrays there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MemoryKind {
    /// The memory in which programs have their arrays.
    Device,
    /// Memory of the host that the system keeps in place.
    PinnedHost,
    /// Memory of the host.
    UnpinnedHost,
}

impl MemoryKind {
    /// All kinds, that of a device first.
    pub const ALL: [MemoryKind; 3] = [
        MemoryKind::Device,
        MemoryKind::PinnedHost,
        MemoryKind::UnpinnedHost,
    ];

    /// The name by which JAX asks for it.
    pub fn name(self) -> &'static str {
        match self {
            MemoryKind::Device => "device",
            MemoryKind::PinnedHost => "pinned_host",
            MemoryKind::UnpinnedHost => "unpinned_host",
        }
    }

    /// The kind of a name.
    pub fn from_name(name: &str) -> Option<MemoryKind> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A memory that a device accesses.
pub struct Memory {
    id: i32,
    pub kind: MemoryKind,
    text: String,
    /// The device. It is set when the device has been made.
    pub devices: OnceLock<PointerList<PjrtDevice>>,
}

impl ApiObject for Memory {
    type Opaque = PjrtMemory;
    const NAME: &'static str = "memory";
}

impl Memory {
    /// The memories of the device of a number, one of each kind.
    pub fn list_of_device(id: i32, device: &str) -> [Memory; MemoryKind::ALL.len()] {
        MemoryKind::ALL.map(|kind| Memory {
            id: id * MemoryKind::ALL.len() as i32 + kind as i32,
            kind,
            text: format!("{} memory of {device}", kind.name()),
            devices: OnceLock::new(),
        })
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
        let name = get_ref::<Memory>(self.memory)?.kind.name();
        self.kind = name.as_ptr().cast();
        self.kind_size = name.len();
        Ok(())
    }
}

impl PluginCall for PjrtMemoryKindIdArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        self.kind_id = get_ref::<Memory>(self.memory)?.kind as i32;
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

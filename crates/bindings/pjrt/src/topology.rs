//! Topologies: the devices of a platform without a client.

use crate::boundary::PluginCall;
use crate::cluster::ProcessProfile;
use crate::device::DeviceDescription;
use crate::error::{PluginError, PluginResult};
use crate::generated::{
    PjrtDeviceDescription, PjrtSerializedTopology, PjrtTopologyDescription,
    PjrtTopologyDescriptionAttributesArgs, PjrtTopologyDescriptionCreateArgs,
    PjrtTopologyDescriptionDeserializeArgs, PjrtTopologyDescriptionDestroyArgs,
    PjrtTopologyDescriptionGetDeviceDescriptionsArgs, PjrtTopologyDescriptionPlatformNameArgs,
    PjrtTopologyDescriptionPlatformVersionArgs, PjrtTopologyDescriptionSerializeArgs,
};
use crate::handle::{ApiObject, PointerList, allocate, free, get_ref, get_slice};
use crate::plugin::{VERSION, choose_devices, platform_of_device};
use crate::serialized::SerializedBytes;
use serde::{Deserialize, Serialize};
use spirula_runtime::{ComputeDevice, DeviceInfo};

/// The devices of a platform.
pub struct Topology {
    facts: TopologyFacts,
    /// The devices, where they stay.
    _descriptions: Box<[DeviceDescription]>,
    pointers: PointerList<PjrtDeviceDescription>,
}

/// The facts of a topology that are stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct TopologyFacts {
    platform: String,
    /// The name by which the device is opened.
    device: String,
    /// The devices of each process.
    processes: Vec<ProcessProfile>,
}

impl ApiObject for Topology {
    type Opaque = PjrtTopologyDescription;
    const NAME: &'static str = "topology";
}

impl Topology {
    /// The topology of a device, and of the devices of other processes.
    pub fn from_device(info: &DeviceInfo, processes: Vec<ProcessProfile>) -> Topology {
        Topology::from_facts(TopologyFacts {
            platform: platform_of_device(info).to_owned(),
            device: info.id.clone(),
            processes,
        })
    }

    fn from_facts(facts: TopologyFacts) -> Topology {
        let mut descriptions = Vec::new();
        for (process, profile) in facts.processes.iter().enumerate() {
            for _ in 0..profile.devices {
                let id = descriptions.len() as i32;
                descriptions.push(DeviceDescription::new(id, process as i32, profile));
            }
        }
        let descriptions = descriptions.into_boxed_slice();
        Topology {
            pointers: PointerList::from_objects(&descriptions),
            _descriptions: descriptions,
            facts,
        }
    }

    /// The facts of the device, if this machine has it.
    pub fn device_info(&self) -> PluginResult<DeviceInfo> {
        Ok(ComputeDevice::find_info(&self.facts.device)?)
    }
}

impl PluginCall for PjrtTopologyDescriptionCreateArgs {
    /// Names of topologies are names of devices; others mean the device that a client would open.
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let name = crate::handle::get_text(self.topology_name, self.topology_name_size)?;
        let options =
            crate::named_value::NamedValue::read_all(self.create_options, self.num_options)?;
        let named = ComputeDevice::find_info(&name).ok();
        let infos = named.map_or_else(|| choose_devices(&options), |info| Ok(vec![info]))?;
        let profile = ProcessProfile::choose(&infos, &options)?;
        self.topology = allocate(Topology::from_device(&infos[0], vec![profile]));
        Ok(())
    }
}

impl PluginCall for PjrtTopologyDescriptionDestroyArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        free::<Topology>(self.topology);
        Ok(())
    }
}

impl PluginCall for PjrtTopologyDescriptionPlatformNameArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let topology = get_ref::<Topology>(self.topology)?;
        self.platform_name = topology.facts.platform.as_ptr().cast();
        self.platform_name_size = topology.facts.platform.len();
        Ok(())
    }
}

impl PluginCall for PjrtTopologyDescriptionPlatformVersionArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        get_ref::<Topology>(self.topology)?;
        self.platform_version = VERSION.as_ptr().cast();
        self.platform_version_size = VERSION.len();
        Ok(())
    }
}

impl PluginCall for PjrtTopologyDescriptionGetDeviceDescriptionsArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let topology = get_ref::<Topology>(self.topology)?;
        self.descriptions = topology.pointers.as_ptr();
        self.num_descriptions = topology.pointers.len();
        Ok(())
    }
}

impl PluginCall for PjrtTopologyDescriptionAttributesArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        get_ref::<Topology>(self.topology)?;
        self.num_attributes = 0;
        Ok(())
    }
}

impl PluginCall for PjrtTopologyDescriptionSerializeArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let topology = get_ref::<Topology>(self.topology)?;
        let bytes = serde_json::to_vec(&topology.facts);
        let bytes = bytes.map_err(|error| PluginError::internal(error.to_string()))?;
        let serialized = Box::new(SerializedBytes(bytes));
        self.serialized_bytes = serialized.0.as_ptr().cast();
        self.serialized_bytes_size = serialized.0.len();
        self.serialized_topology = Box::into_raw(serialized).cast();
        self.serialized_topology_deleter = Some(delete_serialized_topology);
        Ok(())
    }
}

unsafe extern "C" fn delete_serialized_topology(topology: *mut PjrtSerializedTopology) {
    free::<SerializedBytes>(topology.cast());
}

impl PluginCall for PjrtTopologyDescriptionDeserializeArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let (first, count) = (self.serialized_topology, self.serialized_topology_size);
        let bytes = get_slice(first.cast::<u8>(), count)?;
        let facts = serde_json::from_slice(bytes);
        let facts = facts.map_err(|error| {
            PluginError::invalid(format!("the bytes are no topology of this plugin: {error}"))
        })?;
        self.topology = allocate(Topology::from_facts(facts));
        Ok(())
    }
}

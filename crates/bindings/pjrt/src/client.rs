//! Clients: the devices of a platform, and the programs that were compiled for them.

use crate::boundary::PluginCall;
use crate::cluster::{
    CLUSTER_OPTIONS, ClusterMembers, ClusterOptions, ProcessCluster, ProcessProfile,
};
use crate::device::Device;
use crate::error::{PluginError, PluginResult};
use crate::generated::{
    PjrtClient, PjrtClientAddressableDevicesArgs, PjrtClientAddressableMemoriesArgs,
    PjrtClientCreateArgs, PjrtClientDefaultDeviceAssignmentArgs, PjrtClientDestroyArgs,
    PjrtClientDevicesArgs, PjrtClientLookupAddressableDeviceArgs, PjrtClientLookupDeviceArgs,
    PjrtClientPlatformNameArgs, PjrtClientPlatformVersionArgs, PjrtClientProcessIndexArgs,
    PjrtClientTopologyDescriptionArgs, PjrtDevice, PjrtErrorCode, PjrtMemory,
};
use crate::handle::{ApiObject, PointerList, allocate, as_pointer, free, get_ref};
use crate::key_value::CallbackStore;
use crate::module_cache::ModuleCache;
use crate::named_value::{NamedValue, OptionValue};
use crate::plugin::{
    CHOICE_OPTIONS, VERSION, choose_devices, choose_partition, choose_timeout, platform_of_device,
};
use crate::topology::Topology;
use spirula_runtime::{ComputeDevice, DeviceOptions};
use std::sync::Arc;

/// A client.
pub struct Client {
    platform: &'static str,
    /// The devices of all processes, by their numbers.
    pub devices: Vec<Arc<Device>>,
    /// The members of its mesh, where there are several processes, or several devices with queues of their own.
    pub cluster: Option<Arc<ClusterMembers>>,
    pub modules: ModuleCache,
    /// Whether programs for several devices are partitioned.
    pub is_partitioning: bool,
    topology: Topology,
    device_pointers: PointerList<PjrtDevice>,
    local_pointers: PointerList<PjrtDevice>,
    memory_pointers: PointerList<PjrtMemory>,
}

impl ApiObject for Client {
    type Opaque = PjrtClient;
    const NAME: &'static str = "client";
}

impl Client {
    /// Opens the devices that the options ask for, or one as several logical devices, and connects to other
    /// processes.
    fn new(options: &[NamedValue], arguments: &PjrtClientCreateArgs) -> PluginResult<Client> {
        let infos = choose_devices(options)?;
        let info = infos[0].clone();
        let platform = platform_of_device(&info);
        let device_options = read_device_options(options)?;
        let opened = infos
            .iter()
            .map(|info| ComputeDevice::open(&info.id, &device_options));
        let opened = opened.collect::<Result<Vec<_>, _>>()?;
        let own = ProcessProfile::choose(&infos, options)?;
        let (cluster, profiles) = match ClusterOptions::read(options)? {
            None => {
                let cluster = ClusterMembers::link_devices(opened.len(), options)?;
                (cluster, vec![own])
            }
            Some(_) if opened.len() > 1 => {
                let message = "a process of several has one device: name one in each";
                return Err(PluginError::unimplemented(message));
            }
            Some(options) => {
                let store = CallbackStore::from_arguments(arguments)?;
                let (cluster, profiles) = ProcessCluster::establish(&options, &store, &own)?;
                (Some(ClusterMembers::from_process(cluster)), profiles)
            }
        };
        let process = cluster.as_ref().map_or(0, |members| members.process());
        let devices = Device::open_all(process, &profiles, opened, &device_options)?;
        let local = || devices.iter().filter(|device| device.local.is_some());
        Ok(Client {
            platform,
            modules: ModuleCache::default(),
            is_partitioning: choose_partition(options)?,
            topology: Topology::from_device(&info, profiles),
            device_pointers: PointerList::from_objects(devices.iter().map(|device| &**device)),
            local_pointers: PointerList::from_objects(local().map(|device| &**device)),
            memory_pointers: PointerList::from_objects(local().flat_map(|device| &device.memories)),
            devices,
            cluster,
        })
    }

    /// The number of this process.
    pub fn process(&self) -> usize {
        let cluster = self.cluster.as_ref();
        cluster.map_or(0, |members| members.process())
    }

    /// The device of a number.
    ///
    /// # Errors
    /// When there is none.
    pub fn find_device(&self, id: i32) -> PluginResult<&Arc<Device>> {
        let mut devices = self.devices.iter();
        let found = devices.find(|device| device.description.id == id);
        found.ok_or_else(|| {
            let message = format!("there is no device {id}");
            PluginError::new(PjrtErrorCode::NOT_FOUND, message)
        })
    }
}

/// The options of a device: `threads`, and `timeout`, the seconds that a launch may take.
fn read_device_options(options: &[NamedValue]) -> PluginResult<DeviceOptions> {
    let mut read = DeviceOptions {
        timeout: choose_timeout(options)?,
        ..DeviceOptions::default()
    };
    for option in options {
        match (option.name.as_str(), &option.value) {
            (name, _) if CHOICE_OPTIONS.contains(&name) || CLUSTER_OPTIONS.contains(&name) => {}
            ("threads", OptionValue::Integer(count)) if *count > 0 => {
                read.threads = usize::try_from(*count).ok();
            }
            (name, _) => {
                let message = format!("the option {name} is unknown or has a wrong value");
                return Err(PluginError::invalid(message));
            }
        }
    }
    Ok(read)
}

impl PluginCall for PjrtClientCreateArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let options = NamedValue::read_all(self.create_options, self.num_options)?;
        self.client = allocate(Client::new(&options, self)?);
        Ok(())
    }
}

impl PluginCall for PjrtClientDestroyArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        free::<Client>(self.client);
        Ok(())
    }
}

impl PluginCall for PjrtClientPlatformNameArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let client = get_ref::<Client>(self.client)?;
        self.platform_name = client.platform.as_ptr().cast();
        self.platform_name_size = client.platform.len();
        Ok(())
    }
}

impl PluginCall for PjrtClientPlatformVersionArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        get_ref::<Client>(self.client)?;
        self.platform_version = VERSION.as_ptr().cast();
        self.platform_version_size = VERSION.len();
        Ok(())
    }
}

impl PluginCall for PjrtClientProcessIndexArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        self.process_index = get_ref::<Client>(self.client)?.process() as i32;
        Ok(())
    }
}

impl PluginCall for PjrtClientTopologyDescriptionArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        self.topology = as_pointer(&get_ref::<Client>(self.client)?.topology);
        Ok(())
    }
}

impl PluginCall for PjrtClientDevicesArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let client = get_ref::<Client>(self.client)?;
        self.devices = client.device_pointers.as_ptr();
        self.num_devices = client.device_pointers.len();
        Ok(())
    }
}

impl PluginCall for PjrtClientAddressableDevicesArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let client = get_ref::<Client>(self.client)?;
        self.addressable_devices = client.local_pointers.as_ptr();
        self.num_addressable_devices = client.local_pointers.len();
        Ok(())
    }
}

impl PluginCall for PjrtClientLookupDeviceArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let client = get_ref::<Client>(self.client)?;
        self.device = as_pointer(&**client.find_device(self.id)?);
        Ok(())
    }
}

impl PluginCall for PjrtClientLookupAddressableDeviceArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let client = get_ref::<Client>(self.client)?;
        let wanted = self.local_hardware_id;
        let mut devices = client.devices.iter();
        let device = devices.find(|device| device.local == Some(wanted));
        let device = device.ok_or_else(|| {
            let message = format!("this process has no device {wanted}");
            PluginError::new(PjrtErrorCode::NOT_FOUND, message)
        })?;
        self.addressable_device = as_pointer(&**device);
        Ok(())
    }
}

impl PluginCall for PjrtClientAddressableMemoriesArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let client = get_ref::<Client>(self.client)?;
        self.addressable_memories = client.memory_pointers.as_ptr();
        self.num_addressable_memories = client.memory_pointers.len();
        Ok(())
    }
}

impl PluginCall for PjrtClientDefaultDeviceAssignmentArgs {
    /// Replicas and partitions take the devices in their order.
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let client = get_ref::<Client>(self.client)?;
        let wanted = i64::from(self.num_replicas) * i64::from(self.num_partitions);
        let there = client.devices.len();
        if wanted < 0 || wanted > there as i64 {
            let message = format!("a program for {wanted} devices; there are {there}");
            return Err(PluginError::invalid(message));
        }
        let wanted = wanted as usize;
        if self.default_assignment_size < wanted || self.default_assignment.is_null() {
            return Err(PluginError::invalid(
                "the array for the assignment is too small",
            ));
        }
        for (at, device) in client.devices[..wanted].iter().enumerate() {
            self.default_assignment.add(at).write(device.description.id);
        }
        Ok(())
    }
}

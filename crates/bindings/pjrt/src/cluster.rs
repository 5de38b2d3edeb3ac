//! Processes of a client: their devices, and the runs of programs that several of them share. Opened devices of one process, each with
//! a queue of its own, stand in the place of processes.

use crate::boundary::PluginCall;
use crate::client::Client;
use crate::error::{PluginError, PluginResult};
use crate::exchange_site::finish_number;
use crate::generated::{
    PjrtClientUpdateGlobalProcessInfoArgs, PjrtErrorCode, PjrtProcessInfo, PjrtProcessState,
};
use crate::handle::{get_ref, get_slice, get_text};
use crate::named_value::NamedValue;
use crate::plugin::{
    VERSION, choose_device_count, convert_seconds, platform_of_device, read_integer, read_number,
    read_text,
};
use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};
use spirula_exchange::frame::RunKey;
use spirula_exchange::{ExchangeError, KeyValueStore, MeshOptions, ProcessMesh};
use spirula_runtime::DeviceInfo;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The options of a client that this module reads.
pub const CLUSTER_OPTIONS: [&str; 6] = [
    PROCESS_OPTION,
    COUNT_OPTION,
    "partition_index",
    LISTEN_OPTION,
    COORDINATOR_OPTION,
    TIMEOUT_OPTION,
];

/// The option that has the number of this process.
const PROCESS_OPTION: &str = "node_id";
/// The option that has the number of processes.
const COUNT_OPTION: &str = "num_nodes";
/// The option that has the address at which this process listens.
const LISTEN_OPTION: &str = "listen_address";
/// The variable of the environment that has it, where the option is missing.
const LISTEN_VARIABLE: &str = "SPIRULA_LISTEN_ADDRESS";
/// The option that has the address of the coordinator, whose network others are reached by.
const COORDINATOR_OPTION: &str = "coordinator_address";
/// The option that has the seconds for which a process waits for another.
const TIMEOUT_OPTION: &str = "peer_timeout";
/// The variable of the environment that has them, where the option is missing.
const TIMEOUT_VARIABLE: &str = "SPIRULA_PEER_TIMEOUT";
/// The seconds where neither says them.
const DEFAULT_TIMEOUT: i64 = 300;
/// Most processes.
const MOST_PROCESSES: i64 = 1024;

/// The devices of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessProfile {
    pub platform: String,
    pub kind: String,
    pub driver: String,
    /// Number of devices, logical ones or opened ones.
    pub devices: i32,
}

impl ProcessProfile {
    /// The profile of devices that are alike, or of one as several logical devices.
    ///
    /// # Errors
    /// When that number is wrong.
    pub fn choose(infos: &[DeviceInfo], options: &[NamedValue]) -> PluginResult<ProcessProfile> {
        let info = &infos[0];
        let devices = match infos.len() {
            1 => choose_device_count(options)?,
            several => several as i32,
        };
        Ok(ProcessProfile {
            platform: platform_of_device(info).to_owned(),
            kind: info.name.clone(),
            driver: info.driver.clone(),
            devices,
        })
    }
}

/// The members of a client's mesh that are in this process: the process itself, or each of its devices.
pub struct ClusterMembers {
    pub members: Vec<Arc<ProcessCluster>>,
    /// Held while a run is submitted: all members get their runs in one order, as they wait for each other.
    order: Mutex<()>,
}

impl ClusterMembers {
    /// The process as a member.
    pub fn from_process(cluster: ProcessCluster) -> Arc<ClusterMembers> {
        Self::from_members(vec![cluster])
    }

    /// Devices of this process as members; `None` where there is one.
    ///
    /// # Errors
    /// When the option for the longest wait has a wrong value.
    pub fn link_devices(
        count: usize,
        options: &[NamedValue],
    ) -> PluginResult<Option<Arc<ClusterMembers>>> {
        if count < 2 {
            return Ok(None);
        }
        let meshes = ProcessMesh::link_threads(count, read_peer_timeout(options)?);
        let members = meshes.into_iter().map(ProcessCluster::from_mesh);
        Ok(Some(Self::from_members(members.collect())))
    }

    fn from_members(members: Vec<ProcessCluster>) -> Arc<ClusterMembers> {
        Arc::new(ClusterMembers {
            members: members.into_iter().map(Arc::new).collect(),
            order: Mutex::default(),
        })
    }

    /// The member that is this process, unless its devices are.
    fn find_process(&self) -> Option<&ProcessCluster> {
        let mut members = self.members.iter().map(|cluster| &**cluster);
        members.find(|cluster| !cluster.mesh.is_of_threads())
    }

    /// The number of this process.
    pub fn process(&self) -> usize {
        self.find_process()
            .map_or(0, |cluster| cluster.mesh.process())
    }

    /// The turn to submit a run to all members.
    pub fn lock_order(&self) -> MutexGuard<'_, ()> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next run of a program on devices, for each member. All processes of these begin their runs in the same order.
    pub fn begin_run(&self, devices: &[i64], owners: &Arc<Vec<usize>>) -> Vec<SharedRun> {
        let Some(first) = self.members.first() else {
            return Vec::new();
        };
        let key = first.next_run(devices);
        let members = self.members.iter().map(|cluster| SharedRun {
            cluster: cluster.clone(),
            key,
            owners: owners.clone(),
        });
        members.collect()
    }
}

/// The longest wait for another process, by the options or the environment.
fn read_peer_timeout(options: &[NamedValue]) -> PluginResult<Duration> {
    let timeout = read_number(options, TIMEOUT_OPTION, TIMEOUT_VARIABLE)?;
    let subject = format!("the option {TIMEOUT_OPTION}");
    convert_seconds(timeout.unwrap_or(DEFAULT_TIMEOUT), &subject)
}

/// A process of a client, or a device that stands for one.
pub struct ProcessCluster {
    pub mesh: ProcessMesh,
    /// Number of runs so far, by their devices.
    runs: Mutex<HashMap<u64, u64>>,
}

/// A run of a program that several processes share.
#[derive(Clone)]
pub struct SharedRun {
    pub cluster: Arc<ProcessCluster>,
    pub key: RunKey,
    /// The member of the mesh that has each device of the program: its process, or the device itself.
    pub owners: Arc<Vec<usize>>,
}

impl From<ExchangeError> for PluginError {
    fn from(error: ExchangeError) -> PluginError {
        let code = match &error {
            ExchangeError::Missing { .. } | ExchangeError::Silent { .. } => {
                PjrtErrorCode::DEADLINE_EXCEEDED
            }
            ExchangeError::Lost { .. } => PjrtErrorCode::UNAVAILABLE,
            ExchangeError::Aborted { .. } => PjrtErrorCode::ABORTED,
            ExchangeError::Version { .. } | ExchangeError::Program { .. } => {
                PjrtErrorCode::FAILED_PRECONDITION
            }
            _ => PjrtErrorCode::INTERNAL,
        };
        PluginError::new(code, error.to_string())
    }
}

/// The place of a process among all, by the options of a client; `None` where there is one process.
pub struct ClusterOptions {
    process: usize,
    count: usize,
    listen: IpAddr,
    timeout: Duration,
}

impl ClusterOptions {
    /// Reads the options.
    ///
    /// # Errors
    /// When one has a wrong value.
    pub fn read(options: &[NamedValue]) -> PluginResult<Option<ClusterOptions>> {
        let count = read_integer(options, COUNT_OPTION)?.unwrap_or(1);
        let process = read_integer(options, PROCESS_OPTION)?.unwrap_or(0);
        if !(1..=MOST_PROCESSES).contains(&count) || !(0..count).contains(&process) {
            let message = format!("process {process} of {count} processes");
            return Err(PluginError::invalid(message));
        }
        if count == 1 {
            return Ok(None);
        }
        Ok(Some(ClusterOptions {
            process: process as usize,
            count: count as usize,
            listen: choose_listen_address(options)?,
            timeout: read_peer_timeout(options)?,
        }))
    }
}

/// The address that the options or the environment name; otherwise that from which the coordinator is reached, or the loopback.
fn choose_listen_address(options: &[NamedValue]) -> PluginResult<IpAddr> {
    let variable = std::env::var(LISTEN_VARIABLE).ok();
    let asked = read_text(options, LISTEN_OPTION)?.or(variable.as_deref());
    if let Some(asked) = asked.filter(|text| !text.is_empty()) {
        let address = asked.parse::<IpAddr>().ok();
        // Others connect to the address.
        let address = address.filter(|address| !address.is_unspecified());
        return address.ok_or_else(|| {
            let message = format!(
                "the address to listen at is {asked:?}, which is no IP address of this host"
            );
            PluginError::invalid(message)
        });
    }
    let coordinator = read_text(options, COORDINATOR_OPTION)?;
    let reached = coordinator.and_then(find_own_address);
    Ok(reached.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)))
}

/// The own address from which another one is reached. No packet is sent.
fn find_own_address(coordinator: &str) -> Option<IpAddr> {
    let mut addresses = coordinator.to_socket_addrs().ok()?;
    let target: SocketAddr = addresses.next()?;
    let any: SocketAddr = match target {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (std::net::Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(any).ok()?;
    socket.connect(target).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

/// The number of a client among those of its platform in this process. The processes make theirs in the same order.
fn count_client(platform: &str) -> u64 {
    static CLIENTS: Mutex<Vec<(String, u64)>> = Mutex::new(Vec::new());
    let mut clients = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
    match clients.iter_mut().find(|(own, _)| own == platform) {
        Some((_, number)) => {
            *number += 1;
            *number
        }
        None => {
            clients.push((platform.to_owned(), 0));
            0
        }
    }
}

impl ProcessCluster {
    fn from_mesh(mesh: ProcessMesh) -> ProcessCluster {
        ProcessCluster {
            mesh,
            runs: Mutex::default(),
        }
    }

    /// Connects this process with all others. Returns the profiles of all.
    ///
    /// # Errors
    /// When a process is missing, or has another version or platform.
    pub fn establish(
        options: &ClusterOptions,
        store: &dyn KeyValueStore,
        own: &ProcessProfile,
    ) -> PluginResult<(ProcessCluster, Vec<ProcessProfile>)> {
        let number = count_client(&own.platform);
        let mesh_options = MeshOptions {
            process: options.process,
            count: options.count,
            listen: options.listen,
            timeout: options.timeout,
            version: VERSION.to_owned(),
            space: format!("{}/{number}", own.platform),
        };
        let text = serde_json::to_string(own);
        let text = text.map_err(|error| PluginError::internal(error.to_string()))?;
        let (mesh, texts) = ProcessMesh::establish(&mesh_options, store, &text)?;
        let profiles = texts.iter().enumerate().map(|(process, text)| {
            let profile = serde_json::from_str::<ProcessProfile>(text);
            let profile = profile
                .ok()
                .filter(|profile| profile.devices > 0 && profile.platform == own.platform);
            profile.ok_or_else(|| {
                let message = format!(
                    "process {process} has other devices than those of {}: {text}",
                    own.platform
                );
                PluginError::new(PjrtErrorCode::FAILED_PRECONDITION, message)
            })
        });
        let profiles = profiles.collect::<PluginResult<_>>()?;
        Ok((Self::from_mesh(mesh), profiles))
    }

    /// The key of the next run on devices.
    fn next_run(&self, devices: &[i64]) -> RunKey {
        let mut hash = Md5::new();
        devices.iter().for_each(|id| hash.update(id.to_le_bytes()));
        let devices = finish_number(hash);
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let number = runs.entry(devices).or_default();
        *number += 1;
        RunKey {
            devices,
            number: *number,
        }
    }
}

impl PluginCall for PjrtClientUpdateGlobalProcessInfoArgs {
    /// The coordinator tells which processes have failed.
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let client = get_ref::<Client>(self.client)?;
        let members = client.cluster.as_ref();
        let Some(cluster) = members.and_then(|members| members.find_process()) else {
            return Ok(());
        };
        let states: &[PjrtProcessInfo] = get_slice(self.process_infos, self.num_process_infos)?;
        for state in states {
            if state.state == PjrtProcessState::ERROR {
                let reason = get_text(state.error_message, state.error_message_size)?;
                let process = usize::try_from(state.task_id).unwrap_or(usize::MAX);
                cluster.mesh.lose_process(process, &reason);
            }
        }
        Ok(())
    }
}

impl SharedRun {
    /// The member of the mesh, for messages.
    pub fn describe_member(&self) -> String {
        let mesh = &self.cluster.mesh;
        let subject = if mesh.is_of_threads() {
            "device"
        } else {
            "process"
        };
        format!("{subject} {}", mesh.process())
    }

    /// Ends the run here.
    pub fn end(&self) {
        self.cluster.mesh.end_run(self.key);
    }

    /// Ends the run here, and tells the other processes why.
    pub fn abort(&self, reason: &PluginError) {
        let mesh = &self.cluster.mesh;
        let mut others: Vec<usize> = self.owners.to_vec();
        others.sort_unstable();
        others.dedup();
        others.retain(|process| *process != mesh.process());
        mesh.abort_run(self.key, &others, &reason.message);
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named_value::OptionValue;

    fn read(options: &[(&str, OptionValue)]) -> PluginResult<Option<ClusterOptions>> {
        let options = options.iter();
        let options = options.map(|(name, value)| NamedValue::new(name, value.clone()));
        ClusterOptions::read(&options.collect::<Vec<_>>())
    }

    #[test]
    fn places_of_processes_are_read() {
        let place = |process, count| {
            [
                (PROCESS_OPTION, OptionValue::Integer(process)),
                (COUNT_OPTION, OptionValue::Integer(count)),
            ]
        };
        assert!(read(&[]).unwrap().is_none());
        assert!(read(&place(0, 1)).unwrap().is_none());
        let read_place = read(&place(2, 3)).unwrap().unwrap();
        assert_eq!((read_place.process, read_place.count), (2, 3));
        for (process, count) in [(3, 3), (-1, 2), (0, 0), (0, MOST_PROCESSES + 1)] {
            assert!(
                read(&place(process, count)).is_err(),
                "{process} of {count}"
            );
        }
    }

    #[test]
    fn addresses_are_those_that_were_asked_for() {
        let listen = |address: &str| {
            let value = OptionValue::Text(address.to_owned());
            choose_listen_address(&[NamedValue::new(LISTEN_OPTION, value)])
        };
        assert_eq!(listen("127.0.0.2").unwrap().to_string(), "127.0.0.2");
        for wrong in ["localhost", "0.0.0.0", "::", "1.2.3"] {
            assert!(listen(wrong).is_err(), "{wrong}");
        }
        assert!(find_own_address("127.0.0.1:9").unwrap().is_loopback());
        assert_eq!(find_own_address("no address"), None);
    }
}

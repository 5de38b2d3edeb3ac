//! Runs of a program for devices of several processes: this process runs it once for each of its devices. Devices of one process that
//! have queues of their own stand in the place of processes.
//!
//! A device pauses where it exchanges elements with others. When all devices of a group that belong to this process have come there,
//! the process exchanges the elements of all of them with the other processes, and the devices go on. So the devices may take different
//! branches and numbers of iterations, as long as those of a group meet. An error of a device or process is that of the run in
//! every process.

use crate::buffer::upload_value;
use crate::client::Client;
use crate::cluster::{ClusterMembers, SharedRun};
use crate::device::Device;
use crate::device_state::DeviceState;
use crate::element::{ArrayType, ElementFormat};
use crate::error::{PluginError, PluginResult};
use crate::exchange_site::ExchangeSite;
use crate::execute::{
    ArgumentList, ResultList, ShardedArguments, ShardedResults, adapt_arguments, store_results,
    take_arguments,
};
use crate::ffi::SharedUserData;
use crate::group_exchange::{DeviceExchange, ExchangedParts};
use crate::host_call::{PreparedHostCall, StepOutcome, start_program};
use crate::host_pool::HostPool;
use crate::module::CompiledModule;
use crate::queue::{HostWork, JobProgress, JobWork};
use spirula_exchange::frame::MessageTag;
use spirula_program::ForeignFailure;
use std::collections::HashMap;
use std::sync::{Arc, MutexGuard};
use std::thread;

/// The share of this process in a program for devices of several members of a mesh.
pub struct ProcessShare {
    cluster: Arc<ClusterMembers>,
    /// The numbers of all devices of the program.
    devices: Vec<i64>,
    /// The member of the mesh that has each.
    owners: Arc<Vec<usize>>,
    /// The devices of each member that belongs to this process.
    parts: Vec<SharePart>,
}

/// The devices of a member of the mesh.
struct SharePart {
    /// Their numbers in the program.
    numbers: Arc<Vec<usize>>,
    /// Their places in the list of the devices of this process.
    places: Vec<usize>,
}

/// A run of a program, with the devices of a member.
#[derive(Clone)]
pub struct ProcessRun {
    pub shared: SharedRun,
    own: Arc<Vec<usize>>,
    /// The places of the devices in the list of the devices of this process.
    pub places: Vec<usize>,
}

/// Whether devices have queues of their own, here or in other processes, so that each runs a program by itself.
pub fn span_queues(devices: &[Arc<Device>]) -> bool {
    let Some(first) = devices.first() else {
        return false;
    };
    let is_apart =
        |device: &Arc<Device>| device.local.is_none() || !Arc::ptr_eq(&device.queue, &first.queue);
    devices.len() > 1 && devices.iter().any(is_apart)
}

impl ProcessShare {
    /// The share in a module on devices; `None` where all have one queue.
    ///
    /// # Errors
    /// When the module was compiled for devices of one queue, and these have several.
    pub fn new(
        module: &CompiledModule,
        devices: &[Arc<Device>],
        client: &Client,
    ) -> PluginResult<Option<ProcessShare>> {
        let is_of_one_device = module.facts.shardings.is_of_one_device;
        if devices.len() > 1 && span_queues(devices) != is_of_one_device {
            let message = if is_of_one_device {
                "the program was compiled for devices with queues of their own, which these devices share"
            } else {
                "the program was compiled for devices that share a queue, but these devices have several"
            };
            return Err(PluginError::invalid(message));
        }
        let Some(cluster) = client.cluster.as_ref().filter(|_| is_of_one_device) else {
            return Ok(None);
        };
        let own = (0..devices.len()).filter(|at| devices[*at].local.is_some());
        let own: Vec<usize> = own.collect();
        let parts = cluster.members.iter().map(|member| {
            let owner = member.mesh.process();
            let places = (0..own.len()).filter(|place| devices[own[*place]].owner == owner);
            let places: Vec<usize> = places.collect();
            SharePart {
                numbers: Arc::new(places.iter().map(|place| own[*place]).collect()),
                places,
            }
        });
        Ok(Some(ProcessShare {
            parts: parts.collect(),
            cluster: cluster.clone(),
            devices: devices
                .iter()
                .map(|device| device.description.id.into())
                .collect(),
            owners: Arc::new(devices.iter().map(|device| device.owner).collect()),
        }))
    }

    /// The turn to begin a run and to submit it.
    pub fn lock_order(&self) -> MutexGuard<'_, ()> {
        self.cluster.lock_order()
    }

    /// Begins the next run, for each member with devices of the program.
    pub fn begin_run(&self) -> Vec<ProcessRun> {
        let shared = self.cluster.begin_run(&self.devices, &self.owners);
        let parts = shared.into_iter().zip(&self.parts);
        let parts = parts.filter(|(_, part)| !part.places.is_empty());
        let runs = parts.map(|(shared, part)| ProcessRun {
            shared,
            own: part.numbers.clone(),
            places: part.places.clone(),
        });
        runs.collect()
    }
}

/// The program of a device.
struct DeviceProgram {
    /// Its number in the program.
    number: usize,
    arguments: ArgumentList,
    results: ResultList,
    /// The state after its last steps; `None` once its results are stored.
    outcome: Option<StepOutcome>,
}

/// The programs of all devices of this process, or of a device with a queue of its own.
struct ProcessPrograms {
    module: Arc<CompiledModule>,
    run: ProcessRun,
    user_data: Vec<SharedUserData>,
    devices: Vec<DeviceProgram>,
    /// How often each group has come to each exchange.
    turns: HashMap<(u32, u32), u32>,
}

/// A group of devices that have all come to an exchange.
struct ReadyGroup {
    site: ExchangeSite,
    number: u32,
    members: Vec<usize>,
    /// The places of its devices in the list of programs, in the order of the members.
    places: Vec<usize>,
}

/// Runs a program for the devices of this process.
pub fn run_process(
    state: &mut DeviceState,
    module: &Arc<CompiledModule>,
    run: ProcessRun,
    arguments: ShardedArguments,
    results: ShardedResults,
    user_data: Vec<SharedUserData>,
) -> PluginResult<JobProgress> {
    let numbers = run.own.iter().copied();
    let devices = numbers.zip(arguments).zip(results);
    let devices = devices.map(|((number, arguments), results)| DeviceProgram {
        number,
        arguments,
        results,
        outcome: None,
    });
    let mut programs = ProcessPrograms {
        module: module.clone(),
        devices: devices.collect(),
        run,
        user_data,
        turns: HashMap::new(),
    };
    match programs.start_all(state) {
        Ok(()) => programs.advance(state),
        Err(error) => Err(programs.fail(state, error)),
    }
}

impl ProcessPrograms {
    fn start_all(&mut self, state: &mut DeviceState) -> PluginResult<()> {
        for at in 0..self.devices.len() {
            let started = self.start_device(state, at);
            if started.is_err() {
                // The arguments of the others have no user.
                let rest = self.devices[at + 1..].iter();
                let rest = rest.flat_map(|device| &device.arguments);
                rest.filter(|argument| argument.is_donated)
                    .for_each(|argument| state.release_array(argument.id));
            }
            self.devices[at].outcome = Some(started?);
        }
        Ok(())
    }

    fn start_device(&mut self, state: &mut DeviceState, at: usize) -> PluginResult<StepOutcome> {
        let device = &self.devices[at];
        let ty = ArrayType::new(ElementFormat::from_name("ui32")?, Vec::new())?;
        let number = (device.number as u32).to_le_bytes();
        let first = vec![upload_value(state, &ty, &number)?];
        let given = take_arguments(state, first, &device.arguments)?;
        let given = adapt_arguments(state, &self.module, given)?;
        start_program(state, &self.module, given)
    }

    /// Continues until all devices have ended, or one calls a function of the host.
    fn advance(mut self, state: &mut DeviceState) -> PluginResult<JobProgress> {
        loop {
            if let Err(error) = self.store_ended(state) {
                return Err(self.fail(state, error));
            }
            if self.devices.iter().all(|device| device.outcome.is_none()) {
                self.run.shared.end();
                return Ok(JobProgress::Done);
            }
            if self.find_host_call().is_some() {
                let work: HostWork = Box::new(move || self.call_function());
                return Ok(JobProgress::Host(work));
            }
            if let Err(error) = self.exchange_ready(state) {
                return Err(self.fail(state, error));
            }
        }
    }

    /// Stores the results of devices that have ended.
    fn store_ended(&mut self, state: &mut DeviceState) -> PluginResult<()> {
        for device in &mut self.devices {
            if matches!(device.outcome, Some(StepOutcome::Ended(_)))
                && let Some(StepOutcome::Ended(values)) = device.outcome.take()
            {
                store_results(state, &device.arguments, values, &device.results)?;
            }
        }
        Ok(())
    }

    /// The first device that calls a function of the host.
    fn find_host_call(&self) -> Option<usize> {
        let module = &self.module;
        let calls = |device: &DeviceProgram| match &device.outcome {
            Some(StepOutcome::Calls(call)) => {
                call.signature(module).target != spirula::EXCHANGE_TARGET
            }
            _ => false,
        };
        self.devices.iter().position(calls)
    }

    /// Calls the function of the host that a device waits for. Returns how the programs continue.
    fn call_function(mut self) -> JobWork {
        let at = self.find_host_call();
        let called = at.and_then(|at| match &mut self.devices[at].outcome {
            Some(StepOutcome::Calls(call)) => Some(call.run(&self.module, &self.user_data)),
            _ => None,
        });
        Box::new(move |state| {
            if let (Some(at), Some(result)) = (at, called)
                && let Err(error) = self.resume_device(state, at, result)
            {
                return Err(self.fail(state, error));
            }
            self.advance(state)
        })
    }

    fn resume_device(
        &mut self,
        state: &mut DeviceState,
        at: usize,
        result: Result<(), ForeignFailure>,
    ) -> PluginResult<()> {
        let outcome = self.devices[at].outcome.take();
        if let Some(StepOutcome::Calls(call)) = outcome {
            let next = call.finish(state, &self.module, result)?;
            self.devices[at].outcome = Some(next);
        }
        Ok(())
    }

    /// Exchanges the elements of all groups that are ready, and lets their devices go on.
    fn exchange_ready(&mut self, state: &mut DeviceState) -> PluginResult<()> {
        let (ready, idle) = self.list_ready()?;
        if ready.is_empty() && idle.is_empty() {
            return Err(PluginError::internal(
                "the devices wait at different collectives",
            ));
        }
        let exchanged = self.exchange_groups(&ready, state.exchanges.pool())?;
        let mut resumed = Vec::new();
        for (group, results) in ready.iter().zip(exchanged) {
            for (place, parts) in group.places.iter().zip(results) {
                resumed.push((*place, parts));
            }
        }
        for place in idle {
            let length = self
                .call_at(place)
                .map(|call| call.result_length(&self.module));
            let zeros = vec![0; length.unwrap_or(0)];
            resumed.push((place, vec![zeros.into()]));
        }
        for (place, parts) in resumed {
            let module = self.module.clone();
            if let Some(StepOutcome::Calls(call)) = &mut self.devices[place].outcome {
                call.store_result(&module, parts)?;
            }
            self.resume_device(state, place, Ok(()))?;
        }
        Ok(())
    }

    fn call_at(&self, place: usize) -> Option<&PreparedHostCall> {
        match &self.devices[place].outcome {
            Some(StepOutcome::Calls(call)) => Some(call),
            _ => None,
        }
    }

    /// The groups whose devices of this process are all at the same exchange, and the devices that take part in none.
    fn list_ready(&self) -> PluginResult<(Vec<ReadyGroup>, Vec<usize>)> {
        let count = self.run.shared.owners.len();
        let mut sites: HashMap<usize, ExchangeSite> = HashMap::new();
        for place in 0..self.devices.len() {
            if let Some(call) = self.call_at(place)
                && let Some(site) = ExchangeSite::read(call.signature(&self.module), count)?
            {
                sites.insert(place, site);
            }
        }
        let (mut ready, mut idle) = (Vec::<ReadyGroup>::new(), Vec::new());
        for place in 0..self.devices.len() {
            let Some(site) = sites.get(&place) else {
                continue;
            };
            let Some((number, members)) = site.find_group(self.devices[place].number) else {
                idle.push(place);
                continue;
            };
            if ready.iter().any(|group| group.places.contains(&place)) {
                continue;
            }
            let places = members.iter().filter_map(|member| {
                let mut devices = self.devices.iter();
                devices.position(|device| device.number == *member)
            });
            let places: Vec<usize> = places.collect();
            let is_here =
                |place: &usize| sites.get(place).map(|own| own.number) == Some(site.number);
            if places.iter().all(is_here) {
                ready.push(ReadyGroup {
                    site: site.clone(),
                    number,
                    members,
                    places,
                });
            }
        }
        Ok((ready, idle))
    }

    /// Exchanges the elements of groups. Several groups do so at once, so that none waits for another one.
    fn exchange_groups(
        &mut self,
        ready: &[ReadyGroup],
        pool: &HostPool,
    ) -> PluginResult<Vec<Vec<ExchangedParts>>> {
        let mut work = Vec::new();
        for group in ready {
            let turn = self
                .turns
                .entry((group.site.number, group.number))
                .or_default();
            let tag = MessageTag {
                run: self.run.shared.key,
                program: self.module.exchange_number,
                site: group.site.number,
                group: group.number,
                turn: *turn,
                step: 0,
            };
            *turn = turn.wrapping_add(1);
            let (mut operands, mut result_length) = (Vec::new(), 0);
            for place in &group.places {
                if let Some(StepOutcome::Calls(call)) = &mut self.devices[*place].outcome {
                    operands.push(call.copy_operand(&self.module, pool)?);
                    result_length = call.result_length(&self.module);
                }
            }
            let exchange = DeviceExchange {
                kind: group.site.kind,
                members: &group.members,
                owners: &self.run.shared.owners,
                pairs: &group.site.groups,
                operands,
                result_length,
            };
            work.push((exchange, tag));
        }
        let mesh = &self.run.shared.cluster.mesh;
        if let [_] = work[..] {
            let results = work
                .into_iter()
                .map(|(exchange, tag)| exchange.run(mesh, tag));
            return results.collect();
        }
        thread::scope(|scope| {
            let threads = work.into_iter().map(|(exchange, tag)| {
                let builder = thread::Builder::new().name("spirula-exchange".to_owned());
                builder.spawn_scoped(scope, move || exchange.run(mesh, tag))
            });
            let threads: Vec<_> = threads.collect();
            let results = threads.into_iter().map(|thread| {
                let thread = thread.map_err(|error| PluginError::internal(error.to_string()))?;
                let panicked = || PluginError::internal("bug: an exchange panicked");
                thread.join().map_err(|_| panicked())?
            });
            results.collect()
        })
    }

    /// Ends all programs for a reason, which the other processes get, too. Returns the error of the run.
    fn fail(&mut self, state: &mut DeviceState, error: PluginError) -> PluginError {
        let member = self.run.shared.describe_member();
        for device in &mut self.devices {
            match device.outcome.take() {
                Some(StepOutcome::Calls(call)) => {
                    let failure = call.failure(&self.module, &error);
                    // The error of an abandoned program is the one that is known.
                    let _ = call.finish(state, &self.module, Err(failure));
                }
                Some(StepOutcome::Ended(values)) => {
                    let values = values.into_iter();
                    values.for_each(|value| state.heap.release_value(value));
                }
                None => {}
            }
        }
        self.run.shared.abort(&error);
        let name = &self.module.facts.name;
        PluginError::new(
            error.code,
            format!("{member}, program {name}: {}", error.message),
        )
    }
}

//! Executions of programs on arrays of a device.

use crate::boundary::{PluginCall, read_struct};
use crate::buffer::DeviceBuffer;
use crate::device::Device;
use crate::device_state::{DeviceArrayId, DeviceState};
use crate::error::{PluginError, PluginResult};
use crate::event::{EventHandle, WorkEvent};
use crate::executable::LoadedExecutable;
use crate::ffi::SharedUserData;
use crate::generated::{
    PjrtBuffer, PjrtExecuteContext, PjrtExecuteContextCreateArgs, PjrtExecuteContextDestroyArgs,
    PjrtExecuteOptions, PjrtLoadedExecutableExecuteArgs,
};
use crate::handle::{ApiObject, allocate, free, get_ref, get_shared, get_slice};
use crate::host_call::{ProgramEnd, RunningProgram};
use crate::module::{CompiledModule, ENTRY};
use crate::plugin::is_processor;
use crate::process_run::{ProcessRun, run_process};
use crate::queue::{JobProgress, JobPromise, JobWeight};
use crate::sharded_run::run_sharded;
use smallvec::{SmallVec, smallvec};
use spirula_program::ResidentValue;
use std::collections::HashSet;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The context of an execution: data for functions of the host.
#[derive(Default)]
pub struct ExecutionContext {
    user_data: Mutex<Vec<SharedUserData>>,
}

impl ExecutionContext {
    /// Adds data for functions of the host.
    pub fn add_user_data(&self, data: SharedUserData) {
        let mut all = self
            .user_data
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        all.push(data);
    }

    fn list_user_data(&self) -> Vec<SharedUserData> {
        let all = self
            .user_data
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        all.clone()
    }
}

impl ApiObject for ExecutionContext {
    type Opaque = PjrtExecuteContext;
    const NAME: &'static str = "context";
}

impl PluginCall for PjrtExecuteContextCreateArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        self.context = allocate(ExecutionContext::default());
        Ok(())
    }
}

impl PluginCall for PjrtExecuteContextDestroyArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        free::<ExecutionContext>(self.context);
        Ok(())
    }
}

/// An argument of an execution on a device.
pub struct ExecutionArgument {
    pub id: DeviceArrayId,
    pub is_donated: bool,
}

/// Something of each device of an execution. Most executions have one device, and take less time than a few allocations.
type PerDevice<T> = SmallVec<[T; 1]>;

/// The arguments on a device.
pub type ArgumentList = SmallVec<[ExecutionArgument; 4]>;

/// The arrays of the results on a device.
pub type ResultList = SmallVec<[DeviceArrayId; 2]>;

/// The arguments of an execution on each device.
pub type ShardedArguments = PerDevice<ArgumentList>;

/// The results of an execution on each device.
pub type ShardedResults = PerDevice<ResultList>;

/// The buffers of results on a device.
type ResultBuffers = SmallVec<[DeviceBuffer; 1]>;

impl PluginCall for PjrtLoadedExecutableExecuteArgs {
    /// Submits the execution. The results are buffers whose arrays the job makes.
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let loaded = get_ref::<LoadedExecutable>(self.executable)?;
        loaded.check_alive()?;
        let wanted = loaded.devices.len();
        if self.num_devices != wanted {
            let message = format!(
                "an execution on {} devices; the program is for {wanted}",
                self.num_devices
            );
            return Err(PluginError::invalid(message));
        }
        if wanted == 0 {
            // All its devices belong to other processes, which run it.
            return Ok(());
        }
        let mut kept: &[i64] = &[];
        let mut user_data = Vec::new();
        if !self.options.is_null() {
            let options = read_struct::<PjrtExecuteOptions>(self.options)?;
            let count = options.num_non_donatable_input_indices;
            kept = get_slice(options.non_donatable_input_indices, count)?;
            if !options.context.is_null() {
                user_data = get_ref::<ExecutionContext>(options.context)?.list_user_data();
            }
        }
        let submitted = {
            let share = loaded.share.as_ref();
            let _turn = share.map(|share| share.lock_order());
            let runs = share.map(|share| share.begin_run());
            let submitted = self.submit(loaded, kept, user_data, runs.clone());
            if let Err(error) = &submitted {
                let runs = runs.iter().flatten();
                runs.for_each(|run| run.shared.abort(error));
            }
            submitted?
        };
        let (first, calls_host) = (&loaded.devices[0], loaded.executable.module.calls_host);
        if calls_host && is_processor(&first.info) {
            // As on XLA's processor: what callbacks print is there, and their exceptions are those of the call.
            for event in &submitted.events {
                event.wait()?;
            }
        }
        self.store_outputs(submitted)
    }
}

/// An execution that was submitted.
struct SubmittedExecution {
    /// The results on each device.
    buffers: PerDevice<ResultBuffers>,
    /// The end of the execution on each device.
    events: PerDevice<Arc<WorkEvent>>,
    /// The lists of the caller for the results on each device.
    outputs: PerDevice<*mut *mut PjrtBuffer>,
}

/// The devices of an execution that have one queue, as places in the list of all.
struct ExecutionPart {
    places: PerDevice<usize>,
    run: Option<ProcessRun>,
}

impl PjrtLoadedExecutableExecuteArgs {
    /// Checks the arguments, and submits the execution.
    unsafe fn submit(
        &mut self,
        loaded: &LoadedExecutable,
        kept: &[i64],
        user_data: Vec<SharedUserData>,
        runs: Option<Vec<ProcessRun>>,
    ) -> PluginResult<SubmittedExecution> {
        let wanted = loaded.devices.len();
        let named;
        let devices = if self.execute_device.is_null() {
            &loaded.devices[..]
        } else if wanted == 1 {
            named = get_shared::<Device>(self.execute_device)?;
            std::slice::from_ref(&named)
        } else {
            return Err(PluginError::invalid(
                "a program for several devices runs on all of them",
            ));
        };
        let module = &loaded.executable.module;
        let outputs = get_lists(self.output_lists, wanted, !module.results.is_empty())?;
        let lists = get_lists(self.argument_lists.cast(), wanted, self.num_args > 0)?;
        let mut given = PerDevice::new();
        for list in lists {
            given.push(get_slice(list.cast_const(), self.num_args)?);
        }
        let mut arguments = bind_arguments(module, devices, &given, kept)?;
        let parts = list_parts(runs, wanted);
        let first = WorkEvent::new();
        let mut events: PerDevice<Arc<WorkEvent>> = smallvec![first; wanted];
        for part in parts.iter().skip(1) {
            let event = WorkEvent::new();
            part.places
                .iter()
                .for_each(|place| events[*place] = event.clone());
        }
        let owners = devices.iter().zip(&events);
        let buffers: PerDevice<ResultBuffers> = owners
            .map(|(device, event)| make_buffers(module, device, event))
            .collect();
        for part in parts {
            let Some(&first) = part.places.first() else {
                continue;
            };
            let own = part.places.iter();
            let submission = ExecutionSubmission {
                module: module.clone(),
                arguments: own
                    .clone()
                    .map(|place| std::mem::take(&mut arguments[*place]))
                    .collect(),
                user_data: user_data.clone(),
                event: events[first].clone(),
                run: part.run,
            };
            let ids = own.map(|place| buffers[*place].iter().map(|buffer| buffer.id).collect());
            submission.submit(&devices[first], ids.collect());
        }
        Ok(SubmittedExecution {
            buffers,
            events,
            outputs,
        })
    }

    /// Gives the caller the results and the ends of an execution.
    unsafe fn store_outputs(&mut self, submitted: SubmittedExecution) -> PluginResult<()> {
        for (list, buffers) in submitted.outputs.into_iter().zip(submitted.buffers) {
            for (at, buffer) in buffers.into_iter().enumerate() {
                list.add(at).write(allocate(buffer));
            }
        }
        if !self.device_complete_events.is_null() {
            for (at, event) in submitted.events.iter().enumerate() {
                let events = self.device_complete_events.add(at);
                events.write(EventHandle::allocate(event));
            }
        }
        Ok(())
    }
}

/// The parts of an execution on a given number of devices: one for each run, or all devices together.
fn list_parts(runs: Option<Vec<ProcessRun>>, devices: usize) -> PerDevice<ExecutionPart> {
    let Some(runs) = runs else {
        return smallvec![ExecutionPart {
            places: (0..devices).collect(),
            run: None,
        }];
    };
    let parts = runs.into_iter().map(|run| ExecutionPart {
        places: run.places.iter().copied().collect(),
        run: Some(run),
    });
    parts.collect()
}

/// The lists of all devices.
unsafe fn get_lists(
    lists: *const *mut *mut PjrtBuffer,
    count: usize,
    is_needed: bool,
) -> PluginResult<PerDevice<*mut *mut PjrtBuffer>> {
    if !is_needed && lists.is_null() {
        return Ok(smallvec![null_mut(); count]);
    }
    let lists = PerDevice::from_slice(get_slice(lists, count)?);
    if is_needed && lists.iter().any(|list| list.is_null()) {
        return Err(PluginError::invalid(
            "the array for arguments or results is missing",
        ));
    }
    Ok(lists)
}

/// The buffers of the results on a device.
fn make_buffers(
    module: &CompiledModule,
    device: &Arc<Device>,
    event: &Arc<WorkEvent>,
) -> ResultBuffers {
    let results = module.shards.results.iter().enumerate();
    results
        .map(|(at, shards)| {
            let memory = module.facts.result_memory(at);
            DeviceBuffer::new(shards.array.clone(), device, memory, event)
        })
        .collect()
}

/// An execution that is to be submitted to the queue of its devices.
struct ExecutionSubmission {
    module: Arc<CompiledModule>,
    arguments: ShardedArguments,
    user_data: Vec<SharedUserData>,
    event: Arc<WorkEvent>,
    /// The run of a program that other processes run, too.
    run: Option<ProcessRun>,
}

impl ExecutionSubmission {
    /// Submits the job, which makes these results.
    fn submit(self, device: &Device, mut results: ShardedResults) {
        let ExecutionSubmission {
            module,
            mut arguments,
            user_data,
            event,
            run,
        } = self;
        let promise = JobPromise {
            event: Some(event),
            arrays: results.iter().flatten().copied().collect(),
        };
        let weight = if module.is_light() {
            JobWeight::Light
        } else {
            JobWeight::Heavy
        };
        let run = move |state: &mut DeviceState| {
            let begin = Instant::now();
            let progress = if let Some(run) = run {
                run_process(state, &module, run, arguments, results, user_data)
            } else if results.len() > 1 {
                run_sharded(state, &module, arguments, results, user_data)
            } else {
                let (arguments, results) = (arguments.remove(0), results.remove(0));
                run_module(state, &module, arguments, results, user_data)
            };
            module.run_time.set(begin.elapsed());
            state.note_execution(&module.facts.name, begin);
            progress
        };
        device.queue.submit_staged(weight, promise, run);
    }
}

/// Checks the arguments of an execution on each device, and donates buffers. `kept` are the indices of those that the caller
/// keeps.
unsafe fn bind_arguments(
    module: &CompiledModule,
    devices: &[Arc<Device>],
    given: &[&[*mut PjrtBuffer]],
    kept: &[i64],
) -> PluginResult<ShardedArguments> {
    let mut buffers = PerDevice::new();
    for (device, given) in devices.iter().zip(given) {
        buffers.push(check_arguments(module, device, given)?);
    }
    let is_donated = |at: usize| module.facts.is_donated[at] && !kept.contains(&(at as i64));
    let wanted = module.parameters.len();
    let donated: Vec<usize> = (0..wanted).filter(|at| is_donated(*at)).collect();
    let mut uses = HashSet::new();
    let mut repeated = HashSet::new();
    for buffer in buffers.iter().flatten() {
        if !donated.is_empty() && !uses.insert(buffer.id) {
            repeated.insert(buffer.id);
        }
    }
    let is_repeated = |at: &&usize| buffers.iter().any(|own| repeated.contains(&own[**at].id));
    if let Some(at) = donated.iter().find(is_repeated) {
        let message = format!("argument {at} is donated, and is another argument, too");
        return Err(PluginError::invalid(message));
    }
    let mut arguments = ShardedArguments::new();
    for own in &buffers {
        let mut bound = ArgumentList::with_capacity(wanted);
        for (at, buffer) in own.iter().enumerate() {
            let is_donated = if is_donated(at) {
                buffer.donate()
            } else {
                Ok(false)
            };
            match is_donated {
                Ok(is_donated) => bound.push(ExecutionArgument {
                    id: buffer.id,
                    is_donated,
                }),
                // Another thread has donated it meanwhile.
                Err(error) => {
                    arguments.push(bound);
                    release_donated(devices, arguments);
                    return Err(error);
                }
            }
        }
        arguments.push(bound);
    }
    Ok(arguments)
}

/// The buffers of the arguments on a device.
unsafe fn check_arguments<'b>(
    module: &CompiledModule,
    device: &Arc<Device>,
    given: &[*mut PjrtBuffer],
) -> PluginResult<SmallVec<[&'b DeviceBuffer; 4]>> {
    let wanted = module.parameters.len();
    if given.len() != wanted {
        let message = format!(
            "the program takes {wanted} arguments, {} are given",
            given.len()
        );
        return Err(PluginError::invalid(message));
    }
    let mut buffers: SmallVec<[&DeviceBuffer; 4]> = SmallVec::with_capacity(wanted);
    for (at, (pointer, shards)) in given.iter().zip(&module.shards.parameters).enumerate() {
        let buffer = get_ref::<DeviceBuffer>(*pointer)?;
        buffer.check_alive()?;
        if buffer.array != shards.array {
            let (wanted, found) = (&shards.array, &buffer.array);
            let message = format!(
                "argument {at} is {}{:?}, the program takes {}{:?}",
                found.format.name, found.sizes, wanted.format.name, wanted.sizes
            );
            return Err(PluginError::invalid(message));
        }
        if !Arc::ptr_eq(&buffer.device, device) {
            let message = format!("argument {at} is on another device than the program");
            return Err(PluginError::invalid(message));
        }
        buffers.push(buffer);
    }
    Ok(buffers)
}

/// Releases the arrays that were donated to an execution which does not take place.
fn release_donated(devices: &[Arc<Device>], arguments: ShardedArguments) {
    for (device, own) in devices.iter().zip(arguments) {
        let promise = JobPromise::default();
        device
            .queue
            .submit(JobWeight::Light, promise, move |state| {
                let donated = own.iter().filter(|argument| argument.is_donated);
                donated.for_each(|argument| state.release_array(argument.id));
                Ok(())
            });
    }
}

/// Runs a program on one device, and stores its results.
fn run_module(
    state: &mut DeviceState,
    module: &Arc<CompiledModule>,
    arguments: ArgumentList,
    results: ResultList,
    user_data: Vec<SharedUserData>,
) -> PluginResult<JobProgress> {
    let given = take_arguments(state, Vec::with_capacity(arguments.len()), &arguments)?;
    let running = RunningProgram {
        module: module.clone(),
        user_data,
        end: move |state: &mut DeviceState, values| {
            store_results(state, &arguments, values, &results)
        },
    };
    call_program(state, running, given)
}

/// Calls a program with arguments that belong to it.
pub fn call_program(
    state: &mut DeviceState,
    running: RunningProgram<impl ProgramEnd>,
    arguments: Vec<ResidentValue>,
) -> PluginResult<JobProgress> {
    let given = adapt_arguments(state, &running.module, arguments)?;
    running.start(state, given)
}

/// The arguments in the form in which a program takes them.
pub fn adapt_arguments(
    state: &mut DeviceState,
    module: &CompiledModule,
    arguments: Vec<ResidentValue>,
) -> PluginResult<Vec<ResidentValue>> {
    let mut entries = module.program.entries.iter();
    let entry = entries.find(|entry| entry.name == ENTRY);
    let entry = entry.ok_or_else(|| PluginError::internal("the program has no entry point"))?;
    let mut given = Vec::with_capacity(arguments.len());
    let mut rest = arguments.into_iter().zip(entry.parameter_parts());
    while let Some((value, (_, part))) = rest.next() {
        match state.heap.adapt_value(value, part) {
            Ok(value) => given.push(value),
            Err(error) => {
                let values = given.into_iter().chain(rest.map(|(value, _)| value));
                values.for_each(|value| state.heap.release_value(value));
                return Err(error.into());
            }
        }
    }
    Ok(given)
}

/// Stores the results of a program.
pub fn store_results(
    state: &mut DeviceState,
    arguments: &[ExecutionArgument],
    values: Vec<ResidentValue>,
    ids: &[DeviceArrayId],
) -> PluginResult<()> {
    let kept = arguments.iter().filter(|argument| !argument.is_donated);
    let mut others: SmallVec<[DeviceArrayId; 4]> = kept.map(|argument| argument.id).collect();
    for (at, value) in values.into_iter().enumerate() {
        // Further results are those of checks.
        let Some(id) = ids.get(at) else {
            state.heap.release_value(value);
            continue;
        };
        let value = own_value(state, &others, value)?;
        state.store_array(*id, Ok(value));
        others.push(*id);
    }
    Ok(())
}

/// A result that is none of other arrays: such a one gets memory of its own. Users may look at addresses, and lend the memory of
/// an array to others.
pub fn own_value(
    state: &mut DeviceState,
    others: &[DeviceArrayId],
    value: ResidentValue,
) -> PluginResult<ResidentValue> {
    let is_other = others.iter().any(|other| {
        let other = state.find_resident(*other);
        other.is_some_and(|other| state.heap.is_shared(other, &value))
    });
    if !is_other {
        return Ok(value);
    }
    let copy = state.heap.copy_value(&value);
    state.heap.release_value(value);
    Ok(copy?)
}

/// Values with those of arguments after them. If an argument cannot be taken, all are released.
pub fn take_arguments(
    state: &mut DeviceState,
    mut given: Vec<ResidentValue>,
    arguments: &[ExecutionArgument],
) -> PluginResult<Vec<ResidentValue>> {
    for argument in arguments {
        match take_argument(state, argument) {
            Ok(value) => given.push(value),
            Err(error) => {
                let values = given.into_iter();
                values.for_each(|value| state.heap.release_value(value));
                return Err(error);
            }
        }
    }
    Ok(given)
}

/// The value of an argument: the array itself if it is donated, or another reference to it.
pub fn take_argument(
    state: &mut DeviceState,
    argument: &ExecutionArgument,
) -> PluginResult<ResidentValue> {
    if argument.is_donated {
        return state.take_array(argument.id);
    }
    let (heap, value) = state.split_array(argument.id)?;
    Ok(heap.share_value(value))
}

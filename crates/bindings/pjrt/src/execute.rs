//! Executions of programs on arrays of a device.

use crate::boundary::{PluginCall, read_struct};
use crate::buffer::DeviceBuffer;
use crate::device::Device;
use crate::error::{PluginError, PluginResult};
use crate::event::{EventHandle, WorkEvent};
use crate::executable::LoadedExecutable;
use crate::generated::{
    PjrtBuffer, PjrtExecuteContext, PjrtExecuteContextCreateArgs, PjrtExecuteContextDestroyArgs,
    PjrtExecuteOptions, PjrtLoadedExecutableExecuteArgs,
};
use crate::handle::{ApiObject, allocate, free, get_ref, get_shared, get_slice};
use crate::module::{CompiledModule, ENTRY};
use crate::queue::{DeviceArrayId, DeviceHeap, DeviceState, JobPromise, JobWeight};
use spirula_program::ResidentValue;
use spirula_program::program::{EntryValueType, HostSlot};
use std::collections::HashSet;
use std::ptr::null_mut;
use std::sync::Arc;

/// The context of an execution, which has no content.
struct ExecutionContext;

impl ApiObject for ExecutionContext {
    type Opaque = PjrtExecuteContext;
    const NAME: &'static str = "context";
}

impl PluginCall for PjrtExecuteContextCreateArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        self.context = allocate(ExecutionContext);
        Ok(())
    }
}

impl PluginCall for PjrtExecuteContextDestroyArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        free::<ExecutionContext>(self.context);
        Ok(())
    }
}

/// An argument of an execution.
struct ExecutionArgument {
    id: DeviceArrayId,
    is_donated: bool,
}

impl PluginCall for PjrtLoadedExecutableExecuteArgs {
    /// Submits the execution. The results are buffers whose arrays the job makes.
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let loaded = get_ref::<LoadedExecutable>(self.executable)?;
        loaded.check_alive()?;
        if self.num_devices != 1 {
            let message = format!(
                "an execution on {} devices; the program is for 1",
                self.num_devices
            );
            return Err(PluginError::invalid(message));
        }
        let kept = match self.options.is_null() {
            true => &[],
            false => {
                let options = read_struct::<PjrtExecuteOptions>(self.options)?;
                let count = options.num_non_donatable_input_indices;
                get_slice(options.non_donatable_input_indices, count)?
            }
        };
        let device = match self.execute_device.is_null() {
            true => loaded.device.clone(),
            false => get_shared::<Device>(self.execute_device)?,
        };
        let module = &loaded.executable.module;
        let outputs = first_list(self.output_lists);
        if outputs.is_null() && !module.results.is_empty() {
            return Err(PluginError::invalid("the array for the results is missing"));
        }
        let given = get_slice(
            first_list(self.argument_lists.cast()).cast_const(),
            self.num_args,
        )?;
        let arguments = bind_arguments(module, &device, given, kept)?;
        let event = WorkEvent::new();
        let make_buffer =
            |array: &crate::element::ArrayType| DeviceBuffer::new(array.clone(), &device, &event);
        let buffers: Vec<DeviceBuffer> = module.results.iter().map(make_buffer).collect();
        let results: Vec<DeviceArrayId> = buffers.iter().map(|buffer| buffer.id).collect();
        let promise = JobPromise {
            event: event.clone(),
            arrays: results.clone(),
        };
        let weight = match module.facts.is_light {
            true => JobWeight::Light,
            false => JobWeight::Heavy,
        };
        let module = module.clone();
        device.queue.submit(weight, promise, move |state| {
            run_module(state, &module, &arguments, &results)
        });
        for (at, buffer) in buffers.into_iter().enumerate() {
            outputs.add(at).write(allocate(buffer));
        }
        if !self.device_complete_events.is_null() {
            self.device_complete_events
                .write(EventHandle::allocate(&event));
        }
        Ok(())
    }
}

/// The list of the only device; null where there are no lists.
unsafe fn first_list(lists: *const *mut *mut PjrtBuffer) -> *mut *mut PjrtBuffer {
    lists.as_ref().copied().unwrap_or(null_mut())
}

/// Checks the arguments of an execution, and donates buffers. `kept` are the indices of those that the caller keeps.
unsafe fn bind_arguments(
    module: &CompiledModule,
    device: &Arc<Device>,
    given: &[*mut PjrtBuffer],
    kept: &[i64],
) -> PluginResult<Vec<ExecutionArgument>> {
    let wanted = module.parameters.len();
    if given.len() != wanted {
        let message = format!(
            "the program takes {wanted} arguments, {} are given",
            given.len()
        );
        return Err(PluginError::invalid(message));
    }
    let mut buffers: Vec<&DeviceBuffer> = Vec::with_capacity(wanted);
    for (at, (pointer, parameter)) in given.iter().zip(&module.parameters).enumerate() {
        let buffer = get_ref::<DeviceBuffer>(*pointer)?;
        buffer.check_alive()?;
        if buffer.array != *parameter {
            let (wanted, found) = (parameter, &buffer.array);
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
    let is_donated = |at: usize| module.facts.is_donated[at] && !kept.contains(&(at as i64));
    let donated: Vec<usize> = (0..wanted).filter(|at| is_donated(*at)).collect();
    let mut uses = HashSet::new();
    let mut repeated = HashSet::new();
    for buffer in &buffers {
        if !donated.is_empty() && !uses.insert(buffer.id) {
            repeated.insert(buffer.id);
        }
    }
    if let Some(at) = donated
        .iter()
        .find(|at| repeated.contains(&buffers[**at].id))
    {
        let message = format!("argument {at} is donated, and is another argument, too");
        return Err(PluginError::invalid(message));
    }
    let mut arguments = Vec::with_capacity(wanted);
    for (at, buffer) in buffers.iter().enumerate() {
        let is_donated = match is_donated(at) {
            true => buffer.donate(),
            false => Ok(false),
        };
        match is_donated {
            Ok(is_donated) => arguments.push(ExecutionArgument {
                id: buffer.id,
                is_donated,
            }),
            // Another thread has donated it meanwhile.
            Err(error) => {
                release_donated(device, arguments);
                return Err(error);
            }
        }
    }
    Ok(arguments)
}

/// Releases the arrays that were donated to an execution which does not take place.
fn release_donated(device: &Device, arguments: Vec<ExecutionArgument>) {
    let promise = JobPromise::from_event(&WorkEvent::new());
    device
        .queue
        .submit(JobWeight::Light, promise, move |state| {
            for argument in arguments.iter().filter(|argument| argument.is_donated) {
                state.release_array(argument.id);
            }
            Ok(())
        });
}

/// Runs a program, and stores its results.
fn run_module(
    state: &mut DeviceState,
    module: &Arc<CompiledModule>,
    arguments: &[ExecutionArgument],
    results: &[DeviceArrayId],
) -> PluginResult<()> {
    let entry = module
        .program
        .entries
        .iter()
        .find(|entry| entry.name == ENTRY);
    let entry = entry.ok_or_else(|| PluginError::internal("the program has no entry point"))?;
    let mut given = Vec::with_capacity(arguments.len());
    for (argument, (_, part)) in arguments.iter().zip(entry.parameter_parts()) {
        let adapted = take_argument(state, argument)
            .and_then(|value| adapt_value(&mut state.heap, value, part));
        match adapted {
            Ok(value) => given.push(value),
            Err(error) => {
                given
                    .into_iter()
                    .for_each(|value| state.heap.release_value(value));
                return Err(error);
            }
        }
    }
    let values = state.with_session(module, |session| {
        let references: Vec<&ResidentValue> = given.iter().collect();
        let prepared = session.prepare_resident(ENTRY, &references);
        // The call refers to its arguments itself, and drops them when it needs them no more.
        given
            .into_iter()
            .for_each(|value| session.release_value(value));
        let ended = session.execute_call(prepared?)?;
        Ok(session.keep_results(ended)?)
    })?;
    store_results(state, arguments, values, results)
}

/// Stores the results of a program. A result that is an argument or another result gets memory of its own: users may look at
/// addresses, and lend the memory of an array to others.
fn store_results(
    state: &mut DeviceState,
    arguments: &[ExecutionArgument],
    values: Vec<ResidentValue>,
    ids: &[DeviceArrayId],
) -> PluginResult<()> {
    let kept = arguments.iter().filter(|argument| !argument.is_donated);
    let others: Vec<DeviceArrayId> = kept.map(|argument| argument.id).collect();
    for (at, value) in values.into_iter().enumerate() {
        // Further results are those of checks.
        let Some(id) = ids.get(at) else {
            state.heap.release_value(value);
            continue;
        };
        let mut stored = others.iter().chain(&ids[..at]);
        let is_other = stored.any(|other| {
            let other = state.find_array(*other);
            other.is_ok_and(|other| state.heap.is_shared(other, &value))
        });
        let result = if is_other {
            let copy = state.heap.copy_value(&value);
            state.heap.release_value(value);
            copy?
        } else {
            value
        };
        state.store_array(*id, Ok(result));
    }
    Ok(())
}

/// The value of an argument: the array itself if it is donated, or another reference to it.
fn take_argument(
    state: &mut DeviceState,
    argument: &ExecutionArgument,
) -> PluginResult<ResidentValue> {
    if argument.is_donated {
        return state.take_array(argument.id);
    }
    let (heap, value) = state.split_array(argument.id)?;
    Ok(heap.share_value(value))
}

/// A value in the form that a parameter takes: a scalar, or an array of the type in the program.
fn adapt_value(
    heap: &mut DeviceHeap,
    mut value: ResidentValue,
    part: &EntryValueType,
) -> PluginResult<ResidentValue> {
    let size = part.element.size() as usize;
    match (part.slot, value.scalar_bits()) {
        (HostSlot::Scalar(_), Some(bits)) => Ok(ResidentValue::from_scalar(
            part.element,
            part.unsigned,
            bits,
        )),
        (HostSlot::Scalar(_), None) => {
            let mut word = [0; 8];
            let read = heap.read_resident(&value, 0, &mut word[..size]);
            heap.release_value(value);
            read?;
            let bits = u64::from_le_bytes(word);
            Ok(ResidentValue::from_scalar(
                part.element,
                part.unsigned,
                bits,
            ))
        }
        (HostSlot::Memory(_), Some(bits)) => {
            let bytes = &bits.to_le_bytes()[..size];
            Ok(heap.upload_array(part.element, part.unsigned, Vec::new(), bytes)?)
        }
        (HostSlot::Memory(_), None) => {
            value.element = part.element;
            value.unsigned = part.unsigned;
            Ok(value)
        }
    }
}

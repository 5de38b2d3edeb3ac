//! Functions of events, markers and barriers.

use crate::boundary::{QueryOutput, answer_code, answer_handle, refuse_query};
use crate::callback::UserCallback;
use crate::context::ClContext;
use crate::error::{CallError, CallResult, require};
use crate::event::{ClEvent, EventOutput, EventWaitList, read_event_list};
use crate::handle::{count_references, create_object, find_object, release_object, retain_object};
use crate::progress::CommandProgress;
use crate::queue::{ClQueue, CommandOrder, EnqueueCall};
use opencl_sys::*;
use std::ffi::c_void;
use std::ptr;

/// `clCreateUserEvent`
pub unsafe extern "C" fn create_user_event(context: cl_context, code: *mut cl_int) -> cl_event {
    answer_handle("clCreateUserEvent", code, || {
        let context = find_object::<ClContext>(context)?;
        let event = create_object(|handle| ClEvent {
            handle,
            context,
            queue: None,
            kind: CL_COMMAND_USER,
            progress: CommandProgress::submitted(),
        });
        Ok(event.handle.as_raw())
    })
}

/// `clSetUserEventStatus`
pub unsafe extern "C" fn set_user_event_status(event: cl_event, status: cl_int) -> cl_int {
    answer_code("clSetUserEventStatus", || {
        let event = find_object::<ClEvent>(event)?;
        require(
            event.queue.is_none(),
            CL_INVALID_EVENT,
            "this is no user event",
        )?;
        let is_end = status <= CL_COMPLETE;
        require(
            is_end,
            CL_INVALID_VALUE,
            "the status is neither an end nor an error",
        )?;
        let message = "the status is set already";
        require(!event.progress.has_ended(), CL_INVALID_OPERATION, message)?;
        let result = match status {
            CL_COMPLETE => Ok(()),
            code => Err(CallError::new(code, "the caller ended the event so")),
        };
        event.progress.finish(&result).call();
        Ok(())
    })
}

/// `clWaitForEvents`
pub unsafe extern "C" fn wait_for_events(count: cl_uint, list: *const cl_event) -> cl_int {
    answer_code("clWaitForEvents", || {
        let events = read_event_list(count, list)?;
        events.iter().for_each(|event| event.wait_for_end());
        let is_good = events.iter().all(|event| event.progress.status() >= 0);
        let code = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        require(is_good, code, "a command in the wait list has failed")
    })
}

/// `clGetEventInfo`
pub unsafe extern "C" fn get_event_info(
    event: cl_event,
    name: cl_event_info,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> cl_int {
    answer_code("clGetEventInfo", || {
        let event = find_object::<ClEvent>(event)?;
        let output = QueryOutput::new(size, value, size_out);
        match name {
            CL_EVENT_COMMAND_QUEUE => {
                let queue = event.queue.as_ref();
                output.write_value(queue.map_or(ptr::null_mut(), |q| q.handle.as_raw()))
            }
            CL_EVENT_CONTEXT => output.write_value(event.context.handle.as_raw()),
            CL_EVENT_COMMAND_TYPE => output.write_value(event.kind),
            CL_EVENT_COMMAND_EXECUTION_STATUS => output.write_value(event.progress.status()),
            CL_EVENT_REFERENCE_COUNT => output.write_value(count_references(&*event)),
            _ => Err(refuse_query(name)),
        }
    })
}

/// `clRetainEvent`
pub unsafe extern "C" fn retain_event(event: cl_event) -> cl_int {
    answer_code("clRetainEvent", || retain_object::<ClEvent>(event))
}

/// `clReleaseEvent`
pub unsafe extern "C" fn release_event(event: cl_event) -> cl_int {
    answer_code("clReleaseEvent", || release_object::<ClEvent>(event))
}

/// `clSetEventCallback`
pub unsafe extern "C" fn set_event_callback(
    event: cl_event,
    status: cl_int,
    function: Option<unsafe extern "C" fn(cl_event, cl_int, *mut c_void)>,
    data: *mut c_void,
) -> cl_int {
    answer_code("clSetEventCallback", || {
        let event = find_object::<ClEvent>(event)?;
        let is_status = [CL_SUBMITTED, CL_RUNNING, CL_COMPLETE].contains(&status);
        require(
            is_status,
            CL_INVALID_VALUE,
            "there are no callbacks for this status",
        )?;
        let missing = || CallError::invalid_value("there is no function");
        let function = function.ok_or_else(missing)?;
        let callback = UserCallback { function, data };
        let kept = event.clone();
        let call = Box::new(move |reached| {
            let callback = callback;
            (callback.function)(kept.handle.as_raw(), reached, callback.data);
        });
        event.progress.add_callback(status, call);
        Ok(())
    })
}

/// `clGetEventProfilingInfo`
pub unsafe extern "C" fn get_event_profiling_info(
    event: cl_event,
    name: cl_profiling_info,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> cl_int {
    answer_code("clGetEventProfilingInfo", || {
        let event = find_object::<ClEvent>(event)?;
        let is_timed = event.queue.as_ref().is_some_and(|queue| queue.is_timed());
        let is_known = is_timed && event.progress.status() == CL_COMPLETE;
        let message = "the times of the command are not known";
        require(is_known, CL_PROFILING_INFO_NOT_AVAILABLE, message)?;
        let times = event.progress.times();
        let output = QueryOutput::new(size, value, size_out);
        match name {
            CL_PROFILING_COMMAND_QUEUED => output.write_value(times.queued),
            CL_PROFILING_COMMAND_SUBMIT => output.write_value(times.submitted),
            CL_PROFILING_COMMAND_START => output.write_value(times.started),
            CL_PROFILING_COMMAND_END | CL_PROFILING_COMMAND_COMPLETE => {
                output.write_value(times.ended)
            }
            _ => Err(refuse_query(name)),
        }
    })
}

/// Enqueues a command that waits for others.
unsafe fn enqueue_waiting(
    queue: cl_command_queue,
    kind: cl_command_type,
    order: CommandOrder,
    count: cl_uint,
    list: *const cl_event,
    event: *mut cl_event,
) -> CallResult<()> {
    let queue = find_object::<ClQueue>(queue)?;
    let call = EnqueueCall {
        kind,
        waits: EventWaitList::read(&queue.context, count, list)?,
        is_blocking: false,
        event: EventOutput::new(event),
    };
    queue.enqueue_marker(&call, order);
    Ok(())
}

/// `clEnqueueMarkerWithWaitList`
pub unsafe extern "C" fn enqueue_marker_with_wait_list(
    queue: cl_command_queue,
    count: cl_uint,
    list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueMarkerWithWaitList", || {
        enqueue_waiting(
            queue,
            CL_COMMAND_MARKER,
            CommandOrder::Marker,
            count,
            list,
            event,
        )
    })
}

/// `clEnqueueBarrierWithWaitList`
pub unsafe extern "C" fn enqueue_barrier_with_wait_list(
    queue: cl_command_queue,
    count: cl_uint,
    list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueBarrierWithWaitList", || {
        enqueue_waiting(
            queue,
            CL_COMMAND_BARRIER,
            CommandOrder::Barrier,
            count,
            list,
            event,
        )
    })
}

/// `clEnqueueMarker`
pub unsafe extern "C" fn enqueue_marker(queue: cl_command_queue, event: *mut cl_event) -> cl_int {
    answer_code("clEnqueueMarker", || {
        require(!event.is_null(), CL_INVALID_VALUE, "the event has no place")?;
        let order = CommandOrder::Marker;
        enqueue_waiting(queue, CL_COMMAND_MARKER, order, 0, ptr::null(), event)
    })
}

/// `clEnqueueBarrier`
pub unsafe extern "C" fn enqueue_barrier(queue: cl_command_queue) -> cl_int {
    answer_code("clEnqueueBarrier", || {
        let order = CommandOrder::Barrier;
        enqueue_waiting(
            queue,
            CL_COMMAND_BARRIER,
            order,
            0,
            ptr::null(),
            ptr::null_mut(),
        )
    })
}

/// `clEnqueueWaitForEvents`
pub unsafe extern "C" fn enqueue_wait_for_events(
    queue: cl_command_queue,
    count: cl_uint,
    list: *const cl_event,
) -> cl_int {
    answer_code("clEnqueueWaitForEvents", || {
        let is_list = count > 0 && !list.is_null();
        require(is_list, CL_INVALID_VALUE, "there are no events to wait for")?;
        let order = CommandOrder::Barrier;
        let waiting = enqueue_waiting(
            queue,
            CL_COMMAND_BARRIER,
            order,
            count,
            list,
            ptr::null_mut(),
        );
        waiting.map_err(|error| match error.code {
            CL_INVALID_EVENT_WAIT_LIST => CallError::new(CL_INVALID_EVENT, error.message),
            _ => error,
        })
    })
}

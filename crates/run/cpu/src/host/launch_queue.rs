//! Launch queue: kernels that kernels enqueue (OpenCL C 2.0, section 6.13.17).
//!
//! Launches that a kernel enqueues are recorded while it runs. They run after it has ended, in the order in which
//! they were enqueued, except that launches wait for the events that they name. This is as late as each of the flags
//! allows. All kernels that a launch may enqueue are compiled with it. The event of a launch is complete once it and all
//! launches that it has enqueued have ended.
//!
//! # Unsafe code
//! [`enqueue_kernel`] and [`mark_event`] take the launch context that the code was called with. Its queue outlives
//! it. They read and write where the program could as well. They hold no lock while they do, as a fault there ends
//! the call.
#![allow(unsafe_code)]

use crate::layout::invocation_range::InvocationRange;
use crate::layout::launch_context::LaunchContext;
use std::sync::Mutex;
use std::time::Instant;

/// Most kernels that wait to be run.
const MOST: usize = 1 << 20;
/// Most bytes of the captured values of a launch.
const MOST_BYTES: u64 = 1 << 20;

/// Results of `enqueue`: success, and failure (`CLK_ENQUEUE_FAILURE`).
const SUCCESS: i32 = 0;
const FAILURE: i32 = -101;

/// A request of generated code, one word for each value. The sizes of workgroup memory lie elsewhere.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct EnqueueRequest {
    /// The function's number; 0 for a marker.
    pub function: u64,
    pub dimensions: u64,
    pub offset: [u64; 3],
    pub global: [u64; 3],
    pub local: [u64; 3],
    /// Events to wait for: their number and the address of the first.
    pub waits: u64,
    pub wait_for: u64,
    /// Address to which the event is written; 0 for none.
    pub event: u64,
    /// Address and bytes of the captured values.
    pub param: u64,
    pub bytes: u64,
    /// Sizes of workgroup memory: their number and the address of the first.
    pub locals: u64,
    pub sizes: u64,
}

/// Words of a request.
pub(crate) const WORDS: usize = size_of::<EnqueueRequest>() / 8;

/// A launch that waits for its turn.
pub(crate) struct EnqueuedLaunch {
    /// Number of the function.
    pub function: u64,
    /// The invocations that run.
    pub size: InvocationRange,
    /// The bytes that the function is passed, in aligned words.
    pub param: Vec<u128>,
    /// Number of these bytes.
    pub bytes: u64,
    /// Sizes of workgroup memory, one for each argument of this kind.
    pub locals: Vec<u64>,
    /// The events that have to be complete before it runs.
    waits: Vec<u64>,
    /// The event that is complete after it has run.
    pub event: usize,
}

/// The launches that a device has enqueued.
#[derive(Default)]
pub(crate) struct LaunchQueue {
    state: Mutex<LaunchQueueState>,
}

#[derive(Default)]
struct LaunchQueueState {
    pending: Vec<EnqueuedLaunch>,
    /// The events, by number from 1 on.
    events: Vec<DeviceEvent>,
    /// The event of the launch that runs; 0 for one of the host.
    running: usize,
    /// Where the times of events are to be written once they are complete.
    captures: Vec<(u64, u64)>,
}

/// An event of a launch, or one that the program completes.
#[derive(Default)]
struct DeviceEvent {
    is_complete: bool,
    has_ended: bool,
    /// Launches that it has enqueued, and whose events are not complete.
    children: usize,
    /// The event of the launch that has enqueued it, or 0.
    parent: usize,
    began: Option<Instant>,
    times: EventTimes,
}

/// Nanoseconds from the beginning of a launch to its end, and to the end of all that it has enqueued.
type EventTimes = [u64; 2];

impl LaunchQueueState {
    fn new_event(&mut self) -> usize {
        self.events.push(DeviceEvent::default());
        self.events.len()
    }

    fn find_event(&mut self, event: usize) -> Option<&mut DeviceEvent> {
        self.events.get_mut(event.wrapping_sub(1))
    }

    /// Notes that a launch has ended. Returns the events that are complete with it.
    fn end_launch(&mut self, event: usize) -> Vec<usize> {
        self.running = 0;
        let mut complete = Vec::new();
        let mut next = event;
        if let Some(ended) = self.find_event(event) {
            ended.has_ended = true;
            ended.times[0] = ended.elapsed();
        }
        while let Some(found) = self.find_event(next) {
            if !found.has_ended || found.children > 0 {
                break;
            }
            found.is_complete = true;
            found.times[1] = found.elapsed();
            complete.push(next);
            next = found.parent;
            if let Some(parent) = self.find_event(next) {
                parent.children = parent.children.saturating_sub(1);
            }
        }
        complete
    }

    /// Takes the places for the times of events that are complete.
    fn take_captures(&mut self, complete: &[usize]) -> Vec<(u64, EventTimes)> {
        let mut taken = Vec::new();
        let captures = std::mem::take(&mut self.captures);
        for (event, place) in captures {
            match self.find_event(event as usize) {
                Some(found) if complete.contains(&(event as usize)) => {
                    taken.push((place, found.times));
                }
                _ => self.captures.push((event, place)),
            }
        }
        taken
    }

    fn is_over(&self, event: u64) -> bool {
        let at = (event as usize).wrapping_sub(1);
        self.events.get(at).is_none_or(|event| event.is_complete)
    }
}

impl DeviceEvent {
    fn elapsed(&self) -> u64 {
        self.began
            .map_or(0, |began| began.elapsed().as_nanos() as u64)
    }
}

/// The launch that runs next.
pub(crate) enum NextLaunch {
    Launch(EnqueuedLaunch),
    /// The remaining launches wait for events that nothing completes.
    Stuck,
    Nothing,
}

impl LaunchQueue {
    fn with_state<T>(&self, f: impl FnOnce(&mut LaunchQueueState) -> T) -> T {
        let mut state = match self.state.lock() {
            Ok(state) => state,
            Err(poisoned) => poisoned.into_inner(),
        };
        f(&mut state)
    }

    /// Marks an event as complete, as the program says.
    fn complete_event(&self, event: usize) {
        let written = self.with_state(|state| {
            if let Some(found) = state.find_event(event) {
                found.is_complete = true;
            }
            state.take_captures(&[event])
        });
        write_times(&written);
    }

    /// Notes that a launch has ended.
    pub fn end_launch(&self, event: usize) {
        let written = self.with_state(|state| {
            let complete = state.end_launch(event);
            state.take_captures(&complete)
        });
        write_times(&written);
    }

    /// Removes the first launch whose events are all complete.
    pub fn take_next_launch(&self) -> NextLaunch {
        self.with_state(|state| {
            let ready = |e: &EnqueuedLaunch| e.waits.iter().all(|event| state.is_over(*event));
            match state.pending.iter().position(ready) {
                Some(at) => {
                    let next = state.pending.remove(at);
                    state.running = next.event;
                    if let Some(event) = state.find_event(next.event) {
                        event.began = Some(Instant::now());
                    }
                    NextLaunch::Launch(next)
                }
                None if state.pending.is_empty() => NextLaunch::Nothing,
                None => NextLaunch::Stuck,
            }
        })
    }

    /// Adds a request of which everything was read: its event, where there is room.
    fn add_launch(&self, mut enqueued: EnqueuedLaunch) -> Option<usize> {
        self.with_state(|state| {
            if state.pending.len() >= MOST {
                return None;
            }
            enqueued.event = state.new_event();
            let (event, parent) = (enqueued.event, state.running);
            if let Some(own) = state.find_event(event) {
                own.parent = parent;
            }
            if let Some(parent) = state.find_event(parent) {
                parent.children += 1;
            }
            state.pending.push(enqueued);
            Some(event)
        })
    }
}

/// Writes times of events.
fn write_times(written: &[(u64, EventTimes)]) {
    for (place, times) in written {
        // SAFETY: generated code has stored zeros there, in memory of the launch that lives until all of it has ended.
        unsafe { (*place as *mut EventTimes).write_unaligned(*times) };
    }
}

/// `OpCaptureEventProfilingInfo`: the times are written once the event is complete. Zeros stand there already.
pub(crate) extern "C" fn capture_times(context: *const LaunchContext, event: u64, place: u64) {
    // SAFETY: generated code passes its context.
    let queue = unsafe { &*(*context).queue.cast::<LaunchQueue>() };
    let written = queue.with_state(|state| {
        state.captures.push((event, place));
        if state.is_over(event) {
            state.take_captures(&[event as usize])
        } else {
            Vec::new()
        }
    });
    write_times(&written);
}

/// `OpEnqueueKernel` and `OpEnqueueMarker`.
pub(crate) extern "C" fn enqueue_kernel(
    context: *const LaunchContext,
    request: *const EnqueueRequest,
) -> i32 {
    // SAFETY: generated code passes its context and a request on its stack.
    let (queue, request) = unsafe { (&*(*context).queue.cast::<LaunchQueue>(), *request) };
    if request.bytes > MOST_BYTES || request.waits > MOST as u64 || request.locals > MOST as u64 {
        return FAILURE;
    }
    // SAFETY: the program says that this number of words stands there.
    let words = |at: u64, count: u64| -> Vec<u64> {
        (0..count)
            .map(|n| unsafe { (at as *const u64).add(n as usize).read_unaligned() })
            .collect()
    };
    let mut param = vec![0u128; (request.bytes as usize).div_ceil(16).max(1)];
    // SAFETY: as above, bytes; the vector has as many.
    unsafe {
        std::ptr::copy(
            request.param as *const u8,
            param.as_mut_ptr().cast(),
            request.bytes as usize,
        );
    }
    let chosen = request.local.iter().all(|n| *n > 0);
    let local = chosen.then(|| request.local.map(|n| u32::try_from(n).unwrap_or(u32::MAX)));
    let enqueued = EnqueuedLaunch {
        function: request.function,
        size: InvocationRange::Items {
            global: request.global,
            local,
            offset: request.offset,
            dimensions: request.dimensions as u32,
        },
        param,
        bytes: request.bytes,
        locals: words(request.sizes, request.locals),
        waits: words(request.wait_for, request.waits),
        event: 0,
    };
    let Some(event) = queue.add_launch(enqueued) else {
        return FAILURE;
    };
    if request.event != 0 {
        // SAFETY: the program says that an event may be written there.
        unsafe { (request.event as *mut u64).write_unaligned(event as u64) };
    }
    SUCCESS
}

/// `OpCreateUserEvent` where `event` is 0; returns the event. `OpSetUserEventStatus` otherwise.
pub(crate) extern "C" fn mark_event(context: *const LaunchContext, event: u64, status: i64) -> u64 {
    // SAFETY: generated code passes its context.
    let queue = unsafe { &*(*context).queue.cast::<LaunchQueue>() };
    if event == 0 {
        return queue.with_state(LaunchQueueState::new_event) as u64;
    }
    // `CL_COMPLETE`, or an error.
    if status <= 0 {
        queue.complete_event(event as usize);
    }
    0
}

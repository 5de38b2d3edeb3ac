//! Events: the ends of asynchronous work.

use crate::boundary::PluginCall;
use crate::error::{PluginError, PluginResult};
use crate::generated::{
    PjrtEvent, PjrtEventAwaitArgs, PjrtEventDestroyArgs, PjrtEventErrorArgs, PjrtEventIsReadyArgs,
    PjrtEventOnReadyArgs, PjrtEventOnReadyCallback,
};
use crate::handle::{ApiObject, allocate, free, get_ref};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The end of some work, which several holders wait for.
#[derive(Default)]
pub struct WorkEvent {
    state: Mutex<EventState>,
    completed: Condvar,
}

#[derive(Default)]
struct EventState {
    /// The result of the work, once it has ended.
    result: Option<PluginResult<()>>,
    /// Functions to be called then.
    callbacks: Vec<EventCallback>,
    /// Number of threads that wait. To wake none is a call of the system, too.
    waiting: usize,
}

/// A function of the caller with its argument.
struct EventCallback {
    function: PjrtEventOnReadyCallback,
    argument: *mut c_void,
}

// SAFETY: the contract lets any thread call the function.
unsafe impl Send for EventCallback {}

impl EventCallback {
    /// Calls the function, which becomes the owner of the error.
    fn call(self, result: &PluginResult<()>) {
        let error = match result {
            Ok(()) => null_mut(),
            Err(error) => error.clone().into_raw(),
        };
        if let Some(function) = self.function {
            // SAFETY: the contract of the crate.
            unsafe { function(error, self.argument) };
        }
    }
}

impl WorkEvent {
    /// The event of work that has not ended.
    pub fn new() -> Arc<WorkEvent> {
        Arc::default()
    }

    /// The event of work that has ended.
    pub fn with_result(result: PluginResult<()>) -> Arc<WorkEvent> {
        let event = WorkEvent::new();
        event.complete(result);
        event
    }

    fn lock(&self) -> MutexGuard<'_, EventState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the work. Only the first result counts.
    pub fn complete(&self, result: PluginResult<()>) {
        let mut state = self.lock();
        if state.result.is_some() {
            return;
        }
        let callbacks = std::mem::take(&mut state.callbacks);
        state.result = Some(result.clone());
        let is_awaited = state.waiting > 0;
        drop(state);
        if is_awaited {
            self.completed.notify_all();
        }
        callbacks.into_iter().for_each(|c| c.call(&result));
    }

    /// The result, if the work has ended.
    pub fn result(&self) -> Option<PluginResult<()>> {
        self.lock().result.clone()
    }

    /// Waits for the end of the work, at most this long. Returns whether it has ended.
    pub fn wait_for(&self, time: Duration) -> bool {
        let mut state = self.lock();
        state.waiting += 1;
        let waited = self
            .completed
            .wait_timeout_while(state, time, |state| state.result.is_none());
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        state.result.is_some()
    }

    /// Waits for the result.
    pub fn wait(&self) -> PluginResult<()> {
        let mut state = self.lock();
        loop {
            if let Some(result) = &state.result {
                return result.clone();
            }
            state.waiting += 1;
            let woken = self.completed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
    }

    /// Calls a function with an argument when the work has ended: at once, or on the thread that ends it. The function may
    /// wait for other jobs of the device.
    pub fn call_function_when_ready(
        &self,
        function: PjrtEventOnReadyCallback,
        argument: *mut c_void,
    ) {
        let callback = EventCallback { function, argument };
        let mut state = self.lock();
        match state.result.clone() {
            None => state.callbacks.push(callback),
            Some(result) => {
                drop(state);
                callback.call(&result);
            }
        }
    }
}

/// A holder of an event: an object of C.
pub struct EventHandle(Arc<WorkEvent>);

impl ApiObject for EventHandle {
    type Opaque = PjrtEvent;
    const NAME: &'static str = "event";
}

impl EventHandle {
    /// A handle that the caller frees.
    pub fn allocate(event: &Arc<WorkEvent>) -> *mut PjrtEvent {
        allocate(EventHandle(event.clone()))
    }
}

impl PluginCall for PjrtEventDestroyArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        free::<EventHandle>(self.event);
        Ok(())
    }
}

impl PluginCall for PjrtEventIsReadyArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let event = get_ref::<EventHandle>(self.event)?;
        self.is_ready = event.0.result().is_some().into();
        Ok(())
    }
}

impl PluginCall for PjrtEventErrorArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let event = get_ref::<EventHandle>(self.event)?;
        event.0.result().unwrap_or_else(|| {
            let message = "the event is not ready";
            Err(PluginError::new(
                crate::generated::PjrtErrorCode::FAILED_PRECONDITION,
                message,
            ))
        })
    }
}

impl PluginCall for PjrtEventAwaitArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        get_ref::<EventHandle>(self.event)?.0.wait()
    }
}

impl PluginCall for PjrtEventOnReadyArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let event = get_ref::<EventHandle>(self.event)?;
        if self.callback.is_none() {
            return Err(PluginError::invalid("there is no callback"));
        }
        event
            .0
            .call_function_when_ready(self.callback, self.user_arg);
        Ok(())
    }
}

//! Functions that handlers call back: errors, state, user data, memory, tasks and futures.

use super::interface::*;
use super::registry::{register_handlers, register_type};
use spirula_program::ForeignFunctionError;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_void};
use std::mem::offset_of;
use std::ptr::null_mut;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Canonical codes of a status.
const INVALID_ARGUMENT: u32 = 3;
const NOT_FOUND: u32 = 5;
const ALREADY_EXISTS: u32 = 6;
const RESOURCE_EXHAUSTED: u32 = 8;
const UNIMPLEMENTED: u32 = 12;

/// An error of a handler.
struct FfiError {
    code: u32,
    message: CString,
}

/// An error as an object that its receiver frees.
fn allocate_error(code: u32, message: &str) -> *mut FfiErrorObject {
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    Box::into_raw(Box::new(FfiError { code, message })).cast()
}

/// Takes an error that a handler returned; null is none.
pub unsafe fn take_error(error: *mut FfiErrorObject) -> Result<(), ForeignFunctionError> {
    if error.is_null() {
        return Ok(());
    }
    let error = Box::from_raw(error.cast::<FfiError>());
    Err(ForeignFunctionError {
        code: error.code,
        message: error.message.to_string_lossy().into_owned(),
    })
}

/// Data that handlers find by its type. Its owner keeps it alive.
#[derive(Clone, Copy)]
pub struct UserData {
    pub type_id: i64,
    pub data: *mut c_void,
}

// SAFETY: the contract of the crate lets any thread use the data.
unsafe impl Send for UserData {}

/// The state that a handler has set for a stage.
pub struct StageState {
    type_id: i64,
    state: *mut c_void,
    deleter: Option<FfiDeleter>,
}

// SAFETY: the contract of the crate lets any thread use the state.
unsafe impl Send for StageState {}

impl Drop for StageState {
    fn drop(&mut self) {
        if let Some(deleter) = self.deleter {
            // SAFETY: the handler gave the function for this state.
            unsafe { deleter(self.state) };
        }
    }
}

/// States by their stages.
pub type StageStates = Mutex<HashMap<u32, StageState>>;

/// The context of a call.
pub struct CallContext<'a> {
    /// The states that live as long as the executable: those of the first stage.
    pub kept: &'a StageStates,
    /// The states of this run.
    pub own: StageStates,
    pub user_data: &'a [UserData],
    pub run: i64,
    pub device: u32,
}

impl CallContext<'_> {
    fn states(&self, stage: u32) -> &StageStates {
        if stage == INSTANTIATE {
            self.kept
        } else {
            &self.own
        }
    }
}

/// The end of work that a handler does in the background.
#[derive(Default)]
pub struct FfiFuture {
    result: Mutex<Option<Result<(), ForeignFunctionError>>>,
    completed: Condvar,
}

impl FfiFuture {
    fn complete(&self, result: Result<(), ForeignFunctionError>) {
        let mut slot = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        slot.get_or_insert(result);
        drop(slot);
        self.completed.notify_all();
    }

    /// Waits for the future that a handler returned; null is none.
    pub unsafe fn wait(future: *mut FfiFutureObject) -> Result<(), ForeignFunctionError> {
        if future.is_null() {
            return Ok(());
        }
        let future = Arc::from_raw(future.cast::<FfiFuture>());
        let mut slot = future.result.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(result) = &*slot {
                return result.clone();
            }
            let woken = future.completed.wait(slot);
            slot = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

unsafe extern "C" fn create_error(args: *mut FfiErrorCreateArgs) -> *mut FfiErrorObject {
    let message = if (*args).message.is_null() {
        Cow::Borrowed("")
    } else {
        CStr::from_ptr((*args).message).to_string_lossy()
    };
    allocate_error((*args).errc, &message)
}

/// The message of an error. Callers of the interface before 0.4 have no place for its code.
unsafe extern "C" fn get_error_details(args: *mut FfiErrorGetDetailsArgs) {
    if let Some(error) = (*args).error.cast::<FfiError>().as_ref() {
        (*args).message = error.message.as_ptr();
        let end = offset_of!(FfiErrorGetDetailsArgs, errc) + size_of::<u32>();
        if (*args).struct_size >= end {
            (*args).errc = error.code;
        }
    }
}

unsafe extern "C" fn destroy_error(args: *mut FfiErrorDestroyArgs) {
    let _ = take_error((*args).error);
}

/// The text of a span.
pub unsafe fn read_span(span: FfiByteSpan) -> String {
    if span.ptr.is_null() {
        return String::new();
    }
    let bytes = std::slice::from_raw_parts(span.ptr.cast::<u8>(), span.len);
    String::from_utf8_lossy(bytes).into_owned()
}

unsafe extern "C" fn register_handler(args: *mut FfiHandlerRegisterArgs) -> *mut FfiErrorObject {
    let name = read_span((*args).name);
    match (*args).bundle.execute {
        Some(_) => {
            register_handlers(&name, (*args).bundle);
            null_mut()
        }
        None => allocate_error(INVALID_ARGUMENT, "a handler has no function for executions"),
    }
}

unsafe extern "C" fn get_stream(_: *mut FfiStreamGetArgs) -> *mut FfiErrorObject {
    allocate_error(UNIMPLEMENTED, "functions of the host have no stream")
}

unsafe extern "C" fn register_own_type(args: *mut FfiTypeRegisterArgs) -> *mut FfiErrorObject {
    let name = read_span((*args).name);
    let deleter = (*args).type_info.as_ref().and_then(|info| info.deleter);
    let Some(type_id) = (*args).type_id.as_mut() else {
        return allocate_error(INVALID_ARGUMENT, "there is no place for the id of a type");
    };
    match register_type(&name, type_id.type_id, deleter) {
        Ok(id) => {
            type_id.type_id = id;
            null_mut()
        }
        Err(message) => allocate_error(ALREADY_EXISTS, &message),
    }
}

unsafe fn find_context<'a>(context: *mut FfiContextObject) -> Option<&'a CallContext<'a>> {
    context.cast::<CallContext<'a>>().as_ref()
}

unsafe extern "C" fn get_user_data(args: *mut FfiContextGetArgs) -> *mut FfiErrorObject {
    let context = find_context((*args).ctx).zip((*args).type_id.as_ref());
    let found = context.and_then(|(context, wanted)| {
        let mut data = context.user_data.iter();
        data.find(|data| data.type_id == wanted.type_id)
    });
    match found {
        Some(data) => {
            (*args).data = data.data;
            null_mut()
        }
        None => allocate_error(NOT_FOUND, "the execution has no user data of this type"),
    }
}

unsafe extern "C" fn set_state(args: *mut FfiStateArgs) -> *mut FfiErrorObject {
    let Some((context, type_id)) = find_context((*args).ctx).zip((*args).type_id.as_ref()) else {
        return allocate_error(INVALID_ARGUMENT, "a state has no context or no type");
    };
    let states = context.states((*args).stage);
    let mut states = states.lock().unwrap_or_else(PoisonError::into_inner);
    if states.contains_key(&(*args).stage) {
        return allocate_error(ALREADY_EXISTS, "the stage has a state already");
    }
    let state = StageState {
        type_id: type_id.type_id,
        state: (*args).state,
        deleter: super::registry::find_deleter(type_id.type_id),
    };
    states.insert((*args).stage, state);
    null_mut()
}

unsafe extern "C" fn get_state(args: *mut FfiStateArgs) -> *mut FfiErrorObject {
    let Some((context, type_id)) = find_context((*args).ctx).zip((*args).type_id.as_ref()) else {
        return allocate_error(INVALID_ARGUMENT, "a state has no context or no type");
    };
    let states = context.states((*args).stage);
    let states = states.lock().unwrap_or_else(PoisonError::into_inner);
    match states.get(&(*args).stage) {
        Some(state) if state.type_id == type_id.type_id => {
            (*args).state = state.state;
            null_mut()
        }
        Some(_) => allocate_error(INVALID_ARGUMENT, "the state is of another type"),
        None => allocate_error(NOT_FOUND, "the stage has no state"),
    }
}

/// Alignment of all memory of handlers.
const ALIGNMENT: usize = 128;

fn layout_of(size: usize) -> Option<std::alloc::Layout> {
    std::alloc::Layout::from_size_align(size.max(1), ALIGNMENT).ok()
}

unsafe extern "C" fn allocate_memory(args: *mut FfiAllocateArgs) -> *mut FfiErrorObject {
    let layout = layout_of((*args).size).filter(|_| (*args).alignment <= ALIGNMENT);
    let data = layout.map_or(null_mut(), |layout| std::alloc::alloc(layout));
    if data.is_null() {
        return allocate_error(RESOURCE_EXHAUSTED, "there is no such memory for a handler");
    }
    (*args).data = data.cast();
    null_mut()
}

unsafe extern "C" fn free_memory(args: *mut FfiFreeArgs) -> *mut FfiErrorObject {
    if let (false, Some(layout)) = ((*args).data.is_null(), layout_of((*args).size)) {
        std::alloc::dealloc((*args).data.cast(), layout);
    }
    null_mut()
}

/// Runs a task at once.
unsafe extern "C" fn schedule_task(args: *mut FfiScheduleArgs) -> *mut FfiErrorObject {
    if let Some(task) = (*args).task {
        task((*args).data);
    }
    null_mut()
}

unsafe extern "C" fn count_threads(args: *mut FfiThreadCountArgs) -> *mut FfiErrorObject {
    if let Some(count) = (*args).num_threads.as_mut() {
        *count = 1;
    }
    null_mut()
}

/// Creates a future. The handler and the waiting call refer to it.
unsafe extern "C" fn create_future(args: *mut FfiFutureCreateArgs) -> *mut FfiErrorObject {
    let future = Arc::new(FfiFuture::default());
    // The second reference is that of the function that completes it.
    let second = future.clone();
    std::mem::forget(second);
    (*args).future = Arc::into_raw(future).cast_mut().cast();
    null_mut()
}

unsafe extern "C" fn complete_future(args: *mut FfiFutureSetAvailableArgs) -> *mut FfiErrorObject {
    if !(*args).future.is_null() {
        Arc::from_raw((*args).future.cast::<FfiFuture>()).complete(Ok(()));
    }
    null_mut()
}

unsafe extern "C" fn fail_future(args: *mut FfiFutureSetErrorArgs) -> *mut FfiErrorObject {
    if !(*args).future.is_null() {
        let error = take_error((*args).error);
        Arc::from_raw((*args).future.cast::<FfiFuture>()).complete(error);
    }
    null_mut()
}

unsafe extern "C" fn get_run_id(args: *mut FfiRunIdArgs) -> *mut FfiErrorObject {
    (*args).run_id = find_context((*args).ctx).map_or(0, |context| context.run);
    null_mut()
}

unsafe extern "C" fn get_device_ordinal(args: *mut FfiDeviceOrdinalArgs) -> *mut FfiErrorObject {
    let device = find_context((*args).ctx).map_or(0, |context| context.device);
    (*args).device_ordinal = device as i32;
    null_mut()
}

/// Calls have no extensions.
unsafe extern "C" fn find_extension(args: *mut FfiFindExtensionArgs) -> *mut FfiErrorObject {
    (*args).extension = std::ptr::null();
    null_mut()
}

/// Options of one execution, of which there are none.
struct NoOptions(FfiAttributes);

// SAFETY: the struct consists of numbers and null pointers.
unsafe impl Sync for NoOptions {}

static NO_OPTIONS: NoOptions = NoOptions(FfiAttributes {
    struct_size: size_of::<FfiAttributes>(),
    extension_start: null_mut(),
    size: 0,
    types: std::ptr::null(),
    names: std::ptr::null(),
    attrs: std::ptr::null(),
});

unsafe extern "C" fn get_custom_options(args: *mut FfiCustomOptionsArgs) -> *mut FfiErrorObject {
    (*args).attrs = &raw const NO_OPTIONS.0;
    null_mut()
}

/// The table of functions for handlers.
pub static API: FfiApiTable = FfiApiTable(FfiApi {
    struct_size: size_of::<FfiApi>(),
    extension_start: null_mut(),
    api_version: FfiVersion {
        struct_size: size_of::<FfiVersion>(),
        extension_start: null_mut(),
        major_version: MAJOR,
        minor_version: MINOR,
    },
    internal_api: std::ptr::null(),
    error_create: create_error,
    error_get_details: get_error_details,
    error_destroy: destroy_error,
    handler_register: register_handler,
    stream_get: get_stream,
    type_register: register_own_type,
    context_get: get_user_data,
    state_set: set_state,
    state_get: get_state,
    memory_allocate: allocate_memory,
    memory_free: free_memory,
    pool_schedule: schedule_task,
    pool_thread_count: count_threads,
    future_create: create_future,
    future_set_available: complete_future,
    future_set_error: fail_future,
    run_id_get: get_run_id,
    device_ordinal_get: get_device_ordinal,
    extension_find: find_extension,
    custom_options_get: get_custom_options,
});

/// The table, which never changes.
pub struct FfiApiTable(pub FfiApi);

// SAFETY: the table consists of functions, and of null pointers.
unsafe impl Sync for FfiApiTable {}

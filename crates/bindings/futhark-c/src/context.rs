//! Contexts: a program on a device, with the last error and the log.

use crate::config::SpirulaFutharkConfig;
use crate::device_choice::choose_device;
use crate::failure::{CallFailure, run_guarded, run_guarded_pointer};
use crate::handle::{SpirulaFutharkAllocate, allocate_text, get_ref, get_slice};
use crate::owned_session::OwnedSession;
use crate::profile_report::CallProfile;
use spirula_program::archive;
use spirula_runtime::{ComputeDevice, DeviceKind, DeviceOptions};
use std::ffi::{CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A function that writes a line of text to a file.
pub type SpirulaFutharkWrite = Option<unsafe extern "C" fn(*mut c_void, *const c_char)>;

/// A program on a device.
pub struct SpirulaFutharkContext {
    pub(crate) state: Mutex<ContextState>,
}

/// The state of a context, which one thread uses at a time.
pub(crate) struct ContextState {
    /// None where the initialisation failed.
    session: Option<OwnedSession>,
    /// Distinguishes the values of this context from those of others.
    pub number: u64,
    /// The message of the last failure, until it is taken.
    pub error: Option<String>,
    /// Whether an internal error has left the session in an unknown state.
    pub is_broken: bool,
    pub is_logging: bool,
    pub profile: CallProfile,
    write: SpirulaFutharkWrite,
    file: *mut c_void,
}

/// The number of contexts so far.
static CONTEXTS: AtomicU64 = AtomicU64::new(0);

impl ContextState {
    fn new(config: &SpirulaFutharkConfig) -> ContextState {
        ContextState {
            session: None,
            number: CONTEXTS.fetch_add(1, Ordering::Relaxed),
            error: None,
            is_broken: false,
            is_logging: config.is_logging,
            profile: CallProfile::new(config.is_profiling),
            write: None,
            file: null_mut(),
        }
    }

    /// The session.
    pub fn session(&mut self) -> Result<&mut OwnedSession, CallFailure> {
        let is_broken = self.is_broken;
        let session = self.session.as_mut().filter(|_| !is_broken);
        session.ok_or_else(|| {
            CallFailure::from_message("the context can only be freed, as it failed before")
        })
    }

    /// Writes a line to the log, which is standard error by default.
    pub fn write_log(&self, line: &str) {
        let Some(write) = self.write else {
            eprintln!("{line}");
            return;
        };
        let text = CString::new(format!("{line}\n").replace('\0', "")).unwrap_or_default();
        // SAFETY: the caller gave a function and the file that it writes to.
        unsafe { write(self.file, text.as_ptr()) };
    }

    /// Writes the messages that the program traced.
    pub fn write_traced(&mut self) {
        let traced = self.session().map(|session| session.take_traced());
        for message in traced.unwrap_or_default() {
            self.write_log(&format!("Trace: {message}"));
        }
    }
}

/// Reads the program and begins a session on the chosen device.
unsafe fn open_session(config: &SpirulaFutharkConfig) -> Result<OwnedSession, CallFailure> {
    let info = choose_device(config.device.as_deref())?;
    let archives = &config.program;
    let processor = (archives.processor, archives.processor_size);
    let graphics = (archives.graphics, archives.graphics_size);
    let (first, second) = match info.kind {
        DeviceKind::Gpu => (graphics, processor),
        _ => (processor, graphics),
    };
    let (bytes, size) = if first.0.is_null() { second } else { first };
    // SAFETY: the archives stay where they are, by the contract of `spirula_futhark_config_new`.
    let bytes = unsafe { get_slice(bytes, size) }?;
    let program = archive::read_archive(bytes);
    let program = program.map_err(|error| CallFailure::from_message(error.to_string()))?;
    let options = DeviceOptions {
        threads: config.threads,
        cache: config.cache.clone(),
        ..DeviceOptions::default()
    };
    let device = ComputeDevice::open(&info.id, &options);
    let device = device.map_err(|error| CallFailure::from_message(error.to_string()))?;
    OwnedSession::new(program, device, &config.parameters)
}

/// Creates a context. If its initialisation fails, it has an error, and it can only be freed. Null without a configuration.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_context_new(
    config: *const SpirulaFutharkConfig,
) -> *mut SpirulaFutharkContext {
    // SAFETY: the crate's contract.
    let Ok(config) = (unsafe { get_ref(config) }) else {
        return null_mut();
    };
    let mut state = ContextState::new(config);
    // SAFETY: the crate's contract.
    match catch_unwind(AssertUnwindSafe(|| unsafe { open_session(config) })) {
        Ok(Ok(session)) => state.session = Some(session),
        Ok(Err(failure)) => state.error = Some(failure.message),
        Err(_) => state.error = Some("an internal error while the context began".to_owned()),
    }
    state.write_traced();
    let state = Mutex::new(state);
    Box::into_raw(Box::new(SpirulaFutharkContext { state }))
}

/// Frees a context; null is allowed. Its values can no longer be used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_context_free(context: *mut SpirulaFutharkContext) {
    if !context.is_null() {
        // SAFETY: it came from `Box::into_raw`, and by the contract is not freed yet.
        let context = unsafe { Box::from_raw(context) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(context)));
    }
}

/// Waits for all calls. Calls have ended when they return, so this only tells whether the context works.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_context_sync(
    context: *mut SpirulaFutharkContext,
) -> c_int {
    // SAFETY: the crate's contract.
    unsafe { run_guarded(context, |state| state.session().map(|_| ())) }
}

/// Frees memory of the device that is kept for later calls.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_context_clear_caches(
    context: *mut SpirulaFutharkContext,
) -> c_int {
    // SAFETY: the crate's contract.
    unsafe {
        run_guarded(context, |state| {
            Ok(state.session()?.free_unused_memory()?)
        })
    }
}

/// Takes the message of the last failure: memory of `allocate` that the caller frees. Null if there was none since the last
/// call of this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_context_get_error(
    context: *mut SpirulaFutharkContext,
    allocate: SpirulaFutharkAllocate,
) -> *mut c_char {
    // SAFETY: null or one of our live objects, by the contract.
    let Some(context) = (unsafe { context.as_ref() }) else {
        return null_mut();
    };
    let state = context.state.lock();
    let taken = state.unwrap_or_else(PoisonError::into_inner).error.take();
    // SAFETY: the crate's contract.
    taken.map_or(null_mut(), |text| unsafe { allocate_text(&text, allocate) })
}

/// The record of calls, as a JSON object in memory of `allocate` that the caller frees.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_context_report(
    context: *mut SpirulaFutharkContext,
    allocate: SpirulaFutharkAllocate,
) -> *mut c_char {
    // SAFETY: the crate's contract.
    unsafe {
        run_guarded_pointer(context, |state| {
            Ok(allocate_text(&state.profile.to_json(), allocate))
        })
    }
}

/// Pauses the recording of calls, or continues it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_context_pause(
    context: *mut SpirulaFutharkContext,
    flag: c_int,
) {
    // SAFETY: the crate's contract.
    unsafe {
        run_guarded(context, |state| {
            state.profile.is_paused = flag != 0;
            Ok(())
        })
    };
}

/// Says where the log is written to: `write` is called with `file` and each line.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_context_set_log(
    context: *mut SpirulaFutharkContext,
    write: SpirulaFutharkWrite,
    file: *mut c_void,
) {
    // SAFETY: the crate's contract.
    unsafe {
        run_guarded(context, |state| {
            (state.write, state.file) = (write, file);
            Ok(())
        })
    };
}

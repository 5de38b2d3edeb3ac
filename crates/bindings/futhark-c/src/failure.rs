//! Failures of calls: codes, messages, and the guard around every exported function.

use crate::context::{ContextState, SpirulaFutharkContext};
use spirula_program::ProgramError;
use spirula_runtime::DeviceError;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::PoisonError;

/// Success.
pub const SPIRULA_FUTHARK_SUCCESS: c_int = 0;
/// A failure that has no code of its own.
pub const SPIRULA_FUTHARK_FAILURE: c_int = 1;
/// The program failed, or its arguments do not fit it.
pub const SPIRULA_FUTHARK_PROGRAM_ERROR: c_int = 2;
/// There was no memory for a value.
pub const SPIRULA_FUTHARK_OUT_OF_MEMORY: c_int = 3;

/// The reason why a call fails.
#[derive(Debug)]
pub(crate) struct CallFailure {
    pub code: c_int,
    pub message: String,
}

impl CallFailure {
    /// A failure without a code of its own.
    pub fn from_message(message: impl Into<String>) -> CallFailure {
        CallFailure {
            code: SPIRULA_FUTHARK_FAILURE,
            message: message.into(),
        }
    }
}

impl From<ProgramError<DeviceError>> for CallFailure {
    fn from(error: ProgramError<DeviceError>) -> CallFailure {
        let code = match &error {
            ProgramError::Failed(..) | ProgramError::Invalid(_) | ProgramError::Foreign(_) => {
                SPIRULA_FUTHARK_PROGRAM_ERROR
            }
            ProgramError::Machine(DeviceError::Memory { .. }) => SPIRULA_FUTHARK_OUT_OF_MEMORY,
            ProgramError::Unsupported(_) | ProgramError::Machine(_) => SPIRULA_FUTHARK_FAILURE,
        };
        CallFailure {
            code,
            message: format!("Error: {error}"),
        }
    }
}

/// Runs the body of an exported function on the state of a context. A failure is kept for
/// [`crate::spirula_futhark_context_get_error`], and its code is returned.
pub(crate) unsafe fn run_guarded(
    context: *mut SpirulaFutharkContext,
    body: impl FnOnce(&mut ContextState) -> Result<(), CallFailure>,
) -> c_int {
    // SAFETY: the same contract.
    match unsafe { run_guarded_for(context, body) } {
        Ok(()) => SPIRULA_FUTHARK_SUCCESS,
        Err(code) => code,
    }
}

/// The same for functions that return a pointer, which is null after a failure.
pub(crate) unsafe fn run_guarded_pointer<T>(
    context: *mut SpirulaFutharkContext,
    body: impl FnOnce(&mut ContextState) -> Result<*mut T, CallFailure>,
) -> *mut T {
    // SAFETY: the same contract.
    unsafe { run_guarded_for(context, body) }.unwrap_or(std::ptr::null_mut())
}

unsafe fn run_guarded_for<T>(
    context: *mut SpirulaFutharkContext,
    body: impl FnOnce(&mut ContextState) -> Result<T, CallFailure>,
) -> Result<T, c_int> {
    // SAFETY: null or one of our live objects, by the contract.
    let Some(context) = (unsafe { context.as_ref() }) else {
        return Err(SPIRULA_FUTHARK_FAILURE);
    };
    let mut state = context.state.lock().unwrap_or_else(PoisonError::into_inner);
    let failure = match catch_unwind(AssertUnwindSafe(|| body(&mut state))) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(failure)) => failure,
        Err(_) => {
            state.is_broken = true;
            CallFailure::from_message("an internal error; the context can only be freed")
        }
    };
    state.error = Some(failure.message);
    Err(failure.code)
}

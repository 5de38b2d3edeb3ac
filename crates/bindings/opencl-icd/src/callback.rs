//! Callbacks: functions of the caller that are called later.

use std::ffi::c_void;

/// A function of the caller, with its argument.
#[derive(Clone, Copy)]
pub struct UserCallback<F> {
    /// The function.
    pub function: F,
    /// The argument.
    pub data: *mut c_void,
}

// SAFETY: the caller allows the function to be called by any thread.
unsafe impl<F: Send> Send for UserCallback<F> {}
// SAFETY: as above.
unsafe impl<F: Sync> Sync for UserCallback<F> {}

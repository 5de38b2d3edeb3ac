//! Calls that are not guarded.
//!
//! # Unsafe code
//! The caller's promise is passed on.
#![allow(unsafe_code)]

use super::TrapReason;
use crate::layout::launch_context::{EntryFn, LaunchContext};
use std::time::Duration;

/// Calls a function.
///
/// # Safety
/// As the function demands.
pub(crate) unsafe fn call_guarded(
    entry: EntryFn,
    context: *const LaunchContext,
    [lo, hi, resume]: [u32; 3],
    _: &[(usize, usize)],
) -> Result<u64, TrapReason> {
    // SAFETY: the caller's promise.
    Ok(unsafe { entry(context, lo, hi, resume) })
}

/// Ends nothing, as nothing can be ended here.
pub(crate) struct CallWatchdog;

impl CallWatchdog {
    /// Watches nothing.
    pub fn start_with_limit(_: Option<Duration>) -> CallWatchdog {
        CallWatchdog
    }

    /// Notes nothing.
    pub fn watch_current_thread(&self) {}

    /// Notes nothing.
    pub fn unwatch_current_thread(&self) {}

    /// Whether the time is up: never.
    pub fn is_late(&self) -> bool {
        false
    }
}

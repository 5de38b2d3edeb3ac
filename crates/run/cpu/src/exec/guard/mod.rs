//! Guarded calls: calls of generated code that return whatever the code does.
//!
//! On Linux, a signal that generated code raises (an address without memory, an exhausted stack) ends the call and
//! becomes a [`TrapReason`]. A request of [`CallWatchdog`], which ends calls that exceed the time limit, does the
//! same. Elsewhere calls are not guarded.
//!
//! Before the call, its stack pointer and return address are recorded for the thread. The signal handler lets the
//! interrupted code resume there, as if the call had returned. The frames in between are those of generated code and
//! of functions of the scalar library, which own nothing. Wasmtime uses the same method for its traps. A signal of
//! any other code is passed to the handler that was installed before.

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
#[path = "linux.rs"]
mod system;
#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
#[path = "none.rs"]
mod system;

pub(crate) use system::{CallWatchdog, call_guarded};

/// Why generated code did not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrapReason {
    /// It accessed an address without memory, or without the right to write.
    Access(u64),
    /// The stack of its thread is used up.
    Stack,
    /// It raised another signal.
    Signal(i32),
    /// It exceeded the time limit.
    Late,
}

//! Calls of generated code that come back whatever the code does.
//!
//! On Linux, a signal that generated code raises (an address where no memory is, a stack that is used
//! up) ends the call and becomes a [`TrapReason`]; so does a request of [`CallWatchdog`], which ends calls that take
//! too long. Elsewhere calls are made as they are.
//!
//! How: before the call its stack pointer and the place behind it are noted for the thread. The
//! handler of the signal makes the interrupted code go on there, as if the call had returned; frames
//! in between are those of generated code and of functions of the scalar library, which own nothing.
//! Wasmtime does the same for its traps. A signal of anything else is left to whoever handled it
//! before.

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
    /// It accessed an address where no memory is, or must not write.
    Access(u64),
    /// The stack of its thread is used up.
    Stack,
    /// It raised another signal.
    Signal(i32),
    /// It was taking too long.
    Late,
}

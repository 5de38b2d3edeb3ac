//! Launch context: the facts that generated code reads at fixed offsets, and the layout of an invocation's frame.

use std::ffi::c_void;
use std::mem::offset_of;

/// Facts about the launch and the workgroup, read by generated code at fixed offsets.
///
/// One for each thread; constant during a call of generated code.
#[repr(C)]
#[derive(Clone, Debug)]
pub(crate) struct LaunchContext {
    /// The block of kernel arguments.
    pub args: *const u8,
    /// Address and length of each binding. An array of bindings has the address of its own table and its length.
    pub bindings: *const [u64; 2],
    /// Push constants.
    pub push: *const u8,
    /// The workgroup's memory.
    pub workgroup: *mut u8,
    /// Bytes of the workgroup's memory.
    pub workgroup_bytes: u64,
    /// Address and bytes of the private memory of all invocations.
    pub private: [u64; 2],
    /// Range of addresses around the workgroup's memory in which there is nothing else.
    pub workgroup_span: [u64; 2],
    /// Range of addresses around private memory in which there is nothing else.
    pub private_span: [u64; 2],
    /// The frame of the first invocation. Only kernels that suspend use it.
    pub frames: *mut u8,
    /// Bytes from one frame to the next.
    pub frame_stride: u64,
    /// Workgroup id.
    pub group: [u64; 3],
    /// Number of workgroups.
    pub groups: [u64; 3],
    /// Global id of the workgroup's first invocation, offset included.
    pub base: [u64; 3],
    /// Size of this workgroup.
    pub local: [u64; 3],
    /// Size of every workgroup that is not cut off at the end of the range.
    pub enqueued: [u64; 3],
    /// Number of invocations.
    pub global: [u64; 3],
    /// Global offset.
    pub offset: [u64; 3],
    /// Dimensions.
    pub dimensions: u64,
    /// Whether memory that is only written takes non-temporal stores; 0 or 1.
    pub non_temporal: u64,
    /// Whether the thread counts in private copies, so that updates need not be atomic; 0 or 1.
    pub privatised: u64,
    /// Number of runs of each block. Only kernels that count blocks use it.
    pub counters: *mut u64,
    /// The sanitizer's `WorkgroupState`; null where nothing is checked.
    pub sanitizer: *mut c_void,
    /// The thread's `PrintfRecorder`.
    pub printer: *mut c_void,
    /// The launch's `LaunchQueue`.
    pub queue: *const c_void,
}

/// An entry function of generated code, or any function with its signature. The arguments after the context are the
/// first invocation, the end of the range, and the suspension point to resume.
pub(crate) type EntryFn = unsafe extern "C" fn(*const LaunchContext, u32, u32, u32) -> u64;

/// Offsets of the context's fields.
pub(crate) mod at {
    use super::{LaunchContext, offset_of};

    pub const ARGS: i32 = offset_of!(LaunchContext, args) as i32;
    pub const BINDINGS: i32 = offset_of!(LaunchContext, bindings) as i32;
    pub const PUSH: i32 = offset_of!(LaunchContext, push) as i32;
    pub const WORKGROUP: i32 = offset_of!(LaunchContext, workgroup) as i32;
    pub const WORKGROUP_BYTES: i32 = offset_of!(LaunchContext, workgroup_bytes) as i32;
    pub const PRIVATE: i32 = offset_of!(LaunchContext, private) as i32;
    pub const FRAMES: i32 = offset_of!(LaunchContext, frames) as i32;
    pub const FRAME_STRIDE: i32 = offset_of!(LaunchContext, frame_stride) as i32;
    pub const GROUP: i32 = offset_of!(LaunchContext, group) as i32;
    pub const GROUPS: i32 = offset_of!(LaunchContext, groups) as i32;
    pub const BASE: i32 = offset_of!(LaunchContext, base) as i32;
    pub const LOCAL: i32 = offset_of!(LaunchContext, local) as i32;
    pub const ENQUEUED: i32 = offset_of!(LaunchContext, enqueued) as i32;
    pub const GLOBAL: i32 = offset_of!(LaunchContext, global) as i32;
    pub const OFFSET: i32 = offset_of!(LaunchContext, offset) as i32;
    pub const DIMENSIONS: i32 = offset_of!(LaunchContext, dimensions) as i32;
    pub const NON_TEMPORAL: i32 = offset_of!(LaunchContext, non_temporal) as i32;
    pub const PRIVATISED: i32 = offset_of!(LaunchContext, privatised) as i32;
    pub const COUNTERS: i32 = offset_of!(LaunchContext, counters) as i32;
    pub const SANITIZER: i32 = offset_of!(LaunchContext, sanitizer) as i32;
}

/// State of an invocation that has not begun; the resume argument that begins it.
pub(crate) const START: u32 = 0;
/// State of an invocation that has ended.
pub(crate) const DONE: u32 = u32::MAX;
/// Offset of the state in a frame. Values for the whole run lie after the exchange slots. Values that are kept over
/// one suspension lie before the frame's address.
pub(crate) const STATE: i32 = 0;
/// Offset of the first exchange slot.
pub(crate) const EXCHANGE: i32 = 8;

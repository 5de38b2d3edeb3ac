//! What generated code is given: the layout of the launch context and of invocations' frames.

use crate::host::launch_queue::LaunchQueue;
use crate::host::printf::PrintfRecorder;
use crate::sanitizer::workgroup_state::WorkgroupState;
use std::mem::offset_of;

/// Facts about the launch and the workgroup, read by generated code at fixed offsets.
///
/// One for each thread; constant during a call of generated code.
#[repr(C)]
#[derive(Clone, Debug)]
pub(crate) struct LaunchContext {
    /// The block of kernel arguments.
    pub args: *const u8,
    /// Address and length of each binding; of the table of an array of bindings and its length.
    pub bindings: *const [u64; 2],
    /// Push constants.
    pub push: *const u8,
    /// The workgroup's memory.
    pub workgroup: *mut u8,
    /// Its bytes.
    pub workgroup_bytes: u64,
    /// Address and bytes of the private memory of all invocations.
    pub private: [u64; 2],
    /// The addresses around the workgroup's memory that lead to nothing else.
    pub workgroup_span: [u64; 2],
    /// Those around private memory.
    pub private_span: [u64; 2],
    /// The frame of the first invocation; only for kernels that suspend.
    pub frames: *mut u8,
    /// Bytes from a frame to the next.
    pub frame_stride: u64,
    /// Workgroup id.
    pub group: [u64; 3],
    /// Number of workgroups.
    pub groups: [u64; 3],
    /// Global id of the workgroup's first invocation, offset included.
    pub base: [u64; 3],
    /// Size of this workgroup.
    pub local: [u64; 3],
    /// Size of all workgroups but those at the end.
    pub enqueued: [u64; 3],
    /// Number of invocations.
    pub global: [u64; 3],
    /// Global offset.
    pub offset: [u64; 3],
    /// Dimensions.
    pub dimensions: u64,
    /// Whether what is only written is stored past the caches; 0 or 1.
    pub streams: u64,
    /// Whether nobody else sees what is only counted in; 0 or 1.
    pub tallies: u64,
    /// How often each block ran; only for kernels that count.
    pub counters: *mut u64,
    /// What checks know; only for kernels that are checked.
    pub check: *mut WorkgroupState,
    /// What is printed.
    pub printer: *mut PrintfRecorder,
    /// What is enqueued.
    pub queue: *const LaunchQueue,
}

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
    pub const STREAMS: i32 = offset_of!(LaunchContext, streams) as i32;
    pub const TALLIES: i32 = offset_of!(LaunchContext, tallies) as i32;
    pub const COUNTERS: i32 = offset_of!(LaunchContext, counters) as i32;
    pub const CHECK: i32 = offset_of!(LaunchContext, check) as i32;
}

/// State of an invocation that has not begun: the resume argument that begins it.
pub(crate) const START: u32 = 0;
/// State of an invocation that has ended.
pub(crate) const DONE: u32 = u32::MAX;
/// Offset of the state in a frame. What stays for the whole run lies behind the exchange slots, what
/// is kept over one suspension lies before the frame's address.
pub(crate) const STATE: i32 = 0;
/// Offset of the first exchange slot.
pub(crate) const EXCHANGE: i32 = 8;
/// Slots of 8 bytes for operands and results at suspension points, where any exchanges values: two
/// vectors of 16 and two more. Products of matrices take more.
pub(crate) const EXCHANGE_SLOTS: u32 = 34;

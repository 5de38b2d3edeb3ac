//! Frames: the memory in which an invocation keeps its state, exchanged values and live values.

use super::globals::ReachedGlobals;
use super::launch_context::{DONE, EXCHANGE, STATE};

/// Most bytes of an invocation's private memory.
const MAX_ROOMS: u64 = 1 << 22;

/// Least alignment of a variable in private memory.
const ROOM_ALIGN: u32 = 16;

/// Most alignment of a variable in private memory: that of a vector of 16 doubles.
const MOST_ROOM_ALIGN: u32 = 128;

/// Extent of an invocation's private memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrivateExtent {
    /// Bytes that variables take.
    pub bytes: u32,
    /// Alignment of the memory: the largest one of its variables.
    pub align: u32,
}

impl Default for PrivateExtent {
    fn default() -> Self {
        PrivateExtent {
            bytes: 0,
            align: ROOM_ALIGN,
        }
    }
}

impl PrivateExtent {
    /// Allocates memory for the invocation's whole run. Returns its offset; none where there is too much.
    pub fn open_room(&mut self, bytes: u64, align: u32) -> Option<u32> {
        let align = align.clamp(ROOM_ALIGN, MOST_ROOM_ALIGN);
        let offset = self.bytes.next_multiple_of(align);
        let end = u64::from(offset).checked_add(bytes)?;
        if end > MAX_ROOMS {
            return None;
        }
        self.bytes = end as u32;
        self.align = self.align.max(align);
        Some(offset)
    }

    /// Bytes from the private memory of one invocation to that of the next.
    pub fn stride(&self) -> u32 {
        self.bytes.next_multiple_of(self.align)
    }
}

/// Extent of an invocation's frame and private memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameExtent {
    /// Bytes from the frame's address to its end.
    pub above: u32,
    /// Bytes before the frame's address.
    pub below: u32,
    /// The invocation's private memory. It lies elsewhere, as the program's indices reach it.
    pub rooms: PrivateExtent,
}

impl FrameExtent {
    /// Room for the state and `slots` exchange slots, and private memory. Barriers alone need no slots.
    pub fn new(slots: u32, rooms: PrivateExtent) -> Self {
        FrameExtent {
            above: (EXCHANGE as u32).saturating_add(slots.saturating_mul(8)),
            below: 0,
            rooms,
        }
    }
}

/// Private memory for the module's private variables; none where there is too much. With the sanitizer, the flags of
/// defined bytes take as much again.
pub(crate) fn private_variable_extent(
    globals: &ReachedGlobals,
    is_checked: bool,
) -> Option<PrivateExtent> {
    let bytes = u64::from(globals.private_bytes).next_multiple_of(ROOM_ALIGN.into());
    let room = if is_checked { 2 * bytes } else { bytes };
    (room <= MAX_ROOMS).then_some(PrivateExtent {
        bytes: room as u32,
        align: globals.private_align,
    })
}

/// The positions of the frames of a workgroup's invocations, in words of 8 bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FrameLayout {
    /// Words from the beginning of the memory to the address of the first frame.
    pub bias: usize,
    /// Words from one frame to the next.
    pub stride: usize,
}

impl FrameLayout {
    /// The layout for frames with `below` bytes before and `above` bytes after their address.
    pub fn new(below: u32, above: u32) -> Self {
        let bias = (below as usize).div_ceil(16) * 2;
        FrameLayout {
            bias,
            stride: bias + (above as usize).div_ceil(16) * 2,
        }
    }
}

/// The frames of a workgroup.
pub(crate) struct WorkgroupFrames<'a> {
    pub words: &'a mut [u64],
    pub layout: FrameLayout,
}

impl WorkgroupFrames<'_> {
    fn word_index(&self, lane: usize, bytes: i32) -> usize {
        self.layout.bias + lane * self.layout.stride + bytes as usize / 8
    }

    /// The state of an invocation.
    pub fn lane_state(&self, lane: usize) -> u32 {
        self.words[self.word_index(lane, STATE)] as u32
    }

    /// Number of the first `count` invocations that have ended.
    pub fn count_ended(&self, count: usize) -> usize {
        (0..count)
            .filter(|lane| self.lane_state(*lane) == DONE)
            .count()
    }

    /// Slot `n` of an invocation.
    pub fn read_slot(&self, lane: usize, n: usize) -> u64 {
        self.words[self.word_index(lane, EXCHANGE) + n]
    }

    /// Sets slot `n` of an invocation.
    pub fn set_slot(&mut self, lane: usize, n: usize, value: u64) {
        let at = self.word_index(lane, EXCHANGE) + n;
        self.words[at] = value;
    }
}

//! The linear memory of an instance.
//!
//! The first bytes have fixed addresses: the record of a fault, the steps that are left, what a workgroup is, and the table
//! of regions. After the table come the regions of the launch.

use super::function_plan::KernelPlan;
use crate::decode::DecodedKernel;

/// The record of a fault: its kind, step, address, bytes, and the invocation that runs.
pub(super) const FAULT_KIND: u32 = 0;
pub(super) const FAULT_STEP: u32 = 4;
pub(super) const FAULT_ADDRESS: u32 = 8;
pub(super) const FAULT_BYTES: u32 = 16;
pub(super) const INVOCATION: u32 = 24;
pub(super) const FAULT_RECORD: u32 = 32;

/// Steps that are left to the launch between workgroups.
pub(super) const STEPS_LEFT: u32 = 32;
/// The size of the workgroup, and the number of its invocations.
pub(super) const GROUP_SIZE: u32 = 40;
pub(super) const GROUP_COUNT: u32 = 52;
/// Invocations of the launch in a row, and in a plane.
pub(super) const GRID_ROW: u32 = 56;
pub(super) const GRID_PLANE: u32 = 64;
/// The initial contents of an invocation's variables.
pub(super) const TEMPLATE: u32 = 72;
/// The variables of the first invocation, and its state.
pub(super) const PRIVATE: u32 = 76;
pub(super) const STATES: u32 = 80;
/// Number of buffers.
pub(super) const BUFFER_COUNT: u32 = 84;
/// Constants of built-in variables in the workgroup, three for each.
pub(super) const BUILTINS: u32 = 88;

/// Bytes of a row of the table of regions: base, padding, and size.
pub(super) const REGION_BYTES: u32 = 16;

/// Regions with numbers below the first buffer's.
pub(super) const FIXED_REGIONS: u32 = 8;

/// Most bytes of all memory of a launch.
const MOST_MEMORY: u64 = 1 << 30;

/// Addresses that the module of a kernel fixes.
#[derive(Clone, Copy, Debug)]
pub(super) struct FixedLayout {
    /// Parameters of the entry point, in 64 bits each.
    pub parameters: u32,
    /// The table of regions: fixed ones, resources, buffers.
    pub regions: u32,
    pub resources: u32,
    pub private_bytes: u64,
    pub state_bytes: u32,
}

/// A region of a launch in memory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlacedRegion {
    pub base: u32,
    pub bytes: u64,
}

/// Gives regions their places, one after the other.
#[derive(Debug)]
pub(super) struct RegionPlacer {
    end: u64,
}

impl FixedLayout {
    /// The layout of a kernel.
    pub(super) fn from_kernel(kernel: &DecodedKernel, plan: &KernelPlan) -> FixedLayout {
        let parameters = BUILTINS + 24 * kernel.builtins.len() as u32;
        let count = plan.functions.first().map_or(0, |entry| entry.parameters);
        let regions = (parameters + 8 * count).next_multiple_of(16);
        FixedLayout {
            parameters,
            regions,
            resources: kernel.resources.len() as u32,
            private_bytes: plan.private_bytes,
            state_bytes: plan.state_bytes.next_multiple_of(16),
        }
    }

    /// The row of a fixed region, a resource, or the first buffer.
    pub(super) fn region_row(&self, index: u32) -> u32 {
        self.regions + index * REGION_BYTES
    }

    /// The placer of what lies after a table with a given number of buffers.
    pub(super) fn place_after(&self, buffers: u32) -> RegionPlacer {
        let end = self.region_row(FIXED_REGIONS + self.resources) + buffers * REGION_BYTES;
        RegionPlacer { end: end.into() }
    }
}

impl RegionPlacer {
    /// Places a region.
    pub(super) fn place(&mut self, bytes: u64) -> PlacedRegion {
        let base = self.end.next_multiple_of(16);
        self.end = base.saturating_add(bytes);
        PlacedRegion {
            base: base.min(MOST_MEMORY) as u32,
            bytes,
        }
    }

    /// Bytes of all memory; none where they are too many.
    pub(super) fn finish(self) -> Option<u64> {
        // Zero-sized regions have room behind them, so that each has an address.
        let end = self.end.saturating_add(16);
        (end <= MOST_MEMORY).then_some(end)
    }
}

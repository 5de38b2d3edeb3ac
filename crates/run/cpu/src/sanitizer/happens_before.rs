//! What atomics order.

use super::shadow_cell::ShadowPhases;
use rustc_hash::FxHashMap;

/// What atomics have ordered in the workgroup that runs. Flags and phases are read by generated code.
#[derive(Default)]
pub(super) struct HappensBefore {
    /// Releases on the workgroup's own memory, by address, since all its invocations have waited for each other: what was
    /// before is ordered by that. Those on other memory stand beside its cells.
    pub within: FxHashMap<u64, u64>,
    /// Releases that were seen without an acquire.
    pub pending: Vec<u64>,
    /// Not zero if there was a fence.
    pub fenced: u64,
    /// Whether there was one since all invocations of the workgroup have waited for each other.
    pub fenced_within: bool,
    /// What other workgroups did before this phase, in a cell's place, is before: all of it or nothing.
    pub acquired: u64,
    /// The invocation, in its phase, for which everything before is.
    pub invocation: u64,
}

impl HappensBefore {
    /// Begins a workgroup of a launch whose first phase is given.
    pub fn begin_group(&mut self, launch: u64) {
        self.begin_phase();
        self.pending.clear();
        self.fenced = 0;
        self.acquired = launch;
        self.invocation = 0;
    }

    /// All invocations of the workgroup have waited for each other.
    pub fn begin_phase(&mut self) {
        self.within.clear();
        self.fenced_within = false;
    }

    pub fn acquire_phase(&mut self, released: u64, phases: ShadowPhases, owner: u64) {
        if released < phases.group {
            self.acquired = phases.group;
        } else if released >= phases.now {
            self.invocation = owner;
        }
    }

    pub fn apply_fence(&mut self, phases: ShadowPhases, owner: u64) {
        self.fenced = 1;
        self.fenced_within = true;
        for released in std::mem::take(&mut self.pending) {
            self.acquire_phase(released, phases, owner);
        }
    }
}

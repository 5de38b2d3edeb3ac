//! Happens-before order that atomics establish between invocations.

use super::shadow_cell::ShadowPhases;
use rustc_hash::FxHashMap;

/// The order that atomics have established for the running workgroup. Generated code reads flags and phases.
#[derive(Default)]
pub(super) struct HappensBefore {
    /// Releases on the workgroup's own memory by address, since all its invocations last waited for each other. The
    /// wait orders everything before it. Releases on other memory are stored beside its cells.
    pub within: FxHashMap<u64, u64>,
    /// Releases that were observed without an acquire.
    pub pending: Vec<u64>,
    /// Not zero if there was a fence.
    pub fenced: u64,
    /// Whether there was a fence since all invocations of the workgroup last waited for each other.
    pub fenced_within: bool,
    /// Accesses of other workgroups before this phase, in the position of a cell, are ordered before: all or none.
    pub acquired: u64,
    /// The invocation, in its phase, for which everything before is.
    pub invocation: u64,
}

impl HappensBefore {
    /// Begins a workgroup of a launch with a first phase.
    pub fn begin_group(&mut self, launch: u64) {
        self.begin_phase();
        self.pending.clear();
        self.fenced = 0;
        self.acquired = launch;
        self.invocation = 0;
    }

    /// Begins a phase: all invocations of the workgroup have waited for each other.
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

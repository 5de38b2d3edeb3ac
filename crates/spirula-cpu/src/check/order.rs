//! What atomics order.

use super::cell::Phases;
use rustc_hash::FxHashMap;

/// What atomics have ordered in the workgroup that runs.
#[derive(Default)]
pub(super) struct Order {
    /// By address: who released there last.
    pub releases: FxHashMap<u64, u64>,
    /// The same of the workgroup's own memory, since all its invocations have waited for each other: what was before is
    /// ordered by that.
    pub within: FxHashMap<u64, u64>,
    /// Releases that were seen without an acquire.
    pub pending: Vec<u64>,
    pub fenced: bool,
    /// Whether there was a fence since all invocations of the workgroup have waited for each other.
    pub fenced_within: bool,
    /// Everything of earlier workgroups is before.
    pub group: bool,
    /// The invocation, in its phase, for which everything before is.
    pub invocation: u64,
}

impl Order {
    pub fn begin_group(&mut self) {
        self.begin_phase();
        self.pending.clear();
        self.fenced = false;
        self.group = false;
        self.invocation = 0;
    }

    /// All invocations of the workgroup have waited for each other.
    pub fn begin_phase(&mut self) {
        self.within.clear();
        self.fenced_within = false;
    }

    pub fn acquire(&mut self, released: u64, phases: Phases, owner: u64) {
        if released < phases.group {
            self.group = true;
        } else if released >= phases.now {
            self.invocation = owner;
        }
    }

    pub fn fence(&mut self, phases: Phases, owner: u64) {
        self.fenced = true;
        self.fenced_within = true;
        for released in std::mem::take(&mut self.pending) {
            self.acquire(released, phases, owner);
        }
    }
}

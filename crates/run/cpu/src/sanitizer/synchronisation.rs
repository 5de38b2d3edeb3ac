//! Synchronisation: the order that the atomics of a workgroup establish.
//!
//! # Unsafe code
//! As in [`super::workgroup_state`]: the sanitizer outlives the launch, and only its thread uses it.
#![allow(unsafe_code)]

use super::access_record::AccessRecord;
use super::workgroup_state::WorkgroupState;

impl WorkgroupState {
    /// Records the order that an atomic establishes.
    pub(super) fn synchronise_atomic(&mut self, access: AccessRecord, linear: u32) {
        let phases = self.phases();
        let owner = phases.now | u64::from(linear);
        let within = self.is_group(&access);
        let fenced = if within {
            self.order.fenced_within
        } else {
            self.order.fenced != 0
        };
        let releases = access.writes && (access.releases || fenced);
        let released = if within {
            self.release_within(access.address, owner, releases)
        } else {
            self.release_global(access, owner, releases)
        };
        if released < phases.launch || released == owner || !access.reads {
            return;
        }
        if access.acquires || fenced {
            self.order.acquire_phase(released, phases, owner);
        } else {
            self.order.pending.push(released);
        }
    }

    /// The last release at an address of the workgroup's memory. A new release is recorded if there is one.
    fn release_within(&mut self, address: u64, owner: u64, releases: bool) -> u64 {
        let within = &mut self.order.within;
        let released = within.get(&address).copied().unwrap_or(0);
        if releases {
            within.insert(address, owner);
            self.relaxed_order();
        }
        released
    }

    /// The last release at an address of memory that all workgroups share. A new release is recorded if there is one.
    fn release_global(&mut self, access: AccessRecord, owner: u64, releases: bool) -> u64 {
        // SAFETY: as in `begin_group`.
        let checker = unsafe { &mut *self.checker };
        let Some(region) = checker.regions.find_region(access.address) else {
            return 0;
        };
        let released = region.last_release(access.address, access.granule);
        if releases {
            region.record_release(access.address, access.granule, owner);
        }
        released
    }

    pub(super) fn is_group(&self, access: &AccessRecord) -> bool {
        access.address >= self.group_base
            && access.address.saturating_add(access.bytes) <= self.group_base + self.group_length()
    }
}

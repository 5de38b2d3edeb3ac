//! Access record: an access that generated code passes to the runtime, and the invocation that makes it.
//!
//! # Unsafe code
//! Memory is only read where it was found to be inside of memory that the launch may use.
#![allow(unsafe_code)]

use super::access_info as info;
use super::shadow_cell::{CellAccess, ShadowPhases};
use crate::layout::launch_context::LaunchContext;
use spirula_resource::InvocationId;

/// The number of the copier, which makes the copies of a workgroup in the place of an invocation. It runs beside all
/// invocations until they have waited for it.
pub(super) const COPIER: u32 = 0xffff;

/// An access that was passed on by generated code.
#[derive(Clone, Copy)]
pub(super) struct AccessRecord {
    pub address: u64,
    pub bytes: u64,
    pub site: u16,
    pub reads: bool,
    pub writes: bool,
    pub atomic: bool,
    pub acquires: bool,
    pub releases: bool,
    pub cleared: bool,
    pub granule: Option<u32>,
    value: Option<u64>,
}

impl AccessRecord {
    pub fn new(address: u64, access_word: u64, value: u64) -> AccessRecord {
        let has = |bit: u64| access_word & bit != 0;
        AccessRecord {
            address,
            bytes: access_word >> info::BYTES_SHIFT,
            site: access_word as u16,
            reads: has(info::READ) || !has(info::WRITE),
            writes: has(info::WRITE),
            atomic: has(info::ATOMIC),
            acquires: has(info::ACQUIRE),
            releases: has(info::RELEASE),
            cleared: has(info::CLEARED),
            granule: has(info::GRANULE).then_some((access_word >> info::GRANULE_SHIFT & 3) as u32),
            value: has(info::VALUE).then_some(value),
        }
    }

    /// Whether it is inside of memory, which is described by address and length.
    pub fn is_within(&self, [base, length]: [u64; 2]) -> bool {
        let offset = self.address.wrapping_sub(base);
        offset < length && self.bytes <= length - offset
    }

    /// The access in the form that shadow cells use.
    pub fn make_cell_access(&self, phases: ShadowPhases, linear: u32, strict: bool) -> CellAccess {
        CellAccess {
            owner: phases.now | u64::from(linear),
            site: self.site,
            writes: self.writes,
            atomic: self.atomic,
            strict,
        }
    }

    /// The verb that describes the access in reports.
    pub fn verb(&self) -> &'static str {
        if self.writes { "writes" } else { "reads" }
    }

    /// Whether memory has the value already. Only called for memory that is there.
    pub fn is_silent_store(&self) -> bool {
        let Some(value) = self.value.filter(|_| self.bytes <= 8) else {
            return false;
        };
        let mut have = [0u8; 8];
        for (n, byte) in have.iter_mut().enumerate().take(self.bytes as usize) {
            // SAFETY: the access was found to be inside of memory of the launch.
            *byte = unsafe { *(self.address as *const u8).add(n) };
        }
        let unused = 64 - 8 * self.bytes.max(1) as u32;
        u64::from_le_bytes(have) == value << unused >> unused
    }
}

pub(super) fn local_id(context: &LaunchContext, linear: u32) -> [u64; 3] {
    let [x, y, _] = context.local.map(|n| n.max(1));
    let n = u64::from(linear);
    [n % x, n / x % y, n / x / y]
}

/// The invocation that runs. For operations of all invocations together, it is the first.
pub(super) fn current_invocation(context: &LaunchContext, linear: u32) -> InvocationId {
    let linear = if linear == COPIER { 0 } else { linear };
    InvocationId {
        group: context.group,
        local: local_id(context, linear),
    }
}

/// The invocation and the instruction that have a fault.
#[derive(Clone, Copy)]
pub(super) struct FaultOrigin {
    pub invocation: InvocationId,
    /// Number of the site.
    pub site: u16,
}

impl FaultOrigin {
    /// A site of the running invocation.
    pub fn new(context: &LaunchContext, linear: u32, site: u16) -> FaultOrigin {
        FaultOrigin {
            invocation: current_invocation(context, linear),
            site,
        }
    }
}

//! Workgroup state: phases, orders and private memory of a checked workgroup, and the treatment of accesses that
//! generated code does not decide.
//!
//! # Unsafe code
//! Sanitizer and kernel outlive the launch, and only its thread uses them. Memory of the program is only accessed
//! where it was found to be inside of memory that the launch may use.
#![allow(unsafe_code)]

use super::SanitizerInfo;
use super::access_record::{AccessRecord, COPIER, FaultOrigin, current_invocation, local_id};
use super::argument_shadow::ArgumentShadow;
use super::happens_before::HappensBefore;
use super::kernel_sanitizer::{FaultKey, KernelSanitizer};
use super::shadow_cell::{
    self, ATOMIC, CellAccess, CellConflict, FLAGS, HALF, INVOCATION, KEPT, MANY, PHASE_SHIFT,
    ShadowPhases, WRITTEN, site_of,
};
use super::shadow_memory::CellGranules;
use crate::layout::launch_context::LaunchContext;
use spirula_resource::{FaultKind, FaultReport, InvocationId};
use std::collections::BTreeMap;

/// Loop iterations as which waiting for others counts.
const ROUNDS_OF_A_WAIT: u64 = 256;
/// Bytes that replace memory which must not be accessed.
const SCRATCH: usize = 1 << 16;

/// The state of a thread's workgroup while it is checked. Generated code reads the first fields.
#[repr(C)]
pub(crate) struct WorkgroupState {
    /// The current phase, in the position of a cell.
    pub(super) now: u64,
    /// The current phase with each combination of flags, in the order of their bits.
    pub(super) now_with: [u64; FLAGS],
    /// The phase from which on a cell of workgroup memory may belong to another subgroup.
    pub(super) wide: u64,
    pub(super) launch: u64,
    pub(super) group: u64,
    /// Loop iterations that the invocation has left, and that each invocation has.
    pub(super) budget: u64,
    pub(super) budget_full: u64,
    pub(super) rows: *const ArgumentShadow,
    pub(super) group_cells: *mut u64,
    /// Not zero while relaxed atomics on workgroup memory order nothing.
    pub(super) quiet: u64,
    /// Upper half of a cell of workgroup memory that many invocations have read in this phase and none has written.
    pub(super) read_by_many: u32,
    /// Upper half of a cell that an atomic of this phase changed last. It matches no cell while such atomics order
    /// something.
    pub(super) changed: u32,
    /// Result of the last function that was called for a check.
    pub(super) result: u64,
    pub(super) order: HappensBefore,
    pub(super) checker: *mut KernelSanitizer,
    info: *const SanitizerInfo,
    pub(super) cells: Vec<u64>,
    kept_rows: Vec<ArgumentShadow>,
    pub(super) group_base: u64,
    pub(super) private: BTreeMap<u64, PrivateShadow>,
    pub(super) scratch: Box<[u128]>,
    /// First phase of each workgroup.
    groups: Vec<(u64, [u64; 3])>,
    pub(super) stopped: bool,
    random: Option<u64>,
    /// Times that invocations of the workgroup may still wait for each other.
    waits: u64,
}

/// Private memory of invocations, and the address of its definedness.
pub(super) struct PrivateShadow {
    pub length: u64,
    pub defined: u64,
}

impl WorkgroupState {
    /// The state for a thread that runs workgroups of a kernel. Sanitizer and kernel outlive it.
    pub fn new(
        checker: *mut KernelSanitizer,
        info: &SanitizerInfo,
        mut rows: Vec<ArgumentShadow>,
        launch_phase: u64,
        group: (u64, u64),
    ) -> Box<WorkgroupState> {
        let (group_base, group_bytes) = group;
        let granule = info.group_granule;
        // SAFETY: the checker lives as long as the launch.
        let options = unsafe { &(*checker).options };
        let launch = launch_phase << PHASE_SHIFT;
        let mut live = Box::new(WorkgroupState {
            now: launch,
            now_with: [0; FLAGS],
            wide: launch,
            launch,
            group: launch,
            budget: options.loops,
            budget_full: options.loops,
            rows: std::ptr::null(),
            group_cells: std::ptr::null_mut(),
            quiet: 0,
            read_by_many: u32::MAX,
            changed: u32::MAX,
            result: 0,
            checker,
            info,
            cells: vec![0; (group_bytes as usize >> granule) + 2],
            kept_rows: Vec::new(),
            group_base,
            private: BTreeMap::new(),
            scratch: vec![0; (info.largest as usize).div_ceil(16).max(SCRATCH / 16)]
                .into_boxed_slice(),
            order: HappensBefore::default(),
            groups: Vec::new(),
            stopped: false,
            random: options.seed,
            waits: 0,
        });
        live.group_cells = live.cells.as_mut_ptr();
        for (row, is_local) in rows.iter_mut().zip(&info.is_local) {
            if *is_local {
                let first = row.cells as usize >> granule;
                row.cells = live.group_cells.wrapping_add(first) as u64;
            }
        }
        live.rows = rows.as_ptr();
        live.kept_rows = rows;
        live
    }

    /// Begins a workgroup.
    pub fn begin_group(&mut self, group: [u64; 3]) {
        // SAFETY: the sanitizer lives as long as the launch, and only this thread uses it.
        let rounds = unsafe { (*self.checker).options.loops };
        self.waits = rounds / ROUNDS_OF_A_WAIT + 1;
        self.begin_phase();
        self.group = self.now;
        self.groups.push((self.now, group));
        self.order.begin_group(self.launch);
    }

    /// Begins a phase after all invocations have waited for each other.
    pub fn begin_phase(&mut self) {
        self.begin_subgroup_phase();
        self.wide = self.now;
        self.order.begin_phase();
        self.quiet = 1;
        self.changed = ((self.now | WRITTEN | KEPT | ATOMIC) >> HALF) as u32;
    }

    /// Begins a phase after the invocations of a subgroup have waited for each other.
    pub fn begin_subgroup_phase(&mut self) {
        // SAFETY: as in `begin_group`.
        let (phase, forgot) = unsafe { (*self.checker).regions.next_phase() };
        self.now = phase << PHASE_SHIFT;
        self.now_with = std::array::from_fn(|flags| self.now + WRITTEN * flags as u64);
        self.read_by_many = ((self.now | MANY | KEPT) >> HALF) as u32;
        if forgot {
            (self.launch, self.group, self.wide) = (self.now, self.now, self.now);
            self.order.acquired = self.now;
            self.cells.fill(0);
        }
        self.record_fence(0);
    }

    /// Records a fence. `owner` is the invocation, in the position of a cell.
    pub fn record_fence(&mut self, owner: u64) {
        let phases = self.phases();
        self.order.apply_fence(phases, phases.now | owner);
        self.relaxed_order();
    }

    /// Lets relaxed atomics on workgroup memory order accesses from now on.
    pub(super) fn relaxed_order(&mut self) {
        (self.quiet, self.changed) = (0, u32::MAX);
    }

    /// A random order of `count` invocations; none where the options ask for no random order.
    pub fn shuffle_order(&mut self, count: u32) -> Option<Vec<u32>> {
        let mut state = self.random?;
        let mut next = || {
            state = state
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x14057b7ef767814f);
            (state >> 33) as u32
        };
        let mut order: Vec<u32> = (0..count).collect();
        for n in (1..count).rev() {
            order.swap(n as usize, (next() % (n + 1)) as usize);
        }
        self.random = Some(state);
        Some(order)
    }

    /// Notes that invocations have waited at a point; the launch has to end if they do for ever.
    pub fn count_wait(&mut self, context: &LaunchContext, linear: u32, site: u16) {
        self.waits = self.waits.saturating_sub(1);
        if self.waits == 0 && !self.stopped {
            self.stopped = true;
            let by = FaultOrigin::new(context, linear, site);
            self.report_fault(FaultKind::EndlessLoop, by, None, |_| {
                "waits for the other invocations again and again".to_owned()
            });
        }
    }

    /// Whether the launch has to end, as a loop does not.
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// A row of the table of arguments and bindings.
    pub(super) fn argument_shadow(&self, n: usize) -> ArgumentShadow {
        self.kept_rows.get(n).copied().unwrap_or_default()
    }

    pub(super) fn phases(&self) -> ShadowPhases {
        ShadowPhases {
            launch: self.launch,
            group: self.group,
            wide: self.wide,
            now: self.now,
            lanes: self.info().subgroup_size.trailing_zeros(),
        }
    }

    pub(super) fn info(&self) -> &SanitizerInfo {
        // SAFETY: the kernel outlives its launches.
        unsafe { &*self.info }
    }

    /// Adds a report.
    pub(super) fn report_fault(
        &mut self,
        kind: FaultKind,
        at: FaultOrigin,
        other: Option<(u16, Option<InvocationId>)>,
        message: impl FnOnce(&WorkgroupState) -> String,
    ) {
        let info = self.info();
        let FaultOrigin { invocation, site } = at;
        let fault = FaultKey {
            kernel: info.number,
            kind,
            site,
            other: other.map_or(0, |o| o.0),
        };
        let make = || FaultReport {
            kind,
            message: message(self),
            kernel: info.kernel.clone(),
            site: info.sites.get(site).clone(),
            invocation,
            other: other.map(|(site, by)| (info.sites.get(site).clone(), by)),
            times: 1,
        };
        // SAFETY: as in `begin_group`.
        unsafe { (*self.checker).record_fault(fault, make) };
    }

    /// Reports a read of memory that was never written.
    fn report_uninitialised(&mut self, context: &LaunchContext, linear: u32, access: AccessRecord) {
        let by = FaultOrigin::new(context, linear, access.site);
        self.report_fault(FaultKind::Uninitialised, by, None, |live| {
            let object = live.describe_object(access.site);
            let bytes = access.bytes;
            format!("reads {bytes} bytes of {object} that nothing was written to")
        });
    }

    /// Reports invocations that do not all arrive.
    pub fn report_divergence(
        &mut self,
        context: &LaunchContext,
        linear: u32,
        site: u16,
        message: String,
    ) {
        let by = FaultOrigin::new(context, linear, site);
        self.report_fault(FaultKind::Divergence, by, None, |_| message);
    }

    /// An access to workgroup memory that is not of the usual kind.
    fn check_group_access(&mut self, context: &LaunchContext, linear: u32, access: AccessRecord) {
        let granule = self.info().group_granule;
        let offset = access.address - self.group_base;
        let (first, last) = (
            offset >> granule,
            (offset + access.bytes.max(1) - 1) >> granule,
        );
        let phases = self.phases();
        let mut cell_access = access.make_cell_access(phases, linear, true);
        cell_access.atomic |= !access.writes && self.is_trial(access.site);
        let mut empty = access.reads && !access.cleared;
        let mut found = CellConflict::Ordered;
        for n in first..=last {
            let old = self.cells.get(n as usize).copied().unwrap_or(0);
            let tried = old & WRITTEN == 0 && self.is_trial(site_of(old));
            let Some(cell) = self.cells.get_mut(n as usize) else {
                continue;
            };
            empty &= *cell < phases.group || *cell & KEPT == 0;
            *cell |= if tried { ATOMIC } else { 0 };
            let conflict = cell_access.apply_to_workgroup_cell(cell, phases);
            if access.reads {
                *cell |= KEPT;
            }
            if conflict != CellConflict::Ordered {
                found = conflict;
            }
        }
        if empty {
            self.report_uninitialised(context, linear, access);
        }
        self.report_if_race(context, linear, access, cell_access, found);
    }

    /// Reads of workgroup memory, each of its own cell. `members` has the distance from `address` and the access info
    /// of each.
    pub(super) fn read_strided_group(
        &mut self,
        context: &LaunchContext,
        linear: u32,
        address: u64,
        members: &[[u64; 2]],
    ) {
        let granule = self.info().group_granule;
        let first = address.wrapping_sub(self.group_base);
        let phases = self.phases();
        let owner = phases.now | u64::from(linear);
        for [distance, access_word] in members {
            let at = (first.wrapping_add(*distance) >> granule) as usize;
            let cell = self.cells.get(at).copied().unwrap_or(0);
            match shadow_cell::read_usually(cell, owner, *access_word, phases) {
                Some(next) => self.cells[at] = next,
                None => {
                    let access =
                        AccessRecord::new(address.wrapping_add(*distance), *access_word, 0);
                    self.record_access(context, linear, access);
                }
            }
        }
    }

    /// Checks an access to memory that all workgroups share. Returns false where there is no such memory.
    fn check_global_access(
        &mut self,
        context: &LaunchContext,
        linear: u32,
        access: AccessRecord,
    ) -> bool {
        let phases = self.phases();
        let cell_access = access.make_cell_access(phases, linear, self.is_strict());
        let unknown_granule = self.info().unknown_granule;
        // SAFETY: as in `begin_group`.
        let checker = unsafe { &mut *self.checker };
        let Some(region) = checker.regions.find_region(access.address) else {
            return false;
        };
        if access.address - region.base + access.bytes > region.length {
            return false;
        }
        let mut found = CellConflict::Ordered;
        let granules = match access.granule {
            Some(granule) => CellGranules::One(granule),
            None => CellGranules::UpTo(unknown_granule),
        };
        region.each_cell(access.address, access.bytes, granules, |_, cell, prior| {
            let conflict = cell_access.apply_to_global_cell(cell, prior, phases);
            if conflict != CellConflict::Ordered {
                found = conflict;
            }
        });
        self.report_if_race(context, linear, access, cell_access, found);
        true
    }

    /// Decides whether a conflict is a race, and reports it.
    fn report_if_race(
        &mut self,
        context: &LaunchContext,
        linear: u32,
        access: AccessRecord,
        cell_access: CellAccess,
        found: CellConflict,
    ) {
        let other = match found {
            CellConflict::Ordered => return,
            CellConflict::Same(_) if self.order.invocation == cell_access.owner => return,
            CellConflict::Other(other) if other < self.order.acquired => return,
            CellConflict::Same(other) | CellConflict::Other(other) => other,
        };
        if other & WRITTEN != 0 && access.writes && access.is_silent_store() {
            return;
        }
        if self.is_meant(access, other) {
            return;
        }
        let local = (other & INVOCATION) as u32;
        let by = match found {
            CellConflict::Other(_) => self.group_of(other).map(|group| InvocationId {
                group,
                local: local_id(context, local),
            }),
            _ if local == linear || local == COPIER => None,
            _ => Some(current_invocation(context, local)),
        };
        // A read that counts replaces the invocation's own atomic in the cell.
        let is_load = self.instruction_name(site_of(other)).starts_with("OpLoad");
        let did = if other & WRITTEN != 0 && !is_load {
            "writes"
        } else {
            "reads"
        };
        let whose = match found {
            CellConflict::Other(_) => "an invocation of another workgroup",
            _ => "another invocation",
        };
        let at = FaultOrigin::new(context, linear, access.site);
        self.report_fault(FaultKind::Race, at, Some((site_of(other), by)), |live| {
            format!(
                "{} {} bytes of {}, which {whose} {did} without anything that orders the two",
                access.verb(),
                access.bytes,
                live.describe_object(access.site)
            )
        });
    }

    /// Whether a read at a site only tests a value before an atomic changes it: its result is compared. Other plain
    /// reads of values that atomics change count as races in workgroup memory, where a barrier would have been cheap.
    fn is_trial(&self, site: u16) -> bool {
        !self.is_strict() && self.info().sites.is_compared(site)
    }

    /// Whether a conflict is of a kind that algorithms often intend.
    fn is_meant(&self, access: AccessRecord, other: u64) -> bool {
        if self.is_strict() {
            return false;
        }
        let info = self.info();
        let everywhere = !self.is_group(&access);
        let searches = |site: u16| info.sites.is_search(site);
        let tries = |site: u16| everywhere || self.is_trial(site);
        let writes = (access.writes, other & WRITTEN != 0);
        match writes {
            (false, true) => other & ATOMIC != 0 && tries(access.site) || searches(access.site),
            (true, false) => access.atomic && tries(site_of(other)) || searches(site_of(other)),
            _ => false,
        }
    }

    /// Whether conflicts that are often intended are reported, too.
    pub fn is_strict(&self) -> bool {
        // SAFETY: as in `begin_group`.
        unsafe { (*self.checker).options.strict }
    }

    fn group_of(&self, cell: u64) -> Option<[u64; 3]> {
        let at = self.groups.partition_point(|g| g.0 <= cell);
        self.groups.get(at.checked_sub(1)?).map(|g| g.1)
    }

    /// The name of the instruction at a site.
    pub(super) fn instruction_name(&self, site: u16) -> &str {
        &self.info().sites.get(site).instruction
    }

    pub(super) fn describe_object(&self, site: u16) -> String {
        self.info().sites.describe_object(site).to_owned()
    }

    /// Bytes of the workgroup's memory.
    pub(super) fn group_length(&self) -> u64 {
        let granule = self.info().group_granule;
        (self.cells.len() as u64 - 2) << granule
    }

    /// An access to private memory by a pointer of which only the address is known; false where
    /// there is no such memory.
    fn check_private_access(
        &mut self,
        context: &LaunchContext,
        linear: u32,
        access: AccessRecord,
    ) -> bool {
        let Some(defined) = self.private_definedness(access.address, access.bytes) else {
            return false;
        };
        let empty = access.reads && defined.iter().all(|d| *d == 0);
        if access.writes || empty {
            defined.fill(0xff);
        }
        if empty {
            self.report_uninitialised(context, linear, access);
        }
        true
    }

    /// Any access: the address to use.
    pub(super) fn record_access(
        &mut self,
        context: &LaunchContext,
        linear: u32,
        access: AccessRecord,
    ) -> u64 {
        let address = self.dispatch_access(context, linear, access);
        // Accesses that an atomic acquires are not ordered before the atomic itself.
        if access.atomic {
            self.synchronise_atomic(access, linear);
        }
        address
    }

    fn dispatch_access(
        &mut self,
        context: &LaunchContext,
        linear: u32,
        access: AccessRecord,
    ) -> u64 {
        if self.is_group(&access) {
            self.check_group_access(context, linear, access);
            return access.address;
        }
        let inside = |(base, length): &(u64, u64)| {
            access.address >= *base
                && access.address.saturating_add(access.bytes) <= base.saturating_add(*length)
        };
        let constant = self.info().constants.iter().any(inside);
        if constant
            || self.check_global_access(context, linear, access)
            || self.check_private_access(context, linear, access)
        {
            return access.address;
        }
        let by = FaultOrigin::new(context, linear, access.site);
        self.report_fault(FaultKind::OutOfBounds, by, None, |live| {
            let (verb, bytes, address) = (access.verb(), access.bytes, access.address);
            match live.find_preceding_memory(address) {
                Some((object, [base, length])) => format!(
                    "{verb} {bytes} bytes at offset {} of {object} of {length} bytes",
                    address - base
                ),
                None => format!("{verb} {bytes} bytes at address {address:#x}, where no memory is"),
            }
        });
        self.scratch.as_ptr() as u64
    }

    /// The memory that ends nearest before an address, with where it begins and how long it is.
    fn find_preceding_memory(&self, address: u64) -> Option<(&'static str, [u64; 2])> {
        const NEAR: u64 = 1 << 20;
        // SAFETY: as in `begin_group`.
        let buffer = unsafe { (*self.checker).regions.preceding_region(address) };
        let buffer = buffer.map(|(base, length)| ("a buffer", [base, length]));
        let group = (
            "a workgroup's memory",
            [self.group_base, self.group_length()],
        );
        let is_near = |(_, [base, length]): &(&str, [u64; 2])| {
            address >= *base && *length > 0 && address - base < length + NEAR
        };
        let known = buffer.into_iter().chain([group]).filter(is_near);
        known.max_by_key(|(_, [base, _])| *base)
    }
}

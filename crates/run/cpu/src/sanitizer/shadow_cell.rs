//! Shadow cell: the record of the last access to a scalar of shared memory, in 64 bits.
//!
//! From the highest bit, a cell has the phase of the last access (28 bits), flags (4), the access's site (16), and
//! the invocation's number in its workgroup (16). The upper half suffices for decisions without invocation and site.
//! The invocation has the lowest bits, so that a cell is a sum of values that are at hand. A cell of an earlier
//! launch counts as empty, so that launches need not clear anything.

use super::access_info as info;

/// First bit of the site.
pub(crate) const SITE_SHIFT: u32 = 16;
/// A site's number.
const SITE: u64 = 0xffff;
/// An invocation's number.
pub(crate) const INVOCATION: u64 = 0xffff;
/// First bit of the upper half.
pub(crate) const HALF: u32 = 32;
/// The access wrote.
pub(crate) const WRITTEN: u64 = 1 << 32;
/// In workgroup memory: a value was written here. In other memory: an earlier access is kept aside.
pub(crate) const KEPT: u64 = 1 << 33;
/// All accesses of the phase were atomic.
pub(crate) const ATOMIC: u64 = 1 << 34;
/// Other invocations have read in the same phase.
pub(crate) const MANY: u64 = 1 << 35;
/// First bit of the phase.
pub(crate) const PHASE_SHIFT: u32 = 36;
/// The bits in which plain accesses of one invocation to one scalar may differ.
pub(crate) const OWN: u64 = 0xffff << SITE_SHIFT | WRITTEN | KEPT;
/// Phase and invocation.
const OWNER: u64 = u64::MAX << PHASE_SHIFT | INVOCATION;
/// Number of combinations of `WRITTEN`, `KEPT` and `ATOMIC`, which begin at the bit of `WRITTEN`.
pub(crate) const FLAGS: usize = 8;
/// Most phases.
pub(crate) const PHASES: u64 = 1 << 28;

/// The site of a cell's access.
pub(crate) fn site_of(cell: u64) -> u16 {
    (cell >> SITE_SHIFT) as u16
}

/// A cell, but for the site, which is another's.
fn with_site_of(cell: u64, other: u64) -> u64 {
    const SITES: u64 = SITE << SITE_SHIFT;
    (cell & !SITES) | (other & SITES)
}

/// An access in the form that cells use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellAccess {
    /// Phase and invocation, in the position of a cell.
    pub owner: u64,
    pub site: u16,
    pub writes: bool,
    pub atomic: bool,
    /// Whether a plain read of a value that was changed atomically counts.
    pub strict: bool,
}

/// The next state of a cell of workgroup memory after a plain read that needs no report; none where it may need one.
/// Such a read is of a value that the workgroup wrote in an earlier phase, or that the invocation itself wrote. Or
/// others have only read it since. `owner` is phase and invocation, `access_word` the access info that generated code
/// passes.
#[inline]
pub(crate) fn read_usually(
    cell: u64,
    owner: u64,
    access_word: u64,
    phases: ShadowPhases,
) -> Option<u64> {
    if cell >= phases.now {
        let is_own = (cell ^ owner) & !OWN == 0;
        let is_read = cell & (WRITTEN | ATOMIC) == 0;
        let many = if is_own { 0 } else { MANY };
        return (is_own || is_read).then_some(cell | many);
    }
    let is_written = cell >= phases.group && cell & KEPT != 0;
    let is_before = cell < phases.wide && (is_written || access_word & info::CLEARED != 0);
    is_before.then_some(owner | KEPT | (access_word & info::SITE) << SITE_SHIFT)
}

/// The phases that matter, in the position of a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShadowPhases {
    /// First of the launch.
    pub launch: u64,
    /// First of the workgroup.
    pub group: u64,
    /// The first phase since all invocations of the workgroup waited for each other. Later ones began when those of a
    /// subgroup did.
    pub wide: u64,
    /// The current one.
    pub now: u64,
    /// Logarithm of the invocations of a subgroup.
    pub lanes: u32,
}

impl ShadowPhases {
    /// Whether an access of an earlier phase is ordered before the accesses of an invocation.
    fn is_ordered_before(self, old: u64, owner: u64) -> bool {
        let subgroup = |cell: u64| (cell & INVOCATION) >> self.lanes;
        old < self.wide || subgroup(old) == subgroup(owner)
    }
}

/// The result of an access to a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellConflict {
    /// Every earlier access is ordered before it.
    Ordered,
    /// It conflicts with an access of the same phase, which the cell describes.
    Same(u64),
    /// An access of another workgroup.
    Other(u64),
}

impl CellAccess {
    fn encode_record(&self, flags: u64) -> u64 {
        let writes = if self.writes { WRITTEN } else { 0 };
        let atomic = if self.atomic { ATOMIC } else { 0 };
        self.owner | flags | writes | atomic | u64::from(self.site) << SITE_SHIFT
    }

    /// Whether one of the two writes and not both are atomic.
    fn is_conflicting(&self, with: u64) -> bool {
        let writes = self.writes || with & WRITTEN != 0;
        writes && !(self.atomic && with & ATOMIC != 0)
    }

    /// Applies an access to a cell of workgroup memory.
    pub fn apply_to_workgroup_cell(&self, cell: &mut u64, phases: ShadowPhases) -> CellConflict {
        let old = *cell;
        let kept = if old >= phases.group { old & KEPT } else { 0 };
        let kept = kept | if self.writes { KEPT } else { 0 };
        if old < phases.now {
            *cell = self.encode_record(kept);
            return if !phases.is_ordered_before(old, self.owner) && self.is_conflicting(old) {
                CellConflict::Same(old)
            } else {
                CellConflict::Ordered
            };
        }
        self.in_phase(cell, kept)
    }

    /// Applies an access to a cell of other memory. `prior` keeps an access for which the cell has no room.
    pub fn apply_to_global_cell(
        &self,
        cell: &mut u64,
        prior: &mut u64,
        phases: ShadowPhases,
    ) -> CellConflict {
        let old = *cell;
        if old < phases.launch {
            *cell = self.encode_record(0);
            return CellConflict::Ordered;
        }
        if old >= phases.now {
            return self.in_phase(cell, old & KEPT);
        }
        let earlier = (old & KEPT != 0).then_some(*prior);
        if self.writes {
            *cell = self.encode_record(0);
        } else {
            // Reads must not hide accesses of others, least of all a write.
            if earlier.is_none_or(|e| e & WRITTEN == 0 && old & WRITTEN != 0) {
                *prior = old;
            }
            *cell = self.encode_record(KEPT);
        }
        let elsewhere = |c: u64| c < phases.group && c >= phases.launch;
        let beside = |c: u64| c >= phases.group && !phases.is_ordered_before(c, self.owner);
        let conflict = |c: &u64| (elsewhere(*c) || beside(*c)) && self.is_conflicting(*c);
        let found = std::iter::once(old).chain(earlier).find(conflict);
        found.map_or(CellConflict::Ordered, |c| {
            if elsewhere(c) {
                CellConflict::Other(c)
            } else {
                CellConflict::Same(c)
            }
        })
    }

    fn in_phase(&self, cell: &mut u64, kept: u64) -> CellConflict {
        let old = *cell;
        let own = (old ^ self.owner) & OWNER == 0;
        let is_own_only = own && old & MANY == 0;
        let conflict = !is_own_only && self.is_conflicting(old);
        // An earlier plain read does not make an atomic write less atomic, unless such reads count. A reported one
        // does not, either.
        let plain = old & ATOMIC == 0 && (self.strict || !self.writes || old & WRITTEN != 0);
        let atomic = self.atomic && (conflict || !plain);
        *cell = if self.writes {
            let record = self.encode_record(kept) & !ATOMIC;
            if own && self.atomic && !atomic {
                // The plain access is the one at fault.
                with_site_of(record, old)
            } else {
                record | if atomic { ATOMIC } else { 0 }
            }
        } else if old & WRITTEN != 0 {
            // Later accesses have to be compared with the write first.
            let lost = if self.strict && !self.atomic {
                KEPT | ATOMIC
            } else {
                KEPT
            };
            let left = (old & !lost) | kept;
            if own && old & lost & ATOMIC != 0 {
                with_site_of(left, u64::from(self.site) << SITE_SHIFT)
            } else {
                left
            }
        } else {
            let record = (old & !(KEPT | ATOMIC)) | kept;
            let many = if own { 0 } else { MANY };
            record | many | if atomic { ATOMIC } else { 0 }
        };
        if conflict {
            CellConflict::Same(old)
        } else {
            CellConflict::Ordered
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PHASES: ShadowPhases = ShadowPhases {
        launch: 2 << PHASE_SHIFT,
        group: 5 << PHASE_SHIFT,
        wide: 7 << PHASE_SHIFT,
        now: 7 << PHASE_SHIFT,
        lanes: 2,
    };

    fn make_access(phase: u64, invocation: u64, writes: bool) -> CellAccess {
        CellAccess {
            owner: phase << PHASE_SHIFT | invocation,
            site: 9,
            writes,
            atomic: false,
            strict: false,
        }
    }

    #[test]
    fn invocations_of_one_phase_conflict_if_one_writes() {
        let mut cell = 0;
        assert_eq!(
            make_access(7, 1, true).apply_to_workgroup_cell(&mut cell, PHASES),
            CellConflict::Ordered
        );
        assert_eq!(
            make_access(7, 1, false).apply_to_workgroup_cell(&mut cell, PHASES),
            CellConflict::Ordered
        );
        let written = cell;
        assert_eq!(
            make_access(7, 2, false).apply_to_workgroup_cell(&mut cell, PHASES),
            CellConflict::Same(written)
        );
        let mut cell = 0;
        assert_eq!(
            make_access(7, 1, false).apply_to_workgroup_cell(&mut cell, PHASES),
            CellConflict::Ordered
        );
        assert_eq!(
            make_access(7, 2, false).apply_to_workgroup_cell(&mut cell, PHASES),
            CellConflict::Ordered
        );
        assert!(matches!(
            make_access(7, 1, true).apply_to_workgroup_cell(&mut cell, PHASES),
            CellConflict::Same(_)
        ));
    }

    #[test]
    fn barriers_order_and_writes_are_remembered() {
        let mut cell = 0;
        make_access(6, 1, true).apply_to_workgroup_cell(&mut cell, PHASES);
        assert_eq!(
            make_access(7, 2, true).apply_to_workgroup_cell(&mut cell, PHASES),
            CellConflict::Ordered
        );
        assert_ne!(cell & KEPT, 0);
        let mut old = 4 << PHASE_SHIFT | KEPT;
        make_access(7, 2, false).apply_to_workgroup_cell(&mut old, PHASES);
        assert_eq!(old & KEPT, 0);
    }

    #[test]
    fn workgroups_are_not_ordered() {
        let (mut cell, mut prior) = (0, 0);
        make_access(3, 1, true).apply_to_global_cell(&mut cell, &mut prior, PHASES);
        let before = ShadowPhases {
            group: 3 << PHASE_SHIFT,
            wide: 4 << PHASE_SHIFT,
            now: 4 << PHASE_SHIFT,
            ..PHASES
        };
        // A read of the same workgroup after a barrier must not hide the write.
        assert_eq!(
            make_access(4, 1, false).apply_to_global_cell(&mut cell, &mut prior, before),
            CellConflict::Ordered
        );
        let found = make_access(7, 1, false).apply_to_global_cell(&mut cell, &mut prior, PHASES);
        assert!(matches!(found, CellConflict::Other(c) if c & WRITTEN != 0));
    }

    #[test]
    fn a_subgroup_waits_for_itself_alone() {
        let within = ShadowPhases {
            wide: 6 << PHASE_SHIFT,
            ..PHASES
        };
        let (mut cell, mut global, mut prior) = (0, 0, 0);
        make_access(6, 1, true).apply_to_workgroup_cell(&mut cell, within);
        make_access(6, 1, true).apply_to_global_cell(&mut global, &mut prior, within);
        let (mut again, mut global_again) = (cell, global);
        let same = make_access(7, 2, false);
        assert_eq!(
            same.apply_to_workgroup_cell(&mut cell, within),
            CellConflict::Ordered
        );
        assert_eq!(
            same.apply_to_global_cell(&mut global, &mut prior, within),
            CellConflict::Ordered
        );
        let other = make_access(7, 5, false);
        assert!(matches!(
            other.apply_to_workgroup_cell(&mut again, within),
            CellConflict::Same(_)
        ));
        assert!(matches!(
            other.apply_to_global_cell(&mut global_again, &mut prior, within),
            CellConflict::Same(_)
        ));
    }

    #[test]
    fn earlier_launches_are_forgotten_and_atomics_agree() {
        let (mut cell, mut prior) = (1 << PHASE_SHIFT | WRITTEN, 0);
        let mut atomic = make_access(7, 1, true);
        atomic.atomic = true;
        assert_eq!(
            atomic.apply_to_global_cell(&mut cell, &mut prior, PHASES),
            CellConflict::Ordered
        );
        let other = CellAccess {
            owner: 7 << PHASE_SHIFT | 2,
            ..atomic
        };
        assert_eq!(
            other.apply_to_global_cell(&mut cell, &mut prior, PHASES),
            CellConflict::Ordered
        );
        assert!(matches!(
            make_access(7, 3, false).apply_to_global_cell(&mut cell, &mut prior, PHASES),
            CellConflict::Same(_)
        ));
    }
}

//! Sanitizer runtime: the functions that generated code calls for faults and for accesses that it cannot decide
//! itself.
//!
//! # Unsafe code
//! The functions take the launch context that the code was called with. Its `sanitizer` is the [`WorkgroupState`] of
//! the thread, which nothing else uses while generated code runs.
#![allow(unsafe_code)]

use super::access_info as info;
use super::access_record::{AccessRecord, FaultOrigin};
use super::argument_shadow::ArgumentShadow;
use super::workgroup_state::{PrivateShadow, WorkgroupState};
use crate::layout::launch_context::LaunchContext;
use spirula_resource::FaultKind;
use std::mem::offset_of;

/// Offsets of fields that generated code reads.
pub(crate) mod at {
    use super::{ArgumentShadow, WorkgroupState, offset_of};

    pub const NOW: i32 = offset_of!(WorkgroupState, now) as i32;
    pub const NOW_WITH: i32 = offset_of!(WorkgroupState, now_with) as i32;
    pub const WIDE: i32 = offset_of!(WorkgroupState, wide) as i32;
    pub const LAUNCH: i32 = offset_of!(WorkgroupState, launch) as i32;
    pub const GROUP: i32 = offset_of!(WorkgroupState, group) as i32;
    pub const BUDGET: i32 = offset_of!(WorkgroupState, budget) as i32;
    pub const BUDGET_FULL: i32 = offset_of!(WorkgroupState, budget_full) as i32;
    pub const ROWS: i32 = offset_of!(WorkgroupState, rows) as i32;
    pub const GROUP_CELLS: i32 = offset_of!(WorkgroupState, group_cells) as i32;
    pub const QUIET: i32 = offset_of!(WorkgroupState, quiet) as i32;
    pub const READ_BY_MANY: i32 = offset_of!(WorkgroupState, read_by_many) as i32;
    pub const CHANGED: i32 = offset_of!(WorkgroupState, changed) as i32;
    pub const FENCED: i32 = offset_of!(WorkgroupState, order.fenced) as i32;
    pub const ACQUIRED: i32 = offset_of!(WorkgroupState, order.acquired) as i32;
    pub const RESULT: i32 = offset_of!(WorkgroupState, result) as i32;
    pub const ROW: i32 = size_of::<ArgumentShadow>() as i32;
    pub const CELLS: i32 = offset_of!(ArgumentShadow, cells) as i32;
    pub const ENDS: i32 = offset_of!(ArgumentShadow, ends) as i32;
    pub const RELEASED: i32 = offset_of!(ArgumentShadow, released) as i32;
}

/// The live state of a context.
///
/// # Safety
/// The context is that of a launch that is checked, and generated code is running.
unsafe fn borrow_live_state<'a>(
    context: *const LaunchContext,
) -> (&'a LaunchContext, &'a mut WorkgroupState) {
    // SAFETY: the caller's promise.
    unsafe {
        (
            &*context,
            &mut *(*context).sanitizer.cast::<WorkgroupState>(),
        )
    }
}

/// An access of which only the address is known, or that is atomic: the address to use.
pub(crate) extern "C" fn sanitize_access(
    context: *const LaunchContext,
    linear: u32,
    address: u64,
    access_word: u64,
    value: u64,
) -> u64 {
    // SAFETY: generated code passes the context that it was called with.
    let (context, live) = unsafe { borrow_live_state(context) };
    live.record_access(
        context,
        linear,
        AccessRecord::new(address, access_word, value),
    )
}

/// Loads of workgroup memory that are inside of their object. `members` has their number, and the distance from
/// `address` and the access info of each.
pub(crate) extern "C" fn read_strided_group(
    context: *const LaunchContext,
    linear: u32,
    address: u64,
    members: *const u64,
) -> u64 {
    // SAFETY: as above; generated code passes the list that was kept for it, which has as many pairs after their
    // number.
    let (context, live, members) = unsafe {
        let (context, live) = borrow_live_state(context);
        let members =
            std::slice::from_raw_parts(members.add(1).cast::<[u64; 2]>(), *members as usize);
        (context, live, members)
    };
    live.read_strided_group(context, linear, address, members);
    0
}

/// An access that may be outside of the variable that its pointer comes from: the address to use.
pub(crate) extern "C" fn sanitize_out_of_bounds(
    context: *const LaunchContext,
    linear: u32,
    address: u64,
    access_word: u64,
    base: u64,
    length: u64,
) -> u64 {
    // SAFETY: as above.
    let (context, live) = unsafe { borrow_live_state(context) };
    let access = AccessRecord::new(address, access_word, 0);
    if access.is_within([base, length]) {
        return live.record_access(context, linear, access);
    }
    report_outside(context, live, linear, access, [base, length])
}

/// An access that is not at one of the offsets of a row: the address to use.
pub(crate) extern "C" fn report_outside_row(
    context: *const LaunchContext,
    linear: u32,
    address: u64,
    access_word: u64,
    row: u64,
) -> u64 {
    // SAFETY: as above.
    let (context, live) = unsafe { borrow_live_state(context) };
    let access = AccessRecord::new(address, access_word, 0);
    let row = live.argument_shadow(row as usize);
    if access.is_within(row.memory) {
        return live.record_access(context, linear, access);
    }
    report_outside(context, live, linear, access, row.memory)
}

fn report_outside(
    context: &LaunchContext,
    live: &mut WorkgroupState,
    linear: u32,
    access: AccessRecord,
    [base, length]: [u64; 2],
) -> u64 {
    let address = access.address;
    let by = FaultOrigin::new(context, linear, access.site);
    live.report_fault(FaultKind::OutOfBounds, by, None, |live| {
        let (verb, bytes, object) = (
            access.verb(),
            access.bytes,
            live.describe_object(access.site),
        );
        let offset = address.wrapping_sub(base) as i64;
        if address >> 48 == BEYOND >> 48 {
            format!("{verb} {bytes} bytes of {object} by an index that its array does not have")
        } else if offset < 0 {
            let before = offset.unsigned_abs();
            format!("{verb} {bytes} bytes, {before} bytes before the beginning of {object}")
        } else {
            format!("{verb} {bytes} bytes at offset {offset} of {object}, which has {length} bytes")
        }
    });
    live.scratch.as_ptr() as u64
}

/// An address for accesses with an index outside of its array.
pub(crate) const BEYOND: u64 = 0x7bad_0000_0000_0000;

/// Reports a fault of an instruction that is no access. Returns 1 if the launch has to end.
pub(crate) extern "C" fn report_fault(
    context: *const LaunchContext,
    linear: u32,
    access_word: u64,
) -> u64 {
    // SAFETY: as above.
    let (context, live) = unsafe { borrow_live_state(context) };
    let kind =
        FaultKind::ALL[(access_word >> info::KIND_SHIFT & 7) as usize % FaultKind::ALL.len()];
    let by = FaultOrigin::new(context, linear, access_word as u16);
    let loops = live.budget_full;
    live.report_fault(kind, by, None, |live| match kind {
        FaultKind::Division if access_word & info::OVERFLOW != 0 => {
            "divides the least number by -1, which gives more than its type holds".to_owned()
        }
        FaultKind::Division => "divides by zero".to_owned(),
        FaultKind::Shift
            if live
                .instruction_name(access_word as u16)
                .starts_with("OpBitField") =>
        {
            "takes bits that the value does not have".to_owned()
        }
        FaultKind::Shift => "shifts by as many bits as the value has, or more".to_owned(),
        FaultKind::OutOfBounds
            if live
                .instruction_name(access_word as u16)
                .starts_with("OpFunctionPointer") =>
        {
            "calls what is no function of that type".to_owned()
        }
        FaultKind::OutOfBounds => "takes a component that the vector does not have".to_owned(),
        FaultKind::EndlessLoop => format!("goes round loops more than {loops} times"),
        FaultKind::Uninitialised if access_word & info::DEPENDS != 0 => {
            "depends on a value that is not defined".to_owned()
        }
        FaultKind::Uninitialised => {
            let object = live.describe_object(access_word as u16);
            format!("reads {object} before anything is written to it")
        }
        _ => "does what is not defined".to_owned(),
    });
    if kind == FaultKind::EndlessLoop {
        live.stopped = true;
        (live.budget, live.budget_full) = (0, 0);
    }
    u64::from(live.stopped)
}

/// A fence.
pub(crate) extern "C" fn note_fence(context: *const LaunchContext, linear: u32) {
    // SAFETY: as above.
    let (_, live) = unsafe { borrow_live_state(context) };
    live.record_fence(u64::from(linear));
}

/// Registers private memory with its definedness, which lies after it.
pub(crate) extern "C" fn register_private_memory(
    context: *const LaunchContext,
    base: u64,
    length: u64,
    defined: u64,
) {
    // SAFETY: as above.
    let (_, live) = unsafe { borrow_live_state(context) };
    if let Some(known) = live.private.get(&base)
        && known.length == length
        && known.defined == defined
    {
        return;
    }
    let end = base + length;
    while let Some((at, _)) = live
        .private
        .range(..end)
        .next_back()
        .filter(|(at, p)| *at + p.length > base)
    {
        let at = *at;
        live.private.remove(&at);
    }
    live.private.insert(base, PrivateShadow { length, defined });
}

/// Copies bytes if both sides are memory.
pub(crate) extern "C" fn sanitize_copy(
    context: *const LaunchContext,
    linear: u32,
    to: u64,
    from: u64,
    bytes: u64,
    site: u64,
) {
    // SAFETY: as above.
    let (context, live) = unsafe { borrow_live_state(context) };
    live.sanitize_copy(context, linear, [to, from, bytes], site as u16);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_of_a_row_begin_where_the_pointer_is() {
        let row = |address, cells| {
            ArgumentShadow::from_pointer(address, [0x1000, 64], [cells, cells + 0x1000], 2)
        };
        let whole = row(0x1000, 0x8000);
        assert_eq!(whole.ends, [64, 63, 61, 57, 49]);
        let within = row(0x1010, 0x8020);
        assert_eq!(within.ends, [48, 47, 45, 41, 33]);
        assert_eq!((within.cells, within.released), (0x8020, 0x9020));
        // Where a row would begin within a cell, no access is decided in place.
        assert_eq!(row(0x1012, 0x8020).ends, [0; 5]);
        let at = |address: u64| AccessRecord::new(address, 4 << info::BYTES_SHIFT, 0);
        assert!(
            [0x1000, 0x103c]
                .iter()
                .all(|n| at(*n).is_within(within.memory))
        );
        assert!(
            ![0xffc, 0x103d]
                .iter()
                .any(|n| at(*n).is_within(within.memory))
        );
    }
}

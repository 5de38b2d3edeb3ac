//! The work of commands on regions of memory objects: copies to and from the caller, copies between objects, fills.

use crate::api::user_address::{TransferDirection, UserAddress};
use crate::error::{CallResult, require};
use crate::memory::ClMemory;
use crate::memory_store::StoreAccess;
use crate::region::{BoxSize, ByteBox, copy_box, fill_box, join_rows};
use crate::scheduler::{CommandEnd, DeviceScheduler, ScheduledWork};
use opencl_sys::CL_INVALID_VALUE;
use std::ops::Range;
use std::sync::Arc;

/// Most rows that a device copies or fills, each by a command of its own. More are copied by way of the host.
const MOST_ROWS: usize = 1024;

/// A box of bytes in the store of a memory object.
pub struct RegionSide {
    /// The memory object.
    pub memory: Arc<ClMemory>,
    /// The box.
    pub place: ByteBox,
}

impl RegionSide {
    /// A box of a buffer, which may be a part of another.
    ///
    /// # Errors
    /// When the box is not within the buffer.
    pub fn in_buffer(
        memory: Arc<ClMemory>,
        place: ByteBox,
        size: BoxSize,
    ) -> CallResult<RegionSide> {
        let is_within = place.span(size)?.end <= memory.size as u64;
        let message = "the region is not within the buffer";
        require(is_within, CL_INVALID_VALUE, message)?;
        let first = memory.offset as usize + place.first;
        Ok(RegionSide {
            memory,
            place: ByteBox { first, ..place },
        })
    }
}

/// Copies a region between a memory object and a box of the caller's memory.
///
/// # Errors
/// When the region is empty or too large.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn transfer_region(
    side: RegionSide,
    address: UserAddress,
    host: ByteBox,
    size: BoxSize,
    direction: TransferDirection,
) -> CallResult<ScheduledWork> {
    let (span, host_span) = (side.place.span(size)?, host.span(size)?);
    let place = side.place.relative_to(span.start);
    let host = host.relative_to(host_span.start);
    let access = match direction {
        TransferDirection::Read => StoreAccess::Read,
        TransferDirection::Write => write_access(place, size),
    };
    let is_row = join_rows([place, host], size)[1..] == [1, 1];
    Ok(Arc::new(move |scheduler| {
        let store = &side.memory.store;
        let range = span.clone();
        if is_row {
            let caller = address.bytes(host_span.clone());
            match direction {
                TransferDirection::Read => store.read_bytes(scheduler, range, caller)?,
                TransferDirection::Write => store.write_bytes(scheduler, range, caller)?,
            }
            return Ok(CommandEnd::Complete);
        }
        let caller = address.bytes(host_span.clone());
        store.edit_bytes(scheduler, range, access, |bytes| match direction {
            TransferDirection::Read => copy_box(caller, host, bytes, place, size),
            TransferDirection::Write => copy_box(bytes, place, caller, host, size),
        })?;
        Ok(CommandEnd::Complete)
    }))
}

/// Copies a region from one memory object to another, or within one.
///
/// # Errors
/// When the region is empty or too large.
pub fn copy_region(from: RegionSide, to: RegionSide, size: BoxSize) -> CallResult<ScheduledWork> {
    let (source, target) = (from.place.span(size)?, to.place.span(size)?);
    let from_box = from.place.relative_to(source.start);
    let to_box = to.place.relative_to(target.start);
    let access = write_access(to_box, size);
    Ok(Arc::new(move |scheduler| {
        if copy_on_device(scheduler, [&to, &from], [&target, &source], size, access)? {
            return Ok(CommandEnd::Issued);
        }
        let mut copied = Vec::new();
        let store = &from.memory.store;
        store.edit_bytes(scheduler, source.clone(), StoreAccess::Read, |bytes| {
            copied.extend_from_slice(bytes);
        })?;
        let store = &to.memory.store;
        store.edit_bytes(scheduler, target.clone(), access, |bytes| {
            copy_box(bytes, to_box, &copied, from_box, size);
        })?;
        Ok(CommandEnd::Complete)
    }))
}

/// Copies a region by the device itself. Returns whether it does.
fn copy_on_device(
    scheduler: &Arc<DeviceScheduler>,
    sides: [&RegionSide; 2],
    spans: [&Range<u64>; 2],
    size: BoxSize,
    access: StoreAccess,
) -> CallResult<bool> {
    let [to, from] = sides;
    let size = join_rows([to.place, from.place], size);
    if size[1] * size[2] > MOST_ROWS {
        return Ok(false);
    }
    let source = (from.memory.store).acquire_buffer(scheduler, spans[1], StoreAccess::Read)?;
    let target = to
        .memory
        .store
        .acquire_buffer(scheduler, spans[0], access)?;
    let (Some(source), Some(target)) = (source, target) else {
        return Ok(false);
    };
    let mut device = scheduler.lock_device();
    for (end, start) in to.place.row_starts(size).zip(from.place.row_starts(size)) {
        device.copy_buffer(source, start as u64, target, end as u64, size[0] as u64)?;
    }
    Ok(true)
}

/// Fills a region by the device itself. Returns whether it does.
fn fill_on_device(
    scheduler: &Arc<DeviceScheduler>,
    side: &RegionSide,
    span: &Range<u64>,
    size: BoxSize,
    pattern: &[u8],
) -> CallResult<bool> {
    let size = join_rows([side.place; 2], size);
    let access = write_access(side.place, size);
    if size[1] * size[2] > MOST_ROWS {
        return Ok(false);
    }
    let Some(buffer) = (side.memory.store).acquire_buffer(scheduler, span, access)? else {
        return Ok(false);
    };
    let mut device = scheduler.lock_device();
    for start in side.place.row_starts(size) {
        device.fill_buffer(buffer, start as u64, size[0] as u64, pattern)?;
    }
    Ok(true)
}

/// Fills a region with a pattern, of which each row has a whole number.
///
/// # Errors
/// When the region is empty or too large.
pub fn fill_region(side: RegionSide, size: BoxSize, pattern: Vec<u8>) -> CallResult<ScheduledWork> {
    let span = side.place.span(size)?;
    let place = side.place.relative_to(span.start);
    let access = write_access(place, size);
    Ok(Arc::new(move |scheduler| {
        if fill_on_device(scheduler, &side, &span, size, &pattern)? {
            return Ok(CommandEnd::Issued);
        }
        let store = &side.memory.store;
        store.edit_bytes(scheduler, span.clone(), access, |bytes| {
            fill_box(bytes, place, size, &pattern);
        })?;
        Ok(CommandEnd::Complete)
    }))
}

/// The access of a command that writes a box. The bytes between the rows of a sparse one stay.
fn write_access(place: ByteBox, size: BoxSize) -> StoreAccess {
    if place.is_dense(size) {
        StoreAccess::Overwrite
    } else {
        StoreAccess::ReadWrite
    }
}

//! The work of commands on regions of memory objects: copies to and from the caller, copies between objects, fills.

use crate::api::buffer_commands::{TransferDirection, UserAddress};
use crate::error::{CallResult, require};
use crate::memory::ClMemory;
use crate::memory_store::StoreAccess;
use crate::region::{BoxSize, ByteBox, copy_box, fill_box};
use crate::scheduler::{CommandEnd, ScheduledWork};
use opencl_sys::CL_INVALID_VALUE;
use std::sync::Arc;

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
    Ok(Arc::new(move |scheduler| {
        let caller = address.bytes(host_span.clone());
        let store = &side.memory.store;
        store.edit_bytes(scheduler, span.clone(), access, |bytes| match direction {
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

/// Fills a region with a pattern, of which each row has a whole number.
///
/// # Errors
/// When the region is empty or too large.
pub fn fill_region(side: RegionSide, size: BoxSize, pattern: Vec<u8>) -> CallResult<ScheduledWork> {
    let span = side.place.span(size)?;
    let place = side.place.relative_to(span.start);
    let access = write_access(place, size);
    Ok(Arc::new(move |scheduler| {
        let store = &side.memory.store;
        store.edit_bytes(scheduler, span.clone(), access, |bytes| {
            fill_box(bytes, place, size, &pattern);
        })?;
        Ok(CommandEnd::Complete)
    }))
}

/// The access of a command that writes a box. The bytes between the rows of a sparse one stay.
fn write_access(place: ByteBox, size: BoxSize) -> StoreAccess {
    match place.is_dense(size) {
        true => StoreAccess::Overwrite,
        false => StoreAccess::ReadWrite,
    }
}

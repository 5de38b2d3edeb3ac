//! Checked copies: copies of memory that also copy the definedness of its bytes.
//!
//! # Unsafe code
//! Memory is only copied where it was found to be inside of memory that the launch may use.
#![allow(unsafe_code)]

use super::access_info as info;
use super::access_record::{AccessRecord, COPIER};
use super::shadow_cell::KEPT;
use super::workgroup_state::WorkgroupState;
use crate::layout::async_copy::AsyncCopyRequest;
use crate::layout::launch_context::LaunchContext;

impl WorkgroupState {
    /// Copies elements for all invocations together, one side's `stride` elements apart.
    pub fn copy_elements(&mut self, context: &LaunchContext, site: u16, copy: AsyncCopyRequest) {
        for n in 0..copy.count {
            let step = |stride: u64| n.wrapping_mul(copy.size).wrapping_mul(stride);
            let (to, from) = if copy.strided_source {
                (step(1), step(copy.stride))
            } else {
                (step(copy.stride), step(1))
            };
            let (to, from) = (copy.to.wrapping_add(to), copy.from.wrapping_add(from));
            self.sanitize_copy(context, COPIER, [to, from, copy.size], site);
        }
    }

    pub(super) fn sanitize_copy(
        &mut self,
        context: &LaunchContext,
        linear: u32,
        [to, from, bytes]: [u64; 3],
        site: u16,
    ) {
        let bytes = bytes.min(u64::from(u32::MAX));
        if bytes == 0 {
            return;
        }
        let access_word = u64::from(site) | bytes << info::BYTES_SHIFT;
        let [read, write] = [
            AccessRecord::new(from, access_word, 0),
            AccessRecord::new(to, access_word | info::WRITE, 0),
        ];
        let known = if self.is_group(&read) {
            Some(self.written_mask(&read))
        } else {
            self.private_definedness(from, bytes)
                .map(|known| known.to_vec())
        };
        let source = self.record_access(context, linear, read);
        let target = self.record_access(context, linear, write);
        if (source, target) == (from, to) {
            // SAFETY: both were found to be memory of the launch.
            unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes as usize) };
        }
        // Copies of structures may have undefined padding. Reading only undefined bytes was reported.
        let Some(known) = known.filter(|known| known.iter().any(|byte| *byte != 0)) else {
            return;
        };
        if self.is_group(&write) {
            self.mark_undefined(&write, &known);
        } else if let Some(copied) = self.private_definedness(to, bytes) {
            copied.copy_from_slice(&known);
        }
    }

    /// The cells of an access to workgroup memory, each with its bytes by their numbers within the access.
    fn cells_of(
        &self,
        access: &AccessRecord,
    ) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> {
        let granule = self.info().group_granule;
        let (offset, bytes) = (access.address - self.group_base, access.bytes);
        let last = (offset + bytes.max(1) - 1) >> granule;
        (offset >> granule..=last).map(move |cell| {
            let first = (cell << granule).saturating_sub(offset);
            let end = (((cell + 1) << granule) - offset).min(bytes);
            (cell as usize, first as usize..end as usize)
        })
    }

    /// The definedness of bytes of workgroup memory: all bits where the workgroup wrote a byte.
    fn written_mask(&self, access: &AccessRecord) -> Vec<u8> {
        let group = self.phases().group;
        let mut known = vec![0; access.bytes as usize];
        for (cell, bytes) in self.cells_of(access) {
            let cell = self.cells.get(cell).copied().unwrap_or(0);
            if cell >= group && cell & KEPT != 0 {
                known[bytes].fill(0xff);
            }
        }
        known
    }

    /// Marks bytes of workgroup memory that were written but are undefined.
    fn mark_undefined(&mut self, access: &AccessRecord, known: &[u8]) {
        let cells: Vec<_> = self.cells_of(access).collect();
        for (cell, bytes) in cells {
            if let Some(cell) = self.cells.get_mut(cell)
                && known[bytes].iter().all(|byte| *byte == 0)
            {
                *cell &= !KEPT;
            }
        }
    }

    /// The definedness of bytes of private memory; none for other memory.
    pub(super) fn private_definedness(&mut self, address: u64, bytes: u64) -> Option<&mut [u8]> {
        let (base, private) = self.private.range(..=address).next_back()?;
        let offset = address - base;
        if offset.saturating_add(bytes) > private.length {
            return None;
        }
        let at = (private.defined + offset) as *mut u8;
        // SAFETY: the memory was registered with as many bytes of definedness.
        Some(unsafe { std::slice::from_raw_parts_mut(at, bytes as usize) })
    }
}

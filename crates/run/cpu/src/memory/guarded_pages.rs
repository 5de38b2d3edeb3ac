//! Guarded pages: memory between pages that must not be accessed.
//!
//! Accesses of kernels are not checked. If a buffer lay among other data, an access past its end could destroy data
//! of the process. Between guard pages, such an access ends the launch (`exec/guard`). The last byte lies near the
//! guard after it, so that short overruns are noticed, too. The cost is address space, which is plentiful, and at
//! least one page for each buffer.
//!
//! # Unsafe code
//! Only this module maps the memory. It is unmapped when its owner is dropped.
#![allow(unsafe_code)]

/// Zeroed memory with guard pages before and after it, where the system has such pages.
#[derive(Debug)]
pub struct GuardedPages {
    #[cfg(target_os = "linux")]
    map: system::GuardedMapping,
    size: usize,
}

/// Alignment of the first byte.
const ALIGN: usize = 128;

impl GuardedPages {
    /// Allocates `size` bytes, aligned to 128. `None` where there is no memory, where there are no guard pages, or
    /// where thousands of allocations are guarded already. Systems bound the number of mappings, which a process also
    /// needs for other purposes.
    pub fn new_zeroed(size: usize) -> Option<GuardedPages> {
        #[cfg(target_os = "linux")]
        {
            let map = system::GuardedMapping::new(size.checked_next_multiple_of(ALIGN)?)?;
            Some(GuardedPages { map, size })
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (size, ALIGN);
            None
        }
    }

    /// Number of bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The bytes.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        #[cfg(target_os = "linux")]
        {
            // SAFETY: the map has as many bytes from there on, all initialised, which only this owns.
            unsafe { std::slice::from_raw_parts_mut(self.map.first_byte(), self.size) }
        }
        #[cfg(not(target_os = "linux"))]
        {
            debug_assert_eq!(self.size, 0);
            &mut []
        }
    }
}

#[cfg(target_os = "linux")]
pub(crate) use system::GuardedReservation;

#[cfg(target_os = "linux")]
mod system {
    use std::ptr::null_mut;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    /// Bytes of each guard at least.
    const GUARD: usize = 256 << 20;
    /// Bytes of the guards before and after a mapping. Indices of 32 bits, signed or not, into elements of at most 16
    /// bytes do not reach across them.
    const WIDE: [usize; 2] = [40 << 30, 72 << 30];
    /// Most mappings with guards so wide: all the addresses of a process are 2^47 bytes.
    const MOST_WIDE: usize = 1 << 8;
    /// Bytes of a reservation before and after its end, from the preferred size to one for which there is room
    /// everywhere.
    const REACHES: [[usize; 2]; 3] = [
        [96 << 30, 160 << 30],
        [6 << 30, 10 << 30],
        [512 << 20, GUARD],
    ];
    /// Smallest size of memory for which large pages pay.
    const LARGE: usize = 4 << 20;
    /// Most mappings at a time, each of which counts as three. By default Linux allows 65,530.
    pub const MOST: usize = 1 << 12;

    static LIVE: AtomicUsize = AtomicUsize::new(0);

    /// A mapping: a guard, pages, a guard.
    #[derive(Debug)]
    pub struct GuardedMapping {
        start: *mut u8,
        /// Bytes of the guards before and after.
        guards: [usize; 2],
        /// Bytes of the pages in the middle.
        pages: usize,
        /// Bytes in use, at the end of the mapping.
        used: usize,
    }

    // SAFETY: the mapping belongs to the owner of the value, on any thread.
    unsafe impl Send for GuardedMapping {}
    // SAFETY: nothing is reached through a shared reference.
    unsafe impl Sync for GuardedMapping {}

    impl GuardedMapping {
        pub fn new(used: usize) -> Option<GuardedMapping> {
            let live = LIVE.load(Relaxed);
            if live >= MOST {
                return None;
            }
            let pages = whole_pages(used)?;
            let guard_sizes = [(live < MOST_WIDE).then_some(WIDE), Some([GUARD; 2])];
            let (start, guards) = guard_sizes.into_iter().flatten().find_map(|guards| {
                let start =
                    reserve_addresses(guards[0].checked_add(pages)?.checked_add(guards[1])?)?;
                Some((start, guards))
            })?;
            LIVE.fetch_add(1, Relaxed);
            let map = GuardedMapping {
                start,
                guards,
                pages,
                used,
            };
            map.open_middle().then_some(map)
        }

        /// Lets the pages in the middle be accessed.
        fn open_middle(&self) -> bool {
            let middle = self.middle_address();
            let access = libc::PROT_READ | libc::PROT_WRITE;
            // SAFETY: the range is within the mapping.
            let done = unsafe { libc::mprotect(middle, self.pages, access) };
            if self.pages >= LARGE {
                // SAFETY: as above; a failure changes nothing but speed.
                unsafe { libc::madvise(middle, self.pages, libc::MADV_HUGEPAGE) };
            }
            done == 0
        }

        fn middle_address(&self) -> *mut libc::c_void {
            self.start.wrapping_add(self.guards[0]).cast()
        }

        /// The first byte in use.
        pub fn first_byte(&self) -> *mut u8 {
            let end = self.guards[0] + self.pages;
            self.start.wrapping_add(end - self.used)
        }
    }

    /// The least number of bytes in whole pages that is no less.
    fn whole_pages(bytes: usize) -> Option<usize> {
        // SAFETY: it only asks.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
        bytes.checked_next_multiple_of(page.max(1))
    }

    /// Addresses that nothing may access.
    fn reserve_addresses(bytes: usize) -> Option<*mut u8> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at any address, which nothing may access yet.
        let start = unsafe { libc::mmap(null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
        (start != libc::MAP_FAILED).then_some(start.cast())
    }

    /// A mapping in which a variable number of pages before an address in its middle are accessible.
    #[derive(Debug)]
    pub(crate) struct GuardedReservation {
        start: *mut u8,
        /// Bytes before the address, and after it.
        reach: [usize; 2],
        /// Bytes that may be accessed.
        open: usize,
    }

    impl GuardedReservation {
        /// A reservation in which `bytes` bytes may be open, with the widest guards for which there is room.
        pub fn new(bytes: usize) -> Option<GuardedReservation> {
            REACHES.into_iter().find_map(|[before, after]| {
                let reach = [before.max(whole_pages(bytes)?.checked_add(GUARD)?), after];
                let start = reserve_addresses(reach[0].checked_add(reach[1])?)?;
                let open = 0;
                Some(GuardedReservation { start, reach, open })
            })
        }

        /// Whether `bytes` bytes may be open.
        pub fn has_room(&self, bytes: usize) -> bool {
            bytes <= self.reach[0] - GUARD
        }

        /// Whether exactly the pages of `bytes` bytes are open.
        pub fn is_open_for(&self, bytes: usize) -> bool {
            whole_pages(bytes) == Some(self.open)
        }

        /// The end address of the accessible memory.
        pub fn end_address(&self) -> *mut u8 {
            self.start.wrapping_add(self.reach[0])
        }

        /// The reserved addresses: the first, and the end.
        pub fn reserved_range(&self) -> [u64; 2] {
            let bytes = self.reach[0] + self.reach[1];
            [self.start as u64, self.start.wrapping_add(bytes) as u64]
        }

        /// Opens the pages of `bytes` bytes, all zero, and no others. The system clears the pages of more than `most`
        /// bytes. Returns false where it has no memory.
        pub fn open_pages(&mut self, bytes: usize, most: usize) -> bool {
            let Some(wanted) = whole_pages(bytes) else {
                return false;
            };
            let kept = self.open.min(wanted);
            if kept > most {
                self.discard_pages(self.open);
            } else {
                // SAFETY: that number of bytes is open, which nothing else uses.
                unsafe { libc::memset(self.before_end(kept), 0, kept) };
            }
            let done = if wanted >= self.open {
                self.protect_pages(wanted, self.open, libc::PROT_READ | libc::PROT_WRITE)
            } else {
                self.close_above(wanted)
            };
            self.open = wanted;
            done
        }

        /// Returns the memory of more open bytes than `most` to the system. Those bytes are zero then.
        pub fn trim_open_pages(&self, most: usize) {
            if self.open > most {
                self.discard_pages(self.open);
            }
        }

        /// Leaves `kept` bytes open, and returns the memory of the others.
        fn close_above(&mut self, kept: usize) -> bool {
            self.discard_pages(self.open - kept);
            self.protect_pages(self.open, kept, libc::PROT_NONE)
        }

        /// Returns the memory of the first open bytes to the system. Those bytes are zero then.
        fn discard_pages(&self, bytes: usize) {
            let first = self.before_end(self.open);
            // SAFETY: the pages are the reservation's.
            unsafe { libc::madvise(first, bytes, libc::MADV_DONTNEED) };
        }

        /// Sets the access rights of the pages between `far` and `near` bytes before the end.
        fn protect_pages(&self, far: usize, near: usize, access: libc::c_int) -> bool {
            // SAFETY: the range is within the mapping.
            far == near || unsafe { libc::mprotect(self.before_end(far), far - near, access) == 0 }
        }

        fn before_end(&self, bytes: usize) -> *mut libc::c_void {
            self.end_address().wrapping_sub(bytes).cast()
        }
    }

    impl Drop for GuardedReservation {
        fn drop(&mut self) {
            // SAFETY: the whole mapping, of which nothing is borrowed any more.
            unsafe { libc::munmap(self.start.cast(), self.reach[0] + self.reach[1]) };
        }
    }

    impl Drop for GuardedMapping {
        fn drop(&mut self) {
            let [before, after] = self.guards;
            // SAFETY: the whole mapping, of which nothing is borrowed any more.
            unsafe { libc::munmap(self.start.cast(), before + self.pages + after) };
            LIVE.fetch_sub(1, Relaxed);
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn memory_is_zeroed_and_aligned() {
        for size in [0, 1, 128, 4095, 4096, 4097, 5 << 20] {
            let mut pages = GuardedPages::new_zeroed(size).expect("there is as much memory");
            let bytes = pages.bytes_mut();
            assert_eq!(bytes.len(), size);
            assert_eq!(bytes.as_ptr() as usize % ALIGN, 0);
            assert!(bytes.iter().all(|b| *b == 0));
            bytes.fill(1);
        }
        assert!(GuardedPages::new_zeroed(usize::MAX).is_none());
        let many: Vec<_> = (0..=system::MOST)
            .map_while(|_| GuardedPages::new_zeroed(1))
            .collect();
        assert_eq!(many.len(), system::MOST, "there are mappings left");
        drop(many);
        assert!(GuardedPages::new_zeroed(1).is_some());
    }
}

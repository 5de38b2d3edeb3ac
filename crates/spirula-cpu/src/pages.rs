//! Memory between pages that nothing may touch.
//!
//! Accesses of kernels to addresses are not checked. A buffer in the middle of other data would let one that goes
//! past its end destroy what belongs to the process; between guarded pages it ends the launch ([`crate::guard`]).
//! The last byte is near the guard behind it, so that short ways beyond the end are noticed, too. Cost: address
//! space, of which there is plenty, and a page for each buffer at least.
//!
//! # Unsafe code
//! The memory is mapped by this module alone, and unmapped when its owner is dropped.
#![allow(unsafe_code)]

/// Zeroed memory with guards before and behind it, where the system has such.
#[derive(Debug)]
pub struct Pages {
    #[cfg(target_os = "linux")]
    map: system::Map,
    size: usize,
}

/// What the first byte's address is a multiple of.
const ALIGN: usize = 128;

impl Pages {
    /// So many bytes, aligned to 128; `None` where there is no memory for them, there are no guards, or
    /// thousands are guarded already: systems bound the number of mappings, which a process needs for
    /// more than this.
    pub fn zeroed(size: usize) -> Option<Pages> {
        #[cfg(target_os = "linux")]
        {
            let map = system::Map::new(size.checked_next_multiple_of(ALIGN)?)?;
            Some(Pages { map, size })
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
            unsafe { std::slice::from_raw_parts_mut(self.map.first(), self.size) }
        }
        #[cfg(not(target_os = "linux"))]
        {
            debug_assert_eq!(self.size, 0);
            &mut []
        }
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::ptr::null_mut;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    /// Bytes of each guard.
    const GUARD: usize = 256 << 20;
    /// From this size on, memory is worth large pages.
    const LARGE: usize = 4 << 20;
    /// Most mappings at a time, each of which counts as three; Linux allows 65,530 unless told otherwise.
    pub const MOST: usize = 1 << 12;

    static LIVE: AtomicUsize = AtomicUsize::new(0);

    /// A mapping: a guard, pages, a guard.
    #[derive(Debug)]
    pub struct Map {
        start: *mut u8,
        /// Bytes of the pages in the middle.
        pages: usize,
        /// Bytes in use, at the end of those.
        used: usize,
    }

    // SAFETY: the mapping belongs to whoever owns the value, on any thread.
    unsafe impl Send for Map {}
    // SAFETY: nothing is reached through a shared reference.
    unsafe impl Sync for Map {}

    impl Map {
        pub fn new(used: usize) -> Option<Map> {
            if LIVE.load(Relaxed) >= MOST {
                return None;
            }
            // SAFETY: it only asks.
            let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
            let pages = used.checked_next_multiple_of(page.max(1))?;
            let total = pages.checked_add(2 * GUARD)?;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            // SAFETY: a new mapping at any address, which nothing may access yet.
            let start = unsafe { libc::mmap(null_mut(), total, libc::PROT_NONE, flags, -1, 0) };
            if start == libc::MAP_FAILED {
                return None;
            }
            LIVE.fetch_add(1, Relaxed);
            let map = Map {
                start: start.cast(),
                pages,
                used,
            };
            map.open().then_some(map)
        }

        /// Lets the pages in the middle be accessed.
        fn open(&self) -> bool {
            let middle = self.middle();
            let access = libc::PROT_READ | libc::PROT_WRITE;
            // SAFETY: the range is within the mapping.
            let done = unsafe { libc::mprotect(middle, self.pages, access) };
            if self.pages >= LARGE {
                // SAFETY: as above; it is a wish.
                unsafe { libc::madvise(middle, self.pages, libc::MADV_HUGEPAGE) };
            }
            done == 0
        }

        fn middle(&self) -> *mut libc::c_void {
            self.start.wrapping_add(GUARD).cast()
        }

        /// The first byte in use.
        pub fn first(&self) -> *mut u8 {
            self.start.wrapping_add(GUARD + self.pages - self.used)
        }
    }

    impl Drop for Map {
        fn drop(&mut self) {
            // SAFETY: the whole mapping, of which nothing is borrowed any more.
            unsafe { libc::munmap(self.start.cast(), self.pages + 2 * GUARD) };
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
            let mut pages = Pages::zeroed(size).expect("there is as much memory");
            let bytes = pages.bytes_mut();
            assert_eq!(bytes.len(), size);
            assert_eq!(bytes.as_ptr() as usize % ALIGN, 0);
            assert!(bytes.iter().all(|b| *b == 0));
            bytes.fill(1);
        }
        assert!(Pages::zeroed(usize::MAX).is_none());
        let many: Vec<_> = (0..=system::MOST).map_while(|_| Pages::zeroed(1)).collect();
        assert_eq!(many.len(), system::MOST, "there are mappings left");
        drop(many);
        assert!(Pages::zeroed(1).is_some());
    }
}

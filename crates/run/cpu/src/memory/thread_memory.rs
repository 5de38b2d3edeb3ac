//! Thread memory: the workgroup memory of a thread, and the private memory of its invocations.
//!
//! Indices of kernels are not checked. This memory lies between two guards. They are so wide that an index of 32 bits
//! into elements of 16 bytes does not reach across them. The lowering cuts wider indices to 32 bits
//! (`codegen/pointer`). An access that misses the memory ends the launch (`exec/guard`). A thread keeps such memory
//! for its next launch, since mapping it takes longer than small launches do.
//!
//! # Unsafe code
//! The memory is that of a reservation, which lives as long as the value.
#![allow(unsafe_code)]

use std::cell::RefCell;

#[cfg(target_os = "linux")]
use super::guarded_pages::GuardedReservation;
#[cfg(not(target_os = "linux"))]
use none::GuardedReservation;

/// Memory of up to this size is cleared in place. Larger memory is returned to the system.
const CLEARED_IN_PLACE: usize = 1 << 18;
/// Most reservations that a thread keeps.
const MOST_SPARE: usize = 4;

thread_local! {
    /// Reservations that nothing uses.
    static SPARE: RefCell<Vec<GuardedReservation>> = const { RefCell::new(Vec::new()) };
}

/// Zeroed memory with its end at a guard, where the system has such.
#[derive(Debug)]
pub(crate) struct ThreadMemory {
    reservation: Option<GuardedReservation>,
    /// Memory without guards, where there is no reservation.
    plain: Vec<u128>,
    first: *mut u8,
    size: usize,
}

impl ThreadMemory {
    /// Allocates `size` bytes at a multiple of `align`, a power of two of at most 128.
    pub fn new_zeroed(size: usize, align: usize) -> ThreadMemory {
        let mut memory = ThreadMemory {
            reservation: None,
            plain: Vec::new(),
            first: std::ptr::without_provenance_mut(align),
            size,
        };
        let Some(room) = size
            .checked_next_multiple_of(align)
            .filter(|room| *room > 0)
        else {
            return memory;
        };
        match reserve_zeroed(room) {
            Some(reservation) => {
                memory.first = reservation.end_address().wrapping_sub(room);
                memory.reservation = Some(reservation);
            }
            None => {
                memory.plain = vec![0; room.div_ceil(16) + align / 16];
                let base = memory.plain.as_mut_ptr().cast::<u8>();
                memory.first = base.wrapping_add(base.align_offset(align));
            }
        }
        memory
    }

    /// The first byte.
    pub fn first_byte(&self) -> *mut u8 {
        self.first
    }

    /// Number of bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Sets all bytes to zero.
    pub fn clear(&mut self) {
        // SAFETY: the memory has `size` bytes from there on, which only this value owns.
        unsafe { std::ptr::write_bytes(self.first, 0, self.size) };
    }

    /// The addresses from the guard before the memory to the end of the guard after it.
    pub fn guarded_range(&self) -> [u64; 2] {
        self.reservation
            .as_ref()
            .map_or([0; 2], GuardedReservation::reserved_range)
    }
}

impl Drop for ThreadMemory {
    fn drop(&mut self) {
        let Some(reservation) = self.reservation.take() else {
            return;
        };
        reservation.trim_open_pages(CLEARED_IN_PLACE);
        // A thread that ends keeps nothing.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() < MOST_SPARE {
                spare.push(reservation);
            }
        });
    }
}

/// A reservation with `bytes` zeroed bytes before its end.
fn reserve_zeroed(bytes: usize) -> Option<GuardedReservation> {
    let spare = SPARE.try_with(|spare| {
        let mut spare = spare.borrow_mut();
        // A spare reservation with the same number of open bytes is ready.
        let ready = spare.iter().position(|r| r.is_open_for(bytes));
        let at = ready.or(spare.len().checked_sub(1))?;
        Some(spare.swap_remove(at))
    });
    let mut reservation = match spare.ok().flatten() {
        Some(reservation) if reservation.has_room(bytes) => reservation,
        _ => GuardedReservation::new(bytes)?,
    };
    reservation
        .open_pages(bytes, CLEARED_IN_PLACE)
        .then_some(reservation)
}

#[cfg(not(target_os = "linux"))]
mod none {
    /// There are no reservations.
    #[derive(Debug)]
    pub enum GuardedReservation {}

    impl GuardedReservation {
        pub fn new(_: usize) -> Option<GuardedReservation> {
            None
        }

        pub fn has_room(&self, _: usize) -> bool {
            match *self {}
        }

        pub fn is_open_for(&self, _: usize) -> bool {
            match *self {}
        }

        pub fn open_pages(&mut self, _: usize, _: usize) -> bool {
            match *self {}
        }

        pub fn trim_open_pages(&self, _: usize) {
            match *self {}
        }

        pub fn end_address(&self) -> *mut u8 {
            match *self {}
        }

        pub fn reserved_range(&self) -> [u64; 2] {
            match *self {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory_bytes(memory: &mut ThreadMemory) -> &mut [u8] {
        // SAFETY: it has that number of bytes, which only the test uses.
        unsafe { std::slice::from_raw_parts_mut(memory.first_byte(), memory.size()) }
    }

    #[test]
    fn memory_is_zeroed_and_aligned_however_often_it_is_taken() {
        for size in [
            0,
            1,
            16,
            4095,
            4096,
            4097,
            100,
            5 << 20,
            1 << 12,
            3 << 20,
            17,
        ] {
            for align in [16, 128] {
                let mut memory = ThreadMemory::new_zeroed(size, align);
                let mut other = ThreadMemory::new_zeroed(size, align);
                for memory in [&mut memory, &mut other] {
                    assert_eq!(memory.first_byte() as usize % align, 0);
                    let bytes = memory_bytes(memory);
                    assert_eq!(bytes.len(), size);
                    assert!(bytes.iter().all(|b| *b == 0), "{size}");
                    bytes.fill(0xaa);
                }
            }
        }
    }

    #[test]
    fn memory_ends_at_a_guard_of_gigabytes() {
        if !cfg!(target_os = "linux") {
            return;
        }
        let memory = ThreadMemory::new_zeroed(48, 16);
        let [low, high] = memory.guarded_range();
        let (first, end) = (memory.first_byte() as u64, memory.first_byte() as u64 + 48);
        assert_eq!(end % 4096, 0);
        assert!(
            first - low >= 1 << 32 && high - end >= 1 << 32,
            "{low:x} {high:x}"
        );
    }
}

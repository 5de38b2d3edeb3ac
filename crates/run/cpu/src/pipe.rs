//! Pipes: queues of packets between invocations and launches.
//!
//! The memory of a pipe describes itself. [`PipeShape`] initialises it, and any launch may use it. Packets are
//! numbered from 0 on, and packet `n` lies at `n` modulo the capacity. A reservation takes its numbers at once. Its
//! packets become visible, or their slots free, when it and all reservations before it are committed (OpenCL C 2.0,
//! section 6.13.16). Operations that find no room or no packets fail. Operations on memory that is no pipe fail as
//! well.
//!
//! # Unsafe code
//! Generated code passes addresses. The address of a pipe was compared with its memory when the launch began, and
//! only this module writes its header. Packets lie where loads and stores of the program could be as well. A word of
//! the header locks the data that several threads use.
#![allow(unsafe_code)]

use crate::memory::memory_span::MemorySpan;
use std::sync::atomic::{AtomicU64, Ordering};

pub use spirula_resource::PipeShape;
use spirula_resource::{HEADER_WORDS, PIPE_MAGIC, RESERVATION_WORDS};

/// An operation on a pipe. Generated code passes its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PipeUse {
    Read,
    Write,
    ReadReserved,
    WriteReserved,
    ReserveRead,
    ReserveWrite,
    CommitRead,
    CommitWrite,
    Packets,
    Capacity,
}

impl PipeUse {
    const ALL: [PipeUse; 10] = [
        PipeUse::Read,
        PipeUse::Write,
        PipeUse::ReadReserved,
        PipeUse::WriteReserved,
        PipeUse::ReserveRead,
        PipeUse::ReserveWrite,
        PipeUse::CommitRead,
        PipeUse::CommitWrite,
        PipeUse::Packets,
        PipeUse::Capacity,
    ];

    /// Whether it reads packets.
    pub fn is_read(self) -> bool {
        matches!(
            self,
            PipeUse::Read | PipeUse::ReadReserved | PipeUse::ReserveRead | PipeUse::CommitRead
        )
    }
}

/// The operands of an operation.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct PipeOperands {
    pub pipe: u64,
    /// A reservation, or how many packets are to be reserved.
    pub id: u64,
    /// The packet's number within the reservation.
    pub index: u64,
    /// Address of the packet.
    pub packet: u64,
    /// Bytes of a packet.
    pub size: u64,
}

/// Whether memory is that of a pipe.
pub(crate) fn is_pipe(memory: &MemorySpan) -> bool {
    if memory.length < (HEADER_WORDS + RESERVATION_WORDS) * 8
        || !memory.address.addr().is_multiple_of(8)
    {
        return false;
    }
    let words = memory.address.cast::<u64>();
    // SAFETY: the memory is that of a launch, aligned, and has as many words.
    let [magic, packet, capacity] = [0, 1, 2].map(|n| unsafe { words.add(n).read() });
    let shape = u32::try_from(packet).ok().zip(u32::try_from(capacity).ok());
    let bytes = shape.and_then(|(packet, capacity)| PipeShape { packet, capacity }.memory_bytes());
    magic == PIPE_MAGIC && bytes.is_some_and(|bytes| bytes <= memory.length)
}

/// Runs an operation on a pipe. Reads and writes return 0, or all bits where they fail. Reservations return their
/// number, or 0 where they fail. Queries return a number of packets.
pub(crate) extern "C" fn run_pipe_operation(operation: u64, operands: *const PipeOperands) -> u64 {
    let Some(operation) = PipeUse::ALL.get(operation as usize) else {
        return u64::MAX;
    };
    // SAFETY: generated code passes the operands, which lie on its stack.
    let operands = unsafe { *operands };
    if operands.pipe == 0 {
        return failure_value(*operation);
    }
    let mut pipe = LockedPipe::lock_words(operands.pipe as *mut u64);
    let done = pipe.perform_operation(*operation, &operands);
    done.unwrap_or(failure_value(*operation))
}

fn failure_value(operation: PipeUse) -> u64 {
    match operation {
        PipeUse::ReserveRead | PipeUse::ReserveWrite | PipeUse::Packets | PipeUse::Capacity => 0,
        _ => u64::MAX,
    }
}

/// Fields of the header, by word.
#[derive(Clone, Copy)]
enum PipeHeaderField {
    Packet = 1,
    Capacity = 2,
    Lock = 3,
    /// Packets before have been written.
    Written = 4,
    /// Packets before have been reserved for writing.
    ToWrite = 5,
    /// Packets before have been reserved for reading.
    ToRead = 6,
    /// Packets before have been read.
    Read = 7,
}

/// A reservation is free if this is its last word. The words before are its first packet and their number.
const FREE: u64 = 0;
const READS: u64 = 1;
const WRITES: u64 = 2;
const DONE: u64 = 4;

/// A pipe that is locked, so that no other thread uses it.
struct LockedPipe {
    words: *mut u64,
    shape: PipeShape,
}

impl LockedPipe {
    fn lock_words(words: *mut u64) -> LockedPipe {
        let mut pipe = LockedPipe {
            words,
            shape: PipeShape {
                packet: 0,
                capacity: 0,
            },
        };
        let lock = pipe.lock_word();
        while lock.swap(1, Ordering::Acquire) != 0 {
            std::thread::yield_now();
        }
        pipe.shape = PipeShape {
            packet: pipe.read_field(PipeHeaderField::Packet) as u32,
            capacity: pipe.read_field(PipeHeaderField::Capacity) as u32,
        };
        pipe
    }

    fn lock_word<'a>(&self) -> &'a AtomicU64 {
        // SAFETY: the word is within the header, aligned, and only used so.
        unsafe { AtomicU64::from_ptr(self.words.add(PipeHeaderField::Lock as usize)) }
    }

    fn read_field(&self, field: PipeHeaderField) -> u64 {
        // SAFETY: within the header, under the lock.
        unsafe { self.words.add(field as usize).read() }
    }

    fn write_field(&mut self, field: PipeHeaderField, value: u64) {
        // SAFETY: as above.
        unsafe { self.words.add(field as usize).write(value) };
    }

    /// The words of reservation `n`, which is below the number of them.
    fn reservation_words(&mut self, n: u64) -> &mut [u64; RESERVATION_WORDS as usize] {
        // SAFETY: they follow the header, under the lock.
        unsafe {
            &mut *self
                .words
                .add((HEADER_WORDS + n * RESERVATION_WORDS) as usize)
                .cast()
        }
    }

    fn packet_address(&self, packet: u64) -> *mut u8 {
        let first = HEADER_WORDS + self.shape.reservation_count() * RESERVATION_WORDS;
        let at = packet % u64::from(self.shape.capacity) * u64::from(self.shape.packet);
        // SAFETY: within the memory of the pipe, as the header says.
        unsafe { self.words.add(first as usize).cast::<u8>().add(at as usize) }
    }

    fn perform_operation(&mut self, operation: PipeUse, operands: &PipeOperands) -> Option<u64> {
        match operation {
            PipeUse::Packets => {
                return Some(
                    self.read_field(PipeHeaderField::Written)
                        - self.read_field(PipeHeaderField::ToRead),
                );
            }
            PipeUse::Capacity => return Some(self.shape.capacity.into()),
            _ if operands.size != u64::from(self.shape.packet) => return None,
            _ => {}
        }
        match operation {
            PipeUse::ReserveRead | PipeUse::ReserveWrite => {
                self.reserve_packets(operation.is_read(), operands.id)
            }
            PipeUse::CommitRead | PipeUse::CommitWrite => self
                .commit_reservation(operation.is_read(), operands.id)
                .map(|()| 0),
            PipeUse::ReadReserved | PipeUse::WriteReserved => {
                let [first, count, _] = self.open_reservation(operation.is_read(), operands.id)?;
                let packet = (operands.index < count).then_some(first + operands.index)?;
                self.copy_packet(operation.is_read(), packet, operands.packet);
                Some(0)
            }
            _ => {
                let id = self.reserve_packets(operation.is_read(), 1)?;
                let [packet, ..] = self.open_reservation(operation.is_read(), id)?;
                self.copy_packet(operation.is_read(), packet, operands.packet);
                self.commit_reservation(operation.is_read(), id).map(|()| 0)
            }
        }
    }

    fn copy_packet(&mut self, reads: bool, packet: u64, address: u64) {
        let (place, bytes) = (self.packet_address(packet), self.shape.packet as usize);
        let (from, to) = if reads {
            (place.cast_const(), address as *mut u8)
        } else {
            (address as *const u8, place)
        };
        // SAFETY: one address is in the pipe; the other is where the program could load or store.
        unsafe { std::ptr::copy(from, to, bytes) };
    }

    fn reserve_packets(&mut self, reads: bool, count: u64) -> Option<u64> {
        let (field, end) = if reads {
            (
                PipeHeaderField::ToRead,
                self.read_field(PipeHeaderField::Written),
            )
        } else {
            let room = self.read_field(PipeHeaderField::Read) + u64::from(self.shape.capacity);
            (PipeHeaderField::ToWrite, room)
        };
        let first = self.read_field(field);
        let last = first.checked_add(count)?;
        if count == 0 || last > end {
            return None;
        }
        let free =
            (0..self.shape.reservation_count()).find(|n| self.reservation_words(*n)[2] == FREE)?;
        *self.reservation_words(free) = [first, count, if reads { READS } else { WRITES }];
        self.write_field(field, last);
        Some(free + 1)
    }

    /// A reservation that was not committed yet.
    fn open_reservation(
        &mut self,
        reads: bool,
        id: u64,
    ) -> Option<[u64; RESERVATION_WORDS as usize]> {
        let n = id
            .checked_sub(1)
            .filter(|n| *n < self.shape.reservation_count())?;
        let found = *self.reservation_words(n);
        (found[2] == if reads { READS } else { WRITES }).then_some(found)
    }

    /// Commits a reservation. Where others before it are open, it is kept, as one with those beside it that are committed.
    /// So the reservations that are kept are at most one more than those that are open.
    fn commit_reservation(&mut self, reads: bool, id: u64) -> Option<()> {
        let [mut first, mut count, kind] = self.open_reservation(reads, id)?;
        let (done, reserved) = if reads {
            (PipeHeaderField::Read, PipeHeaderField::ToRead)
        } else {
            (PipeHeaderField::Written, PipeHeaderField::ToWrite)
        };
        let next = self.read_field(done);
        *self.reservation_words(id - 1) = [0, 0, FREE];
        // The packets of the other reservations of this kind.
        let mut left = self.read_field(reserved).saturating_sub(next);
        left = left.saturating_sub(count);
        let mut n = 0;
        while left > 0 && n < self.shape.reservation_count() {
            let [other, length, is] = *self.reservation_words(n);
            if is & !DONE == kind {
                left = left.saturating_sub(length);
            }
            let is_before = other.wrapping_add(length) == first;
            let is_after = first.wrapping_add(count) == other;
            if is == kind | DONE && (is_before || is_after) {
                first = first.min(other);
                count = count.wrapping_add(length);
                *self.reservation_words(n) = [0, 0, FREE];
            }
            n += 1;
        }
        if first == next {
            self.write_field(done, next.wrapping_add(count));
        } else {
            *self.reservation_words(id - 1) = [first, count, kind | DONE];
        }
        Some(())
    }
}

impl Drop for LockedPipe {
    fn drop(&mut self) {
        self.lock_word().store(0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty_pipe(capacity: u32) -> Vec<u64> {
        let shape = PipeShape {
            packet: 4,
            capacity,
        };
        let mut words = vec![0u64; shape.memory_bytes().unwrap() as usize / 8];
        for (word, bytes) in words.iter_mut().zip(shape.encode_header().chunks(8)) {
            *word = u64::from_le_bytes(bytes.try_into().unwrap());
        }
        words
    }

    fn operate_on_packet(
        pipe: &mut [u64],
        operation: PipeUse,
        id: u64,
        index: u64,
        packet: &mut u32,
    ) -> u64 {
        let operands = PipeOperands {
            pipe: pipe.as_mut_ptr() as u64,
            id,
            index,
            packet: std::ptr::from_mut(packet) as u64,
            size: 4,
        };
        run_pipe_operation(operation as u64, &operands)
    }

    #[test]
    fn packets_come_in_order_and_no_more_than_there_is_room_for() {
        let mut pipe = empty_pipe(3);
        for round in 0..5u32 {
            for n in 0..3 {
                let mut value = round * 10 + n;
                assert_eq!(
                    operate_on_packet(&mut pipe, PipeUse::Write, 0, 0, &mut value),
                    0
                );
            }
            assert_eq!(
                operate_on_packet(&mut pipe, PipeUse::Write, 0, 0, &mut 9),
                u64::MAX
            );
            assert_eq!(
                operate_on_packet(&mut pipe, PipeUse::Packets, 0, 0, &mut 0),
                3
            );
            for n in 0..3 {
                let mut value = 0;
                assert_eq!(
                    operate_on_packet(&mut pipe, PipeUse::Read, 0, 0, &mut value),
                    0
                );
                assert_eq!(value, round * 10 + n);
            }
            assert_eq!(
                operate_on_packet(&mut pipe, PipeUse::Read, 0, 0, &mut 9),
                u64::MAX
            );
        }
    }

    #[test]
    fn packets_are_visible_when_all_before_are_committed() {
        let mut pipe = empty_pipe(4);
        let first = operate_on_packet(&mut pipe, PipeUse::ReserveWrite, 2, 0, &mut 0);
        let second = operate_on_packet(&mut pipe, PipeUse::ReserveWrite, 1, 0, &mut 0);
        assert!(first != 0 && second != 0 && first != second);
        assert_eq!(
            operate_on_packet(&mut pipe, PipeUse::ReserveWrite, 2, 0, &mut 0),
            0
        );
        let write = PipeUse::WriteReserved;
        assert_eq!(operate_on_packet(&mut pipe, write, second, 0, &mut 30), 0);
        assert_eq!(
            operate_on_packet(&mut pipe, PipeUse::CommitWrite, second, 0, &mut 0),
            0
        );
        assert_eq!(
            operate_on_packet(&mut pipe, PipeUse::Packets, 0, 0, &mut 0),
            0
        );
        assert_eq!(operate_on_packet(&mut pipe, write, first, 0, &mut 10), 0);
        assert_eq!(operate_on_packet(&mut pipe, write, first, 1, &mut 20), 0);
        assert_eq!(
            operate_on_packet(&mut pipe, write, first, 2, &mut 99),
            u64::MAX
        );
        assert_eq!(
            operate_on_packet(&mut pipe, PipeUse::CommitWrite, first, 0, &mut 0),
            0
        );
        let twice = operate_on_packet(&mut pipe, PipeUse::CommitWrite, first, 0, &mut 0);
        assert_eq!(twice, u64::MAX);
        let read = operate_on_packet(&mut pipe, PipeUse::ReserveRead, 3, 0, &mut 0);
        let mut values = [0; 3];
        for (n, value) in values.iter_mut().enumerate() {
            operate_on_packet(&mut pipe, PipeUse::ReadReserved, read, n as u64, value);
        }
        assert_eq!(values, [10, 20, 30]);
        assert_eq!(
            operate_on_packet(&mut pipe, PipeUse::CommitRead, read, 0, &mut 0),
            0
        );
        assert_eq!(
            operate_on_packet(&mut pipe, PipeUse::ReserveWrite, 4, 0, &mut 0),
            1
        );
    }

    #[test]
    fn committed_packets_behind_an_open_reservation_take_no_places() {
        let count = 3 * spirula_resource::MOST_RESERVATIONS as u32;
        let mut pipe = empty_pipe(count);
        let open = operate_on_packet(&mut pipe, PipeUse::ReserveWrite, 1, 0, &mut 0);
        for mut number in 1..count {
            let done = operate_on_packet(&mut pipe, PipeUse::Write, 0, 0, &mut number);
            assert_eq!(done, 0, "packet {number}");
        }
        let packets = |pipe: &mut [u64]| operate_on_packet(pipe, PipeUse::Packets, 0, 0, &mut 0);
        assert_eq!(packets(&mut pipe), 0);
        operate_on_packet(&mut pipe, PipeUse::WriteReserved, open, 0, &mut 0);
        operate_on_packet(&mut pipe, PipeUse::CommitWrite, open, 0, &mut 0);
        assert_eq!(packets(&mut pipe), u64::from(count));
        for number in 0..count {
            let mut found = u32::MAX;
            operate_on_packet(&mut pipe, PipeUse::Read, 0, 0, &mut found);
            assert_eq!(found, number);
        }
    }

    #[test]
    fn reservations_are_committed_in_any_order() {
        let mut pipe = empty_pipe(8);
        let reserve =
            |pipe: &mut [u64]| operate_on_packet(pipe, PipeUse::ReserveWrite, 2, 0, &mut 0);
        let ids = [0; 4].map(|_| reserve(&mut pipe));
        let mut visible = Vec::new();
        for own in [2, 0, 3, 1] {
            let id = ids[own];
            for index in 0..2 {
                let mut value = 10 * own as u32 + index;
                let place = u64::from(index);
                operate_on_packet(&mut pipe, PipeUse::WriteReserved, id, place, &mut value);
            }
            let done = operate_on_packet(&mut pipe, PipeUse::CommitWrite, id, 0, &mut 0);
            assert_eq!(done, 0);
            visible.push(operate_on_packet(&mut pipe, PipeUse::Packets, 0, 0, &mut 0));
        }
        assert_eq!(visible, [0, 2, 2, 8]);
        for number in [0, 1, 10, 11, 20, 21, 30, 31] {
            let mut found = 0;
            operate_on_packet(&mut pipe, PipeUse::Read, 0, 0, &mut found);
            assert_eq!(found, number);
        }
    }

    #[test]
    fn other_memory_is_no_pipe() {
        let mut pipe = empty_pipe(2);
        let memory = |words: &mut [u64]| MemorySpan {
            address: words.as_mut_ptr().cast(),
            length: size_of_val(words) as u64,
        };
        assert!(is_pipe(&memory(&mut pipe)));
        let length = pipe.len();
        assert!(!is_pipe(&memory(&mut pipe[..length - 2])));
        pipe[2] = 1 << 20;
        assert!(!is_pipe(&memory(&mut pipe)));
        assert!(!is_pipe(&memory(&mut [0; 4])));
    }
}

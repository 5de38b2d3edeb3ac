//! Pipe shapes: packets of a pipe, and the layout of its memory: a header, reservations, packets.

/// The first word of a pipe's memory.
pub const PIPE_MAGIC: u64 = u64::from_le_bytes(*b"spirpipe");
/// Words of the header.
pub const HEADER_WORDS: u64 = 8;
/// Words of a reservation.
pub const RESERVATION_WORDS: u64 = 3;
/// Most reservations that are open at once.
pub const MOST_RESERVATIONS: u64 = 4096;
/// Most bytes of a pipe.
const MOST_BYTES: u64 = 1 << 40;

/// The packets of a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipeShape {
    /// Bytes of a packet.
    pub packet: u32,
    /// Number of packets that it holds.
    pub capacity: u32,
}

impl PipeShape {
    /// Bytes of its memory; `None` where it cannot hold a packet or is too large.
    pub fn memory_bytes(self) -> Option<u64> {
        let packets = u64::from(self.packet) * u64::from(self.capacity);
        let bytes = (HEADER_WORDS + self.reservation_count() * RESERVATION_WORDS) * 8 + packets;
        (packets > 0 && bytes <= MOST_BYTES).then(|| bytes.next_multiple_of(16))
    }

    /// The beginning of its memory while it is empty; zeros follow.
    pub fn encode_header(self) -> Vec<u8> {
        let words = [PIPE_MAGIC, self.packet.into(), self.capacity.into()];
        words.map(u64::to_le_bytes).concat()
    }

    /// Reservations that may be open at once.
    pub fn reservation_count(self) -> u64 {
        (u64::from(self.capacity) * 2).min(MOST_RESERVATIONS)
    }
}

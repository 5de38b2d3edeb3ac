//! Messages as bytes: a header of fixed size, and the content.

use bytes::Bytes;
use std::fmt;
use std::io::{self, Read};

/// Bytes of a header.
pub const HEADER_BYTES: usize = 56;

/// Most bytes of a message.
pub const MOST_BYTES: u64 = 1 << 36;

/// Most bytes of a reason for which a run is given up.
pub const MOST_REASON_BYTES: u64 = 1 << 16;

/// Memory that is taken before the first byte of a message arrives.
const FIRST_BYTES: u64 = 1 << 20;

/// The content of a message. Members of one process share its memory, and a part of it is a block, too.
pub type ByteBlock = Bytes;

/// A run of a program by some devices. All its processes know it by this key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RunKey {
    /// A number of the devices and their order.
    pub devices: u64,
    /// The number of the run among those of these devices, from 1 on.
    pub number: u64,
}

/// The place of a message in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageTag {
    /// The run.
    pub run: RunKey,
    /// A number of the program, equal in all processes.
    pub program: u64,
    /// The collective in the program.
    pub site: u32,
    /// The group of devices that it combines.
    pub group: u32,
    /// The number of times that the group came there before.
    pub turn: u32,
    /// The step of the algorithm.
    pub step: u32,
}

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// Elements of arrays.
    Data,
    /// The reason why the sender gives a run up.
    Abort,
    /// The sender ends.
    Farewell,
}

/// Kinds by their numbers.
const KINDS: [FrameKind; 3] = [FrameKind::Data, FrameKind::Abort, FrameKind::Farewell];

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageFrame {
    /// The kind.
    pub kind: FrameKind,
    /// The place in a run.
    pub tag: MessageTag,
    /// Elements, or a reason.
    pub content: Vec<u8>,
}

/// The reason why bytes are no message.
#[derive(Debug)]
pub enum FrameFault {
    /// The stream ends within a message.
    Truncated,
    /// The kind is unknown.
    Kind(u32),
    /// The content is too long.
    Length(u64),
    /// The stream fails.
    Stream(io::Error),
}

impl fmt::Display for FrameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FrameFault::Truncated => write!(f, "it ends within a message"),
            FrameFault::Kind(kind) => write!(f, "{kind} is no kind of message"),
            FrameFault::Length(length) => write!(f, "its length is {length} bytes"),
            FrameFault::Stream(error) => write!(f, "{error}"),
        }
    }
}

/// The header of a message of a given number of bytes.
pub fn write_header(kind: FrameKind, tag: &MessageTag, length: u64) -> [u8; HEADER_BYTES] {
    let kind = KINDS.iter().position(|own| *own == kind).unwrap_or(0) as u32;
    let mut header = [0; HEADER_BYTES];
    let short = [kind, tag.site, tag.group, tag.turn, tag.step, 0];
    let long = [tag.run.devices, tag.run.number, tag.program, length];
    let (first, rest) = header.split_at_mut(short.len() * 4);
    for (bytes, number) in first.chunks_exact_mut(4).zip(short) {
        bytes.copy_from_slice(&number.to_le_bytes());
    }
    for (bytes, number) in rest.chunks_exact_mut(8).zip(long) {
        bytes.copy_from_slice(&number.to_le_bytes());
    }
    header
}

/// A header in parts: the kind, the tag and the length.
fn read_header(header: &[u8; HEADER_BYTES]) -> Result<(FrameKind, MessageTag, u64), FrameFault> {
    let short = |at: usize| {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(&header[at * 4..at * 4 + 4]);
        u32::from_le_bytes(bytes)
    };
    let long = |at: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&header[24 + at * 8..32 + at * 8]);
        u64::from_le_bytes(bytes)
    };
    let kind = KINDS.get(short(0) as usize).copied();
    let kind = kind.ok_or(FrameFault::Kind(short(0)))?;
    let most = match kind {
        FrameKind::Data => MOST_BYTES,
        FrameKind::Abort => MOST_REASON_BYTES,
        FrameKind::Farewell => 0,
    };
    if long(3) > most {
        return Err(FrameFault::Length(long(3)));
    }
    let tag = MessageTag {
        run: RunKey {
            devices: long(0),
            number: long(1),
        },
        program: long(2),
        site: short(1),
        group: short(2),
        turn: short(3),
        step: short(4),
    };
    Ok((kind, tag, long(3)))
}

/// Reads a message; `None` where the stream ends before one. Memory is taken as bytes arrive, whatever the header says.
///
/// # Errors
/// When the bytes are no message, or the stream ends or fails within it.
pub fn read_frame(stream: &mut impl Read) -> Result<Option<MessageFrame>, FrameFault> {
    let mut header = [0; HEADER_BYTES];
    let mut filled = 0;
    while filled < HEADER_BYTES {
        match stream.read(&mut header[filled..]) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err(FrameFault::Truncated),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(FrameFault::Stream(error)),
        }
    }
    let (kind, tag, length) = read_header(&header)?;
    let mut content = Vec::with_capacity(length.min(FIRST_BYTES) as usize);
    let read = stream.take(length).read_to_end(&mut content);
    read.map_err(FrameFault::Stream)?;
    if content.len() as u64 != length {
        return Err(FrameFault::Truncated);
    }
    Ok(Some(MessageFrame { kind, tag, content }))
}

//! Messages as bytes: right ones are read back, and no other bytes do harm.

use spirula_exchange::check_greeting;
use spirula_exchange::frame::{
    FrameFault, FrameKind, HEADER_BYTES, MOST_BYTES, MessageTag, RunKey, read_frame, write_header,
};

const TAG: MessageTag = MessageTag {
    run: RunKey {
        devices: 0x1234_5678_9abc_def0,
        number: 7,
    },
    program: 0xffff_0000_ffff_0001,
    site: 1,
    group: 2,
    turn: 3,
    step: 4,
};

#[test]
fn frames_are_read_back() {
    let mut bytes = write_header(FrameKind::Data, &TAG, 3).to_vec();
    bytes.extend([1, 2, 3]);
    bytes.extend(write_header(FrameKind::Farewell, &TAG, 0));
    let mut stream = bytes.as_slice();
    let data = read_frame(&mut stream).unwrap().unwrap();
    assert_eq!((data.kind, data.tag), (FrameKind::Data, TAG));
    assert_eq!(data.content, [1, 2, 3]);
    let farewell = read_frame(&mut stream).unwrap().unwrap();
    assert_eq!(farewell.kind, FrameKind::Farewell);
    assert!(read_frame(&mut stream).unwrap().is_none());
}

#[test]
fn truncated_frames_are_refused() {
    let mut bytes = write_header(FrameKind::Data, &TAG, 100).to_vec();
    bytes.extend([0; 100]);
    for length in 1..bytes.len() {
        let read = read_frame(&mut &bytes[..length]);
        assert!(matches!(read, Err(FrameFault::Truncated)), "{length}");
    }
}

/// A length does not take memory before the bytes are there.
#[test]
fn lengths_are_bounded() {
    let huge = write_header(FrameKind::Data, &TAG, MOST_BYTES + 1);
    let read = read_frame(&mut huge.as_slice());
    assert!(matches!(read, Err(FrameFault::Length(length)) if length == MOST_BYTES + 1));
    let most = write_header(FrameKind::Data, &TAG, MOST_BYTES);
    assert!(matches!(
        read_frame(&mut most.as_slice()),
        Err(FrameFault::Truncated)
    ));
    for (kind, length) in [(FrameKind::Farewell, 1), (FrameKind::Abort, 1 << 20)] {
        let header = write_header(kind, &TAG, length);
        let read = read_frame(&mut header.as_slice());
        assert!(matches!(read, Err(FrameFault::Length(_))), "{kind:?}");
    }
}

/// A generator of numbers (G. Marsaglia, 2003).
fn next_number(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn rubbish_is_refused() {
    let mut state = 0x9e37_79b9_7f4a_7c15;
    for _ in 0..20_000 {
        let length = next_number(&mut state) as usize % 200;
        let mut bytes = Vec::new();
        while bytes.len() < length {
            bytes.extend(next_number(&mut state).to_le_bytes());
        }
        // Some have a right kind.
        if next_number(&mut state) & 1 == 0 && length > HEADER_BYTES {
            bytes[..4].copy_from_slice(&[next_number(&mut state) as u8 % 3, 0, 0, 0]);
            bytes[50..56].fill(0);
        }
        let mut stream = bytes.as_slice();
        while let Ok(Some(frame)) = read_frame(&mut stream) {
            assert!(frame.content.len() <= bytes.len());
        }
        assert!(!check_greeting(&bytes));
    }
}

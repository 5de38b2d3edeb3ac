//! Target of the bytes that processes send each other.

use spirula_exchange::check_greeting;
use spirula_exchange::frame::{HEADER_BYTES, read_frame, write_header};

/// A stream is a greeting or none, and then messages until bytes are none. A message that is read is written back.
pub fn check_stream(bytes: &[u8]) {
    _ = check_greeting(bytes);
    let mut stream = bytes;
    loop {
        let before = stream;
        let Ok(Some(frame)) = read_frame(&mut stream) else {
            return;
        };
        let length = frame.content.len();
        let mut header = write_header(frame.kind, &frame.tag, length as u64);
        // Bytes that mean nothing are those of the input.
        header[20..24].copy_from_slice(&before[20..24]);
        assert_eq!(header, before[..HEADER_BYTES]);
        assert_eq!(frame.content, before[HEADER_BYTES..HEADER_BYTES + length]);
    }
}

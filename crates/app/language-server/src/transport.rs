//! Messages as bytes: a header with the length, then JSON.

use serde_json::Value;
use std::io::{self, BufRead, Read as _, Write};

/// Bytes of the largest message.
const MAX_LENGTH: usize = 256 << 20;

/// A message, or the reason why its content is no JSON.
pub(crate) type MessageResult = Result<Value, String>;

/// Reads a message. None at the end of the stream.
///
/// # Errors
///
/// The stream fails, or a header is malformed: the next message cannot be found.
pub(crate) fn read_message(input: &mut dyn BufRead) -> io::Result<Option<MessageResult>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if (&mut *input).take(4096).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let (name, value) = line
            .split_once(':')
            .ok_or_else(|| malformed(format!("`{line}` is no header")))?;
        if name.eq_ignore_ascii_case("Content-Length") {
            let value: usize = value
                .trim()
                .parse()
                .map_err(|_| malformed(format!("`{line}` has no length")))?;
            length = Some(value);
        }
    }
    let length = length.ok_or_else(|| malformed("a message has no `Content-Length`".to_owned()))?;
    if length > MAX_LENGTH {
        return Err(malformed(format!(
            "a message of {length} bytes is too long"
        )));
    }
    let mut content = Vec::new();
    input.take(length as u64).read_to_end(&mut content)?;
    if content.len() < length {
        return Err(malformed("the last message is cut off".to_owned()));
    }
    Ok(Some(
        serde_json::from_slice(&content).map_err(|fault| fault.to_string()),
    ))
}

/// Writes a message.
///
/// # Errors
///
/// The stream fails.
pub(crate) fn write_message(output: &mut dyn Write, message: &Value) -> io::Result<()> {
    let content = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{content}", content.len())?;
    output.flush()
}

fn malformed(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn messages_are_read_as_they_are_written() {
        let mut bytes = Vec::new();
        write_message(&mut bytes, &json!({"x": "\u{e6}"})).expect("a vector takes all");
        write_message(&mut bytes, &json!(1)).expect("a vector takes all");
        let mut input = bytes.as_slice();
        let mut read = || read_message(&mut input).expect("the header is right");
        assert_eq!(read(), Some(Ok(json!({"x": "\u{e6}"}))));
        assert_eq!(read(), Some(Ok(json!(1))));
        assert_eq!(read(), None);
    }

    #[test]
    fn malformed_messages_are_errors() {
        let read = |text: &str| read_message(&mut text.as_bytes());
        assert!(matches!(
            read("Content-Length: 2\r\n\r\n{x"),
            Ok(Some(Err(_)))
        ));
        for text in [
            "x\r\n\r\n",
            "Content-Type: x\r\n\r\n{}",
            "Content-Length: -1\r\n\r\n",
            "Content-Length: 9999999999999\r\n\r\n",
            "Content-Length: 9\r\n\r\n{}",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}

//! Lexing: a position in a text, and the tokens at it.
//!
//! MLIR's tokens depend on their context (`2x3xf32` in a shape, anything in the brackets of a
//! dialect's attribute). So the parsers work on bytes. White space and comments are skipped before
//! every token, unless the name of a function says otherwise.

use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_text::hex::read_hex_byte;

/// Results of parsers.
pub(crate) type MlirParseResult<T> = Result<T, Box<SourceDiagnostic>>;

/// Maximum nesting of regions, types, attributes and locations.
const MAX_DEPTH: u32 = 100;

/// A position in a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MlirCursor<'a> {
    pub bytes: &'a [u8],
    pub pos: usize,
    depth: u32,
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.')
}

fn is_suffix(byte: u8) -> bool {
    is_name(byte) || byte == b'-'
}

impl<'a> MlirCursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        MlirCursor {
            bytes,
            pos: 0,
            depth: 0,
        }
    }

    /// The byte at the position; 0 at the end.
    pub fn current_byte(&self) -> u8 {
        self.bytes.get(self.pos).copied().unwrap_or(0)
    }

    /// The byte at a distance from the position; 0 past the end.
    pub fn byte_at_offset(&self, by: usize) -> u8 {
        self.bytes.get(self.pos + by).copied().unwrap_or(0)
    }

    /// Skips white space and comments.
    pub fn skip_trivia(&mut self) {
        loop {
            match self.current_byte() {
                b' ' | b'\t' | b'\r' | b'\n' => self.pos += 1,
                b'/' if self.byte_at_offset(1) == b'/' => self.skip_line(),
                _ => return,
            }
        }
    }

    fn skip_line(&mut self) {
        let rest = &self.bytes[self.pos..];
        self.pos += rest
            .iter()
            .position(|&byte| byte == b'\n')
            .unwrap_or(rest.len());
    }

    /// The start of the next token, after white space.
    pub fn skip_to_start(&mut self) -> usize {
        self.skip_trivia();
        self.pos
    }

    /// The next byte after white space; 0 at the end.
    pub fn peek_byte(&mut self) -> u8 {
        self.skip_trivia();
        self.current_byte()
    }

    pub fn at_end(&mut self) -> bool {
        self.skip_trivia();
        self.pos >= self.bytes.len()
    }

    /// The location from a position up to the current one.
    pub fn location_since(&self, start: usize) -> SourceLocation {
        SourceLocation::from_text_range(start, self.pos.max(start))
    }

    /// An error about the token at the position.
    pub fn report_error<T>(&self, message: impl Into<String>) -> MlirParseResult<T> {
        let end = (self.pos + 1).min(self.bytes.len());
        self.error_at(SourceLocation::from_text_range(self.pos, end), message)
    }

    pub fn error_at<T>(
        &self,
        place: SourceLocation,
        message: impl Into<String>,
    ) -> MlirParseResult<T> {
        Err(Box::new(SourceDiagnostic::error(place, message)))
    }

    /// An error that names the expected token and the one that is there.
    pub fn report_expected<T>(&mut self, what: &str) -> MlirParseResult<T> {
        self.skip_trivia();
        let start = self.pos;
        let mut end = self.clone_end();
        while end < self.bytes.len() && !self.bytes[end].is_ascii() {
            end += 1;
        }
        let found = String::from_utf8_lossy(&self.bytes[start..end]).into_owned();
        let place = SourceLocation::from_text_range(start, end);
        if found.is_empty() {
            self.error_at(
                place,
                format!("expected {what}, found the end of the input"),
            )
        } else {
            self.error_at(place, format!("expected {what}, found `{found}`"))
        }
    }

    fn clone_end(&self) -> usize {
        let rest = &self.bytes[self.pos.min(self.bytes.len())..];
        let word = rest
            .iter()
            .take(40)
            .take_while(|&&byte| is_name(byte))
            .count();
        (self.pos + word.max(1)).min(self.bytes.len())
    }

    /// Consumes this punctuation, if it is next.
    pub fn eat_punctuation(&mut self, punctuation: &str) -> bool {
        self.skip_trivia();
        let found = self.bytes[self.pos..].starts_with(punctuation.as_bytes());
        if found {
            self.pos += punctuation.len();
        }
        found
    }

    /// Consumes this punctuation, or reports an error.
    pub fn expect_punctuation(&mut self, punctuation: &str) -> MlirParseResult<()> {
        if self.eat_punctuation(punctuation) {
            Ok(())
        } else {
            self.report_expected(&format!("`{punctuation}`"))
        }
    }

    /// The next word, which is not consumed; empty if there is none.
    pub fn peek_word(&mut self) -> &'a str {
        self.skip_trivia();
        if !is_name_start(self.current_byte()) {
            return "";
        }
        let rest = &self.bytes[self.pos..];
        let length = rest.iter().take_while(|&&byte| is_name(byte)).count();
        std::str::from_utf8(&rest[..length]).unwrap_or("")
    }

    /// Consumes the next word; empty if there is none.
    pub fn read_word(&mut self) -> &'a str {
        let word = self.peek_word();
        self.pos += word.len();
        word
    }

    /// Consumes this word, if it is next.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        if found {
            self.pos += word.len();
        }
        found
    }

    /// Consumes this word, or reports an error.
    pub fn expect_word(&mut self, word: &str) -> MlirParseResult<()> {
        if self.eat_word(word) {
            Ok(())
        } else {
            self.report_expected(&format!("`{word}`"))
        }
    }

    /// The name after `%`, `^`, `#`, `!` or `@`, directly at the position: digits, or a word that
    /// may contain `-`.
    pub fn read_suffix(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.pos.min(self.bytes.len())..];
        let is_number = self.current_byte().is_ascii_digit();
        let belongs = |byte: u8| {
            if is_number {
                byte.is_ascii_digit()
            } else {
                is_suffix(byte)
            }
        };
        let length = rest.iter().take_while(|&&byte| belongs(byte)).count();
        self.pos += length;
        &rest[..length]
    }

    /// Decimal digits directly at the position as a number.
    pub fn read_digits(&mut self) -> MlirParseResult<u64> {
        let start = self.pos;
        let mut value = Some(0u64);
        while self.current_byte().is_ascii_digit() {
            let digit = u64::from(self.current_byte() - b'0');
            value = value.and_then(|v| v.checked_mul(10)?.checked_add(digit));
            self.pos += 1;
        }
        match value {
            _ if self.pos == start => self.report_expected("a number"),
            Some(value) => Ok(value),
            None => self.error_at(
                self.location_since(start),
                "the number does not fit into 64 bits",
            ),
        }
    }

    /// A decimal number after white space.
    pub fn read_number(&mut self) -> MlirParseResult<u64> {
        self.skip_trivia();
        self.read_digits()
    }

    /// A decimal number, maybe negative.
    pub fn read_signed_number(&mut self) -> MlirParseResult<i64> {
        self.skip_trivia();
        let start = self.pos;
        let negative = self.eat_punctuation("-");
        let magnitude = i128::from(self.read_digits()?);
        let value = if negative { -magnitude } else { magnitude };
        match i64::try_from(value) {
            Ok(value) => Ok(value),
            Err(_) => self.error_at(
                self.location_since(start),
                "the number does not fit into 64 bits",
            ),
        }
    }

    /// A string with its escapes resolved.
    pub fn read_string(&mut self) -> MlirParseResult<Vec<u8>> {
        let raw = self.raw_string()?;
        if !raw.contains(&b'\\') {
            return Ok(raw.to_vec());
        }
        let mut out = Vec::with_capacity(raw.len());
        let mut at = 0;
        while at < raw.len() {
            let (byte, used) = match raw[at] {
                b'\\' => decode_escape(&raw[at + 1..]),
                byte => (Some(byte), 0),
            };
            match byte {
                Some(byte) => out.push(byte),
                None => {
                    let start = self.pos - 1 - raw.len() + at;
                    let place = SourceLocation::from_text_range(start, start + 2);
                    return self.error_at(place, "unknown escape in a string");
                }
            }
            at += 1 + used;
        }
        Ok(out)
    }

    /// The text between the quotes of a string.
    pub fn raw_string(&mut self) -> MlirParseResult<&'a [u8]> {
        let start = self.pos;
        if !self.eat_punctuation("\"") {
            return self.report_expected("a string");
        }
        let first = self.pos;
        loop {
            match self.bytes.get(self.pos) {
                Some(b'"') => break,
                Some(b'\\') => self.pos += 2,
                Some(b'\n') | None => {
                    self.pos = self.pos.min(self.bytes.len());
                    let place = SourceLocation::from_text_range(start, first);
                    return self.error_at(place, "the string has no end");
                }
                Some(_) => self.pos += 1,
            }
        }
        self.pos += 1;
        Ok(&self.bytes[first..self.pos - 1])
    }

    /// Enters one level of nesting; an error if there are too many.
    pub fn enter_nesting(&mut self) -> MlirParseResult<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.report_error(format!("nested more than {MAX_DEPTH} levels deep"))
        } else {
            Ok(())
        }
    }

    /// The reverse of [`MlirCursor::enter_nesting`].
    pub fn leave_nesting(&mut self) {
        self.depth -= 1;
    }
}

/// The byte that an escape means, and the number of its bytes after the backslash.
fn decode_escape(rest: &[u8]) -> (Option<u8>, usize) {
    match rest.first() {
        Some(b'"') => (Some(b'"'), 1),
        Some(b'\\') => (Some(b'\\'), 1),
        Some(b'n') => (Some(b'\n'), 1),
        Some(b't') => (Some(b'\t'), 1),
        _ => match read_hex_byte(rest) {
            Some(byte) => (Some(byte), 2),
            None => (None, 0),
        },
    }
}

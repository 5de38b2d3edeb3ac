//! Lexer: tokens of LLVM assembly.
//!
//! Tokens are ranges of the text; nothing is copied. See LLVM's reference manual, "Lexical
//! elements" and the notes on each construct.

use spirula_diagnostics::SourceLocation;
use spirula_text::hex::read_hex_byte;
use std::borrow::Cow;

/// Kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LlvmTokenKind {
    /// The end of the text.
    End,
    /// A keyword or bare name: letters, digits and `-$._`.
    Word,
    /// A word, number or string that is followed by a colon: a label, or the name of a field.
    Label,
    /// `%name`, `%"name"` or `%7`
    Local,
    /// `@name`, `@"name"` or `@7`
    Global,
    /// `$name` or `$"name"`
    Comdat,
    /// `!name`
    MetadataName,
    /// `!7`
    MetadataNumber,
    /// `#7`
    AttributeGroup,
    /// `#word`
    HashWord,
    /// A decimal integer, maybe with a sign.
    Integer,
    /// Any other number.
    Number,
    /// `"text"`
    String,
    /// `c"text"`
    Data,
    /// `...`
    Ellipsis,
    /// A single character.
    Punct(u8),
    /// A string without an end, or a byte that no token can begin with.
    Bad,
}

/// A token and its position.
#[derive(Clone, Copy, Debug)]
pub struct LlvmToken {
    /// The kind of token.
    pub kind: LlvmTokenKind,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl LlvmToken {
    /// Its source location.
    pub fn place(self) -> SourceLocation {
        SourceLocation::from_text_range(self.start, self.end)
    }
}

/// Cuts a text into tokens.
#[derive(Clone, Copy, Debug)]
pub struct LlvmLexer<'a> {
    bytes: &'a [u8],
    pos: usize,
}

/// Numbers below zero that are written in letters.
const SPECIAL: &[&[u8]] = &[b"-inf", b"-qnan", b"-nan", b"-snan"];

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'$' | b'.' | b'_')
}

impl<'a> LlvmLexer<'a> {
    /// A lexer that starts at a byte position.
    pub fn new(bytes: &'a [u8], pos: usize) -> Self {
        LlvmLexer { bytes, pos }
    }

    fn peek_byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.pos + ahead).copied().unwrap_or(0)
    }

    /// The bytes of a token.
    pub fn bytes_of(&self, token: LlvmToken) -> &'a [u8] {
        &self.bytes[token.start..token.end]
    }

    /// The next token.
    pub fn next_token(&mut self) -> LlvmToken {
        self.skip_space();
        let start = self.pos;
        let kind = self.scan_token();
        LlvmToken {
            kind,
            start,
            end: self.pos,
        }
    }

    fn skip_space(&mut self) {
        loop {
            match self.peek_byte(0) {
                b' ' | b'\t' | b'\r' | b'\n' => self.pos += 1,
                b';' => self.skip_line(),
                b'/' if self.peek_byte(1) == b'*' => self.skip_comment(),
                0 if self.pos < self.bytes.len() => self.pos += 1,
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

    fn skip_comment(&mut self) {
        let rest = &self.bytes[self.pos + 2..];
        let end = rest
            .windows(2)
            .position(|pair| pair == b"*/")
            .map(|at| at + 2);
        self.pos += 2 + end.unwrap_or(rest.len());
    }

    fn scan_token(&mut self) -> LlvmTokenKind {
        if self.pos >= self.bytes.len() {
            return LlvmTokenKind::End;
        }
        match self.peek_byte(0) {
            b'%' => self.scan_sigil(LlvmTokenKind::Local),
            b'@' => self.scan_sigil(LlvmTokenKind::Global),
            b'"' => match self.scan_string() {
                LlvmTokenKind::String => self.label_or(LlvmTokenKind::String),
                other => other,
            },
            b'c' if self.peek_byte(1) == b'"' => {
                self.pos += 1;
                match self.scan_string() {
                    LlvmTokenKind::String => LlvmTokenKind::Data,
                    other => other,
                }
            }
            b'!' => self.scan_bang(),
            b'#' => self.scan_hash(),
            b'.' if self.peek_byte(1) == b'.' && self.peek_byte(2) == b'.' => {
                self.pos += 3;
                LlvmTokenKind::Ellipsis
            }
            b'$' => self.scan_dollar(),
            b'0'..=b'9' | b'+' => self.scan_number(),
            b'-' if self.peek_byte(1).is_ascii_digit() => self.scan_number(),
            byte if is_word(byte) => self.scan_word(),
            byte if byte.is_ascii_graphic() => {
                self.pos += 1;
                LlvmTokenKind::Punct(byte)
            }
            _ => {
                self.pos += 1;
                LlvmTokenKind::Bad
            }
        }
    }

    /// Scans a word, or a number that looks like a word, such as `s0x1F`.
    fn scan_word(&mut self) -> LlvmTokenKind {
        let start = self.pos;
        self.skip_word();
        let word = &self.bytes[start..self.pos];
        let hex = [&b"u0x"[..], b"s0x", b"f0x"]
            .iter()
            .any(|prefix| word.starts_with(prefix));
        let special = SPECIAL.contains(&word);
        match self.label_or(LlvmTokenKind::Word) {
            LlvmTokenKind::Word if hex || special => LlvmTokenKind::Number,
            kind => kind,
        }
    }

    fn skip_word(&mut self) {
        while is_word(self.peek_byte(0)) {
            self.pos += 1;
        }
    }

    fn label_or(&mut self, kind: LlvmTokenKind) -> LlvmTokenKind {
        if self.peek_byte(0) == b':' {
            self.pos += 1;
            return LlvmTokenKind::Label;
        }
        kind
    }

    fn scan_sigil(&mut self, kind: LlvmTokenKind) -> LlvmTokenKind {
        self.pos += 1;
        match self.peek_byte(0) {
            b'"' => match self.scan_string() {
                LlvmTokenKind::String => kind,
                other => other,
            },
            byte if is_word(byte) => {
                self.skip_word();
                kind
            }
            _ => LlvmTokenKind::Bad,
        }
    }

    /// Scans `$name`, or a label that begins with `$`.
    fn scan_dollar(&mut self) -> LlvmTokenKind {
        self.pos += 1;
        if self.peek_byte(0) == b'"' {
            return match self.scan_string() {
                LlvmTokenKind::String => LlvmTokenKind::Comdat,
                other => other,
            };
        }
        self.skip_word();
        self.label_or(LlvmTokenKind::Comdat)
    }

    /// Scans a string. Quotes inside are escaped as `\22`, so the first quote ends it.
    fn scan_string(&mut self) -> LlvmTokenKind {
        let rest = &self.bytes[self.pos + 1..];
        match rest.iter().position(|&byte| byte == b'"') {
            Some(len) => {
                self.pos += len + 2;
                LlvmTokenKind::String
            }
            None => {
                self.pos = self.bytes.len();
                LlvmTokenKind::Bad
            }
        }
    }

    fn scan_bang(&mut self) -> LlvmTokenKind {
        self.pos += 1;
        match self.peek_byte(0) {
            b'0'..=b'9' => {
                while self.peek_byte(0).is_ascii_digit() {
                    self.pos += 1;
                }
                LlvmTokenKind::MetadataNumber
            }
            byte if is_word(byte) || byte == b'\\' => {
                while is_word(self.peek_byte(0)) || self.peek_byte(0) == b'\\' {
                    self.pos += 1;
                }
                LlvmTokenKind::MetadataName
            }
            _ => LlvmTokenKind::Punct(b'!'),
        }
    }

    fn scan_hash(&mut self) -> LlvmTokenKind {
        self.pos += 1;
        let digits = self.peek_byte(0).is_ascii_digit();
        let start = self.pos;
        self.skip_word();
        match digits {
            _ if self.pos == start => LlvmTokenKind::Bad,
            true => LlvmTokenKind::AttributeGroup,
            false => LlvmTokenKind::HashWord,
        }
    }

    fn scan_number(&mut self) -> LlvmTokenKind {
        if matches!(self.peek_byte(0), b'-' | b'+') {
            self.pos += 1;
        }
        let digits = self.pos;
        while self.peek_byte(0).is_ascii_digit() {
            self.pos += 1;
        }
        if digits == self.pos {
            self.skip_word();
            return if self.pos > digits {
                LlvmTokenKind::Number
            } else {
                LlvmTokenKind::Bad
            };
        }
        let mut kind = LlvmTokenKind::Integer;
        if self.peek_byte(0) == b'.' {
            kind = LlvmTokenKind::Number;
            self.pos += 1;
            while self.peek_byte(0).is_ascii_digit() {
                self.pos += 1;
            }
            let sign = usize::from(matches!(self.peek_byte(1), b'-' | b'+'));
            if matches!(self.peek_byte(0), b'e' | b'E') && self.peek_byte(1 + sign).is_ascii_digit()
            {
                self.pos += 2 + sign;
                while self.peek_byte(0).is_ascii_digit() {
                    self.pos += 1;
                }
            }
        }
        if is_word(self.peek_byte(0)) {
            // `0x…`, or a label that begins with digits.
            self.skip_word();
            let hex = self.bytes[digits..].starts_with(b"0x");
            if hex && self.peek_byte(0) == b'+' && matches!(self.bytes[self.pos - 1], b'p' | b'P') {
                self.pos += 1;
                self.skip_word();
            }
            return match self.label_or(LlvmTokenKind::Number) {
                LlvmTokenKind::Number if !hex => LlvmTokenKind::Word,
                kind => kind,
            };
        }
        if kind == LlvmTokenKind::Integer {
            self.label_or(kind)
        } else {
            kind
        }
    }
}

/// The text between quotes with its escapes resolved: `\\`, and `\` followed by two hexadecimal
/// digits.
pub fn unescape_string(quoted: &[u8]) -> Cow<'_, [u8]> {
    if !quoted.contains(&b'\\') {
        return Cow::Borrowed(quoted);
    }
    let mut out = Vec::with_capacity(quoted.len());
    let mut at = 0;
    while at < quoted.len() {
        let escaped = quoted[at..].strip_prefix(b"\\");
        let (byte, length) = match escaped.and_then(read_hex_byte) {
            Some(byte) => (byte, 3),
            None if escaped.is_some_and(|rest| rest.starts_with(b"\\")) => (b'\\', 2),
            None => (quoted[at], 1),
        };
        out.push(byte);
        at += length;
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lex_kinds(text: &str) -> Vec<(LlvmTokenKind, &str)> {
        let mut lexer = LlvmLexer::new(text.as_bytes(), 0);
        let mut all = Vec::new();
        loop {
            let token = lexer.next_token();
            if token.kind == LlvmTokenKind::End {
                return all;
            }
            all.push((token.kind, &text[token.start..token.end]));
        }
    }

    #[test]
    fn names_numbers_and_labels() {
        let text =
            "%a %\"b c\" @7 !12 !foo !{ #3 #dbg_value -4 1.5e+3 0xH3C00 entry: 5: \"q\": ...";
        let expected = [
            (LlvmTokenKind::Local, "%a"),
            (LlvmTokenKind::Local, "%\"b c\""),
            (LlvmTokenKind::Global, "@7"),
            (LlvmTokenKind::MetadataNumber, "!12"),
            (LlvmTokenKind::MetadataName, "!foo"),
            (LlvmTokenKind::Punct(b'!'), "!"),
            (LlvmTokenKind::Punct(b'{'), "{"),
            (LlvmTokenKind::AttributeGroup, "#3"),
            (LlvmTokenKind::HashWord, "#dbg_value"),
            (LlvmTokenKind::Integer, "-4"),
            (LlvmTokenKind::Number, "1.5e+3"),
            (LlvmTokenKind::Number, "0xH3C00"),
            (LlvmTokenKind::Label, "entry:"),
            (LlvmTokenKind::Label, "5:"),
            (LlvmTokenKind::Label, "\"q\":"),
            (LlvmTokenKind::Ellipsis, "..."),
        ];
        assert_eq!(lex_kinds(text), expected);
    }

    #[test]
    fn comments_and_strings_without_end() {
        assert_eq!(
            lex_kinds("a ; b\nc"),
            [(LlvmTokenKind::Word, "a"), (LlvmTokenKind::Word, "c")]
        );
        assert_eq!(lex_kinds("\"abc"), [(LlvmTokenKind::Bad, "\"abc")]);
    }

    #[test]
    fn escapes() {
        assert_eq!(&*unescape_string(b"a\\22b\\\\c\\zz"), b"a\"b\\c\\zz");
    }
}

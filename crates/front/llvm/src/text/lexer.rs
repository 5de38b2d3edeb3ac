//! Tokens of LLVM assembly.
//!
//! Tokens are ranges of the text; nothing is copied. See LLVM's reference manual, "Lexical
//! elements" and the notes on each construct.

use spirula_diagnostics::SourceLocation;
use std::borrow::Cow;

/// Kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The end of the text.
    End,
    /// A keyword, or a bare name: letters, digits and `-$._`.
    Word,
    /// A word, number or string with a colon behind it: a label, or the name of a field.
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
    /// A string without an end, or a byte that begins no token.
    Bad,
}

/// A token and where it is.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Token {
    /// Its place.
    pub fn place(self) -> SourceLocation {
        SourceLocation::text(self.start, self.end)
    }
}

/// Cuts a text into tokens.
#[derive(Clone, Copy, Debug)]
pub struct Lexer<'a> {
    bytes: &'a [u8],
    pos: usize,
}

/// Numbers below zero that are written in letters.
const SPECIAL: &[&[u8]] = &[b"-inf", b"-qnan", b"-nan", b"-snan"];

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'$' | b'.' | b'_')
}

impl<'a> Lexer<'a> {
    /// A lexer that begins at a byte.
    pub fn new(bytes: &'a [u8], pos: usize) -> Self {
        Lexer { bytes, pos }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.pos + ahead).copied().unwrap_or(0)
    }

    /// The bytes of a token.
    pub fn bytes_of(&self, token: Token) -> &'a [u8] {
        &self.bytes[token.start..token.end]
    }

    /// The next token.
    pub fn next(&mut self) -> Token {
        self.skip_space();
        let start = self.pos;
        let kind = self.scan();
        Token {
            kind,
            start,
            end: self.pos,
        }
    }

    fn skip_space(&mut self) {
        loop {
            match self.peek(0) {
                b' ' | b'\t' | b'\r' | b'\n' => self.pos += 1,
                b';' => self.skip_line(),
                b'/' if self.peek(1) == b'*' => self.skip_comment(),
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

    fn scan(&mut self) -> Kind {
        if self.pos >= self.bytes.len() {
            return Kind::End;
        }
        match self.peek(0) {
            b'%' => self.sigil(Kind::Local),
            b'@' => self.sigil(Kind::Global),
            b'"' => match self.string() {
                Kind::String => self.label_or(Kind::String),
                other => other,
            },
            b'c' if self.peek(1) == b'"' => {
                self.pos += 1;
                match self.string() {
                    Kind::String => Kind::Data,
                    other => other,
                }
            }
            b'!' => self.bang(),
            b'#' => self.hash(),
            b'.' if self.peek(1) == b'.' && self.peek(2) == b'.' => {
                self.pos += 3;
                Kind::Ellipsis
            }
            b'$' => self.dollar(),
            b'0'..=b'9' | b'+' => self.number(),
            b'-' if self.peek(1).is_ascii_digit() => self.number(),
            byte if is_word(byte) => self.word(),
            byte if byte.is_ascii_graphic() => {
                self.pos += 1;
                Kind::Punct(byte)
            }
            _ => {
                self.pos += 1;
                Kind::Bad
            }
        }
    }

    /// A word from here on, or a number such as `s0x1F` that looks like one.
    fn word(&mut self) -> Kind {
        let start = self.pos;
        self.skip_word();
        let word = &self.bytes[start..self.pos];
        let hex = [&b"u0x"[..], b"s0x", b"f0x"]
            .iter()
            .any(|prefix| word.starts_with(prefix));
        let special = SPECIAL.contains(&word);
        match self.label_or(Kind::Word) {
            Kind::Word if hex || special => Kind::Number,
            kind => kind,
        }
    }

    fn skip_word(&mut self) {
        while is_word(self.peek(0)) {
            self.pos += 1;
        }
    }

    fn label_or(&mut self, kind: Kind) -> Kind {
        if self.peek(0) == b':' {
            self.pos += 1;
            return Kind::Label;
        }
        kind
    }

    fn sigil(&mut self, kind: Kind) -> Kind {
        self.pos += 1;
        match self.peek(0) {
            b'"' => match self.string() {
                Kind::String => kind,
                other => other,
            },
            byte if is_word(byte) => {
                self.skip_word();
                kind
            }
            _ => Kind::Bad,
        }
    }

    /// `$name`; but a label may begin with `$`, too.
    fn dollar(&mut self) -> Kind {
        self.pos += 1;
        if self.peek(0) == b'"' {
            return match self.string() {
                Kind::String => Kind::Comdat,
                other => other,
            };
        }
        self.skip_word();
        self.label_or(Kind::Comdat)
    }

    /// A string; quotes within are written as `\22`, so the first one ends it.
    fn string(&mut self) -> Kind {
        let rest = &self.bytes[self.pos + 1..];
        match rest.iter().position(|&byte| byte == b'"') {
            Some(len) => {
                self.pos += len + 2;
                Kind::String
            }
            None => {
                self.pos = self.bytes.len();
                Kind::Bad
            }
        }
    }

    fn bang(&mut self) -> Kind {
        self.pos += 1;
        match self.peek(0) {
            b'0'..=b'9' => {
                while self.peek(0).is_ascii_digit() {
                    self.pos += 1;
                }
                Kind::MetadataNumber
            }
            byte if is_word(byte) || byte == b'\\' => {
                while is_word(self.peek(0)) || self.peek(0) == b'\\' {
                    self.pos += 1;
                }
                Kind::MetadataName
            }
            _ => Kind::Punct(b'!'),
        }
    }

    fn hash(&mut self) -> Kind {
        self.pos += 1;
        let digits = self.peek(0).is_ascii_digit();
        let start = self.pos;
        self.skip_word();
        match digits {
            _ if self.pos == start => Kind::Bad,
            true => Kind::AttributeGroup,
            false => Kind::HashWord,
        }
    }

    fn number(&mut self) -> Kind {
        if matches!(self.peek(0), b'-' | b'+') {
            self.pos += 1;
        }
        let digits = self.pos;
        while self.peek(0).is_ascii_digit() {
            self.pos += 1;
        }
        if digits == self.pos {
            self.skip_word();
            return match self.pos > digits {
                true => Kind::Number,
                false => Kind::Bad,
            };
        }
        let mut kind = Kind::Integer;
        if self.peek(0) == b'.' {
            kind = Kind::Number;
            self.pos += 1;
            while self.peek(0).is_ascii_digit() {
                self.pos += 1;
            }
            let sign = usize::from(matches!(self.peek(1), b'-' | b'+'));
            if matches!(self.peek(0), b'e' | b'E') && self.peek(1 + sign).is_ascii_digit() {
                self.pos += 2 + sign;
                while self.peek(0).is_ascii_digit() {
                    self.pos += 1;
                }
            }
        }
        if is_word(self.peek(0)) {
            // `0x…`, or a label that begins with digits.
            self.skip_word();
            let hex = self.bytes[digits..].starts_with(b"0x");
            if hex && self.peek(0) == b'+' && matches!(self.bytes[self.pos - 1], b'p' | b'P') {
                self.pos += 1;
                self.skip_word();
            }
            return match self.label_or(Kind::Number) {
                Kind::Number if !hex => Kind::Word,
                kind => kind,
            };
        }
        if kind == Kind::Integer {
            self.label_or(kind)
        } else {
            kind
        }
    }
}

/// The text between quotes with its escapes resolved: `\\` and `\` with two hexadecimal digits.
pub fn unescape(quoted: &[u8]) -> Cow<'_, [u8]> {
    if !quoted.contains(&b'\\') {
        return Cow::Borrowed(quoted);
    }
    let digit = |at: usize| quoted.get(at).and_then(|&byte| (byte as char).to_digit(16));
    let mut out = Vec::with_capacity(quoted.len());
    let mut at = 0;
    while at < quoted.len() {
        match (quoted[at], digit(at + 1), digit(at + 2)) {
            (b'\\', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            (b'\\', ..) if quoted.get(at + 1) == Some(&b'\\') => {
                out.push(b'\\');
                at += 2;
            }
            (byte, ..) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        let mut lexer = Lexer::new(text.as_bytes(), 0);
        let mut all = Vec::new();
        loop {
            let token = lexer.next();
            if token.kind == Kind::End {
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
            (Kind::Local, "%a"),
            (Kind::Local, "%\"b c\""),
            (Kind::Global, "@7"),
            (Kind::MetadataNumber, "!12"),
            (Kind::MetadataName, "!foo"),
            (Kind::Punct(b'!'), "!"),
            (Kind::Punct(b'{'), "{"),
            (Kind::AttributeGroup, "#3"),
            (Kind::HashWord, "#dbg_value"),
            (Kind::Integer, "-4"),
            (Kind::Number, "1.5e+3"),
            (Kind::Number, "0xH3C00"),
            (Kind::Label, "entry:"),
            (Kind::Label, "5:"),
            (Kind::Label, "\"q\":"),
            (Kind::Ellipsis, "..."),
        ];
        assert_eq!(kinds(text), expected);
    }

    #[test]
    fn comments_and_strings_without_end() {
        assert_eq!(kinds("a ; b\nc"), [(Kind::Word, "a"), (Kind::Word, "c")]);
        assert_eq!(kinds("\"abc"), [(Kind::Bad, "\"abc")]);
    }

    #[test]
    fn escapes() {
        assert_eq!(&*unescape(b"a\\22b\\\\c\\zz"), b"a\"b\\c\\zz");
    }
}

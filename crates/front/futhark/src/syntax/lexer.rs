//! Lexer: cuts Futhark source into tokens.
//!
//! The rules are those of the language reference of Futhark 0.28. Of several tokens that fit, the longest is taken.
//! Line comments are kept apart, for the formatter.

use super::token::{PunctuationMark, ReservedWord, SourceToken, TextRange, TokenKind};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// The tokens of a file, without its comments.
#[derive(Debug, Default)]
pub struct TokenList {
    /// The tokens in order. The last one is [`TokenKind::End`].
    pub tokens: Vec<SourceToken>,
    /// The line comments in order, each from its dashes to the end of the line.
    pub comments: Vec<TextRange>,
}

/// Cuts a text into tokens.
///
/// # Errors
///
/// A character that begins no token, or a literal without its end, with its place.
pub fn read_tokens(text: &str) -> Result<TokenList, SourceDiagnostic> {
    if u32::try_from(text.len()).is_err() {
        return Err(SourceDiagnostic::error(
            SourceLocation::Unknown,
            "the file is larger than 4 GiB",
        ));
    }
    let mut lexer = SourceLexer {
        text,
        bytes: text.as_bytes(),
        at: 0,
        list: TokenList::default(),
    };
    while lexer.read_token()? {}
    Ok(lexer.list)
}

/// State of the lexer: a position in the text, and what was read so far.
struct SourceLexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    list: TokenList,
}

/// Whether a byte may be inside a name.
fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'\''
}

/// Whether a byte may begin an operator.
fn is_operator_start(byte: u8) -> bool {
    b"+-*/%=!><|&^".contains(&byte)
}

/// Whether a byte may be inside an operator.
fn is_operator_byte(byte: u8) -> bool {
    is_operator_start(byte) || byte == b'.'
}

impl SourceLexer<'_> {
    /// The byte `ahead` bytes further on, or zero after the end.
    fn peek_byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// The number of bytes from `ahead` on for which `test` holds.
    fn count_bytes(&self, ahead: usize, test: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes.get(self.at + ahead..).unwrap_or_default();
        rest.iter().take_while(|&&byte| test(byte)).count()
    }

    /// Adds a token of `length` bytes, and passes it.
    fn push_token(&mut self, kind: TokenKind, length: usize) {
        let range = self.range_of(length);
        self.list.tokens.push(SourceToken { kind, range });
        self.at += length;
    }

    /// The next `length` bytes as a range.
    fn range_of(&self, length: usize) -> TextRange {
        TextRange {
            start: self.at as u32,
            end: (self.at + length) as u32,
        }
    }

    /// An error about the next `length` bytes.
    fn fail_at(&self, length: usize, message: &str) -> SourceDiagnostic {
        SourceDiagnostic::error(
            SourceLocation::from_text_range(self.at, self.at + length),
            message,
        )
    }

    /// Reads one token or comment. False at the end of the text.
    fn read_token(&mut self) -> Result<bool, SourceDiagnostic> {
        self.at += self.count_bytes(0, |byte| byte.is_ascii_whitespace() || byte == 0x0b);
        let byte = self.peek_byte(0);
        if self.at == self.bytes.len() {
            self.push_token(TokenKind::End, 0);
            return Ok(false);
        }
        if self.bytes[self.at..].starts_with(b"--") {
            self.read_comment();
        } else if byte.is_ascii_digit() {
            self.read_number();
        } else if byte == b'\'' && self.read_character() {
        } else if byte == b'"' {
            self.read_string()?;
        } else if byte.is_ascii_alphabetic()
            || (byte == b'_' && self.peek_byte(1).is_ascii_alphanumeric())
        {
            self.read_name();
        } else if byte == b'#'
            && (self.peek_byte(1).is_ascii_alphabetic() || self.peek_byte(1) == b'_')
        {
            let length = 1 + self.count_bytes(1, is_name_byte);
            self.push_token(TokenKind::Constructor, length);
        } else {
            self.read_operator_or_mark()?;
        }
        Ok(true)
    }

    /// A line comment, or a block of them that is documentation.
    fn read_comment(&mut self) {
        let is_documentation = self.bytes[self.at..].starts_with(b"-- |");
        let start = self.at;
        loop {
            let length = self.count_bytes(0, |byte| byte != b'\n');
            self.list.comments.push(self.range_of(length));
            self.at += length;
            let indent = self.count_bytes(1, |byte| matches!(byte, b' ' | b'\t'));
            let next = self.at + 1 + indent;
            let continues = self
                .bytes
                .get(next..)
                .is_some_and(|rest| rest.starts_with(b"--"));
            if !is_documentation || !continues {
                break;
            }
            self.at = next;
        }
        if is_documentation {
            let range = TextRange {
                start: start as u32,
                end: self.at as u32,
            };
            self.list.tokens.push(SourceToken {
                kind: TokenKind::Documentation,
                range,
            });
        }
    }

    /// A number with its suffix. After a dot it is the number of a field, which has no fraction.
    fn read_number(&mut self) {
        let digits = |from: usize, test: fn(u8) -> bool| {
            self.count_bytes(from, |byte| test(byte) || byte == b'_')
        };
        let is_field = self.at > 0 && self.bytes[self.at - 1] == b'.';
        let is_digit = |byte: u8| byte.is_ascii_digit();
        let radix = match (self.peek_byte(0), self.peek_byte(1).to_ascii_lowercase()) {
            (b'0', b'x') if self.peek_byte(2).is_ascii_hexdigit() => b'x',
            (b'0', b'b') if matches!(self.peek_byte(2), b'0' | b'1') => b'b',
            (b'0', b'r') if b"IVXLCDM".contains(&self.peek_byte(2)) => b'r',
            _ => b'd',
        };
        let mut is_float = false;
        let mut length = match radix {
            b'x' => 2 + digits(2, |byte| byte.is_ascii_hexdigit()),
            b'b' => 2 + digits(2, |byte| matches!(byte, b'0' | b'1')),
            b'r' => 2 + digits(2, |byte| b"IVXLCDM".contains(&byte)),
            _ => digits(0, is_digit),
        };
        if radix == b'x'
            && self.peek_byte(length) == b'.'
            && self.peek_byte(length + 1).is_ascii_hexdigit()
        {
            let end = length + 1 + digits(length + 1, |byte| byte.is_ascii_hexdigit());
            let exponent = self.count_exponent(end, b'p');
            if exponent > 0 {
                is_float = true;
                length = end + exponent;
            }
        }
        if radix == b'd' && !is_field {
            if self.peek_byte(length) == b'.' && self.peek_byte(length + 1).is_ascii_digit() {
                is_float = true;
                length += 1 + digits(length + 1, is_digit);
            }
            let exponent = self.count_exponent(length, b'e');
            is_float |= exponent > 0;
            length += exponent;
        }
        length += self.count_suffix(length);
        let kind = if is_float {
            TokenKind::Float
        } else {
            TokenKind::Integer
        };
        self.push_token(kind, length);
    }

    /// The length of an exponent that begins with `letter`, or zero.
    fn count_exponent(&self, from: usize, letter: u8) -> usize {
        if self.peek_byte(from).to_ascii_lowercase() != letter {
            return 0;
        }
        let sign = usize::from(matches!(self.peek_byte(from + 1), b'+' | b'-'));
        let is_digit = |byte: u8| byte.is_ascii_digit() || (letter == b'p' && byte == b'_');
        let digits = self.count_bytes(from + 1 + sign, is_digit);
        if digits == 0 { 0 } else { 1 + sign + digits }
    }

    /// The length of the suffix of a number, such as `i32` or `f64`, or zero.
    fn count_suffix(&self, from: usize) -> usize {
        const SUFFIXES: &[&str] = &[
            "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64",
        ];
        let rest = self.bytes.get(self.at + from..).unwrap_or_default();
        SUFFIXES
            .iter()
            .filter(|suffix| rest.starts_with(suffix.as_bytes()))
            .map(|suffix| suffix.len())
            .max()
            .unwrap_or(0)
    }

    /// A character literal. False, with nothing read, if the quote begins no literal.
    fn read_character(&mut self) -> bool {
        let rest = &self.text[self.at + 1..];
        let mut characters = rest.char_indices();
        let Some((_, first)) = characters.next() else {
            return false;
        };
        let length = match first {
            '\'' | '\n' => return false,
            '\\' => match rest[1..].bytes().take_while(u8::is_ascii_digit).count() {
                0 => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
                digits => 1 + digits,
            },
            other => other.len_utf8(),
        };
        if rest.as_bytes().get(length) != Some(&b'\'') {
            return false;
        }
        self.push_token(TokenKind::Character, length + 2);
        true
    }

    /// A string literal.
    fn read_string(&mut self) -> Result<(), SourceDiagnostic> {
        let mut length = 1;
        loop {
            match self.peek_byte(length) {
                b'"' => break,
                b'\\' => length += 2,
                b'\n' => return Err(self.fail_at(length, "the string does not end on its line")),
                0 if self.at + length >= self.bytes.len() => {
                    return Err(self.fail_at(1, "the string has no end"));
                }
                _ => length += 1,
            }
        }
        self.push_token(TokenKind::String, length + 1);
        Ok(())
    }

    /// A keyword, a name, or an operator that is qualified by names.
    fn read_name(&mut self) {
        let length = self.count_bytes(0, is_name_byte);
        if let Some(length) = self.count_qualified_operator(length) {
            self.push_token(TokenKind::Operator, length);
            return;
        }
        let word = &self.text[self.at..self.at + length];
        let keyword = ReservedWord::ALL
            .iter()
            .find(|keyword| keyword.spelling() == word);
        let kind = keyword.map_or(TokenKind::Name, |&keyword| TokenKind::Keyword(keyword));
        self.push_token(kind, length);
    }

    /// The length of an operator with the modules in front of it, if the names from here lead to one.
    fn count_qualified_operator(&self, first: usize) -> Option<usize> {
        let mut end = first;
        while self.peek_byte(end) == b'.' {
            let next = self.peek_byte(end + 1);
            if is_operator_start(next) {
                return Some(end + 1 + self.count_bytes(end + 1, is_operator_byte));
            }
            if !next.is_ascii_alphabetic() && next != b'_' {
                return None;
            }
            end += 1 + self.count_bytes(end + 1, is_name_byte);
        }
        None
    }

    /// An operator or a punctuation mark, whichever is longer.
    fn read_operator_or_mark(&mut self) -> Result<(), SourceDiagnostic> {
        let rest = &self.bytes[self.at..];
        let operator = if is_operator_start(rest[0]) {
            self.count_bytes(0, is_operator_byte)
        } else {
            0
        };
        let mark = PunctuationMark::ALL
            .iter()
            .find(|mark| rest.starts_with(mark.spelling().as_bytes()));
        if let Some(&mark) = mark
            && mark.spelling().len() >= operator
        {
            self.push_token(TokenKind::Mark(mark), mark.spelling().len());
            return Ok(());
        }
        if operator == 0 {
            let length = self.text[self.at..]
                .chars()
                .next()
                .map_or(1, char::len_utf8);
            return Err(self.fail_at(length, "no token begins with this character"));
        }
        let kind = match &rest[..operator] {
            b"-" => TokenKind::Minus,
            b"!" => TokenKind::Bang,
            _ => TokenKind::Operator,
        };
        self.push_token(kind, operator);
        Ok(())
    }
}

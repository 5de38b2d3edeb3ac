//! Cursor over the text: blanks, words, numbers, strings and marks.

use super::{location, text_place};
use crate::TritonResult;
use spirula_diagnostics::SourceDiagnostic;
use spirula_text::hex::read_hex_byte;

/// A place in a text, which moves forward.
#[derive(Clone, Debug)]
pub(super) struct TextCursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> TextCursor<'a> {
    /// The beginning of a text.
    pub fn new(text: &'a str) -> Self {
        TextCursor { text, at: 0 }
    }

    /// Offset of the next byte.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// The rest of the text.
    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// A fault here.
    pub fn fault(&self, message: impl Into<String>) -> SourceDiagnostic {
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        SourceDiagnostic::error(text_place(self.at, self.at + length), message)
    }

    /// Skips blanks and comments.
    pub fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with("//") {
                return;
            }
            self.skip_line();
        }
    }

    fn skip_line(&mut self) {
        let rest = self.rest();
        self.at += rest.find('\n').unwrap_or(rest.len());
    }

    /// Skips definitions of aliases, each of which is a line.
    pub fn skip_aliases(&mut self) -> TritonResult<()> {
        loop {
            self.skip_blanks();
            if self.rest().starts_with('#') {
                self.skip_line();
            } else {
                return Ok(());
            }
        }
    }

    /// Whether nothing but blanks follows.
    pub fn is_at_end(&mut self) -> bool {
        self.skip_blanks();
        self.rest().is_empty()
    }

    /// The next character that is no blank.
    pub fn peek_char(&mut self) -> Option<char> {
        self.skip_blanks();
        self.rest().chars().next()
    }

    /// Whether a text follows.
    pub fn peek(&mut self, text: &str) -> bool {
        self.skip_blanks();
        self.rest().starts_with(text)
    }

    /// Takes a text if it follows.
    pub fn eat(&mut self, text: &str) -> bool {
        let follows = self.peek(text);
        if follows {
            self.at += text.len();
        }
        follows
    }

    /// Takes a text that must follow.
    pub fn expect(&mut self, text: &str) -> TritonResult<()> {
        if self.eat(text) {
            return Ok(());
        }
        Err(self.fault(format!("expected `{text}`")))
    }

    /// Takes a word if it follows as a whole.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let mut ahead = self.clone();
        if ahead.read_word().as_deref() == Some(word) {
            self.at = ahead.at;
            return true;
        }
        false
    }

    /// Takes characters while they are of a kind.
    pub fn take_while(&mut self, is_taken: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !is_taken(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Takes a word of letters, digits, underlines and points.
    pub fn read_word(&mut self) -> Option<String> {
        self.skip_blanks();
        let first = self.rest().chars().next()?;
        if !(first.is_ascii_alphabetic() || first == '_') {
            return None;
        }
        Some(self.take_while(is_word_char).to_owned())
    }

    /// Takes a word that must follow.
    pub fn expect_word(&mut self) -> TritonResult<String> {
        self.read_word()
            .ok_or_else(|| self.fault("expected a word"))
    }

    /// Takes the name after a mark such as `%`, which must follow.
    pub fn read_marked(&mut self, mark: &str) -> TritonResult<&'a str> {
        self.expect(mark)?;
        let name = self.take_while(|c| is_word_char(c) || c == '$' || c == '-');
        if name.is_empty() {
            return Err(self.fault("expected a name"));
        }
        Ok(name)
    }

    /// Takes a symbol: `@name` or `@"name"`.
    pub fn read_symbol(&mut self) -> TritonResult<String> {
        self.expect("@")?;
        if self.rest().starts_with('"') {
            return self.read_string();
        }
        let name = self.take_while(|c| is_word_char(c) || c == '$' || c == '-');
        if name.is_empty() {
            return Err(self.fault("expected the name of a symbol"));
        }
        Ok(name.to_owned())
    }

    /// Takes a string in quotes. Escapes are two hexadecimal digits, or a character of their own.
    pub fn read_string(&mut self) -> TritonResult<String> {
        self.expect("\"")?;
        let mut bytes = Vec::new();
        loop {
            let mut chars = self.rest().chars();
            let Some(next) = chars.next() else {
                return Err(self.fault("the string does not end"));
            };
            self.at += next.len_utf8();
            match next {
                '"' => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
                '\\' => bytes.push(self.read_escape()?),
                _ => bytes.extend(next.encode_utf8(&mut [0; 4]).bytes()),
            }
        }
    }

    fn read_escape(&mut self) -> TritonResult<u8> {
        let rest = self.rest();
        if let Some(byte) = read_hex_byte(rest.as_bytes()) {
            self.at += 2;
            return Ok(byte);
        }
        let Some(escaped) = rest.chars().next().filter(char::is_ascii) else {
            return Err(self.fault("unknown escape in a string"));
        };
        self.at += 1;
        Ok(match escaped {
            'n' => b'\n',
            't' => b'\t',
            other => other as u8,
        })
    }

    /// Takes the location after an operation or an argument, and resolves it.
    pub fn read_place(
        &mut self,
        start: usize,
        places: &location::LocationTable,
    ) -> TritonResult<crate::ir::OperationPlace> {
        let line = self.text[start..]
            .find('\n')
            .map_or(self.text.len(), |n| start + n);
        let source = location::read_location(self, places)?;
        Ok(crate::ir::OperationPlace {
            location: text_place(start, line.min(self.at.max(start))),
            source,
        })
    }
}

/// Whether a character continues a word.
pub(super) fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}

#[cfg(test)]
mod tests {
    use super::TextCursor;

    #[test]
    fn escapes_are_two_digits_or_one_character() {
        let mut cursor = TextCursor::new(r#""\41\n\+1" rest"#);
        assert_eq!(cursor.read_string().unwrap(), "A\n+1");
    }
}

//! Lexer: text to words. White space and comments separate words, strings are one word.

use crate::grammar::Op;

/// A word of the text and where it begins.
#[derive(Clone, Copy, Debug)]
pub struct AssemblyWord<'a> {
    pub text: &'a str,
    pub start: usize,
}

impl AssemblyWord<'_> {
    /// One past its last byte.
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// Walks a text word by word.
#[derive(Clone, Debug)]
pub struct AssemblyLexer<'a> {
    source: &'a str,
    at: usize,
    /// Where the last word ended.
    last: usize,
    /// Begin and end of a word that was looked at and not read.
    seen: (usize, usize),
}

/// Bytes at which a word ends, or a string in it begins.
const ENDS: [bool; 256] = {
    let mut ends = [false; 256];
    let bytes = b" \n\t\r;\"";
    let mut n = 0;
    while n < bytes.len() {
        ends[bytes[n] as usize] = true;
        n += 1;
    }
    ends
};

impl<'a> AssemblyLexer<'a> {
    pub fn new(source: &'a str) -> Self {
        let at = if source.starts_with('\u{feff}') { 3 } else { 0 };
        let last = at;
        AssemblyLexer {
            source,
            at,
            last,
            seen: (0, 0),
        }
    }

    /// Goes to the next word and returns its first byte.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        let bytes = self.source.as_bytes();
        let mut at = self.at;
        let next = loop {
            match bytes.get(at) {
                Some(b' ' | b'\n' | b'\t' | b'\r') => at += 1,
                Some(b';') => {
                    let line = bytes[at..].iter().position(|c| *c == b'\n');
                    at = line.map_or(bytes.len(), |n| at + n);
                }
                next => break next.copied(),
            }
        };
        self.at = at;
        next
    }

    /// Where the next word begins, once it was looked at.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Where the last word that was read ended.
    pub fn last_end(&self) -> usize {
        self.last
    }

    /// Everything from a word to the last one read, as one word.
    pub fn span_since(&self, first: AssemblyWord<'a>) -> AssemblyWord<'a> {
        AssemblyWord {
            text: self.text_between(first.start, self.last),
            start: first.start,
        }
    }

    /// Goes back to the end of a word.
    pub fn rewind_to(&mut self, word: AssemblyWord<'_>) {
        self.at = word.end();
        self.last = self.at;
    }

    /// The text between two places where words begin or end.
    pub fn text_between(&self, start: usize, end: usize) -> &'a str {
        self.source.get(start..end).unwrap_or("")
    }

    /// The next word. Quotation marks hold it together; a backslash takes the next character's
    /// meaning. A string without an end reaches to the end of the text.
    pub fn next_word(&mut self) -> Option<AssemblyWord<'a>> {
        self.peek()?;
        let start = self.at;
        if self.seen.0 == start && self.seen.1 > start {
            self.at = self.seen.1;
        } else {
            self.skip_plain();
        }
        while self.source.as_bytes().get(self.at) == Some(&b'"') {
            self.skip_string();
            self.skip_plain();
        }
        self.last = self.at;
        Some(AssemblyWord {
            text: &self.source[start..self.at],
            start,
        })
    }

    /// Goes to where a word or the part of it before a string ends.
    #[inline]
    fn skip_plain(&mut self) {
        let rest = &self.source.as_bytes()[self.at..];
        let end = rest.iter().position(|c| ENDS[usize::from(*c)]);
        self.at += end.unwrap_or(rest.len());
    }

    /// Advances past the string whose opening quotation mark is here.
    fn skip_string(&mut self) {
        let bytes = self.source.as_bytes();
        self.at += 1;
        while let Some(&c) = bytes.get(self.at) {
            self.at += 1;
            match c {
                b'"' => return,
                b'\\' => self.at += 1,
                _ => {}
            }
        }
        self.at = bytes.len();
    }

    /// Whether the text ends here or an instruction begins: an opcode, or an id followed by `=`.
    pub fn at_instruction(&mut self) -> bool {
        match self.peek() {
            None => true,
            Some(b'O') => is_opcode(&self.source[self.at..]),
            Some(b'%') => {
                let mut ahead = self.clone();
                ahead.next_word();
                self.seen = (self.at, ahead.at);
                ahead.peek() == Some(b'=') && ahead.next_word().is_some_and(|w| w.text == "=")
            }
            Some(_) => false,
        }
    }
}

/// Whether a word is written as an opcode's name: `Op` and an upper-case letter.
pub fn is_opcode(word: &str) -> bool {
    matches!(word.as_bytes(), [b'O', b'p', b'A'..=b'Z', ..])
}

/// Most bytes that [`looks_like_assembly`] looks at.
const HEAD: usize = 1 << 16;

/// Whether bytes are SPIR-V assembly rather than another text: they begin with a disassembler's
/// comment or with an instruction. LLVM IR, which has the same comments and ids, is none.
pub fn looks_like_assembly(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD)];
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(e) => std::str::from_utf8(&head[..e.valid_up_to()]).unwrap_or(""),
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.lines().next().is_some_and(|l| l.trim() == "; SPIR-V") {
        return true;
    }
    let mut lexer = AssemblyLexer::new(text);
    let mut next = || lexer.next_word().map_or("", |w| w.text);
    let opcode = match next() {
        id if id.starts_with('%') => match next() {
            "=" => next(),
            _ => "",
        },
        word => word,
    };
    opcode.starts_with("OpUnknown(") || (is_opcode(opcode) && Op::by_name(opcode).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_comments_and_strings() {
        let mut lexer = AssemblyLexer::new("\u{feff}%1 = OpX ; no\n\t\"a ;\\\" b\"c;d\n\"open");
        let words: Vec<_> = std::iter::from_fn(|| lexer.next_word().map(|w| w.text)).collect();
        assert_eq!(words, ["%1", "=", "OpX", "\"a ;\\\" b\"c", "\"open"]);
    }

    #[test]
    fn assembly_is_told_from_other_texts() {
        for text in [
            "; SPIR-V\n; Version: 1.0\n",
            "; a comment\n  OpCapability Shader",
            "%void = OpTypeVoid",
            "OpUnknown(9999, 1)",
        ] {
            assert!(looks_like_assembly(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "; ModuleID = 'a'\nsource_filename = \"a\"",
            "%x = type { i32 }",
            "%Op = type opaque",
            "define void @f() {\n  ret void\n}",
            "OpNonsense",
            "Opus",
            "%1 = OpNonsense",
            "\u{3}\u{2}#\u{7}",
        ] {
            assert!(!looks_like_assembly(text.as_bytes()), "{text}");
        }
        assert!(!looks_like_assembly(b"\xff\xfe; SPIR-V"));
    }
}

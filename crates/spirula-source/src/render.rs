//! Diagnostics as text for people.

use crate::{Diagnostic, Place, Severity};
use codespan_reporting::diagnostic as cs;
use codespan_reporting::files::SimpleFile;
use codespan_reporting::term;

/// An input and the name it is known by (a path, or `<stdin>`).
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Name shown to the user.
    pub name: &'a str,
    /// The bytes as they were read.
    pub bytes: &'a [u8],
}

/// Renders a diagnostic against its input, with the source line for texts and the offset for
/// binaries, a newline at the end. `colour` adds ANSI escapes.
pub fn render(diagnostic: &Diagnostic, source: Source<'_>, colour: bool) -> String {
    let text = match diagnostic.place {
        Place::Text { .. } => String::from_utf8_lossy(source.bytes),
        _ => "".into(),
    };
    let severity = match diagnostic.severity {
        Severity::Error => cs::Severity::Error,
        Severity::Warning => cs::Severity::Warning,
        Severity::Note => cs::Severity::Note,
    };
    let mut out = cs::Diagnostic::new(severity).with_message(&diagnostic.message);
    match diagnostic.place {
        Place::Text { start, end } => {
            let range = char_range(&text, start as usize, end as usize);
            out = out.with_label(cs::Label::primary((), range).with_message(&diagnostic.label));
        }
        Place::Unknown => out.notes.push(format!("in {}", source.name)),
        place => out.notes.push(format!("at {}: {place}", source.name)),
    }
    out.notes.extend(diagnostic.notes.iter().cloned());
    out.notes
        .extend(diagnostic.hint.iter().map(|hint| format!("hint: {hint}")));
    let file = SimpleFile::new(source.name, text);
    let config = term::Config::default();
    let written = if colour {
        let mut buffer = term::termcolor::Buffer::ansi();
        term::emit_to_write_style(&mut buffer, &config, &file, &out)
            .map(|()| String::from_utf8_lossy(buffer.as_slice()).into_owned())
    } else {
        term::emit_into_string(&config, &file, &out)
    };
    written.unwrap_or_else(|_| format!("{}: {diagnostic}\n", source.name))
}

/// The given bytes widened to whole characters and kept inside the text.
fn char_range(text: &str, start: usize, end: usize) -> std::ops::Range<usize> {
    let mut start = start.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = end.clamp(start, text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_shows_line_and_hint() {
        let d = Diagnostic::error(Place::text(6, 9), "unknown opcode").with_hint("spell it OpAdd");
        let shown = render(
            &d,
            Source {
                name: "a.spvasm",
                bytes: b"first\nbad line\n",
            },
            false,
        );
        assert!(shown.contains("a.spvasm:2:1"), "{shown}");
        assert!(shown.contains("bad line"), "{shown}");
        assert!(shown.contains("hint: spell it OpAdd"), "{shown}");
    }

    #[test]
    fn binary_shows_offset() {
        let d = Diagnostic::error(Place::Word(7), "zero length");
        let shown = render(
            &d,
            Source {
                name: "a.spv",
                bytes: &[],
            },
            false,
        );
        assert!(shown.contains("at a.spv: word 7 (byte 0x1c)"), "{shown}");
    }

    #[test]
    fn places_outside_the_text_do_not_panic() {
        let d = Diagnostic::error(Place::text(1, 900), "truncated");
        render(
            &d,
            Source {
                name: "a",
                bytes: "é".as_bytes(),
            },
            true,
        );
    }
}

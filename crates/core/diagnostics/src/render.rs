//! Rendering of diagnostics as text.

use crate::{DiagnosticSeverity, SourceDiagnostic, SourceLocation};
use codespan_reporting::diagnostic as cs;
use codespan_reporting::files::{Error, Files, SimpleFile};
use codespan_reporting::term;
use std::borrow::Cow;
use std::ops::Range;

/// Most bytes of a source line that are shown.
const MAX_LINE: usize = 400;
/// Most bytes of a line that are shown before the location.
const BEFORE: usize = 80;
/// Most bytes of a message, a note or a hint that are shown.
const MAX_MESSAGE: usize = 2000;

/// An input and its name (a path, or `<stdin>`).
#[derive(Clone, Copy, Debug)]
pub struct SourceFile<'a> {
    /// Name shown to the user.
    pub name: &'a str,
    /// The bytes as they were read.
    pub bytes: &'a [u8],
}

/// Renders a diagnostic with the source line for texts and the offset for binaries, and a newline at the end.
/// Long lines and messages are truncated. `colour` adds ANSI escapes.
pub fn render_diagnostic(
    diagnostic: &SourceDiagnostic,
    source: SourceFile<'_>,
    colour: bool,
) -> String {
    let text = match diagnostic.place {
        SourceLocation::Text { .. } => String::from_utf8_lossy(source.bytes),
        _ => "".into(),
    };
    let severity = match diagnostic.severity {
        DiagnosticSeverity::Error => cs::Severity::Error,
        DiagnosticSeverity::Warning => cs::Severity::Warning,
        DiagnosticSeverity::Note => cs::Severity::Note,
    };
    let mut out = cs::Diagnostic::new(severity).with_message(truncate_message(&diagnostic.message));
    let mut file = CutFile::from_text(source.name, text);
    match diagnostic.place {
        SourceLocation::Text { start, end } => {
            let range = char_range(file.file.source(), start as usize, end as usize);
            let (shown, range) = file.cut_around(range);
            file = shown;
            let label =
                cs::Label::primary((), range).with_message(truncate_message(&diagnostic.label));
            out = out.with_label(label);
        }
        SourceLocation::Unknown => out.notes.push(format!("in {}", source.name)),
        place => out.notes.push(format!("at {}: {place}", source.name)),
    }
    out.notes
        .extend(diagnostic.notes.iter().map(|note| truncate_message(note)));
    out.notes.extend(
        diagnostic
            .hint
            .iter()
            .map(|hint| format!("hint: {}", truncate_message(hint))),
    );
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

/// The beginning of a text, with an ellipsis if the rest is omitted.
fn truncate_message(text: &str) -> String {
    if text.len() > MAX_MESSAGE {
        format!(
            "{}…",
            &text[..char_range(text, MAX_MESSAGE, MAX_MESSAGE).start]
        )
    } else {
        text.to_owned()
    }
}

/// A text one long line of which is truncated. Lines and columns are those of the whole text.
struct CutFile<'a> {
    file: SimpleFile<&'a str, Cow<'a, str>>,
    /// The truncated line, with the number of characters omitted at its beginning.
    missing: Option<(usize, usize)>,
}

impl<'a> CutFile<'a> {
    fn from_text(name: &'a str, text: Cow<'a, str>) -> Self {
        CutFile {
            file: SimpleFile::new(name, text),
            missing: None,
        }
    }

    /// Truncates the line of a range if it is long. Returns the range in the truncated text.
    fn cut_around(self, range: Range<usize>) -> (Self, Range<usize>) {
        let text = self.file.source();
        let end_of = |at: usize| text[at..].find('\n').map_or(text.len(), |more| at + more);
        let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
        let end = end_of(range.start);
        let mut lines = text[start..end_of(range.end)].split('\n');
        let range = if lines.any(|line| line.len() > MAX_LINE) {
            // Of several lines the first is shown.
            range.start..range.end.min(end)
        } else {
            range
        };
        if end - start <= MAX_LINE {
            return (self, range);
        }
        let from = char_range(text, range.start.saturating_sub(BEFORE).max(start), end).start;
        let to = char_range(text, (from + MAX_LINE).min(end), end).start;
        let line = text[..start].matches('\n').count();
        let missing = text[start..from].chars().count();
        let shorter = [&text[..start], &text[from..to], &text[end..]].concat();
        let shown = from - start;
        let range = range.start - shown..range.end.clamp(range.start, to) - shown;
        let name = *self.file.name();
        let shorter = CutFile {
            file: SimpleFile::new(name, Cow::Owned(shorter)),
            missing: Some((line, missing)),
        };
        (shorter, range)
    }
}

impl<'a, 'b> Files<'a> for CutFile<'b> {
    type FileId = ();
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, _: ()) -> Result<&'a str, Error> {
        Ok(self.file.name())
    }

    fn source(&'a self, id: ()) -> Result<&'a str, Error> {
        Files::source(&self.file, id)
    }

    fn line_index(&'a self, id: (), at: usize) -> Result<usize, Error> {
        self.file.line_index(id, at)
    }

    fn line_range(&'a self, id: (), line: usize) -> Result<Range<usize>, Error> {
        self.file.line_range(id, line)
    }

    fn column_number(&'a self, id: (), line: usize, at: usize) -> Result<usize, Error> {
        let column = self.file.column_number(id, line, at)?;
        let cut = self.missing.filter(|(of, _)| *of == line);
        Ok(column + cut.map_or(0, |(_, missing)| missing))
    }
}

/// A byte range widened to whole characters and clipped to the text.
fn char_range(text: &str, start: usize, end: usize) -> Range<usize> {
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
        let d = SourceDiagnostic::error(SourceLocation::from_text_range(6, 9), "unknown opcode")
            .with_hint("spell it OpAdd");
        let shown = render_diagnostic(
            &d,
            SourceFile {
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
    fn long_lines_and_messages_are_cut() {
        let line = format!("first\n{}bad{}\n", "é".repeat(100_000), "x".repeat(100_000));
        let start = 6 + 200_000;
        let message = "m".repeat(100_000);
        let d = SourceDiagnostic::error(SourceLocation::from_text_range(start, start + 3), message)
            .with_hint("h".repeat(9000));
        let source = SourceFile {
            name: "a.ll",
            bytes: line.as_bytes(),
        };
        let shown = render_diagnostic(&d, source, false);
        assert!(shown.len() < 8000, "{}", shown.len());
        assert!(shown.contains("a.ll:2:100001"), "{shown}");
        assert!(shown.contains("ébadx"), "{shown}");
        assert!(shown.contains("^^^"), "{shown}");
        let whole = SourceDiagnostic::error(SourceLocation::from_text_range(0, start * 2), "all");
        assert!(render_diagnostic(&whole, source, true).len() < 8000);
    }

    #[test]
    fn binary_shows_offset() {
        let d = SourceDiagnostic::error(SourceLocation::Word(7), "zero length");
        let shown = render_diagnostic(
            &d,
            SourceFile {
                name: "a.spv",
                bytes: &[],
            },
            false,
        );
        assert!(shown.contains("at a.spv: word 7 (byte 0x1c)"), "{shown}");
    }

    #[test]
    fn places_outside_the_text_do_not_panic() {
        let d = SourceDiagnostic::error(SourceLocation::from_text_range(1, 900), "truncated");
        render_diagnostic(
            &d,
            SourceFile {
                name: "a",
                bytes: "é".as_bytes(),
            },
            true,
        );
    }
}

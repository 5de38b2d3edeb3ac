//! Lines and columns of a text as the protocol counts them: from 0, columns in units of UTF-16.

use crate::protocol::{EditorPosition, EditorRange};
use spirula_diagnostics::{ColumnUnit, LineColumn, LineStarts};
use spirula_futhark::syntax::token::TextRange;

/// A text with the beginnings of its lines.
pub(crate) struct LineIndex<'t> {
    text: &'t str,
    starts: LineStarts,
}

impl<'t> LineIndex<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let starts = LineStarts::new(text.as_bytes());
        LineIndex { text, starts }
    }

    /// The position of a byte. A byte after the end stands for the end.
    pub(crate) fn find_position(&self, at: usize) -> EditorPosition {
        let text = self.text.as_bytes();
        let LineColumn { line, column } = self.starts.find_position(text, at, ColumnUnit::Utf16);
        EditorPosition {
            line: line as u32 - 1,
            character: column as u32 - 1,
        }
    }

    /// The positions of a range.
    pub(crate) fn find_range(&self, range: TextRange) -> EditorRange {
        EditorRange {
            start: self.find_position(range.start as usize),
            end: self.find_position(range.end as usize),
        }
    }

    /// The byte at a position. A column after its line stands for the end of the line, and a line after the text for
    /// the end of the text.
    pub(crate) fn find_byte(&self, position: EditorPosition) -> usize {
        let line = position.line as usize + 1;
        let Some(line) = self.starts.find_line(self.text.as_bytes(), line) else {
            return self.text.len();
        };
        let mut units = 0;
        for (at, character) in self.text[line.clone()].char_indices() {
            if units >= position.character as usize {
                return line.start + at;
            }
            units += character.len_utf16();
        }
        line.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_units_of_utf16() {
        let text = "a\u{e6}\u{1f600}b\nc";
        let index = LineIndex::new(text);
        for (byte, line, character) in [
            (0, 0, 0),
            (1, 0, 1),
            (3, 0, 2),
            (7, 0, 4),
            (8, 0, 5),
            (9, 1, 0),
            (10, 1, 1),
        ] {
            let position = EditorPosition { line, character };
            assert_eq!(index.find_position(byte), position);
            assert_eq!(index.find_byte(position), byte);
        }
        let position = |line, character| EditorPosition { line, character };
        assert_eq!(index.find_byte(position(0, 99)), 8);
        assert_eq!(index.find_byte(position(9, 0)), 10);
        assert_eq!(index.find_position(99), position(1, 1));
    }
}

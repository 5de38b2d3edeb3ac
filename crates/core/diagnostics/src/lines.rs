//! Lines and columns of a text.

use std::ops::Range;

/// A position in a text, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineColumn {
    /// The line.
    pub line: usize,
    /// The column within the line, in a [`ColumnUnit`].
    pub column: usize,
}

/// The unit in which columns are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnUnit {
    /// Characters of Unicode. Each sequence of bytes that is not UTF-8 is one.
    Character,
    /// Units of UTF-16, as editors and browsers count.
    Utf16,
}

/// The bytes at which the lines of a text begin.
#[derive(Clone, Debug)]
pub struct LineStarts(Vec<usize>);

impl LineStarts {
    /// Finds the lines of a text, which may be no UTF-8.
    pub fn new(text: &[u8]) -> Self {
        let bytes = text.iter().enumerate();
        let breaks = bytes.filter(|(_, byte)| **byte == b'\n');
        LineStarts(
            std::iter::once(0)
                .chain(breaks.map(|(at, _)| at + 1))
                .collect(),
        )
    }

    /// The position of a byte of the text. A byte after the end stands for the end, and one within a character for
    /// the character.
    pub fn find_position(&self, text: &[u8], at: usize, unit: ColumnUnit) -> LineColumn {
        let at = floor_character(text, at);
        let line = self.0.partition_point(|&start| start <= at);
        let before = String::from_utf8_lossy(&text[self.0[line - 1]..at]);
        let units = match unit {
            ColumnUnit::Character => before.chars().count(),
            ColumnUnit::Utf16 => before.encode_utf16().count(),
        };
        LineColumn {
            line,
            column: units + 1,
        }
    }

    /// The bytes of a line of the text, without its break. `None` where the text has no such line.
    pub fn find_line(&self, text: &[u8], line: usize) -> Option<Range<usize>> {
        let start = *self.0.get(line.checked_sub(1)?)?;
        let end = self.0.get(line).map_or(text.len(), |next| next - 1);
        Some(start..end)
    }
}

/// The position of one byte of a text, as [`LineStarts::find_position`] finds it.
pub fn find_line_column(text: &[u8], at: usize, unit: ColumnUnit) -> LineColumn {
    LineStarts::new(text).find_position(text, at, unit)
}

/// The first byte of the character that a byte belongs to.
fn floor_character(text: &[u8], at: usize) -> usize {
    let is_continuation = |at: usize| text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let mut floor = at.min(text.len());
    while floor > 0 && is_continuation(floor) {
        floor -= 1;
    }
    floor
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_all(text: &[u8], bytes: &[usize], unit: ColumnUnit) -> Vec<(usize, usize)> {
        let starts = LineStarts::new(text);
        let positions = bytes.iter().map(|&at| starts.find_position(text, at, unit));
        positions.map(|at| (at.line, at.column)).collect()
    }

    #[test]
    fn columns_count_characters() {
        let text = "ab\n\n\u{e6}c".as_bytes();
        assert_eq!(
            find_all(text, &[0, 2, 3, 4, 5, 6, 7, 99], ColumnUnit::Character),
            [
                (1, 1),
                (1, 3),
                (2, 1),
                (3, 1),
                (3, 1),
                (3, 2),
                (3, 3),
                (3, 3)
            ]
        );
    }

    #[test]
    fn columns_count_units_of_utf16() {
        let text = "a\u{1f600}b\nc".as_bytes();
        assert_eq!(
            find_all(text, &[0, 1, 5, 6, 7, 8], ColumnUnit::Utf16),
            [(1, 1), (1, 2), (1, 4), (1, 5), (2, 1), (2, 2)]
        );
    }

    #[test]
    fn bytes_that_are_no_utf8_have_positions() {
        let text = b"\xff\xfea\n\x80\x80";
        assert_eq!(
            find_all(text, &[1, 2, 3, 6], ColumnUnit::Character),
            [(1, 2), (1, 3), (1, 4), (2, 3)]
        );
    }

    #[test]
    fn lines_have_no_breaks() {
        let text = b"one\n\ntwo";
        let starts = LineStarts::new(text);
        let line = |number| starts.find_line(text, number);
        assert_eq!(
            [line(0), line(1), line(2), line(3), line(4)],
            [None, Some(0..3), Some(4..4), Some(5..8), None]
        );
    }
}

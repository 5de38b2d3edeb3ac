//! Lines and columns of a text.

/// A position in a text, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineColumn {
    /// The line.
    pub(crate) line: usize,
    /// The character of the line.
    pub(crate) column: usize,
}

/// The bytes at which the lines of a text begin.
#[derive(Debug)]
pub(crate) struct LineStarts(Vec<usize>);

impl LineStarts {
    pub(crate) fn new(text: &str) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        LineStarts(std::iter::once(0).chain(breaks).collect())
    }

    /// The position of a byte of the text. A byte after the end stands for the end.
    pub(crate) fn find(&self, text: &str, at: usize) -> LineColumn {
        let at = at.min(text.len());
        let line = self.0.partition_point(|&start| start <= at);
        let before = &text[self.0[line - 1]..text.floor_char_boundary(at)];
        LineColumn {
            line,
            column: before.chars().count() + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters() {
        let text = "ab\n\n\u{e6}c";
        let starts = LineStarts::new(text);
        let found = [0, 2, 3, 4, 6, 7, 99].map(|at| {
            let LineColumn { line, column } = starts.find(text, at);
            (line, column)
        });
        assert_eq!(
            found,
            [(1, 1), (1, 3), (2, 1), (3, 1), (3, 2), (3, 3), (3, 3)]
        );
    }
}

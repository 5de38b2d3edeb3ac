//! Text of documentation comments.

use crate::syntax::token::TextRange;

/// A documentation comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentationComment {
    /// Its Markdown, without the marks of the comment.
    pub text: String,
    /// Where it stands.
    pub range: TextRange,
}

impl DocumentationComment {
    /// Reads the comment at a range: `-- |` in its first line and `--` in the others are left out, with one blank.
    pub(super) fn read(source: &str, range: TextRange) -> DocumentationComment {
        let written = source.get(range.start as usize..range.end as usize);
        let lines = written.unwrap_or_default().lines().enumerate();
        let lines = lines.map(|(index, line)| {
            let line = line.trim_start();
            let line = line.strip_prefix("--").unwrap_or(line);
            let line = line.strip_prefix(' ').unwrap_or(line);
            match line.strip_prefix('|') {
                Some(first) if index == 0 => first.strip_prefix(' ').unwrap_or(first),
                _ => line,
            }
        });
        DocumentationComment {
            text: lines.collect::<Vec<_>>().join("\n"),
            range,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_left_out() {
        let source = "  -- | One.\n  --\n  --     code\n  --two";
        let range = TextRange {
            start: 2,
            end: source.len() as u32,
        };
        let comment = DocumentationComment::read(source, range);
        assert_eq!(comment.text, "One.\n\n    code\ntwo");
    }
}

//! Blocks of a literate program.

use super::directive::LiterateDirective;

/// A part of a literate program.
#[derive(Debug, PartialEq)]
pub enum LiterateBlock {
    /// Text, from comments at the start of lines.
    Text(String),
    /// Code without the empty lines around it. It may be empty.
    Code(String),
    /// A directive, or why it is malformed, with its lines.
    Directive(Result<LiterateDirective, String>, String),
}

/// The kinds of lines.
#[derive(Clone, Copy, PartialEq)]
enum LineKind {
    Text,
    Code,
    Directive,
    Test,
}

/// Splits a source into blocks. A directive, and a block of tests, extends to the last comment that follows without an
/// empty line.
pub fn split_blocks(source: &str) -> Vec<LiterateBlock> {
    let mut blocks = Vec::new();
    let mut lines = source.lines().peekable();
    while let Some(first) = lines.next() {
        let kind = classify_line(first);
        let mut taken = vec![first];
        while let Some(next) = lines.next_if(|next| continues_block(kind, next)) {
            taken.push(next);
        }
        blocks.push(make_block(kind, &taken));
    }
    blocks
}

fn classify_line(line: &str) -> LineKind {
    if line.starts_with("-- >") {
        LineKind::Directive
    } else if line.trim_end() == "-- ==" {
        LineKind::Test
    } else if line.starts_with("--") {
        LineKind::Text
    } else {
        LineKind::Code
    }
}

fn continues_block(kind: LineKind, line: &str) -> bool {
    match kind {
        LineKind::Code => !line.starts_with("--"),
        LineKind::Text => classify_line(line) == LineKind::Text,
        LineKind::Directive | LineKind::Test => line.starts_with("--"),
    }
}

fn make_block(kind: LineKind, lines: &[&str]) -> LiterateBlock {
    let strip = |line: &&str| {
        let line = line.strip_prefix("--").unwrap_or(line);
        line.strip_prefix(' ').unwrap_or(line).to_owned()
    };
    let stripped = || lines.iter().map(strip).collect::<Vec<_>>();
    match kind {
        LineKind::Text => LiterateBlock::Text(stripped().join("\n")),
        LineKind::Code => {
            let code = lines.join("\n");
            let first = code.len() - code.trim_start_matches('\n').len();
            LiterateBlock::Code(code[first..].trim_end_matches('\n').to_owned())
        }
        LineKind::Test => LiterateBlock::Code(lines.join("\n")),
        LineKind::Directive => {
            let text = stripped().join("\n");
            LiterateBlock::Directive(LiterateDirective::parse(&text), text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_text_and_the_rest_is_code() {
        let source = "-- One\n--two\n\ndef x = 1\n  -- inner\n\n-- > x\n\n-- ==\n-- input {}\n\n-- > :none x";
        let blocks = split_blocks(source);
        let [
            text,
            code,
            directive,
            empty,
            test,
            _,
            LiterateBlock::Directive(Err(_), _),
        ] = blocks.as_slice()
        else {
            panic!("{blocks:?}");
        };
        assert_eq!(*text, LiterateBlock::Text("One\ntwo".to_owned()));
        assert_eq!(
            *code,
            LiterateBlock::Code("def x = 1\n  -- inner".to_owned())
        );
        assert!(matches!(directive, LiterateBlock::Directive(Ok(_), text) if text == "> x"));
        assert_eq!(*empty, LiterateBlock::Code(String::new()));
        assert_eq!(*test, LiterateBlock::Code("-- ==\n-- input {}".to_owned()));
    }
}

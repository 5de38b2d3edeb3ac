//! Snippets: text that a user enters, which is declarations or an expression.

use super::parser::parse_partial_file;
use super::token::TextRange;
use super::tree::SourceNameId;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_entity::StringInterner;

/// The kind of a snippet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnippetKind {
    /// Declarations, each with its range and attributes of its own.
    Declarations(Vec<TextRange>),
    /// An expression.
    Expression,
    /// The beginning of declarations or of an expression.
    Incomplete,
    /// Neither, with the faults.
    Faulty(Vec<SourceDiagnostic>),
}

/// A declaration in front of an expression that makes declarations of it.
const PREFIX: &str = "def it =\n";

/// Finds out what a text is.
pub fn classify_snippet(text: &str) -> SnippetKind {
    let mut names: StringInterner<SourceNameId> = StringInterner::default();
    let (tree, faults) = parse_partial_file(text, &mut names);
    if faults.is_empty() && !tree.declarations.is_empty() {
        let starts = tree
            .declarations
            .iter()
            .map(|declaration| declaration.range);
        return SnippetKind::Declarations(starts.collect());
    }
    let wrapped = format!("{PREFIX}{text}");
    let (tree, mut inner) = parse_partial_file(&wrapped, &mut names);
    if inner.is_empty() && tree.declarations.len() == 1 {
        return SnippetKind::Expression;
    }
    for fault in &mut inner {
        if let SourceLocation::Text { start, end } = &mut fault.place {
            let shift = PREFIX.len() as u32;
            (*start, *end) = (start.saturating_sub(shift), end.saturating_sub(shift));
        }
    }
    let end = text.trim_end().len() as u32;
    let is_cut_off = |fault: &SourceDiagnostic| match fault.place {
        SourceLocation::Text { start, .. } => start >= end,
        _ => false,
    };
    if faults.iter().chain(&inner).any(is_cut_off) {
        return SnippetKind::Incomplete;
    }
    let reach = |faults: &[SourceDiagnostic]| match faults.first().map(|fault| fault.place) {
        Some(SourceLocation::Text { start, .. }) => start,
        _ => 0,
    };
    // The faults of the reading that went further are those that help.
    if inner.is_empty() || reach(&faults) > reach(&inner) {
        SnippetKind::Faulty(faults)
    } else {
        SnippetKind::Faulty(inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{SnippetKind, classify_snippet};

    #[test]
    fn snippets_are_declarations_or_expressions() {
        let is_declarations = |text| matches!(classify_snippet(text), SnippetKind::Declarations(_));
        assert!(is_declarations("let x = 1"));
        assert!(is_declarations("import \"a\""));
        assert!(is_declarations("type t = i32 def f x = x"));
        for text in ["1", "let x = 1 in x", "f x", "[1, 2]", "\\x -> x"] {
            assert_eq!(classify_snippet(text), SnippetKind::Expression, "{text}");
        }
        for text in [
            "1 +",
            "let x =",
            "(1,",
            "if a then",
            "def f x =",
            "let x = 1 in",
        ] {
            assert_eq!(classify_snippet(text), SnippetKind::Incomplete, "{text}");
        }
        for text in ["1 )", "def 1 = 2", ")", "\u{1f600}"] {
            let kind = classify_snippet(text);
            assert!(matches!(kind, SnippetKind::Faulty(_)), "{text}: {kind:?}");
        }
    }
}

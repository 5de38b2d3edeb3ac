//! Hints in the text: the inferred types of variables that `let` binds.

use super::SourceAnalysis;
use crate::check::name_record::NameMeaning;
use crate::syntax::token::TextRange;
use crate::syntax::tree::{ExpressionKind, LetKind, PatternId, PatternKind, SyntaxTree};
use crate::typed::FileId;

/// A hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlayHint {
    /// The byte in front of which it is shown.
    pub at: u32,
    /// Its text.
    pub text: String,
}

/// Characters after which a hint is cut off.
const MAX_HINT: usize = 60;

impl SourceAnalysis {
    /// The hints within a range of a file, in order.
    pub fn list_hints(&self, file: FileId, range: TextRange) -> Vec<InlayHint> {
        let tree = &self.files.files[file].tree;
        let mut names = Vec::new();
        for (_, node) in tree.expressions.iter() {
            let ExpressionKind::Let { bindings, .. } = &node.kind else {
                continue;
            };
            for binding in bindings {
                if let LetKind::Pattern { pattern, .. } = &binding.kind {
                    collect_plain_names(tree, *pattern, &mut names);
                }
            }
        }
        names.retain(|name| range.start <= name.start && name.end <= range.end);
        names.sort_unstable();
        let hints = names.into_iter();
        hints.filter_map(|name| self.hint_at(file, name)).collect()
    }

    fn hint_at(&self, file: FileId, name: TextRange) -> Option<InlayHint> {
        let (range, occurrence) = self.find_occurrence(file, name.start)?;
        let NameMeaning::Local(local) = occurrence.meaning else {
            return None;
        };
        let mut text = self.print_local(local);
        if text.chars().count() > MAX_HINT {
            text = text.chars().take(MAX_HINT).chain(['…']).collect();
        }
        (range == name).then_some(InlayHint { at: name.end, text })
    }
}

/// The names in a pattern without written types.
fn collect_plain_names(tree: &SyntaxTree, id: PatternId, names: &mut Vec<TextRange>) {
    match &tree.patterns[id].kind {
        PatternKind::Name(name) => names.push(name.range),
        PatternKind::Parentheses(inner) | PatternKind::Attributed { pattern: inner, .. } => {
            collect_plain_names(tree, *inner, names);
        }
        PatternKind::Tuple(parts) | PatternKind::Constructor { payload: parts, .. } => {
            for &part in parts {
                collect_plain_names(tree, part, names);
            }
        }
        PatternKind::Record(fields) => {
            for field in fields {
                collect_plain_names(tree, field.pattern, names);
            }
        }
        PatternKind::Wildcard | PatternKind::Literal { .. } | PatternKind::Ascription { .. } => {}
    }
}

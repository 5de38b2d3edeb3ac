//! The program that is changed, edits of its text, and the random choices.

use rand_mt::Mt64;
use spirula_entity::StringInterner;
use spirula_futhark::syntax::token::{SourceToken, TextRange, TokenKind};
use spirula_futhark::syntax::tree::{
    DeclarationKind, ExpressionKind, ModuleKind, ModuleTypeKind, QualifiedName, SourceDeclaration,
    SourceNameId, SyntaxTree,
};
use spirula_futhark::syntax::{parse_file, read_tokens};

/// A change of a text: a range is replaced.
#[derive(Clone, Debug)]
pub struct TextEdit {
    range: TextRange,
    text: String,
}

/// A program with its tree and its tokens.
#[derive(Debug)]
pub struct MutableSource {
    text: String,
    /// The tree of the text.
    pub tree: SyntaxTree,
    /// The tokens without the one of the end.
    pub tokens: Vec<SourceToken>,
}

impl MutableSource {
    /// Parses a text. None if it has faults.
    pub fn parse(text: String) -> Option<Self> {
        let mut names: StringInterner<SourceNameId> = StringInterner::default();
        let tree = parse_file(&text, &mut names).ok()?;
        let mut tokens = read_tokens(&text).ok()?.tokens;
        tokens.retain(|token| !matches!(token.kind, TokenKind::End | TokenKind::Documentation));
        Some(MutableSource { text, tree, tokens })
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of a range.
    pub fn text_of(&self, range: TextRange) -> &str {
        &self.text[range.start as usize..range.end as usize]
    }

    /// An edit that replaces a range.
    pub fn replace(&self, range: TextRange, text: impl Into<String>) -> TextEdit {
        TextEdit {
            range,
            text: text.into(),
        }
    }

    /// An edit that removes a range.
    pub fn remove(&self, range: TextRange) -> TextEdit {
        self.replace(range, " ")
    }

    /// An edit that inserts a text at the start of a range.
    pub fn insert_before(&self, range: TextRange, text: impl Into<String>) -> TextEdit {
        let end = range.start;
        self.replace(TextRange { end, ..range }, text)
    }

    /// An edit that inserts a text at the end of a range.
    pub fn insert_after(&self, range: TextRange, text: impl Into<String>) -> TextEdit {
        let start = range.end;
        self.replace(TextRange { start, ..range }, text)
    }

    /// Edits that exchange the texts of two ranges. None if the ranges overlap.
    pub fn exchange(&self, first: TextRange, second: TextRange) -> Option<Vec<TextEdit>> {
        let is_apart = first.end <= second.start || second.end <= first.start;
        is_apart.then(|| {
            vec![
                self.replace(first, format!(" {} ", self.text_of(second))),
                self.replace(second, format!(" {} ", self.text_of(first))),
            ]
        })
    }

    /// The text with edits whose ranges do not overlap.
    pub fn apply_edits(&self, mut edits: Vec<TextEdit>) -> String {
        edits.sort_by_key(|edit| edit.range);
        let mut text = String::with_capacity(self.text.len());
        let mut at = 0;
        for edit in edits {
            text.push_str(&self.text[at..edit.range.start as usize]);
            text.push_str(&edit.text);
            at = edit.range.end as usize;
        }
        text.push_str(&self.text[at..]);
        text
    }

    /// All lists of declarations: that of the file, and those of its modules.
    pub fn declaration_lists(&self) -> Vec<&[SourceDeclaration]> {
        let modules = self.tree.modules.iter();
        let nested = modules.filter_map(|(_, module)| match &module.kind {
            ModuleKind::Declarations(declarations) => Some(&declarations[..]),
            _ => None,
        });
        let lists = std::iter::once(&self.tree.declarations[..]).chain(nested);
        lists.filter(|list| !list.is_empty()).collect()
    }

    /// All declarations, without `local` in front of them.
    pub fn declarations(&self) -> Vec<&SourceDeclaration> {
        let all = self.declaration_lists().into_iter().flatten();
        all.map(|mut declaration| {
            while let DeclarationKind::Local(inner) = &declaration.kind {
                declaration = inner;
            }
            declaration
        })
        .collect()
    }

    /// The ranges of the specifications of all module types, list by list.
    pub fn specification_lists(&self) -> Vec<Vec<TextRange>> {
        let types = self.tree.module_types.iter();
        let lists = types.filter_map(|(_, node)| match &node.kind {
            ModuleTypeKind::Specifications(all) if !all.is_empty() => {
                Some(all.iter().map(|one| one.range).collect())
            }
            _ => None,
        });
        lists.collect()
    }

    /// The ranges of all uses of names as values.
    pub fn name_uses(&self) -> Vec<TextRange> {
        let expressions = self.tree.expressions.iter();
        let uses = expressions.filter_map(|(_, node)| match &node.kind {
            ExpressionKind::Name(name) => Some(range_of_name(name)),
            _ => None,
        });
        uses.collect()
    }
}

/// The range of a name with the modules in front of it.
pub fn range_of_name(name: &QualifiedName) -> TextRange {
    let first = name.modules.first().map_or(name.name, |module| *module);
    first.range.extend_to(name.name.range)
}

/// Random choices that a seed determines.
#[derive(Debug)]
pub struct MutationChoice {
    random: Mt64,
}

impl MutationChoice {
    /// The choices of a seed.
    pub fn new(seed: u64) -> Self {
        MutationChoice {
            random: Mt64::new(seed),
        }
    }

    /// A number below `bound`, which must not be 0.
    pub fn choose_below(&mut self, bound: usize) -> usize {
        (self.random.next_u64() % bound as u64) as usize
    }

    /// One of several items. None if there are none.
    pub fn choose_one<T: Clone>(&mut self, items: &[T]) -> Option<T> {
        if items.is_empty() {
            return None;
        }
        Some(items[self.choose_below(items.len())].clone())
    }

    /// Two different items in order. None if there are fewer.
    pub fn choose_two<T: Clone>(&mut self, items: &[T]) -> Option<(T, T)> {
        if items.len() < 2 {
            return None;
        }
        let first = self.choose_below(items.len() - 1);
        let second = first + 1 + self.choose_below(items.len() - first - 1);
        Some((items[first].clone(), items[second].clone()))
    }
}

//! Signatures: excerpts of the source in which names are links.

use super::declaration::DocumentBuilder;
use super::link::{LinkTarget, ReferenceSpace};
use crate::syntax::token::TextRange;
use crate::syntax::tree::{
    ModuleExpressionId, ModuleKind, ModuleTypeId, ModuleTypeKind, PatternId, PatternKind,
    QualifiedName, TypeArgument, TypeExpressionId, TypeKind, TypeLiftedness, TypeParameter,
    TypeParameterKind,
};

/// A part of a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignaturePart {
    /// Text.
    Text(String),
    /// A keyword.
    Keyword(&'static str),
    /// The name that is defined.
    Name(String),
    /// A name that is documented elsewhere.
    Link(String, LinkTarget),
}

impl SignaturePart {
    /// Plain text.
    pub(super) fn text(text: impl Into<String>) -> SignaturePart {
        SignaturePart::Text(text.into())
    }
}

/// Ranges of the source that are shown otherwise, in order.
#[derive(Default)]
pub(super) struct ExcerptMarks(Vec<(TextRange, SignaturePart)>);

impl DocumentBuilder<'_> {
    /// The source of a range on one line, without comments. Marked ranges are replaced.
    fn quote_source(&self, range: TextRange, mut marks: ExcerptMarks) -> Vec<SignaturePart> {
        let tree = &self.checked.files.files[self.file].tree;
        let comments = tree.comments.iter();
        let comments = comments.filter(|c| range.start <= c.start && c.end <= range.end);
        marks
            .0
            .extend(comments.map(|&c| (c, SignaturePart::text(" "))));
        marks.0.sort_by_key(|(range, _)| range.start);
        let mut parts = Vec::new();
        let mut start = range.start;
        for (mark, part) in marks.0 {
            // A comment may stand in a range that is replaced.
            if mark.start < start {
                continue;
            }
            parts.push(self.quote_text(start, mark.start));
            parts.push(part);
            start = mark.end;
        }
        parts.push(self.quote_text(start, range.end));
        parts
    }

    fn quote_text(&self, start: u32, end: u32) -> SignaturePart {
        let text = &self.checked.files.files[self.file].text;
        let text = text.get(start as usize..end as usize).unwrap_or_default();
        SignaturePart::Text(join_lines(text))
    }

    /// A type as it is written.
    pub(super) fn quote_type(&self, id: TypeExpressionId) -> Vec<SignaturePart> {
        let mut marks = ExcerptMarks::default();
        self.mark_type(id, &mut marks);
        self.quote_source(self.tree().types[id].range, marks)
    }

    /// A module type as it is written. The members of one that is written out are left out.
    pub(super) fn quote_module_type(&self, id: ModuleTypeId) -> Vec<SignaturePart> {
        let mut marks = ExcerptMarks::default();
        self.mark_module_type(id, &mut marks);
        self.quote_source(self.tree().module_types[id].range, marks)
    }

    /// A module as it is written, without its declarations.
    pub(super) fn quote_module(&self, id: ModuleExpressionId) -> Vec<SignaturePart> {
        let mut marks = ExcerptMarks::default();
        self.mark_module(id, &mut marks);
        self.quote_source(self.tree().modules[id].range, marks)
    }

    /// Size and type parameters as they are written.
    pub(super) fn quote_type_parameters(&self, parameters: &[TypeParameter]) -> String {
        let names = &self.checked.program.names;
        let parameters = parameters.iter().map(|parameter| {
            let name = &names[parameter.name.name];
            match parameter.kind {
                TypeParameterKind::Size => format!(" [{name}]"),
                TypeParameterKind::Type(TypeLiftedness::Unlifted) => format!(" '{name}"),
                TypeParameterKind::Type(TypeLiftedness::SizeLifted) => format!(" '~{name}"),
                TypeParameterKind::Type(TypeLiftedness::FullyLifted) => format!(" '^{name}"),
            }
        });
        parameters.collect()
    }

    /// The type of a parameter, with the name that a function's result may refer to. None where it is not written.
    pub(super) fn quote_parameter(&self, id: PatternId) -> Option<Vec<SignaturePart>> {
        let pattern = &self.tree().patterns[id];
        match &pattern.kind {
            PatternKind::Parentheses(inner) => self.quote_parameter(*inner),
            PatternKind::Attributed { pattern, .. } => self.quote_parameter(*pattern),
            PatternKind::Ascription {
                pattern: inner,
                ascribed,
            } => {
                let mut parts = Vec::new();
                let is_function = matches!(
                    self.tree().types[*ascribed].kind,
                    TypeKind::Function { .. } | TypeKind::Sum(_)
                );
                let is_named = matches!(self.tree().patterns[*inner].kind, PatternKind::Name(_));
                if is_named {
                    let name = self.tree().patterns[*inner].range;
                    parts.extend(self.quote_source(name, ExcerptMarks::default()));
                    parts.push(SignaturePart::text(": "));
                }
                parts.extend(self.quote_type(*ascribed));
                if is_named || is_function {
                    parts.insert(0, SignaturePart::text("("));
                    parts.push(SignaturePart::text(")"));
                }
                Some(parts)
            }
            PatternKind::Tuple(items) => {
                let items: Option<Vec<_>> =
                    items.iter().map(|item| self.quote_unnamed(*item)).collect();
                let mut parts = vec![SignaturePart::text("(")];
                for (index, item) in items?.into_iter().enumerate() {
                    if index > 0 {
                        parts.push(SignaturePart::text(", "));
                    }
                    parts.extend(item);
                }
                parts.push(SignaturePart::text(")"));
                Some(parts)
            }
            _ => None,
        }
    }

    /// The type of a part of a parameter, without its name.
    fn quote_unnamed(&self, id: PatternId) -> Option<Vec<SignaturePart>> {
        match &self.tree().patterns[id].kind {
            PatternKind::Ascription { ascribed, .. } => Some(self.quote_type(*ascribed)),
            PatternKind::Parentheses(inner) => self.quote_unnamed(*inner),
            _ => self.quote_parameter(id),
        }
    }

    /// An inferred type. Its words that are names of types become links.
    pub(super) fn quote_inferred(&self, text: &str) -> Vec<SignaturePart> {
        let is_word = |c: char| c.is_alphanumeric() || "_.'#".contains(c);
        let names = &self.checked.program.names;
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let start = rest.find(is_word).unwrap_or(rest.len());
            let (between, word) = rest.split_at(start);
            let end = word.find(|c| !is_word(c)).unwrap_or(word.len());
            let (word, after) = word.split_at(end);
            parts.push(SignaturePart::text(between));
            let target = self.scope.find_target(ReferenceSpace::Type, word, names);
            parts.push(match target.filter(|_| !after.starts_with(':')) {
                Some(target) => SignaturePart::Link(word.to_owned(), target.clone()),
                None => SignaturePart::text(word),
            });
            rest = after;
        }
        parts
    }

    fn mark_name(&self, space: ReferenceSpace, name: &QualifiedName, marks: &mut ExcerptMarks) {
        if name.modules.is_empty() && self.hidden.contains(&(space, name.name.name)) {
            return;
        }
        let place = self.scope.resolve(space, name);
        if let Some(target) = place.and_then(|place| place.target.clone()) {
            let start = name.modules.first().unwrap_or(&name.name).range.start;
            let range = TextRange {
                start,
                end: name.name.range.end,
            };
            let text = &self.checked.files.files[self.file].text;
            let text = text.get(start as usize..range.end as usize);
            let part = SignaturePart::Link(text.unwrap_or_default().to_owned(), target);
            marks.0.push((range, part));
        }
    }

    pub(super) fn mark_type(&self, id: TypeExpressionId, marks: &mut ExcerptMarks) {
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            match &self.tree().types[id].kind {
                TypeKind::Name(name) => self.mark_name(ReferenceSpace::Type, name, marks),
                TypeKind::Parentheses(inner)
                | TypeKind::Unique(inner)
                | TypeKind::Array { element: inner, .. }
                | TypeKind::Existential { body: inner, .. } => pending.push(*inner),
                TypeKind::Tuple(items) => pending.extend(items),
                TypeKind::Record(fields) => pending.extend(fields.iter().map(|(_, field)| *field)),
                TypeKind::Sum(clauses) => {
                    pending.extend(clauses.iter().flat_map(|(_, payload)| payload));
                }
                TypeKind::Application {
                    constructor,
                    argument,
                } => {
                    pending.push(*constructor);
                    if let TypeArgument::Type(argument) = argument {
                        pending.push(*argument);
                    }
                }
                TypeKind::Function {
                    parameter, result, ..
                } => pending.extend([*parameter, *result]),
            }
        }
    }

    fn mark_module_type(&self, id: ModuleTypeId, marks: &mut ExcerptMarks) {
        let node = &self.tree().module_types[id];
        match &node.kind {
            ModuleTypeKind::Name(name) => self.mark_name(ReferenceSpace::ModuleType, name, marks),
            ModuleTypeKind::Parentheses(inner) => self.mark_module_type(*inner, marks),
            ModuleTypeKind::Specifications(_) => {
                marks.0.push((node.range, SignaturePart::text("{ … }")));
            }
            ModuleTypeKind::With {
                base, definition, ..
            } => {
                self.mark_module_type(*base, marks);
                self.mark_type(*definition, marks);
            }
            ModuleTypeKind::Function {
                parameter, result, ..
            } => {
                self.mark_module_type(*parameter, marks);
                self.mark_module_type(*result, marks);
            }
        }
    }

    fn mark_module(&self, id: ModuleExpressionId, marks: &mut ExcerptMarks) {
        let node = &self.tree().modules[id];
        match &node.kind {
            ModuleKind::Name(name) => self.mark_name(ReferenceSpace::Term, name, marks),
            ModuleKind::Parentheses(inner) => self.mark_module(*inner, marks),
            ModuleKind::Declarations(_) => {
                marks.0.push((node.range, SignaturePart::text("{ … }")));
            }
            ModuleKind::Import(path) => {
                if let Some(&file) = self.checked.files.imports.get(&(self.file, path.name)) {
                    let target = LinkTarget {
                        file: self.checked.files.files[file].name.clone(),
                        anchor: String::new(),
                    };
                    let text = format!("\"{}\"", &self.checked.program.names[path.name]);
                    marks
                        .0
                        .push((path.range, SignaturePart::Link(text, target)));
                }
            }
            ModuleKind::Ascription(inner, ascribed) => {
                self.mark_module(*inner, marks);
                self.mark_module_type(*ascribed, marks);
            }
            ModuleKind::Lambda {
                parameter, body, ..
            } => {
                self.mark_module_type(parameter.module_type, marks);
                self.mark_module(*body, marks);
            }
            ModuleKind::Application(function, argument) => {
                self.mark_module(*function, marks);
                self.mark_module(*argument, marks);
            }
        }
    }
}

/// Puts a text on one line.
fn join_lines(text: &str) -> String {
    let mut joined = String::new();
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 && !joined.ends_with([' ', '(', '[']) {
            joined.push(' ');
        }
        joined.push_str(if index > 0 {
            line.trim()
        } else {
            line.trim_end()
        });
    }
    let is_cut = text.ends_with(char::is_whitespace) && !joined.ends_with(' ');
    if is_cut {
        joined.push(' ');
    }
    joined
}

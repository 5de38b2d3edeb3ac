//! Types as the source writes them: names without sizes, and the definitions of abbreviations.

use crate::check::types::compare_fields;
use crate::compile::CheckedSource;
use crate::source::SourceFiles;
use crate::syntax::tree::{
    DeclarationKind, QualifiedName, SourceDeclaration, SourceName, SourceNameId, TypeArgument,
    TypeExpressionId, TypeKind,
};
use crate::typed::FileId;
use spirula_entity::StringInterner;

/// A type expression, as the element of an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpelledType {
    /// The file that it is in.
    pub file: FileId,
    /// The expression.
    pub id: TypeExpressionId,
    /// The number of dimensions around it.
    pub rank: usize,
}

impl SpelledType {
    /// The type with more dimensions around it.
    pub fn with_rank(self, rank: usize) -> SpelledType {
        SpelledType {
            rank: self.rank + rank,
            ..self
        }
    }
}

/// The type expressions of a program.
pub(crate) struct SpelledTypes<'f> {
    files: &'f SourceFiles,
    names: &'f StringInterner<SourceNameId>,
}

impl<'f> SpelledTypes<'f> {
    /// Those of a program.
    pub fn new(source: &'f CheckedSource) -> Self {
        SpelledTypes {
            files: &source.files,
            names: &source.program.names,
        }
    }

    fn kind(&self, of: SpelledType) -> &'f TypeKind {
        &self.files.files[of.file].tree.types[of.id].kind
    }

    fn text(&self, name: SourceNameId) -> &'f str {
        &self.names[name]
    }

    /// The type without parentheses, uniqueness and arguments that are sizes.
    fn strip_sizes(&self, mut of: SpelledType) -> SpelledType {
        while of.rank == 0 {
            of.id = match self.kind(of) {
                TypeKind::Parentheses(inner)
                | TypeKind::Unique(inner)
                | TypeKind::Existential { body: inner, .. }
                | TypeKind::Application {
                    constructor: inner,
                    argument: TypeArgument::Size(..),
                } => *inner,
                _ => break,
            };
        }
        of
    }

    /// Whether the type has no alias.
    pub fn is_unique(&self, mut of: SpelledType) -> bool {
        loop {
            of.id = match self.kind(of) {
                TypeKind::Unique(_) => return true,
                TypeKind::Parentheses(inner) | TypeKind::Existential { body: inner, .. } => *inner,
                _ => return false,
            };
        }
    }

    /// The parameter and result of a function type.
    pub fn split_function(
        &self,
        file: FileId,
        written: Option<TypeExpressionId>,
    ) -> (Option<TypeExpressionId>, Option<TypeExpressionId>) {
        let root = written.map(|id| self.strip_sizes(SpelledType { file, id, rank: 0 }));
        match root.map(|root| self.kind(root)) {
            Some(TypeKind::Function {
                parameter, result, ..
            }) => (Some(*parameter), Some(*result)),
            _ => (None, None),
        }
    }

    /// The type of an array's elements, below a number of dimensions.
    pub fn find_row(&self, mut of: SpelledType, mut rank: usize) -> Option<SpelledType> {
        while rank > 0 {
            if of.rank > 0 {
                of.rank -= 1;
                rank -= 1;
                continue;
            }
            of.id = match self.kind(of) {
                TypeKind::Array { element, .. } => {
                    rank -= 1;
                    *element
                }
                TypeKind::Parentheses(inner) | TypeKind::Unique(inner) => *inner,
                _ => return None,
            };
        }
        Some(of)
    }

    /// The types of a record's fields, in canonical order.
    pub fn find_record(&self, of: SpelledType) -> Option<Vec<SpelledType>> {
        let root = self.expand_names(of);
        let part = |id| SpelledType { id, ..root };
        match self.kind(root) {
            _ if root.rank > 0 => None,
            TypeKind::Tuple(elements) => Some(elements.iter().map(|id| part(*id)).collect()),
            TypeKind::Record(fields) => {
                let mut fields: Vec<&(SourceName, TypeExpressionId)> = fields.iter().collect();
                fields.sort_by(|(left, _), (right, _)| {
                    compare_fields(self.text(left.name), self.text(right.name))
                });
                Some(fields.into_iter().map(|(_, id)| part(*id)).collect())
            }
            _ => None,
        }
    }

    /// The types of the payloads of a sum, in the order of the constructors' names.
    pub fn find_sum(&self, of: SpelledType) -> Option<Vec<Vec<SpelledType>>> {
        let root = self.expand_names(of);
        match self.kind(root) {
            TypeKind::Sum(clauses) if root.rank == 0 => {
                let mut clauses: Vec<_> = clauses.iter().collect();
                clauses.sort_by_key(|(name, _)| self.text(name.name));
                let payload = |ids: &Vec<TypeExpressionId>| {
                    let parts = ids.iter().map(|id| SpelledType { id: *id, ..root });
                    parts.collect()
                };
                Some(clauses.into_iter().map(|(_, ids)| payload(ids)).collect())
            }
            _ => None,
        }
    }

    /// The definition of a type that is written as the name of an abbreviation at top level, which may be one again.
    fn expand_names(&self, of: SpelledType) -> SpelledType {
        let root = self.strip_sizes(of);
        match self.kind(root) {
            TypeKind::Name(path) if root.rank == 0 => match self.find_abbreviation(root.file, path)
            {
                Some(definition) => self.expand_names(definition),
                None => root,
            },
            _ => root,
        }
    }

    /// The definition of an abbreviation at top level that is in scope at a place of a file.
    fn find_abbreviation(&self, file: FileId, path: &QualifiedName) -> Option<SpelledType> {
        let is_plain = path.modules.is_empty();
        is_plain.then(|| self.find_before(file, path.name.name, path.name.range.start))?
    }

    /// The last definition of a name before a place of a file, or in the files that it imports.
    fn find_before(&self, file: FileId, name: SourceNameId, end: u32) -> Option<SpelledType> {
        let tree = &self.files.files[file].tree;
        let before = tree.declarations.iter().rev();
        let mut before = before.filter(|declaration| declaration.range.end <= end);
        if let Some(id) = before.find_map(|declaration| find_definition(declaration, name)) {
            return Some(SpelledType { file, id, rank: 0 });
        }
        let mut imports = tree.imports.iter();
        imports.find_map(|import| {
            let imported = self.files.imports.get(&(file, import.name))?;
            self.find_before(*imported, name, u32::MAX)
        })
    }

    /// The name of a type.
    pub fn print_name(&self, of: SpelledType) -> String {
        let root = self.strip_sizes(of);
        if root.rank > 0 || matches!(self.kind(root), TypeKind::Array { .. }) {
            let mut element = SpelledType { rank: 0, ..root };
            let mut rank = root.rank;
            while let TypeKind::Array { element: inner, .. } = self.kind(element) {
                element.id = *inner;
                rank += 1;
            }
            return "[]".repeat(rank) + &self.print_name(element);
        }
        let print = |id: &TypeExpressionId| self.print_name(SpelledType { id: *id, ..root });
        match self.kind(root) {
            TypeKind::Tuple(elements) => {
                let elements: Vec<String> = elements.iter().map(print).collect();
                format!("({})", elements.join(", "))
            }
            TypeKind::Record(fields) => {
                let mut fields: Vec<_> = fields.iter().collect();
                fields.sort_by_key(|(name, _)| self.text(name.name));
                let fields = fields.into_iter();
                let fields =
                    fields.map(|(name, id)| format!("{}: {}", self.text(name.name), print(id)));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
            }
            TypeKind::Sum(clauses) => {
                let mut clauses: Vec<_> = clauses.iter().collect();
                clauses.sort_by_key(|(name, _)| self.text(name.name));
                let clauses = clauses.into_iter().map(|(name, payload)| {
                    let payload: Vec<String> = payload.iter().map(print).collect();
                    format!("{}:{}", self.text(name.name), payload.join(" "))
                });
                clauses.collect::<Vec<_>>().join(" | ")
            }
            TypeKind::Name(path) => self.print_path(path),
            TypeKind::Application {
                constructor,
                argument: TypeArgument::Type(argument),
            } => format!("{} {}", print(constructor), print(argument)),
            _ => self.print_source(root),
        }
    }

    fn print_path(&self, path: &QualifiedName) -> String {
        let names = path.modules.iter().chain([&path.name]);
        let names: Vec<&str> = names.map(|name| self.text(name.name)).collect();
        names.join(".")
    }

    /// The text of a type in its file.
    fn print_source(&self, of: SpelledType) -> String {
        let file = &self.files.files[of.file];
        let range = file.tree.types[of.id].range;
        let text = file.text.get(range.start as usize..range.end as usize);
        text.unwrap_or_default().to_owned()
    }
}

/// The definition in the declaration of a type of this name.
fn find_definition(
    declaration: &SourceDeclaration,
    name: SourceNameId,
) -> Option<TypeExpressionId> {
    match &declaration.kind {
        DeclarationKind::Type(found) if found.name.name == name => found.definition,
        DeclarationKind::Local(inner) => find_definition(inner, name),
        _ => None,
    }
}

//! Symbols: the declarations of files as a tree, with their documentation.

use crate::source::SourceFiles;
use crate::syntax::token::TextRange;
use crate::syntax::tree::{
    DeclarationKind, ModuleExpressionId, ModuleKind, ModuleTypeId, ModuleTypeKind,
    SourceDeclaration, SourceName, SourceNameId, SpecificationKind, SyntaxTree, ValueKeyword,
};
use crate::typed::{FileId, ProgramPlace};
use rustc_hash::FxHashMap;
use spirula_entity::StringInterner;

/// The kinds of symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// An entry point.
    Entry,
    /// A function.
    Function,
    /// A constant.
    Constant,
    /// A type.
    Type,
    /// A module.
    Module,
    /// A module type.
    ModuleType,
    /// A value of a module type.
    Specification,
}

/// A declaration or specification, with those in it.
#[derive(Clone, Debug)]
pub struct SymbolNode {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: SymbolKind,
    /// Where it stands, without attributes.
    pub range: TextRange,
    /// Where its name stands.
    pub name_range: TextRange,
    /// The documentation comment in front of it.
    pub documentation: Option<TextRange>,
    /// The symbols in it.
    pub children: Vec<SymbolNode>,
}

/// The symbols of all files.
#[derive(Debug, Default)]
pub(super) struct SymbolIndex {
    trees: FxHashMap<FileId, Vec<SymbolNode>>,
    by_place: FxHashMap<ProgramPlace, SymbolNode>,
}

impl SymbolIndex {
    /// Finds the symbols of all files.
    pub(super) fn from_files(files: &SourceFiles, names: &StringInterner<SourceNameId>) -> Self {
        let mut index = SymbolIndex::default();
        for (id, file) in files.files.iter() {
            let walk = SymbolWalk {
                tree: &file.tree,
                names,
            };
            let symbols = walk.list_declarations(&file.tree.declarations);
            index.add_places(id, &symbols);
            index.trees.insert(id, symbols);
        }
        index
    }

    fn add_places(&mut self, file: FileId, symbols: &[SymbolNode]) {
        for symbol in symbols {
            let range = symbol.name_range;
            let alone = SymbolNode {
                name: symbol.name.clone(),
                children: Vec::new(),
                ..*symbol
            };
            self.by_place.insert(ProgramPlace { file, range }, alone);
            self.add_places(file, &symbol.children);
        }
    }

    /// The symbols of a file.
    pub(super) fn list(&self, file: FileId) -> &[SymbolNode] {
        self.trees.get(&file).map_or(&[], Vec::as_slice)
    }

    /// The symbol whose name stands at a place, without those in it.
    pub(super) fn find(&self, place: ProgramPlace) -> Option<&SymbolNode> {
        self.by_place.get(&place)
    }
}

/// The walk through the declarations of a file.
struct SymbolWalk<'f> {
    tree: &'f SyntaxTree,
    names: &'f StringInterner<SourceNameId>,
}

impl SymbolWalk<'_> {
    fn list_declarations(&self, declarations: &[SourceDeclaration]) -> Vec<SymbolNode> {
        let mut symbols = Vec::new();
        for declaration in declarations {
            self.add_declaration(declaration, declaration.documentation, &mut symbols);
        }
        symbols
    }

    fn add_declaration(
        &self,
        declaration: &SourceDeclaration,
        documentation: Option<TextRange>,
        symbols: &mut Vec<SymbolNode>,
    ) {
        let (name, kind, children) = match &declaration.kind {
            DeclarationKind::Value(value) => {
                let is_constant = value.signature.parameters.is_empty();
                let kind = match value.keyword {
                    ValueKeyword::Entry => SymbolKind::Entry,
                    _ if is_constant => SymbolKind::Constant,
                    _ => SymbolKind::Function,
                };
                (value.name, kind, Vec::new())
            }
            DeclarationKind::Type(declared) => (declared.name, SymbolKind::Type, Vec::new()),
            DeclarationKind::ModuleType { name, definition } => {
                let members = self.list_specifications(*definition);
                (*name, SymbolKind::ModuleType, members)
            }
            DeclarationKind::Module {
                name, definition, ..
            } => (*name, SymbolKind::Module, self.list_members(*definition)),
            DeclarationKind::Local(inner) => {
                let documentation = documentation.or(inner.documentation);
                return self.add_declaration(inner, documentation, symbols);
            }
            DeclarationKind::Open(module) => return symbols.extend(self.list_members(*module)),
            DeclarationKind::Import(_) => return,
        };
        symbols.push(self.make_symbol(name, kind, declaration.range, documentation, children));
    }

    fn make_symbol(
        &self,
        name: SourceName,
        kind: SymbolKind,
        range: TextRange,
        documentation: Option<TextRange>,
        children: Vec<SymbolNode>,
    ) -> SymbolNode {
        SymbolNode {
            name: self.names[name.name].to_owned(),
            kind,
            range,
            name_range: name.range,
            documentation,
            children,
        }
    }

    /// The declarations in a module.
    fn list_members(&self, id: ModuleExpressionId) -> Vec<SymbolNode> {
        match &self.tree.modules[id].kind {
            ModuleKind::Declarations(declarations) => self.list_declarations(declarations),
            ModuleKind::Parentheses(inner)
            | ModuleKind::Ascription(inner, _)
            | ModuleKind::Lambda { body: inner, .. } => self.list_members(*inner),
            ModuleKind::Application(function, argument) => {
                let mut members = self.list_members(*function);
                members.extend(self.list_members(*argument));
                members
            }
            ModuleKind::Name(_) | ModuleKind::Import(_) => Vec::new(),
        }
    }

    /// The specifications in a module type.
    fn list_specifications(&self, id: ModuleTypeId) -> Vec<SymbolNode> {
        let specifications = match &self.tree.module_types[id].kind {
            ModuleTypeKind::Specifications(specifications) => specifications,
            ModuleTypeKind::Parentheses(inner) | ModuleTypeKind::With { base: inner, .. } => {
                return self.list_specifications(*inner);
            }
            ModuleTypeKind::Function {
                parameter, result, ..
            } => {
                let mut members = self.list_specifications(*parameter);
                members.extend(self.list_specifications(*result));
                return members;
            }
            ModuleTypeKind::Name(_) => return Vec::new(),
        };
        let mut symbols = Vec::new();
        for specification in specifications {
            let (name, kind, children) = match &specification.kind {
                SpecificationKind::Value { name, .. } => {
                    (*name, SymbolKind::Specification, Vec::new())
                }
                SpecificationKind::Type(declared) => (declared.name, SymbolKind::Type, Vec::new()),
                SpecificationKind::Module(name, inner) => {
                    let members = self.list_specifications(*inner);
                    (*name, SymbolKind::Module, members)
                }
                SpecificationKind::Include(inner) => {
                    symbols.extend(self.list_specifications(*inner));
                    continue;
                }
            };
            let documentation = specification.documentation;
            let range = specification.range;
            symbols.push(self.make_symbol(name, kind, range, documentation, children));
        }
        symbols
    }
}

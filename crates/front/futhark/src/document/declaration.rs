//! Documentation of declarations.

use super::inferred::{InferredSignature, InferredText};
use super::link::{DocumentScope, ItemPath, LinkTarget, NamedPlace, ReferenceSpace};
use super::signature::SignaturePart;
use super::{DocumentationComment, DocumentedItem, ItemKind};
use crate::check::types::TypeForm;
use crate::compile::CheckedSource;
use crate::syntax::token::TextRange;
use crate::syntax::tree::{
    DeclarationKind, PatternKind, SourceDeclaration, SourceName, SourceNameId, SyntaxTree,
    TypeDeclaration, TypeLiftedness, TypeParameter, TypeParameterKind, ValueDeclaration,
};
use crate::typed::{DefinitionId, FileId};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// State while a file is documented.
pub(super) struct DocumentBuilder<'c> {
    pub(super) checked: &'c CheckedSource,
    pub(super) file: FileId,
    /// All definitions by file and start of their names.
    pub(super) definitions: &'c HashMap<(FileId, u32), DefinitionId>,
    /// The exports of the files in front of this one.
    pub(super) files: &'c HashMap<FileId, Rc<DocumentScope>>,
    /// The meanings of names at this place.
    pub(super) scope: DocumentScope,
    /// The modules around this place.
    pub(super) path: ItemPath,
    /// Type parameters of the declaration at hand, which are no links.
    pub(super) hidden: Vec<(ReferenceSpace, SourceNameId)>,
}

/// Documented declarations with the names that they export.
#[derive(Default)]
pub(super) struct DocumentedBlock {
    pub(super) items: Vec<DocumentedItem>,
    pub(super) exported: DocumentScope,
}

impl DocumentedBlock {
    /// The names of a block whose documentation is not shown.
    pub(super) fn hide_items(self, file: &str) -> DocumentScope {
        let mut anchors = HashSet::new();
        let mut pending = self.items;
        while let Some(item) = pending.pop() {
            pending.extend(item.members);
            anchors.insert(item.anchor);
        }
        let mut names = self.exported;
        if !anchors.is_empty() {
            names.forget_places(file, &anchors);
        }
        names
    }
}

/// Where a definition stands and how it is described.
pub(super) struct ItemHead {
    pub(super) space: ReferenceSpace,
    pub(super) name: SourceName,
    pub(super) kind: ItemKind,
    pub(super) range: TextRange,
    pub(super) documentation: Option<TextRange>,
}

impl<'c> DocumentBuilder<'c> {
    /// The tree of the file.
    pub(super) fn tree(&self) -> &'c SyntaxTree {
        &self.checked.files.files[self.file].tree
    }

    /// The text of a name.
    pub(super) fn name_text(&self, name: SourceNameId) -> &'c str {
        let checked: &'c CheckedSource = self.checked;
        &checked.program.names[name]
    }

    /// Documents declarations one after the other, and adds their names to the scope.
    pub(super) fn document_declarations(
        &mut self,
        declarations: &'c [SourceDeclaration],
    ) -> DocumentedBlock {
        let mut block = DocumentedBlock::default();
        for declaration in declarations {
            let names = self.document_declaration(declaration, &mut block.items);
            self.scope.extend(&names);
            let is_hidden = matches!(
                declaration.kind,
                DeclarationKind::Local(_) | DeclarationKind::Import(_)
            );
            if !is_hidden {
                block.exported.extend(&names);
            }
        }
        block
    }

    /// Documents a declaration. Returns its names.
    fn document_declaration(
        &mut self,
        declaration: &'c SourceDeclaration,
        items: &mut Vec<DocumentedItem>,
    ) -> DocumentScope {
        let mut names = DocumentScope::default();
        let head = |space, name, kind| ItemHead {
            space,
            name,
            kind,
            range: declaration.range,
            documentation: declaration.documentation,
        };
        match &declaration.kind {
            DeclarationKind::Value(value) => {
                let kind = self.classify_value(value);
                let signature = self.write_value(value);
                let head = head(ReferenceSpace::Term, value.name, kind);
                self.add_item(
                    head,
                    signature,
                    DocumentedBlock::default(),
                    &mut names,
                    items,
                );
            }
            DeclarationKind::Type(defined) => {
                let signature = self.write_type(defined);
                let head = head(ReferenceSpace::Type, defined.name, ItemKind::Type);
                self.add_item(
                    head,
                    signature,
                    DocumentedBlock::default(),
                    &mut names,
                    items,
                );
            }
            DeclarationKind::ModuleType { name, definition } => {
                let (signature, members) = self.write_module_type(*name, *definition);
                let head = head(ReferenceSpace::ModuleType, *name, ItemKind::ModuleType);
                self.add_item(head, signature, members, &mut names, items);
            }
            DeclarationKind::Module {
                name,
                parameters,
                ascribed,
                definition,
            } => {
                let (signature, members) =
                    self.write_module(*name, parameters, *ascribed, *definition);
                let kind = if parameters.is_empty() {
                    ItemKind::Module
                } else {
                    ItemKind::ParametricModule
                };
                let head = head(ReferenceSpace::Term, *name, kind);
                self.add_item(head, signature, members, &mut names, items);
            }
            DeclarationKind::Open(module) => {
                let opened = self.document_module(*module);
                let mut signature = vec![SignaturePart::Keyword("open"), SignaturePart::text(" ")];
                signature.extend(self.quote_module(*module));
                let (range, members) = (declaration.range, opened.items);
                items.push(self.make_unnamed(ItemKind::Open, range, signature, members));
                names.extend(&opened.exported);
            }
            DeclarationKind::Import(path) => {
                let file = self.checked.files.imports.get(&(self.file, path.name));
                if let Some(exported) = file.and_then(|file| self.files.get(file)) {
                    names.extend(exported);
                }
            }
            DeclarationKind::Local(inner) => return self.document_local(inner, items),
        }
        names
    }

    /// Documents a local declaration, which is shown only if it is a module type. Returns its names.
    fn document_local(
        &mut self,
        declaration: &'c SourceDeclaration,
        items: &mut Vec<DocumentedItem>,
    ) -> DocumentScope {
        let mut block = DocumentedBlock::default();
        block.exported = self.document_declaration(declaration, &mut block.items);
        if matches!(declaration.kind, DeclarationKind::ModuleType { .. }) {
            // The types of exported modules may refer to it.
            for item in &mut block.items {
                let mark = [SignaturePart::Keyword("local"), SignaturePart::text(" ")];
                item.signature.splice(0..0, mark);
            }
            items.append(&mut block.items);
        }
        block.hide_items(&self.file_name())
    }

    /// The name of the file.
    pub(super) fn file_name(&self) -> String {
        self.checked.files.files[self.file].name.clone()
    }

    /// Adds a documented definition, and its name.
    pub(super) fn add_item(
        &self,
        head: ItemHead,
        signature: Vec<SignaturePart>,
        members: DocumentedBlock,
        names: &mut DocumentScope,
        items: &mut Vec<DocumentedItem>,
    ) {
        let name = self.name_text(head.name.name);
        let anchor = self.path.make_anchor(head.space, name);
        let place = NamedPlace {
            target: Some(LinkTarget {
                file: self.file_name(),
                anchor: anchor.clone(),
            }),
            members: Rc::new(members.exported),
        };
        names.insert(head.space, head.name.name, place);
        let text = &self.checked.files.files[self.file].text;
        items.push(DocumentedItem {
            kind: head.kind,
            name: format!("{}{name}", self.path.prefix.replace('/', ".")),
            anchor,
            range: head.range,
            documentation: head
                .documentation
                .map(|range| DocumentationComment::read(text, range)),
            signature,
            members: members.items,
        });
    }

    /// A documented declaration without a name.
    pub(super) fn make_unnamed(
        &self,
        kind: ItemKind,
        range: TextRange,
        signature: Vec<SignaturePart>,
        members: Vec<DocumentedItem>,
    ) -> DocumentedItem {
        DocumentedItem {
            kind,
            name: String::new(),
            anchor: String::new(),
            range,
            documentation: None,
            signature,
            members,
        }
    }

    /// Runs a function while type parameters are no links.
    pub(super) fn hide_parameters<T>(
        &mut self,
        parameters: &[TypeParameter],
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = self.hidden.len();
        let names = parameters.iter().map(|parameter| parameter.name.name);
        self.hidden
            .extend(names.map(|name| (ReferenceSpace::Type, name)));
        let result = run(self);
        self.hidden.truncate(outer);
        result
    }

    /// The name that is defined, in a signature. Operators stand in parentheses.
    pub(super) fn write_name(&self, name: SourceNameId) -> SignaturePart {
        let text = self.name_text(name);
        let is_word = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
        SignaturePart::Name(if is_word {
            text.to_owned()
        } else {
            format!("({text})")
        })
    }

    fn find_value(&self, value: &ValueDeclaration) -> Option<DefinitionId> {
        let key = (self.file, value.name.range.start);
        self.definitions.get(&key).copied()
    }

    fn classify_value(&self, value: &ValueDeclaration) -> ItemKind {
        let types = &self.checked.program.types;
        let is_function = self.find_value(value).is_some_and(|id| {
            let type_id = self.checked.program.definitions[id].type_id;
            matches!(types.form(type_id), TypeForm::Function(..))
        });
        if is_function || !value.signature.parameters.is_empty() {
            ItemKind::Function
        } else {
            ItemKind::Value
        }
    }

    /// The signature of a value: the types that are written, and the inferred ones of the rest.
    fn write_value(&mut self, value: &ValueDeclaration) -> Vec<SignaturePart> {
        let declared = &value.signature.type_parameters;
        let definition = self.find_value(value);
        let mut inferred = InferredSignature::new(self.checked, definition);
        let types = self.hide_parameters(declared, |builder| {
            let mut parts = Vec::new();
            for &pattern in &value.signature.parameters {
                let parameter = inferred.take_parameter();
                let written = builder.quote_parameter(pattern);
                parts.extend(written.unwrap_or_else(|| {
                    let pattern = &builder.tree().patterns[pattern].kind;
                    builder.write_inferred_parameter(pattern, inferred.print(&parameter))
                }));
                parts.push(SignaturePart::text(" -> "));
            }
            match value.signature.result {
                Some(written) => parts.extend(builder.quote_type(written)),
                None => {
                    let result = inferred.take_result();
                    parts.extend(builder.quote_inferred(&result));
                }
            }
            parts
        });
        let mut parts = vec![SignaturePart::Keyword("val"), SignaturePart::text(" ")];
        parts.push(self.write_name(value.name.name));
        parts.push(SignaturePart::text(self.quote_type_parameters(declared)));
        let sizes = declared.iter();
        let sizes = sizes.filter(|parameter| parameter.kind == TypeParameterKind::Size);
        parts.push(SignaturePart::text(
            inferred.print_parameters(sizes.count()),
        ));
        parts.push(SignaturePart::text(": "));
        parts.extend(types);
        parts
    }

    /// A parameter whose type is not written.
    fn write_inferred_parameter(
        &self,
        pattern: &PatternKind,
        inferred: InferredText,
    ) -> Vec<SignaturePart> {
        let mut parts = self.quote_inferred(&inferred.text);
        if let PatternKind::Name(name) = pattern {
            parts.insert(
                0,
                SignaturePart::text(format!("{}: ", self.name_text(name.name))),
            );
        } else if !inferred.is_function {
            return parts;
        }
        parts.insert(0, SignaturePart::text("("));
        parts.push(SignaturePart::text(")"));
        parts
    }

    /// The signature of a type abbreviation or abstract type.
    pub(super) fn write_type(&mut self, defined: &TypeDeclaration) -> Vec<SignaturePart> {
        let keyword = match defined.liftedness {
            TypeLiftedness::Unlifted => "type",
            TypeLiftedness::SizeLifted => "type~",
            TypeLiftedness::FullyLifted => "type^",
        };
        let mut parts = vec![SignaturePart::Keyword(keyword), SignaturePart::text(" ")];
        parts.push(self.write_name(defined.name.name));
        parts.push(SignaturePart::text(
            self.quote_type_parameters(&defined.parameters),
        ));
        if let Some(definition) = defined.definition {
            parts.push(SignaturePart::text(" = "));
            parts.extend(self.hide_parameters(&defined.parameters, |builder| {
                builder.quote_type(definition)
            }));
        }
        parts
    }
}

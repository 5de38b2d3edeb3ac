//! Documentation of modules and module types.

use super::declaration::{DocumentBuilder, DocumentedBlock, ItemHead};
use super::link::{DocumentScope, ItemPath, NamedPlace, ReferenceSpace};
use super::signature::SignaturePart;
use super::{DocumentedItem, ItemKind};
use crate::syntax::tree::{
    ModuleExpressionId, ModuleKind, ModuleParameter, ModuleSpecification, ModuleTypeId,
    ModuleTypeKind, SourceName, SpecificationKind, TypeKind,
};
use std::rc::Rc;

impl<'c> DocumentBuilder<'c> {
    /// Runs a function inside a module or module type. Names that it adds to the scope are forgotten.
    fn enter<T>(&mut self, path: ItemPath, run: impl FnOnce(&mut Self) -> T) -> T {
        let scope = self.scope.clone();
        let outer = std::mem::replace(&mut self.path, path);
        let result = run(self);
        self.path = outer;
        self.scope = scope;
        result
    }

    /// Signature and members of a module type.
    pub(super) fn write_module_type(
        &mut self,
        name: SourceName,
        definition: ModuleTypeId,
    ) -> (Vec<SignaturePart>, DocumentedBlock) {
        let mut signature = vec![
            SignaturePart::Keyword("module type"),
            SignaturePart::text(" "),
            self.write_name(name.name),
            SignaturePart::text(" = "),
        ];
        signature.extend(self.quote_module_type(definition));
        let path = self.path.enter_module_type(self.name_text(name.name));
        let members = self.enter(path, |builder| builder.document_module_type(definition));
        (signature, members)
    }

    /// Signature and members of a module.
    pub(super) fn write_module(
        &mut self,
        name: SourceName,
        parameters: &'c [ModuleParameter],
        ascribed: Option<ModuleTypeId>,
        definition: ModuleExpressionId,
    ) -> (Vec<SignaturePart>, DocumentedBlock) {
        let mut signature = vec![
            SignaturePart::Keyword("module"),
            SignaturePart::text(" "),
            self.write_name(name.name),
        ];
        let path = self.path.enter_module(self.name_text(name.name));
        let members = self.enter(path, |builder| {
            for parameter in parameters {
                let name = builder.name_text(parameter.name.name);
                signature.push(SignaturePart::text(format!(" ({name}: ")));
                signature.extend(builder.quote_module_type(parameter.module_type));
                signature.push(SignaturePart::text(")"));
                builder.bind_parameter(*parameter);
            }
            match ascribed {
                Some(ascribed) => {
                    signature.push(SignaturePart::text(": "));
                    signature.extend(builder.quote_module_type(ascribed));
                    builder.document_module_type(ascribed)
                }
                None => {
                    signature.push(SignaturePart::text(" = "));
                    signature.extend(builder.quote_module(definition));
                    builder.document_module(definition)
                }
            }
        });
        (signature, members)
    }

    /// Binds a parameter of a module to the members of its module type.
    fn bind_parameter(&mut self, parameter: ModuleParameter) {
        let members = self.document_module_type(parameter.module_type);
        let members = members.hide_items(&self.file_name());
        let place = NamedPlace {
            target: None,
            members: Rc::new(members),
        };
        self.scope
            .insert(ReferenceSpace::Term, parameter.name.name, place);
    }

    /// The members of a module. Those that are not written out have their documentation elsewhere.
    pub(super) fn document_module(&mut self, id: ModuleExpressionId) -> DocumentedBlock {
        let elsewhere = |exported: &DocumentScope| DocumentedBlock {
            items: Vec::new(),
            exported: exported.clone(),
        };
        match &self.tree().modules[id].kind {
            ModuleKind::Name(name) => match self.scope.resolve(ReferenceSpace::Term, name) {
                Some(place) => elsewhere(&place.members),
                None => DocumentedBlock::default(),
            },
            ModuleKind::Parentheses(inner) => self.document_module(*inner),
            ModuleKind::Declarations(declarations) => {
                let path = self.path.clone();
                self.enter(path, |builder| builder.document_declarations(declarations))
            }
            ModuleKind::Import(path) => {
                let file = self.checked.files.imports.get(&(self.file, path.name));
                match file.and_then(|file| self.files.get(file)) {
                    Some(exported) => elsewhere(exported),
                    None => DocumentedBlock::default(),
                }
            }
            ModuleKind::Ascription(_, ascribed) => self.document_module_type(*ascribed),
            ModuleKind::Lambda {
                parameter,
                ascribed,
                body,
            } => {
                let path = self.path.clone();
                self.enter(path, |builder| {
                    builder.bind_parameter(*parameter);
                    match ascribed {
                        Some(ascribed) => builder.document_module_type(*ascribed),
                        None => builder.document_module(*body),
                    }
                })
            }
            ModuleKind::Application(function, _) => {
                let function = self.document_module(*function);
                elsewhere(&function.hide_items(&self.file_name()))
            }
        }
    }

    /// The members of a module type, or of the result of one of parametric modules.
    pub(super) fn document_module_type(&mut self, id: ModuleTypeId) -> DocumentedBlock {
        match &self.tree().module_types[id].kind {
            ModuleTypeKind::Name(name) => {
                let place = self.scope.resolve(ReferenceSpace::ModuleType, name);
                DocumentedBlock {
                    items: Vec::new(),
                    exported: place
                        .map(|place| (*place.members).clone())
                        .unwrap_or_default(),
                }
            }
            ModuleTypeKind::Parentheses(inner) | ModuleTypeKind::With { base: inner, .. } => {
                self.document_module_type(*inner)
            }
            ModuleTypeKind::Specifications(specifications) => {
                let path = self.path.clone();
                self.enter(path, |builder| {
                    builder.document_specifications(specifications)
                })
            }
            ModuleTypeKind::Function {
                name,
                parameter,
                result,
            } => {
                let path = self.path.clone();
                self.enter(path, |builder| {
                    if let Some(name) = name {
                        builder.bind_parameter(ModuleParameter {
                            name: *name,
                            module_type: *parameter,
                        });
                    }
                    builder.document_module_type(*result)
                })
            }
        }
    }

    fn document_specifications(
        &mut self,
        specifications: &'c [ModuleSpecification],
    ) -> DocumentedBlock {
        let mut block = DocumentedBlock::default();
        for specification in specifications {
            let names = self.document_specification(specification, &mut block.items);
            self.scope.extend(&names);
            block.exported.extend(&names);
        }
        block
    }

    /// Documents a specification. Returns its names.
    fn document_specification(
        &mut self,
        specification: &'c ModuleSpecification,
        items: &mut Vec<DocumentedItem>,
    ) -> DocumentScope {
        let mut names = DocumentScope::default();
        let head = |space, name, kind| ItemHead {
            space,
            name,
            kind,
            range: specification.range,
            documentation: specification.documentation,
        };
        match &specification.kind {
            SpecificationKind::Value {
                name,
                type_parameters,
                value_type,
            } => {
                let mut signature = vec![SignaturePart::Keyword("val"), SignaturePart::text(" ")];
                signature.push(self.write_name(name.name));
                signature.push(SignaturePart::text(
                    self.quote_type_parameters(type_parameters),
                ));
                signature.push(SignaturePart::text(": "));
                signature.extend(
                    self.hide_parameters(type_parameters, |builder| {
                        builder.quote_type(*value_type)
                    }),
                );
                let kind = match self.tree().types[*value_type].kind {
                    TypeKind::Function { .. } => ItemKind::Function,
                    _ => ItemKind::Value,
                };
                let head = head(ReferenceSpace::Term, *name, kind);
                self.add_item(
                    head,
                    signature,
                    DocumentedBlock::default(),
                    &mut names,
                    items,
                );
            }
            SpecificationKind::Type(defined) => {
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
            SpecificationKind::Module(name, module_type) => {
                let mut signature =
                    vec![SignaturePart::Keyword("module"), SignaturePart::text(" ")];
                signature.push(self.write_name(name.name));
                signature.push(SignaturePart::text(": "));
                signature.extend(self.quote_module_type(*module_type));
                let path = self.path.enter_module(self.name_text(name.name));
                let members =
                    self.enter(path, |builder| builder.document_module_type(*module_type));
                let head = head(ReferenceSpace::Term, *name, ItemKind::Module);
                self.add_item(head, signature, members, &mut names, items);
            }
            SpecificationKind::Include(module_type) => {
                let mut signature =
                    vec![SignaturePart::Keyword("include"), SignaturePart::text(" ")];
                signature.extend(self.quote_module_type(*module_type));
                let included = self.document_module_type(*module_type);
                let range = specification.range;
                items.push(self.make_unnamed(ItemKind::Include, range, signature, included.items));
                names.extend(&included.exported);
            }
        }
        names
    }
}

//! Module types: evaluated at each use, with new abstract types.

use super::environment::{
    ModuleScope, ModuleTypeBinding, ModuleValue, ParameterClass, ParametricModule, TypeBinding,
    TypeParameterBinding, TypeScheme,
};
use super::name_record::{NameMeaning, PathTarget};
use super::types::{AbstractTypeId, TypeForm, TypeId};
use super::unify::ScalarClass;
use super::{CheckResult, SourceChecker};
use crate::syntax::tree::{
    ModuleSpecification, ModuleTypeId, ModuleTypeKind, QualifiedName, SourceAttribute,
    SourceNameId, SpecificationKind, TypeExpressionId, TypeLiftedness, TypeParameter,
};
use crate::typed::FileId;
use std::rc::Rc;

/// A module as a module type describes it.
#[derive(Clone, Debug)]
pub(super) struct ModuleSignature {
    /// The module, whose values are specified only.
    pub(super) module: ModuleValue,
    /// The abstract types from this one on are those of the module type, the others are known outside.
    pub(super) first_abstract: usize,
}

impl ModuleSignature {
    /// Whether an abstract type belongs to the module type.
    pub(super) fn owns(&self, id: AbstractTypeId) -> bool {
        id.index() >= self.first_abstract
    }
}

impl SourceChecker<'_> {
    /// Evaluates a module type, with new abstract types.
    pub(super) fn evaluate_module_type(
        &mut self,
        id: ModuleTypeId,
    ) -> CheckResult<ModuleSignature> {
        let first_abstract = self.program.types.count_abstracts();
        let module = self.evaluate_module_type_part(id)?;
        Ok(ModuleSignature {
            module,
            first_abstract,
        })
    }

    /// Evaluates a module type in its own environment.
    pub(super) fn evaluate_binding(
        &mut self,
        binding: &ModuleTypeBinding,
    ) -> CheckResult<ModuleSignature> {
        self.with_environment(binding.file, &binding.environment, |checker| {
            checker.evaluate_module_type(binding.definition)
        })
    }

    /// Does something in another file with other names in scope.
    pub(super) fn with_environment<T>(
        &mut self,
        file: FileId,
        environment: &ModuleScope,
        action: impl FnOnce(&mut Self) -> CheckResult<T>,
    ) -> CheckResult<T> {
        let scope = std::mem::replace(&mut self.scope, environment.clone());
        let changes = std::mem::take(&mut self.changes);
        let outer = std::mem::replace(&mut self.file, file);
        let result = action(self);
        self.scope = scope;
        self.changes = changes;
        self.file = outer;
        result
    }

    /// The module type at a place, with the names around it.
    pub(super) fn close_module_type(&self, definition: ModuleTypeId) -> ModuleTypeBinding {
        ModuleTypeBinding {
            file: self.file,
            definition,
            environment: Rc::new(self.scope.clone()),
            place: self.place(self.tree().module_types[definition].range),
        }
    }

    fn evaluate_module_type_part(&mut self, id: ModuleTypeId) -> CheckResult<ModuleValue> {
        let node = &self.tree().module_types[id];
        match &node.kind {
            ModuleTypeKind::Name(path) => {
                self.record_path(path, PathTarget::ModuleTypes);
                let binding = self.find_module_type(path)?;
                let definition = binding.definition;
                self.with_environment(binding.file, &binding.environment, |checker| {
                    checker.evaluate_module_type_part(definition)
                })
            }
            ModuleTypeKind::Parentheses(inner) => self.evaluate_module_type_part(*inner),
            ModuleTypeKind::Specifications(specifications) => {
                self.check_duplicate_specifications(specifications);
                let scope = self.scope.clone();
                let result = self.evaluate_specifications(specifications);
                self.scope = scope;
                Ok(ModuleValue::Structure(Rc::new(result?)))
            }
            ModuleTypeKind::With {
                base,
                name,
                parameters,
                definition,
            } => {
                let module = self.evaluate_module_type_part(*base)?;
                self.refine(&module, name, parameters, *definition)?;
                Ok(module)
            }
            ModuleTypeKind::Function {
                name,
                parameter,
                result,
            } => {
                if let Some(name) = name {
                    self.record_definition(*name, NameMeaning::Module);
                }
                let specified = ParametricModule::Specified {
                    parameter: self.close_module_type(*parameter),
                    name: *name,
                    result: self.close_module_type(*result),
                };
                Ok(ModuleValue::Parametric(Rc::new(specified)))
            }
        }
    }

    /// Defines an abstract type of a module type.
    fn refine(
        &mut self,
        module: &ModuleValue,
        path: &QualifiedName,
        parameters: &[TypeParameter],
        definition: TypeExpressionId,
    ) -> CheckResult<()> {
        let mut structure = self.require_structure(module, path.name.range)?;
        self.record_refined(path, &structure);
        for part in &path.modules {
            let Some(super::environment::TermBinding::Module(inner, _)) =
                structure.terms.get(&part.name)
            else {
                return Err(self.fail(part.range, "the module type has no such module"));
            };
            let inner = inner.clone();
            structure = self.require_structure(&inner, part.range)?;
        }
        let text = self.name_text(path.name.name).to_owned();
        let Some(binding) = structure.types.get(&path.name.name) else {
            return Err(self.fail(
                path.name.range,
                format!("the module type has no type `{text}`"),
            ));
        };
        let own = self.find_hidden_type(binding.type_id);
        let Some((id, own)) = own else {
            return Err(self.fail(
                path.name.range,
                format!("the type `{text}` of the module type is not abstract"),
            ));
        };
        let mark = self.mark_scope();
        let bound = self.bind_type_parameters(parameters)?;
        let written = self.check_type(definition)?;
        self.end_scope(mark);
        let types: Vec<_> = bound
            .iter()
            .filter_map(|parameter| match parameter {
                TypeParameterBinding::Type(id, _) => Some(*id),
                TypeParameterBinding::Size(_) => None,
            })
            .collect();
        if types.len() != own.len() {
            return Err(self.fail(
                path.name.range,
                format!("the type `{text}` takes {} type arguments", own.len()),
            ));
        }
        self.program
            .types
            .define_abstract(id, types, written.type_id);
        let binding = TypeBinding {
            parameters: bound.into(),
            liftedness: TypeLiftedness::Unlifted,
            sized: written.sized,
            type_id: written.type_id,
            place: self.place(path.name.range),
        };
        self.note_hidden_type(id, &binding);
        Ok(())
    }

    /// The abstract type of a module type that a type is or abbreviates, with its arguments.
    fn find_hidden_type(&mut self, mut type_id: TypeId) -> Option<(AbstractTypeId, Vec<TypeId>)> {
        loop {
            let TypeForm::Abstract(id, own) = self.program.types.form(type_id).clone() else {
                return None;
            };
            match self.program.types.expand_definition(id, &own) {
                Some(definition) => type_id = definition,
                None => return Some((id, own)),
            }
        }
    }

    /// Evaluates the specifications of a module type. Their names are added to the scope.
    fn evaluate_specifications(
        &mut self,
        specifications: &[ModuleSpecification],
    ) -> CheckResult<ModuleScope> {
        let mut result = ModuleScope::default();
        for specification in specifications {
            let names = self.evaluate_specification(specification)?;
            if let SpecificationKind::Include(included) = specification.kind {
                self.warn_of_inclusion(included, &names, &result);
            }
            self.scope.extend(&names);
            result.extend(&names);
        }
        Ok(result)
    }

    /// Warns of included types that hide types of the same names.
    fn warn_of_inclusion(
        &mut self,
        included: ModuleTypeId,
        names: &ModuleScope,
        before: &ModuleScope,
    ) {
        let mut hidden: Vec<SourceNameId> = names.types.keys().copied().collect();
        hidden.retain(|name| before.types.contains_key(name));
        hidden.sort_unstable();
        for name in hidden {
            let place = self.place(self.tree().module_types[included].range);
            let message = format!("Inclusion shadows type `{}`", self.name_text(name));
            self.warn(
                place,
                message,
                "include only one of the module types, or give the type another name",
            );
        }
    }

    /// Evaluates a specification.
    fn evaluate_specification(
        &mut self,
        specification: &ModuleSpecification,
    ) -> CheckResult<ModuleScope> {
        let mut names = ModuleScope::default();
        match &specification.kind {
            SpecificationKind::Value {
                name,
                type_parameters,
                value_type,
            } => {
                let mark = self.mark_scope();
                let bound = self.bind_type_parameters(type_parameters)?;
                let written = self.check_type(*value_type)?;
                self.end_scope(mark);
                let class = self.find_class(&specification.attributes);
                let parameters = bound.iter().filter_map(|parameter| match *parameter {
                    TypeParameterBinding::Size(_) => None,
                    TypeParameterBinding::Type(id, liftedness) => {
                        Some((id, class.unwrap_or(ParameterClass::Any(liftedness))))
                    }
                });
                let scheme = TypeScheme {
                    parameters: parameters.collect(),
                    body: written.type_id,
                    specified: Some(written.sized),
                };
                let place = self.place(name.range);
                self.require_named_sizes(written.sized, name.range)?;
                let shape =
                    self.shape_specification(&bound, &scheme.parameters, written.sized, place);
                names
                    .terms
                    .insert(name.name, self.specify_value(*name, scheme, shape));
            }
            SpecificationKind::Type(declaration) => {
                let class = match self.find_class(&specification.attributes) {
                    Some(ParameterClass::Scalar(class)) => Some(class),
                    _ => None,
                };
                self.record_definition(declaration.name, NameMeaning::Type);
                let binding = self.check_type_declaration(declaration, class)?;
                names.types.insert(declaration.name.name, binding);
            }
            SpecificationKind::Module(name, module_type) => {
                self.record_definition(*name, NameMeaning::Module);
                let module = self.evaluate_module_type_part(*module_type)?;
                let place = self.place(name.range);
                names.terms.insert(
                    name.name,
                    super::environment::TermBinding::Module(module, place),
                );
            }
            SpecificationKind::Include(module_type) => {
                let range = self.tree().module_types[*module_type].range;
                let module = self.evaluate_module_type_part(*module_type)?;
                names.extend(&*self.require_structure(&module, range)?);
            }
        }
        Ok(names)
    }

    /// The class of the types that a function of the compiler takes, or that an abstract type may stand for:
    /// `#[class(number)]`, in the prelude only.
    fn find_class(&self, attributes: &[SourceAttribute]) -> Option<ParameterClass> {
        if !self.files.files[self.file].name.starts_with("/prelude/") {
            return None;
        }
        let attribute = attributes
            .iter()
            .find(|attribute| self.name_text(attribute.name.name) == "class")?;
        let class = attribute.arguments.as_ref()?.first()?;
        Some(match self.name_text(class.name.name) {
            "number" => ParameterClass::Scalar(ScalarClass::Number),
            "integer" => ParameterClass::Scalar(ScalarClass::Integer),
            "float" => ParameterClass::Scalar(ScalarClass::Float),
            "bits" => ParameterClass::Scalar(ScalarClass::Bits),
            "scalar" => ParameterClass::Scalar(ScalarClass::Scalar),
            _ => ParameterClass::Comparable,
        })
    }
}

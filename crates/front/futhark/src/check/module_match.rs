//! Matching of modules with module types.

use super::environment::{
    ModuleScope, ModuleValue, ParametricModule, TermBinding, TypeBinding, TypeParameterBinding,
    ValueBinding, ValueTarget,
};
use super::module_type::ModuleSignature;
use super::sizing::MatchedTypes;
use super::types::{TypeForm, TypeId, TypeParameterId};
use super::{CheckFault, CheckResult, SourceChecker};
use crate::syntax::token::TextRange;
use crate::syntax::tree::{ModuleTypeId, SourceNameId};
use crate::typed::{SpecifiedType, TypedKind, ValueAscription};
use std::rc::Rc;

impl SourceChecker<'_> {
    /// Ascribes a module type to a module: only what it names is visible, and its abstract types are types of their own.
    pub(super) fn ascribe(
        &mut self,
        module: &ModuleValue,
        ascribed: ModuleTypeId,
        range: TextRange,
    ) -> CheckResult<ModuleValue> {
        let transparent = self.evaluate_module_type(ascribed)?;
        let matched = self.match_module(module, &transparent, range)?;
        let opaque = self.evaluate_module_type(ascribed)?;
        Ok(self.seal(&matched, &opaque.module, &opaque))
    }

    /// Matches a module with a module type, whose abstract types become those of the module. The result has the names of
    /// the module type.
    pub(super) fn match_module(
        &mut self,
        module: &ModuleValue,
        signature: &ModuleSignature,
        range: TextRange,
    ) -> CheckResult<ModuleValue> {
        self.match_types(module, &signature.module, signature, range)?;
        self.match_values(module, &signature.module, range)
    }

    /// Matches the types of a module and of the modules in it.
    fn match_types(
        &mut self,
        module: &ModuleValue,
        specified: &ModuleValue,
        signature: &ModuleSignature,
        range: TextRange,
    ) -> CheckResult<()> {
        let (module, specified) = match (module, specified) {
            (ModuleValue::Structure(module), ModuleValue::Structure(specified)) => {
                (module, specified)
            }
            (ModuleValue::Parametric(_), ModuleValue::Parametric(_)) => return Ok(()),
            (ModuleValue::Structure(_), _) => {
                return Err(self.fail(range, "a parametric module is expected here"));
            }
            (ModuleValue::Parametric(_), _) => {
                return Err(self.fail(range, "the module needs an argument before it fits here"));
            }
        };
        for name in sorted_names(specified.types.keys()) {
            let wanted = specified.types[&name].clone();
            let Some(found) = module.types.get(&name).cloned() else {
                let text = self.name_text(name);
                return Err(self.fail(
                    range,
                    format!("the module has no type `{text}`, which its module type names"),
                ));
            };
            self.match_type(name, &found, &wanted, signature, range)?;
        }
        for name in sorted_names(specified.terms.keys()) {
            if let TermBinding::Module(wanted, _) = &specified.terms[&name] {
                let found = self.find_member_module(module, name, range)?;
                self.match_types(&found, &wanted.clone(), signature, range)?;
            }
        }
        Ok(())
    }

    /// A module in a module.
    fn find_member_module(
        &self,
        module: &ModuleScope,
        name: SourceNameId,
        range: TextRange,
    ) -> CheckResult<ModuleValue> {
        match module.terms.get(&name) {
            Some(TermBinding::Module(found, _)) => Ok(found.clone()),
            Some(TermBinding::Faulty(_)) => Err(CheckFault(None)),
            _ => {
                let text = self.name_text(name);
                Err(self.fail(
                    range,
                    format!("the module has no module `{text}`, which its module type names"),
                ))
            }
        }
    }

    /// Matches a type.
    fn match_type(
        &mut self,
        name: SourceNameId,
        found: &TypeBinding,
        wanted: &TypeBinding,
        signature: &ModuleSignature,
        range: TextRange,
    ) -> CheckResult<()> {
        let text = self.name_text(name).to_owned();
        let is_alike = |(left, right): (&TypeParameterBinding, &TypeParameterBinding)| {
            matches!(left, TypeParameterBinding::Size(_))
                == matches!(right, TypeParameterBinding::Size(_))
        };
        let is_same = found.parameters.len() == wanted.parameters.len()
            && found
                .parameters
                .iter()
                .zip(wanted.parameters.iter())
                .all(is_alike);
        if !is_same {
            return Err(self.fail(
                range,
                format!("type `{text}` has other parameters than in the module type"),
            ));
        }
        let own = type_parameters(found);
        let parameters = type_parameters(wanted);
        let arguments: Vec<TypeId> = parameters
            .iter()
            .map(|&parameter| self.program.types.intern(TypeForm::Parameter(parameter)))
            .collect();
        let actual = self
            .program
            .types
            .substitute(found.type_id, &own, &arguments);
        let specified = self.resolve(wanted.type_id);
        if let TypeForm::Abstract(id, _) = self.program.types.form(specified)
            && signature.owns(*id)
        {
            let id = *id;
            let is_refined = specified != wanted.type_id;
            if found.liftedness > wanted.liftedness && !is_refined {
                return Err(self.fail(
                    range,
                    format!("type `{text}` is lifted, but not in the module type"),
                ));
            }
            self.check_hidden_sizes(name, found, range)?;
            let actual = self.variables.resolve_all(&mut self.program.types, actual);
            self.program.types.define_abstract(id, parameters, actual);
            self.note_hidden_type(id, found);
            return Ok(());
        }
        if self
            .variables
            .unify(&mut self.program.types, actual, wanted.type_id)
            .is_err()
        {
            let (found, wanted) = (self.print_type(actual), self.print_type(wanted.type_id));
            let message = format!("type `{text}` is `{found}`, but `{wanted}` in the module type");
            return Err(self.fail(range, message));
        }
        Ok(())
    }

    /// Matches values and modules, once the types are matched.
    fn match_values(
        &mut self,
        module: &ModuleValue,
        specified: &ModuleValue,
        range: TextRange,
    ) -> CheckResult<ModuleValue> {
        let (module, specified) = match (module, specified) {
            (ModuleValue::Structure(module), ModuleValue::Structure(specified)) => {
                (module, specified)
            }
            (ModuleValue::Parametric(module), ModuleValue::Parametric(specified)) => {
                return self.match_parametric(module, specified, range);
            }
            _ => return Err(CheckFault(None)),
        };
        let mut result = ModuleScope {
            types: specified.types.clone(),
            module_types: specified.module_types.clone(),
            ..ModuleScope::default()
        };
        for name in sorted_names(specified.terms.keys()) {
            let term = match &specified.terms[&name] {
                TermBinding::Value(wanted) => self.match_value(module, name, wanted, range)?,
                TermBinding::Module(wanted, place) => {
                    let found = self.find_member_module(module, name, range)?;
                    TermBinding::Module(self.match_values(&found, wanted, range)?, *place)
                }
                other => other.clone(),
            };
            result.terms.insert(name, term);
        }
        Ok(ModuleValue::Structure(Rc::new(result)))
    }

    /// Matches a value.
    fn match_value(
        &mut self,
        module: &ModuleScope,
        name: SourceNameId,
        wanted: &ValueBinding,
        range: TextRange,
    ) -> CheckResult<TermBinding> {
        let found = self.find_matched_value(module, name, range)?;
        self.check_outer_sizes(name, wanted, range)?;
        if let (ValueTarget::Definition(definition), Some(sized)) =
            (found.target, wanted.scheme.specified)
        {
            let type_id = wanted.scheme.body;
            self.program.ascriptions.push(ValueAscription {
                definition,
                specified: SpecifiedType { sized, type_id },
                place: self.place(range),
            });
        }
        let instance = self.unify_matched_types(name, &found, wanted, range)?;
        let arguments = self.instantiate_arguments(&found, &instance).into_iter();
        let arguments = arguments.map(|argument| {
            self.variables
                .resolve_all(&mut self.program.types, argument)
        });
        let arguments: Vec<TypeId> = arguments.collect();
        let types = MatchedTypes {
            instance: &instance,
            arguments: &arguments,
        };
        self.match_sizes(name, &found, wanted, types, range)?;
        self.resolve_specification(wanted.target, found.target, &arguments);
        Ok(TermBinding::Value(ValueBinding {
            target: found.target,
            scheme: Rc::clone(&wanted.scheme),
            shape: wanted.shape.clone(),
            arguments: Some(arguments.into()),
            place: found.place,
        }))
    }

    /// The value of a module for one that its module type names.
    fn find_matched_value(
        &mut self,
        module: &ModuleScope,
        name: SourceNameId,
        range: TextRange,
    ) -> CheckResult<ValueBinding> {
        match module.terms.get(&name) {
            Some(TermBinding::Value(found)) => Ok(found.clone()),
            Some(TermBinding::Faulty(_)) => Err(CheckFault(None)),
            _ => {
                let text = self.name_text(name);
                let message =
                    format!("the module has no value `{text}`, which its module type names");
                Err(self.fail(range, message))
            }
        }
    }

    /// Unifies the types of a value in a module and in its module type. Returns the types for the parameters of its scheme: those
    /// that nothing determines are `()`.
    fn unify_matched_types(
        &mut self,
        name: SourceNameId,
        found: &ValueBinding,
        wanted: &ValueBinding,
        range: TextRange,
    ) -> CheckResult<Vec<TypeId>> {
        let (actual, instance) = self.instantiate(&found.scheme, range);
        let types = &mut self.program.types;
        let unified = self.variables.unify(types, actual, wanted.scheme.body);
        if unified.is_err() {
            let text = self.name_text(name).to_owned();
            let (found, wanted) = (
                self.print_type(found.scheme.body),
                self.print_type(wanted.scheme.body),
            );
            let message =
                format!("value `{text}` has type `{found}`, but `{wanted}` in the module type");
            return Err(self.fail(range, message));
        }
        let unit = self.program.types.tuple(&[], &mut self.program.names);
        for &variable in &instance {
            let resolved = self.resolve(variable);
            if let TypeForm::Variable(free) = self.program.types.form(resolved) {
                let free = *free;
                self.variables.bind(free, unit);
            }
        }
        Ok(instance)
    }

    /// Puts the value of a module in the place of one that its module type names, in the types of the module type. They may have
    /// the value as a size.
    fn resolve_specification(
        &mut self,
        specified: ValueTarget,
        found: ValueTarget,
        arguments: &[TypeId],
    ) {
        let ValueTarget::Specified(id) = specified else {
            return;
        };
        let kind = match found {
            ValueTarget::Definition(definition) => {
                TypedKind::Global(definition, arguments.to_vec())
            }
            ValueTarget::Intrinsic(intrinsic) => {
                TypedKind::Intrinsic(intrinsic, arguments.to_vec())
            }
            ValueTarget::Specified(_) => return,
        };
        for typed in std::mem::take(&mut self.specification_uses[id]) {
            self.program.expressions[typed].kind = kind.clone();
        }
    }

    /// Matches a parametric module: it is applied to a module that has just the module type of the parameter.
    fn match_parametric(
        &mut self,
        module: &Rc<ParametricModule>,
        specified: &Rc<ParametricModule>,
        range: TextRange,
    ) -> CheckResult<ModuleValue> {
        let ParametricModule::Specified {
            parameter,
            name,
            result,
        } = &**specified
        else {
            return Ok(ModuleValue::Parametric(Rc::clone(module)));
        };
        let ascribed = Rc::new(ParametricModule::Ascribed {
            module: Rc::clone(module),
            parameter: parameter.clone(),
            name: *name,
            result: result.clone(),
        });
        let argument = self.evaluate_binding(parameter)?;
        self.apply_module(&ascribed, &argument.module, range)?;
        Ok(ModuleValue::Parametric(ascribed))
    }

    /// The opaque view of a module that was matched with the same module type: abstract types hide those of the module.
    pub(super) fn seal(
        &mut self,
        matched: &ModuleValue,
        opaque: &ModuleValue,
        signature: &ModuleSignature,
    ) -> ModuleValue {
        let (matched, opaque) = match (matched, opaque) {
            (ModuleValue::Structure(matched), ModuleValue::Structure(opaque)) => (matched, opaque),
            (matched, _) => return matched.clone(),
        };
        for name in sorted_names(opaque.types.keys()) {
            let (hidden, visible) = (matched.types[&name].clone(), opaque.types[&name].clone());
            let specified = self.resolve(visible.type_id);
            if let TypeForm::Abstract(id, _) = self.program.types.form(specified)
                && signature.owns(*id)
            {
                let id = *id;
                let parameters = type_parameters(&visible);
                let arguments = parameters
                    .iter()
                    .map(|&parameter| self.program.types.intern(TypeForm::Parameter(parameter)));
                let arguments: Vec<_> = arguments.collect();
                let hidden_type = self.program.types.substitute(
                    hidden.type_id,
                    &type_parameters(&hidden),
                    &arguments,
                );
                self.program
                    .types
                    .represent_abstract(id, parameters, hidden_type);
                self.note_hidden_type(id, &hidden);
            }
        }
        let mut result = ModuleScope::clone(opaque);
        for name in sorted_names(opaque.terms.keys()) {
            let term = match (&matched.terms[&name], &opaque.terms[&name]) {
                (TermBinding::Module(matched, _), TermBinding::Module(opaque, place)) => {
                    TermBinding::Module(self.seal(matched, opaque, signature), *place)
                }
                (TermBinding::Value(matched), TermBinding::Value(opaque)) => {
                    let renamed = opaque.scheme.parameter_ids().into_iter();
                    let renamed: Vec<_> = renamed
                        .map(|parameter| self.program.types.intern(TypeForm::Parameter(parameter)))
                        .collect();
                    let arguments = self.instantiate_arguments(matched, &renamed);
                    self.resolve_specification(opaque.target, matched.target, &arguments);
                    TermBinding::Value(ValueBinding {
                        target: matched.target,
                        scheme: Rc::clone(&opaque.scheme),
                        shape: opaque.shape.clone(),
                        arguments: Some(arguments.into()),
                        place: matched.place,
                    })
                }
                (_, opaque) => opaque.clone(),
            };
            result.terms.insert(name, term);
        }
        ModuleValue::Structure(Rc::new(result))
    }
}

/// The type parameters of a type.
fn type_parameters(binding: &TypeBinding) -> Vec<TypeParameterId> {
    let parameters = binding
        .parameters
        .iter()
        .filter_map(|parameter| match parameter {
            TypeParameterBinding::Size(_) => None,
            TypeParameterBinding::Type(id, _) => Some(*id),
        });
    parameters.collect()
}

/// Names in an order that does not depend on the hash map.
fn sorted_names<'n>(names: impl Iterator<Item = &'n SourceNameId>) -> Vec<SourceNameId> {
    let mut names: Vec<SourceNameId> = names.copied().collect();
    names.sort();
    names
}

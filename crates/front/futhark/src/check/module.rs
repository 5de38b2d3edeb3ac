//! Modules: structures, parametric modules and their application, imports.

use super::environment::{ModuleClosure, ModuleScope, ModuleValue, ParametricModule, TermBinding};
use super::name_record::{NameMeaning, PathTarget};
use super::types::PrimitiveType;
use super::{CheckResult, SourceChecker};
use crate::syntax::token::TextRange;
use crate::syntax::tree::{
    ModuleExpressionId, ModuleKind, ModuleParameter, ModuleTypeId, SourceName, SourceNameId,
};
use crate::typed::{IntrinsicId, ProgramPlace};
use std::rc::Rc;

impl SourceChecker<'_> {
    /// The module as a structure.
    pub(super) fn require_structure(
        &self,
        module: &ModuleValue,
        range: TextRange,
    ) -> CheckResult<Rc<ModuleScope>> {
        match module {
            ModuleValue::Structure(structure) => Ok(Rc::clone(structure)),
            ModuleValue::Parametric(_) => {
                Err(self.fail(range, "this is a parametric module; it needs an argument"))
            }
        }
    }

    /// Names in scope before the prelude: the built-in types, the functions of the compiler and their operators.
    pub(super) fn check_intrinsics(&mut self) -> CheckResult<ModuleScope> {
        for scalar in PrimitiveType::all() {
            let name = self.program.names.intern(scalar.spelling());
            let binding = self.bind_scalar_type(scalar);
            self.initial.types.insert(name, binding);
        }
        let exported = self.check_file(self.files.intrinsics)?;
        let name = self.program.names.intern("intrinsics");
        let Some(binding) = exported.module_types.get(&name).cloned() else {
            return Err(self.fail(
                TextRange::default(),
                "the prelude has no module type `intrinsics`",
            ));
        };
        let signature = self.evaluate_binding(&binding)?;
        let structure = self.require_structure(&signature.module, TextRange::default())?;
        let mut scope = self.initial.clone();
        let mut module = ModuleScope {
            types: structure.types.clone(),
            ..ModuleScope::default()
        };
        let mut members: Vec<_> = structure.terms.iter().collect();
        members.sort_by_key(|(name, _)| **name);
        for (&name, term) in members {
            let TermBinding::Value(value) = term else {
                continue;
            };
            let term = TermBinding::Value(value.clone());
            let is_operator = !self
                .name_text(name)
                .starts_with(|first: char| first.is_ascii_alphabetic());
            if is_operator {
                scope.terms.insert(name, term.clone());
            }
            module.terms.insert(name, term);
        }
        let module = ModuleValue::Structure(Rc::new(module));
        let place = self.built_in_place();
        scope.terms.insert(name, TermBinding::Module(module, place));
        Ok(scope)
    }

    /// The function of the compiler with a name.
    pub(super) fn intern_intrinsic(&mut self, name: SourceNameId) -> IntrinsicId {
        let intrinsics = &mut self.program.intrinsics;
        let known = intrinsics.ids().find(|&id| intrinsics[id] == name);
        known.unwrap_or_else(|| intrinsics.push(name))
    }

    /// The names of an imported file.
    pub(super) fn check_import(&mut self, file: SourceName) -> CheckResult<Rc<ModuleScope>> {
        match self.files.imports.get(&(self.file, file.name)) {
            Some(&imported) => {
                self.record_import(file, imported);
                self.check_file(imported)
            }
            None => Err(self.fail(file.range, "the file was not read")),
        }
    }

    /// Checks the definition of a module.
    pub(super) fn check_module_definition(
        &mut self,
        parameters: Vec<ModuleParameter>,
        ascribed: Option<ModuleTypeId>,
        definition: ModuleExpressionId,
    ) -> CheckResult<ModuleValue> {
        if parameters.is_empty() {
            let module = self.check_module(definition)?;
            return match ascribed {
                Some(ascribed) => {
                    self.ascribe(&module, ascribed, self.tree().modules[definition].range)
                }
                None => Ok(module),
            };
        }
        let closure = ModuleClosure {
            file: self.file,
            parameters,
            ascribed,
            body: definition,
            environment: Rc::new(self.scope.clone()),
        };
        self.check_specimen(&closure)?;
        Ok(ModuleValue::Parametric(Rc::new(ParametricModule::Defined(
            closure,
        ))))
    }

    /// Checks the body of a parametric module for parameters of which only their module types are known.
    fn check_specimen(&mut self, closure: &ModuleClosure) -> CheckResult<()> {
        if self.is_instance {
            return Ok(());
        }
        let scope = self.scope.clone();
        let result = self.check_specimen_body(closure);
        self.scope = scope;
        result
    }

    fn check_specimen_body(&mut self, closure: &ModuleClosure) -> CheckResult<()> {
        for ModuleParameter { name, module_type } in &closure.parameters {
            self.record_definition(*name, NameMeaning::Module);
            let signature = self.evaluate_module_type(*module_type)?;
            let place = self.place(name.range);
            self.scope
                .terms
                .insert(name.name, TermBinding::Module(signature.module, place));
        }
        self.check_module_definition(Vec::new(), closure.ascribed, closure.body)?;
        Ok(())
    }

    /// Checks a module expression.
    pub(super) fn check_module(&mut self, id: ModuleExpressionId) -> CheckResult<ModuleValue> {
        let node = &self.tree().modules[id];
        match &node.kind {
            ModuleKind::Name(path) => {
                self.record_path(path, PathTarget::Terms);
                self.find_module(path)
            }
            ModuleKind::Parentheses(inner) => self.check_module(*inner),
            ModuleKind::Declarations(declarations) => {
                let scope = self.scope.clone();
                let before = self.faults.len();
                let exported = self.check_declarations(declarations, false);
                self.record_region(node.range);
                self.scope = scope;
                if self.faults.len() > before {
                    return Err(super::CheckFault(None));
                }
                Ok(ModuleValue::Structure(Rc::new(exported)))
            }
            ModuleKind::Import(file) => Ok(ModuleValue::Structure(self.check_import(*file)?)),
            ModuleKind::Ascription(module, ascribed) => {
                let range = self.tree().modules[*module].range;
                let module = self.check_module(*module)?;
                self.ascribe(&module, *ascribed, range)
            }
            ModuleKind::Lambda {
                parameter,
                ascribed,
                body,
            } => self.check_module_definition(vec![*parameter], *ascribed, *body),
            ModuleKind::Application(function, argument) => {
                let function_range = self.tree().modules[*function].range;
                let ModuleValue::Parametric(function) = self.check_module(*function)? else {
                    return Err(self.fail(function_range, "this module takes no argument"));
                };
                let argument = self.check_module(*argument)?;
                self.apply_module(&function, &argument, node.range)
            }
        }
    }

    /// Applies a parametric module.
    pub(super) fn apply_module(
        &mut self,
        function: &Rc<ParametricModule>,
        argument: &ModuleValue,
        range: TextRange,
    ) -> CheckResult<ModuleValue> {
        match &**function {
            ParametricModule::Defined(closure) => self.apply_closure(closure, argument, range),
            ParametricModule::Specified {
                parameter,
                name,
                result,
            } => {
                let signature = self.evaluate_binding(parameter)?;
                let argument = self.match_module(argument, &signature, range)?;
                Ok(self.evaluate_result(*name, argument, result)?.module)
            }
            ParametricModule::Ascribed {
                module,
                parameter,
                name,
                result,
            } => {
                let signature = self.evaluate_binding(parameter)?;
                let argument = self.match_module(argument, &signature, range)?;
                let applied = self.apply_module(module, &argument, range)?;
                let transparent = self.evaluate_result(*name, argument.clone(), result)?;
                let matched = self.match_module(&applied, &transparent, range)?;
                let opaque = self.evaluate_result(*name, argument, result)?;
                Ok(self.seal(&matched, &opaque.module, &opaque))
            }
        }
    }

    /// Evaluates the module type of a result, where the parameter may have a name.
    fn evaluate_result(
        &mut self,
        name: Option<SourceName>,
        argument: ModuleValue,
        result: &super::environment::ModuleTypeBinding,
    ) -> CheckResult<super::module_type::ModuleSignature> {
        let definition = result.definition;
        self.with_environment(result.file, &result.environment, |checker| {
            if let Some(name) = name {
                let place = checker.place(name.range);
                checker
                    .scope
                    .terms
                    .insert(name.name, TermBinding::Module(argument, place));
            }
            checker.evaluate_module_type(definition)
        })
    }

    /// Applies a parametric module of the source: its body is checked again, for the argument.
    fn apply_closure(
        &mut self,
        closure: &ModuleClosure,
        argument: &ModuleValue,
        range: TextRange,
    ) -> CheckResult<ModuleValue> {
        let ModuleParameter { name, module_type } = closure.parameters[0];
        let signature = self.with_environment(closure.file, &closure.environment, |checker| {
            checker.evaluate_module_type(module_type)
        })?;
        let argument = self.match_module(argument, &signature, range)?;
        let rest = closure.parameters[1..].to_vec();
        let mut environment = ModuleScope::clone(&closure.environment);
        let place = ProgramPlace {
            file: closure.file,
            range: name.range,
        };
        environment
            .terms
            .insert(name.name, TermBinding::Module(argument, place));
        let was_instance = std::mem::replace(&mut self.is_instance, true);
        let applied = self.with_environment(closure.file, &environment, |checker| {
            checker.check_module_definition(rest, closure.ascribed, closure.body)
        });
        self.is_instance = was_instance;
        applied
    }
}

//! Declarations: values with their inferred types, types, modules, imports.

use super::environment::{
    ModuleScope, ModuleTypeBinding, ParameterClass, TermBinding, TypeParameterBinding, TypeScheme,
    ValueBinding, ValueTarget,
};
use super::name_record::NameMeaning;
use super::own_name::OwnName;
use super::types::{TypeForm, TypeId, TypeParameterId, TypeVariableId};
use super::unify::{ScalarClass, VariableState};
use super::{CheckResult, SourceChecker};
use crate::sizes::shape::ShapedScheme;
use crate::syntax::token::TextRange;
use crate::syntax::tree::{
    DeclarationKind, SourceDeclaration, SourceName, TypeLiftedness, ValueDeclaration, ValueKeyword,
};
use crate::typed::{DefinitionId, FileId, LocalId};
use rustc_hash::FxHashSet;
use std::rc::Rc;
use std::sync::Arc;

/// Size and type parameters of a declaration, apart.
struct DeclaredParameters {
    sizes: Vec<LocalId>,
    types: Vec<(TypeParameterId, ParameterClass)>,
}

/// Where a declaration stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DeclarationSite {
    /// At the top of a file.
    File,
    /// At the top of a file, after `local`.
    FileLocal,
    /// In a module.
    Module,
}

impl SourceChecker<'_> {
    /// Checks the main file with the prelude in scope, unless it is the text of typed source.
    pub(super) fn check_main(&mut self, main: FileId) -> CheckResult<()> {
        self.initial = self.check_intrinsics()?;
        if !self.files.is_typed_text() {
            let prelude = self.check_file(self.files.prelude)?;
            self.initial.extend(&prelude);
        }
        self.check_file(main)?;
        Ok(())
    }

    /// Checks a file. Returns the names that it exports.
    pub(super) fn check_file(&mut self, file: FileId) -> CheckResult<Rc<ModuleScope>> {
        if let Some(scope) = self.file_scopes.get(&file) {
            return Ok(Rc::clone(scope));
        }
        let scope = std::mem::replace(&mut self.scope, self.initial.clone());
        let outer = std::mem::replace(&mut self.file, file);
        let files = self.files;
        let exported = self.check_declarations(&files.files[file].tree.declarations, true);
        self.record_region(whole_text(&files.files[file].text));
        self.scope = scope;
        self.file = outer;
        let exported = Rc::new(exported);
        self.file_scopes.insert(file, Rc::clone(&exported));
        Ok(exported)
    }

    /// Checks declarations, one after the other, and adds their names to the scope. Returns the names that they export.
    /// Faults are reported.
    pub(super) fn check_declarations(
        &mut self,
        declarations: &[SourceDeclaration],
        is_file: bool,
    ) -> ModuleScope {
        self.check_duplicate_declarations(declarations);
        let mut exported = ModuleScope::default();
        for declaration in declarations {
            let mark = self.mark_scope();
            let site = if is_file {
                DeclarationSite::File
            } else {
                DeclarationSite::Module
            };
            let checked = self.check_declaration(declaration, site);
            let checked = self.close_scope(mark, declaration.range, checked);
            let (names, is_exported) = match checked {
                Ok(checked) => checked,
                Err(fault) => {
                    self.report(fault);
                    (self.faulty_names(declaration), true)
                }
            };
            self.scope.extend(&names);
            if is_exported {
                exported.extend(&names);
            }
        }
        exported
    }

    /// Checks a declaration. Returns its names, and whether they are exported.
    fn check_declaration(
        &mut self,
        declaration: &SourceDeclaration,
        site: DeclarationSite,
    ) -> CheckResult<(ModuleScope, bool)> {
        let mut names = ModuleScope::default();
        match &declaration.kind {
            DeclarationKind::Value(value) => {
                self.require_redefinable(value.name)?;
                if value.keyword == ValueKeyword::Entry && site == DeclarationSite::Module {
                    let message = "Entry points may not be declared inside modules";
                    let hint = "declare it with `def`, and an entry point outside that calls it";
                    return Err(
                        self.fail_with(declaration.range, message, |fault| fault.with_hint(hint))
                    );
                }
                let binding = self.check_value_declaration(value, &declaration.attributes)?;
                if let ValueTarget::Definition(id) = binding.target
                    && self.is_entry(value, site)
                {
                    self.check_entry_sizes(id)?;
                    self.program.entries.push(id);
                }
                names
                    .terms
                    .insert(value.name.name, TermBinding::Value(binding));
            }
            DeclarationKind::Type(type_declaration) => {
                self.record_definition(type_declaration.name, NameMeaning::Type);
                let binding = self.check_type_declaration(type_declaration, None)?;
                names.types.insert(type_declaration.name.name, binding);
            }
            DeclarationKind::ModuleType { name, definition } => {
                self.record_definition(*name, NameMeaning::ModuleType);
                let binding = ModuleTypeBinding {
                    place: self.place(name.range),
                    ..self.close_module_type(*definition)
                };
                self.evaluate_module_type(*definition)?;
                names.module_types.insert(name.name, Rc::new(binding));
            }
            DeclarationKind::Module {
                name,
                parameters,
                ascribed,
                definition,
            } => {
                self.record_definition(*name, NameMeaning::Module);
                let parameters = parameters.clone();
                self.module_path.push(name.name);
                let checked = self.check_module_definition(parameters, *ascribed, *definition);
                self.module_path.pop();
                let module = checked?;
                let place = self.place(name.range);
                names
                    .terms
                    .insert(name.name, TermBinding::Module(module, place));
            }
            DeclarationKind::Open(module) => {
                let range = self.tree().modules[*module].range;
                let module = self.check_module(*module)?;
                names.extend(&*self.require_structure(&module, range)?);
            }
            DeclarationKind::Import(file) => {
                names.extend(&*self.check_import(*file)?);
                return Ok((names, false));
            }
            DeclarationKind::Local(inner) => {
                let site = match site {
                    DeclarationSite::Module => DeclarationSite::Module,
                    DeclarationSite::File | DeclarationSite::FileLocal => {
                        DeclarationSite::FileLocal
                    }
                };
                let (names, _) = self.check_declaration(inner, site)?;
                return Ok((names, false));
            }
        }
        Ok((names, true))
    }

    /// Whether a declaration is an entry point of the program. One of the name `main` is, unless it is local.
    fn is_entry(&self, value: &ValueDeclaration, site: DeclarationSite) -> bool {
        let is_named_main = self.name_text(value.name.name) == "main";
        let is_declared = match site {
            DeclarationSite::File => value.keyword == ValueKeyword::Entry || is_named_main,
            DeclarationSite::FileLocal => value.keyword == ValueKeyword::Entry,
            DeclarationSite::Module => false,
        };
        is_declared && self.file == self.files.main
    }

    /// Checks a function or constant, which is the definition with the given number. `own_name` tells what its name means
    /// inside it.
    pub(super) fn check_definition(
        &mut self,
        id: DefinitionId,
        value: &ValueDeclaration,
        own_name: OwnName,
    ) -> CheckResult<ValueBinding> {
        let first_variable = self.variables.len();
        let first_local = self.program.locals.len();
        let declared = self.bind_declared_parameters(value)?;
        let own_type = self.add_variable(VariableState::Free, value.name.range);
        let definition = &mut self.program.definitions[id];
        definition.size_parameters = declared.sizes;
        definition.type_id = own_type;
        definition.is_recursive = false;
        if own_name == OwnName::Itself {
            let itself = ValueBinding {
                target: ValueTarget::Definition(id),
                scheme: TypeScheme::from_type(own_type),
                shape: None,
                arguments: None,
                place: self.place(value.name.range),
            };
            self.bind_term(value.name.name, TermBinding::Value(itself));
        }
        let (lambda, type_id) = self.check_function(&value.signature, value.body, Vec::new())?;
        self.require_type(type_id, own_type, value.name.range, "the definition")?;
        let mut parameters = declared.types;
        self.settle_variables(first_variable, type_id, &mut parameters)?;
        let body = self.variables.resolve_all(&mut self.program.types, type_id);
        let definition = &mut self.program.definitions[id];
        definition.type_parameters = parameters.iter().map(|(parameter, _)| *parameter).collect();
        definition.parameters = lambda.parameters;
        definition.result = lambda.result;
        definition.type_id = body;
        definition.body = Some(lambda.body);
        self.infer_sizes(id, &parameters)?;
        let last_local = self.program.locals.len();
        self.program.definitions[id].locals = first_local..last_local;
        Ok(ValueBinding {
            target: ValueTarget::Definition(id),
            scheme: Rc::new(TypeScheme {
                parameters,
                body,
                specified: None,
            }),
            shape: None,
            arguments: None,
            place: self.place(value.name.range),
        })
    }

    /// Binds the size and type parameters of a declaration.
    fn bind_declared_parameters(
        &mut self,
        value: &ValueDeclaration,
    ) -> CheckResult<DeclaredParameters> {
        let bound = self.bind_type_parameters(&value.signature.type_parameters)?;
        let mut declared = DeclaredParameters {
            sizes: Vec::new(),
            types: Vec::new(),
        };
        for parameter in bound {
            match parameter {
                TypeParameterBinding::Size(size) => declared.sizes.push(size),
                TypeParameterBinding::Type(id, liftedness) => {
                    declared.types.push((id, ParameterClass::Any(liftedness)));
                }
            }
        }
        Ok(declared)
    }

    /// Decides what the variables from `first` on stand for, at the end of a definition of a type.
    ///
    /// Scalars get the default type of their class, sums have the constructors that are known. Variables of the type of the
    /// definition become type parameters; all others stand for what nothing depends on.
    fn settle_variables(
        &mut self,
        first: usize,
        type_id: TypeId,
        parameters: &mut Vec<(TypeParameterId, ParameterClass)>,
    ) -> CheckResult<()> {
        let visible = self.collect_variables(type_id);
        for variable in self.variables.variables_from(first) {
            match self.variables.state(variable).clone() {
                VariableState::Scalar(class) => {
                    if visible.contains(&variable) {
                        self.warn_of_default(variable, class);
                    }
                    let scalar = self.program.types.scalar(class.default_scalar());
                    self.variables.bind(variable, scalar);
                }
                VariableState::Sum(clauses) => {
                    let text = self.name_text(clauses[0].0);
                    let message = format!(
                        "Type is ambiguous: it is a sum with `#{text}`, whose other constructors are not known"
                    );
                    let place = self.variables.place(variable);
                    return Err(self.fail_with(place, message, |fault| {
                        fault.with_hint("write the type: `(#c : t)`")
                    }));
                }
                VariableState::Record(fields) => {
                    let text = self.name_text(fields[0].0);
                    let message =
                        format!("the type of this record with a field `{text}` is not known here");
                    let place = self.variables.place(variable);
                    return Err(self.fail_with(place, message, |diagnostic| {
                        diagnostic.with_hint("write the type where the record is bound")
                    }));
                }
                VariableState::Free | VariableState::Comparable | VariableState::Bound(_) => {}
            }
        }
        self.generalise(type_id, parameters);
        for variable in self.variables.variables_from(first) {
            if matches!(
                self.variables.state(variable),
                VariableState::Free | VariableState::Comparable
            ) {
                let unit = self.program.types.tuple(&[], &mut self.program.names);
                self.variables.bind(variable, unit);
            }
        }
        Ok(())
    }

    /// The variables of a type.
    fn collect_variables(&mut self, type_id: TypeId) -> FxHashSet<TypeVariableId> {
        let mut found = FxHashSet::default();
        let mut seen = FxHashSet::default();
        let mut pending = vec![type_id];
        while let Some(id) = pending.pop() {
            let id = self.resolve(id);
            if !seen.insert(id) {
                continue;
            }
            if let TypeForm::Variable(variable) = self.program.types.form(id) {
                found.insert(*variable);
            }
            pending.extend(self.program.types.parts_of(id));
        }
        found
    }

    /// Warns that a part of the type of a definition has the default type of its class.
    fn warn_of_default(&mut self, variable: TypeVariableId, class: ScalarClass) {
        let place = self.place(self.variables.place(variable));
        let scalar = class.default_scalar().spelling();
        let message = format!("the type is ambiguous, and taken to be `{scalar}`");
        self.warn(place, message, "write the types of the parameters");
    }

    /// Makes the free variables of a type parameters.
    fn generalise(&mut self, id: TypeId, parameters: &mut Vec<(TypeParameterId, ParameterClass)>) {
        let id = self.resolve(id);
        if let TypeForm::Variable(variable) = self.program.types.form(id) {
            let variable = *variable;
            let class = match self.variables.state(variable) {
                VariableState::Comparable => ParameterClass::Comparable,
                _ => ParameterClass::Any(TypeLiftedness::FullyLifted),
            };
            let name = self.program.names.intern(&format!("t{}", parameters.len()));
            let parameter = self.program.types.add_parameter(name, None);
            parameters.push((parameter, class));
            let type_id = self.program.types.intern(TypeForm::Parameter(parameter));
            self.variables.bind(variable, type_id);
            return;
        }
        for part in self.program.types.parts_of(id) {
            self.generalise(part, parameters);
        }
    }

    /// The value of a name of a module that is given by a module type.
    pub(super) fn specify_value(
        &mut self,
        name: SourceName,
        scheme: TypeScheme,
        shape: ShapedScheme,
    ) -> TermBinding {
        let target = if self.file == self.files.intrinsics {
            ValueTarget::Intrinsic(self.intern_intrinsic(name.name))
        } else {
            ValueTarget::Specified(self.specification_uses.push(Vec::new()))
        };
        let shape = Arc::new(shape);
        self.record_definition(name, NameMeaning::Specification(Some(Arc::clone(&shape))));
        TermBinding::Value(ValueBinding {
            target,
            scheme: Rc::new(scheme),
            shape: Some(shape),
            arguments: None,
            place: self.place(name.range),
        })
    }

    /// The names of a declaration with a fault, so that what uses them is not reported again.
    fn faulty_names(&self, declaration: &SourceDeclaration) -> ModuleScope {
        let mut names = ModuleScope::default();
        let name = match &declaration.kind {
            DeclarationKind::Value(value) => value.name,
            DeclarationKind::Module { name, .. } => *name,
            DeclarationKind::Local(inner) => return self.faulty_names(inner),
            _ => return names,
        };
        let faulty = TermBinding::Faulty(self.place(name.range));
        names.terms.insert(name.name, faulty);
        names
    }
}

/// The range of a text.
fn whole_text(text: &str) -> TextRange {
    TextRange {
        start: 0,
        end: u32::try_from(text.len()).unwrap_or(u32::MAX),
    }
}

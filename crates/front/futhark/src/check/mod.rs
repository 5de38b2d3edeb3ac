//! Checker: names, modules and types of Futhark source.
//!
//! The first pass infers types without sizes (Hindley and Milner's inference with classes of scalars, fields and
//! constructors), and gives a [`TypedProgram`]. Modules are evaluated on the way: a parametric module is checked once by
//! itself for its faults, and once for each argument. The types that a module type hides are types of their own.

mod binding;
mod declaration;
mod duplicates;
pub mod environment;
mod expression;
pub(crate) mod fault_list;
mod function;
mod mismatch;
mod module;
mod module_match;
mod module_type;
pub mod name_record;
mod name_use;
mod operator;
mod own_name;
mod pattern;
mod resolve;
mod scope;
mod sizing;
mod type_expression;
mod type_sizes;
pub mod types;
pub mod unify;

use crate::consumption::check_consumption;
use crate::restrictions::check_restrictions;
use crate::sizes::SealedUse;
use crate::sizes::shape::{ShapeRecord, ShapeTable};
use crate::source::SourceFiles;
use crate::syntax::token::TextRange;
use crate::syntax::tree::{SourceNameId, SyntaxTree};
use crate::typed::{
    FileId, ProgramPlace, TypedExpression, TypedExpressionId, TypedKind, TypedProgram,
};
use environment::{ModuleScope, SpecificationId, TypeScheme, ValueBinding};
use name_record::NameRecord;
use rustc_hash::FxHashMap;
use scope::ScopeChange;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_entity::EntityArena;
use std::rc::Rc;
use types::TypeId;
use unify::{VariableState, VariableTable};

/// A fault of a program, with the file that it is in.
#[derive(Clone, Debug)]
pub struct SourceFault {
    /// The file.
    pub file: FileId,
    /// The fault.
    pub diagnostic: SourceDiagnostic,
}

/// Why a declaration could not be checked. None if the reason was reported before.
#[derive(Clone, Debug)]
pub struct CheckFault(Option<Box<SourceFault>>);

/// The result of a checking function.
type CheckResult<T> = Result<T, CheckFault>;

/// Checks the types of a program. The last file is the one whose entry points count. The second part of the result has the
/// types with sizes of its definitions.
///
/// # Errors
///
/// The faults of the program, at least one: one for each declaration that has any.
pub fn check_program(
    files: &mut SourceFiles,
) -> Result<(TypedProgram, ShapeTable), Vec<SourceFault>> {
    let checked = check_with(files, None, ShapeTable::default());
    if checked.faults.is_empty() {
        Ok((checked.program, checked.shapes))
    } else {
        Err(checked.faults)
    }
}

/// A program as far as it could be checked, for tools that show it to people.
#[derive(Debug)]
pub struct RecordedProgram {
    /// The program. Definitions with faults have no body, or expressions without sizes.
    pub program: TypedProgram,
    /// The names of the program.
    pub names: NameRecord,
    /// The types with sizes of definitions, and those of expressions and variables.
    pub shapes: ShapeTable,
    /// The faults of the program.
    pub faults: Vec<SourceFault>,
}

/// Checks a program as [`check_program`] does, and records its names and types. A program with faults has a result too.
pub fn check_recorded_program(files: &mut SourceFiles) -> RecordedProgram {
    let mut shapes = ShapeTable::default();
    shapes.record = Some(ShapeRecord::default());
    check_with(files, Some(Box::default()), shapes)
}

fn check_with(
    files: &mut SourceFiles,
    names: Option<Box<NameRecord>>,
    shapes: ShapeTable,
) -> RecordedProgram {
    let program = TypedProgram {
        names: std::mem::take(&mut files.names),
        ..TypedProgram::default()
    };
    let mut checker = SourceChecker {
        files,
        program,
        variables: VariableTable::default(),
        scope: ModuleScope::default(),
        changes: Vec::new(),
        file: files.main,
        module_path: Vec::new(),
        file_scopes: FxHashMap::default(),
        initial: ModuleScope::default(),
        faults: Vec::new(),
        is_instance: false,
        shapes,
        sealed: FxHashMap::default(),
        specification_uses: EntityArena::default(),
        names,
    };
    let main = checker.files.main;
    if let Err(fault) = checker.check_main(main) {
        checker.report(fault);
    }
    checker.resolve_types();
    checker.resolve_record();
    let names = checker
        .names
        .take()
        .map_or_else(NameRecord::default, |names| *names);
    let shapes = checker.shapes;
    let mut faults = checker.faults;
    let mut program = checker.program;
    let report = check_restrictions(&program, files);
    faults.extend(report.faults);
    program.warnings.extend(report.warnings);
    if files.is_typed_text() {
        // They were given for the source.
        program.warnings.clear();
    }
    program.sort_warnings();
    faults.extend(check_consumption(&program, files));
    RecordedProgram {
        program,
        names,
        shapes,
        faults,
    }
}

/// State of the checker.
struct SourceChecker<'a> {
    files: &'a SourceFiles,
    program: TypedProgram,
    variables: VariableTable,
    /// The meanings of names where the checker is.
    scope: ModuleScope,
    /// The changes of `scope` since the last declaration, to be undone.
    changes: Vec<ScopeChange>,
    /// The file that is checked.
    file: FileId,
    /// The names of the modules that the checker is in, from the outermost.
    module_path: Vec<SourceNameId>,
    /// The names of the files that are checked already.
    file_scopes: FxHashMap<FileId, Rc<ModuleScope>>,
    /// The meanings of names at the beginning of each file.
    initial: ModuleScope,
    faults: Vec<SourceFault>,
    /// The types with sizes of all definitions.
    shapes: ShapeTable,
    /// The types of values that are seen through module types, where they are used.
    sealed: FxHashMap<TypedExpressionId, SealedUse>,
    /// The uses of each value that is only known by a module type.
    specification_uses: EntityArena<SpecificationId, Vec<TypedExpressionId>>,
    /// Whether the body of a parametric module is checked for an argument. It was checked for its faults before.
    is_instance: bool,
    /// The record of names, if there is to be one.
    names: Option<Box<NameRecord>>,
}

impl<'a> SourceChecker<'a> {
    /// The tree of the file at hand.
    fn tree(&self) -> &'a SyntaxTree {
        let files: &'a SourceFiles = self.files;
        &files.files[self.file].tree
    }

    /// The text of a name.
    fn name_text(&self, name: SourceNameId) -> &str {
        &self.program.names[name]
    }

    /// A place in the file at hand.
    fn place(&self, range: TextRange) -> ProgramPlace {
        ProgramPlace {
            file: self.file,
            range,
        }
    }

    /// A fault at a range of the file at hand.
    fn fail(&self, range: TextRange, message: impl Into<String>) -> CheckFault {
        self.fail_with(range, message, |diagnostic| diagnostic)
    }

    /// A fault with notes and a hint.
    fn fail_with(
        &self,
        range: TextRange,
        message: impl Into<String>,
        decorate: impl FnOnce(SourceDiagnostic) -> SourceDiagnostic,
    ) -> CheckFault {
        let place = SourceLocation::from_text_range(range.start as usize, range.end as usize);
        CheckFault(Some(Box::new(SourceFault {
            file: self.file,
            diagnostic: decorate(SourceDiagnostic::error(place, message)),
        })))
    }

    /// Adds a fault to those of the program.
    fn report(&mut self, fault: CheckFault) {
        if let CheckFault(Some(fault)) = fault
            && self.faults.len() < 100
        {
            self.faults.push(*fault);
        }
    }

    /// The results of independent parts. All their faults are reported.
    fn collect_checked<T>(&mut self, results: Vec<CheckResult<T>>) -> CheckResult<Vec<T>> {
        if results.iter().all(Result::is_ok) {
            return results.into_iter().collect();
        }
        for fault in results.into_iter().filter_map(Result::err) {
            self.report(fault);
        }
        Err(CheckFault(None))
    }

    /// A new variable of inference.
    fn add_variable(&mut self, state: VariableState, range: TextRange) -> TypeId {
        self.variables.add(&mut self.program.types, state, range)
    }

    /// The type with the variables at its top resolved.
    fn resolve(&mut self, id: TypeId) -> TypeId {
        self.variables.resolve(&mut self.program.types, id)
    }

    /// A type for a message.
    fn print_type(&mut self, id: TypeId) -> String {
        let id = self.variables.resolve_all(&mut self.program.types, id);
        self.program.types.print(id, &self.program.names)
    }

    /// Adds a typed expression.
    fn add_typed(
        &mut self,
        kind: TypedKind,
        type_id: TypeId,
        range: TextRange,
    ) -> TypedExpressionId {
        let place = self.place(range);
        self.program.expressions.push(TypedExpression {
            kind,
            type_id,
            place,
        })
    }

    /// The type of a typed expression.
    fn type_of(&self, id: TypedExpressionId) -> TypeId {
        self.program.expressions[id].type_id
    }

    /// Makes the type of what stands at a range equal to the one that is needed there.
    fn require_type(
        &mut self,
        found: TypeId,
        expected: TypeId,
        range: TextRange,
        role: &str,
    ) -> CheckResult<()> {
        match self
            .variables
            .unify(&mut self.program.types, found, expected)
        {
            Ok(()) => Ok(()),
            Err(fault) => Err(self.fail_unify(fault, found, expected, range, role)),
        }
    }

    /// The type of a scheme with new variables for its parameters, and these variables.
    fn instantiate(&mut self, scheme: &TypeScheme, range: TextRange) -> (TypeId, Vec<TypeId>) {
        let states = scheme.parameters.iter().map(|(_, class)| match class {
            environment::ParameterClass::Any(_) => VariableState::Free,
            environment::ParameterClass::Scalar(class) => VariableState::Scalar(*class),
            environment::ParameterClass::Comparable => VariableState::Comparable,
        });
        let states: Vec<_> = states.collect();
        let arguments = states
            .into_iter()
            .map(|state| self.add_variable(state, range));
        let arguments: Vec<_> = arguments.collect();
        let parameters = scheme.parameter_ids();
        let instance = self
            .program
            .types
            .substitute(scheme.body, &parameters, &arguments);
        (instance, arguments)
    }

    /// The types for the type parameters of the target of a value, where `instance` has those for its scheme.
    fn instantiate_arguments(&mut self, value: &ValueBinding, instance: &[TypeId]) -> Vec<TypeId> {
        let Some(arguments) = &value.arguments else {
            return instance.to_vec();
        };
        let parameters = value.scheme.parameter_ids();
        let types = &mut self.program.types;
        let arguments = arguments.iter();
        arguments
            .map(|&argument| types.substitute(argument, &parameters, instance))
            .collect()
    }
}

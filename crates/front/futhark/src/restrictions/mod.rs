//! Restrictions on typed programs: rules that hold for types, patterns and literals once inference is done.
//!
//! - [`literal_range`]: numbers fit their types.
//! - [`exhaustive`]: a match has a case for each value, other patterns match all values.
//! - [`liftedness`]: functions are no elements of arrays and no results of branches and loops.
//! - [`recursion`]: recursive functions are first-order but for parameters that are passed on.
//! - [`entry_point`]: entry points are first-order and not polymorphic.
//! - [`warning`]: unused variables, and what else is probably not intended.

mod entry_point;
mod equality;
mod exhaustive;
mod liftedness;
mod literal_range;
mod pattern_matrix;
mod recursion;
mod warning;

use crate::check::SourceFault;
use crate::check::fault_list::FaultList;
use crate::check::types::{TypeId, TypeParameterId};
use crate::source::SourceFiles;
use crate::syntax::tree::TypeLiftedness;
use crate::typed::{FileId, LocalId, ProgramPlace, TypedExpressionId, TypedProgram};
use rustc_hash::{FxHashMap, FxHashSet};

/// Faults and warnings of a pass.
#[derive(Debug, Default)]
pub(crate) struct RestrictionReport {
    /// The faults.
    pub(crate) faults: Vec<SourceFault>,
    /// The warnings.
    pub(crate) warnings: Vec<SourceFault>,
}

/// Checks the restrictions of a program whose types are inferred.
pub(crate) fn check_restrictions(program: &TypedProgram, files: &SourceFiles) -> RestrictionReport {
    let mut checker = RestrictionChecker {
        program,
        files,
        faults: FaultList::default(),
        warnings: Vec::new(),
        warned: FxHashSet::default(),
        inputs: FxHashSet::default(),
        inferred: FxHashMap::default(),
        allowed: FxHashSet::default(),
    };
    checker.check_literals();
    for &entry in &program.entries {
        checker.check_entry(entry);
        for &parameter in &program.definitions[entry].parameters {
            checker.note_inputs(parameter);
        }
    }
    for id in program.definitions.ids() {
        checker.check_definition(id);
    }
    checker.warn_of_unused();
    RestrictionReport {
        faults: checker.faults.into_faults(),
        warnings: checker.warnings,
    }
}

/// State of the pass.
struct RestrictionChecker<'a> {
    program: &'a TypedProgram,
    files: &'a SourceFiles,
    faults: FaultList,
    warnings: Vec<SourceFault>,
    /// The places of warnings.
    warned: FxHashSet<(FileId, u32, u32)>,
    /// The variables of the parameters of entry points.
    inputs: FxHashSet<LocalId>,
    /// The liftedness of type parameters that were inferred, as far as their uses restrict it.
    inferred: FxHashMap<TypeParameterId, TypeLiftedness>,
    /// Types that are known to have at most a liftedness.
    allowed: FxHashSet<(TypeId, TypeLiftedness)>,
}

impl RestrictionChecker<'_> {
    /// Whether a place is in the prelude, which is correct.
    fn is_prelude(&self, place: ProgramPlace) -> bool {
        self.files.files[place.file].name.starts_with("/prelude/")
    }

    /// A type for messages.
    fn print_type(&self, type_id: TypeId) -> String {
        self.program.types.print(type_id, &self.program.names)
    }

    /// Checks a definition, and notes what it requires of type parameters that were inferred.
    fn check_definition(&mut self, id: crate::typed::DefinitionId) {
        let program = self.program;
        let definition = &program.definitions[id];
        let Some(body) = definition
            .body
            .filter(|_| !self.is_prelude(definition.place))
        else {
            return;
        };
        for &parameter in &definition.parameters {
            self.check_irrefutable(parameter);
        }
        if definition.is_recursive {
            self.check_recursion(id, body);
        }
        let mut pending: Vec<TypedExpressionId> = vec![body];
        while let Some(id) = pending.pop() {
            self.check_expression(id);
            let first = pending.len();
            program.expressions[id]
                .kind
                .for_each_child(&mut |child| pending.push(child));
            pending[first..].reverse();
        }
    }

    /// Checks the restrictions of an expression, without those of its parts.
    fn check_expression(&mut self, id: TypedExpressionId) {
        self.check_patterns(id);
        self.check_value_types(id);
        self.check_equality(id);
        self.warn_of_expression(id);
    }
}

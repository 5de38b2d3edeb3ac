//! Liftedness: functions and values whose sizes are not known are no elements of arrays, no results of branches and loops,
//! and stand only for type parameters that allow it.

use super::RestrictionChecker;
use crate::check::types::{TypeForm, TypeId};
use crate::syntax::tree::TypeLiftedness;
use crate::typed::{ProgramPlace, TypedExpressionId, TypedKind, TypedLoopForm};

impl RestrictionChecker<'_> {
    /// Requires of the types of an expression what its form requires.
    pub(super) fn check_value_types(&mut self, id: TypedExpressionId) {
        let program = self.program;
        let node = &program.expressions[id];
        let place = node.place;
        let no_function = TypeLiftedness::SizeLifted;
        match &node.kind {
            TypedKind::Array(_) => {
                if let TypeForm::Array(element) = program.types.form(node.type_id) {
                    self.require_liftedness(
                        *element,
                        TypeLiftedness::Unlifted,
                        place,
                        "an array element",
                    );
                }
            }
            TypedKind::If(..) => {
                self.require_liftedness(node.type_id, no_function, place, "the result of `if`");
            }
            TypedKind::Match(..) => {
                self.require_liftedness(node.type_id, no_function, place, "the result of `match`");
            }
            TypedKind::Loop(source) => {
                let pattern = &program.patterns[source.pattern];
                let (type_id, place) = (pattern.type_id, pattern.place);
                self.require_liftedness(type_id, no_function, place, "a loop parameter");
                if let TypedLoopForm::Elements(pattern, _) = source.form {
                    let pattern = &program.patterns[pattern];
                    let unlifted = TypeLiftedness::Unlifted;
                    self.require_liftedness(
                        pattern.type_id,
                        unlifted,
                        pattern.place,
                        "an array element",
                    );
                }
            }
            TypedKind::Global(definition, arguments) => {
                let parameters = &program.definitions[*definition].type_parameters;
                self.check_arguments(parameters, arguments, place);
            }
            TypedKind::Local(local, arguments) if !arguments.is_empty() => {
                if let Some(parameters) = program.local_type_parameters.get(local) {
                    self.check_arguments(parameters, arguments, place);
                }
            }
            _ => {}
        }
    }

    /// Requires of type arguments what the type parameters of a definition require.
    fn check_arguments(
        &mut self,
        parameters: &[crate::check::types::TypeParameterId],
        arguments: &[TypeId],
        place: ProgramPlace,
    ) {
        for (&parameter, &argument) in parameters.iter().zip(arguments) {
            let most = self.parameter_liftedness(parameter);
            if most < TypeLiftedness::FullyLifted {
                let name = &self.program.names[self.program.types.parameter_name(parameter)];
                let role = format!("the type parameter `{name}` of the function");
                self.require_liftedness(argument, most, place, &role);
            }
        }
    }

    fn parameter_liftedness(&self, id: crate::check::types::TypeParameterId) -> TypeLiftedness {
        let declared = self.program.types.parameter_liftedness(id);
        self.inferred.get(&id).copied().unwrap_or(declared)
    }

    /// Requires that a type is of a liftedness or a lesser one. A type parameter that was inferred becomes so.
    fn require_liftedness(
        &mut self,
        type_id: TypeId,
        most: TypeLiftedness,
        place: ProgramPlace,
        role: &str,
    ) {
        let Some(part) = self.find_lifted(type_id, most) else {
            return;
        };
        let (whole, text) = (self.print_type(type_id), self.print_type(part));
        let message = match self.program.types.form(part) {
            TypeForm::Function(..) => {
                format!("{role} may not be of function type, but `{whole}` is functional")
            }
            _ => format!("{role} may not be of type `{whole}`, as `{text}` is lifted"),
        };
        let hint = match most {
            TypeLiftedness::Unlifted => {
                "values that stand here have sizes that are known, and no function in them"
            }
            _ => "values that stand here have no function in them",
        };
        self.faults
            .report(place, message, |fault| fault.with_hint(hint));
    }

    /// A part of a type that is more lifted than allowed.
    fn find_lifted(&mut self, type_id: TypeId, most: TypeLiftedness) -> Option<TypeId> {
        if self.allowed.contains(&(type_id, most)) {
            return None;
        }
        let types = &self.program.types;
        match types.form(type_id) {
            TypeForm::Function(..) => return Some(type_id),
            TypeForm::Parameter(parameter) => {
                let parameter = *parameter;
                if types.is_inferred(parameter) {
                    let before = self.parameter_liftedness(parameter);
                    self.inferred.insert(parameter, before.min(most));
                } else if types.parameter_liftedness(parameter) > most {
                    return Some(type_id);
                }
            }
            TypeForm::Abstract(abstract_id, _)
                if types.abstract_liftedness(*abstract_id) > most =>
            {
                return Some(type_id);
            }
            _ => {
                let parts = types.parts_of(type_id);
                for part in parts {
                    if let Some(found) = self.find_lifted(part, most) {
                        return Some(found);
                    }
                }
            }
        }
        self.allowed.insert((type_id, most));
        None
    }
}

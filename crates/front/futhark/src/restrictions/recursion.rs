//! Recursion: a recursive function has a first-order result, and passes its functional parameters on unchanged.

use super::RestrictionChecker;
use crate::check::types::{TypeForm, TypeId};
use crate::syntax::tree::TypeLiftedness;
use crate::typed::{
    DefinitionId, ProgramPlace, TypedExpressionId, TypedKind, TypedPatternId, TypedPatternKind,
};

impl RestrictionChecker<'_> {
    /// Checks the result of a recursive function and its calls of itself.
    pub(super) fn check_recursion(&mut self, id: DefinitionId, body: TypedExpressionId) {
        let program = self.program;
        let definition = &program.definitions[id];
        let mut result = definition.type_id;
        for _ in &definition.parameters {
            if let TypeForm::Function(_, rest) = program.types.form(result) {
                result = *rest;
            }
        }
        let name = program.names[definition.name].to_owned();
        if !self.is_first_order(result) {
            let printed = self.print_type(result);
            let message = format!(
                "the recursive function `{name}` returns `{printed}`, which is not first-order"
            );
            self.faults.report(definition.place, message, |fault| {
                fault.with_hint("write the function type as further parameters instead")
            });
        }
        let parameters = definition.parameters.iter();
        let functional: Vec<Option<TypedPatternId>> = parameters
            .map(|&parameter| {
                let type_id = program.patterns[parameter].type_id;
                (!self.is_first_order(type_id)).then_some(parameter)
            })
            .collect();
        if functional.iter().any(Option::is_some) {
            self.check_recursive_uses(id, &functional, body);
        }
    }

    /// Whether values of a type have no function in them.
    pub(super) fn is_first_order(&self, type_id: TypeId) -> bool {
        let types = &self.program.types;
        match types.form(type_id) {
            TypeForm::Function(..) => false,
            TypeForm::Parameter(parameter) => {
                types.is_inferred(*parameter)
                    || types.parameter_liftedness(*parameter) < TypeLiftedness::FullyLifted
            }
            TypeForm::Abstract(abstract_id, _)
                if types.abstract_liftedness(*abstract_id) == TypeLiftedness::FullyLifted =>
            {
                false
            }
            _ => {
                let parts = types.parts_of(type_id);
                parts.into_iter().all(|part| self.is_first_order(part))
            }
        }
    }

    /// Requires that each use of a function in its own body is a call with all arguments, of which the functional ones are
    /// the parameters themselves.
    fn check_recursive_uses(
        &mut self,
        id: DefinitionId,
        functional: &[Option<TypedPatternId>],
        body: TypedExpressionId,
    ) {
        let program = self.program;
        let name = program.names[program.definitions[id].name].to_owned();
        let mut pending = vec![body];
        while let Some(at) = pending.pop() {
            let node = &program.expressions[at];
            if matches!(node.kind, TypedKind::Global(used, _) if used == id) {
                let message = format!(
                    "the recursive reference to `{name}` must be a fully saturated application, as it has a higher-order parameter"
                );
                self.faults.report(node.place, message, |fault| fault);
                continue;
            }
            let mut skipped = None;
            if let TypedKind::Application(function, arguments) = &node.kind
                && matches!(program.expressions[*function].kind, TypedKind::Global(used, _) if used == id)
            {
                skipped = Some(*function);
                self.check_recursive_call(&name, functional, arguments, node.place);
            }
            node.kind.for_each_child(&mut |child| {
                if Some(child) != skipped {
                    pending.push(child);
                }
            });
        }
    }

    fn check_recursive_call(
        &mut self,
        name: &str,
        functional: &[Option<TypedPatternId>],
        arguments: &[TypedExpressionId],
        place: ProgramPlace,
    ) {
        if arguments.len() != functional.len() {
            let (needed, found) = (functional.len(), arguments.len());
            let message = format!(
                "the recursive application of `{name}` is not fully saturated: it takes {needed} arguments, but {found} are given"
            );
            self.faults.report(place, message, |fault| fault);
            return;
        }
        for (parameter, &argument) in functional.iter().zip(arguments) {
            let Some(parameter) = parameter else {
                continue;
            };
            if !self.is_parameter(*parameter, argument) {
                let message = format!(
                    "a higher-order argument in the recursive application of `{name}` must be passed unchanged"
                );
                let place = self.program.expressions[argument].place;
                self.faults.report(place, message, |fault| {
                    fault.with_hint("pass the parameter itself")
                });
            }
        }
    }

    /// Whether an argument is a variable that the pattern of a parameter binds.
    fn is_parameter(&self, pattern: TypedPatternId, argument: TypedExpressionId) -> bool {
        let TypedKind::Local(local, _) = self.program.expressions[argument].kind else {
            return false;
        };
        match &self.program.patterns[pattern].kind {
            TypedPatternKind::Local(bound) => *bound == local,
            TypedPatternKind::Ascribed(inner) => self.is_parameter(*inner, argument),
            TypedPatternKind::Record(fields) => fields
                .iter()
                .any(|(_, field)| self.is_parameter(*field, argument)),
            _ => false,
        }
    }
}

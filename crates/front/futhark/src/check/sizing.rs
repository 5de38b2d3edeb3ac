//! The second pass from the first: sizes of definitions, of specifications of module types, and of hidden types.

use super::environment::{
    ParameterClass, TypeBinding, TypeParameterBinding, ValueBinding, ValueTarget,
};
use super::types::{AbstractTypeId, TypeId, TypeParameterId};
use super::{CheckFault, CheckResult, SourceChecker};
use crate::sizes::SizeInference;
use crate::sizes::shape::{AbstractShape, ShapedScheme};
use crate::syntax::token::TextRange;
use crate::syntax::tree::{SourceNameId, TypeLiftedness};
use crate::typed::{DefinitionId, HiddenType, LocalId, ProgramPlace, SizedTypeId};
use std::sync::Arc;

/// The types that may stand for type parameters.
fn find_liftedness(
    parameters: &[(TypeParameterId, ParameterClass)],
) -> Vec<(TypeParameterId, TypeLiftedness)> {
    let parameters = parameters.iter().map(|(parameter, class)| {
        let liftedness = match class {
            ParameterClass::Any(liftedness) => *liftedness,
            ParameterClass::Scalar(_) => TypeLiftedness::Unlifted,
            ParameterClass::Comparable => TypeLiftedness::SizeLifted,
        };
        (*parameter, liftedness)
    });
    parameters.collect()
}

/// The size parameters among those of a type or specification.
pub(super) fn size_parameters(bound: &[TypeParameterBinding]) -> Vec<LocalId> {
    let sizes = bound.iter().filter_map(|parameter| match parameter {
        TypeParameterBinding::Size(local) => Some(*local),
        TypeParameterBinding::Type(..) => None,
    });
    sizes.collect()
}

/// The types for the type parameters of a value that is matched with a module type.
#[derive(Clone, Copy)]
pub(super) struct MatchedTypes<'t> {
    /// Those for its own parameters.
    pub(super) instance: &'t [TypeId],
    /// Those for the parameters of the definition after it.
    pub(super) arguments: &'t [TypeId],
}

impl SourceChecker<'_> {
    /// The second pass at a place.
    fn size_inference(&mut self, place: ProgramPlace) -> SizeInference<'_> {
        SizeInference::new(
            &mut self.program,
            &mut self.variables,
            &mut self.shapes,
            &self.sealed,
            place,
        )
    }

    /// Infers the sizes of a definition whose types are known.
    pub(super) fn infer_sizes(
        &mut self,
        id: DefinitionId,
        parameters: &[(TypeParameterId, ParameterClass)],
    ) -> CheckResult<()> {
        let types = find_liftedness(parameters);
        let place = self.program.definitions[id].place;
        match self.size_inference(place).infer_definition(id, types) {
            Ok(_) => Ok(()),
            Err(fault) => {
                self.shapes.definitions.remove(&id);
                Err(CheckFault(Some(fault)))
            }
        }
    }

    /// Requires that the sizes of an entry point follow from its arguments.
    pub(super) fn check_entry_sizes(&mut self, id: DefinitionId) -> CheckResult<()> {
        let Some(scheme) = self.shapes.definitions.get(&id).cloned() else {
            return Ok(());
        };
        let place = self.program.definitions[id].place;
        if !scheme.types.is_empty() {
            let message = "Entry point functions may not be polymorphic in types";
            return Err(self.fail_with(place.range, message, |diagnostic| {
                diagnostic.with_hint("write the types of its parameters and of its result")
            }));
        }
        match self.size_inference(place).find_undetermined(&scheme) {
            None => Ok(()),
            Some(size) => {
                let name = self.name_text(self.program.locals[size].name).to_owned();
                let message = format!(
                    "the size `{name}` of an entry point does not follow from its arguments"
                );
                Err(self.fail_with(place.range, message, |diagnostic| {
                    diagnostic.with_hint("give the sizes of its result in terms of its parameters")
                }))
            }
        }
    }

    /// The type with sizes of a value of a module type.
    pub(super) fn shape_specification(
        &mut self,
        bound: &[TypeParameterBinding],
        parameters: &[(TypeParameterId, ParameterClass)],
        sized: SizedTypeId,
        place: ProgramPlace,
    ) -> ShapedScheme {
        let sizes = size_parameters(bound);
        let types = find_liftedness(parameters);
        self.size_inference(place)
            .shape_specification(sizes, types, sized)
    }

    /// Requires that a value of a module has no sizes of which its module type says nothing.
    pub(super) fn check_outer_sizes(
        &mut self,
        name: SourceNameId,
        wanted: &ValueBinding,
        range: TextRange,
    ) -> CheckResult<()> {
        let Some(shape) = wanted.shape.as_ref().map(|scheme| scheme.shape) else {
            return Ok(());
        };
        let place = self.place(range);
        if !self.size_inference(place).has_unknown_size(shape) {
            return Ok(());
        }
        let text = self.name_text(name);
        let message = format!(
            "the type of value `{text}` has a size that its module type does not name, because a hidden type has it"
        );
        Err(self.fail_with(range, message, |fault| {
            fault.with_hint(format!("make `{text}` a function, which chooses the size"))
        }))
    }

    /// Requires that a value of a module has the sizes that its module type says. `instance` has the types for its type
    /// parameters, `arguments` those for the parameters of the definition after it.
    pub(super) fn match_sizes(
        &mut self,
        name: SourceNameId,
        found: &ValueBinding,
        wanted: &ValueBinding,
        types: MatchedTypes<'_>,
        range: TextRange,
    ) -> CheckResult<()> {
        let Some(specified) = wanted.shape.clone() else {
            return Ok(());
        };
        let (scheme, types) = match (&found.shape, found.target) {
            (Some(shape), _) => (Arc::clone(shape), types.instance),
            (None, ValueTarget::Definition(id)) => match self.shapes.definitions.get(&id) {
                Some(scheme) => (Arc::clone(scheme), types.arguments),
                None => return Ok(()),
            },
            _ => return Ok(()),
        };
        let name = self.name_text(name).to_owned();
        let inference = self.size_inference(self.place(range));
        let matched = inference.match_specification(&name, &specified, &scheme, types);
        matched.map_err(|fault| CheckFault(Some(fault)))
    }

    /// Notes which type with sizes an abstract type is, or hides.
    pub(super) fn note_hidden_type(&mut self, id: AbstractTypeId, binding: &TypeBinding) {
        let sizes = size_parameters(&binding.parameters);
        let types = binding
            .parameters
            .iter()
            .filter_map(|parameter| match parameter {
                TypeParameterBinding::Size(_) => None,
                TypeParameterBinding::Type(id, _) => Some(*id),
            });
        let types: Vec<_> = types.collect();
        let hidden = HiddenType {
            sizes: sizes.clone(),
            types: types.clone(),
            sized: binding.sized,
        };
        self.program.hidden_types.insert(id, hidden);
        let place = ProgramPlace {
            file: self.file,
            range: TextRange::default(),
        };
        let shape = self.size_inference(place).shape_hidden(binding.sized);
        let known = AbstractShape {
            sizes,
            types,
            shape,
        };
        self.shapes.abstracts.insert(id, known);
    }
}

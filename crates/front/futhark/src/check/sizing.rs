//! The second pass from the first: sizes of definitions, of specifications of module types, and of hidden types.

use super::environment::{ParameterClass, TypeBinding, TypeParameterBinding};
use super::types::{AbstractTypeId, TypeParameterId};
use super::{CheckFault, CheckResult, SourceChecker};
use crate::sizes::SizeInference;
use crate::sizes::facts::HiddenType;
use crate::sizes::shape::{AbstractShape, ShapedScheme};
use crate::syntax::tree::TypeLiftedness;
use crate::typed::{DefinitionId, LocalId, ProgramPlace, SizedTypeId};

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
            Err(fault) => Err(CheckFault(Some(fault))),
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
        let hidden = HiddenType {
            sizes,
            types: types.collect(),
            sized: binding.sized,
        };
        let place = ProgramPlace {
            file: self.file,
            range: crate::syntax::token::TextRange::default(),
        };
        let shape = self.size_inference(place).shape_hidden(binding.sized);
        let known = AbstractShape {
            sizes: hidden.sizes.clone(),
            types: hidden.types.clone(),
            shape,
        };
        self.shapes.abstracts.insert(id, known);
        self.program.sizes.hidden_types.insert(id, hidden);
    }
}

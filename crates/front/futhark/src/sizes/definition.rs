//! Definitions at top level: inference from parameters to result, and the checks at its end.

use super::causality::check_causality;
use super::function::{FunctionSource, InferredFunction};
use super::read::UnwrittenSizes;
use super::shape::{ShapedForm, ShapedScheme, ShapedTypeId, SizeVariableId};
use super::variable::SizeOrigin;
use super::{LocalShape, SizeInference, SizeResult};
use crate::check::types::TypeParameterId;
use crate::syntax::tree::TypeLiftedness;
use crate::typed::{DefinitionId, LocalId, SizedTypeId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

impl SizeInference<'_> {
    /// Infers the sizes of a definition, and records what evaluation and compilation need. Returns its type.
    ///
    /// # Errors
    ///
    /// The first fault about sizes.
    pub(crate) fn infer_definition(
        mut self,
        id: DefinitionId,
        types: Vec<(TypeParameterId, TypeLiftedness)>,
    ) -> SizeResult<Arc<ShapedScheme>> {
        let result = self.infer_definition_parts(id, types);
        if self.table.record.is_some() {
            self.close_record();
        }
        result
    }

    fn infer_definition_parts(
        &mut self,
        id: DefinitionId,
        types: Vec<(TypeParameterId, TypeLiftedness)>,
    ) -> SizeResult<Arc<ShapedScheme>> {
        let definition = self.program.definitions[id].clone();
        let Some(body) = definition.body else {
            return Err(
                self.fail_at(definition.place, "the definition has no body", |fault| {
                    fault
                }),
            );
        };
        self.variables.level = 1;
        for &size in &definition.size_parameters {
            self.bind_size_name(size);
        }
        let mut hidden = Vec::new();
        let parameters =
            self.bind_parameters(&definition.parameters, SizeOrigin::Parameter, &mut hidden)?;
        let source = FunctionSource {
            parameters: &definition.parameters,
            result: definition.result,
            body,
        };
        self.bind_itself(id, &parameters, &source, &types);
        let result = self.infer_body(&source, &hidden)?;
        self.place = definition.place;
        self.variables.level = 1;
        let function = InferredFunction { parameters, result };
        let mut sizes = definition.size_parameters.clone();
        self.generalise(&function, &mut sizes);
        let shape = self.close_function(function)?;
        let name = self.program.names[definition.name].to_owned();
        self.check_parameter_sizes(shape, definition.parameters.len(), &name)?;
        let shape = self.variables.close_shape(self.table, shape);
        self.check_size_parameters(&definition.size_parameters, shape)?;
        self.check_ambiguity()?;
        check_causality(self, body)?;
        let scheme = Arc::new(ShapedScheme {
            sizes: sizes.clone(),
            types,
            shape,
        });
        self.table.definitions.insert(id, Arc::clone(&scheme));
        self.program.definitions[id].size_parameters = sizes;
        self.export();
        self.export_unnamed_arguments(id, shape);
        Ok(scheme)
    }

    /// Resolves the recorded types of the definition at hand.
    fn close_record(&mut self) {
        let Some(mut record) = self.table.record.take() else {
            return;
        };
        for id in std::mem::take(&mut self.recorded) {
            if let Some(shape) = record.expressions.get_mut(&id) {
                *shape = self.variables.resolve_shape(self.table, *shape);
            }
        }
        for (local, shape) in std::mem::take(&mut self.locals) {
            let scheme = match shape {
                LocalShape::Scheme(scheme) => scheme,
                LocalShape::Value(shape) => Arc::new(ShapedScheme {
                    sizes: Vec::new(),
                    types: Vec::new(),
                    shape: self.variables.resolve_shape(self.table, shape),
                }),
            };
            record.locals.insert(local, scheme);
        }
        self.table.record = Some(record);
    }

    /// The type of a value of a module type.
    pub(crate) fn shape_specification(
        mut self,
        mut sizes: Vec<LocalId>,
        types: Vec<(TypeParameterId, TypeLiftedness)>,
        sized: SizedTypeId,
    ) -> ShapedScheme {
        self.variables.level = 1;
        let request = self.request(SizeOrigin::Anonymous);
        let mut unwritten = UnwrittenSizes::Found(request);
        let result = self.read_sized(sized, &mut unwritten, &FxHashMap::default());
        let parameters = Vec::new();
        let function = InferredFunction { parameters, result };
        let declared = sizes.len();
        self.generalise(&function, &mut sizes);
        self.table.unwritten.extend(&sizes[declared..]);
        let shape = self.variables.close_shape(self.table, result);
        ShapedScheme {
            sizes,
            types,
            shape,
        }
    }

    /// A size parameter that is no size of a parameter.
    pub(crate) fn find_undetermined(&self, scheme: &ShapedScheme) -> Option<LocalId> {
        let mut determined = Vec::new();
        let mut at = scheme.shape;
        while let ShapedForm::Function(function) = self.table.shape(at) {
            self.visit_immediate(function.parameter, &mut |size| {
                determined.extend(self.as_local(size));
            });
            at = function.result;
        }
        let is_open = |size: &&LocalId| !determined.contains(size);
        scheme.sizes.iter().find(is_open).copied()
    }

    /// The type that an abstract type is or hides.
    pub(crate) fn shape_hidden(mut self, sized: SizedTypeId) -> ShapedTypeId {
        let shape = self.read_sized(sized, &mut UnwrittenSizes::Ignored, &FxHashMap::default());
        self.variables.close_shape(self.table, shape)
    }

    /// Gives a function whose result has a written type its type within its own body.
    fn bind_itself(
        &mut self,
        id: DefinitionId,
        parameters: &[(Option<LocalId>, ShapedTypeId)],
        source: &FunctionSource<'_>,
        types: &[(TypeParameterId, TypeLiftedness)],
    ) {
        let definition = &self.program.definitions[id];
        let Some(written) = source.result else {
            return;
        };
        if !definition.is_recursive || source.parameters.is_empty() {
            return;
        }
        let own_sizes = definition.size_parameters.clone();
        let mut unwritten = UnwrittenSizes::Chosen(Vec::new());
        let result = self.read_sized(written, &mut unwritten, &FxHashMap::default());
        let UnwrittenSizes::Chosen(chosen) = unwritten else {
            return;
        };
        let shape = self.function_shape(parameters, chosen, result);
        // The patterns of parameters have determined sizes by now. Size parameters among them differ from call to call.
        let shape = self.variables.resolve_shape(self.table, shape);
        let types = types.to_vec();
        let scheme = ShapedScheme {
            sizes: own_sizes,
            types,
            shape,
        };
        self.table.definitions.insert(id, Arc::new(scheme));
    }

    /// Requires that size parameters occur in the type of the definition.
    fn check_size_parameters(&mut self, sizes: &[LocalId], shape: ShapedTypeId) -> SizeResult<()> {
        let Some(&unused) = sizes.iter().find(|&&size| !self.mentions(shape, size)) else {
            return Ok(());
        };
        let name = self.program.names[self.program.locals[unused].name].to_owned();
        let message = format!("the size parameter `{name}` is no size of the definition's type");
        Err(self.fail_at(self.place, message, |diagnostic| {
            diagnostic.with_hint("remove it, or use it in the type of a parameter")
        }))
    }

    /// Requires that each size is determined by something.
    fn check_ambiguity(&mut self) -> SizeResult<()> {
        for index in 0..self.variables.count_all() {
            let variable = SizeVariableId::new(index);
            if !self.variables.is_free(variable) {
                continue;
            }
            let (origin, place) = self.variables.origin_of(variable);
            if origin == SizeOrigin::Existential {
                continue;
            }
            let message = format!("a size is ambiguous that arises from {}", origin.describe());
            return Err(self.fail_at(place, message, |diagnostic| {
                diagnostic.with_hint("write a type with the size")
            }));
        }
        Ok(())
    }
}

//! Functions: lambdas, local functions, and the generalisation of their sizes.

use super::read::UnwrittenSizes;
use super::replace::SizeReplacement;
use super::shape::{ShapedScheme, ShapedTypeId, SizeForm, SizeId};
use super::variable::{BinderKind, SizeOrigin, SizeVariables};
use super::{SizeInference, SizeResult};
use crate::syntax::tree::TypeLiftedness;
use crate::typed::{
    LocalId, LocalVariable, SizedTypeId, TypedBinding, TypedExpressionId, TypedKind, TypedLambda,
    TypedPatternId, TypedPatternKind,
};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A function whose body is inferred.
pub(super) struct InferredFunction {
    /// The names and types of the parameters.
    pub(super) parameters: Vec<(Option<LocalId>, ShapedTypeId)>,
    /// The type of the result.
    pub(super) result: ShapedTypeId,
}

/// The source of a function.
pub(super) struct FunctionSource<'f> {
    /// The parameters.
    pub(super) parameters: &'f [TypedPatternId],
    /// The type of the result, if it is written.
    pub(super) result: Option<SizedTypeId>,
    /// The body.
    pub(super) body: TypedExpressionId,
}

impl SizeInference<'_> {
    /// The variable that a whole parameter is.
    pub(super) fn parameter_local(&self, id: TypedPatternId) -> Option<LocalId> {
        match self.program.patterns[id].kind {
            TypedPatternKind::Local(local) => Some(local),
            TypedPatternKind::Ascribed(inner) => self.parameter_local(inner),
            _ => None,
        }
    }

    /// Binds the parameters of a function. The variables that are only parts of parameters are added to `hidden`. The
    /// sizes of a parameter cannot refer to names that it binds itself, nor to those that later ones bind. Each binds
    /// in a scope of its own.
    pub(super) fn bind_parameters(
        &mut self,
        parameters: &[TypedPatternId],
        origin: SizeOrigin,
        hidden: &mut Vec<LocalId>,
    ) -> SizeResult<Vec<(Option<LocalId>, ShapedTypeId)>> {
        let mut shapes = Vec::with_capacity(parameters.len());
        for &parameter in parameters {
            self.place = self.program.patterns[parameter].place;
            let type_id = self.program.patterns[parameter].type_id;
            let shape = match self.program.patterns[parameter].ascribed {
                Some(ascribed) => {
                    let mut unwritten = UnwrittenSizes::Found(self.request(SizeOrigin::Written));
                    self.read_sized(ascribed, &mut unwritten, &FxHashMap::default())
                }
                None => self.shape_type(type_id, self.request(origin)),
            };
            let mut bound = Vec::new();
            self.variables.level += 1;
            self.bind_pattern(parameter, shape, &[], &mut bound)?;
            let whole = self.parameter_local(parameter);
            hidden.extend(bound.into_iter().filter(|local| Some(*local) != whole));
            self.record.patterns.push((parameter, Vec::new(), shape));
            shapes.push((whole, shape));
        }
        Ok(shapes)
    }

    /// Infers the body of a function whose parameters are bound.
    pub(super) fn infer_body(
        &mut self,
        source: &FunctionSource<'_>,
        hidden: &[LocalId],
    ) -> SizeResult<ShapedTypeId> {
        self.variables.level += 1;
        let shape = self.infer(source.body)?;
        self.variables.level -= 1;
        let shape = self.variables.resolve_shape(self.table, shape);
        self.place = self.program.expressions[source.body].place;
        let (shape, _) = match hidden.first() {
            Some(&first) => {
                let name = self.program.names[self.program.locals[first].name].to_owned();
                self.close_scope(shape, hidden, &name)
            }
            None => (shape, Vec::new()),
        };
        let Some(written) = source.result else {
            return Ok(shape);
        };
        let request = self.request(SizeOrigin::Anonymous);
        let mut unwritten = UnwrittenSizes::Found(request);
        let written = self.read_sized(written, &mut unwritten, &FxHashMap::default());
        match self.unify(written, shape, self.place) {
            Ok(()) => Ok(self.variables.resolve_shape(self.table, written)),
            Err(clash) => Err(self.fail_clash(clash, self.place, "the body", written, shape)),
        }
    }

    /// The type of a function without a name.
    pub(super) fn infer_lambda(
        &mut self,
        id: TypedExpressionId,
        lambda: &TypedLambda,
    ) -> SizeResult<ShapedTypeId> {
        let place = self.place;
        let level = self.variables.level;
        self.variables.level += 1;
        let mut hidden = Vec::new();
        let parameters =
            self.bind_parameters(&lambda.parameters, SizeOrigin::Pattern, &mut hidden)?;
        let source = FunctionSource {
            parameters: &lambda.parameters,
            result: lambda.result,
            body: lambda.body,
        };
        let result = self.infer_body(&source, &hidden)?;
        self.place = place;
        self.variables.level = level + 1;
        let function = InferredFunction { parameters, result };
        let shape = self.close_function(function)?;
        self.variables.level = level;
        self.record.shapes.insert(id, shape);
        Ok(shape)
    }

    /// The type of a function: sizes that its body produces become those that the function chooses.
    pub(super) fn close_function(
        &mut self,
        function: InferredFunction,
    ) -> SizeResult<ShapedTypeId> {
        let mut kept = Vec::new();
        let mut parameters = Vec::with_capacity(function.parameters.len());
        for (name, shape) in function.parameters {
            let shape = self.variables.resolve_shape(self.table, shape);
            SizeVariables::visit_sizes(self.table, shape, &mut |size| {
                self.table.visit_locals(size, &mut |local| kept.push(local));
            });
            parameters.push((name, shape));
        }
        let level = self.variables.level;
        let is_produced = |inference: &SizeInference<'_>, local: LocalId| {
            let binder = inference.variables.binders.get(&local);
            !kept.contains(&local)
                && binder.is_some_and(|binder| {
                    binder.level >= level && matches!(binder.kind, BinderKind::Produced(..))
                })
        };
        let result = self.variables.resolve_shape(self.table, function.result);
        let mut witnesses = Vec::new();
        self.visit_immediate(result, &mut |size| witnesses.extend(self.as_local(size)));
        // A size that is made of others which values have is known with these.
        let is_compound = |inference: &SizeInference<'_>, size: SizeId| {
            let mut refers = false;
            inference.table.visit_locals(size, &mut |local| {
                refers |= is_produced(inference, local) && !witnesses.contains(&local);
            });
            refers && matches!(inference.table.size(size), SizeForm::Compound(..))
        };
        let replacement = SizeReplacement {
            is_replaced: &is_compound,
            description: "by the function",
            name: "d",
            is_lenient: false,
        };
        let (result, mut chosen) = self.replace_sizes(result, &replacement);
        let mut sizes = Vec::new();
        self.visit_immediate(result, &mut |size| sizes.push(size));
        for size in sizes {
            if let Some(local) = self.as_local(size)
                && is_produced(self, local)
                && !chosen.contains(&local)
            {
                chosen.push(local);
            }
        }
        Ok(self.function_shape(&parameters, chosen, result))
    }

    /// Calls a function for each size of a type that is no part of a function type.
    pub(super) fn visit_immediate(&self, id: ShapedTypeId, visit: &mut dyn FnMut(SizeId)) {
        let mut open = vec![id];
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(part) = open.pop() {
            let is_function = matches!(
                self.table.shape(part),
                super::shape::ShapedForm::Function(_)
            );
            if is_function || !seen.insert(part) {
                continue;
            }
            self.table.own_sizes(part).into_iter().for_each(&mut *visit);
            open.extend(self.table.parts_of(part));
        }
    }

    /// Makes the sizes of a function's type that nothing determines size parameters.
    pub(super) fn generalise(
        &mut self,
        function: &InferredFunction,
        parameters: &mut Vec<LocalId>,
    ) {
        let shapes = function
            .parameters
            .iter()
            .map(|(_, shape)| *shape)
            .chain([function.result]);
        for shape in shapes.collect::<Vec<_>>() {
            for variable in self.free_variables(shape) {
                if self.variables.level_of(variable) < self.variables.level {
                    continue;
                }
                let name = format!("n{}", parameters.len());
                let name = self.program.names.intern(&name);
                let type_id = self.program.types.int64();
                let local = self.program.locals.push(LocalVariable { name, type_id });
                self.bind_size_name(local);
                parameters.push(local);
                let size = self.table.add_local(local);
                self.variables.bind(variable, size);
            }
        }
    }

    /// The type of a local function, polymorphic in its sizes.
    pub(super) fn infer_local_function(
        &mut self,
        binding: &TypedBinding,
        local: LocalId,
        lambda: TypedLambda,
    ) -> SizeResult<Arc<ShapedScheme>> {
        let place = self.place;
        let level = self.variables.level;
        self.variables.level += 1;
        for &size in &lambda.size_parameters {
            self.bind_size_name(size);
        }
        let mut hidden = Vec::new();
        let parameters =
            self.bind_parameters(&lambda.parameters, SizeOrigin::Pattern, &mut hidden)?;
        let source = FunctionSource {
            parameters: &lambda.parameters,
            result: lambda.result,
            body: lambda.body,
        };
        let result = self.infer_body(&source, &hidden)?;
        self.place = place;
        self.variables.level = level + 1;
        let function = InferredFunction { parameters, result };
        let mut sizes = lambda.size_parameters.clone();
        self.generalise(&function, &mut sizes);
        let shape = self.close_function(function)?;
        let name = self.program.names[self.program.locals[local].name].to_owned();
        self.check_parameter_sizes(shape, lambda.parameters.len(), &name)?;
        self.variables.level = level;
        if let TypedKind::Lambda(lambda) = &mut self.program.expressions[binding.value].kind {
            lambda.size_parameters = sizes.clone();
        }
        let shape = self.variables.resolve_shape(self.table, shape);
        self.record.shapes.insert(binding.value, shape);
        let types = self.program.local_type_parameters.get(&local);
        let types = types.into_iter().flatten();
        let types = types.map(|&parameter| (parameter, TypeLiftedness::FullyLifted));
        Ok(Arc::new(ShapedScheme {
            sizes,
            types: types.collect(),
            shape,
        }))
    }
}

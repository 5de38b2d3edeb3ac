//! Expressions: their types with sizes.

use super::read::UnwrittenSizes;
use super::shape::{
    FunctionShape, ShapeSubstitution, ShapedForm, ShapedScheme, ShapedTypeId, SizeForm,
};
use super::variable::{SizeOrigin, VariableRequest};
use super::{LocalShape, SealedUse, SizeInference, SizeResult};
use crate::check::types::TypeId;
use crate::syntax::tree::{SourceNameId, TypeLiftedness};
use crate::typed::{
    DefinitionId, LocalId, SizedTypeId, TypedBinding, TypedExpressionId, TypedKind,
    TypedPatternKind,
};
use rustc_hash::FxHashMap;
use std::sync::Arc;

impl SizeInference<'_> {
    /// Infers the sizes of an expression.
    pub(super) fn infer(&mut self, id: TypedExpressionId) -> SizeResult<ShapedTypeId> {
        let outer = self.place;
        self.place = self.program.expressions[id].place;
        let kind = std::mem::replace(&mut self.program.expressions[id].kind, TypedKind::Hole);
        let shape = self.infer_kind(id, &kind);
        self.program.expressions[id].kind = kind;
        let mut shape = shape?;
        if *self.table.shape(shape) == ShapedForm::Any {
            let type_id = self.program.expressions[id].type_id;
            shape = self.shape_unknown(type_id);
        }
        if let Some(record) = &mut self.table.record {
            record.expressions.insert(id, shape);
            self.recorded.push(id);
        }
        self.place = outer;
        Ok(shape)
    }

    /// A type of whose sizes nothing is known, nor to be found.
    fn shape_unknown(&mut self, type_id: TypeId) -> ShapedTypeId {
        let first = self.variables.count_all();
        let request = self.absorbing(SizeOrigin::Anonymous);
        let shape = self.shape_type(type_id, request);
        for index in first..self.variables.count_all() {
            self.variables
                .absorb(super::shape::SizeVariableId::new(index));
        }
        shape
    }

    /// A request for a variable that may stand for sizes that functions choose.
    pub(super) fn absorbing(&self, origin: SizeOrigin) -> VariableRequest {
        VariableRequest {
            is_absorbing: true,
            ..self.request(origin)
        }
    }

    fn infer_kind(&mut self, id: TypedExpressionId, kind: &TypedKind) -> SizeResult<ShapedTypeId> {
        let type_id = self.program.expressions[id].type_id;
        match kind {
            TypedKind::Scalar(_) => {
                let type_id = self.resolve_type(type_id);
                Ok(self.table.add_shape(ShapedForm::Plain(type_id)))
            }
            TypedKind::Bytes(bytes) => {
                let request = self.request(SizeOrigin::Anonymous);
                let shape = self.shape_type(type_id, request);
                let size = self.table.add_constant(bytes.len() as i64);
                self.with_outer_size(shape, size)
            }
            TypedKind::Hole => self.infer_hole(id, type_id),
            TypedKind::Local(local, arguments) => self.infer_local(id, *local, arguments),
            TypedKind::Global(definition, arguments) => {
                self.infer_global(id, *definition, arguments)
            }
            TypedKind::Intrinsic(_, _) => match self.sealed.get(&id).cloned() {
                Some(used) => self.instantiate(id, &used.scheme, &used.types),
                None => Ok(self.table.add_any()),
            },
            TypedKind::Record(fields) => self.infer_record(fields, type_id),
            TypedKind::Array(elements) => self.infer_array(id, elements, type_id),
            TypedKind::Constructor(name, payload) => {
                self.infer_constructor(id, *name, payload, type_id)
            }
            TypedKind::Projection(record, field) => {
                let record = self.infer(*record)?;
                Ok(self.field_shape(record, *field))
            }
            TypedKind::Index(array, indices) => self.infer_index(id, *array, indices),
            TypedKind::Application(function, arguments) => {
                self.infer_application(id, *function, arguments)
            }
            TypedKind::Lambda(lambda) => self.infer_lambda(id, lambda),
            TypedKind::If(condition, accept, reject) => {
                self.infer(*condition)?;
                let accept = self.infer(*accept)?;
                let reject = self.infer(*reject)?;
                Ok(self.merge_branches(id, accept, reject))
            }
            TypedKind::Let(bindings, body) => self.infer_let(id, bindings, *body),
            TypedKind::Match(subject, cases) => self.infer_match(id, *subject, cases),
            TypedKind::Loop(typed_loop) => self.infer_loop(id, typed_loop),
            TypedKind::Assert(condition, body) => {
                self.infer(*condition)?;
                self.infer(*body)
            }
            TypedKind::Update {
                source,
                steps,
                value,
            } => self.infer_update(*source, steps, *value),
            TypedKind::Ascription(value, sized) => self.infer_ascription(*value, *sized),
            TypedKind::Coercion(value, sized) => self.infer_coercion(id, *value, *sized),
            TypedKind::Range {
                first,
                second,
                bound,
                last,
            } => self.infer_range(id, *first, *second, *bound, *last),
            TypedKind::Attributed(_, body) => self.infer(*body),
        }
    }

    /// An array type with another size of its outer dimension.
    pub(super) fn with_outer_size(
        &mut self,
        shape: ShapedTypeId,
        size: super::shape::SizeId,
    ) -> SizeResult<ShapedTypeId> {
        match *self.table.shape(shape) {
            ShapedForm::Array(before, element) => {
                if let SizeForm::Variable(variable) = *self.table.size(before) {
                    self.variables.bind(variable, size);
                }
                Ok(self.table.add_array(size, element))
            }
            _ => Ok(shape),
        }
    }

    fn infer_hole(&mut self, id: TypedExpressionId, type_id: TypeId) -> SizeResult<ShapedTypeId> {
        if let Some(used) = self.sealed.get(&id).cloned() {
            return self.instantiate(id, &used.scheme, &used.types);
        }
        let request = self.absorbing(SizeOrigin::Anonymous);
        let shape = self.shape_type(type_id, request);
        self.record.shapes.insert(id, shape);
        Ok(shape)
    }

    fn infer_global(
        &mut self,
        id: TypedExpressionId,
        definition: DefinitionId,
        arguments: &[TypeId],
    ) -> SizeResult<ShapedTypeId> {
        if let Some(used) = self.sealed.get(&id).cloned() {
            return self.instantiate_sealed(id, &used, definition);
        }
        match self.table.definitions.get(&definition).cloned() {
            Some(scheme) => self.instantiate(id, &scheme, arguments),
            None => Ok(self.table.add_any()),
        }
    }

    fn infer_ascription(
        &mut self,
        value: TypedExpressionId,
        sized: SizedTypeId,
    ) -> SizeResult<ShapedTypeId> {
        let shape = self.infer(value)?;
        let request = self.request(SizeOrigin::Anonymous);
        let mut unwritten = UnwrittenSizes::Found(request);
        let written = self.read_sized(sized, &mut unwritten, &FxHashMap::default());
        match self.unify(written, shape, self.place) {
            Ok(()) => Ok(shape),
            Err(clash) => {
                let place = self.program.expressions[value].place;
                Err(self.fail_clash(clash, place, "the expression", written, shape))
            }
        }
    }

    /// The type of a variable.
    fn infer_local(
        &mut self,
        id: TypedExpressionId,
        local: LocalId,
        arguments: &[TypeId],
    ) -> SizeResult<ShapedTypeId> {
        match self.locals.get(&local).cloned() {
            Some(LocalShape::Value(shape)) => {
                self.record.shapes.insert(id, shape);
                Ok(shape)
            }
            Some(LocalShape::Scheme(scheme)) => self.instantiate(id, &scheme, arguments),
            None => {
                let request = self.request(SizeOrigin::Anonymous);
                let type_id = self.program.locals[local].type_id;
                Ok(self.shape_type(type_id, request))
            }
        }
    }

    /// The type of a value with parameters, with variables in their places.
    pub(super) fn instantiate(
        &mut self,
        id: TypedExpressionId,
        scheme: &Arc<ShapedScheme>,
        arguments: &[TypeId],
    ) -> SizeResult<ShapedTypeId> {
        let mut substitution = ShapeSubstitution::default();
        let request = self.absorbing(SizeOrigin::Instance);
        let mut sizes = Vec::with_capacity(scheme.sizes.len());
        for &local in &scheme.sizes {
            let size = self.variables.add(self.table, request);
            substitution.sizes.insert(local, size);
            sizes.push(size);
        }
        let mut types = Vec::with_capacity(arguments.len());
        for (index, &argument) in arguments.iter().enumerate() {
            let parameter = scheme.types.get(index);
            let is_absorbing =
                parameter.is_none_or(|(_, liftedness)| *liftedness != TypeLiftedness::Unlifted);
            let shape = self.shape_type(
                argument,
                VariableRequest {
                    is_absorbing,
                    ..request
                },
            );
            if let Some((parameter, _)) = parameter {
                substitution.types.insert(*parameter, shape);
            }
            types.push(shape);
        }
        let shape = self.table.substitute(scheme.shape, &substitution);
        self.record.instances.push((id, sizes, types));
        self.record.shapes.insert(id, shape);
        Ok(shape)
    }

    /// The type of a definition that is seen through a module type. The instance is in terms of the definition itself: its
    /// sizes are those with which its own type is that of the module type.
    fn instantiate_sealed(
        &mut self,
        id: TypedExpressionId,
        used: &SealedUse,
        definition: DefinitionId,
    ) -> SizeResult<ShapedTypeId> {
        let shape = self.instantiate(id, &used.scheme, &used.types)?;
        let Some((_, _, seen)) = self.record.instances.pop() else {
            return Ok(shape);
        };
        let Some(scheme) = self.table.definitions.get(&definition).cloned() else {
            return Ok(shape);
        };
        let mut substitution = ShapeSubstitution::default();
        for ((parameter, _), shape) in used.scheme.types.iter().zip(&seen) {
            substitution.types.insert(*parameter, *shape);
        }
        let request = self.request(SizeOrigin::Existential);
        let types = match &used.targets {
            None => seen,
            Some(targets) => {
                let types = targets.iter();
                let types = types.map(|&target| {
                    let target = self.shape_type(target, request);
                    self.table.substitute(target, &substitution)
                });
                types.collect()
            }
        };
        let mut own = ShapeSubstitution::default();
        let own_types = scheme.types.iter().map(|(parameter, _)| *parameter);
        own.types.extend(own_types.zip(types.iter().copied()));
        let sizes = scheme
            .sizes
            .iter()
            .map(|&local| {
                let size = self.variables.add(self.table, request);
                own.sizes.insert(local, size);
                size
            })
            .collect();
        let actual = self.table.substitute(scheme.shape, &own);
        // The module was matched with its type before.
        self.sees_hidden = true;
        let _ = self.unify(shape, actual, self.place);
        self.sees_hidden = false;
        self.record.instances.push((id, sizes, types));
        let shape = self.reveal_sizes(shape, actual);
        self.record.shapes.insert(id, shape);
        Ok(shape)
    }

    /// The type of a record.
    fn infer_record(
        &mut self,
        fields: &[(SourceNameId, TypedExpressionId)],
        type_id: TypeId,
    ) -> SizeResult<ShapedTypeId> {
        let mut shapes = FxHashMap::default();
        for (name, field) in fields {
            shapes.insert(*name, self.infer(*field)?);
        }
        let request = self.request(SizeOrigin::Anonymous);
        Ok(self.add_record_shape(type_id, &shapes, request))
    }

    /// The type of an array of its elements.
    fn infer_array(
        &mut self,
        id: TypedExpressionId,
        elements: &[TypedExpressionId],
        type_id: TypeId,
    ) -> SizeResult<ShapedTypeId> {
        let size = self.table.add_constant(elements.len() as i64);
        let Some((&first, rest)) = elements.split_first() else {
            let request = self.request(SizeOrigin::Anonymous);
            let shape = self.shape_type(type_id, request);
            let shape = self.with_outer_size(shape, size)?;
            self.record.shapes.insert(id, shape);
            return Ok(shape);
        };
        let element = self.infer(first)?;
        for &other in rest {
            let shape = self.infer(other)?;
            let place = self.program.expressions[other].place;
            if let Err(clash) = self.unify(element, shape, place) {
                return Err(self.fail_clash(clash, place, "the element", element, shape));
            }
        }
        Ok(self.table.add_array(size, element))
    }

    /// The type of a value of a sum.
    fn infer_constructor(
        &mut self,
        id: TypedExpressionId,
        name: SourceNameId,
        payload: &[TypedExpressionId],
        type_id: TypeId,
    ) -> SizeResult<ShapedTypeId> {
        let request = self.absorbing(SizeOrigin::Instance);
        let sum = self.shape_type(type_id, request);
        let wanted = match self.expand(sum) {
            ShapedForm::Sum(clauses) => clauses
                .into_iter()
                .find(|(other, _)| *other == name)
                .map(|(_, payload)| payload),
            _ => None,
        };
        let wanted = wanted.unwrap_or_default();
        for (index, &part) in payload.iter().enumerate() {
            let shape = self.infer(part)?;
            let Some(&wanted) = wanted.get(index) else {
                continue;
            };
            let place = self.program.expressions[part].place;
            if let Err(clash) = self.unify(wanted, shape, place) {
                return Err(self.fail_clash(clash, place, "the payload", wanted, shape));
            }
        }
        self.record.shapes.insert(id, sum);
        Ok(sum)
    }

    /// The type of a field of a record.
    pub(super) fn field_shape(
        &mut self,
        record: ShapedTypeId,
        field: SourceNameId,
    ) -> ShapedTypeId {
        if let ShapedForm::Record(fields) = self.expand(record)
            && let Some((_, shape)) = fields.iter().find(|(name, _)| *name == field)
        {
            return *shape;
        }
        self.table.add_any()
    }

    /// The type of an expression with bindings.
    fn infer_let(
        &mut self,
        id: TypedExpressionId,
        bindings: &[TypedBinding],
        body: TypedExpressionId,
    ) -> SizeResult<ShapedTypeId> {
        let level = self.variables.level;
        let mut scopes = Vec::with_capacity(bindings.len());
        for binding in bindings {
            scopes.push(self.infer_binding(binding)?);
        }
        let mut shape = self.infer(body)?;
        self.variables.level = level;
        let mut produced = Vec::new();
        for scope in scopes.into_iter().rev() {
            let (open, more) = self.leave_binding(shape, &scope);
            shape = open;
            produced.extend(more);
        }
        let produced = self.keep_used(shape, produced);
        self.record.results.push((id, produced, shape));
        Ok(shape)
    }

    /// The sizes that occur in a type.
    fn keep_used(&self, shape: ShapedTypeId, mut produced: Vec<LocalId>) -> Vec<LocalId> {
        produced.retain(|&local| self.mentions(shape, local));
        produced
    }

    /// Infers a binding. Its names stay in scope.
    fn infer_binding(&mut self, binding: &TypedBinding) -> SizeResult<BindingScope> {
        if let TypedKind::Lambda(lambda) = &self.program.expressions[binding.value].kind
            && let TypedPatternKind::Local(local) = self.program.patterns[binding.pattern].kind
            && binding.sizes.is_empty()
            && self.program.local_functions.contains(&binding.value)
        {
            let lambda = lambda.clone();
            let scheme = self.infer_local_function(binding, local, lambda)?;
            self.locals.insert(local, LocalShape::Scheme(scheme));
            self.bind_size_name(local);
            return Ok(BindingScope {
                locals: vec![local],
                equal: None,
            });
        }
        let shape = self.infer(binding.value)?;
        let equal = match self.parameter_local(binding.pattern) {
            Some(local) if self.is_int64_local(local) => {
                self.read_size(binding.value).map(|size| (local, size))
            }
            _ => None,
        };
        self.variables.level += 1;
        for &size in &binding.sizes {
            self.bind_size_name(size);
        }
        let mut locals = binding.sizes.clone();
        let request = self.request(SizeOrigin::Pattern);
        let sizes = binding.sizes.iter();
        let sizes = sizes.map(|&size| (size, self.variables.add(self.table, request)));
        let sizes: Vec<_> = sizes.collect();
        self.bind_pattern(binding.pattern, shape, &sizes, &mut locals)?;
        Ok(BindingScope { locals, equal })
    }

    /// Whether a variable is an `i64`.
    pub(super) fn is_int64_local(&mut self, local: LocalId) -> bool {
        let type_id = self.program.locals[local].type_id;
        self.is_int64(type_id)
    }

    /// The type of what follows a binding, outside of its scope.
    fn leave_binding(
        &mut self,
        shape: ShapedTypeId,
        scope: &BindingScope,
    ) -> (ShapedTypeId, Vec<LocalId>) {
        let shape = self.variables.resolve_shape(self.table, shape);
        let is_mentioned = scope
            .locals
            .iter()
            .any(|&local| self.mentions(shape, local));
        if !is_mentioned {
            return (shape, Vec::new());
        }
        if let Some((local, size)) = scope.equal {
            return (self.substitute_local(shape, local, size), Vec::new());
        }
        let name = self.program.locals[scope.locals[0]].name;
        let name = self.program.names[name].to_owned();
        self.close_scope(shape, &scope.locals, &name)
    }

    /// The type of a value with the sizes that it has when the program runs.
    fn infer_coercion(
        &mut self,
        id: TypedExpressionId,
        value: TypedExpressionId,
        sized: SizedTypeId,
    ) -> SizeResult<ShapedTypeId> {
        let shape = self.infer(value)?;
        let first = self.variables.count_all();
        let request = self.request(SizeOrigin::Anonymous);
        let mut unwritten = UnwrittenSizes::Found(request);
        let written = self.read_sized(sized, &mut unwritten, &FxHashMap::default());
        let request = self.request(SizeOrigin::Coercion);
        let open = self.open_sizes(written, first, request);
        if let Err(clash) = self.unify(open, shape, self.place) {
            let place = self.program.expressions[value].place;
            return Err(self.fail_clash(clash, place, "the expression", open, shape));
        }
        self.record.coercions.push((id, written));
        Ok(written)
    }

    /// The type with a variable in place of each size that is no variable made since `first`.
    fn open_sizes(
        &mut self,
        id: ShapedTypeId,
        first: usize,
        request: VariableRequest,
    ) -> ShapedTypeId {
        let sizes = self
            .table
            .own_sizes(id)
            .into_iter()
            .map(|size| match self.table.size(size) {
                SizeForm::Variable(variable) if variable.index() >= first => size,
                _ => self.variables.add(self.table, request),
            });
        let sizes: Vec<_> = sizes.collect();
        let parts = self.table.parts_of(id);
        let parts: Vec<_> = parts
            .into_iter()
            .map(|part| self.open_sizes(part, first, request))
            .collect();
        let (mut sizes, mut parts) = (sizes.into_iter(), parts.into_iter());
        self.table.map_shape(
            id,
            &mut |_, size| sizes.next().unwrap_or(size),
            &mut |_, part| parts.next().unwrap_or(part),
        )
    }

    /// A function type of several parameters.
    pub(super) fn function_shape(
        &mut self,
        parameters: &[(Option<LocalId>, ShapedTypeId)],
        sizes: Vec<LocalId>,
        result: ShapedTypeId,
    ) -> ShapedTypeId {
        let mut sizes = Some(sizes);
        let mut shape = result;
        for &(name, parameter) in parameters.iter().rev() {
            let function = FunctionShape {
                name,
                parameter,
                sizes: sizes.take().unwrap_or_default(),
                result: shape,
            };
            shape = self.table.add_shape(ShapedForm::Function(function));
        }
        shape
    }
}

/// The names of a binding.
struct BindingScope {
    locals: Vec<LocalId>,
    /// The size that the only variable is.
    equal: Option<(LocalId, super::shape::SizeId)>,
}

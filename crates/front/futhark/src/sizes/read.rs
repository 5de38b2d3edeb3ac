//! Types as shaped types: types without sizes, types that are written, and integers that are sizes.

use super::SizeInference;
use super::shape::{
    FunctionShape, ShapeSubstitution, ShapedForm, ShapedTypeId, SizeForm, SizeHead, SizeId,
};
use super::variable::{SizeOrigin, VariableRequest};
use crate::check::types::{PrimitiveType, TypeForm, TypeId};
use crate::syntax::tree::NumberType;
use crate::typed::{
    LocalId, LocalVariable, SizeTerm, SizedType, SizedTypeId, TypedExpressionId, TypedIndex,
    TypedKind, TypedLiteral,
};
use rustc_hash::FxHashMap;

/// The treatment of sizes that are not written.
pub(super) enum UnwrittenSizes {
    /// Variables of inference.
    Found(VariableRequest),
    /// Sizes that the type has for itself. They are added to the list.
    Chosen(Vec<LocalId>),
    /// Nothing is known of them.
    Ignored,
}

impl SizeInference<'_> {
    /// The type of an expression, pattern or variable, without variables of inference of the first pass.
    pub(super) fn resolve_type(&mut self, type_id: TypeId) -> TypeId {
        self.type_variables
            .resolve_all(&mut self.program.types, type_id)
    }

    /// Whether a type is `i64`.
    pub(super) fn is_int64(&mut self, type_id: TypeId) -> bool {
        let resolved = self.resolve_type(type_id);
        let int64 = PrimitiveType::Number(NumberType::I64);
        *self.program.types.form(resolved) == TypeForm::Scalar(int64)
    }

    /// A type with a new variable for each size.
    pub(super) fn shape_type(&mut self, type_id: TypeId, request: VariableRequest) -> ShapedTypeId {
        let type_id = self.resolve_type(type_id);
        self.shape_resolved(type_id, request)
    }

    fn shape_resolved(&mut self, type_id: TypeId, request: VariableRequest) -> ShapedTypeId {
        if self.is_sizeless(type_id) {
            return self.table.add_shape(ShapedForm::Plain(type_id));
        }
        if self.table.count_shapes() > self.shape_limit {
            return self.table.add_any();
        }
        let form = match self.program.types.form(type_id).clone() {
            TypeForm::Scalar(_) | TypeForm::Variable(_) => ShapedForm::Plain(type_id),
            TypeForm::Array(element) => {
                let size = self.variables.add(self.table, request);
                ShapedForm::Array(size, self.shape_resolved(element, request))
            }
            TypeForm::Record(fields) => {
                let fields = fields.into_iter();
                let fields =
                    fields.map(|(name, field)| (name, self.shape_resolved(field, request)));
                ShapedForm::Record(fields.collect())
            }
            TypeForm::Sum(clauses) => {
                let clauses = clauses.into_iter().map(|(name, payload)| {
                    let payload = payload.into_iter();
                    let payload = payload.map(|part| self.shape_resolved(part, request));
                    (name, payload.collect())
                });
                ShapedForm::Sum(clauses.collect())
            }
            TypeForm::Function(parameter, result) => ShapedForm::Function(FunctionShape {
                name: None,
                parameter: self.shape_resolved(parameter, request),
                sizes: Vec::new(),
                result: self.shape_resolved(result, request),
            }),
            TypeForm::Abstract(name, types) => {
                let count = self.table.abstract_sizes.get(&name).copied().unwrap_or(0);
                let sizes = (0..count).map(|_| self.variables.add(self.table, request));
                let sizes = sizes.collect();
                let types = types.into_iter();
                let types = types.map(|part| self.shape_resolved(part, request));
                ShapedForm::Abstract(name, sizes, types.collect())
            }
            TypeForm::Parameter(parameter) => ShapedForm::Parameter(parameter),
        };
        self.table.add_shape(form)
    }

    /// Whether a type contains no arrays, functions, type parameters and hidden types.
    fn is_sizeless(&mut self, type_id: TypeId) -> bool {
        if let Some(&known) = self.table.sizeless.get(&type_id) {
            return known;
        }
        let answer = match self.program.types.form(type_id) {
            TypeForm::Scalar(_) => true,
            TypeForm::Record(_) | TypeForm::Sum(_) => {
                let parts = self.program.types.parts_of(type_id);
                parts.into_iter().all(|part| self.is_sizeless(part))
            }
            _ => false,
        };
        self.table.sizeless.insert(type_id, answer);
        answer
    }

    /// A record type of shaped fields, in the order of its type without sizes.
    pub(super) fn add_record_shape(
        &mut self,
        type_id: TypeId,
        fields: &FxHashMap<crate::syntax::tree::SourceNameId, ShapedTypeId>,
        request: VariableRequest,
    ) -> ShapedTypeId {
        let type_id = self.resolve_type(type_id);
        if self.is_sizeless(type_id) {
            return self.table.add_shape(ShapedForm::Plain(type_id));
        }
        let TypeForm::Record(types) = self.program.types.form(type_id).clone() else {
            return self.shape_type(type_id, request);
        };
        let parts = types.into_iter().map(|(name, field_type)| {
            let shape = match fields.get(&name) {
                Some(shape) => *shape,
                None => self.shape_type(field_type, request),
            };
            (name, shape)
        });
        let form = ShapedForm::Record(parts.collect());
        self.table.add_shape(form)
    }

    /// A type that is written.
    pub(super) fn read_sized(
        &mut self,
        id: SizedTypeId,
        unwritten: &mut UnwrittenSizes,
        renamed: &FxHashMap<LocalId, SizeId>,
    ) -> ShapedTypeId {
        let form = match self.program.sized_types[id].clone() {
            SizedType::Plain(type_id) => {
                let request = self.request(SizeOrigin::Anonymous);
                return self.shape_type(type_id, request);
            }
            SizedType::Array(size, element) => {
                let size = self.read_term(size, unwritten, renamed);
                ShapedForm::Array(size, self.read_sized(element, unwritten, renamed))
            }
            SizedType::Record(fields) => {
                let fields = fields.into_iter();
                let fields =
                    fields.map(|(name, field)| (name, self.read_sized(field, unwritten, renamed)));
                ShapedForm::Record(fields.collect())
            }
            SizedType::Sum(clauses) => {
                let clauses = clauses.into_iter().map(|(name, payload)| {
                    let payload = payload.into_iter();
                    let payload = payload.map(|part| self.read_sized(part, unwritten, renamed));
                    (name, payload.collect())
                });
                ShapedForm::Sum(clauses.collect())
            }
            SizedType::Function(name, parameter, result) => {
                let parameter = self.read_sized(parameter, unwritten, renamed);
                let mut inner = UnwrittenSizes::Chosen(Vec::new());
                let result = self.read_sized(result, &mut inner, renamed);
                let UnwrittenSizes::Chosen(sizes) = inner else {
                    return self.table.add_any();
                };
                ShapedForm::Function(FunctionShape {
                    name,
                    parameter,
                    sizes,
                    result,
                })
            }
            SizedType::Abstract(name, sizes, types) => {
                let sizes = sizes.into_iter();
                let sizes = sizes
                    .map(|size| self.read_term(size, unwritten, renamed))
                    .collect();
                let types = types.into_iter();
                let types = types.map(|part| self.read_sized(part, unwritten, renamed));
                ShapedForm::Abstract(name, sizes, types.collect())
            }
            SizedType::Unique(inner) => return self.read_sized(inner, unwritten, renamed),
            SizedType::Existential(locals, inner) => {
                let mut renamed = renamed.clone();
                for local in locals {
                    let size = self.add_unwritten(unwritten, Some(local));
                    renamed.insert(local, size);
                }
                return self.read_sized(inner, unwritten, &renamed);
            }
        };
        self.normalise_shape(form)
    }

    /// The id of a form, which may have no sizes.
    fn normalise_shape(&mut self, form: ShapedForm) -> ShapedTypeId {
        let plain = match &form {
            ShapedForm::Record(fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, field)| match self.table.shape(*field) {
                        ShapedForm::Plain(type_id) => Some((*name, *type_id)),
                        _ => None,
                    });
                let fields: Option<Vec<_>> = fields.collect();
                fields.map(|fields| self.program.types.record(fields, &self.program.names))
            }
            _ => None,
        };
        let form = plain.map_or(form, ShapedForm::Plain);
        self.table.add_shape(form)
    }

    /// A size that is not written.
    fn add_unwritten(&mut self, unwritten: &mut UnwrittenSizes, like: Option<LocalId>) -> SizeId {
        match unwritten {
            UnwrittenSizes::Found(request) => self.variables.add(self.table, *request),
            UnwrittenSizes::Ignored => self.table.add_size(SizeForm::Unknown),
            UnwrittenSizes::Chosen(sizes) => {
                let name = match like {
                    Some(local) => self.program.locals[local].name,
                    None => self.program.names.intern("d"),
                };
                let type_id = self.program.types.int64();
                let local = self.program.locals.push(LocalVariable { name, type_id });
                sizes.push(local);
                self.table.add_local(local)
            }
        }
    }

    /// A size that is written, or not.
    fn read_term(
        &mut self,
        term: SizeTerm,
        unwritten: &mut UnwrittenSizes,
        renamed: &FxHashMap<LocalId, SizeId>,
    ) -> SizeId {
        match term {
            SizeTerm::Anonymous => self.add_unwritten(unwritten, None),
            SizeTerm::Local(local) => match renamed.get(&local) {
                Some(&size) => size,
                None => self.table.add_local(local),
            },
            SizeTerm::Expression(id) => {
                let size = match self.read_size(id) {
                    Some(size) => size,
                    None => self.table.add_size(SizeForm::Unknown),
                };
                self.table.substitute_size(size, renamed)
            }
        }
    }

    /// An expression as a size. None if it binds variables, or has a form that sizes do not have.
    pub(super) fn read_size(&mut self, id: TypedExpressionId) -> Option<SizeId> {
        let expression = self.program.expressions[id].clone();
        let type_id = self.resolve_type(expression.type_id);
        let (head, parts) = match expression.kind {
            TypedKind::Scalar(TypedLiteral::Integer(value)) => {
                if self.is_int64(type_id) {
                    let value = i64::try_from(value).ok()?;
                    return Some(self.table.add_constant(value));
                }
                (SizeHead::Number(value), Vec::new())
            }
            TypedKind::Scalar(TypedLiteral::Truth(value)) => (SizeHead::Truth(value), Vec::new()),
            TypedKind::Local(local, arguments) if arguments.is_empty() => {
                return Some(self.table.add_local(local));
            }
            TypedKind::Local(local, arguments) => (
                SizeHead::Instance(local, self.resolve_types(&arguments)),
                Vec::new(),
            ),
            TypedKind::Global(definition, arguments) => (
                SizeHead::Global(definition, self.resolve_types(&arguments)),
                Vec::new(),
            ),
            TypedKind::Intrinsic(intrinsic, arguments) => (
                SizeHead::Intrinsic(intrinsic, self.resolve_types(&arguments)),
                Vec::new(),
            ),
            TypedKind::Hole if self.sealed.contains_key(&id) => (SizeHead::Specified, Vec::new()),
            TypedKind::Application(function, arguments) => {
                let parts = [function].into_iter().chain(arguments);
                (SizeHead::Apply, parts.collect())
            }
            TypedKind::Projection(record, field) => (SizeHead::Field(field), vec![record]),
            TypedKind::Record(fields) => {
                let (names, parts) = fields.into_iter().unzip();
                (SizeHead::Record(names), parts)
            }
            TypedKind::Index(array, indices) => {
                let mut parts = vec![array];
                for index in indices {
                    match index {
                        TypedIndex::Point(point) => parts.push(point),
                        TypedIndex::Slice { .. } => return None,
                    }
                }
                (SizeHead::Index, parts)
            }
            TypedKind::Array(elements) => (SizeHead::Array, elements),
            TypedKind::If(condition, accept, reject) => {
                (SizeHead::Choice, vec![condition, accept, reject])
            }
            TypedKind::Attributed(_, inner)
            | TypedKind::Ascription(inner, _)
            | TypedKind::Coercion(inner, _)
            | TypedKind::Assert(_, inner) => {
                return self.read_size(inner);
            }
            _ => return None,
        };
        let parts = parts.into_iter().map(|part| self.read_size(part));
        let parts = parts.collect::<Option<Vec<_>>>()?;
        Some(
            self.table
                .add_size(SizeForm::Compound(head, parts, type_id)),
        )
    }

    /// Types without variables of inference of the first pass.
    pub(super) fn resolve_types(&mut self, types: &[TypeId]) -> Vec<TypeId> {
        types
            .iter()
            .map(|&type_id| self.resolve_type(type_id))
            .collect()
    }

    /// A request for a variable at the place at hand.
    pub(super) fn request(&self, origin: SizeOrigin) -> VariableRequest {
        VariableRequest {
            origin,
            is_absorbing: false,
            place: self.place,
        }
    }

    /// A substitution of one size.
    pub(super) fn substitute_local(
        &mut self,
        shape: ShapedTypeId,
        local: LocalId,
        size: SizeId,
    ) -> ShapedTypeId {
        let mut substitution = ShapeSubstitution::default();
        substitution.sizes.insert(local, size);
        self.table.substitute(shape, &substitution)
    }
}

//! Results of inference, in the terms of typed source.

use super::SizeInference;
use super::facts::{ProducedSizes, SizeInstance};
use super::shape::{ShapedForm, ShapedTypeId, SizeForm, SizeHead, SizeId};
use crate::typed::{
    DefinitionId, SizeTerm, SizedType, SizedTypeId, TypedExpression, TypedExpressionId, TypedIndex,
    TypedKind, TypedLiteral,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Sizes and types that were exported before.
#[derive(Default)]
struct ExportedSizes {
    sizes: FxHashMap<SizeId, SizeTerm>,
    types: FxHashMap<ShapedTypeId, SizedTypeId>,
}

impl SizeInference<'_> {
    /// Records what evaluation and compilation need to know.
    pub(super) fn export(&mut self) {
        let record = std::mem::take(&mut self.record);
        let mut done = ExportedSizes::default();
        for (id, sizes, types) in record.instances {
            if sizes.is_empty() && types.is_empty() {
                continue;
            }
            let sizes = sizes.into_iter();
            let sizes = sizes
                .map(|size| self.export_size(size, &mut done))
                .collect();
            let types = types.into_iter();
            let types = types
                .map(|shape| self.export_shape(shape, &mut done))
                .collect();
            let instance = SizeInstance { sizes, types };
            self.program.sizes.instances.insert(id, instance);
        }
        for (id, sizes, shape) in record.results {
            if !sizes.is_empty() {
                let sized = self.export_shape(shape, &mut done);
                let produced = ProducedSizes { sizes, sized };
                self.program.sizes.results.insert(id, produced);
            }
        }
        self.program.sizes.values.extend(record.values);
        for (id, shape) in record.shapes {
            let needs_type = matches!(
                self.program.expressions[id].kind,
                TypedKind::Array(_) | TypedKind::Constructor(..) | TypedKind::Hole
            );
            if needs_type {
                let sized = self.export_shape(shape, &mut done);
                self.program.sizes.types.insert(id, sized);
            }
        }
        for (id, shape) in record.coercions {
            self.reveal_coercion(id, shape, &mut done);
        }
        for (pattern, sizes, shape) in record.patterns {
            let sized = self.export_shape(shape, &mut done);
            let produced = ProducedSizes { sizes, sized };
            self.program.sizes.patterns.insert(pattern, produced);
        }
    }

    /// Writes a size coercion to a hidden type as one to the type that it hides, whose sizes can be checked.
    fn reveal_coercion(
        &mut self,
        id: TypedExpressionId,
        shape: ShapedTypeId,
        done: &mut ExportedSizes,
    ) {
        if self.hides_sizes(shape)
            && let TypedKind::Coercion(value, _) = self.program.expressions[id].kind
        {
            let revealed = self.export_shape(shape, done);
            self.program.expressions[id].kind = TypedKind::Coercion(value, revealed);
        }
    }

    /// Whether a type has parts that are hidden types.
    fn hides_sizes(&self, id: ShapedTypeId) -> bool {
        let mut open = vec![id];
        let mut seen = FxHashSet::default();
        while let Some(part) = open.pop() {
            match self.table.shape(part) {
                ShapedForm::Abstract(name, ..) if self.table.abstracts.contains_key(name) => {
                    return true;
                }
                _ if seen.insert(part) => open.extend(self.table.parts_of(part)),
                _ => {}
            }
        }
        false
    }

    /// Records the types of the arguments that a definition takes beyond its parameters.
    pub(super) fn export_unnamed_arguments(&mut self, id: DefinitionId, mut at: ShapedTypeId) {
        let mut done = ExportedSizes::default();
        let mut unnamed = Vec::new();
        let mut named = self.program.definitions[id].parameters.len();
        while let ShapedForm::Function(function) = self.table.shape(at).clone() {
            at = function.result;
            if named > 0 {
                named -= 1;
                continue;
            }
            unnamed.push(self.export_shape(function.parameter, &mut done));
        }
        if !unnamed.is_empty() {
            self.program.sizes.unnamed.insert(id, unnamed);
        }
    }

    /// A type in the terms of typed source.
    fn export_shape(&mut self, id: ShapedTypeId, done: &mut ExportedSizes) -> SizedTypeId {
        let id = self.variables.resolve_shape(self.table, id);
        self.export_resolved(id, done)
    }

    fn export_resolved(&mut self, id: ShapedTypeId, done: &mut ExportedSizes) -> SizedTypeId {
        if let Some(&known) = done.types.get(&id) {
            return known;
        }
        let sized = match self.table.shape(id).clone() {
            ShapedForm::Plain(type_id) => SizedType::Plain(type_id),
            ShapedForm::Any => {
                let unit = self.program.types.tuple(&[], &mut self.program.names);
                SizedType::Plain(unit)
            }
            ShapedForm::Parameter(parameter) => {
                let form = crate::check::types::TypeForm::Parameter(parameter);
                SizedType::Plain(self.program.types.intern(form))
            }
            ShapedForm::Array(size, element) => {
                let size = self.export_size(size, done);
                SizedType::Array(size, self.export_resolved(element, done))
            }
            ShapedForm::Record(fields) => {
                let fields = fields.into_iter();
                let fields = fields.map(|(name, field)| (name, self.export_resolved(field, done)));
                SizedType::Record(fields.collect())
            }
            ShapedForm::Sum(clauses) => {
                let clauses = clauses.into_iter().map(|(name, payload)| {
                    let payload = payload.into_iter();
                    let payload = payload.map(|part| self.export_resolved(part, done));
                    (name, payload.collect())
                });
                SizedType::Sum(clauses.collect())
            }
            ShapedForm::Function(function) => SizedType::Function(
                function.name,
                self.export_resolved(function.parameter, done),
                self.export_resolved(function.result, done),
            ),
            ShapedForm::Abstract(name, sizes, types)
                if self.table.abstracts.contains_key(&name) =>
            {
                let hidden = self.expand_hidden(name, &sizes, &types);
                return self.export_resolved(hidden, done);
            }
            ShapedForm::Abstract(name, sizes, types) => {
                let sizes = sizes.into_iter();
                let sizes = sizes.map(|size| self.export_size(size, done)).collect();
                let types = types.into_iter();
                let types = types.map(|part| self.export_resolved(part, done));
                SizedType::Abstract(name, sizes, types.collect())
            }
        };
        let sized = self.program.sized_types.push(sized);
        done.types.insert(id, sized);
        sized
    }

    /// A size in the terms of typed source. Anonymous if nothing is known of it.
    fn export_size(&mut self, id: SizeId, done: &mut ExportedSizes) -> SizeTerm {
        let id = self.variables.resolve(self.table, id);
        if let Some(&known) = done.sizes.get(&id) {
            return known;
        }
        let term = match *self.table.size(id) {
            SizeForm::Local(local) => SizeTerm::Local(local),
            _ => match self.export_expression(id) {
                Some(expression) => SizeTerm::Expression(expression),
                None => SizeTerm::Anonymous,
            },
        };
        done.sizes.insert(id, term);
        term
    }

    /// A size as an expression of typed source.
    fn export_expression(&mut self, id: SizeId) -> Option<TypedExpressionId> {
        let int64 = self.program.types.int64();
        let (kind, type_id) = match self.table.size(id).clone() {
            SizeForm::Constant(value) => {
                let literal = TypedLiteral::Integer(i128::from(value));
                (TypedKind::Scalar(literal), int64)
            }
            SizeForm::Local(local) => {
                let type_id = self.program.locals[local].type_id;
                let type_id = self.resolve_type(type_id);
                (TypedKind::Local(local, Vec::new()), type_id)
            }
            SizeForm::Variable(_) | SizeForm::Unknown => return None,
            SizeForm::Compound(SizeHead::Specified, parts, _) => {
                return parts.first().and_then(|&part| self.export_expression(part));
            }
            SizeForm::Compound(head, parts, type_id) => {
                let parts = parts.into_iter().map(|part| self.export_expression(part));
                let parts = parts.collect::<Option<Vec<_>>>()?;
                (compose_kind(head, parts)?, type_id)
            }
        };
        Some(self.program.expressions.push(TypedExpression {
            kind,
            type_id,
            place: self.place,
        }))
    }
}

/// The expression that a compound size is.
fn compose_kind(head: SizeHead, parts: Vec<TypedExpressionId>) -> Option<TypedKind> {
    let mut rest = parts.iter().copied();
    Some(match head {
        SizeHead::Specified => return None,
        SizeHead::Number(value) => TypedKind::Scalar(TypedLiteral::Integer(value)),
        SizeHead::Truth(value) => TypedKind::Scalar(TypedLiteral::Truth(value)),
        SizeHead::Global(id, types) => TypedKind::Global(id, types),
        SizeHead::Intrinsic(id, types) => TypedKind::Intrinsic(id, types),
        SizeHead::Instance(local, types) => TypedKind::Local(local, types),
        SizeHead::Apply => TypedKind::Application(rest.next()?, rest.collect()),
        SizeHead::Field(name) => TypedKind::Projection(rest.next()?, name),
        SizeHead::Record(names) => TypedKind::Record(names.into_iter().zip(rest).collect()),
        SizeHead::Index => TypedKind::Index(rest.next()?, rest.map(TypedIndex::Point).collect()),
        SizeHead::Array => TypedKind::Array(parts),
        SizeHead::Choice => TypedKind::If(rest.next()?, rest.next()?, rest.next()?),
    })
}

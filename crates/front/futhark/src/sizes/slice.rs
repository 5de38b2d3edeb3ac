//! Indices, slices, updates and ranges: sizes that follow from their bounds.

use super::shape::{ShapedForm, ShapedTypeId, SizeForm, SizeHead, SizeId};
use super::variable::SizeOrigin;
use super::{SizeInference, SizeResult};
use crate::syntax::tree::RangeBound;
use crate::typed::{TypedExpressionId, TypedIndex, TypedKind, TypedLiteral, TypedStep};

/// A slice of a dimension.
#[derive(Clone, Copy)]
struct SliceBounds {
    start: Option<TypedExpressionId>,
    end: Option<TypedExpressionId>,
    step: Option<TypedExpressionId>,
}

impl SizeInference<'_> {
    /// The type of an element or slice of an array.
    pub(super) fn infer_index(
        &mut self,
        id: TypedExpressionId,
        array: TypedExpressionId,
        indices: &[TypedIndex],
    ) -> SizeResult<ShapedTypeId> {
        let place = self.place;
        let array = self.infer(array)?;
        self.infer_indices(indices)?;
        self.place = place;
        let first_local = self.program.locals.len();
        let shape = self.slice_shape(array, indices, true);
        let produced = (first_local..self.program.locals.len()).map(crate::typed::LocalId::new);
        self.record.results.push((id, produced.collect(), shape));
        Ok(shape)
    }

    /// Infers the parts of indices.
    fn infer_indices(&mut self, indices: &[TypedIndex]) -> SizeResult<()> {
        for index in indices {
            match *index {
                TypedIndex::Point(point) => {
                    self.infer(point)?;
                }
                TypedIndex::Slice { start, end, step } => {
                    for part in [start, end, step].into_iter().flatten() {
                        self.infer(part)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The type of what indices select. The size of a slice that follows from nothing is produced by the expression, or to
    /// be found.
    fn slice_shape(
        &mut self,
        array: ShapedTypeId,
        indices: &[TypedIndex],
        is_value: bool,
    ) -> ShapedTypeId {
        let Some((index, rest)) = indices.split_first() else {
            return array;
        };
        let ShapedForm::Array(size, element) = self.expand(array) else {
            return self.table.add_any();
        };
        match *index {
            TypedIndex::Point(_) => self.slice_shape(element, rest, is_value),
            TypedIndex::Slice { start, end, step } => {
                let size = if is_value {
                    self.slice_size(size, SliceBounds { start, end, step })
                } else {
                    let request = self.request(SizeOrigin::Slice);
                    self.variables.add(self.table, request)
                };
                let element = self.slice_shape(element, rest, is_value);
                if *self.table.shape(element) == ShapedForm::Any {
                    return element;
                }
                self.table.add_array(size, element)
            }
        }
    }

    /// The size of a slice of a dimension.
    fn slice_size(&mut self, size: SizeId, bounds: SliceBounds) -> SizeId {
        let step = match bounds.step {
            None => Some(1),
            Some(step) => self.read_constant(step),
        };
        let start_value = match bounds.start {
            None => Some(0),
            Some(start) => self.read_constant(start),
        };
        let read = |inference: &mut Self, bound: Option<TypedExpressionId>, default| match bound {
            None => Some(default),
            Some(bound) => inference.read_size(bound),
        };
        let known = match (step, bounds.start, bounds.end) {
            (Some(1), _, end) if start_value == Some(0) => read(self, end, size),
            (Some(1), Some(start), end) => {
                let end = read(self, end, size);
                let start = self.read_size(start);
                end.zip(start).map(|(end, start)| self.subtract(end, start))
            }
            (Some(-1), None, None) => Some(size),
            (Some(-1), Some(start), Some(end)) => {
                let (start, end) = (self.read_size(start), self.read_size(end));
                start.zip(end).map(|(start, end)| self.subtract(start, end))
            }
            _ => None,
        };
        known.unwrap_or_else(|| self.produce_size("slice", "by a slice"))
    }

    /// A size that the expression at hand produces.
    fn produce_size(&mut self, name: &str, description: &str) -> SizeId {
        let local = self.add_produced(name, self.place, description.to_owned());
        self.table.add_local(local)
    }

    /// The value of a constant.
    fn read_constant(&mut self, id: TypedExpressionId) -> Option<i128> {
        match &self.program.expressions[id].kind {
            TypedKind::Scalar(TypedLiteral::Integer(value)) => Some(*value),
            TypedKind::Application(function, arguments) => {
                let TypedKind::Intrinsic(intrinsic, _) = self.program.expressions[*function].kind
                else {
                    return None;
                };
                let argument = *arguments.first()?;
                let is_negation = self.program.names[self.program.intrinsics[intrinsic]] == *"neg";
                let value = is_negation.then(|| self.read_constant(argument))??;
                Some(-value)
            }
            _ => None,
        }
    }

    /// A size built by an operator of the compiler.
    fn combine(&mut self, operator: &str, left: SizeId, right: SizeId) -> SizeId {
        let int64 = self.program.types.int64();
        let found = self
            .program
            .intrinsics
            .iter()
            .find(|(_, name)| self.program.names[**name] == *operator)
            .map(|(id, _)| id);
        let Some(id) = found else {
            return self.table.add_size(SizeForm::Unknown);
        };
        let unary = self.program.types.function(int64, int64);
        let binary = self.program.types.function(int64, unary);
        let head = SizeHead::Intrinsic(id, vec![int64]);
        let function = self
            .table
            .add_size(SizeForm::Compound(head, Vec::new(), binary));
        let parts = vec![function, left, right];
        self.table
            .add_size(SizeForm::Compound(SizeHead::Apply, parts, int64))
    }

    /// The difference of two sizes.
    fn subtract(&mut self, left: SizeId, right: SizeId) -> SizeId {
        self.combine("-", left, right)
    }

    /// The type of a value with a part replaced.
    pub(super) fn infer_update(
        &mut self,
        source: TypedExpressionId,
        steps: &[TypedStep],
        value: TypedExpressionId,
    ) -> SizeResult<ShapedTypeId> {
        let place = self.place;
        let source = self.infer(source)?;
        for step in steps {
            if let TypedStep::Indices(indices) = step {
                self.infer_indices(indices)?;
            }
        }
        let found = self.infer(value)?;
        self.place = place;
        let fields = steps.iter().map(|step| match step {
            TypedStep::Field(field) => Some(*field),
            TypedStep::Indices(_) => None,
        });
        if let Some(fields) = fields.collect::<Option<Vec<_>>>() {
            return Ok(self.replace_field(source, &fields, found));
        }
        let mut target = source;
        for step in steps {
            target = match step {
                TypedStep::Field(field) => self.field_shape(target, *field),
                TypedStep::Indices(indices) => self.slice_shape(target, indices, false),
            };
        }
        let value_place = self.program.expressions[value].place;
        match self.unify(target, found, value_place) {
            Ok(()) => Ok(source),
            Err(clash) => Err(self.fail_clash(clash, value_place, "the new value", target, found)),
        }
    }

    /// A record type with another type of a field.
    fn replace_field(
        &mut self,
        record: ShapedTypeId,
        fields: &[crate::syntax::tree::SourceNameId],
        value: ShapedTypeId,
    ) -> ShapedTypeId {
        let Some((field, rest)) = fields.split_first() else {
            return value;
        };
        if matches!(self.table.shape(record), ShapedForm::Plain(_)) {
            return record;
        }
        let ShapedForm::Record(mut parts) = self.expand(record) else {
            return record;
        };
        for (name, part) in &mut parts {
            if name == field {
                *part = self.replace_field(*part, rest, value);
            }
        }
        self.table.add_shape(ShapedForm::Record(parts))
    }

    /// The type of a range.
    pub(super) fn infer_range(
        &mut self,
        id: TypedExpressionId,
        first: TypedExpressionId,
        second: Option<TypedExpressionId>,
        bound: RangeBound,
        last: TypedExpressionId,
    ) -> SizeResult<ShapedTypeId> {
        let place = self.place;
        let element = self.infer(first)?;
        if let Some(second) = second {
            self.infer(second)?;
        }
        self.infer(last)?;
        self.place = place;
        let type_id = self.program.expressions[last].type_id;
        let start = self.read_constant(first);
        let next = second.map(|second| self.read_constant(second));
        let known = if self.is_int64(type_id) {
            match (start, next, bound) {
                (Some(0), None | Some(Some(1)), RangeBound::UpTo)
                | (Some(1), Some(Some(2)), RangeBound::Inclusive) => self.read_size(last),
                (_, None, RangeBound::UpTo) => self.read_distance(first, last),
                (_, None, RangeBound::Inclusive) => {
                    let one = self.table.add_constant(1);
                    let distance = self.read_distance(first, last);
                    distance.map(|distance| self.combine("+", distance, one))
                }
                _ => None,
            }
        } else {
            None
        };
        if let Some(size) = known {
            return Ok(self.table.add_array(size, element));
        }
        let local = self.add_produced("range", self.place, "by a range".to_owned());
        let size = self.table.add_local(local);
        let shape = self.table.add_array(size, element);
        self.record.results.push((id, vec![local], shape));
        Ok(shape)
    }

    /// The distance between the bounds of a range.
    fn read_distance(
        &mut self,
        first: TypedExpressionId,
        last: TypedExpressionId,
    ) -> Option<SizeId> {
        let last = self.read_size(last)?;
        let first = self.read_size(first)?;
        Some(self.subtract(last, first))
    }
}

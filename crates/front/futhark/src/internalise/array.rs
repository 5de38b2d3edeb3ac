//! Indices, slices, updates, ranges and array literals.

use super::message::describe_positions;
use super::value::{StaticArray, StaticFrame, StaticValue};
use super::{InternaliseResult, SourceInternaliser};
use crate::check::types::{PrimitiveType, TypeId};
use crate::intrinsic::machine_type;
use crate::syntax::tree::{NumberType, RangeBound, SourceNameId};
use crate::typed::{TypedExpressionId, TypedIndex, TypedStep};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType as MachineType};
use spirula_soac::ir::{SliceSelector, SoacMessagePart, SoacOperand, SoacOperation, SoacType};

/// An index with its operands.
#[derive(Clone, Copy, Debug)]
pub(super) enum StaticIndex {
    /// A position.
    Point(SoacOperand),
    /// First index, one beyond the last, step.
    Slice(Option<SoacOperand>, Option<SoacOperand>, SoacOperand),
}

/// A step of an update with its operands.
#[derive(Clone, Debug)]
pub(super) enum StaticStep {
    /// A field.
    Field(SourceNameId),
    /// Indices.
    Indices(Vec<StaticIndex>),
}

/// Indices of the outer dimensions of an array.
#[derive(Default)]
struct IndexSelection {
    /// The selectors.
    selectors: Vec<SliceSelector>,
    /// Whether all are inside of the array.
    inside: Option<SoacOperand>,
    /// The indices, for a message.
    positions: Vec<SoacMessagePart>,
    /// The sizes of the dimensions.
    shape: Vec<SoacOperand>,
}

impl IndexSelection {
    /// Adds a slice to the message.
    fn add_slice(&mut self, start: SoacOperand, end: SoacOperand, step: Option<SoacOperand>) {
        self.positions.extend([
            SoacMessagePart::Value(start),
            SoacMessagePart::Text(":".into()),
            SoacMessagePart::Value(end),
        ]);
        if let Some(step) = step {
            self.positions.extend([
                SoacMessagePart::Text(":".into()),
                SoacMessagePart::Value(step),
            ]);
        }
    }
}

/// `i64`
pub(super) const INT64: PrimitiveType = PrimitiveType::Number(NumberType::I64);

impl SourceInternaliser<'_> {
    /// Internalises indices.
    pub(super) fn internalise_indices(
        &mut self,
        indices: &[TypedIndex],
        frame: &mut StaticFrame,
    ) -> InternaliseResult<Vec<StaticIndex>> {
        let mut values = Vec::with_capacity(indices.len());
        for index in indices {
            values.push(match index {
                TypedIndex::Point(point) => {
                    StaticIndex::Point(self.internalise_int64(*point, frame)?)
                }
                TypedIndex::Slice { start, end, step } => {
                    let start = start
                        .map(|start| self.internalise_int64(start, frame))
                        .transpose()?;
                    let end = end
                        .map(|end| self.internalise_int64(end, frame))
                        .transpose()?;
                    let step = step
                        .map(|step| self.internalise_int64(step, frame))
                        .transpose()?;
                    StaticIndex::Slice(start, end, step.unwrap_or(SoacOperand::from_int64(1)))
                }
            });
        }
        Ok(values)
    }

    /// Internalises an integer, and widens it.
    fn internalise_int64(
        &mut self,
        id: TypedExpressionId,
        frame: &mut StaticFrame,
    ) -> InternaliseResult<SoacOperand> {
        match self.internalise(id, frame)? {
            StaticValue::Scalar(scalar, operand) => Ok(self.widen(scalar, operand)),
            _ => Err(self.fail("an integer is expected")),
        }
    }

    /// Internalises the steps of an update.
    pub(super) fn internalise_steps(
        &mut self,
        steps: &[TypedStep],
        frame: &mut StaticFrame,
    ) -> InternaliseResult<Vec<StaticStep>> {
        let steps = steps.iter().map(|step| match step {
            TypedStep::Field(field) => Ok(StaticStep::Field(*field)),
            TypedStep::Indices(indices) => Ok(StaticStep::Indices(
                self.internalise_indices(indices, frame)?,
            )),
        });
        steps.collect()
    }

    /// The element of an array at a position that is known to exist.
    pub(super) fn element_at(&mut self, array: &StaticArray, position: SoacOperand) -> StaticValue {
        let types = array.element.leaf_types();
        let mut types = types.into_iter();
        array.element.map_leaves(&mut |leaf| {
            let result = types.next().unwrap_or(SoacType::Certificate);
            let slice = SoacOperation::Slice(leaf, vec![SliceSelector::Point(position)]);
            self.builder.add_single("e", result, slice)
        })
    }

    /// Selectors for indices of the outer dimensions of an array, which are checked, and the structure of the result.
    fn select(
        &mut self,
        value: &StaticValue,
        indices: &[StaticIndex],
    ) -> InternaliseResult<(Vec<SliceSelector>, StaticValue)> {
        let mut selection = IndexSelection::default();
        let structure = self.select_dimensions(value, indices, &mut selection)?;
        if let Some(inside) = selection.inside {
            let message = describe_positions(selection.positions, &selection.shape);
            self.add_check(inside, message);
        }
        Ok((selection.selectors, structure))
    }

    /// Adds the indices of the outer dimensions of an array to a selection. Returns the structure of the result.
    fn select_dimensions(
        &mut self,
        value: &StaticValue,
        indices: &[StaticIndex],
        selection: &mut IndexSelection,
    ) -> InternaliseResult<StaticValue> {
        let Some((&first, rest)) = indices.split_first() else {
            return Ok(value.clone());
        };
        let StaticValue::Array(array) = value else {
            return Err(self.fail("a value is indexed that is no array"));
        };
        if !selection.positions.is_empty() {
            selection.positions.push(SoacMessagePart::Text(", ".into()));
        }
        selection.shape.push(array.length);
        let inside = match first {
            StaticIndex::Point(point) => {
                selection.positions.push(SoacMessagePart::Value(point));
                selection.selectors.push(SliceSelector::Point(point));
                let less = ScalarOperator::with_type(ScalarOp::ULt, MachineType::I64);
                self.builder.add_scalar(less, &[point, array.length])
            }
            StaticIndex::Slice(start, end, step) => {
                self.bound_slice(start, end, step, array.length, selection)
            }
        };
        selection.inside = Some(self.add_conjunct(selection.inside, inside));
        let selector = selection.selectors.last().copied();
        let inner = self.select_dimensions(&array.element, rest, selection)?;
        Ok(match selector {
            Some(SliceSelector::Stride { count, .. }) => StaticValue::from_element(count, inner),
            _ => inner,
        })
    }

    /// Adds a slice of a dimension to a selection. Returns whether it is inside.
    fn bound_slice(
        &mut self,
        start: Option<SoacOperand>,
        end: Option<SoacOperand>,
        step: SoacOperand,
        length: SoacOperand,
        selection: &mut IndexSelection,
    ) -> SoacOperand {
        let zero = SoacOperand::from_int64(0);
        let one = SoacOperand::from_int64(1);
        let is_up = self.builder.add_int64(ScalarOp::SLt, zero, step);
        let last = self.builder.add_int64(ScalarOp::Sub, length, one);
        let start = match start {
            Some(start) => start,
            None => self.select_int64(is_up, zero, last),
        };
        let end = match end {
            Some(end) => end,
            None => self.select_int64(is_up, length, SoacOperand::from_int64(-1)),
        };
        let up = self.builder.add_int64(ScalarOp::Sub, end, start);
        if step == one {
            let is_ordered = self.builder.add_int64(ScalarOp::SLe, start, end);
            let is_low = self.builder.add_int64(ScalarOp::SLe, zero, start);
            let is_high = self.builder.add_int64(ScalarOp::SLe, end, length);
            let inside = self.add_and(is_low, is_ordered);
            let inside = self.add_and(inside, is_high);
            selection.add_slice(start, end, None);
            selection.selectors.push(SliceSelector::Stride {
                start,
                count: up,
                stride: step,
            });
            return inside;
        }
        let down = self.builder.add_int64(ScalarOp::Sub, start, end);
        let backwards = self.builder.add_int64(ScalarOp::Sub, zero, step);
        let distance = self.select_int64(is_up, up, down);
        let size = self.select_int64(is_up, step, backwards);
        let count = self.builder.add_int64(ScalarOp::SDivUpSafe, distance, size);
        let before = self.builder.add_int64(ScalarOp::Sub, count, one);
        let offset = self.builder.add_int64(ScalarOp::Mul, before, step);
        let final_position = self.builder.add_int64(ScalarOp::Add, start, offset);
        let less = ScalarOperator::with_type(ScalarOp::ULt, MachineType::I64);
        let has_first = self.builder.add_scalar(less, &[start, length]);
        let has_last = self.builder.add_scalar(less, &[final_position, length]);
        let inside = self.add_and(has_first, has_last);
        let is_empty = self.builder.add_int64(ScalarOp::Eq, distance, zero);
        let or = ScalarOperator::with_type(ScalarOp::LogOr, MachineType::Bool);
        let inside = self.builder.add_scalar(or, &[inside, is_empty]);
        let is_forward = self.builder.add_int64(ScalarOp::SLe, zero, distance);
        let moves = self.builder.add_int64(ScalarOp::SLt, zero, size);
        let inside = self.add_and(inside, is_forward);
        let inside = self.add_and(inside, moves);
        selection.add_slice(start, end, Some(step));
        selection.selectors.push(SliceSelector::Stride {
            start,
            count,
            stride: step,
        });
        inside
    }

    /// One of two integers.
    fn select_int64(
        &mut self,
        condition: SoacOperand,
        accept: SoacOperand,
        reject: SoacOperand,
    ) -> SoacOperand {
        if let SoacOperand::Constant(literal) = condition {
            return if literal.bits != 0 { accept } else { reject };
        }
        let select = ScalarOperator::with_type(ScalarOp::Cond, MachineType::I64);
        self.builder
            .add_scalar(select, &[condition, accept, reject])
    }

    /// The element or slice of an array.
    pub(super) fn index_value(
        &mut self,
        value: StaticValue,
        indices: &[StaticIndex],
    ) -> InternaliseResult<StaticValue> {
        let (selectors, structure) = self.select(&value, indices)?;
        let mut types = structure.leaf_types().into_iter();
        Ok(structure.map_leaves(&mut |leaf| {
            let result = types.next().unwrap_or(SoacType::Certificate);
            self.builder
                .add_single("e", result, SoacOperation::Slice(leaf, selectors.clone()))
        }))
    }

    /// The value with a part replaced.
    pub(super) fn update_value(
        &mut self,
        target: StaticValue,
        steps: &[StaticStep],
        value: StaticValue,
    ) -> InternaliseResult<StaticValue> {
        let Some((first, rest)) = steps.split_first() else {
            return Ok(value);
        };
        match first {
            StaticStep::Field(field) => {
                let StaticValue::Record(mut fields) = target else {
                    return Err(self.fail("a field of a value is updated that is no record"));
                };
                let Some((_, part)) = fields.iter_mut().find(|(name, _)| name == field) else {
                    return Err(self.fail("a field is missing"));
                };
                *part = self.update_value(part.clone(), rest, value)?;
                Ok(StaticValue::Record(fields))
            }
            StaticStep::Indices(indices) => {
                let are_points = indices
                    .iter()
                    .all(|index| matches!(index, StaticIndex::Point(_)));
                if let [StaticStep::Indices(next), beyond @ ..] = rest
                    && are_points
                {
                    let joined = StaticStep::Indices([&indices[..], next].concat());
                    let steps = [&[joined], beyond].concat();
                    return self.update_value(target, &steps, value);
                }
                let (selectors, structure) = self.select(&target, indices)?;
                let value = if rest.is_empty() {
                    value
                } else {
                    let before = self.index_value(target.clone(), indices)?;
                    let before = self.copy_arrays(&before);
                    self.update_value(before, rest, value)?
                };
                self.require_lengths(&structure, &value);
                let mut news = value.leaves().into_iter();
                let mut types = target.leaf_types().into_iter();
                Ok(target.map_leaves(&mut |leaf| {
                    let (Some(new), Some(result)) = (news.next(), types.next()) else {
                        return leaf;
                    };
                    self.builder.add_single(
                        "u",
                        result,
                        SoacOperation::Update(leaf, selectors.clone(), new),
                    )
                }))
            }
        }
    }

    /// The value with arrays that nothing else refers to.
    pub(super) fn copy_arrays(&mut self, value: &StaticValue) -> StaticValue {
        let mut types = value.leaf_types().into_iter();
        value.map_leaves(&mut |leaf| match types.next() {
            Some(result @ SoacType::Array(..)) => {
                self.builder
                    .add_single("copy", result, SoacOperation::Manifest(leaf))
            }
            _ => leaf,
        })
    }

    /// Checks that the arrays of a value have the sizes of those of another.
    fn require_lengths(&mut self, wanted: &StaticValue, found: &StaticValue) {
        for (wanted, found) in wanted.lengths().into_iter().zip(found.lengths()) {
            let equal = self.builder.add_int64(ScalarOp::Eq, wanted, found);
            let message = vec![
                SoacMessagePart::Text("Value of shape [".into()),
                SoacMessagePart::Value(found),
                SoacMessagePart::Text("] cannot match shape [".into()),
                SoacMessagePart::Value(wanted),
                SoacMessagePart::Text("]".into()),
            ];
            self.add_check(equal, message);
        }
    }

    /// An array of its elements. The type is that of the array.
    pub(super) fn make_array(
        &mut self,
        values: Vec<StaticValue>,
        type_id: TypeId,
    ) -> InternaliseResult<StaticValue> {
        let Some(first) = values.first() else {
            return self.default_value(type_id);
        };
        if first.has_function() {
            return Err(self.fail("the elements of an array contain functions"));
        }
        for other in &values[1..] {
            self.require_lengths(first, other);
        }
        let columns: Vec<Vec<SoacOperand>> = values.iter().map(StaticValue::leaves).collect();
        let length = SoacOperand::from_int64(values.len() as i64);
        let structure = StaticValue::from_element(length, first.clone());
        let mut arrays = Vec::new();
        for (index, result) in structure.leaf_types().into_iter().enumerate() {
            let elements = columns.iter().map(|leaves| leaves[index]).collect();
            arrays.push(
                self.builder
                    .add_single("lit", result, SoacOperation::Literal(elements)),
            );
        }
        Ok(structure.with_leaves(&arrays))
    }

    /// The numbers of a range.
    pub(super) fn make_range(
        &mut self,
        first: StaticValue,
        second: Option<StaticValue>,
        bound: RangeBound,
        last: StaticValue,
    ) -> InternaliseResult<StaticValue> {
        let (StaticValue::Scalar(scalar, start), StaticValue::Scalar(_, end)) = (first, last)
        else {
            return Err(self.fail("a range needs integers"));
        };
        let zero = SoacOperand::from_int64(0);
        let wide_start = self.widen(scalar, start);
        let wide_end = self.widen(scalar, end);
        let default = if bound == RangeBound::DownTo { -1 } else { 1 };
        let mut message = vec![
            SoacMessagePart::Text("Range ".into()),
            SoacMessagePart::Value(wide_start),
        ];
        let step = match second {
            Some(StaticValue::Scalar(scalar, second)) => {
                let second = self.widen(scalar, second);
                message.extend([
                    SoacMessagePart::Text("..".into()),
                    SoacMessagePart::Value(second),
                ]);
                self.builder.add_int64(ScalarOp::Sub, second, wide_start)
            }
            _ => SoacOperand::from_int64(default),
        };
        let is_up = self.builder.add_int64(ScalarOp::SLt, zero, step);
        let direction = self.select_int64(
            is_up,
            SoacOperand::from_int64(1),
            SoacOperand::from_int64(-1),
        );
        let beyond = match bound {
            RangeBound::Inclusive => self.builder.add_int64(ScalarOp::Add, wide_end, direction),
            RangeBound::UpTo | RangeBound::DownTo => wide_end,
        };
        let up = self.builder.add_int64(ScalarOp::Sub, beyond, wide_start);
        let down = self.builder.add_int64(ScalarOp::Sub, wide_start, beyond);
        let backwards = self.builder.add_int64(ScalarOp::Sub, zero, step);
        let distance = self.select_int64(is_up, up, down);
        let size = self.select_int64(is_up, step, backwards);
        let count = if size == SoacOperand::from_int64(1) {
            distance
        } else {
            self.builder.add_int64(ScalarOp::SDivUpSafe, distance, size)
        };
        let is_valid = self.check_direction(bound, is_up, distance, size);
        message.extend([
            SoacMessagePart::Text(bound.dots().into()),
            SoacMessagePart::Value(wide_end),
            SoacMessagePart::Text(" is invalid.".into()),
        ]);
        self.add_check(is_valid, message);
        let machine = machine_type(scalar);
        let narrow_step = self.convert_operand(INT64, scalar, step);
        let result = SoacType::Array(machine, vec![count]);
        let iota = self.builder.add_single(
            "iota",
            result,
            SoacOperation::Iota(count, start, narrow_step),
        );
        Ok(StaticValue::from_element(
            count,
            StaticValue::Scalar(scalar, iota),
        ))
    }

    /// Whether a range whose steps have this size leads to its end: upwards or downwards, as its form demands.
    fn check_direction(
        &mut self,
        bound: RangeBound,
        is_up: SoacOperand,
        distance: SoacOperand,
        size: SoacOperand,
    ) -> SoacOperand {
        let zero = SoacOperand::from_int64(0);
        let is_forward = self.builder.add_int64(ScalarOp::SLe, zero, distance);
        let moves = self.builder.add_int64(ScalarOp::SLt, zero, size);
        let is_valid = self.add_and(is_forward, moves);
        if bound == RangeBound::Inclusive {
            return is_valid;
        }
        let wanted = self.truth(bound == RangeBound::UpTo);
        let equal = ScalarOperator::with_type(ScalarOp::Eq, MachineType::Bool);
        let is_right_way = self.builder.add_scalar(equal, &[is_up, wanted]);
        self.add_and(is_valid, is_right_way)
    }

    /// The value as an array.
    pub(super) fn require_array(&self, value: StaticValue) -> InternaliseResult<StaticArray> {
        match value {
            StaticValue::Array(array) => Ok(*array),
            _ => Err(self.fail("an array is expected")),
        }
    }

    /// An integer constant of a machine type.
    pub(super) fn constant(&self, machine: MachineType, value: i64) -> SoacOperand {
        SoacOperand::Constant(ScalarLiteral::new(machine, value as u64))
    }
}

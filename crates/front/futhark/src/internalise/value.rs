//! Values as the internaliser knows them: the structure of the source, with operands of the soac form at its leaves.
//!
//! A record is its fields and a function is a closure, so neither exists in the program that is made. An array of records is
//! a record of arrays: the operands in the element of an array have one dimension more than what they stand for.

use crate::check::types::{PrimitiveType, TypeId, TypeParameterId};
use crate::intrinsic::machine_type;
use crate::local_slots::LocalSlots;
use crate::syntax::tree::SourceNameId;
use crate::typed::{DefinitionId, IntrinsicId, TypedExpressionId};
use rustc_hash::FxHashMap;
use spirula_soac::ir::{SoacOperand, SoacType, SoacVariableId};
use std::rc::Rc;

/// A value.
#[derive(Clone, Debug)]
pub(super) enum StaticValue {
    /// A scalar.
    Scalar(PrimitiveType, SoacOperand),
    /// An array.
    Array(Box<StaticArray>),
    /// A record, with its fields in canonical order.
    Record(Vec<(SourceNameId, StaticValue)>),
    /// A value of a sum: the number of its constructor, and the payloads of all constructors.
    Sum(SoacOperand, Vec<(SourceNameId, Vec<StaticValue>)>),
    /// A function.
    Function(Rc<StaticFunction>),
    /// An accumulator, which has no data of its own.
    Accumulator(SoacVariableId),
}

/// An array.
#[derive(Clone, Debug)]
pub(super) struct StaticArray {
    /// The number of elements.
    pub(super) length: SoacOperand,
    /// An element, whose operands are arrays of the operands of all elements.
    pub(super) element: StaticValue,
}

/// A part of a value that an entry point exchanges.
#[derive(Clone, Copy, Debug)]
pub(super) enum StaticPart {
    /// Data, with its scalar type. The number of a constructor has none.
    Data(Option<PrimitiveType>, SoacOperand),
    /// The size of an array without data.
    Size(SoacOperand),
}

/// The types for the type parameters of a definition.
pub(super) type TypeArguments = Rc<FxHashMap<TypeParameterId, TypeId>>;

/// A function.
#[derive(Clone, Debug)]
pub(super) enum StaticFunction {
    /// A definition, with types for its type parameters.
    Definition(DefinitionId, TypeArguments),
    /// A function without a name, with the variables around it.
    Lambda(TypedExpressionId, StaticFrame),
    /// A function of the compiler, with types for its type parameters.
    Intrinsic(IntrinsicId, Vec<TypeId>),
    /// A definition or function of the compiler, with the sizes and types for its parameters.
    Instance(Rc<StaticFunction>, Rc<StaticInstance>),
    /// A function with its first arguments.
    Partial(Rc<StaticFunction>, Vec<StaticValue>),
    /// A function with a parameter that does not exist: a program that calls it stops. The type is that of its results.
    Undefined(TypeId),
}

/// The sizes of a type in the order of [`StaticValue::lengths`], as far as they are known.
pub(super) type StaticShape = Vec<Option<SoacOperand>>;

/// The sizes and types for the parameters of a function.
#[derive(Clone, Debug)]
pub(super) struct StaticInstance {
    /// The sizes for size parameters, as far as they are known.
    pub(super) sizes: Vec<Option<SoacOperand>>,
    /// The sizes of the types for type parameters.
    pub(super) shapes: Vec<StaticShape>,
}

/// The variables of a definition.
#[derive(Clone, Debug)]
pub(super) struct StaticFrame {
    /// The values of the variables.
    pub(super) locals: LocalSlots<StaticValue>,
    /// The types for type parameters.
    pub(super) types: TypeArguments,
    /// The sizes of the types for type parameters.
    pub(super) shapes: FxHashMap<TypeParameterId, StaticShape>,
}

impl StaticValue {
    /// An array.
    pub(super) fn from_element(length: SoacOperand, element: StaticValue) -> Self {
        StaticValue::Array(Box::new(StaticArray { length, element }))
    }

    /// Calls a function with each operand that is data.
    fn visit_leaves(&self, visit: &mut impl FnMut(SoacOperand)) {
        match self {
            StaticValue::Scalar(_, operand) => visit(*operand),
            StaticValue::Array(array) => array.element.visit_leaves(visit),
            StaticValue::Record(fields) => fields
                .iter()
                .for_each(|(_, field)| field.visit_leaves(visit)),
            StaticValue::Sum(tag, clauses) => {
                visit(*tag);
                clauses
                    .iter()
                    .flat_map(|(_, payload)| payload)
                    .for_each(|part| part.visit_leaves(visit));
            }
            StaticValue::Function(_) | StaticValue::Accumulator(_) => {}
        }
    }

    /// Calls a function with the scalar type of each operand that is data. The number of a constructor has none.
    pub(super) fn visit_scalars(&self, visit: &mut impl FnMut(Option<PrimitiveType>)) {
        match self {
            StaticValue::Scalar(scalar, _) => visit(Some(*scalar)),
            StaticValue::Array(array) => array.element.visit_scalars(visit),
            StaticValue::Record(fields) => fields
                .iter()
                .for_each(|(_, field)| field.visit_scalars(visit)),
            StaticValue::Sum(_, clauses) => {
                visit(None);
                clauses
                    .iter()
                    .flat_map(|(_, payload)| payload)
                    .for_each(|part| part.visit_scalars(visit));
            }
            StaticValue::Function(_) | StaticValue::Accumulator(_) => {}
        }
    }

    /// Whether it has data: an array of values without data has none.
    fn has_data(&self) -> bool {
        let mut has_data = false;
        self.visit_leaves(&mut |_| has_data = true);
        has_data
    }

    /// Calls a function with each part that an entry point exchanges: the data, and the sizes of arrays without data.
    pub(super) fn visit_parts(&self, visit: &mut impl FnMut(StaticPart)) {
        match self {
            StaticValue::Scalar(scalar, operand) => {
                visit(StaticPart::Data(Some(*scalar), *operand));
            }
            StaticValue::Array(array) => {
                if !array.element.has_data() {
                    visit(StaticPart::Size(array.length));
                }
                array.element.visit_parts(visit);
            }
            StaticValue::Record(fields) => fields
                .iter()
                .for_each(|(_, field)| field.visit_parts(visit)),
            StaticValue::Sum(tag, clauses) => {
                visit(StaticPart::Data(None, *tag));
                clauses
                    .iter()
                    .flat_map(|(_, payload)| payload)
                    .for_each(|part| part.visit_parts(visit));
            }
            StaticValue::Function(_) | StaticValue::Accumulator(_) => {}
        }
    }

    /// The parts that an entry point exchanges.
    pub(super) fn parts(&self) -> Vec<StaticPart> {
        let mut parts = Vec::new();
        self.visit_parts(&mut |part| parts.push(part));
        parts
    }

    /// The operands that are data, in order.
    pub(super) fn leaves(&self) -> Vec<SoacOperand> {
        let mut leaves = Vec::new();
        self.visit_leaves(&mut |leaf| leaves.push(leaf));
        leaves
    }

    /// The same value with other operands for its data.
    pub(super) fn map_leaves(
        &self,
        map: &mut impl FnMut(SoacOperand) -> SoacOperand,
    ) -> StaticValue {
        match self {
            StaticValue::Scalar(scalar, operand) => StaticValue::Scalar(*scalar, map(*operand)),
            StaticValue::Array(array) => {
                StaticValue::from_element(array.length, array.element.map_leaves(map))
            }
            StaticValue::Record(fields) => StaticValue::Record(
                fields
                    .iter()
                    .map(|(name, field)| (*name, field.map_leaves(map)))
                    .collect(),
            ),
            StaticValue::Sum(tag, clauses) => {
                let tag = map(*tag);
                let clauses = clauses.iter();
                let clauses = clauses
                    .map(|(name, payload)| {
                        (
                            *name,
                            payload.iter().map(|part| part.map_leaves(map)).collect(),
                        )
                    })
                    .collect();
                StaticValue::Sum(tag, clauses)
            }
            StaticValue::Function(_) | StaticValue::Accumulator(_) => self.clone(),
        }
    }

    /// The same value with its data from a list.
    pub(super) fn with_leaves(&self, leaves: &[SoacOperand]) -> StaticValue {
        let mut rest = leaves.iter().copied();
        self.map_leaves(&mut |leaf| rest.next().unwrap_or(leaf))
    }

    /// The numbers of elements of its arrays, in order.
    pub(super) fn lengths(&self) -> Vec<SoacOperand> {
        let mut lengths = Vec::new();
        self.map_lengths(&mut |length| {
            lengths.push(length);
            length
        });
        lengths
    }

    /// The same value with other numbers of elements.
    pub(super) fn map_lengths(
        &self,
        map: &mut impl FnMut(SoacOperand) -> SoacOperand,
    ) -> StaticValue {
        self.map_array_lengths(&mut |_, length| map(length))
    }

    /// The same, where the function receives whether the array has data.
    pub(super) fn map_array_lengths(
        &self,
        map: &mut impl FnMut(bool, SoacOperand) -> SoacOperand,
    ) -> StaticValue {
        match self {
            StaticValue::Scalar(..) | StaticValue::Function(_) | StaticValue::Accumulator(_) => {
                self.clone()
            }
            StaticValue::Array(array) => {
                let length = map(array.element.has_data(), array.length);
                StaticValue::from_element(length, array.element.map_array_lengths(map))
            }
            StaticValue::Record(fields) => StaticValue::Record(
                fields
                    .iter()
                    .map(|(name, field)| (*name, field.map_array_lengths(map)))
                    .collect(),
            ),
            StaticValue::Sum(tag, clauses) => {
                let clauses = clauses.iter();
                let clauses = clauses
                    .map(|(name, payload)| {
                        (
                            *name,
                            payload
                                .iter()
                                .map(|part| part.map_array_lengths(map))
                                .collect(),
                        )
                    })
                    .collect();
                StaticValue::Sum(*tag, clauses)
            }
        }
    }

    /// The same value with its numbers of elements from a list.
    pub(super) fn with_lengths(&self, lengths: &[SoacOperand]) -> StaticValue {
        let mut rest = lengths.iter().copied();
        self.map_lengths(&mut |length| rest.next().unwrap_or(length))
    }

    /// The types of its data, in order.
    pub(super) fn leaf_types(&self) -> Vec<SoacType> {
        let mut types = Vec::new();
        self.collect_types(&mut Vec::new(), &mut types);
        types
    }

    fn collect_types(&self, shape: &mut Vec<SoacOperand>, types: &mut Vec<SoacType>) {
        match self {
            StaticValue::Scalar(scalar, _) => {
                types.push(SoacType::from_shape(machine_type(*scalar), shape.clone()))
            }
            StaticValue::Array(array) => {
                shape.push(array.length);
                array.element.collect_types(shape, types);
                shape.pop();
            }
            StaticValue::Record(fields) => fields
                .iter()
                .for_each(|(_, field)| field.collect_types(shape, types)),
            StaticValue::Sum(_, clauses) => {
                types.push(SoacType::from_shape(
                    spirula_program::ScalarType::I8,
                    shape.clone(),
                ));
                let parts = clauses.iter().flat_map(|(_, payload)| payload);
                parts.for_each(|part| part.collect_types(shape, types));
            }
            StaticValue::Function(_) | StaticValue::Accumulator(_) => {}
        }
    }

    /// Whether a function is part of the value.
    pub(super) fn has_function(&self) -> bool {
        match self {
            StaticValue::Scalar(..) | StaticValue::Accumulator(_) => false,
            StaticValue::Array(array) => array.element.has_function(),
            StaticValue::Record(fields) => fields.iter().any(|(_, field)| field.has_function()),
            StaticValue::Sum(_, clauses) => clauses
                .iter()
                .flat_map(|(_, payload)| payload)
                .any(StaticValue::has_function),
            StaticValue::Function(_) => true,
        }
    }
}

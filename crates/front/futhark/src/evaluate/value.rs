//! Values of the evaluator.

use crate::check::types::{PrimitiveType, TypeId, TypeParameterId};
use crate::local_slots::LocalSlots;
use crate::syntax::tree::SourceNameId;
use crate::typed::{DefinitionId, IntrinsicId, TypedExpressionId};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// A value.
#[derive(Clone, Debug)]
pub enum EvaluatedValue {
    /// A scalar, with its bits. Those above the width of the type are zero.
    Scalar(PrimitiveType, u64),
    /// An array.
    Array(Rc<ArrayValue>),
    /// A record, with its fields in canonical order.
    Record(Rc<Vec<(SourceNameId, EvaluatedValue)>>),
    /// A value of a sum.
    Sum(SourceNameId, Rc<Vec<EvaluatedValue>>),
    /// A function.
    Function(Rc<FunctionValue>),
    /// An array that is being written.
    Accumulator(Rc<RefCell<AccumulatorValue>>),
    /// A scalar with its derivative.
    Derived(Rc<super::derivative::DerivedScalar>),
}

/// An array.
#[derive(Clone, Debug)]
pub struct ArrayValue {
    /// The elements.
    pub elements: Vec<EvaluatedValue>,
    /// The sizes of the inner dimensions. It counts where there are no elements.
    pub row_shape: Vec<i64>,
}

/// A function.
#[derive(Clone, Debug)]
pub enum FunctionValue {
    /// A definition.
    Definition(DefinitionId),
    /// A function without a name, with the variables around it.
    Lambda(TypedExpressionId, VariableFrame),
    /// A function of the compiler, with the types for its type parameters.
    Intrinsic(IntrinsicId, Vec<TypeId>),
    /// A definition or function of the compiler, with the sizes and types for its parameters.
    Instance(Rc<FunctionValue>, Rc<InstanceValue>),
    /// A function with its first arguments.
    Partial(Rc<FunctionValue>, Vec<EvaluatedValue>),
}

/// The sizes and types for the parameters of a function.
#[derive(Clone, Debug)]
pub struct InstanceValue {
    /// The sizes for size parameters, as far as they are known.
    pub sizes: Vec<Option<i64>>,
    /// The sizes of the outer dimensions of the types for type parameters, as far as they are known.
    pub shapes: Vec<Vec<i64>>,
}

/// An array that is being written, with the function that combines elements if there is one.
#[derive(Clone, Debug)]
pub struct AccumulatorValue {
    /// The array.
    pub array: ArrayValue,
    /// The function.
    pub combine: Option<Rc<FunctionValue>>,
}

/// The variables of a definition.
#[derive(Clone, Debug)]
pub struct VariableFrame {
    /// The values of the variables.
    pub locals: LocalSlots<EvaluatedValue>,
    /// The sizes of the types for type parameters.
    pub shapes: FxHashMap<TypeParameterId, Vec<i64>>,
}

impl EvaluatedValue {
    /// A truth value.
    pub fn from_bool(value: bool) -> Self {
        EvaluatedValue::Scalar(PrimitiveType::Bool, u64::from(value))
    }

    /// An `i64`.
    pub fn from_int64(value: i64) -> Self {
        let int64 = PrimitiveType::Number(crate::syntax::tree::NumberType::I64);
        EvaluatedValue::Scalar(int64, value as u64)
    }

    /// An array of elements. `row_shape` counts if there are none.
    pub fn from_elements(elements: Vec<EvaluatedValue>, row_shape: Vec<i64>) -> Self {
        let row_shape = match elements.first() {
            Some(first) => first.shape(),
            None => row_shape,
        };
        EvaluatedValue::Array(Rc::new(ArrayValue {
            elements,
            row_shape,
        }))
    }

    /// The sizes of an array, outermost first. Empty for other values.
    pub fn shape(&self) -> Vec<i64> {
        match self {
            EvaluatedValue::Array(array) => {
                let mut shape = vec![array.elements.len() as i64];
                match array.elements.first() {
                    Some(first) => shape.extend(first.shape()),
                    None => shape.extend(&array.row_shape),
                }
                shape
            }
            _ => Vec::new(),
        }
    }

    /// The value of an integer with its sign. Zero for other values.
    pub fn to_int(&self) -> i64 {
        match self.without_derivatives() {
            EvaluatedValue::Scalar(scalar, bits) => {
                let machine = crate::intrinsic::machine_type(*scalar);
                if crate::intrinsic::is_unsigned(*scalar) {
                    *bits as i64
                } else {
                    spirula_program::ScalarLiteral::new(machine, *bits).to_signed()
                }
            }
            _ => 0,
        }
    }

    /// Whether the value is true.
    pub fn is_true(&self) -> bool {
        matches!(self, EvaluatedValue::Scalar(PrimitiveType::Bool, 1))
    }
}

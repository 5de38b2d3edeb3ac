//! The data of the soac form.

use spirula_entity::EntityArena;
use spirula_program::{ScalarLiteral, ScalarOperator, ScalarType};
use std::sync::Arc;

spirula_entity::define_ids! {
    /// A variable of a function. It is bound once.
    pub struct SoacVariableId: "v";
    /// A function of a program, or one that a function calls.
    pub struct SoacFunctionId: "f";
}

/// A program.
#[derive(Clone, Debug, Default)]
pub struct SoacProgram {
    /// Its functions.
    pub functions: EntityArena<SoacFunctionId, SoacFunction>,
}

/// How an entry point is called from outside.
#[derive(Clone, Debug, Default)]
pub struct SoacEntry {
    /// Its name.
    pub name: String,
    /// Its parameters, in the order of the function's.
    pub parameters: Vec<SoacEntryValue>,
    /// Its results, in the order of the function's.
    pub results: Vec<SoacEntryValue>,
    /// Whether the function runs when the program begins, instead of being called from outside. It has no parameters, and its
    /// results are dropped.
    pub is_initialiser: bool,
}

/// A parameter or result of an entry point: some scalars and arrays of the function.
#[derive(Clone, Debug, Default)]
pub struct SoacEntryValue {
    /// The name of a parameter.
    pub name: String,
    /// The name of the type, if the value has no form outside of the program.
    pub opaque: Option<String>,
    /// Whether the integers of each scalar or array have no sign.
    pub unsigned: Vec<bool>,
}

/// A function.
#[derive(Clone, Debug, Default)]
pub struct SoacFunction {
    /// Its name. Entry points are called by it.
    pub name: String,
    /// Its variables.
    pub variables: EntityArena<SoacVariableId, SoacVariable>,
    /// Its parameters. The sizes of an array parameter are parameters in front of it, or constants.
    pub parameters: Vec<SoacVariableId>,
    /// Its body.
    pub body: SoacBody,
    /// The functions that are called, from its body or from each other's. They have none of their own. The results of a
    /// call are new arrays, which share no elements with each other or with arguments that stay.
    pub callees: EntityArena<SoacFunctionId, SoacFunction>,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct SoacVariable {
    /// A name for the text form. The id makes it unique.
    pub name: String,
    /// Its type.
    pub variable_type: SoacType,
}

/// The type of a variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SoacType {
    /// A scalar.
    Scalar(ScalarType),
    /// A regular array of at least one dimension. Its sizes are operands of type `i64`, outermost first.
    Array(ScalarType, Vec<SoacOperand>),
    /// The proof that a check held. Operations that are unsafe without the check name it.
    Certificate,
    /// Arrays that are only written, by [`SoacOperation::Accumulate`].
    Accumulator,
}

/// A constant or a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SoacOperand {
    /// A constant.
    Constant(ScalarLiteral),
    /// A variable.
    Variable(SoacVariableId),
}

impl SoacOperand {
    /// An `i64`.
    pub fn from_int64(value: i64) -> Self {
        SoacOperand::Constant(ScalarLiteral::from_i64(value))
    }

    /// The value of a constant integer.
    pub fn to_int64(self) -> Option<i64> {
        match self {
            SoacOperand::Constant(literal) => Some(literal.to_signed()),
            SoacOperand::Variable(_) => None,
        }
    }
}

/// Statements and results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SoacBody {
    /// The statements. Each is in scope of those after it.
    pub statements: Vec<SoacStatement>,
    /// The results.
    pub results: Vec<SoacOperand>,
}

/// A statement: variables are bound to the results of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SoacStatement {
    /// The variables.
    pub results: Vec<SoacVariableId>,
    /// The certificates that the operation needs.
    pub certificates: Vec<SoacVariableId>,
    /// The operation.
    pub operation: SoacOperation,
}

/// The message of a check that does not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SoacMessage {
    /// Its parts.
    pub parts: Vec<SoacMessagePart>,
    /// Places in the source, the innermost first, with ` -> ` between them. May be empty.
    pub places: Arc<str>,
}

/// A part of the message of a check.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SoacMessagePart {
    /// Text.
    Text(String),
    /// The value of a scalar.
    Value(SoacOperand),
}

/// A function that a combinator applies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SoacLambda {
    /// Its parameters.
    pub parameters: Vec<SoacVariableId>,
    /// Its body.
    pub body: SoacBody,
}

/// How the positions of a dimension are selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SliceSelector {
    /// One position. The result has no such dimension.
    Point(SoacOperand),
    /// Positions that follow each other at a distance.
    Stride {
        /// The first position.
        start: SoacOperand,
        /// The number of positions.
        count: SoacOperand,
        /// The distance, which may be negative.
        stride: SoacOperand,
    },
}

/// How often a loop runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SoacLoopForm {
    /// A variable counts from zero to a bound of its type, which is excluded.
    For(SoacVariableId, SoacOperand),
    /// A parameter of the loop of type `bool` is true. The number is its position among the parameters.
    While(usize),
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SoacOperation {
    /// A scalar operator. One result.
    Scalar(ScalarOperator, Vec<SoacOperand>),
    /// The value of a tuning parameter, an `i64`: its name, and the default of a threshold of sizes. Without a default it is
    /// zero until somebody sets it. No operands.
    Parameter(Arc<str>, Option<i64>),
    /// A condition that must hold when the program runs. The result is a certificate.
    Check(SoacOperand, SoacMessage),
    /// An element of an array, or a slice. Dimensions without a selector are selected whole, so a scalar or an array
    /// without selectors is the operand itself.
    Slice(SoacOperand, Vec<SliceSelector>),
    /// An array with an element or a slice replaced. The array is consumed.
    Update(SoacOperand, Vec<SliceSelector>, SoacOperand),
    /// An array of its elements, which are scalars or arrays. At least one.
    Literal(Vec<SoacOperand>),
    /// Integers that follow each other: count, first, step.
    Iota(SoacOperand, SoacOperand, SoacOperand),
    /// Outer dimensions of the sizes given, in which every element is the value.
    Replicate(Vec<SoacOperand>, SoacOperand),
    /// Arrays one after the other along the outermost dimension.
    Concat(Vec<SoacOperand>),
    /// The elements in the same order with other sizes.
    Reshape(SoacOperand, Vec<SoacOperand>),
    /// The dimensions in another order: dimension `i` of the result is dimension `permutation[i]` of the array.
    Rearrange(SoacOperand, Vec<usize>),
    /// A copy that nothing else refers to.
    Manifest(SoacOperand),
    /// A choice. Both bodies have the results of the statement.
    If(SoacOperand, SoacBody, SoacBody),
    /// A loop: parameters with their first values, its form, and the values for the next iteration.
    Loop(Vec<(SoacVariableId, SoacOperand)>, SoacLoopForm, SoacBody),
    /// A function of the elements of arrays of the same outer size.
    Map(SoacOperand, Vec<SoacOperand>, SoacLambda),
    /// A reduction by an associative function: outer size, arrays, neutral element.
    Reduce(
        SoacOperand,
        Vec<SoacOperand>,
        Vec<SoacOperand>,
        SoacLambda,
        ReductionOrder,
    ),
    /// A scan by an associative function: outer size, arrays, neutral element.
    Scan(SoacOperand, Vec<SoacOperand>, Vec<SoacOperand>, SoacLambda),
    /// An array with the elements at positions replaced: array, positions, values. The array is consumed. Positions outside
    /// of the outermost dimension are ignored.
    Scatter(SoacOperand, SoacOperand, SoacOperand),
    /// Arrays whose elements at positions are combined with values. Positions outside are ignored.
    Histogram(Box<SoacHistogram>),
    /// Values are combined with the elements at a position of the arrays of an accumulator. A position outside is ignored.
    /// No results. Writes of different iterations have no order.
    Accumulate(SoacVariableId, SoacOperand, Vec<SoacOperand>),
    /// A body that writes arrays through accumulators. The results are the arrays of all accumulators, then those of the
    /// body.
    WithAccumulators(Box<SoacAccumulation>),
    /// A map with an operation on its first results. They are not kept as arrays.
    Fused(Box<SoacFusedMap>),
    /// A call of a function, with its arguments.
    Call(SoacFunctionId, Vec<SoacArgument>),
}

/// An argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SoacArgument {
    /// Its value.
    pub operand: SoacOperand,
    /// Whether it may be used after the call.
    pub ownership: ArgumentOwnership,
}

/// Who owns an argument after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgumentOwnership {
    /// The caller: it stays as it is.
    Lent,
    /// The function, which may change it in place or return it.
    Consumed,
}

/// Whether the operands of a reduction may change places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReductionOrder {
    /// They may not.
    Ordered,
    /// They may: the function is commutative.
    Commutative,
}

/// A histogram.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SoacHistogram {
    /// The arrays, which are consumed. All have the same outer size.
    pub targets: Vec<SoacOperand>,
    /// The neutral element of the function.
    pub neutral: Vec<SoacOperand>,
    /// The function that combines an element of the arrays with values.
    pub function: SoacLambda,
    /// The positions: an array of `i64`.
    pub positions: SoacOperand,
    /// Arrays of values, one for each target.
    pub values: Vec<SoacOperand>,
}

/// A body with the accumulators that it writes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SoacAccumulation {
    /// The accumulators.
    pub accumulators: Vec<SoacAccumulator>,
    /// The body. The accumulators are in its scope only.
    pub body: SoacBody,
}

/// An accumulator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SoacAccumulator {
    /// The variable that stands for it in the body.
    pub variable: SoacVariableId,
    /// Its arrays, which are consumed. All have the same outer size.
    pub targets: Vec<SoacOperand>,
    /// The function that combines the elements at a position with the values of a write. It is associative and commutative.
    /// Without one the last write stays, in any order.
    pub combine: Option<SoacLambda>,
}

/// A map with an operation on its first results. The statement binds the results of the operation, then arrays of the other
/// results of the function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SoacFusedMap {
    /// The outer size of the arrays.
    pub width: SoacOperand,
    /// The arrays.
    pub arrays: Vec<SoacOperand>,
    /// The function of their elements.
    pub function: SoacLambda,
    /// The operation.
    pub sink: FusedSink,
}

/// An operation on the first results of a map.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FusedSink {
    /// They are reduced.
    Reduce(SoacFold, ReductionOrder),
    /// They are scanned.
    Scan(SoacFold),
    /// They are a position and a value for each array, whose element the value replaces. The arrays are consumed, and have no
    /// elements in common. Positions outside are ignored.
    Scatter(Vec<SoacOperand>),
    /// They are a position and values, which are combined with the elements of arrays. The arrays are consumed. Positions
    /// outside are ignored.
    Histogram(Vec<SoacOperand>, SoacFold),
}

/// An associative function and its neutral element.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SoacFold {
    /// The neutral element.
    pub neutral: Vec<SoacOperand>,
    /// The function.
    pub function: SoacLambda,
}

impl FusedSink {
    /// The function that combines values, with its neutral element.
    pub fn fold(&self) -> Option<&SoacFold> {
        match self {
            FusedSink::Reduce(fold, _) | FusedSink::Scan(fold) | FusedSink::Histogram(_, fold) => {
                Some(fold)
            }
            FusedSink::Scatter(_) => None,
        }
    }

    /// The function that combines values, with its neutral element.
    pub fn fold_mut(&mut self) -> Option<&mut SoacFold> {
        match self {
            FusedSink::Reduce(fold, _) | FusedSink::Scan(fold) | FusedSink::Histogram(_, fold) => {
                Some(fold)
            }
            FusedSink::Scatter(_) => None,
        }
    }

    /// The arrays that are consumed.
    pub fn targets(&self) -> &[SoacOperand] {
        match self {
            FusedSink::Scatter(targets) | FusedSink::Histogram(targets, _) => targets,
            FusedSink::Reduce(..) | FusedSink::Scan(_) => &[],
        }
    }

    /// Number of results of the map that it takes.
    pub fn count_inputs(&self) -> usize {
        match self {
            FusedSink::Reduce(fold, _) | FusedSink::Scan(fold) => fold.neutral.len(),
            FusedSink::Scatter(targets) => 2 * targets.len(),
            FusedSink::Histogram(targets, _) => targets.len() + 1,
        }
    }

    /// Number of variables that it binds.
    pub fn count_results(&self) -> usize {
        match self {
            FusedSink::Reduce(fold, _) | FusedSink::Scan(fold) => fold.neutral.len(),
            FusedSink::Scatter(targets) | FusedSink::Histogram(targets, _) => targets.len(),
        }
    }
}

impl SoacFunction {
    /// The type of an operand.
    pub fn type_of(&self, operand: SoacOperand) -> SoacType {
        match operand {
            SoacOperand::Constant(literal) => SoacType::Scalar(literal.ty),
            SoacOperand::Variable(id) => self.variables[id].variable_type.clone(),
        }
    }
}

impl SoacType {
    /// The type of the elements of an array, or the scalar type.
    pub fn element(&self) -> ScalarType {
        match self {
            SoacType::Scalar(scalar) | SoacType::Array(scalar, _) => *scalar,
            SoacType::Certificate | SoacType::Accumulator => ScalarType::Unit,
        }
    }

    /// The sizes of an array. Empty for other types.
    pub fn shape(&self) -> &[SoacOperand] {
        match self {
            SoacType::Array(_, shape) => shape,
            SoacType::Scalar(_) | SoacType::Certificate | SoacType::Accumulator => &[],
        }
    }

    /// The array or scalar of an element type and sizes.
    pub fn from_shape(element: ScalarType, shape: Vec<SoacOperand>) -> SoacType {
        if shape.is_empty() {
            SoacType::Scalar(element)
        } else {
            SoacType::Array(element, shape)
        }
    }
}

//! Functions: values, blocks, operations.

use super::{DenseTensorType, DimExtent, ScalarCombiner, StructuredOp, TensorBlock, TensorValue};
use spirula_diagnostics::SourceLocation;
use spirula_program::ScalarType;

/// A function without calls: what an entry point runs.
#[derive(Clone, Debug, Default)]
pub struct TensorFunction {
    /// Name.
    pub name: String,
    pub(crate) values: Vec<TensorValueData>,
    pub(crate) blocks: Vec<TensorBlockData>,
    /// What its caller sees.
    pub entry: TensorEntrySignature,
    /// What has to hold of sizes, which only a run can tell.
    pub demands: Vec<SizeConstraint>,
}

/// What has to hold of two sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeConstraint {
    /// The sizes.
    pub sizes: [DimExtent; 2],
    /// How they have to compare.
    pub relation: SizeRelation,
}

/// How two sizes have to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeRelation {
    /// They are equal.
    Equal,
    /// The first is 1, or they are equal: elements are repeated along the dimension.
    Repeated,
}

/// How an entry point's parameters and results look from outside, beyond their tensors.
#[derive(Clone, Debug, Default)]
pub struct TensorEntrySignature {
    /// Names of the parameters.
    pub parameters: Vec<String>,
    /// Whether a parameter's integers have no sign.
    pub unsigned_parameters: Vec<bool>,
    /// Whether a result's integers have no sign.
    pub unsigned_results: Vec<bool>,
}

/// What a value is.
#[derive(Clone, Debug)]
pub struct TensorValueData {
    /// Type.
    pub ty: DenseTensorType,
}

/// A list of operations with parameters and results.
#[derive(Clone, Debug, Default)]
pub struct TensorBlockData {
    /// Parameters.
    pub parameters: Vec<TensorValue>,
    /// Operations, each after those whose values it uses.
    pub ops: Vec<TensorOp>,
    /// Results.
    pub results: Vec<TensorValue>,
}

/// An operation.
#[derive(Clone, Debug)]
pub struct TensorOp {
    /// What it does.
    pub kind: OpKind,
    /// Its values.
    pub results: Vec<TensorValue>,
    /// Where it was written.
    pub place: SourceLocation,
}

/// What an operation does.
#[derive(Clone, Debug)]
pub enum OpKind {
    /// A tensor that is known.
    Constant(Box<TensorConstant>),
    /// Work over an index space.
    Structured(Box<StructuredOp>),
    /// The same elements in row-major order in another shape.
    Reshape(TensorValue),
    /// Sorts along a dimension.
    Sort(Box<TensorSort>),
    /// One of two blocks without parameters.
    If {
        /// A truth value of rank 0.
        condition: TensorValue,
        /// Where it holds.
        then: TensorBlock,
        /// Where it does not.
        otherwise: TensorBlock,
    },
    /// Repeats a block.
    While {
        /// What the blocks' parameters begin as.
        initial: Vec<TensorValue>,
        /// Gives one truth value of rank 0: whether to go on.
        condition: TensorBlock,
        /// Gives the parameters' next values.
        body: TensorBlock,
    },
    /// Ends the run where a condition does not hold.
    Assert(Box<RunAssertion>),
}

/// A condition that has to hold when the run comes to it, and the error where it does not.
#[derive(Clone, Debug, PartialEq)]
pub struct RunAssertion {
    /// A truth value of rank 0.
    pub condition: TensorValue,
    /// The error's message.
    pub message: Vec<MessagePiece>,
    /// The place of the assertion as text, shown with the message; may be empty.
    pub origin: String,
}

/// A piece of the message of a [`RunAssertion`].
#[derive(Clone, Debug, PartialEq)]
pub enum MessagePiece {
    /// Text.
    Text(String),
    /// The element of a tensor of rank 0.
    Value(TensorValue),
}

/// A tensor that is known.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorConstant {
    /// Its type; the shape is static.
    pub ty: DenseTensorType,
    /// Its elements in row-major order, little-endian, [`ScalarType::size`] bytes each.
    pub bytes: Vec<u8>,
}

impl TensorConstant {
    /// Element `at` by its bits; 0 outside.
    pub fn element_bits(&self, at: usize) -> u64 {
        let size = self.ty.element.size() as usize;
        let bytes = self.bytes.get(at * size..(at + 1) * size).unwrap_or(&[]);
        let bits = bytes
            .iter()
            .rev()
            .fold(0, |bits, b| bits << 8 | u64::from(*b));
        match self.ty.element {
            ScalarType::Bool => u64::from(bits != 0),
            _ => bits,
        }
    }
}

/// Sorts tensors of one shape together along a dimension.
#[derive(Clone, Debug)]
pub struct TensorSort {
    /// The tensors.
    pub operands: Vec<TensorValue>,
    /// The dimension.
    pub dimension: usize,
    /// Whether equal elements stay in order.
    pub is_stable: bool,
    /// Whether the first comes before the second: arguments are the two elements of each operand
    /// in turn; one result, a truth value.
    pub comparator: ScalarCombiner,
}

impl TensorFunction {
    /// The block that runs; its parameters and results are the function's.
    pub fn body(&self) -> TensorBlock {
        TensorBlock::new(0)
    }

    /// A value.
    pub fn value(&self, value: TensorValue) -> &TensorValueData {
        &self.values[value.index()]
    }

    /// The type of a value.
    pub fn ty(&self, value: TensorValue) -> &DenseTensorType {
        &self.values[value.index()].ty
    }

    /// Number of values.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// A block.
    pub fn block(&self, block: TensorBlock) -> &TensorBlockData {
        &self.blocks[block.index()]
    }

    /// A block, to change it.
    pub fn block_mut(&mut self, block: TensorBlock) -> &mut TensorBlockData {
        &mut self.blocks[block.index()]
    }

    /// Ids of all blocks, those within after those around them.
    pub fn block_ids(&self) -> impl Iterator<Item = TensorBlock> + use<> {
        (0..self.blocks.len()).map(TensorBlock::new)
    }

    /// Makes a value.
    pub fn new_value(&mut self, ty: DenseTensorType) -> TensorValue {
        self.values.push(TensorValueData { ty });
        TensorValue::new(self.values.len() - 1)
    }

    /// Makes an empty block.
    pub fn new_block(&mut self) -> TensorBlock {
        self.blocks.push(TensorBlockData::default());
        TensorBlock::new(self.blocks.len() - 1)
    }
}

impl OpKind {
    /// Every value that the operation itself uses; what its blocks use is theirs.
    pub fn collect_operands(&self) -> Vec<TensorValue> {
        match self {
            OpKind::Constant(_) => Vec::new(),
            OpKind::Structured(op) => op.collect_operands(),
            OpKind::Reshape(value) => vec![*value],
            OpKind::Sort(sort) => sort.operands.clone(),
            OpKind::If { condition, .. } => vec![*condition],
            OpKind::While { initial, .. } => initial.clone(),
            OpKind::Assert(assertion) => assertion.operands(),
        }
    }

    /// Whether the operation matters even where nothing uses its results: a loop may not end, an
    /// assertion may fail.
    pub fn has_effect(&self) -> bool {
        matches!(self, OpKind::While { .. } | OpKind::Assert(_))
    }

    /// The blocks within.
    pub fn blocks(&self) -> impl Iterator<Item = TensorBlock> + use<> {
        let (first, second) = match *self {
            OpKind::If {
                then, otherwise, ..
            } => (Some(then), Some(otherwise)),
            OpKind::While {
                condition, body, ..
            } => (Some(condition), Some(body)),
            _ => (None, None),
        };
        first.into_iter().chain(second)
    }
}

impl RunAssertion {
    fn operands(&self) -> Vec<TensorValue> {
        let shown = self.message.iter().filter_map(|piece| match piece {
            MessagePiece::Value(value) => Some(*value),
            MessagePiece::Text(_) => None,
        });
        std::iter::once(self.condition).chain(shown).collect()
    }
}

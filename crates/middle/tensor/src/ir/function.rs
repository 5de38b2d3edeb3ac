//! Functions: values, blocks and operations.

use super::{
    DenseTensorType, DimExtent, ProductPrecision, ScalarCombiner, StructuredOp, TensorBlock,
    TensorValue,
};
use spirula_diagnostics::SourceLocation;
use spirula_program::{ForeignSignature, ScalarType};

/// A function without calls, which an entry point runs.
#[derive(Clone, Debug, Default)]
pub struct TensorFunction {
    /// Name.
    pub name: String,
    pub(crate) values: Vec<TensorValueData>,
    pub(crate) blocks: Vec<TensorBlockData>,
    /// The signature that its caller sees.
    pub entry: TensorEntrySignature,
    /// Constraints on sizes that are checked at run time.
    pub demands: Vec<SizeConstraint>,
}

/// A constraint on two sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeConstraint {
    /// The sizes.
    pub sizes: [DimExtent; 2],
    /// The relation that must hold.
    pub relation: SizeRelation,
}

/// A relation of two sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeRelation {
    /// They are equal.
    Equal,
    /// The first is 1, or they are equal: elements are repeated along the dimension.
    Repeated,
}

/// The parameters and results of an entry point as its caller sees them, beyond their types.
#[derive(Clone, Debug, Default)]
pub struct TensorEntrySignature {
    /// Names of the parameters.
    pub parameters: Vec<String>,
    /// Whether the integers of a parameter have no sign.
    pub unsigned_parameters: Vec<bool>,
    /// Whether the integers of a result have no sign.
    pub unsigned_results: Vec<bool>,
}

/// A value.
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
    /// Operations, each after those that define its operands.
    pub ops: Vec<TensorOp>,
    /// Results.
    pub results: Vec<TensorValue>,
}

/// An operation.
#[derive(Clone, Debug)]
pub struct TensorOp {
    /// The kind, with operands and blocks.
    pub kind: OpKind,
    /// The values that it defines.
    pub results: Vec<TensorValue>,
    /// Place in the source.
    pub place: SourceLocation,
}

/// The kind of an operation.
#[derive(Clone, Debug)]
pub enum OpKind {
    /// A constant tensor.
    Constant(Box<TensorConstant>),
    /// Work over an index space.
    Structured(Box<StructuredOp>),
    /// The same elements in row-major order in another shape.
    Reshape(TensorValue),
    /// A sort along a dimension.
    Sort(Box<TensorSort>),
    /// The order of words, by a radix sort. The pass `sort` makes it of sorts.
    RadixSort(RadixSort),
    /// The indices of the least words. The pass `sort` makes it of sorts of which few elements are read.
    WordSelection(WordSelection),
    /// A branch: one of two blocks without parameters.
    If {
        /// A truth value of rank 0.
        condition: TensorValue,
        /// The block that runs if it holds.
        then: TensorBlock,
        /// The block that runs if it does not hold.
        otherwise: TensorBlock,
    },
    /// A loop.
    While {
        /// Initial values of the blocks' parameters.
        initial: Vec<TensorValue>,
        /// The block that computes whether to continue: one truth value of rank 0.
        condition: TensorBlock,
        /// The block that computes the next values of the parameters.
        body: TensorBlock,
    },
    /// An assertion, which ends the run if its condition does not hold.
    Assert(Box<RunAssertion>),
    /// A call of a function that does not belong to the program.
    Foreign(Box<ForeignCall>),
}

/// A call of a function that does not belong to the program. Operands and results have static shapes.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignCall {
    /// Name and types, in the words of the source. Those of complex numbers have one tensor of pairs.
    pub signature: ForeignSignature,
    /// The operands.
    pub operands: Vec<TensorValue>,
}

/// A condition that must hold when it is evaluated, and the error if it does not.
#[derive(Clone, Debug, PartialEq)]
pub struct RunAssertion {
    /// A truth value of rank 0.
    pub condition: TensorValue,
    /// The message of the error.
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

/// A constant tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorConstant {
    /// The type; its shape is static.
    pub ty: DenseTensorType,
    /// The elements in row-major order, little-endian, [`ScalarType::size`] bytes each.
    pub bytes: Vec<u8>,
}

impl TensorConstant {
    /// The bits of an element; 0 outside.
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

/// A sort of tensors of one shape, together, along a dimension.
#[derive(Clone, Debug)]
pub struct TensorSort {
    /// The tensors.
    pub operands: Vec<TensorValue>,
    /// The dimension.
    pub dimension: usize,
    /// Whether equal elements keep their order.
    pub is_stable: bool,
    /// Whether one element comes before another. The arguments are the two elements of each operand in turn; the result is
    /// a truth value.
    pub comparator: ScalarCombiner,
}

/// A stable sort of unsigned words along the last dimension. The result has the numbers that are carried along, in the
/// order of their words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RadixSort {
    /// The words, `i32`s.
    pub words: TensorValue,
    /// The numbers that are carried along, `i32`s of the same shape; indices along the last dimension where there are none.
    pub carried: Option<TensorValue>,
    /// Number of the lowest bits of the words that count; the others are zero.
    pub bits: u32,
}

/// A selection of the least of unsigned words along the last dimension. The result has their indices, in the order of the words.
/// Equal words are in the order of their indices. All sizes are static.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordSelection {
    /// The words, `i32`s or `i64`s.
    pub words: TensorValue,
    /// Number of words that are selected along the last dimension: at most as many as there are.
    pub count: u64,
}

impl RadixSort {
    /// Most elements along the last dimension: indices up to the end of a tile that begins before the last one are `i32`s.
    pub const MOST_ELEMENTS: u64 = (1 << 31) - (1 << 16);

    /// The words and the numbers.
    pub fn operands(&self) -> impl Iterator<Item = TensorValue> {
        std::iter::once(self.words).chain(self.carried)
    }
}

impl TensorFunction {
    /// Sets the precision of the products of all operations.
    pub fn set_product_precision(&mut self, precision: ProductPrecision) {
        for block in self.block_ids() {
            for op in &mut self.block_mut(block).ops {
                if let OpKind::Structured(structured) = &mut op.kind {
                    structured.precision = precision;
                }
            }
        }
    }

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

    /// A block, mutable.
    pub fn block_mut(&mut self, block: TensorBlock) -> &mut TensorBlockData {
        &mut self.blocks[block.index()]
    }

    /// Ids of all blocks; inner blocks come after those around them.
    pub fn block_ids(&self) -> impl Iterator<Item = TensorBlock> + use<> {
        (0..self.blocks.len()).map(TensorBlock::new)
    }

    /// Adds a value.
    pub fn new_value(&mut self, ty: DenseTensorType) -> TensorValue {
        self.values.push(TensorValueData { ty });
        TensorValue::new(self.values.len() - 1)
    }

    /// Adds an empty block.
    pub fn new_block(&mut self) -> TensorBlock {
        self.blocks.push(TensorBlockData::default());
        TensorBlock::new(self.blocks.len() - 1)
    }
}

impl OpKind {
    /// All values that the operation itself uses, without those that its blocks use.
    pub fn collect_operands(&self) -> Vec<TensorValue> {
        match self {
            OpKind::Constant(_) => Vec::new(),
            OpKind::Structured(op) => op.collect_operands(),
            OpKind::Reshape(value) => vec![*value],
            OpKind::Sort(sort) => sort.operands.clone(),
            OpKind::RadixSort(sort) => sort.operands().collect(),
            OpKind::WordSelection(selection) => vec![selection.words],
            OpKind::If { condition, .. } => vec![*condition],
            OpKind::While { initial, .. } => initial.clone(),
            OpKind::Assert(assertion) => assertion.operands(),
            OpKind::Foreign(call) => call.operands.clone(),
        }
    }

    /// Whether the operation matters even if nothing uses its results. A loop may not end, an assertion may fail, and a
    /// foreign call may have an effect.
    pub fn has_effect(&self) -> bool {
        match self {
            OpKind::While { .. } | OpKind::Assert(_) => true,
            OpKind::Foreign(call) => call.signature.has_effect,
            _ => false,
        }
    }

    /// The inner blocks.
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

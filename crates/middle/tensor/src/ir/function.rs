//! Functions: values, blocks, operations.

use super::{Block, Combiner, Dim, Structured, TensorType, Value};
use spirula_diagnostics::Place;
use spirula_program::Scalar;

/// A function without calls: what an entry point runs.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// Name.
    pub name: String,
    pub(crate) values: Vec<ValueData>,
    pub(crate) blocks: Vec<BlockData>,
    /// What its caller sees.
    pub entry: Entry,
    /// What has to hold of sizes, which only a run can tell.
    pub demands: Vec<Demand>,
}

/// What has to hold of two sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// The sizes.
    pub sizes: [Dim; 2],
    /// How they have to compare.
    pub relation: Relation,
}

/// How two sizes have to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// They are equal.
    Equal,
    /// The first is 1, or they are equal: elements are repeated along the dimension.
    Repeated,
}

/// How an entry point's parameters and results look from outside, beyond their tensors.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// Names of the parameters.
    pub parameters: Vec<String>,
    /// Whether a parameter's integers have no sign.
    pub unsigned_parameters: Vec<bool>,
    /// Whether a result's integers have no sign.
    pub unsigned_results: Vec<bool>,
}

/// What a value is.
#[derive(Clone, Debug)]
pub struct ValueData {
    /// Type.
    pub ty: TensorType,
}

/// A list of operations with parameters and results.
#[derive(Clone, Debug, Default)]
pub struct BlockData {
    /// Parameters.
    pub parameters: Vec<Value>,
    /// Operations, each after those whose values it uses.
    pub ops: Vec<Op>,
    /// Results.
    pub results: Vec<Value>,
}

/// An operation.
#[derive(Clone, Debug)]
pub struct Op {
    /// What it does.
    pub kind: OpKind,
    /// Its values.
    pub results: Vec<Value>,
    /// Where it was written.
    pub place: Place,
}

/// What an operation does.
#[derive(Clone, Debug)]
pub enum OpKind {
    /// A tensor that is known.
    Constant(Box<Constant>),
    /// Work over an index space.
    Structured(Box<Structured>),
    /// The same elements in row-major order in another shape.
    Reshape(Value),
    /// Sorts along a dimension.
    Sort(Box<Sort>),
    /// One of two blocks without parameters.
    If {
        /// A truth value of rank 0.
        condition: Value,
        /// Where it holds.
        then: Block,
        /// Where it does not.
        otherwise: Block,
    },
    /// Repeats a block.
    While {
        /// What the blocks' parameters begin as.
        initial: Vec<Value>,
        /// Gives one truth value of rank 0: whether to go on.
        condition: Block,
        /// Gives the parameters' next values.
        body: Block,
    },
    /// Ends the run where a condition does not hold.
    Assert(Box<RunAssertion>),
}

/// A condition that has to hold when the run comes to it, and the error where it does not.
#[derive(Clone, Debug, PartialEq)]
pub struct RunAssertion {
    /// A truth value of rank 0.
    pub condition: Value,
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
    Value(Value),
}

/// A tensor that is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// Its type; the shape is static.
    pub ty: TensorType,
    /// Its elements in row-major order, little-endian, [`Scalar::size`] bytes each.
    pub bytes: Vec<u8>,
}

impl Constant {
    /// Element `at` by its bits; 0 outside.
    pub fn bits(&self, at: usize) -> u64 {
        let size = self.ty.element.size() as usize;
        let bytes = self.bytes.get(at * size..(at + 1) * size).unwrap_or(&[]);
        let bits = bytes
            .iter()
            .rev()
            .fold(0, |bits, b| bits << 8 | u64::from(*b));
        match self.ty.element {
            Scalar::Bool => u64::from(bits != 0),
            _ => bits,
        }
    }
}

/// Sorts tensors of one shape together along a dimension.
#[derive(Clone, Debug)]
pub struct Sort {
    /// The tensors.
    pub operands: Vec<Value>,
    /// The dimension.
    pub dimension: usize,
    /// Whether equal elements stay in order.
    pub is_stable: bool,
    /// Whether the first comes before the second: arguments are the two elements of each operand
    /// in turn; one result, a truth value.
    pub comparator: Combiner,
}

impl Function {
    /// The block that runs; its parameters and results are the function's.
    pub fn body(&self) -> Block {
        Block::new(0)
    }

    /// A value.
    pub fn value(&self, value: Value) -> &ValueData {
        &self.values[value.index()]
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> &TensorType {
        &self.values[value.index()].ty
    }

    /// Number of values.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// A block.
    pub fn block(&self, block: Block) -> &BlockData {
        &self.blocks[block.index()]
    }

    /// A block, to change it.
    pub fn block_mut(&mut self, block: Block) -> &mut BlockData {
        &mut self.blocks[block.index()]
    }

    /// Ids of all blocks, those within after those around them.
    pub fn block_ids(&self) -> impl Iterator<Item = Block> + use<> {
        (0..self.blocks.len()).map(Block::new)
    }

    /// Makes a value.
    pub fn new_value(&mut self, ty: TensorType) -> Value {
        self.values.push(ValueData { ty });
        Value::new(self.values.len() - 1)
    }

    /// Makes an empty block.
    pub fn new_block(&mut self) -> Block {
        self.blocks.push(BlockData::default());
        Block::new(self.blocks.len() - 1)
    }
}

impl OpKind {
    /// Every value that the operation itself uses; what its blocks use is theirs.
    pub fn operands(&self) -> Vec<Value> {
        match self {
            OpKind::Constant(_) => Vec::new(),
            OpKind::Structured(op) => op.operands(),
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
    pub fn blocks(&self) -> impl Iterator<Item = Block> + use<> {
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
    fn operands(&self) -> Vec<Value> {
        let shown = self.message.iter().filter_map(|piece| match piece {
            MessagePiece::Value(value) => Some(*value),
            MessagePiece::Text(_) => None,
        });
        std::iter::once(self.condition).chain(shown).collect()
    }
}

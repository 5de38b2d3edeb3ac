//! The data.
//!
//! A [`Function`] is a list of operations on values, which are tensors, in blocks; control flow is
//! operations with blocks of their own. What runs in parallel is a [`Structured`] operation: an
//! index space and, in its [`Body`], what is computed at each of its points.

mod body;
mod function;
mod id;
mod index;
mod structured;
mod types;

pub use body::{Body, Indices, NodeData};
pub use function::{
    BlockData, Constant, Demand, Entry, Function, MessagePiece, Op, OpKind, Relation, RunAssertion,
    Sort, ValueData,
};
pub use id::{Block, Node, Value};
pub use index::{Affine, unflatten};
pub use structured::{Axis, AxisKind, Combiner, Destination, Reduction, Structured, Yield};
pub use types::{Dim, Shape, TensorType};

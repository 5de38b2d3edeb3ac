//! The data.
//!
//! A [`TensorFunction`] is a list of operations on values, which are tensors, in blocks; control flow is
//! operations with blocks of their own. What runs in parallel is a [`StructuredOp`] operation: an
//! index space and, in its [`NodeGraph`], what is computed at each of its points.

mod node_graph;
mod function;
mod id;
mod affine;
mod structured;
mod types;

pub use node_graph::{NodeData, NodeGraph, NodeList};
pub use function::{
    MessagePiece, OpKind, RunAssertion, SizeConstraint, SizeRelation, TensorBlockData,
    TensorConstant, TensorEntrySignature, TensorFunction, TensorOp, TensorSort, TensorValueData,
};
pub use id::{ScalarNode, TensorBlock, TensorValue};
pub use affine::{AffineSum, unflatten_index};
pub use structured::{
    AxisKind, IterationAxis, ScalarCombiner, StructuredOp, StructuredYield, TensorReduction,
    YieldDestination,
};
pub use types::{DenseTensorType, DimExtent, TensorShape};

//! The data of the IR.
//!
//! A [`TensorFunction`] has operations on values, which are tensors, in blocks. Control flow is operations with inner
//! blocks. Parallel work is a [`StructuredOp`]: an index space, and a [`NodeGraph`] with the scalars that are computed at
//! each of its points.

mod affine;
mod function;
mod id;
mod last_uses;
mod node_graph;
mod structured;
mod types;
mod update_in_place;

pub use affine::{AffineSum, unflatten_index};
pub use function::{
    ForeignCall, MessagePiece, OpKind, RadixSort, RunAssertion, SizeConstraint, SizeRelation,
    TensorBlockData, TensorConstant, TensorEntrySignature, TensorFunction, TensorOp, TensorSort,
    TensorValueData, WordSelection,
};
pub use id::{ScalarNode, TensorBlock, TensorValue};
pub use last_uses::{LastUses, find_last_uses};
pub use node_graph::{NodeData, NodeGraph, NodeList};
pub use structured::{
    AxisKind, IterationAxis, ProductPrecision, ScalarCombiner, StructuredOp, StructuredYield,
    TensorReduction, YieldDestination,
};
pub use types::{DenseTensorType, DimExtent, TensorShape};
pub use update_in_place::mark_point_dependent;

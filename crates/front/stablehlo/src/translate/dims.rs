//! Sizes of dimensions: the nodes that compute them, and merging of those that have to be equal.

use spirula_tensor::ir::{DimExtent, NodeGraph, ScalarNode, TensorShape, TensorValue};

/// The sizes of a function.
#[derive(Debug, Default)]
pub(super) struct SymbolicDims {
    pub body: NodeGraph,
    /// The tensors that hold nodes which are no size of a parameter.
    pub made: Vec<(ScalarNode, TensorValue)>,
}

impl SymbolicDims {
    /// Number of tensors made so far.
    pub fn tensor_count(&self) -> usize {
        self.made.len()
    }

    /// Forgets tensors that were made in a block that is closed.
    pub fn forget_tensors(&mut self, mark: usize) {
        self.made.truncate(mark);
    }
}

/// One size for two that have to be equal; none where they cannot be.
pub(super) fn merge_dims(a: DimExtent, b: DimExtent) -> Option<DimExtent> {
    match (a, b) {
        (DimExtent::Static(x), DimExtent::Static(y)) => (x == y).then_some(a),
        (DimExtent::Value(_), DimExtent::Static(_)) => Some(b),
        _ => Some(a),
    }
}

/// One shape for two that have to be equal; none where they cannot be.
pub(super) fn merged_shapes(a: &TensorShape, b: &TensorShape) -> Option<TensorShape> {
    let pairs = a.iter().zip(b);
    let merged = pairs
        .map(|(a, b)| merge_dims(*a, *b))
        .collect::<Option<TensorShape>>();
    merged.filter(|_| a.len() == b.len())
}

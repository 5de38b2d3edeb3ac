//! Sizes of dimensions: the nodes that compute them, and merging of those that have to be equal.

use spirula_tensor::ir::{DimExtent, NodeGraph, ScalarNode, TensorShape, TensorValue};

/// Sizes of dimensions in a function.
#[derive(Debug, Default)]
pub(super) struct SymbolicDims {
    pub body: NodeGraph,
    /// Tensors with the values of nodes that are not the size of a parameter.
    pub made: Vec<(ScalarNode, TensorValue)>,
}

impl SymbolicDims {
    /// Number of such tensors.
    pub fn tensor_count(&self) -> usize {
        self.made.len()
    }

    /// Forgets the tensors that were added since there were `mark` of them: their block is closed.
    pub fn forget_tensors(&mut self, mark: usize) {
        self.made.truncate(mark);
    }
}

/// The common size of two sizes that have to be equal; `None` if they cannot be.
pub(super) fn merge_dims(a: DimExtent, b: DimExtent) -> Option<DimExtent> {
    match (a, b) {
        (DimExtent::Static(x), DimExtent::Static(y)) => (x == y).then_some(a),
        (DimExtent::Value(_), DimExtent::Static(_)) => Some(b),
        _ => Some(a),
    }
}

/// The common shape of two shapes that have to be equal; `None` if they cannot be.
pub(super) fn merged_shapes(a: &TensorShape, b: &TensorShape) -> Option<TensorShape> {
    let pairs = a.iter().zip(b);
    let merged = pairs
        .map(|(a, b)| merge_dims(*a, *b))
        .collect::<Option<TensorShape>>();
    merged.filter(|_| a.len() == b.len())
}

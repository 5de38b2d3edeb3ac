//! Tensors that are updated in place: fusion must not move reads of them beyond the update.

use super::use_def::TensorOpPosition;
use crate::ir::{NodeData, OpKind, StructuredOp, TensorFunction, TensorValue, YieldDestination};
use rustc_hash::FxHashMap;

/// The tensors that scatters may update in place, with the position of the update.
pub(super) struct UpdatedTensors {
    updates: FxHashMap<TensorValue, TensorOpPosition>,
}

impl UpdatedTensors {
    /// The updates of a function.
    pub fn from_function(function: &TensorFunction) -> Self {
        let mut updates = FxHashMap::default();
        for block in function.block_ids() {
            for (at, op) in function.block(block).ops.iter().enumerate() {
                let OpKind::Structured(op) = &op.kind else {
                    continue;
                };
                for (number, result) in op.yields.iter().enumerate() {
                    if let YieldDestination::Scatter { base, .. } = result.destination
                        && op.can_update_in_place(number)
                    {
                        updates.insert(base, (block, at));
                    }
                }
            }
        }
        UpdatedTensors { updates }
    }

    /// Whether an operation may take over the reads of a producer, so that all updates still happen in place. `fused` is
    /// the operation with them.
    pub fn allow_fusion(
        &self,
        producer: &StructuredOp,
        fused: &StructuredOp,
        position: TensorOpPosition,
    ) -> bool {
        if self.updates.is_empty() {
            return true;
        }
        let nodes = producer.body.node_ids();
        let mut read = nodes.filter_map(|node| match producer.body.node(node) {
            NodeData::Element(value, _) => self.updates.get(value),
            _ => None,
        });
        read.all(|update| {
            let is_before = update.0 == position.0 && position.1 < update.1;
            let is_update = *update == position && is_updatable(fused);
            is_before || is_update
        })
    }
}

/// Whether all scatters of an operation may happen in place.
fn is_updatable(op: &StructuredOp) -> bool {
    let is_scatter =
        |at: &usize| matches!(op.yields[*at].destination, YieldDestination::Scatter { .. });
    let mut scatters = (0..op.yields.len()).filter(is_scatter);
    scatters.all(|at| op.can_update_in_place(at))
}

//! Updates in place: scatters that may write into the memory of the tensor that they change.

use super::{NodeData, NodeGraph, ScalarNode, StructuredOp, YieldDestination};

impl StructuredOp {
    /// Whether a result may be written into the memory of the tensor that it is a copy of, where that tensor is dead
    /// afterwards. Elements of the tensor may be read, but only such that no other point writes.
    pub fn can_update_in_place(&self, result: usize) -> bool {
        let Some(YieldDestination::Scatter {
            base,
            indices,
            combiner,
            distinct,
        }) = self.yields.get(result).map(|y| &y.destination)
        else {
            return false;
        };
        let changes_it = |destination: &YieldDestination| matches!(destination, YieldDestination::Scatter { base: other, .. } if other == base);
        let changes = self.yields.iter().filter(|y| changes_it(&y.destination));
        if changes.count() > 1 {
            return false;
        }
        let needed = self.body.mark_reachable(&self.collect_roots());
        let nodes = self.body.node_ids().filter(|n| needed[n.index()]);
        let mut reads = nodes.filter_map(|node| match self.body.node(node) {
            NodeData::Element(read, position) if read == base => Some(position),
            _ => None,
        });
        let is_plain = self.reductions.is_empty() && combiner.is_none() && *distinct;
        let depends = mark_point_dependent(&self.body);
        reads.all(|position| {
            let mut pairs = position.iter().zip(indices);
            let stays_apart = |(read, written): (&ScalarNode, &ScalarNode)| {
                let is_invariant = !depends[read.index()] && !depends[written.index()];
                is_invariant || read == written
            };
            is_plain && self.yields.len() == 1 && pairs.all(stays_apart)
        })
    }
}

/// Marks the nodes whose values may differ from point to point.
pub fn mark_point_dependent(body: &NodeGraph) -> Vec<bool> {
    let mut depends = vec![false; body.len()];
    for node in body.node_ids() {
        let differs = match body.node(node) {
            NodeData::Index(_)
            | NodeData::Counter(_)
            | NodeData::Reduced(_)
            | NodeData::Argument(_) => true,
            NodeData::Literal(_) | NodeData::Size(_) => false,
            NodeData::Element(..) | NodeData::Apply(..) => {
                body.operands(node).iter().any(|n| depends[n.index()])
            }
        };
        depends[node.index()] = differs;
    }
    depends
}

//! Manual computations.

use super::builder::GraphBuilder;
use crate::PartitionResult;
use crate::graph::{GraphNode, GraphNodeKind, GraphValue, LayoutPin};
use spirula_stablehlo::mlir::MlirOp;
use spirula_stablehlo::sharding::{read_manual_axes, read_sharding_list};

impl GraphBuilder<'_> {
    /// A manual computation over all axes that its shardings use. Its body is for one device already.
    pub(super) fn flatten_manual(
        &mut self,
        op: MlirOp,
        operands: Vec<GraphValue>,
        nodes: &mut Vec<GraphNode>,
    ) -> PartitionResult<()> {
        let module = self.module;
        let list = |name| {
            let attr = module.find_attribute(op, name);
            attr.and_then(|attr| read_sharding_list(module, attr))
        };
        let axes = module.find_attribute(op, "manual_axes");
        let axes = axes.and_then(|attr| read_manual_axes(module, attr));
        let (Some(inputs), Some(outputs), Some(axes)) =
            (list("in_shardings"), list("out_shardings"), axes)
        else {
            return self.error(op, "the shardings of a manual computation are malformed");
        };
        if self.manual > 0 {
            return self.error(op, "nested manual computations are not supported");
        }
        let results = self.add_results(op)?;
        if inputs.len() != operands.len() || outputs.len() != results.len() {
            return self.error(op, "has too few or many shardings");
        }
        let mut layouts = [Vec::new(), Vec::new()];
        for (side, values, shardings) in [(0, &operands, &inputs), (1, &results, &outputs)] {
            for (value, sharding) in values.iter().zip(shardings) {
                let mut own = sharding.clone();
                for axes_of_dimension in &mut own.dimensions {
                    axes_of_dimension.retain(|axis| axes.contains(&axis.name));
                }
                layouts[side].push(self.find_layout(op, *value, &own)?);
            }
        }
        let [inputs, outputs] = layouts;
        let pairs = operands.iter().zip(&inputs);
        let pinned = results.iter().zip(&outputs);
        for (value, layout) in pinned {
            let rank = layout.dims.len();
            self.graph.pins.push(LayoutPin {
                value: *value,
                dims: layout.dims.clone(),
                open: vec![false; rank],
            });
        }
        // The layouts of operands propagate backwards from here.
        for (value, layout) in pairs {
            let wanted = self.add_value(op, self.graph.value(*value).ty)?;
            self.graph.add_identity_edge(*value, wanted);
            let rank = layout.dims.len();
            self.graph.pins.push(LayoutPin {
                value: wanted,
                dims: layout.dims.clone(),
                open: vec![false; rank],
            });
        }
        self.manual += 1;
        let block = self.region_block(op, 0)?;
        let block = self.flatten_block(block)?;
        self.manual -= 1;
        if block.arguments.len() != operands.len() || block.returned.len() != results.len() {
            return self.error(op, "a manual computation has a region of another type");
        }
        let kind = GraphNodeKind::Manual { inputs, outputs };
        let mut node = self.make_node(op, kind, operands, results);
        node.blocks = vec![block];
        nodes.push(node);
        Ok(())
    }
}

//! Loops, branches and manual computations.

use super::emitter::LocalEmitter;
use crate::PartitionResult;
use crate::graph::{GraphBlock, GraphNode, GraphValue};
use crate::layout::ShardLayout;
use spirula_stablehlo::mlir::{MlirOp, MlirType, MlirValue, OperationDraft};

impl LocalEmitter<'_> {
    fn local_types(&mut self, values: &[GraphValue]) -> Vec<MlirType> {
        let types = values.iter().map(|value| {
            let layout = self.layouts.layout(*value).clone();
            self.local_type(*value, &layout)
        });
        types.collect()
    }

    /// Emits a block into a region. Its arguments have their layouts; it returns values in these.
    fn emit_region(
        &mut self,
        node: &GraphNode,
        copy: MlirOp,
        region: usize,
        returned: &[ShardLayout],
    ) -> PartitionResult<()> {
        let block: &GraphBlock = &node.blocks[region];
        let types = self.local_types(&block.arguments);
        let arguments = self.builder.begin_block(copy, region, &types);
        let mark = self.scope.len();
        for (value, local) in block.arguments.iter().zip(arguments) {
            self.add_layout(*value, self.layouts.layout(*value).clone(), local);
        }
        self.emit_nodes(block)?;
        let mut locals = Vec::new();
        for (value, layout) in block.returned.iter().zip(returned) {
            locals.push(self.require_layout(node.op, *value, layout)?);
        }
        let draft = OperationDraft::new("stablehlo.return", &locals, &[]);
        self.builder.append_operation(draft);
        self.close_scope(mark);
        self.builder.end_block();
        Ok(())
    }

    fn append_control(
        &mut self,
        node: &GraphNode,
        operands: &[MlirValue],
        types: &[MlirType],
    ) -> MlirOp {
        let source = self.source;
        self.builder.append_operation(OperationDraft {
            properties: source.properties(node.op).to_vec(),
            regions: node.blocks.len(),
            place: source.source_location(node.op),
            loc: source.location(node.op),
            ..OperationDraft::new(source.op_name(node.op), operands, types)
        })
    }

    fn result_layouts(&self, node: &GraphNode) -> Vec<ShardLayout> {
        let results = node.results.iter();
        results
            .map(|value| self.layouts.layout(*value).clone())
            .collect()
    }

    fn add_results(&mut self, node: &GraphNode, copy: MlirOp) {
        let locals: Vec<MlirValue> = self.builder.module().results(copy).collect();
        for (value, local) in node.results.iter().zip(locals) {
            self.add_layout(*value, self.layouts.layout(*value).clone(), local);
        }
    }

    /// `while`: values are carried in the layouts of the results.
    pub(super) fn emit_loop(&mut self, node: &GraphNode) -> PartitionResult<()> {
        let layouts = self.result_layouts(node);
        let mut operands = Vec::new();
        for (value, layout) in node.operands.iter().zip(&layouts) {
            operands.push(self.require_layout(node.op, *value, layout)?);
        }
        let types = self.local_types(&node.results);
        let copy = self.append_control(node, &operands, &types);
        let condition = node.blocks[0].returned.iter();
        let condition: Vec<ShardLayout> =
            condition.map(|value| self.whole_layout(*value)).collect();
        self.emit_region(node, copy, 0, &condition)?;
        self.emit_region(node, copy, 1, &layouts)?;
        self.add_results(node, copy);
        Ok(())
    }

    /// `if` and `case`.
    pub(super) fn emit_branch(&mut self, node: &GraphNode) -> PartitionResult<()> {
        let layouts = self.result_layouts(node);
        let mut operands = Vec::new();
        for value in &node.operands {
            let layout = self.whole_layout(*value);
            operands.push(self.require_layout(node.op, *value, &layout)?);
        }
        let types = self.local_types(&node.results);
        let copy = self.append_control(node, &operands, &types);
        for region in 0..node.blocks.len() {
            self.emit_region(node, copy, region, &layouts)?;
        }
        self.add_results(node, copy);
        Ok(())
    }

    /// A manual computation: its body is for the devices along the manual axes already, and stands in the place of the
    /// operation.
    pub(super) fn emit_manual(
        &mut self,
        node: &GraphNode,
        inputs: &[ShardLayout],
        outputs: &[ShardLayout],
    ) -> PartitionResult<()> {
        let block = &node.blocks[0];
        for (at, argument) in block.arguments.iter().enumerate() {
            let inside = self.layouts.layout(*argument).clone();
            let outside = join_manual(&inputs[at], &inside);
            let local = self.require_layout(node.op, node.operands[at], &outside)?;
            let local = self.keep_summand(local, &inputs[at].sums)?;
            self.add_layout(*argument, inside, local);
        }
        self.emit_nodes(block)?;
        for (at, returned) in block.returned.iter().enumerate() {
            let inside = self.layouts.layout(*returned).clone();
            let local = self.require_layout(node.op, *returned, &inside)?;
            let local = self.add_summands(local, &outputs[at].sums)?;
            let outside = join_manual(&outputs[at], &inside);
            self.add_layout(node.results[at], outside, local);
        }
        Ok(())
    }
}

/// The layout outside of a manual computation, of which the inner one is inside.
fn join_manual(manual: &ShardLayout, inside: &ShardLayout) -> ShardLayout {
    let pairs = manual.dims.iter().zip(&inside.dims);
    ShardLayout {
        dims: pairs
            .map(|(outer, inner)| [outer.as_slice(), inner].concat())
            .collect(),
        sums: Vec::new(),
    }
}

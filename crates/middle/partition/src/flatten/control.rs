//! Calls, loops and branches.

use super::builder::GraphBuilder;
use crate::PartitionResult;
use crate::graph::{GraphNode, GraphNodeKind, GraphValue};
use spirula_stablehlo::mlir::{AttributeKind, MlirOp};

impl GraphBuilder<'_> {
    pub(super) fn inline_call(
        &mut self,
        op: MlirOp,
        name: &str,
        operands: Vec<GraphValue>,
        nodes: &mut Vec<GraphNode>,
    ) -> PartitionResult<()> {
        let attr = self.module.find_attribute(op, name);
        let callee = match attr.map(|attr| self.module.attributes.kind(attr)) {
            Some(AttributeKind::SymbolRef(path)) => path.last().copied(),
            _ => None,
        };
        let callee = callee.map(|symbol| self.module.symbol_text(symbol));
        let Some(function) = callee.and_then(|callee| self.module.find_function(callee)) else {
            return self.error(op, "a call of a function that is not there");
        };
        if self.calls.contains(&function) {
            return self.error(op, "a function calls itself");
        }
        let block = self.region_block(function, 0)?;
        let arguments = self.module.arguments(block);
        if arguments.len() != operands.len() {
            return self.error(op, "a call has another number of arguments");
        }
        self.known.extend(arguments.zip(operands));
        self.calls.push(function);
        let returned = self.flatten_operations(block, nodes)?;
        self.calls.pop();
        self.known.extend(self.module.results(op).zip(returned));
        Ok(())
    }

    pub(super) fn flatten_loop(
        &mut self,
        op: MlirOp,
        operands: Vec<GraphValue>,
        nodes: &mut Vec<GraphNode>,
    ) -> PartitionResult<()> {
        let condition = self.region_block(op, 0)?;
        let condition = self.flatten_block(condition)?;
        let body = self.region_block(op, 1)?;
        let body = self.flatten_block(body)?;
        let results = self.add_results(op)?;
        let counts = [
            operands.len(),
            condition.arguments.len(),
            body.arguments.len(),
            body.returned.len(),
        ];
        if counts.iter().any(|count| *count != results.len()) {
            return self.error(op, "a loop has regions of another type");
        }
        for (at, result) in results.iter().enumerate() {
            self.graph.ties.push((*result, condition.arguments[at]));
            self.graph.ties.push((*result, body.arguments[at]));
            self.graph.add_identity_edge(operands[at], *result);
            self.graph.add_identity_edge(body.returned[at], *result);
        }
        let mut node = self.make_node(op, GraphNodeKind::Loop, operands, results);
        node.blocks = vec![condition, body];
        nodes.push(node);
        Ok(())
    }

    pub(super) fn flatten_branch(
        &mut self,
        op: MlirOp,
        operands: Vec<GraphValue>,
        nodes: &mut Vec<GraphNode>,
    ) -> PartitionResult<()> {
        let mut blocks = Vec::new();
        for region in 0..self.module.regions(op).len() {
            let block = self.region_block(op, region)?;
            blocks.push(self.flatten_block(block)?);
        }
        let results = self.add_results(op)?;
        for block in &blocks {
            if block.returned.len() != results.len() {
                return self.error(op, "a branch has another number of results");
            }
            for (returned, result) in block.returned.iter().zip(&results) {
                self.graph.add_identity_edge(*returned, *result);
            }
        }
        let mut node = self.make_node(op, GraphNodeKind::Branch, operands, results);
        node.blocks = blocks;
        nodes.push(node);
        Ok(())
    }
}

//! State of a construction, and the operations of blocks.

use crate::PartitionResult;
use crate::graph::{GraphBlock, GraphNode, GraphNodeKind, GraphValue, ProgramGraph};
use crate::mesh::AtomicMesh;
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceDiagnostic;
use spirula_stablehlo::MlirOpcode;
use spirula_stablehlo::mlir::{MlirBlock, MlirModule, MlirOp, MlirValue};

/// Deepest nesting of calls and regions.
const MOST_DEPTH: usize = 200;

/// Most operations of a graph.
const MOST_NODES: usize = 1 << 22;

/// A graph under construction.
#[derive(Debug)]
pub(super) struct GraphBuilder<'m> {
    pub(super) module: &'m MlirModule,
    pub(super) mesh: &'m AtomicMesh,
    pub(super) graph: ProgramGraph,
    /// The values that stand for those of the program.
    pub(super) known: FxHashMap<MlirValue, GraphValue>,
    /// The functions whose calls are being inlined.
    pub(super) calls: Vec<MlirOp>,
    /// The first value of each sharding group.
    pub(super) groups: FxHashMap<Option<i64>, GraphValue>,
    pub(super) depth: usize,
    pub(super) nodes: usize,
    /// The set of the atoms that manual computations around have.
    pub(super) manual: u64,
}

impl GraphBuilder<'_> {
    pub(super) fn error<T>(&self, op: MlirOp, message: impl Into<String>) -> PartitionResult<T> {
        let place = self.module.source_location(op);
        Err(SourceDiagnostic::error(place, message))
    }

    pub(super) fn region_block(&self, op: MlirOp, region: usize) -> PartitionResult<MlirBlock> {
        let region = self.module.regions(op).nth(region);
        match region.map(|region| self.module.blocks(region)) {
            Some([block]) => Ok(*block),
            _ => {
                let name = self.module.op_name(op);
                self.error(op, format!("`{name}` needs a region of one block"))
            }
        }
    }

    pub(super) fn make_node(
        &self,
        op: MlirOp,
        kind: GraphNodeKind,
        operands: Vec<GraphValue>,
        results: Vec<GraphValue>,
    ) -> GraphNode {
        GraphNode {
            op,
            kind,
            operands,
            results,
            captures: Vec::new(),
            rule: None,
            blocks: Vec::new(),
            is_manual: self.manual != 0,
        }
    }

    /// A block with new arguments.
    pub(super) fn flatten_block(&mut self, block: MlirBlock) -> PartitionResult<GraphBlock> {
        let mut arguments = Vec::new();
        for argument in self.module.arguments(block) {
            let op = self.module.region_parent(self.module.region_of(block));
            let value = self.add_value(op, self.module.type_of(argument))?;
            self.known.insert(argument, value);
            arguments.push(value);
        }
        let mut flat = GraphBlock {
            arguments,
            ..GraphBlock::default()
        };
        flat.returned = self.flatten_operations(block, &mut flat.nodes)?;
        Ok(flat)
    }

    /// The operations of a block whose arguments are known. Returns what the block returns.
    pub(super) fn flatten_operations(
        &mut self,
        block: MlirBlock,
        nodes: &mut Vec<GraphNode>,
    ) -> PartitionResult<Vec<GraphValue>> {
        let module = self.module;
        let parent = module.region_parent(module.region_of(block));
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return self.error(parent, "calls and regions are nested too deeply");
        }
        for op in module.ops(block) {
            self.nodes += 1;
            if self.nodes > MOST_NODES {
                return self.error(*op, "the program has too many operations to partition");
            }
            if module.is_return(*op) {
                self.depth -= 1;
                return self.take_operands(*op, nodes);
            }
            self.flatten_operation(*op, nodes)?;
        }
        self.error(parent, "a block does not end in a return")
    }

    pub(super) fn flatten_operation(
        &mut self,
        op: MlirOp,
        nodes: &mut Vec<GraphNode>,
    ) -> PartitionResult<()> {
        use MlirOpcode as Op;
        let opcode = self.module.opcode(op);
        if self.is_copied_by_use(op) {
            return Ok(());
        }
        let operands = self.take_operands(op, nodes)?;
        match opcode {
            Some(Op::FuncCall) => self.inline_call(op, "callee", operands, nodes),
            Some(Op::Composite) => self.inline_call(op, "decomposition", operands, nodes),
            Some(Op::While) => self.flatten_loop(op, operands, nodes),
            Some(Op::If | Op::Case) => self.flatten_branch(op, operands, nodes),
            Some(Op::SdyManualComputation) => self.flatten_manual(op, operands, nodes),
            Some(Op::SdyShardingConstraint) => self.flatten_constraint(op, operands, nodes),
            Some(Op::SdyShardingGroup) => {
                self.join_group(op, operands[0]);
                Ok(())
            }
            _ => self.flatten_plain(op, operands, nodes),
        }
    }

    pub(super) fn take_operands(
        &mut self,
        op: MlirOp,
        nodes: &mut Vec<GraphNode>,
    ) -> PartitionResult<Vec<GraphValue>> {
        let operands = self.module.operands(op).iter();
        operands
            .map(|operand| self.take_value(op, *operand, nodes))
            .collect()
    }

    /// The value that stands for one of the program.
    pub(super) fn take_value(
        &mut self,
        op: MlirOp,
        value: MlirValue,
        nodes: &mut Vec<GraphNode>,
    ) -> PartitionResult<GraphValue> {
        let source = self.module.defining_op(value);
        if let Some(source) = source.filter(|source| self.is_copied_by_use(*source)) {
            let operands = self.take_operands(source, nodes)?;
            self.flatten_plain(source, operands, nodes)?;
        }
        match self.known.get(&value) {
            Some(known) => Ok(*known),
            None => self.error(op, "a value is used where it is not defined"),
        }
    }

    pub(super) fn add_results(&mut self, op: MlirOp) -> PartitionResult<Vec<GraphValue>> {
        let mut results = Vec::new();
        for result in self.module.results(op) {
            let value = self.add_value(op, self.module.type_of(result))?;
            self.known.insert(result, value);
            results.push(value);
        }
        Ok(results)
    }
}

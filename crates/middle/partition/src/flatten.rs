//! Construction of the graph of a program.

use crate::PartitionResult;
use crate::graph::{
    GraphBlock, GraphNode, GraphNodeKind, GraphValue, GraphValueData, LayoutPin, ProgramGraph,
    PropagationEdge,
};
use crate::layout::ShardLayout;
use crate::mesh::AtomicMesh;
use crate::rules::{RuleContext, find_rule};
use rustc_hash::{FxHashMap, FxHashSet};
use spirula_diagnostics::SourceDiagnostic;
use spirula_stablehlo::MlirOpcode;
use spirula_stablehlo::mlir::{
    AttributeKind, MlirBlock, MlirModule, MlirOp, MlirType, MlirTypeKind, MlirValue,
    QuantizationGranularity,
};
use spirula_stablehlo::sharding::{
    TensorSharding, read_manual_axes, read_sharding, read_sharding_list,
};

/// Deepest nesting of calls and regions.
const MOST_DEPTH: usize = 200;

/// Most operations of a graph.
const MOST_NODES: usize = 1 << 22;

/// Most elements of a constant that each use has a copy of.
const MOST_COPIED_ELEMENTS: usize = 64;

/// A graph under construction.
#[derive(Debug)]
pub(crate) struct GraphBuilder<'m> {
    module: &'m MlirModule,
    mesh: &'m AtomicMesh,
    graph: ProgramGraph,
    /// The values that stand for those of the program.
    known: FxHashMap<MlirValue, GraphValue>,
    /// The functions whose calls are being inlined.
    calls: Vec<MlirOp>,
    /// The first value of each sharding group.
    groups: FxHashMap<Option<i64>, GraphValue>,
    depth: usize,
    nodes: usize,
    /// Number of manual computations around.
    manual: usize,
}

/// The shardings that an entry point is given.
#[derive(Debug)]
pub(crate) struct EntryPins<'s> {
    pub parameters: &'s [Option<TensorSharding>],
    pub results: &'s [Option<TensorSharding>],
}

/// The graph of a function.
pub(crate) fn build_graph(
    module: &MlirModule,
    mesh: &AtomicMesh,
    function: MlirOp,
    pins: &EntryPins<'_>,
) -> PartitionResult<ProgramGraph> {
    let mut builder = GraphBuilder {
        module,
        mesh,
        graph: ProgramGraph::default(),
        known: FxHashMap::default(),
        calls: vec![function],
        groups: FxHashMap::default(),
        depth: 0,
        nodes: 0,
        manual: 0,
    };
    let block = builder.region_block(function, 0)?;
    let mut body = builder.flatten_block(block)?;
    for (at, value) in body.arguments.iter().enumerate() {
        let given = pins.parameters.get(at).and_then(Option::as_ref);
        builder.pin_value(function, *value, given)?;
        if given.is_none() {
            builder.pin_replicated(*value);
        }
    }
    let mut nodes = Vec::new();
    let mut returned = Vec::new();
    for (at, value) in body.returned.iter().enumerate() {
        let result = builder.add_value(function, builder.graph.value(*value).ty)?;
        let given = pins.results.get(at).and_then(Option::as_ref);
        builder.pin_value(function, result, given)?;
        builder.graph.add_identity_edge(*value, result);
        nodes.push(builder.make_node(
            function,
            GraphNodeKind::Relayout,
            vec![*value],
            vec![result],
        ));
        returned.push(result);
    }
    body.nodes.append(&mut nodes);
    body.returned = returned;
    builder.graph.body = body;
    Ok(builder.graph)
}

impl GraphBuilder<'_> {
    fn error<T>(&self, op: MlirOp, message: impl Into<String>) -> PartitionResult<T> {
        let place = self.module.source_location(op);
        Err(SourceDiagnostic::error(place, message))
    }

    fn region_block(&self, op: MlirOp, region: usize) -> PartitionResult<MlirBlock> {
        let region = self.module.regions(op).nth(region);
        match region.map(|region| self.module.blocks(region)) {
            Some([block]) => Ok(*block),
            _ => {
                let name = self.module.op_name(op);
                self.error(op, format!("`{name}` needs a region of one block"))
            }
        }
    }

    /// Bytes of an element, and whether devices may have parts of a tensor of a type.
    fn describe_element(&self, ty: MlirType) -> (u64, bool) {
        let types = &self.module.types;
        let element = types.element_type(ty);
        match types.kind(element) {
            MlirTypeKind::Quantized(quantized) => {
                let bytes = types.element_bytes(quantized.storage).unwrap_or(1);
                let is_whole = matches!(quantized.axis, QuantizationGranularity::Tensor);
                (bytes as u64, is_whole)
            }
            _ => match types.element_bytes(element) {
                Some(bytes) => (bytes as u64, true),
                None => (0, false),
            },
        }
    }

    fn add_value(&mut self, op: MlirOp, ty: MlirType) -> PartitionResult<GraphValue> {
        let (element_bytes, has_parts) = self.describe_element(ty);
        let kind = self.module.types.kind(ty);
        let (shape, is_divisible) = match kind {
            MlirTypeKind::Tensor {
                shape, encoding, ..
            } => {
                let sizes: Option<Vec<u64>> = shape.iter().copied().collect();
                let Some(sizes) = sizes else {
                    let message = "a tensor of unknown size cannot be partitioned";
                    return self.error(op, message);
                };
                // Positions are computed as numbers of 32 bits.
                let is_small = sizes.iter().all(|size| i32::try_from(*size).is_ok());
                let has_parts = has_parts && is_small && encoding.is_none();
                (sizes, has_parts && self.manual == 0)
            }
            MlirTypeKind::UnrankedTensor(_) => {
                return self.error(op, "a tensor of unknown rank cannot be partitioned");
            }
            _ => (Vec::new(), false),
        };
        self.graph.values.push(GraphValueData {
            ty,
            shape,
            element_bytes,
            is_divisible,
        });
        Ok(GraphValue::new(self.graph.values.len() - 1))
    }

    /// Gives a value the layout of a sharding.
    fn pin_value(
        &mut self,
        op: MlirOp,
        value: GraphValue,
        sharding: Option<&TensorSharding>,
    ) -> PartitionResult<()> {
        let Some(sharding) = sharding else {
            return Ok(());
        };
        let layout = self.find_layout(op, value, sharding)?;
        let rank = layout.dims.len();
        let mut open = sharding.open.clone();
        open.resize(rank, false);
        self.graph.pins.push(LayoutPin {
            value,
            dims: layout.dims,
            open,
        });
        Ok(())
    }

    fn pin_replicated(&mut self, value: GraphValue) {
        let rank = self.graph.value(value).shape.len();
        self.graph.pins.push(LayoutPin {
            value,
            dims: vec![Vec::new(); rank],
            open: vec![false; rank],
        });
    }

    /// The layout of a sharding for a value, once it is clear that it fits.
    fn find_layout(
        &self,
        op: MlirOp,
        value: GraphValue,
        sharding: &TensorSharding,
    ) -> PartitionResult<ShardLayout> {
        let data = self.graph.value(value);
        if sharding.mesh.axes.is_empty() {
            return Ok(ShardLayout::new_replicated(data.shape.len()));
        }
        if !sharding.unreduced.is_empty() {
            return self.error(op, "a tensor that is a sum over devices is not supported");
        }
        let dims = self.mesh.split_dimensions(sharding);
        if dims.len() != data.shape.len() {
            let message = format!(
                "a sharding of {} dimensions is for a tensor of {}",
                dims.len(),
                data.shape.len()
            );
            return self.error(op, message);
        }
        let layout = ShardLayout { dims };
        let atoms: usize = layout.dims.iter().map(Vec::len).sum();
        if layout.used_atoms().count_ones() as usize != atoms {
            return self.error(op, "a sharding splits a tensor by one axis twice");
        }
        if !data.is_divisible && !layout.is_replicated() {
            return self.error(op, "a sharding splits a value that has no parts");
        }
        let pairs = data.shape.iter().zip(&layout.dims);
        for (at, (size, atoms)) in pairs.enumerate() {
            let count = self.mesh.count(atoms);
            if !size.is_multiple_of(count) {
                let message = format!("{count} devices do not divide dimension {at} of {size}");
                return self.error(op, message);
            }
        }
        Ok(layout)
    }

    fn make_node(
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
            is_manual: self.manual > 0,
        }
    }

    /// A block with new arguments.
    fn flatten_block(&mut self, block: MlirBlock) -> PartitionResult<GraphBlock> {
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
    fn flatten_operations(
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

    fn flatten_operation(&mut self, op: MlirOp, nodes: &mut Vec<GraphNode>) -> PartitionResult<()> {
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

    /// Whether each use of the result has a copy of the operation: small constants and what is made of them alone.
    fn is_copied_by_use(&self, op: MlirOp) -> bool {
        use MlirOpcode as Op;
        match self.module.opcode(op) {
            Some(Op::Iota) => true,
            Some(Op::Constant) => {
                let elements = self.module.find_elements(op, "value");
                elements.is_some_and(|elements| {
                    elements.splat || elements.data.len() <= MOST_COPIED_ELEMENTS
                })
            }
            Some(Op::BroadcastInDim) => {
                let operand = self.module.operands(op).first();
                let source = operand.and_then(|operand| self.module.defining_op(*operand));
                source.is_some_and(|source| {
                    self.module.opcode(source) == Some(Op::Constant)
                        && self.is_copied_by_use(source)
                })
            }
            _ => false,
        }
    }

    fn take_operands(
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
    fn take_value(
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

    fn add_results(&mut self, op: MlirOp) -> PartitionResult<Vec<GraphValue>> {
        let mut results = Vec::new();
        for result in self.module.results(op) {
            let value = self.add_value(op, self.module.type_of(result))?;
            self.known.insert(result, value);
            results.push(value);
        }
        Ok(results)
    }

    fn inline_call(
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

    fn flatten_loop(
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

    fn flatten_branch(
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

    fn flatten_constraint(
        &mut self,
        op: MlirOp,
        operands: Vec<GraphValue>,
        nodes: &mut Vec<GraphNode>,
    ) -> PartitionResult<()> {
        let attr = self.module.find_attribute(op, "sharding");
        let sharding = attr.and_then(|attr| read_sharding(self.module, attr));
        let Some(sharding) = sharding else {
            return self.error(op, "`sharding` is malformed");
        };
        let results = self.add_results(op)?;
        if self.manual == 0 {
            self.pin_value(op, results[0], Some(&sharding))?;
        }
        self.graph.add_identity_edge(operands[0], results[0]);
        nodes.push(self.make_node(op, GraphNodeKind::Relayout, operands, results));
        Ok(())
    }

    /// Values of a group have layouts alike.
    fn join_group(&mut self, op: MlirOp, value: GraphValue) {
        let attr = self.module.find_attribute(op, "group_id");
        let group = attr.and_then(|attr| self.module.as_integer(attr));
        let first = *self.groups.entry(group).or_insert(value);
        if first != value {
            self.graph.add_identity_edge(first, value);
        }
    }

    /// A manual computation over all axes that its shardings use. Its body is for one device already.
    fn flatten_manual(
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

    /// The values that the regions of an operation take from outside.
    fn captured_values(&self, op: MlirOp) -> Vec<MlirValue> {
        let module = self.module;
        let (mut used, mut defined) = (Vec::new(), FxHashSet::default());
        let mut open = vec![op];
        while let Some(op) = open.pop() {
            for block in module.regions(op).flat_map(|region| module.blocks(region)) {
                defined.extend(module.arguments(*block));
                for inner in module.ops(*block) {
                    used.extend_from_slice(module.operands(*inner));
                    defined.extend(module.results(*inner));
                    open.push(*inner);
                }
            }
        }
        used.retain(|value| !defined.contains(value));
        used.sort_unstable();
        used.dedup();
        used
    }

    fn flatten_plain(
        &mut self,
        op: MlirOp,
        operands: Vec<GraphValue>,
        nodes: &mut Vec<GraphNode>,
    ) -> PartitionResult<()> {
        let mut captures = Vec::new();
        for value in self.captured_values(op) {
            captures.push((value, self.take_value(op, value, nodes)?));
        }
        let results = self.add_results(op)?;
        let tensors: Vec<GraphValue> = operands.iter().chain(&results).copied().collect();
        let mut node = self.make_node(op, GraphNodeKind::Operation, operands, results);
        node.captures = captures;
        if self.manual == 0 {
            let context = RuleContext {
                module: self.module,
                op,
                shapes: tensors
                    .iter()
                    .map(|value| self.graph.value(*value).shape.clone())
                    .collect(),
                operands: node.operands.len(),
            };
            let rule = find_rule(&context).filter(|rule| rule.fits(&context.shapes));
            node.rule = rule.map(|rule| self.graph.add_rule(rule));
        }
        if let Some(rule) = node.rule {
            self.graph.edges.push(PropagationEdge { rule, tensors });
        }
        nodes.push(node);
        Ok(())
    }
}

//! State of a rewriting: the local tensors of values, and the blocks that are open.

use crate::PartitionResult;
use crate::graph::{GraphBlock, GraphNode, GraphNodeKind, GraphValue, ProgramGraph};
use crate::layout::ShardLayout;
use crate::mesh::{AtomicMesh, MeshAtom};
use crate::propagate::ValueLayouts;
use crate::report::PartitionReport;
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceDiagnostic;
use spirula_stablehlo::mlir::{
    MlirAttr, MlirModule, MlirOp, MlirType, MlirValue, ModuleBuilder, OperationDraft,
};

/// A local tensor that was made in a block.
#[derive(Clone, Debug)]
pub(super) enum ScopedEntry {
    Layout(GraphValue),
    Coordinate(Vec<MeshAtom>),
}

/// A rewriting in progress.
pub(super) struct LocalEmitter<'g> {
    pub(super) source: &'g MlirModule,
    pub(super) graph: &'g ProgramGraph,
    pub(super) mesh: &'g AtomicMesh,
    pub(super) layouts: &'g ValueLayouts,
    pub(super) builder: ModuleBuilder,
    /// The layouts in which each value is there.
    pub(super) values: FxHashMap<GraphValue, Vec<(ShardLayout, MlirValue)>>,
    /// The coordinates of the device along atoms.
    pub(super) coordinates: FxHashMap<Vec<MeshAtom>, MlirValue>,
    /// The values of the open blocks.
    pub(super) scope: Vec<ScopedEntry>,
    /// Attributes of groups of devices.
    pub(super) groups: FxHashMap<Vec<MeshAtom>, MlirAttr>,
    /// Attributes of pairs of neighbours along atoms, by whether each sends to the next one, and whether they are a cycle.
    pub(super) neighbours: FxHashMap<(Vec<MeshAtom>, bool, bool), MlirAttr>,
    /// Functions that copied regions call.
    pub(super) kept: Vec<String>,
    pub(super) report: PartitionReport,
}

impl LocalEmitter<'_> {
    /// Bytes of a whole tensor.
    pub(super) fn whole_bytes(&self, value: GraphValue) -> f64 {
        let data = self.graph.value(value);
        let count: f64 = data.shape.iter().map(|size| *size as f64).product();
        count * data.element_bytes as f64
    }

    /// The type of the part of a value.
    pub(super) fn local_type(&mut self, value: GraphValue, layout: &ShardLayout) -> MlirType {
        let data = self.graph.value(value);
        if layout.is_replicated() {
            return data.ty;
        }
        let sizes = layout.local_sizes(self.mesh, &data.shape);
        let types = &mut self.builder.module_mut().types;
        let element = types.element_type(data.ty);
        types.tensor_type(&sizes, element)
    }

    /// The layout of a value that every device has as a whole.
    pub(super) fn whole_layout(&self, value: GraphValue) -> ShardLayout {
        ShardLayout::new_replicated(self.graph.value(value).shape.len())
    }

    /// Appends an operation with one result.
    pub(super) fn append_one(
        &mut self,
        name: &str,
        operands: &[MlirValue],
        ty: MlirType,
        properties: &[(&str, MlirAttr)],
    ) -> PartitionResult<MlirValue> {
        let properties = self.builder.intern_attributes(properties);
        let op = self.builder.append_operation(OperationDraft {
            properties,
            ..OperationDraft::new(name, operands, &[ty])
        });
        self.only_result(op)
    }

    pub(super) fn only_result(&self, op: MlirOp) -> PartitionResult<MlirValue> {
        let result = self.builder.module().results(op).next();
        result.ok_or_else(|| {
            let module = self.builder.module();
            let message = format!("`{}` has no result", module.op_name(op));
            SourceDiagnostic::error(module.source_location(op), message)
        })
    }

    /// Notes that a value is there in a layout.
    pub(super) fn add_layout(&mut self, value: GraphValue, layout: ShardLayout, local: MlirValue) {
        let known = self.values.entry(value).or_default();
        known.push((layout, local));
        self.scope.push(ScopedEntry::Layout(value));
    }

    /// Forgets what was made since a mark.
    pub(super) fn close_scope(&mut self, mark: usize) {
        while self.scope.len() > mark {
            match self.scope.pop() {
                Some(ScopedEntry::Layout(value)) => {
                    if let Some(known) = self.values.get_mut(&value) {
                        known.pop();
                    }
                }
                Some(ScopedEntry::Coordinate(atoms)) => {
                    self.coordinates.remove(&atoms);
                }
                None => {}
            }
        }
    }

    /// Emits the operations of a block.
    pub(super) fn emit_nodes(&mut self, block: &GraphBlock) -> PartitionResult<()> {
        for node in &block.nodes {
            self.emit_node(node)?;
        }
        Ok(())
    }

    pub(super) fn emit_node(&mut self, node: &GraphNode) -> PartitionResult<()> {
        match &node.kind {
            GraphNodeKind::Operation => {
                self.report.operations += 1;
                self.emit_operation(node)
            }
            GraphNodeKind::Relayout => {
                for (operand, result) in node.operands.iter().zip(&node.results) {
                    let layout = self.layouts.layout(*result).clone();
                    let local = self.require_layout(node.op, *operand, &layout)?;
                    self.add_layout(*result, layout, local);
                }
                Ok(())
            }
            GraphNodeKind::Rotation { dimension, by } => {
                self.report.operations += 1;
                self.emit_rotation(node, *dimension, *by)
            }
            GraphNodeKind::Loop => self.emit_loop(node),
            GraphNodeKind::Branch => self.emit_branch(node),
            GraphNodeKind::Manual { inputs, outputs } => self.emit_manual(node, inputs, outputs),
        }
    }
}

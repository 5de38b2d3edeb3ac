//! Rewriting of a program to the one that each device runs.
//!
//! Every value of the graph has the layouts in which it was computed so far, each with its local tensor. A user asks for the
//! layout that its plan needs; collectives make it from the one that costs least. Layouts that were made in a block are
//! forgotten at its end.
//!
//! - `operation`: operations of tensors.
//! - `control`: loops, branches and manual computations.
//! - `reshard`: changes of layouts, and combination of partial results.
//! - `position`: the position of the device, and groups of devices.
//! - `entry`: functions.

mod control;
mod entry;
mod operation;
mod position;
mod reshard;

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

pub(crate) use entry::emit_program;

/// A local tensor that was made in a block.
#[derive(Clone, Debug)]
enum ScopedEntry {
    Layout(GraphValue),
    Coordinate(Vec<MeshAtom>),
}

/// A rewriting in progress.
struct LocalEmitter<'g> {
    source: &'g MlirModule,
    graph: &'g ProgramGraph,
    mesh: &'g AtomicMesh,
    layouts: &'g ValueLayouts,
    builder: ModuleBuilder,
    /// The layouts in which each value is there.
    values: FxHashMap<GraphValue, Vec<(ShardLayout, MlirValue)>>,
    /// The coordinates of the device along atoms.
    coordinates: FxHashMap<Vec<MeshAtom>, MlirValue>,
    /// What the open blocks made.
    scope: Vec<ScopedEntry>,
    /// Attributes of groups of devices.
    groups: FxHashMap<Vec<MeshAtom>, MlirAttr>,
    /// Functions that copied regions call.
    kept: Vec<String>,
    report: PartitionReport,
}

impl LocalEmitter<'_> {
    /// Bytes of a whole tensor.
    fn whole_bytes(&self, value: GraphValue) -> f64 {
        let data = self.graph.value(value);
        let count: f64 = data.shape.iter().map(|size| *size as f64).product();
        count * data.element_bytes as f64
    }

    /// The type of the part of a value.
    fn local_type(&mut self, value: GraphValue, layout: &ShardLayout) -> MlirType {
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
    fn whole_layout(&self, value: GraphValue) -> ShardLayout {
        ShardLayout::new_replicated(self.graph.value(value).shape.len())
    }

    /// Appends an operation with one result.
    fn append_one(
        &mut self,
        name: &str,
        operands: &[MlirValue],
        ty: MlirType,
        properties: &[(&str, MlirAttr)],
    ) -> PartitionResult<MlirValue> {
        let module = self.builder.module_mut();
        let properties = properties
            .iter()
            .map(|(name, attr)| (module.intern_text(name), *attr));
        let properties = properties.collect();
        let op = self.builder.append_operation(OperationDraft {
            properties,
            ..OperationDraft::new(name, operands, &[ty])
        });
        self.only_result(op)
    }

    fn only_result(&self, op: MlirOp) -> PartitionResult<MlirValue> {
        let result = self.builder.module().results(op).next();
        result.ok_or_else(|| {
            let module = self.builder.module();
            let message = format!("`{}` has no result", module.op_name(op));
            SourceDiagnostic::error(module.source_location(op), message)
        })
    }

    /// Notes that a value is there in a layout.
    fn add_layout(&mut self, value: GraphValue, layout: ShardLayout, local: MlirValue) {
        let known = self.values.entry(value).or_default();
        known.push((layout, local));
        self.scope.push(ScopedEntry::Layout(value));
    }

    /// Forgets what was made since a mark.
    fn close_scope(&mut self, mark: usize) {
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
    fn emit_nodes(&mut self, block: &GraphBlock) -> PartitionResult<()> {
        for node in &block.nodes {
            self.emit_node(node)?;
        }
        Ok(())
    }

    fn emit_node(&mut self, node: &GraphNode) -> PartitionResult<()> {
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
            GraphNodeKind::Loop => self.emit_loop(node),
            GraphNodeKind::Branch => self.emit_branch(node),
            GraphNodeKind::Manual { inputs, outputs } => self.emit_manual(node, inputs, outputs),
        }
    }
}

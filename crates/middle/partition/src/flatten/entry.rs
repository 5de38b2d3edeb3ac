//! Graph of an entry point.

use super::builder::GraphBuilder;
use super::rotation::remove_unused_slices;
use crate::PartitionResult;
use crate::graph::{GraphNodeKind, ProgramGraph};
use crate::mesh::AtomicMesh;
use rustc_hash::FxHashMap;
use spirula_stablehlo::mlir::{MlirModule, MlirOp};
use spirula_stablehlo::sharding::TensorSharding;

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
        let sums = builder.pin_value(function, *value, given)?;
        builder.note_sum(*value, sums);
        if given.is_none() {
            builder.pin_replicated(*value);
        }
    }
    let mut nodes = Vec::new();
    let mut returned = Vec::new();
    for (at, value) in body.returned.iter().enumerate() {
        let result = builder.add_value(function, builder.graph.value(*value).ty)?;
        let given = pins.results.get(at).and_then(Option::as_ref);
        let sums = builder.pin_value(function, result, given)?;
        builder.note_sum(result, sums);
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
    let mut graph = builder.graph;
    remove_unused_slices(module, &mut graph);
    Ok(graph)
}

//! Layouts that a program asks for by `custom_call @InspectSharding`.

use crate::PartitionResult;
use crate::graph::{GraphBlock, GraphNode};
use crate::layout::ShardLayout;
use crate::mesh::{AtomicMesh, MeshAtom};
use crate::partition::{LaidOutProgram, PartitionOptions, lay_out_program};
use spirula_stablehlo::expand_operations;
use spirula_stablehlo::mlir::{MlirModule, MlirOp};

/// The target of the call.
const TARGET: &str = "InspectSharding";

/// The layout of a value that a program asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InspectedLayout {
    /// The text of the call.
    pub key: String,
    /// Number of parts of each dimension, and then the number of devices that have each part. None in a manual computation.
    pub tiles: Vec<u64>,
    /// The devices of the parts in row-major order.
    pub devices: Vec<u64>,
}

/// Whether a program asks for layouts.
pub fn asks_for_layouts(module: &MlirModule) -> bool {
    let mut open = vec![module.root()];
    while let Some(op) = open.pop() {
        if is_inspection(module, op) {
            return true;
        }
        for block in module.regions(op).flat_map(|region| module.blocks(region)) {
            open.extend(module.ops(*block));
        }
    }
    false
}

/// The layouts that a program asks for, in the order of its operations.
///
/// # Errors
/// Those of [`crate::partition_module`].
pub fn inspect_layouts(
    module: &MlirModule,
    entry: &str,
    options: &PartitionOptions,
) -> PartitionResult<Vec<InspectedLayout>> {
    let module = expand_operations(module);
    let program = lay_out_program(module.as_ref(), entry, options)?;
    let mut found = Vec::new();
    let mut open = vec![&program.graph.body];
    while let Some(block) = open.pop() {
        inspect_block(module.as_ref(), &program, block, &mut found);
        let inner = block.nodes.iter().flat_map(|node| &node.blocks);
        open.extend(inner.collect::<Vec<_>>().into_iter().rev());
    }
    Ok(found)
}

fn is_inspection(module: &MlirModule, op: MlirOp) -> bool {
    module.find_text(op, "call_target_name") == Some(TARGET)
}

fn inspect_block(
    module: &MlirModule,
    program: &LaidOutProgram,
    block: &GraphBlock,
    found: &mut Vec<InspectedLayout>,
) {
    let nodes = block.nodes.iter();
    for node in nodes.filter(|node| is_inspection(module, node.op)) {
        let key = module.find_text(node.op, "backend_config");
        if let Some(key) = key {
            found.push(inspect_node(program, node, key));
        }
    }
}

fn inspect_node(program: &LaidOutProgram, node: &GraphNode, key: &str) -> InspectedLayout {
    let (mut tiles, mut devices) = (Vec::new(), Vec::new());
    if let Some(operand) = node.operands.first().filter(|_| !node.is_manual) {
        (tiles, devices) = assign_devices(program.layouts.layout(*operand), &program.mesh);
    }
    InspectedLayout {
        key: key.to_owned(),
        tiles,
        devices,
    }
}

/// The sizes of the grid of parts, with the number of devices of each, and the devices in this order.
fn assign_devices(layout: &ShardLayout, mesh: &AtomicMesh) -> (Vec<u64>, Vec<u64>) {
    let split: Vec<MeshAtom> = layout.dims.iter().flatten().copied().collect();
    let rest: Vec<MeshAtom> = mesh.atoms().filter(|atom| !split.contains(atom)).collect();
    let mut tiles: Vec<u64> = layout.dims.iter().map(|atoms| mesh.count(atoms)).collect();
    tiles.push(mesh.count(&rest));
    let order: Vec<MeshAtom> = split.into_iter().chain(rest).collect();
    let devices = (0..mesh.device_count()).map(|number| {
        let mut number = number;
        let mut position = 0;
        for atom in order.iter().rev() {
            position += number % mesh.size(*atom) * mesh.stride(*atom);
            number /= mesh.size(*atom);
        }
        mesh.device_at(position)
    });
    (tiles, devices.collect())
}

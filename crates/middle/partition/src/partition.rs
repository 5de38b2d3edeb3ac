//! Partitioning of a module.

use crate::PartitionResult;
use crate::emit::emit_program;
use crate::flatten::{EntryPins, build_graph};
use crate::graph::ProgramGraph;
use crate::layout::ShardLayout;
use crate::mesh::AtomicMesh;
use crate::propagate::{ValueLayouts, propagate_layouts};
use crate::report::PartitionReport;
use spirula_diagnostics::SourceDiagnostic;
use spirula_stablehlo::mlir::{MlirModule, MlirOp};
use spirula_stablehlo::sharding::{
    DeviceMesh, EntryShardings, MeshAxis, TensorSharding, read_sharding, read_sharding_list,
};
use spirula_stablehlo::{MlirOpcode, expand_operations};

/// The name of the axis of a program that names no mesh.
const DEFAULT_AXIS: &str = "devices";

/// Options of a partitioning.
#[derive(Clone, Debug, Default)]
pub struct PartitionOptions {
    /// Shardings that stand in the place of those that the entry point gives.
    pub shardings: Option<EntryShardings>,
    /// Number of devices. By default that of the mesh, or of the module's `mhlo.num_partitions`.
    pub devices: Option<u64>,
}

/// A program of one device, which all devices of a mesh run.
#[derive(Clone, Debug)]
pub struct PartitionedModule {
    /// The program.
    pub module: MlirModule,
    /// The name of its entry point.
    pub entry: String,
    /// The devices.
    pub mesh: AtomicMesh,
    /// Layouts of the parameters.
    pub parameters: Vec<ShardLayout>,
    /// Layouts of the results.
    pub results: Vec<ShardLayout>,
    /// The report of the work.
    pub report: PartitionReport,
}

impl PartitionedModule {
    /// The shardings of the parameters.
    pub fn parameter_shardings(&self) -> Vec<TensorSharding> {
        let layouts = self.parameters.iter();
        layouts
            .map(|layout| layout.to_sharding(&self.mesh))
            .collect()
    }

    /// The shardings of the results.
    pub fn result_shardings(&self) -> Vec<TensorSharding> {
        let layouts = self.results.iter();
        layouts
            .map(|layout| layout.to_sharding(&self.mesh))
            .collect()
    }
}

/// Partitions a module, which must be verified, over the devices of its mesh.
///
/// # Errors
/// If a sharding is malformed, or does not divide its tensor, or the program has tensors of unknown size.
pub fn partition_module(
    module: &MlirModule,
    entry: &str,
    options: &PartitionOptions,
) -> PartitionResult<PartitionedModule> {
    let module = expand_operations(module);
    let module = module.as_ref();
    let laid_out = lay_out_program(module, entry, options)?;
    let LaidOutProgram {
        function,
        mesh,
        graph,
        layouts,
    } = laid_out;
    let emitted = emit_program(module, function, &graph, &mesh, &layouts)?;
    Ok(PartitionedModule {
        module: emitted.module,
        entry: entry.to_owned(),
        mesh,
        parameters: emitted.parameters,
        results: emitted.results,
        report: emitted.report,
    })
}

/// A program whose values have layouts.
pub(crate) struct LaidOutProgram {
    /// The entry point.
    pub function: MlirOp,
    pub mesh: AtomicMesh,
    pub graph: ProgramGraph,
    pub layouts: ValueLayouts,
}

/// Finds the layouts of all values of a program.
pub(crate) fn lay_out_program(
    module: &MlirModule,
    entry: &str,
    options: &PartitionOptions,
) -> PartitionResult<LaidOutProgram> {
    let given = match &options.shardings {
        Some(shardings) => shardings.clone(),
        None => EntryShardings::read_given(module, entry)?,
    };
    let place = module.source_location(module.root());
    let Some(function) = module.find_function(entry) else {
        let message = format!("there is no function @{entry}");
        return Err(SourceDiagnostic::error(place, message));
    };
    let declared = module.find_attribute(module.root(), "mhlo.num_partitions");
    let declared = declared.and_then(|attr| module.as_integer(attr));
    let declared = declared.and_then(|count| u64::try_from(count).ok());
    let mut shardings = list_shardings(module);
    let in_entry = given.parameters.iter().chain(&given.results).flatten();
    shardings.extend(in_entry.cloned());
    let wanted = options.devices.or(declared.filter(|count| *count > 1));
    if shardings.iter().all(|own| own.mesh.axes.is_empty()) {
        let axis = MeshAxis {
            name: DEFAULT_AXIS.to_owned(),
            size: wanted.unwrap_or(1),
        };
        let mesh = DeviceMesh::new(vec![axis], None).ok_or_else(|| {
            SourceDiagnostic::error(place, "the number of devices is out of bounds")
        })?;
        shardings.push(TensorSharding {
            mesh,
            ..TensorSharding::default()
        });
    }
    let mesh = AtomicMesh::new(shardings.iter(), place)?;
    if wanted.is_some_and(|wanted| wanted != mesh.device_count()) {
        let message = format!(
            "the mesh has {} devices, the program is for {}",
            mesh.device_count(),
            wanted.unwrap_or(1)
        );
        return Err(SourceDiagnostic::error(place, message));
    }
    let pins = EntryPins {
        parameters: &given.parameters,
        results: &given.results,
    };
    let graph = build_graph(module, &mesh, function, &pins)?;
    let layouts = propagate_layouts(&graph, &mesh);
    Ok(LaidOutProgram {
        function,
        mesh,
        graph,
        layouts,
    })
}

/// The shardings of all constraints and manual computations of a module. Malformed ones are reported where they are used.
pub(crate) fn list_shardings(module: &MlirModule) -> Vec<TensorSharding> {
    let mut found = Vec::new();
    let mut open: Vec<MlirOp> = vec![module.root()];
    while let Some(op) = open.pop() {
        let attribute = |name| module.find_attribute(op, name);
        match module.opcode(op) {
            Some(MlirOpcode::SdyShardingConstraint) => {
                let attr = attribute("sharding");
                found.extend(attr.and_then(|attr| read_sharding(module, attr)));
            }
            Some(MlirOpcode::SdyManualComputation) => {
                for name in ["in_shardings", "out_shardings"] {
                    let list = attribute(name).and_then(|attr| read_sharding_list(module, attr));
                    found.extend(list.unwrap_or_default());
                }
            }
            _ => {}
        }
        for block in module.regions(op).flat_map(|region| module.blocks(region)) {
            open.extend_from_slice(module.ops(*block));
        }
    }
    found
}

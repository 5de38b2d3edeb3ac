//! Entry points that take and give whole tensors.

use super::entry::{
    EntryPair, ManualCallShardings, begin_manual, call_local, end_manual, function_types,
    keep_entry_properties, wrap_entry,
};
use crate::partition::PartitionedModule;
use spirula_stablehlo::mlir::{MlirModule, ModuleBuilder, OperationDraft};

/// A module whose entry point takes and gives whole tensors. It cuts them into parts, calls the local program on all devices of
/// the mesh, and puts the results together.
pub fn wrap_as_manual(partitioned: &PartitionedModule, global: &MlirModule) -> MlirModule {
    wrap_entry(partitioned, global, emit_global_entry)
}

/// The entry point of the global program: a manual computation that calls the local one. Types of the global module have the
/// same ids in the local one, which was made like it.
fn emit_global_entry(builder: &mut ModuleBuilder, pair: EntryPair<'_>) {
    let global = pair.global;
    let [inputs, results] = function_types(global, pair.entry);
    let function = builder.append_operation(OperationDraft {
        properties: keep_entry_properties(pair),
        regions: 1,
        place: global.source_location(pair.entry),
        loc: global.location(pair.entry),
        ..OperationDraft::new("func.func", &[], &[])
    });
    let arguments = builder.begin_block(function, 0, &inputs);
    let shardings = ManualCallShardings {
        inputs: &pair.partitioned.parameter_shardings(),
        outputs: &pair.partitioned.result_shardings(),
    };
    let [local, _] = pair.local_types;
    let (manual, inner) = begin_manual(builder, pair, &shardings, &arguments, &results, local);
    let values = call_local(builder, pair, &inner);
    let values = end_manual(builder, manual, &values);
    builder.append_operation(OperationDraft::new("func.return", &values, &[]));
    builder.end_block();
}

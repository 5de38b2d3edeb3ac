//! Wrapping of a local program as a manual computation, by which one device runs the parts of all.

use crate::partition::PartitionedModule;
use rustc_hash::FxHashMap;
use spirula_stablehlo::MlirOpcode;
use spirula_stablehlo::mlir::{
    AttributeKind, DialectBody, MlirAttr, MlirModule, MlirOp, MlirType, MlirTypeKind, MlirValue,
    ModuleBuilder, OperationDraft,
};
use spirula_stablehlo::sharding::{AxisReference, TensorSharding};

/// The name that the local entry point gets.
const LOCAL_ENTRY: &str = "spirula_local_entry";

/// A module whose entry point takes and gives whole tensors. It cuts them into parts, calls the local program on all devices of
/// the mesh, and puts the results together.
pub fn wrap_as_manual(partitioned: &PartitionedModule, global: &MlirModule) -> MlirModule {
    let local = &partitioned.module;
    let mut builder = ModuleBuilder::new_like(local);
    let root = local.root();
    builder.set_module_attributes(
        local.properties(root).to_vec(),
        local.discardable_attributes(root).to_vec(),
    );
    for function in local.functions() {
        if local.symbol_name(*function) != Some(partitioned.entry.as_str()) {
            builder.copy_operation(local, *function, &mut FxHashMap::default());
            continue;
        }
        copy_local_entry(&mut builder, local, *function);
        if let Some(entry) = global.find_function(&partitioned.entry) {
            emit_global_entry(&mut builder, partitioned, *function, global, entry);
        }
    }
    builder.finish()
}

/// The entry point of the local program under another name.
fn copy_local_entry(builder: &mut ModuleBuilder, local: &MlirModule, function: MlirOp) {
    let symbol = builder.module_mut().intern_text(LOCAL_ENTRY);
    let attributes = &mut builder.module_mut().attributes;
    let name = attributes.intern(AttributeKind::String(symbol));
    let mut properties = local.properties(function).to_vec();
    for (key, attr) in &mut properties {
        if local.symbol_text(*key) == "sym_name" {
            *attr = name;
        }
    }
    properties.retain(|(key, _)| local.symbol_text(*key) != "sym_visibility");
    let copy = builder.append_operation(OperationDraft {
        properties,
        regions: 1,
        place: local.source_location(function),
        loc: local.location(function),
        ..OperationDraft::new("func.func", &[], &[])
    });
    builder.copy_regions(local, function, copy, &mut FxHashMap::default());
}

/// Parameters and results of a function.
fn function_types(module: &MlirModule, function: MlirOp) -> [Vec<MlirType>; 2] {
    let attr = module.find_attribute(function, "function_type");
    if let Some(AttributeKind::Type(ty)) = attr.map(|attr| module.attributes.kind(attr))
        && let MlirTypeKind::Function { inputs, results } = module.types.kind(*ty)
    {
        return [inputs.to_vec(), results.to_vec()];
    }
    [Vec::new(), Vec::new()]
}

/// The entry point of the global program: a manual computation that calls the local one. Types of the global module have the
/// same ids in the local one, which was made like it.
fn emit_global_entry(
    builder: &mut ModuleBuilder,
    partitioned: &PartitionedModule,
    local_entry: MlirOp,
    global: &MlirModule,
    entry: MlirOp,
) {
    let [inputs, results] = function_types(global, entry);
    let [local_inputs, local_results] = function_types(&partitioned.module, local_entry);
    let properties = global.properties(entry).iter().copied();
    let properties = properties
        .filter(|(name, _)| !matches!(global.symbol_text(*name), "arg_attrs" | "res_attrs"));
    let function = builder.append_operation(OperationDraft {
        properties: properties.collect(),
        regions: 1,
        place: global.source_location(entry),
        loc: global.location(entry),
        ..OperationDraft::new("func.func", &[], &[])
    });
    let arguments = builder.begin_block(function, 0, &inputs);
    let mut properties = Vec::new();
    let list = |shardings: &[TensorSharding]| {
        let texts: Vec<String> = shardings.iter().map(write_sharding).collect();
        format!("<[{}]>", texts.join(", "))
    };
    let axes = partitioned.mesh.reference().axes.iter();
    let axes: Vec<String> = axes.map(|axis| format!("{:?}", axis.name)).collect();
    for (key, kind, text) in [
        (
            "in_shardings",
            "sdy.sharding_per_value",
            list(&partitioned.parameter_shardings()),
        ),
        (
            "out_shardings",
            "sdy.sharding_per_value",
            list(&partitioned.result_shardings()),
        ),
        (
            "manual_axes",
            "sdy",
            format!("<manual_axes{{{}}}>", axes.join(", ")),
        ),
    ] {
        let attr = intern_text_attribute(builder, kind, &text);
        properties.push((builder.module_mut().intern_text(key), attr));
    }
    let manual = builder.append_operation(OperationDraft {
        properties,
        regions: 1,
        place: global.source_location(entry),
        ..OperationDraft::new("sdy.manual_computation", &arguments, &results)
    });
    let inner = builder.begin_block(manual, 0, &local_inputs);
    let module = builder.module_mut();
    let callee = module.intern_text(LOCAL_ENTRY);
    let path = vec![callee].into_boxed_slice();
    let callee = module.attributes.intern(AttributeKind::SymbolRef(path));
    let properties = vec![(module.intern_text("callee"), callee)];
    let call = builder.append_operation(OperationDraft {
        properties,
        ..OperationDraft::new(MlirOpcode::FuncCall.name(), &inner, &local_results)
    });
    let values: Vec<MlirValue> = builder.module().results(call).collect();
    builder.append_operation(OperationDraft::new("sdy.return", &values, &[]));
    builder.end_block();
    let values: Vec<MlirValue> = builder.module().results(manual).collect();
    builder.append_operation(OperationDraft::new("func.return", &values, &[]));
    builder.end_block();
}

fn intern_text_attribute(builder: &mut ModuleBuilder, name: &str, text: &str) -> MlirAttr {
    let module = builder.module_mut();
    let body = DialectBody::Text(module.intern_text(text));
    let name = module.intern_text(name);
    module
        .attributes
        .intern(AttributeKind::Dialect { name, body })
}

/// A sharding as Shardy writes it, with its mesh.
pub(crate) fn write_sharding(sharding: &TensorSharding) -> String {
    let mesh = &sharding.mesh;
    let axes = mesh.axes.iter();
    let axes: Vec<String> = axes
        .map(|axis| format!("{:?}={}", axis.name, axis.size))
        .collect();
    let ids = mesh.device_ids.as_ref().map(|ids| {
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        format!(", device_ids=[{}]", ids.join(", "))
    });
    let write_axis = |axis: &AxisReference| match axis.part {
        Some((before, size)) => format!("{:?}:({before}){size}", axis.name),
        None => format!("{:?}", axis.name),
    };
    let dims = sharding.dimensions.iter().map(|axes| {
        let axes: Vec<String> = axes.iter().map(write_axis).collect();
        format!("{{{}}}", axes.join(", "))
    });
    let dims: Vec<String> = dims.collect();
    format!(
        "<mesh<[{}]{}>, [{}]>",
        axes.join(", "),
        ids.unwrap_or_default(),
        dims.join(", ")
    )
}

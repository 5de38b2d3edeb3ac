//! Entry points with a manual computation that calls the local program.

use crate::partition::PartitionedModule;
use rustc_hash::FxHashMap;
use spirula_stablehlo::MlirOpcode;
use spirula_stablehlo::mlir::{
    AttributeKind, DialectBody, MlirAttr, MlirModule, MlirOp, MlirType, MlirTypeKind, MlirValue,
    ModuleBuilder, NamedAttribute, OperationDraft,
};
use spirula_stablehlo::sharding::{AxisReference, TensorSharding};

/// The name that the local entry point gets.
const LOCAL_ENTRY: &str = "spirula_local_entry";

/// The global entry point, and the local one that it calls.
#[derive(Clone, Copy)]
pub(super) struct EntryPair<'m> {
    pub(super) partitioned: &'m PartitionedModule,
    pub(super) global: &'m MlirModule,
    /// The entry point of the global module.
    pub(super) entry: MlirOp,
    /// The types of the parameters of the local one, and of its results.
    pub(super) local_types: &'m [Vec<MlirType>; 2],
}

/// The shardings of a manual computation.
pub(super) struct ManualCallShardings<'s> {
    pub(super) inputs: &'s [TensorSharding],
    pub(super) outputs: &'s [TensorSharding],
}

/// The local program with another entry point, which a function emits.
pub(super) fn wrap_entry(
    partitioned: &PartitionedModule,
    global: &MlirModule,
    emit_entry: impl Fn(&mut ModuleBuilder, EntryPair<'_>),
) -> MlirModule {
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
            let pair = EntryPair {
                partitioned,
                global,
                entry,
                local_types: &function_types(local, *function),
            };
            emit_entry(&mut builder, pair);
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
pub(super) fn function_types(module: &MlirModule, function: MlirOp) -> [Vec<MlirType>; 2] {
    let attr = module.find_attribute(function, "function_type");
    if let Some(AttributeKind::Type(ty)) = attr.map(|attr| module.attributes.kind(attr))
        && let MlirTypeKind::Function { inputs, results } = module.types.kind(*ty)
    {
        return [inputs.to_vec(), results.to_vec()];
    }
    [Vec::new(), Vec::new()]
}

/// The properties of the global entry point without attributes of arguments and results.
pub(super) fn keep_entry_properties(pair: EntryPair<'_>) -> Vec<NamedAttribute> {
    let global = pair.global;
    let properties = global.properties(pair.entry).iter().copied();
    properties
        .filter(|(name, _)| !matches!(global.symbol_text(*name), "arg_attrs" | "res_attrs"))
        .collect()
}

/// Begins a manual computation over all axes of the mesh. Returns it with the arguments of its body.
pub(super) fn begin_manual(
    builder: &mut ModuleBuilder,
    pair: EntryPair<'_>,
    shardings: &ManualCallShardings<'_>,
    operands: &[MlirValue],
    results: &[MlirType],
    arguments: &[MlirType],
) -> (MlirOp, Vec<MlirValue>) {
    let list = |shardings: &[TensorSharding]| {
        let texts: Vec<String> = shardings.iter().map(write_sharding).collect();
        format!("<[{}]>", texts.join(", "))
    };
    let axes = pair.partitioned.mesh.reference().axes.iter();
    let axes: Vec<String> = axes.map(|axis| format!("{:?}", axis.name)).collect();
    let mut properties = Vec::new();
    for (key, kind, text) in [
        (
            "in_shardings",
            "sdy.sharding_per_value",
            list(shardings.inputs),
        ),
        (
            "out_shardings",
            "sdy.sharding_per_value",
            list(shardings.outputs),
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
        place: pair.global.source_location(pair.entry),
        ..OperationDraft::new("sdy.manual_computation", operands, results)
    });
    let inner = builder.begin_block(manual, 0, arguments);
    (manual, inner)
}

/// Ends the body of a manual computation. Returns the results of the computation.
pub(super) fn end_manual(
    builder: &mut ModuleBuilder,
    manual: MlirOp,
    returned: &[MlirValue],
) -> Vec<MlirValue> {
    builder.append_operation(OperationDraft::new("sdy.return", returned, &[]));
    builder.end_block();
    builder.module().results(manual).collect()
}

/// Calls the local entry point.
pub(super) fn call_local(
    builder: &mut ModuleBuilder,
    pair: EntryPair<'_>,
    operands: &[MlirValue],
) -> Vec<MlirValue> {
    let module = builder.module_mut();
    let callee = module.intern_text(LOCAL_ENTRY);
    let path = vec![callee].into_boxed_slice();
    let callee = module.attributes.intern(AttributeKind::SymbolRef(path));
    let properties = vec![(module.intern_text("callee"), callee)];
    let [_, results] = pair.local_types;
    let call = builder.append_operation(OperationDraft {
        properties,
        ..OperationDraft::new(MlirOpcode::FuncCall.name(), operands, results)
    });
    builder.module().results(call).collect()
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
fn write_sharding(sharding: &TensorSharding) -> String {
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
    let sums: Vec<String> = sharding.unreduced.iter().map(write_axis).collect();
    let sums = match sums[..] {
        [] => String::new(),
        _ => format!(", unreduced={{{}}}", sums.join(", ")),
    };
    format!(
        "<mesh<[{}]{}>, [{}]{sums}>",
        axes.join(", "),
        ids.unwrap_or_default(),
        dims.join(", ")
    )
}

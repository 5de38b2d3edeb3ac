//! The versioned dialect: attributes of its operations, and their conversion to StableHLO.
//!
//! An operation `name_vN` is version N of StableHLO's operation `name`; a new version has new
//! attributes. All attributes are present: those that StableHLO leaves out have their default
//! value. Dimension numbers are separate attributes. See VhloOps.td of StableHLO, and
//! VhloLegalizeToStablehlo.cpp for the defaults.

use crate::dialect::{self, AttributeDefinition, AttributeSyntax, FieldKind, MlirOpcode};
use crate::mlir::{
    AttributeKind, DialectBody, MlirAttr, MlirModule, MlirOp, MlirSymbol, MlirTypeKind,
    NamedAttribute,
};

const COLLECTIVE: &str = "replica_groups channel_id use_global_device_ids";
const CONVOLUTION: &str = "window_strides lhs_dilation rhs_dilation window_reversal \
    input_batch_dimension input_feature_dimension input_spatial_dimensions \
    kernel_input_feature_dimension kernel_output_feature_dimension kernel_spatial_dimensions \
    output_batch_dimension output_feature_dimension output_spatial_dimensions \
    feature_group_count batch_group_count precision_config";
const CUSTOM_CALL: &str = "call_target_name has_side_effect backend_config api_version \
    called_computations operand_layouts result_layouts output_operand_aliases";
const DOT: &str = "lhs_batching_dimensions rhs_batching_dimensions lhs_contracting_dimensions \
    rhs_contracting_dimensions precision_config";
const GATHER: &str = "offset_dims collapsed_slice_dims start_index_map index_vector_dim \
    indices_are_sorted";
const SCATTER: &str = "update_window_dims inserted_window_dims scatter_dims_to_operand_dims \
    index_vector_dim indices_are_sorted unique_indices";

/// Attributes of operations whose attributes differ from StableHLO's: name, first version with
/// them, attributes, more attributes.
const ATTRIBUTES: &[(&str, u32, &str, &str)] = &[
    (
        "func",
        1,
        "sym_name function_type sym_visibility arg_attrs res_attrs",
        "",
    ),
    ("call", 1, "callee", ""),
    ("dot_general", 1, DOT, ""),
    (
        "dot_general",
        2,
        DOT,
        "lhs_precision_type rhs_precision_type accumulation_type lhs_component_count \
         rhs_component_count num_primitive_operations allow_imprecise_accumulation",
    ),
    ("convolution", 1, CONVOLUTION, "padding"),
    ("dynamic_conv", 1, CONVOLUTION, "padding"),
    // The padding is only an operand.
    ("dynamic_conv", 2, CONVOLUTION, ""),
    ("custom_call", 1, CUSTOM_CALL, ""),
    ("custom_call", 2, CUSTOM_CALL, "result_tilings"),
    ("gather", 1, GATHER, "slice_sizes"),
    (
        "gather",
        2,
        GATHER,
        "slice_sizes operand_batching_dims start_indices_batching_dims",
    ),
    ("dynamic_gather", 1, GATHER, ""),
    (
        "dynamic_gather",
        2,
        GATHER,
        "operand_batching_dims start_indices_batching_dims",
    ),
    ("scatter", 1, SCATTER, ""),
    (
        "scatter",
        2,
        SCATTER,
        "input_batching_dims scatter_indices_batching_dims",
    ),
    ("all_gather", 1, COLLECTIVE, "all_gather_dim"),
    ("all_reduce", 1, COLLECTIVE, ""),
    ("reduce_scatter", 1, COLLECTIVE, "scatter_dimension"),
    (
        "all_to_all",
        1,
        "replica_groups channel_id",
        "split_dimension concat_dimension split_count",
    ),
    ("collective_broadcast", 1, "replica_groups channel_id", ""),
    (
        "collective_broadcast",
        2,
        "replica_groups channel_id",
        "has_dynamic_root",
    ),
    (
        "collective_permute",
        1,
        "source_target_pairs channel_id",
        "",
    ),
    ("send", 1, "channel_id channel_type is_host_transfer", ""),
    (
        "send",
        2,
        "channel_id channel_type is_host_transfer",
        "source_target_pairs",
    ),
    ("recv", 1, "channel_id channel_type is_host_transfer", ""),
    (
        "recv",
        2,
        "channel_id channel_type is_host_transfer",
        "source_target_pairs",
    ),
];

/// Attributes that are fields of one attribute in StableHLO: operation, that attribute, its
/// structure.
const GROUPS: &[(&str, &str, &str)] = &[
    ("dot_general", "dot_dimension_numbers", "stablehlo.dot"),
    ("convolution", "dimension_numbers", "stablehlo.conv"),
    ("dynamic_conv", "dimension_numbers", "stablehlo.conv"),
    ("gather", "dimension_numbers", "stablehlo.gather"),
    ("dynamic_gather", "dimension_numbers", "stablehlo.gather"),
    ("scatter", "scatter_dimension_numbers", "stablehlo.scatter"),
    ("dot_general", "algorithm", "stablehlo.dot_algorithm"),
];

/// Attributes that are names of functions, or lists of them.
const SYMBOLS: &[&str] = &["callee", "decomposition", "called_computations"];

/// `name_v2` as the name and 2.
fn split_version(name: &str) -> Option<(&str, u32)> {
    let (base, version) = name.rsplit_once("_v")?;
    Some((base, version.parse().ok()?))
}

/// The full name of the operation that another is a version of.
fn base_name(base: &str) -> String {
    match base {
        "func" | "call" => format!("func.{base}"),
        _ => format!("stablehlo.{base}"),
    }
}

/// An attribute in the list of those that an operation is written with.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListedAttribute {
    pub name: &'static str,
    /// Whether a flag says if it is there.
    pub is_optional: bool,
}

impl From<&AttributeDefinition> for ListedAttribute {
    fn from(definition: &AttributeDefinition) -> Self {
        ListedAttribute {
            name: definition.name,
            is_optional: definition.is_optional,
        }
    }
}

/// The attributes of an operation of the versioned dialect. All of them are written.
pub(super) fn list_attributes(name: &str) -> Option<Vec<ListedAttribute>> {
    let (base, version) = split_version(name)?;
    let rows = ATTRIBUTES.iter();
    let rows = rows.filter(|(row, first, ..)| *row == base && *first <= version);
    if let Some((_, _, attributes, more)) = rows.max_by_key(|(_, first, ..)| *first) {
        let names = attributes.split_ascii_whitespace();
        return Some(list_written(names.chain(more.split_ascii_whitespace())));
    }
    let known = MlirOpcode::find(&base_name(base))?.definition();
    let names = known.attributes.iter().map(|attribute| attribute.name);
    // Second versions added the accuracy of results.
    let names = names.filter(|name| version > 1 || *name != "result_accuracy");
    Some(list_written(names))
}

fn list_written(names: impl Iterator<Item = &'static str>) -> Vec<ListedAttribute> {
    let listed = names.map(|name| ListedAttribute {
        name,
        is_optional: false,
    });
    listed.collect()
}

/// Converts attributes to those of StableHLO; returns the name of the operation there.
pub(super) fn convert_operation(
    module: &mut MlirModule,
    name: &str,
    properties: &mut Vec<NamedAttribute>,
) -> Option<MlirSymbol> {
    let (base, _) = split_version(name)?;
    let full = base_name(base);
    let known = MlirOpcode::find(&full)?.definition();
    for (_, group, structure) in GROUPS.iter().filter(|(row, ..)| *row == base) {
        gather_fields(module, properties, group, structure);
    }
    gather_channel_handle(module, properties);
    for (key, attr) in properties.iter_mut() {
        if SYMBOLS.contains(&module.symbol_text(*key)) {
            *attr = symbol_ref(module, *attr);
        }
    }
    properties.retain(|&(key, attr)| !says_nothing(module, known, key, attr));
    for (key, attr) in properties.iter_mut() {
        if module.symbol_text(*key) == "use_global_device_ids" {
            *attr = module.attributes.intern(AttributeKind::Unit);
        }
    }
    Some(module.intern_text(&full))
}

/// Renames the terminators of a function to `func.return`: the versioned dialect has one return.
pub(super) fn rename_function_returns(module: &mut MlirModule, op: MlirOp) {
    if module.opcode(op) != Some(MlirOpcode::Func) {
        return;
    }
    let regions = module.regions(op);
    let blocks: Vec<_> = regions
        .flat_map(|region| module.blocks(region).to_vec())
        .collect();
    let name = module.intern_text("func.return");
    for block in blocks {
        if let Some(&last) = module.ops(block).last()
            && module.opcode(last) == Some(MlirOpcode::Return)
        {
            module.set_name(last, name);
        }
    }
}

fn remove_attribute(
    module: &MlirModule,
    named: &mut Vec<NamedAttribute>,
    name: &str,
) -> Option<MlirAttr> {
    let at = named
        .iter()
        .position(|&(key, _)| module.symbol_text(key) == name)?;
    Some(named.remove(at).1)
}

/// Gathers attributes that are fields into the attribute that has them. An algorithm without types
/// becomes no attribute.
fn gather_fields(
    module: &mut MlirModule,
    properties: &mut Vec<NamedAttribute>,
    group: &str,
    structure: &str,
) {
    let fields = match dialect::find_attribute_structure(structure) {
        Some(AttributeSyntax::Fields(fields)) => fields,
        _ => dialect::CONVOLUTION_FIELDS,
    };
    let mut named = Vec::new();
    let mut is_none = group == "algorithm";
    for field in fields {
        let Some(attr) = remove_attribute(module, properties, field.name) else {
            continue;
        };
        if let AttributeKind::Type(ty) = *module.attributes.kind(attr) {
            is_none = *module.types.kind(ty) == MlirTypeKind::None;
        }
        let attr = match field.kind {
            FieldKind::Integers => {
                let values = module.as_integers(attr).unwrap_or_default();
                if values.is_empty() && !field.always {
                    continue;
                }
                module.integers_attribute(&values)
            }
            FieldKind::Integer => {
                let value = module.as_integer(attr).unwrap_or_default();
                if value == 0 && !field.always {
                    continue;
                }
                module.integer_attribute(value, 64)
            }
            FieldKind::Attribute => attr,
        };
        named.push((module.intern_text(field.name), attr));
    }
    if is_none {
        return;
    }
    let name = module.intern_text(structure);
    let body = DialectBody::Fields(named.into());
    let attr = module
        .attributes
        .intern(AttributeKind::Dialect { name, body });
    properties.push((module.intern_text(group), attr));
}

/// The number of a channel, and its type if it has one, as one attribute; number 0 means no
/// channel.
fn gather_channel_handle(module: &mut MlirModule, properties: &mut Vec<NamedAttribute>) {
    let Some(handle) = remove_attribute(module, properties, "channel_id") else {
        return;
    };
    let ty = remove_attribute(module, properties, "channel_type");
    let value = |attr: Option<MlirAttr>| attr.and_then(|attr| module.as_integer(attr)).unwrap_or(0);
    let (handle, ty) = (value(Some(handle)), value(ty));
    if handle == 0 && ty == 0 {
        return;
    }
    let mut named = Vec::new();
    for (name, value) in [("handle", handle), ("type", ty)] {
        named.push((
            module.intern_text(name),
            module.integer_attribute(value, 64),
        ));
    }
    let name = module.intern_text("stablehlo.channel_handle");
    let body = DialectBody::Fields(named.into());
    let attr = module
        .attributes
        .intern(AttributeKind::Dialect { name, body });
    properties.push((module.intern_text("channel_handle"), attr));
}

fn symbol_ref(module: &mut MlirModule, attr: MlirAttr) -> MlirAttr {
    let kind = match module.attributes.kind(attr).clone() {
        AttributeKind::String(name) => AttributeKind::SymbolRef([name].into()),
        AttributeKind::Array(list) => {
            let symbols = list.iter().map(|attr| symbol_ref(module, *attr));
            AttributeKind::Array(symbols.collect())
        }
        _ => return attr,
    };
    module.attributes.intern(kind)
}

/// Whether an optional attribute has the value that its absence means.
fn says_nothing(
    module: &MlirModule,
    known: &dialect::OpDefinition,
    key: MlirSymbol,
    attr: MlirAttr,
) -> bool {
    let name = module.symbol_text(key);
    let definition = known.find_attribute(name);
    if !definition.is_some_and(|attribute| attribute.is_optional) {
        return false;
    }
    match module.attributes.kind(attr) {
        AttributeKind::Array(list) => list.is_empty(),
        AttributeKind::Elements(elements) => elements.data.is_empty(),
        AttributeKind::String(text) => module.symbol_text(*text).is_empty(),
        AttributeKind::Integer { value: 0, .. } => {
            matches!(name, "use_global_device_ids" | "has_side_effect")
        }
        AttributeKind::Dialect { .. } if name == "result_accuracy" => {
            let mode = module.find_field(attr, "mode");
            mode.and_then(|mode| module.as_keyword(mode)) == Some("DEFAULT")
        }
        AttributeKind::Dialect { .. } => module.as_keyword(attr) == Some("NOTYPE"),
        _ => false,
    }
}

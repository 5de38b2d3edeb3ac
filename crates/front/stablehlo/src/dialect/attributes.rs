//! Attributes of the dialects: the syntax and the fields of each.

use super::keywords::list_keywords;
use std::borrow::Cow;

/// Syntax of an attribute of a dialect.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AttributeSyntax {
    /// `#stablehlo<precision DEFAULT>`
    Keyword,
    /// `#stablehlo.gather<offset_dims = [0], …>`
    Fields(&'static [AttributeField]),
    /// `#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>`
    Convolution,
}

/// A field of an attribute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttributeField {
    pub name: &'static str,
    pub kind: FieldKind,
    /// Written even if it is empty or zero.
    pub always: bool,
}

/// Kind of the value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldKind {
    /// `1`
    Integer,
    /// `[1, 2]`
    Integers,
    /// Any attribute.
    Attribute,
}

pub(super) const fn integer_field(name: &'static str) -> AttributeField {
    AttributeField {
        name,
        kind: FieldKind::Integer,
        always: false,
    }
}

pub(super) const fn integers_field(name: &'static str) -> AttributeField {
    AttributeField {
        name,
        kind: FieldKind::Integers,
        always: false,
    }
}

const fn attribute_field(name: &'static str) -> AttributeField {
    AttributeField {
        name,
        kind: FieldKind::Attribute,
        always: false,
    }
}

pub(super) const fn always_printed_field(field: AttributeField) -> AttributeField {
    AttributeField {
        always: true,
        ..field
    }
}

/// Attributes with fields, in the order in which they are printed.
const FIELDS: &[(&str, &[AttributeField])] = &[
    (
        "dot",
        &[
            integers_field("lhs_batching_dimensions"),
            integers_field("rhs_batching_dimensions"),
            integers_field("lhs_contracting_dimensions"),
            integers_field("rhs_contracting_dimensions"),
        ],
    ),
    (
        "ragged_dot",
        &[
            always_printed_field(integers_field("lhs_batching_dimensions")),
            always_printed_field(integers_field("rhs_batching_dimensions")),
            always_printed_field(integers_field("lhs_contracting_dimensions")),
            always_printed_field(integers_field("rhs_contracting_dimensions")),
            always_printed_field(integers_field("lhs_ragged_dimensions")),
            always_printed_field(integers_field("rhs_group_dimensions")),
        ],
    ),
    (
        "gather",
        &[
            integers_field("offset_dims"),
            integers_field("collapsed_slice_dims"),
            integers_field("operand_batching_dims"),
            integers_field("start_indices_batching_dims"),
            integers_field("start_index_map"),
            integer_field("index_vector_dim"),
        ],
    ),
    (
        "scatter",
        &[
            integers_field("update_window_dims"),
            integers_field("inserted_window_dims"),
            integers_field("input_batching_dims"),
            integers_field("scatter_indices_batching_dims"),
            integers_field("scatter_dims_to_operand_dims"),
            integer_field("index_vector_dim"),
        ],
    ),
    (
        "channel_handle",
        &[
            always_printed_field(integer_field("handle")),
            always_printed_field(integer_field("type")),
        ],
    ),
    (
        "output_operand_alias",
        &[
            always_printed_field(integers_field("output_tuple_indices")),
            always_printed_field(integer_field("operand_index")),
            always_printed_field(integers_field("operand_tuple_indices")),
        ],
    ),
    (
        "dot_algorithm",
        &[
            attribute_field("lhs_precision_type"),
            attribute_field("rhs_precision_type"),
            attribute_field("accumulation_type"),
            always_printed_field(integer_field("lhs_component_count")),
            always_printed_field(integer_field("rhs_component_count")),
            always_printed_field(integer_field("num_primitive_operations")),
            attribute_field("allow_imprecise_accumulation"),
        ],
    ),
    (
        "result_accuracy",
        &[
            attribute_field("atol"),
            attribute_field("rtol"),
            integer_field("ulps"),
            attribute_field("mode"),
        ],
    ),
    (
        "sub_axis_info",
        &[
            always_printed_field(integer_field("pre_size")),
            always_printed_field(integer_field("size")),
        ],
    ),
    (
        "axis_ref",
        &[attribute_field("name"), attribute_field("sub_axis_info")],
    ),
    (
        "mesh_axis",
        &[
            attribute_field("name"),
            always_printed_field(integer_field("size")),
        ],
    ),
    (
        "mesh",
        &[attribute_field("axes"), attribute_field("device_ids")],
    ),
    (
        "replica_group_mesh_axes",
        &[attribute_field("mesh"), attribute_field("axes")],
    ),
];

/// The dialects whose attributes are known, with their `.`.
const DIALECTS: &[&str] = &["stablehlo.", "chlo.", "mhlo."];

fn strip_dialect(name: &str) -> Option<&str> {
    let mut dialects = DIALECTS.iter();
    dialects.find_map(|dialect| name.strip_prefix(dialect))
}

/// Syntax of an attribute (`stablehlo.gather`); `None` for one that is kept as text.
pub(crate) fn find_attribute_structure(name: &str) -> Option<AttributeSyntax> {
    let mnemonic = strip_dialect(name)?;
    if !list_keywords(mnemonic).is_empty() {
        return Some(AttributeSyntax::Keyword);
    }
    if mnemonic == "conv" {
        return Some(AttributeSyntax::Convolution);
    }
    let mut rows = FIELDS.iter();
    let (_, fields) = rows.find(|(row, _)| *row == mnemonic)?;
    Some(AttributeSyntax::Fields(fields))
}

/// Whether [`find_attribute_structure`] knows an attribute.
pub(crate) fn is_known_attribute(name: &str) -> bool {
    find_attribute_structure(name).is_some()
}

/// The StableHLO name of an attribute or type of `mhlo` that StableHLO shares.
pub(crate) fn shared_name(name: &str) -> Cow<'_, str> {
    match name.strip_prefix("mhlo.") {
        Some(rest) if rest == "token" || is_known_attribute(name) => {
            format!("stablehlo.{rest}").into()
        }
        Some(rest @ ("bounds" | "type_extensions")) => format!("stablehlo.{rest}").into(),
        _ => name.into(),
    }
}

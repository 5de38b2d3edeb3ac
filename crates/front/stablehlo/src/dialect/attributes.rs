//! Attributes of the dialects, and the kinds of attributes that operations have.

use crate::mlir::{AttributeKind, MlirAttr, MlirModule, MlirTypeKind};
use std::borrow::Cow;

/// How the text of a dialect's attribute is built.
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

/// What a field has.
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

/// Attributes that are words, with the words.
const KEYWORDS: &[(&str, &[&str])] = &[
    (
        "comparison_direction",
        &["EQ", "NE", "GE", "GT", "LE", "LT"],
    ),
    (
        "comparison_type",
        &["NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"],
    ),
    ("fft_type", &["FFT", "IFFT", "RFFT", "IRFFT"]),
    ("precision", &["DEFAULT", "HIGH", "HIGHEST"]),
    ("result_accuracy_mode", &["DEFAULT", "HIGHEST", "TOLERANCE"]),
    ("rng_algorithm", &["DEFAULT", "THREE_FRY", "PHILOX"]),
    ("rng_distribution", &["UNIFORM", "NORMAL"]),
    (
        "transpose",
        &["TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"],
    ),
];

/// The words that an attribute (`precision`) may be.
pub(crate) fn list_keywords(mnemonic: &str) -> &'static [&'static str] {
    let mut rows = KEYWORDS.iter();
    rows.find(|(row, _)| *row == mnemonic)
        .map_or(&[], |(_, words)| words)
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
];

/// The dialects whose attributes are known, with their `.`.
const DIALECTS: &[&str] = &["stablehlo.", "chlo.", "mhlo."];

fn strip_dialect(name: &str) -> Option<&str> {
    let mut dialects = DIALECTS.iter();
    dialects.find_map(|dialect| name.strip_prefix(dialect))
}

/// How an attribute (`stablehlo.gather`) is built; `None` for one that is kept as text.
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

/// Names of attributes and types of `mhlo` that StableHLO shares, as StableHLO has them.
pub(crate) fn shared_name(name: &str) -> Cow<'_, str> {
    match name.strip_prefix("mhlo.") {
        Some(rest) if rest == "token" || is_known_attribute(name) => {
            format!("stablehlo.{rest}").into()
        }
        Some(rest @ ("bounds" | "type_extensions")) => format!("stablehlo.{rest}").into(),
        _ => name.into(),
    }
}

/// What an attribute of an operation has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttributeConstraint {
    /// `array<i64: …>`
    I64s,
    /// `array<i1: …>`
    Bools,
    /// An integer of this width.
    Integer(u32),
    /// Anything.
    Any,
}

/// The attribute in the kind that the operation's definition says: elements, as older texts
/// have them, become arrays.
pub(crate) fn normalise_attribute(
    module: &mut MlirModule,
    kind: AttributeConstraint,
    attr: MlirAttr,
) -> MlirAttr {
    let width = match kind {
        AttributeConstraint::I64s => 64,
        AttributeConstraint::Bools => 1,
        AttributeConstraint::Integer(_) | AttributeConstraint::Any => return attr,
    };
    let AttributeKind::Elements(elements) = module.attributes.kind(attr) else {
        return attr;
    };
    let element = module.types.element_type(elements.ty);
    let one_dimension = module
        .types
        .shape(elements.ty)
        .is_some_and(|s| s.len() == 1);
    let is_integer =
        matches!(*module.types.kind(element), MlirTypeKind::Integer { width: w, .. } if w == width);
    let values = module.as_integers(attr);
    let (true, true, Some(values)) = (one_dimension, is_integer, values) else {
        return attr;
    };
    let bytes = width.div_ceil(8) as usize;
    let element = module.types.integer_type(width);
    let data = values
        .iter()
        .flat_map(|value| value.to_le_bytes().into_iter().take(bytes))
        .collect();
    let kind = AttributeKind::DenseArray { element, data };
    module.attributes.intern(kind)
}

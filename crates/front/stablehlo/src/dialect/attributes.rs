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

pub(super) const fn integer(name: &'static str) -> AttributeField {
    AttributeField {
        name,
        kind: FieldKind::Integer,
        always: false,
    }
}

pub(super) const fn integers(name: &'static str) -> AttributeField {
    AttributeField {
        name,
        kind: FieldKind::Integers,
        always: false,
    }
}

const fn attribute(name: &'static str) -> AttributeField {
    AttributeField {
        name,
        kind: FieldKind::Attribute,
        always: false,
    }
}

pub(super) const fn always(field: AttributeField) -> AttributeField {
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
pub(crate) fn words(mnemonic: &str) -> &'static [&'static str] {
    let mut rows = KEYWORDS.iter();
    rows.find(|(row, _)| *row == mnemonic)
        .map_or(&[], |(_, words)| words)
}

/// Attributes with fields, in the order in which they are printed.
const FIELDS: &[(&str, &[AttributeField])] = &[
    (
        "dot",
        &[
            integers("lhs_batching_dimensions"),
            integers("rhs_batching_dimensions"),
            integers("lhs_contracting_dimensions"),
            integers("rhs_contracting_dimensions"),
        ],
    ),
    (
        "ragged_dot",
        &[
            always(integers("lhs_batching_dimensions")),
            always(integers("rhs_batching_dimensions")),
            always(integers("lhs_contracting_dimensions")),
            always(integers("rhs_contracting_dimensions")),
            always(integers("lhs_ragged_dimensions")),
            always(integers("rhs_group_dimensions")),
        ],
    ),
    (
        "gather",
        &[
            integers("offset_dims"),
            integers("collapsed_slice_dims"),
            integers("operand_batching_dims"),
            integers("start_indices_batching_dims"),
            integers("start_index_map"),
            integer("index_vector_dim"),
        ],
    ),
    (
        "scatter",
        &[
            integers("update_window_dims"),
            integers("inserted_window_dims"),
            integers("input_batching_dims"),
            integers("scatter_indices_batching_dims"),
            integers("scatter_dims_to_operand_dims"),
            integer("index_vector_dim"),
        ],
    ),
    (
        "channel_handle",
        &[always(integer("handle")), always(integer("type"))],
    ),
    (
        "output_operand_alias",
        &[
            always(integers("output_tuple_indices")),
            always(integer("operand_index")),
            always(integers("operand_tuple_indices")),
        ],
    ),
    (
        "dot_algorithm",
        &[
            attribute("lhs_precision_type"),
            attribute("rhs_precision_type"),
            attribute("accumulation_type"),
            always(integer("lhs_component_count")),
            always(integer("rhs_component_count")),
            always(integer("num_primitive_operations")),
            attribute("allow_imprecise_accumulation"),
        ],
    ),
    (
        "result_accuracy",
        &[
            attribute("atol"),
            attribute("rtol"),
            integer("ulps"),
            attribute("mode"),
        ],
    ),
];

/// The dialects whose attributes are known, with their `.`.
const DIALECTS: &[&str] = &["stablehlo.", "chlo.", "mhlo."];

fn mnemonic(name: &str) -> Option<&str> {
    let mut dialects = DIALECTS.iter();
    dialects.find_map(|dialect| name.strip_prefix(dialect))
}

/// How an attribute (`stablehlo.gather`) is built; `None` for one that is kept as text.
pub(crate) fn structure(name: &str) -> Option<AttributeSyntax> {
    let mnemonic = mnemonic(name)?;
    if !words(mnemonic).is_empty() {
        return Some(AttributeSyntax::Keyword);
    }
    if mnemonic == "conv" {
        return Some(AttributeSyntax::Convolution);
    }
    let mut rows = FIELDS.iter();
    let (_, fields) = rows.find(|(row, _)| *row == mnemonic)?;
    Some(AttributeSyntax::Fields(fields))
}

/// Whether [`structure`] knows an attribute.
pub(crate) fn is_known_attribute(name: &str) -> bool {
    structure(name).is_some()
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
pub(crate) fn normalise(
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
    let element = module.types.element(elements.ty);
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
    let element = module.types.integer(width);
    let data = values
        .iter()
        .flat_map(|value| value.to_le_bytes().into_iter().take(bytes))
        .collect();
    let kind = AttributeKind::DenseArray { element, data };
    module.attributes.intern(kind)
}

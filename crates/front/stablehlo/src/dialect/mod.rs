//! The dialects that programs come in: `builtin`, `func`, `stablehlo`, `chlo`, `check`.
//!
//! An operation is a row of [`table`]: its attributes, its custom form. Attributes and their
//! fields are rows of [`attributes`]. Operations and attributes of `mhlo` that StableHLO shares
//! are read as StableHLO's.

mod attributes;
mod custom;
mod dimension_numbers;
mod operations;
mod table;

pub(crate) use attributes::{
    AttributeField, AttributeSyntax, FieldKind, is_known_attribute, normalise, shared_name,
    structure, words,
};
pub(crate) use dimension_numbers::{FIELDS as CONVOLUTION_FIELDS, show as show_dimension_numbers};
pub(crate) use operations::{
    AssemblyFormat, OpDefinition, TrailingTypes, full_operation_name, operation,
};

//! Dialects that programs use: `builtin`, `func`, `stablehlo`, `chlo`, `check`, `sdy`,
//! `interpreter`.
//!
//! An operation has a number ([`opcode`]) and a row of [`table`]: its attributes, its custom form,
//! its rule. [`records`] has the typed records of attributes. Attributes of the dialects and their
//! fields are rows of [`attributes`]. Operations and attributes of `mhlo` that StableHLO shares are
//! read as StableHLO's.

mod attributes;
mod custom;
mod dimension_numbers;
mod keywords;
mod numbers;
mod opcode;
mod operations;
mod properties;
pub(crate) mod records;
mod sharding_forms;
mod table;
mod values;

pub(crate) use attributes::{
    AttributeField, AttributeSyntax, FieldKind, find_attribute_structure, is_known_attribute,
    shared_name,
};
pub(crate) use dimension_numbers::{
    FIELDS as CONVOLUTION_FIELDS, print_dimension_numbers as show_dimension_numbers,
};
pub(crate) use keywords::{
    ComparisonDirection, ComparisonType, FftType, RngAlgorithm, TransposeKind, list_keywords,
};
pub(crate) use numbers::{DotNumbers, IndexingNumbers, TensorLayout};
pub use opcode::MlirOpcode;
pub(crate) use opcode::OpcodeTable;
pub(crate) use operations::{
    AssemblyFormat, OpDefinition, TrailingTypes, full_operation_name, list_definitions,
};
pub(crate) use properties::{
    AttributeConstraint, AttributeDefinition, AttributeRecord, MissingAttribute,
    normalise_attribute,
};
pub(crate) use values::{
    ElementsAttribute, IntegerElements, IntegerList, NamedInteger, PrecisionConfig, SymbolName,
};

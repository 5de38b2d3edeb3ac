//! MLIR: modules as data, read from text, printed in the generic form.
//!
//! This module does not know the meaning of operations. Custom assembly forms and the attributes of
//! operations come from [`crate::dialect`].

mod access;
mod affine;
mod attribute;
mod builder;
pub(crate) mod elements;
mod float;
mod id;
mod interner;
mod location;
mod module;
mod print;
pub(crate) mod quantized;
pub(crate) mod text;
mod types;

pub use access::ElementsRef;
pub use affine::{AffineExpr, AffineMap, AffineOp, IntegerSet};
pub use attribute::{AttributeKind, DialectBody, MlirAttr, MlirAttributes, NamedAttribute};
pub use builder::{ModuleBuilder, OperationDraft};
pub use elements::DenseElements;
pub use float::{FLOATS, FloatSpecials, MlirFloat, MlirFloatFormat};
pub use id::{MlirBlock, MlirOp, MlirRegion, MlirValue};
pub use interner::MlirSymbol;
pub use location::{LocationKind, MlirLoc, MlirLocations};
pub use module::{MlirModule, ResourceBlob, ValueDefinition};
pub use print::SsaNumbering;
pub use text::{parse_text, split_sections};
pub use types::{
    DimSize, IntegerSignedness, MlirType, MlirTypeKind, MlirTypes, QuantizationGranularity,
    QuantizedType,
};

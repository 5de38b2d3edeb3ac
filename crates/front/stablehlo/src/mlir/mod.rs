//! MLIR: modules as data, read from text, printed in the generic form.
//!
//! Nothing here knows what an operation means; which operations have a custom assembly form and
//! which attributes belong to them is asked of [`crate::dialect`].

mod access;
mod affine;
mod attribute;
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
pub use affine::{Affine, AffineMap, AffineOp, IntegerSet};
pub use attribute::{Attr, AttributeKind, Attributes, DialectBody, Named};
pub use elements::Elements;
pub use float::{FLOATS, Float, FloatFormat, Specials};
pub use id::{Block, Op, Region, Value};
pub use interner::Symbol;
pub use location::{Loc, LocationKind, Locations};
pub use module::{Definition, Module, Resource};
pub use print::Numbering;
pub use text::{parse, sections};
pub use types::{Dim, Granularity, Quantized, Signedness, Type, TypeKind, Types};

//! Attributes, each stored once.

use super::affine::{AffineMap, IntegerSet};
use super::elements::DenseElements;
use super::interner::MlirSymbol;
use super::location::MlirLoc;
use super::types::MlirType;
use spirula_entity::{ValueInterner, define_ids};

define_ids! {
    /// An attribute. Equal attributes of a module have equal ids.
    pub struct MlirAttr: "attr";
}

/// A name and its attribute.
pub type NamedAttribute = (MlirSymbol, MlirAttr);

/// Kind of an attribute, with its contents.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AttributeKind {
    /// `unit`, or a name in a dictionary without a value.
    Unit,
    /// `5 : i64`; `true` and `false` are of `i1` and have the values 1 and 0.
    Integer {
        /// The value, between the least and the greatest of the type.
        value: i128,
        /// An integer type or `index`.
        ty: MlirType,
    },
    /// `3.0 : f32`
    Float {
        /// Bits in the format of the type.
        bits: u64,
        /// A floating-point type.
        ty: MlirType,
    },
    /// `"text"`
    String(MlirSymbol),
    /// `"text"` whose bytes are not UTF-8.
    Bytes(Box<[u8]>),
    /// `@root::@nested`
    SymbolRef(Box<[MlirSymbol]>),
    /// `i32`, `tensor<2xf32>`
    Type(MlirType),
    /// `[…]`
    Array(Box<[MlirAttr]>),
    /// `{…}`, ordered by the text of the names.
    Dictionary(Box<[NamedAttribute]>),
    /// `dense<…> : tensor<…>`
    Elements(DenseElements),
    /// `dense_resource<key> : tensor<…>`
    Resource {
        /// Name of the blob.
        key: MlirSymbol,
        /// Type of the elements as a whole.
        ty: MlirType,
    },
    /// `array<i64: 1, 2>`
    DenseArray {
        /// Type of the elements.
        element: MlirType,
        /// Elements one after the other, little-endian, in whole bytes.
        data: Box<[u8]>,
    },
    /// `affine_map<(d0) -> (d0)>`
    AffineMap(Box<AffineMap>),
    /// `affine_set<(d0) : (d0 >= 0)>`
    IntegerSet(Box<IntegerSet>),
    /// `loc(…)`
    Location(MlirLoc),
    /// `#dialect.name<…>` or `#dialect<name …>`
    Dialect {
        /// Dialect and name: `stablehlo.precision`, `stablehlo.gather`. Names of the `mhlo`
        /// dialect that StableHLO shares are those of `stablehlo`.
        name: MlirSymbol,
        /// Its contents.
        body: DialectBody,
    },
}

/// Contents of an attribute of a dialect.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DialectBody {
    /// One word: `#stablehlo<precision DEFAULT>`.
    Keyword(MlirSymbol),
    /// Values by name, in the order of the dialect's definition, without defaults. Lists of
    /// integers are [`AttributeKind::DenseArray`] of `i64`.
    Fields(Box<[NamedAttribute]>),
    /// Anything else: the text in angle brackets, including them; empty if there is none.
    Text(MlirSymbol),
}

/// All attributes of a module.
#[derive(Clone, Debug, Default)]
pub struct MlirAttributes(ValueInterner<MlirAttr, AttributeKind>);

impl MlirAttributes {
    /// The attribute of this kind.
    pub fn intern(&mut self, kind: AttributeKind) -> MlirAttr {
        self.0.intern(kind)
    }

    /// Kind of an attribute, with its contents.
    pub fn kind(&self, attr: MlirAttr) -> &AttributeKind {
        self.0.get(attr)
    }

    /// The attribute of this kind, if the module has it.
    pub fn find(&self, kind: &AttributeKind) -> Option<MlirAttr> {
        self.0.find(kind)
    }
}

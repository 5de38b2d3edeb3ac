//! Tile IR: a module of TTIR as data.
//!
//! Operations are generic, as in MLIR: a name, operands, results, attributes and regions. Types are those that TTIR has.

use spirula_diagnostics::SourceLocation;
use std::collections::BTreeMap;
use std::fmt;

/// Formats of floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatFormat {
    /// `f64`.
    Double,
    /// `f32`.
    Single,
    /// `f16`.
    Half,
    /// `bf16`.
    Brain,
    /// `f8E5M2`.
    E5M2,
    /// `f8E4M3FN`.
    E4M3,
    /// `f8E5M2FNUZ`.
    E5M2Fnuz,
    /// `f8E4M3FNUZ`.
    E4M3Fnuz,
}

impl FloatFormat {
    /// Names in TTIR.
    pub const NAMES: [(&'static str, FloatFormat); 8] = [
        ("f64", FloatFormat::Double),
        ("f32", FloatFormat::Single),
        ("f16", FloatFormat::Half),
        ("bf16", FloatFormat::Brain),
        ("f8E5M2", FloatFormat::E5M2),
        ("f8E4M3FN", FloatFormat::E4M3),
        ("f8E5M2FNUZ", FloatFormat::E5M2Fnuz),
        ("f8E4M3FNUZ", FloatFormat::E4M3Fnuz),
    ];

    /// Number of bits.
    pub fn bits(self) -> u32 {
        match self {
            FloatFormat::Double => 64,
            FloatFormat::Single => 32,
            FloatFormat::Half | FloatFormat::Brain => 16,
            _ => 8,
        }
    }

    /// Whether LLVM IR computes in it: other formats are stored as integers and computed in `f32`.
    pub fn is_native(self) -> bool {
        matches!(
            self,
            FloatFormat::Double | FloatFormat::Single | FloatFormat::Half
        )
    }
}

/// Types of scalars and of the elements of tensors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TileElement {
    /// An integer of a given number of bits.
    Integer(u32),
    /// A floating-point number.
    Float(FloatFormat),
    /// An address of elements of a type.
    Pointer(Box<TileElement>),
}

impl TileElement {
    /// Number of bits in memory.
    pub fn bits(&self) -> u32 {
        match self {
            TileElement::Integer(bits) => *bits,
            TileElement::Float(format) => format.bits(),
            TileElement::Pointer(_) => 64,
        }
    }
}

impl fmt::Display for TileElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TileElement::Integer(bits) => write!(f, "i{bits}"),
            TileElement::Float(format) => {
                let row = FloatFormat::NAMES.iter().find(|row| row.1 == *format);
                f.write_str(row.map_or("float", |row| row.0))
            }
            TileElement::Pointer(pointee) => write!(f, "!tt.ptr<{pointee}>"),
        }
    }
}

/// Type of a value: a scalar, or a tensor of a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileType {
    /// Sizes of the dimensions; none for a scalar.
    pub shape: Option<Vec<u64>>,
    /// Type of the scalar or of each element.
    pub element: TileElement,
}

impl TileType {
    /// Type of a scalar.
    pub fn scalar(element: TileElement) -> TileType {
        TileType {
            shape: None,
            element,
        }
    }

    /// Sizes of the dimensions, which a scalar does not have.
    pub fn dimensions(&self) -> &[u64] {
        self.shape.as_deref().unwrap_or_default()
    }

    /// Number of elements.
    pub fn count_elements(&self) -> u64 {
        self.dimensions().iter().product()
    }
}

impl fmt::Display for TileType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(shape) = &self.shape else {
            return write!(f, "{}", self.element);
        };
        f.write_str("tensor<")?;
        for size in shape {
            write!(f, "{size}x")?;
        }
        write!(f, "{}>", self.element)
    }
}

/// Number of a value of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

/// Attribute of an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum TileAttribute {
    /// A word or a symbol, as it is written.
    Word(String),
    /// A string.
    Text(String),
    /// An integer.
    Integer(i128),
    /// A floating-point number.
    Float(f64),
    /// The bits of a floating-point number, written in hexadecimal digits.
    Bits(u64),
    /// Elements of an array, or of a constant tensor.
    List(Vec<TileAttribute>),
}

/// Where an operation stands in the text, and where its source is.
#[derive(Clone, Debug, Default)]
pub struct OperationPlace {
    /// Place in the text of TTIR.
    pub location: SourceLocation,
    /// Place in the source in Python, as `file:line:column`.
    pub source: Option<String>,
}

/// An operation.
#[derive(Clone, Debug)]
pub struct TileOperation {
    /// Its name with the dialect.
    pub name: String,
    /// Operands.
    pub operands: Vec<ValueId>,
    /// Results.
    pub results: Vec<ValueId>,
    /// Words and strings that stand between the operands, in order: a predicate, an axis, an order of memory, a constant.
    pub words: Vec<TileAttribute>,
    /// Attributes by name.
    pub attributes: BTreeMap<String, TileAttribute>,
    /// Regions.
    pub regions: Vec<TileRegion>,
    /// Blocks where control flow continues, with the arguments of each.
    pub successors: Vec<(usize, Vec<ValueId>)>,
    /// Its place.
    pub place: OperationPlace,
}

impl TileOperation {
    /// An attribute that is an integer.
    pub fn integer(&self, name: &str) -> Option<i128> {
        match self.attributes.get(name) {
            Some(TileAttribute::Integer(value)) => Some(*value),
            _ => None,
        }
    }

    /// An attribute that is a word or a string.
    pub fn word(&self, name: &str) -> Option<&str> {
        match self.attributes.get(name) {
            Some(TileAttribute::Word(word) | TileAttribute::Text(word)) => Some(word),
            _ => None,
        }
    }

    /// An attribute that is an array of integers.
    pub fn integers(&self, name: &str) -> Option<Vec<i128>> {
        let Some(TileAttribute::List(list)) = self.attributes.get(name) else {
            return None;
        };
        list.iter()
            .map(|element| match element {
                TileAttribute::Integer(value) => Some(*value),
                _ => None,
            })
            .collect()
    }

    /// The word at a position between the operands.
    pub fn word_at(&self, position: usize) -> Option<&str> {
        match self.words.get(position) {
            Some(TileAttribute::Word(word) | TileAttribute::Text(word)) => Some(word),
            _ => None,
        }
    }
}

/// A region: blocks, of which the first is entered.
#[derive(Clone, Debug, Default)]
pub struct TileRegion {
    /// The blocks.
    pub blocks: Vec<TileBlock>,
}

/// A block: operations, the last of which ends it.
#[derive(Clone, Debug, Default)]
pub struct TileBlock {
    /// Values that the block receives.
    pub arguments: Vec<ValueId>,
    /// The operations in order.
    pub operations: Vec<TileOperation>,
}

/// A function of a module.
#[derive(Clone, Debug)]
pub struct TileFunction {
    /// Its name.
    pub name: String,
    /// Whether it may be launched.
    pub is_public: bool,
    /// Types of the results.
    pub results: Vec<TileType>,
    /// The body. The arguments of its first block are the parameters.
    pub body: TileRegion,
    /// Type of each value, by number.
    pub types: Vec<TileType>,
    /// Its place.
    pub place: OperationPlace,
}

impl TileFunction {
    /// Type of a value.
    pub fn type_of(&self, value: ValueId) -> &TileType {
        &self.types[value.0 as usize]
    }
}

/// A module of TTIR.
#[derive(Clone, Debug, Default)]
pub struct TileModule {
    /// The functions.
    pub functions: Vec<TileFunction>,
}

//! Types, each stored once.

use super::attribute::MlirAttr;
use super::float::MlirFloat;
use super::interner::MlirSymbol;
use spirula_entity::{ValueInterner, define_ids};

define_ids! {
    /// A type. Equal types of a module have equal ids.
    pub struct MlirType: "type";
}

/// Whether an integer type has a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntegerSignedness {
    /// `i8`: operations decide. StableHLO reads it as signed, and `i1` as a Boolean.
    Signless,
    /// `si8`
    Signed,
    /// `ui8`
    Unsigned,
}

/// Size of a dimension; `None` is a dynamic one, `?`.
pub type DimSize = Option<u64>;

/// Kind of a type, with its contents.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MlirTypeKind {
    /// `i32`, `si8`, `ui64`
    Integer {
        /// Bits.
        width: u32,
        /// Sign.
        sign: IntegerSignedness,
    },
    /// `index`
    Index,
    /// `f32`, `bf16`, `f8E4M3FN`, …
    Float(MlirFloat),
    /// `none`
    None,
    /// `complex<f32>`
    Complex(MlirType),
    /// `tuple<…>`
    Tuple(Box<[MlirType]>),
    /// `(…) -> …`
    Function {
        /// Types of the parameters.
        inputs: Box<[MlirType]>,
        /// Types of the results.
        results: Box<[MlirType]>,
    },
    /// `tensor<2x?xf32, #encoding>`
    Tensor {
        /// Sizes.
        shape: Box<[DimSize]>,
        /// Type of the elements.
        element: MlirType,
        /// An attribute of the tensor, for example `#stablehlo.bounds<16>`.
        encoding: Option<MlirAttr>,
    },
    /// `tensor<*xf32>`
    UnrankedTensor(MlirType),
    /// `vector<4x[8]xf32>`
    Vector {
        /// Sizes.
        shape: Box<[u64]>,
        /// Whether each is a multiple of an unknown number.
        scalable: Box<[bool]>,
        /// Type of the elements.
        element: MlirType,
    },
    /// `memref<2x?xf32, #layout, space>`
    MemRef {
        /// Sizes.
        shape: Box<[DimSize]>,
        /// Type of the elements.
        element: MlirType,
        /// Layout, if it is not the identity.
        layout: Option<MlirAttr>,
        /// Memory space.
        space: Option<MlirAttr>,
    },
    /// `memref<*xf32, space>`
    UnrankedMemRef {
        /// Type of the elements.
        element: MlirType,
        /// Memory space.
        space: Option<MlirAttr>,
    },
    /// `!quant.uniform<…>`
    Quantized(Box<QuantizedType>),
    /// `!stablehlo.future<…>`
    Future(Box<[MlirType]>),
    /// Any other type of a dialect, such as `!stablehlo.token`.
    Dialect {
        /// Dialect and name: `stablehlo.token`.
        name: MlirSymbol,
        /// The text in angle brackets, including them; empty if there is none.
        body: MlirSymbol,
    },
}

/// `!quant.uniform<storage<min:max>:expressed:axis, {scale:zero point, …}>`
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QuantizedType {
    /// Integer type of stored values.
    pub storage: MlirType,
    /// Least stored value.
    pub min: i64,
    /// Greatest stored value.
    pub max: i64,
    /// Floating-point type of the numbers that they represent.
    pub expressed: MlirType,
    /// Assignment of scales to elements.
    pub axis: QuantizationGranularity,
    /// Scale (bits of an `f64`) and zero point, in row-major order of the blocks.
    pub parameters: Box<[(u64, i64)]>,
}

/// Elements of a quantised tensor that share a scale.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum QuantizationGranularity {
    /// All elements.
    Tensor,
    /// Those at one position of a dimension.
    Axis(u64),
    /// Those of a block: dimensions and sizes of blocks along them, then the nesting of the
    /// parameters' list.
    Blocks {
        /// Dimension and size.
        sizes: Box<[(u64, u64)]>,
        /// Number of blocks along each of the dimensions listed in the parameters.
        shape: Box<[u64]>,
    },
}

/// All types of a module.
#[derive(Clone, Debug, Default)]
pub struct MlirTypes(ValueInterner<MlirType, MlirTypeKind>);

impl MlirTypes {
    /// The type of this kind.
    pub fn intern(&mut self, kind: MlirTypeKind) -> MlirType {
        self.0.intern(kind)
    }

    /// Kind of a type, with its contents.
    pub fn kind(&self, ty: MlirType) -> &MlirTypeKind {
        self.0.get(ty)
    }

    /// All types, inner ones before outer ones.
    pub fn iter(&self) -> impl Iterator<Item = (MlirType, &MlirTypeKind)> {
        self.0.iter()
    }

    /// Integer without a sign of its own: `i1`, `i64`.
    pub fn integer_type(&mut self, width: u32) -> MlirType {
        self.intern(MlirTypeKind::Integer {
            width,
            sign: IntegerSignedness::Signless,
        })
    }

    /// A floating-point type.
    pub fn float_type(&mut self, float: MlirFloat) -> MlirType {
        self.intern(MlirTypeKind::Float(float))
    }

    /// A tensor of static shape.
    pub fn tensor_type(&mut self, shape: &[u64], element: MlirType) -> MlirType {
        self.intern(MlirTypeKind::Tensor {
            shape: shape.iter().map(|&size| Some(size)).collect(),
            element,
            encoding: None,
        })
    }

    /// Element type of a tensor, vector or buffer; other types are returned as they are.
    pub fn element_type(&self, ty: MlirType) -> MlirType {
        match *self.kind(ty) {
            MlirTypeKind::Tensor { element, .. }
            | MlirTypeKind::Vector { element, .. }
            | MlirTypeKind::MemRef { element, .. }
            | MlirTypeKind::UnrankedMemRef { element, .. }
            | MlirTypeKind::UnrankedTensor(element) => element,
            _ => ty,
        }
    }

    /// Sizes of a ranked tensor.
    pub fn shape(&self, ty: MlirType) -> Option<&[DimSize]> {
        match self.kind(ty) {
            MlirTypeKind::Tensor { shape, .. } => Some(shape),
            _ => None,
        }
    }

    /// Sizes of a tensor or vector whose shape is static.
    pub fn static_shape(&self, ty: MlirType) -> Option<Vec<u64>> {
        match self.kind(ty) {
            MlirTypeKind::Tensor { shape, .. } => shape.iter().copied().collect(),
            MlirTypeKind::Vector {
                shape, scalable, ..
            } => (!scalable.contains(&true)).then(|| shape.to_vec()),
            _ => None,
        }
    }

    /// Number of elements of a tensor or vector of static shape, if it has less than 2^64.
    pub fn element_count(&self, ty: MlirType) -> Option<u64> {
        let shape = self.static_shape(ty)?;
        if shape.contains(&0) {
            return Some(0);
        }
        shape
            .iter()
            .try_fold(1u64, |all, &size| all.checked_mul(size))
    }

    /// Bytes of an element of this type in [`super::DenseElements`]. Integers and floats have whole
    /// bytes (`i1` and `i4` one, `index` eight), complex numbers twice those of their parts.
    pub fn element_bytes(&self, element: MlirType) -> Option<usize> {
        match *self.kind(element) {
            MlirTypeKind::Integer { width, .. } => Some(width.div_ceil(8) as usize),
            MlirTypeKind::Index => Some(8),
            MlirTypeKind::Float(float) => Some(float.width().div_ceil(8) as usize),
            MlirTypeKind::Complex(part) => Some(2 * self.element_bytes(part)?),
            _ => None,
        }
    }
}

//! Types, each stored once.

use super::attribute::Attr;
use super::float::Float;
use super::id::dense_id;
use super::interner::{Interner, Symbol};

dense_id! {
    /// A type. Equal types of a module have equal ids.
    Type, "type"
}

/// Whether an integer type has a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signedness {
    /// `i8`: operations decide; StableHLO reads it as signed, and `i1` as a truth value.
    Signless,
    /// `si8`
    Signed,
    /// `ui8`
    Unsigned,
}

/// Size of a dimension; `None` is a dynamic one, `?`.
pub type Dim = Option<u64>;

/// What a type is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// `i32`, `si8`, `ui64`
    Integer {
        /// Bits.
        width: u32,
        /// Sign.
        sign: Signedness,
    },
    /// `index`
    Index,
    /// `f32`, `bf16`, `f8E4M3FN`, …
    Float(Float),
    /// `none`
    None,
    /// `complex<f32>`
    Complex(Type),
    /// `tuple<…>`
    Tuple(Box<[Type]>),
    /// `(…) -> …`
    Function {
        /// Types of the parameters.
        inputs: Box<[Type]>,
        /// Types of the results.
        results: Box<[Type]>,
    },
    /// `tensor<2x?xf32, #encoding>`
    Tensor {
        /// Sizes.
        shape: Box<[Dim]>,
        /// Type of the elements.
        element: Type,
        /// Such as `#stablehlo.bounds<16>`.
        encoding: Option<Attr>,
    },
    /// `tensor<*xf32>`
    UnrankedTensor(Type),
    /// `vector<4x[8]xf32>`
    Vector {
        /// Sizes.
        shape: Box<[u64]>,
        /// Which of them are multiples of an unknown number.
        scalable: Box<[bool]>,
        /// Type of the elements.
        element: Type,
    },
    /// `memref<2x?xf32, #layout, space>`
    MemRef {
        /// Sizes.
        shape: Box<[Dim]>,
        /// Type of the elements.
        element: Type,
        /// Layout, if it is not the identity.
        layout: Option<Attr>,
        /// Memory space.
        space: Option<Attr>,
    },
    /// `memref<*xf32, space>`
    UnrankedMemRef {
        /// Type of the elements.
        element: Type,
        /// Memory space.
        space: Option<Attr>,
    },
    /// `!quant.uniform<…>`
    Quantized(Box<Quantized>),
    /// Any other type of a dialect, such as `!stablehlo.token`.
    Dialect {
        /// Dialect and name: `stablehlo.token`.
        name: Symbol,
        /// What stands in angle brackets, with them; empty if nothing does.
        body: Symbol,
    },
}

/// `!quant.uniform<storage<min:max>:expressed:axis, {scale:zero point, …}>`
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Quantized {
    /// Integer type of what is stored.
    pub storage: Type,
    /// Least stored value.
    pub min: i64,
    /// Greatest stored value.
    pub max: i64,
    /// Floating-point type of what is meant.
    pub expressed: Type,
    /// How scales are assigned to elements.
    pub axis: Granularity,
    /// Scale (bits of an `f64`) and zero point, in row-major order of the blocks.
    pub parameters: Box<[(u64, i64)]>,
}

/// Which elements of a quantised tensor share a scale.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Granularity {
    /// All.
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
pub struct Types(Interner<TypeKind>);

impl Types {
    /// The type of this kind.
    pub fn intern(&mut self, kind: TypeKind) -> Type {
        Type::new(self.0.intern(kind))
    }

    /// What a type is.
    pub fn kind(&self, ty: Type) -> &TypeKind {
        self.0.get(ty.index())
    }

    /// All types, inner ones before outer ones.
    pub fn all(&self) -> impl Iterator<Item = (Type, &TypeKind)> {
        (0..self.0.len()).map(|at| (Type::new(at), self.0.get(at)))
    }

    /// Integer without a sign of its own: `i1`, `i64`.
    pub fn integer(&mut self, width: u32) -> Type {
        self.intern(TypeKind::Integer {
            width,
            sign: Signedness::Signless,
        })
    }

    /// A floating-point type.
    pub fn float(&mut self, float: Float) -> Type {
        self.intern(TypeKind::Float(float))
    }

    /// A tensor of static shape.
    pub fn tensor(&mut self, shape: &[u64], element: Type) -> Type {
        self.intern(TypeKind::Tensor {
            shape: shape.iter().map(|&size| Some(size)).collect(),
            element,
            encoding: None,
        })
    }

    /// Element type of a tensor, vector or buffer; other types are their own.
    pub fn element(&self, ty: Type) -> Type {
        match *self.kind(ty) {
            TypeKind::Tensor { element, .. }
            | TypeKind::Vector { element, .. }
            | TypeKind::MemRef { element, .. }
            | TypeKind::UnrankedMemRef { element, .. }
            | TypeKind::UnrankedTensor(element) => element,
            _ => ty,
        }
    }

    /// Sizes of a ranked tensor.
    pub fn shape(&self, ty: Type) -> Option<&[Dim]> {
        match self.kind(ty) {
            TypeKind::Tensor { shape, .. } => Some(shape),
            _ => None,
        }
    }

    /// Sizes of a tensor or vector whose shape is static.
    pub fn static_shape(&self, ty: Type) -> Option<Vec<u64>> {
        match self.kind(ty) {
            TypeKind::Tensor { shape, .. } => shape.iter().copied().collect(),
            TypeKind::Vector {
                shape, scalable, ..
            } => (!scalable.contains(&true)).then(|| shape.to_vec()),
            _ => None,
        }
    }

    /// Number of elements of a tensor or vector of static shape, if it has less than 2^64.
    pub fn elements(&self, ty: Type) -> Option<u64> {
        let shape = self.static_shape(ty)?;
        if shape.contains(&0) {
            return Some(0);
        }
        shape
            .iter()
            .try_fold(1u64, |all, &size| all.checked_mul(size))
    }

    /// Bytes that an element of this type has in [`super::Elements`]: integers and floats fill
    /// up to whole bytes (`i1` and `i4` one, `index` eight), complex numbers have two of them.
    pub fn element_bytes(&self, element: Type) -> Option<usize> {
        match *self.kind(element) {
            TypeKind::Integer { width, .. } => Some(width.div_ceil(8) as usize),
            TypeKind::Index => Some(8),
            TypeKind::Float(float) => Some(float.width().div_ceil(8) as usize),
            TypeKind::Complex(part) => Some(2 * self.element_bytes(part)?),
            _ => None,
        }
    }
}

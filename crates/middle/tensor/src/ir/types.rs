//! Types of tensors.

use super::Value;
use smallvec::SmallVec;
use spirula_program::Scalar;
use std::fmt;

/// The size of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dim {
    /// Known when compiled.
    Static(u64),
    /// The value of a tensor of rank 0 with an `i64`, known when run. In the type of a parameter
    /// it may be a value that nothing computes: the argument's size is what it is then.
    Value(Value),
}

impl Dim {
    /// The size, if it is known.
    pub fn known(self) -> Option<u64> {
        match self {
            Dim::Static(size) => Some(size),
            Dim::Value(_) => None,
        }
    }

    /// What holds the size, if it is known only when run.
    pub fn value(self) -> Option<Value> {
        match self {
            Dim::Static(_) => None,
            Dim::Value(value) => Some(value),
        }
    }
}

/// The sizes of the dimensions, the slowest first; none for a scalar.
pub type Shape = SmallVec<[Dim; 4]>;

/// The type of a tensor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// Type of the elements.
    pub element: Scalar,
    /// Sizes of the dimensions. Elements lie dense in row-major order.
    pub shape: Shape,
}

impl TensorType {
    /// A type of known shape.
    pub fn new(element: Scalar, shape: &[u64]) -> Self {
        let shape = shape.iter().map(|s| Dim::Static(*s)).collect();
        TensorType { element, shape }
    }

    /// The type of a scalar.
    pub fn scalar(element: Scalar) -> Self {
        Self::new(element, &[])
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// What holds the sizes that are known only when run.
    pub fn sizes(&self) -> impl Iterator<Item = Value> + '_ {
        self.shape.iter().filter_map(|dim| dim.value())
    }

    /// Number of elements, if it is known and below 2^63.
    pub fn elements(&self) -> Option<u64> {
        let mut sizes = self.shape.iter().map(|dim| dim.known());
        let product = sizes.try_fold(1u64, |product, size| product.checked_mul(size?));
        product.filter(|p| i64::try_from(*p).is_ok())
    }
}

/// `f32[10,15]`.
impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.element)?;
        for (at, dim) in self.shape.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            match dim {
                Dim::Static(size) => write!(f, "{comma}{size}")?,
                Dim::Value(value) => write!(f, "{comma}{value:?}")?,
            }
        }
        f.write_str("]")
    }
}

//! Types of tensors.

use super::TensorValue;
use smallvec::SmallVec;
use spirula_program::ScalarType;
use std::fmt;

/// The size of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DimExtent {
    /// Known at compile time.
    Static(u64),
    /// The value of a tensor of type `i64[]`, known at run time. In the type of a parameter it may be a value that nothing
    /// defines; its value is then the size of the argument.
    Value(TensorValue),
}

impl DimExtent {
    /// The size, if it is known.
    pub fn as_static(self) -> Option<u64> {
        match self {
            DimExtent::Static(size) => Some(size),
            DimExtent::Value(_) => None,
        }
    }

    /// The value of the size, if it is known only at run time.
    pub fn as_value(self) -> Option<TensorValue> {
        match self {
            DimExtent::Static(_) => None,
            DimExtent::Value(value) => Some(value),
        }
    }
}

/// The sizes of the dimensions, the slowest first; none for a scalar.
pub type TensorShape = SmallVec<[DimExtent; 4]>;

/// The type of a tensor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DenseTensorType {
    /// Type of the elements.
    pub element: ScalarType,
    /// Sizes of the dimensions. Elements are dense in row-major order.
    pub shape: TensorShape,
}

impl DenseTensorType {
    /// A type of known shape.
    pub fn new(element: ScalarType, shape: &[u64]) -> Self {
        let shape = shape.iter().map(|s| DimExtent::Static(*s)).collect();
        DenseTensorType { element, shape }
    }

    /// The type of a scalar.
    pub fn from_scalar(element: ScalarType) -> Self {
        Self::new(element, &[])
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The values of sizes that are known only at run time.
    pub fn dynamic_sizes(&self) -> impl Iterator<Item = TensorValue> + '_ {
        self.shape.iter().filter_map(|dim| dim.as_value())
    }

    /// The number of elements, if it is known and below 2^63.
    pub fn element_count(&self) -> Option<u64> {
        let mut sizes = self.shape.iter().map(|dim| dim.as_static());
        let product = sizes.try_fold(1u64, |product, size| product.checked_mul(size?));
        product.filter(|p| i64::try_from(*p).is_ok())
    }
}

/// `f32[10,15]`.
impl fmt::Display for DenseTensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.element)?;
        for (at, dim) in self.shape.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            match dim {
                DimExtent::Static(size) => write!(f, "{comma}{size}")?,
                DimExtent::Value(value) => write!(f, "{comma}{value:?}")?,
            }
        }
        f.write_str("]")
    }
}

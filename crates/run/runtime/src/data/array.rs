//! Arrays: elements of one type in a shape.

use super::{DataError, ElementNumber, ElementType};
use std::fmt;

/// A dense array, last dimension fastest, little-endian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementArray {
    element: ElementType,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

/// Number of elements of a shape and their bytes; `None` where either exceeds the address space.
pub fn measure_shape(element: ElementType, shape: &[usize]) -> Option<(usize, usize)> {
    let count = shape.iter().try_fold(1_usize, |n, d| n.checked_mul(*d))?;
    let bytes = count.checked_mul(element.size())?;
    isize::try_from(bytes).ok()?;
    Some((count, bytes))
}

impl ElementArray {
    /// An array of these bytes.
    ///
    /// # Errors
    /// When the number of bytes does not fit the shape.
    pub fn new(
        element: ElementType,
        shape: Vec<usize>,
        bytes: Vec<u8>,
    ) -> Result<ElementArray, DataError> {
        match measure_shape(element, &shape) {
            Some((_, size)) if size == bytes.len() => Ok(ElementArray {
                element,
                shape,
                bytes,
            }),
            _ => Err(DataError::Size {
                shape: ArrayTypeDisplay(&shape, element).to_string(),
                bytes: bytes.len(),
            }),
        }
    }

    /// Type of its elements.
    pub fn element(&self) -> ElementType {
        self.element
    }

    /// Sizes of its dimensions, slowest first; empty for a scalar.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The contents.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The contents, owned.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Number of elements.
    pub fn element_count(&self) -> usize {
        self.bytes.len() / self.element.size()
    }

    /// The elements in order.
    pub fn iter_numbers(&self) -> impl ExactSizeIterator<Item = ElementNumber> + '_ {
        let chunks = self.bytes.chunks_exact(self.element.size());
        chunks.map(|chunk| self.element.decode_number(chunk))
    }

    /// Type and shape as text, `4x3xf32`.
    pub fn shape_text(&self) -> String {
        ArrayTypeDisplay(&self.shape, self.element).to_string()
    }

    /// Coordinates of an element by its number, slowest dimension first.
    pub fn locate_element(&self, mut index: usize) -> Vec<usize> {
        let mut at = vec![0; self.shape.len()];
        for (place, size) in at.iter_mut().zip(&self.shape).rev() {
            *place = index % size;
            index /= size;
        }
        at
    }
}

/// A shape and an element type, written `4x3xf32`.
pub struct ArrayTypeDisplay<'a>(pub &'a [usize], pub ElementType);

impl fmt::Display for ArrayTypeDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for size in self.0 {
            write!(f, "{size}x")?;
        }
        write!(f, "{}", self.1)
    }
}

/// Smallest and largest element except for NaN, and the number of NaNs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArrayStatistics {
    /// Smallest and largest element; `None` if no element is a number.
    pub range: Option<(ElementNumber, ElementNumber)>,
    /// Number of elements that are NaN.
    pub nan: usize,
}

impl ArrayStatistics {
    /// One pass over an array.
    pub fn from_array(array: &ElementArray) -> Self {
        let mut found = ArrayStatistics {
            range: None,
            nan: 0,
        };
        for n in array.iter_numbers() {
            if matches!(n, ElementNumber::Float(x) if x.is_nan()) {
                found.nan += 1;
                continue;
            }
            let (low, high) = found.range.unwrap_or((n, n));
            found.range = Some((
                if is_less(n, low) { n } else { low },
                if is_less(high, n) { n } else { high },
            ));
        }
        found
    }
}

fn is_less(a: ElementNumber, b: ElementNumber) -> bool {
    match (a, b) {
        (ElementNumber::Int(a), ElementNumber::Int(b)) => a < b,
        _ => a.to_f64() < b.to_f64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_beyond_memory_have_no_extent() {
        assert_eq!(measure_shape(ElementType::F32, &[usize::MAX]), None);
        assert_eq!(measure_shape(ElementType::F64, &[1 << 31, 1 << 31]), None);
        assert_eq!(measure_shape(ElementType::F32, &[3, 0]), Some((0, 0)));
        assert_eq!(measure_shape(ElementType::F32, &[]), Some((1, 4)));
    }

    #[test]
    fn bytes_must_fit_the_shape() {
        let error = ElementArray::new(ElementType::I16, vec![2, 3], vec![0; 11]).unwrap_err();
        assert_eq!(error.to_string(), "2x3xi16 does not have 11 bytes");
    }

    #[test]
    fn coordinates_and_statistics() {
        let bytes = [3.0_f32, f32::NAN, -1.0, 2.0, 0.0, 7.5].map(f32::to_le_bytes);
        let a = ElementArray::new(ElementType::F32, vec![2, 3], bytes.concat()).unwrap();
        assert_eq!(a.locate_element(4), [1, 1]);
        let s = ArrayStatistics::from_array(&a);
        assert_eq!(
            s.range,
            Some((ElementNumber::Float(-1.0), ElementNumber::Float(7.5)))
        );
        assert_eq!(s.nan, 1);
    }
}

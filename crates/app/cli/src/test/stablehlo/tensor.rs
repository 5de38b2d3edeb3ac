//! Tensors of test manifests and their files, and their conversion to values of programs.
//!
//! Manifests use short names of types (`u8`, `c64`, `f8e4m3fn`). Programs store them in the type of
//! [`TensorElement::storage_type`]. Complex numbers are pairs in a last dimension of 2, in programs and in files.

use super::super::TestOutcome;
use crate::values::tensor::array_element;
use spirula_program::ProgramValue;
use spirula_runtime::data::{ElementArray, ElementNumber, ElementType as Stored, read_npy};
use spirula_stablehlo::mlir::{FLOATS, MlirFloat};
use spirula_stablehlo::translate::TensorElement;

/// The type with a name of the manifest.
pub fn element_named(name: &str) -> Option<TensorElement> {
    let width = || name.get(1..)?.parse().ok();
    match name.as_bytes() {
        b"i1" => Some(TensorElement::Bool),
        b"c64" => Some(TensorElement::Complex(MlirFloat::F32)),
        b"c128" => Some(TensorElement::Complex(MlirFloat::F64)),
        [b'i' | b'u', ..] => width()
            .filter(|width| matches!(width, 2 | 4 | 8 | 16 | 32 | 64))
            .map(|width| TensorElement::Int {
                width,
                signed: name.starts_with('i'),
            }),
        _ => {
            let format = FLOATS.iter().find(|f| f.name.eq_ignore_ascii_case(name))?;
            MlirFloat::from_name(format.name).map(TensorElement::Float)
        }
    }
}

/// Size of a part of an element, in bytes.
pub fn component_byte_size(element: TensorElement) -> usize {
    element.storage_type().size() as usize
}

/// Appends a part of an element.
pub fn encode_component(element: TensorElement, number: ElementNumber, out: &mut Vec<u8>) {
    let bits = match (element.component_element(), number) {
        (TensorElement::Float(float), number) => float.format().encode_value(number.to_f64()),
        (TensorElement::Bool, number) => u64::from(number.to_int() != 0),
        (_, number) => number.to_int() as u64,
    };
    out.extend_from_slice(&bits.to_le_bytes()[..component_byte_size(element)]);
}

/// Decodes a part of an element.
fn decode_component(element: TensorElement, bytes: &[u8]) -> ElementNumber {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(word);
    match element.component_element() {
        TensorElement::Float(float) => ElementNumber::Float(float.format().decode_bits(bits)),
        TensorElement::Bool => ElementNumber::Int((bits != 0).into()),
        _ if element.is_unsigned() => ElementNumber::Int(bits.into()),
        _ => {
            let unused = 64 - 8 * bytes.len() as u32;
            ElementNumber::Int(((bits << unused) as i64 >> unused).into())
        }
    }
}

/// A tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct TestTensor {
    /// Type of its elements.
    pub element: TensorElement,
    /// Sizes of its dimensions.
    pub shape: Vec<usize>,
    /// Its elements in row-major order, the parts of each side by side.
    pub bytes: Vec<u8>,
}

impl TestTensor {
    /// Reads a tensor from a `.npy` file in the encoding of the corpora.
    pub fn of_npy(element: TensorElement, bytes: &[u8]) -> Result<TestTensor, TestOutcome> {
        let array = read_npy(bytes).map_err(TestOutcome::failed)?;
        let fits = match (array_element(element), array.element()) {
            (Some(Stored::BF16), Stored::U16) => true,
            (own, found) => own == Some(found),
        };
        let mut shape = array.shape().to_vec();
        if !fits || (element.component_count() == 2 && shape.pop() != Some(2)) {
            let found = array.shape_text();
            return Err(TestOutcome::failed(format!(
                "{found} is not of type {element}"
            )));
        }
        Ok(TestTensor {
            element,
            shape,
            bytes: array.into_bytes(),
        })
    }

    /// Converts a value of a program to a tensor.
    pub fn of_value(
        element: TensorElement,
        value: ProgramValue,
    ) -> Result<TestTensor, TestOutcome> {
        let mut shape: Vec<usize> = value.shape.iter().map(|size| *size as usize).collect();
        let is_whole = element.component_count() == 1 || shape.pop() == Some(2);
        if value.element != element.storage_type() || !is_whole {
            let (found, rank) = (value.type_name(), value.shape.len());
            return Err(TestOutcome::failed(format!(
                "a result is {found} of rank {rank}, expected {element}"
            )));
        }
        Ok(TestTensor {
            element,
            shape,
            bytes: value.bytes,
        })
    }

    /// Converts the tensor to a value of a program.
    pub fn into_value(self) -> ProgramValue {
        let pair = (self.element.component_count() == 2).then_some(2);
        let sizes = self.shape.iter().map(|size| *size as u64);
        ProgramValue {
            element: self.element.storage_type(),
            unsigned: self.element.is_unsigned(),
            shape: sizes.chain(pair).collect(),
            bytes: self.bytes,
        }
    }

    /// Reshapes the tensor.
    pub fn into_reshaped(mut self, shape: &[usize]) -> Result<TestTensor, TestOutcome> {
        let count = |shape: &[usize]| shape.iter().product::<usize>();
        if count(&self.shape) != count(shape) {
            let title = self.format_type();
            return Err(TestOutcome::failed(format!(
                "{title} does not have the shape {shape:?}"
            )));
        }
        self.shape = shape.to_vec();
        Ok(self)
    }

    /// Iterates over the parts of all elements.
    pub fn numbers(&self) -> impl ExactSizeIterator<Item = ElementNumber> + '_ {
        let chunks = self.bytes.chunks_exact(component_byte_size(self.element));
        chunks.map(|chunk| decode_component(self.element, chunk))
    }

    /// Type and shape as text.
    pub fn format_type(&self) -> String {
        let sizes = self.shape.iter().map(|size| format!("{size}x"));
        sizes.chain([self.element.to_string()]).collect()
    }

    /// Gathers the elements at these positions into a tensor of one dimension.
    pub fn gather_elements(&self, places: &ElementArray) -> Result<TestTensor, TestOutcome> {
        let size = component_byte_size(self.element) * self.element.component_count();
        let mut bytes = Vec::new();
        for place in places.iter_numbers() {
            let place = usize::try_from(place.to_int()).unwrap_or(usize::MAX);
            let element = self.bytes.chunks_exact(size).nth(place);
            let outside = || TestOutcome::failed(format!("there is no element {place}"));
            bytes.extend_from_slice(element.ok_or_else(outside)?);
        }
        Ok(TestTensor {
            element: self.element,
            shape: vec![places.element_count()],
            bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back() {
        for (name, numbers) in [
            ("i4", vec![-8.0, 7.0]),
            ("u4", vec![0.0, 15.0]),
            ("i64", vec![-4503599627370496.0]),
            ("u64", vec![9007199254740992.0]),
            ("i1", vec![0.0, 1.0]),
            ("bf16", vec![-1.5, f64::INFINITY]),
            ("f8e4m3fn", vec![448.0, -0.5]),
            ("c64", vec![1.0, 0.25]),
        ] {
            let element = element_named(name).unwrap();
            let mut bytes = Vec::new();
            for number in &numbers {
                let number = match element.component_element() {
                    TensorElement::Float(_) => ElementNumber::Float(*number),
                    _ => ElementNumber::Int(*number as i128),
                };
                encode_component(element, number, &mut bytes);
            }
            let tensor = TestTensor {
                element,
                shape: vec![numbers.len() / element.component_count()],
                bytes,
            };
            let back: Vec<f64> = tensor.numbers().map(ElementNumber::to_f64).collect();
            assert_eq!(back, numbers, "{name}");
        }
        assert_eq!(element_named("f31"), None);
        assert_eq!(element_named("i5"), None);
        assert_eq!(element_named(""), None);
    }

    #[test]
    fn values_of_programs() {
        let shapes = [("c64", vec![3, 2]), ("bf16", vec![3]), ("u4", vec![3])];
        for (name, outside) in shapes {
            let element = element_named(name).unwrap();
            let tensor = TestTensor {
                element,
                shape: vec![3],
                bytes: vec![1; 3 * element.component_count() * component_byte_size(element)],
            };
            let value = tensor.clone().into_value();
            assert_eq!(value.shape, outside);
            assert_eq!(
                TestTensor::of_value(element, value.clone()).unwrap(),
                tensor
            );
            let other = element_named("f64").unwrap();
            assert!(TestTensor::of_value(other, value).is_err());
        }
    }
}

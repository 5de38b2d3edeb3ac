//! Tensors as test manifests and their files have them, and as programs hold them.
//!
//! Manifests name types shortly (`u8`, `c64`, `f8e4m3fn`); programs hold them as
//! [`Element::storage`] says, complex numbers as pairs in a last dimension of 2, which is also how
//! files of arrays are read.

use super::super::Outcome;
use crate::values::tensor::array_element;
use spirula_program::Value;
use spirula_runtime::data::{Array, Element as Stored, Number, read_npy};
use spirula_stablehlo::mlir::{FLOATS, Float};
use spirula_stablehlo::translate::Element;

/// The type with a manifest's name.
pub fn element_named(name: &str) -> Option<Element> {
    let width = || name.get(1..)?.parse().ok();
    match name.as_bytes() {
        b"i1" => Some(Element::Bool),
        b"c64" => Some(Element::Complex(Float::F32)),
        b"c128" => Some(Element::Complex(Float::F64)),
        [b'i' | b'u', ..] => width()
            .filter(|width| matches!(width, 2 | 4 | 8 | 16 | 32 | 64))
            .map(|width| Element::Int {
                width,
                signed: name.starts_with('i'),
            }),
        _ => {
            let format = FLOATS.iter().find(|f| f.name.eq_ignore_ascii_case(name))?;
            Float::named(format.name).map(Element::Float)
        }
    }
}

/// Bytes of a part of an element.
pub fn size(element: Element) -> usize {
    element.storage().size() as usize
}

/// Appends a part of an element.
pub fn encode(element: Element, number: Number, out: &mut Vec<u8>) {
    let bits = match (element.part(), number) {
        (Element::Float(float), number) => float.format().encode(number.to_f64()),
        (Element::Bool, number) => u64::from(number.to_int() != 0),
        (_, number) => number.to_int() as u64,
    };
    out.extend_from_slice(&bits.to_le_bytes()[..size(element)]);
}

/// A part of an element by its bytes.
fn decode(element: Element, bytes: &[u8]) -> Number {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(word);
    match element.part() {
        Element::Float(float) => Number::Float(float.format().decode(bits)),
        Element::Bool => Number::Int((bits != 0).into()),
        _ if element.is_unsigned() => Number::Int(bits.into()),
        _ => {
            let unused = 64 - 8 * bytes.len() as u32;
            Number::Int(((bits << unused) as i64 >> unused).into())
        }
    }
}

/// A tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Type of its elements.
    pub element: Element,
    /// Sizes of its dimensions.
    pub shape: Vec<usize>,
    /// Its elements in row-major order, the parts of each side by side.
    pub bytes: Vec<u8>,
}

impl Tensor {
    /// The tensor that a `.npy` file holds in the way in which the corpora write this type.
    pub fn of_npy(element: Element, bytes: &[u8]) -> Result<Tensor, Outcome> {
        let array = read_npy(bytes).map_err(Outcome::failed)?;
        let fits = match (array_element(element), array.element()) {
            (Some(Stored::BF16), Stored::U16) => true,
            (own, found) => own == Some(found),
        };
        let mut shape = array.shape().to_vec();
        if !fits || (element.parts() == 2 && shape.pop() != Some(2)) {
            let found = array.shape_text();
            return Err(Outcome::failed(format!("{found} is no {element}")));
        }
        Ok(Tensor {
            element,
            shape,
            bytes: array.into_bytes(),
        })
    }

    /// The tensor that a value of a program is.
    pub fn of_value(element: Element, value: Value) -> Result<Tensor, Outcome> {
        let mut shape: Vec<usize> = value.shape.iter().map(|size| *size as usize).collect();
        let is_whole = element.parts() == 1 || shape.pop() == Some(2);
        if value.element != element.storage() || !is_whole {
            let (found, rank) = (value.type_name(), value.shape.len());
            return Err(Outcome::failed(format!(
                "a result is {found} of rank {rank}, expected {element}"
            )));
        }
        Ok(Tensor {
            element,
            shape,
            bytes: value.bytes,
        })
    }

    /// The value that a program takes for it.
    pub fn into_value(self) -> Value {
        let pair = (self.element.parts() == 2).then_some(2);
        let sizes = self.shape.iter().map(|size| *size as u64);
        Value {
            element: self.element.storage(),
            unsigned: self.element.is_unsigned(),
            shape: sizes.chain(pair).collect(),
            bytes: self.bytes,
        }
    }

    /// The same elements in another shape.
    pub fn reshaped(mut self, shape: &[usize]) -> Result<Tensor, Outcome> {
        let count = |shape: &[usize]| shape.iter().product::<usize>();
        if count(&self.shape) != count(shape) {
            let title = self.title();
            return Err(Outcome::failed(format!(
                "{title} does not have the shape {shape:?}"
            )));
        }
        self.shape = shape.to_vec();
        Ok(self)
    }

    /// The parts of all elements.
    pub fn numbers(&self) -> impl ExactSizeIterator<Item = Number> + '_ {
        let chunks = self.bytes.chunks_exact(size(self.element));
        chunks.map(|chunk| decode(self.element, chunk))
    }

    /// Its type and shape as text.
    pub fn title(&self) -> String {
        let sizes = self.shape.iter().map(|size| format!("{size}x"));
        sizes.chain([self.element.to_string()]).collect()
    }

    /// The elements at these places, as a tensor of one dimension.
    pub fn sample(&self, places: &Array) -> Result<Tensor, Outcome> {
        let size = size(self.element) * self.element.parts();
        let mut bytes = Vec::new();
        for place in places.numbers() {
            let place = usize::try_from(place.to_int()).unwrap_or(usize::MAX);
            let element = self.bytes.chunks_exact(size).nth(place);
            let outside = || Outcome::failed(format!("there is no element {place}"));
            bytes.extend_from_slice(element.ok_or_else(outside)?);
        }
        Ok(Tensor {
            element: self.element,
            shape: vec![places.count()],
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
                let number = match element.part() {
                    Element::Float(_) => Number::Float(*number),
                    _ => Number::Int(*number as i128),
                };
                encode(element, number, &mut bytes);
            }
            let tensor = Tensor {
                element,
                shape: vec![numbers.len() / element.parts()],
                bytes,
            };
            let back: Vec<f64> = tensor.numbers().map(Number::to_f64).collect();
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
            let tensor = Tensor {
                element,
                shape: vec![3],
                bytes: vec![1; 3 * element.parts() * size(element)],
            };
            let value = tensor.clone().into_value();
            assert_eq!(value.shape, outside);
            assert_eq!(Tensor::of_value(element, value.clone()).unwrap(), tensor);
            let other = element_named("f64").unwrap();
            assert!(Tensor::of_value(other, value).is_err());
        }
    }
}

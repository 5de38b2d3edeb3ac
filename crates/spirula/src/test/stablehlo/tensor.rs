//! Tensors of every type that test manifests name, and how programs hold them.
//!
//! Programs have fewer types: a complex number is two real ones in a last dimension of 2; a float of
//! a format that programs lack is an integer of its bits; an integer of fewer than 8 bits is one of
//! 8 bits.

use super::super::Outcome;
use spirula_program::{Scalar, Value};
use spirula_runtime::data::{Array, Class, Element, Number, read_npy};

/// A type of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DType(usize);

/// What the elements of a type are.
struct Row {
    name: &'static str,
    /// The elements, or the parts of complex ones.
    element: Element,
    /// As what a program holds them.
    storage: Scalar,
    /// Parts of an element.
    parts: usize,
}

const fn row(name: &'static str, element: Element, storage: Scalar, parts: usize) -> Row {
    Row {
        name,
        element,
        storage,
        parts,
    }
}

const ROWS: &[Row] = &[
    row("i1", Element::Bool, Scalar::Bool, 1),
    row("i4", Element::I8, Scalar::I8, 1),
    row("i8", Element::I8, Scalar::I8, 1),
    row("i16", Element::I16, Scalar::I16, 1),
    row("i32", Element::I32, Scalar::I32, 1),
    row("i64", Element::I64, Scalar::I64, 1),
    row("u4", Element::U8, Scalar::I8, 1),
    row("u8", Element::U8, Scalar::I8, 1),
    row("u16", Element::U16, Scalar::I16, 1),
    row("u32", Element::U32, Scalar::I32, 1),
    row("u64", Element::U64, Scalar::I64, 1),
    row("f16", Element::F16, Scalar::F16, 1),
    row("bf16", Element::BF16, Scalar::I16, 1),
    row("f32", Element::F32, Scalar::F32, 1),
    row("f64", Element::F64, Scalar::F64, 1),
    // Elements are the bits.
    row(F8, Element::U8, Scalar::I8, 1),
    row("c64", Element::F32, Scalar::F32, 2),
    row("c128", Element::F64, Scalar::F64, 2),
];

/// Floats of 4 bits of exponent and 3 of mantissa, without infinities.
const F8: &str = "f8e4m3fn";

impl DType {
    /// The type with this name.
    pub fn by_name(name: &str) -> Option<DType> {
        ROWS.iter().position(|row| row.name == name).map(DType)
    }

    fn row(self) -> &'static Row {
        &ROWS[self.0]
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Parts of an element: 2 of a complex number.
    pub fn parts(self) -> usize {
        self.row().parts
    }

    /// Whether it is a floating-point type, or one of complex numbers.
    pub fn is_float(self) -> bool {
        self.row().element.is_float() || self.name() == F8
    }

    /// What integers, floats and truth values of it are.
    pub fn class(self) -> Class {
        match self.is_float() {
            true => Class::Float,
            false => self.row().element.class(),
        }
    }

    /// Bytes of a part of an element.
    pub fn size(self) -> usize {
        self.row().element.size()
    }

    /// Appends a part of an element.
    pub fn encode(self, number: Number, out: &mut Vec<u8>) {
        match self.name() {
            F8 => out.push(f8_from(number.to_f64())),
            _ => self.row().element.encode(number, out),
        }
    }

    /// A part of an element by its bytes.
    pub fn decode(self, bytes: &[u8]) -> Number {
        match self.name() {
            F8 => Number::Float(f8_to_f64(bytes[0])),
            _ => self.row().element.decode(bytes),
        }
    }
}

/// A tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Type of its elements.
    pub dtype: DType,
    /// Sizes of its dimensions.
    pub shape: Vec<usize>,
    /// Its elements in row-major order, the parts of each side by side.
    pub bytes: Vec<u8>,
}

impl Tensor {
    /// The tensor that a `.npy` file holds in the way in which the corpora write this type.
    pub fn of_npy(dtype: DType, bytes: &[u8]) -> Result<Tensor, Outcome> {
        let array = read_npy(bytes).map_err(Outcome::failed)?;
        let fits = match (dtype.row().element, array.element()) {
            (Element::BF16, Element::U16) => true,
            (own, found) => own == found,
        };
        let mut shape = array.shape().to_vec();
        if !fits || (dtype.parts() == 2 && shape.pop() != Some(2)) {
            let (found, name) = (array.shape_text(), dtype.name());
            return Err(Outcome::failed(format!("{found} is no {name}")));
        }
        Ok(Tensor {
            dtype,
            shape,
            bytes: array.into_bytes(),
        })
    }

    /// The tensor that a value of a program is.
    pub fn of_value(dtype: DType, value: Value) -> Result<Tensor, Outcome> {
        let mut shape: Vec<usize> = value.shape.iter().map(|size| *size as usize).collect();
        let is_pair = dtype.parts() == 1 || shape.pop() == Some(2);
        if value.element != dtype.row().storage || !is_pair {
            let (found, name) = (value.type_name(), dtype.name());
            let text = format!("a result is {found} of rank {}", value.shape.len());
            return Err(Outcome::failed(format!("{text}, expected {name}")));
        }
        Ok(Tensor {
            dtype,
            shape,
            bytes: value.bytes,
        })
    }

    /// The value that a program takes for it.
    pub fn into_value(self) -> Value {
        let row = self.dtype.row();
        let pair = (row.parts == 2).then_some(2);
        let sizes = self.shape.iter().map(|size| *size as u64);
        Value {
            element: row.storage,
            unsigned: row.storage.is_int() && row.element.class() == Class::Unsigned,
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
        let chunks = self.bytes.chunks_exact(self.dtype.size());
        chunks.map(|chunk| self.dtype.decode(chunk))
    }

    /// Its type and shape as text.
    pub fn title(&self) -> String {
        let sizes = self.shape.iter().map(|size| format!("{size}x"));
        sizes.chain([self.dtype.name().to_owned()]).collect()
    }

    /// The elements at these places, as a tensor of one dimension.
    pub fn sample(&self, places: &Array) -> Result<Tensor, Outcome> {
        let size = self.dtype.size() * self.dtype.parts();
        let mut bytes = Vec::new();
        for place in places.numbers() {
            let place = usize::try_from(place.to_int()).unwrap_or(usize::MAX);
            let element = self.bytes.chunks_exact(size).nth(place);
            let outside = || Outcome::failed(format!("there is no element {place}"));
            bytes.extend_from_slice(element.ok_or_else(outside)?);
        }
        Ok(Tensor {
            dtype: self.dtype,
            shape: vec![places.count()],
            bytes,
        })
    }
}

/// Largest finite value, by its bits.
const F8_MOST: u8 = 0x7e;

fn f8_to_f64(bits: u8) -> f64 {
    let (exponent, mantissa) = (i32::from(bits >> 3 & 15), f64::from(bits & 7));
    let magnitude = match (exponent, bits & 7) {
        (15, 7) => f64::NAN,
        (0, _) => mantissa * 2.0_f64.powi(-9),
        _ => (8.0 + mantissa) * 2.0_f64.powi(exponent - 10),
    };
    if bits >> 7 == 1 {
        -magnitude
    } else {
        magnitude
    }
}

/// To nearest, ties to even; NaN above what is finite.
fn f8_from(x: f64) -> u8 {
    let sign = u8::from(x.is_sign_negative()) << 7;
    let magnitude = x.abs();
    // Halfway between the largest value and the next that there would be.
    if magnitude.is_nan() || magnitude > 464.0 {
        return sign | 0x7f;
    }
    let below = (0..=F8_MOST).rev().find(|b| f8_to_f64(*b) <= magnitude);
    let below = below.unwrap_or(0);
    if below == F8_MOST {
        return sign | below;
    }
    let (low, high) = (f8_to_f64(below), f8_to_f64(below + 1));
    let (down, up) = (magnitude - low, high - magnitude);
    let rounds_up = up < down || (up == down && below % 2 == 1);
    sign | (below + u8::from(rounds_up))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_of_eight_bits() {
        for bits in 0..=255 {
            let x = f8_to_f64(bits);
            assert_eq!(f8_from(x) & 0x7f, bits & 0x7f, "{x}");
            assert_eq!(f8_from(x), bits, "{x}");
        }
        assert_eq!(f8_to_f64(0x38), 1.0);
        assert_eq!(f8_to_f64(F8_MOST), 448.0);
        let halfway = f64::midpoint(f8_to_f64(0x39), f8_to_f64(0x3a));
        assert_eq!((f8_from(halfway), f8_from(464.0)), (0x3a, F8_MOST));
        assert_eq!((f8_from(465.0), f8_from(-1e9)), (0x7f, 0xff));
    }

    #[test]
    fn values_of_programs() {
        let shapes = [("c64", vec![3, 2]), ("bf16", vec![3]), ("u4", vec![3])];
        for (name, outside) in shapes {
            let dtype = DType::by_name(name).unwrap();
            let tensor = Tensor {
                dtype,
                shape: vec![3],
                bytes: vec![1; 3 * dtype.parts() * dtype.size()],
            };
            let value = tensor.clone().into_value();
            assert_eq!(value.shape, outside);
            assert_eq!(Tensor::of_value(dtype, value.clone()).unwrap(), tensor);
            let other = DType::by_name("f64").unwrap();
            assert!(Tensor::of_value(other, value).is_err());
        }
    }

    #[test]
    fn names_are_found() {
        for (number, row) in ROWS.iter().enumerate() {
            assert_eq!(DType::by_name(row.name), Some(DType(number)));
        }
        assert_eq!(DType::by_name("f31"), None);
    }
}

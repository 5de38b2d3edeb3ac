//! NumPy's file format.
//!
//! Only dense arrays of the element types are read, in either byte order and either index order;
//! complex numbers become a last dimension of two real ones.
//! `bf16`, which NumPy lacks, is written as raw items of two bytes (`|V2`), as `ml_dtypes` does.

use super::npy_header::{read_header, write_header};
use super::{DataError, ElementArray, ElementType, measure_shape};

/// A type of elements in files.
struct NpyType {
    /// Class and size, without the byte order.
    text: &'static str,
    element: ElementType,
    /// Whether two elements are a complex number.
    is_complex: bool,
}

const fn define_type(text: &'static str, element: ElementType) -> NpyType {
    NpyType {
        text,
        element,
        is_complex: false,
    }
}

/// The types, those of real numbers first.
const TYPES: &[NpyType] = &[
    define_type("b1", ElementType::Bool),
    define_type("i1", ElementType::I8),
    define_type("i2", ElementType::I16),
    define_type("i4", ElementType::I32),
    define_type("i8", ElementType::I64),
    define_type("u1", ElementType::U8),
    define_type("u2", ElementType::U16),
    define_type("u4", ElementType::U32),
    define_type("u8", ElementType::U64),
    define_type("f2", ElementType::F16),
    define_type("f4", ElementType::F32),
    define_type("f8", ElementType::F64),
    define_type("V2", ElementType::BF16),
    NpyType {
        is_complex: true,
        ..define_type("c8", ElementType::F32)
    },
    NpyType {
        is_complex: true,
        ..define_type("c16", ElementType::F64)
    },
];

impl NpyType {
    /// Finds the type of a header's text, whose first character is the byte order.
    fn find(type_text: &str) -> Option<&'static NpyType> {
        let text = type_text.strip_prefix(['<', '>', '|'])?;
        let found = TYPES.iter().find(|known| known.text == text)?;
        let has_order = !type_text.starts_with('|');
        (has_order || !found.has_order()).then_some(found)
    }

    /// Whether elements have several bytes in an order.
    fn has_order(&self) -> bool {
        self.element.size() > 1 && self.element != ElementType::BF16
    }
}

/// Reads the array in the bytes of a `.npy` file.
///
/// # Errors
/// When they are no such file, are truncated, or hold something else than plain elements.
pub fn read_npy(bytes: &[u8]) -> Result<ElementArray, DataError> {
    let (header, rest) = read_header(bytes)?;
    let type_text = header.type_text;
    let Some(known) = NpyType::find(type_text) else {
        let message = format!("its type is {}", type_text.escape_debug());
        return Err(DataError::Npy(message));
    };
    let element = known.element;
    let items = header.shape;
    let (mut shape, mut item) = (items.clone(), element.size());
    if known.is_complex {
        shape.push(2);
        item *= 2;
    }
    let size = measure_shape(element, &shape).map(|(_, size)| size);
    if size != Some(rest.len()) {
        let message = format!(
            "its shape {shape:?} of {element} has no {} bytes",
            rest.len()
        );
        return Err(DataError::Npy(message));
    }
    let mut data = if header.is_fortran {
        transpose_elements(rest, item, &items)
    } else {
        rest.to_vec()
    };
    if type_text.starts_with('>') {
        data.chunks_exact_mut(element.size())
            .for_each(<[u8]>::reverse);
    }
    ElementArray::new(element, shape, data)
}

/// From first dimension fastest to last dimension fastest.
fn transpose_elements(bytes: &[u8], size: usize, shape: &[usize]) -> Vec<u8> {
    let mut strides = Vec::with_capacity(shape.len());
    let mut step = size;
    for d in shape {
        strides.push(step);
        step *= d;
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = vec![0; shape.len()];
    while out.len() < bytes.len() {
        let from: usize = at.iter().zip(&strides).map(|(i, s)| i * s).sum();
        out.extend_from_slice(&bytes[from..from + size]);
        for (i, d) in at.iter_mut().zip(shape).rev() {
            *i += 1;
            if *i < *d {
                break;
            }
            *i = 0;
        }
    }
    out
}

/// An array as the bytes of a `.npy` file.
///
/// # Errors
/// When it has more dimensions than a header has room for.
pub fn write_npy(array: &ElementArray) -> Result<Vec<u8>, DataError> {
    let known = TYPES.iter().find(|known| known.element == array.element());
    let header = known.and_then(|known| {
        let order = if known.has_order() { '<' } else { '|' };
        write_header(&format!("{order}{}", known.text), array.shape())
    });
    let too_large = || DataError::Npy("it has too many dimensions".to_owned());
    let mut out = header.ok_or_else(too_large)?;
    out.extend_from_slice(array.bytes());
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut out = b"\x93NUMPY\x01\x00".to_vec();
        out.extend_from_slice(&(header.len() as u16).to_le_bytes());
        out.extend_from_slice(header.as_bytes());
        out.extend_from_slice(data);
        out
    }

    #[test]
    fn every_type_reads_back() {
        for element in ElementType::iter_all() {
            for shape in [vec![], vec![3], vec![2, 3], vec![2, 0]] {
                let (_, size) = measure_shape(element, &shape).unwrap();
                let bytes = (0..size).map(|i| (i % 2) as u8).collect();
                let array = ElementArray::new(element, shape, bytes).unwrap();
                assert_eq!(read_npy(&write_npy(&array).unwrap()), Ok(array));
            }
        }
    }

    #[test]
    fn big_endian_and_column_order_are_brought_to_ours() {
        let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n";
        let array = read_npy(&build_file(header, &[0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6])).unwrap();
        assert_eq!(array.shape(), [2, 3]);
        assert_eq!(array.bytes(), [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0]);
    }

    #[test]
    fn types_have_a_byte_order_where_they_need_one() {
        for (text, element) in [
            ("<i1", Some(ElementType::I8)),
            ("|V2", Some(ElementType::BF16)),
            ("<V2", Some(ElementType::BF16)),
            (">f8", Some(ElementType::F64)),
            ("|f8", None),
            ("=f8", None),
            ("f8", None),
            ("<f16", None),
            ("<U5", None),
        ] {
            let found = NpyType::find(text).map(|known| known.element);
            assert_eq!(found, element, "{text}");
        }
    }

    #[test]
    fn complex_numbers_are_pairs() {
        let header = "{'descr': '<c8', 'fortran_order': True, 'shape': (1, 2), }\n";
        let numbers = [1.0_f32, 2.0, 3.0, 4.0].map(f32::to_le_bytes).concat();
        let array = read_npy(&build_file(header, &numbers)).unwrap();
        assert_eq!(array.shape_text(), "1x2x2xf32");
        assert_eq!(array.bytes(), numbers);
        assert!(read_npy(&build_file(header, &numbers[..8])).is_err());
    }

    #[test]
    fn every_truncation_is_an_error() {
        let array = ElementArray::new(ElementType::F32, vec![2], vec![7; 8]).unwrap();
        let whole = write_npy(&array).unwrap();
        for end in 0..whole.len() {
            assert!(read_npy(&whole[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn every_changed_byte_is_read_or_refused() {
        let array = ElementArray::new(ElementType::F32, vec![2], vec![7; 8]).unwrap();
        let whole = write_npy(&array).unwrap();
        for position in 0..whole.len() {
            for byte in 0..=u8::MAX {
                let mut changed = whole.clone();
                changed[position] = byte;
                // Any result is right, as long as there is one.
                let _ = read_npy(&changed);
            }
        }
    }

    #[test]
    fn hostile_headers_are_an_error() {
        let nested = "(".repeat(60_000);
        let huge = "{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999, 9999999999), }";
        let records = "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }";
        for header in [nested.as_str(), huge, records, "", "{}", "{'shape': 3"] {
            assert!(
                read_npy(&build_file(header, &[0; 4])).is_err(),
                "{header:.40}"
            );
        }
    }
}

//! NumPy's file format, through `npyz`.
//!
//! Only dense arrays of the element types are read, in either byte order and either index order;
//! complex numbers become a last dimension of two real ones.
//! `bf16`, which NumPy lacks, is written as raw items of two bytes (`|V2`), as `ml_dtypes` does.

use super::{DataError, ElementArray, ElementType, measure_shape};
use npyz::{DType, Endianness, NpyHeader, Order, TypeChar, TypeStr, WriteOptions, WriterBuilder};

/// Largest header that is read, in bytes: NumPy's own are below 200.
const MOST_HEADER: usize = 1 << 16;
/// Brackets in a header: as many as a tuple of dimensions in a dictionary has, and some to spare.
const MOST_BRACKETS: usize = 8;

/// Reads the array in the bytes of a `.npy` file.
///
/// # Errors
/// When they are no such file, are truncated, or hold something else than plain elements.
pub fn read_npy(bytes: &[u8]) -> Result<ElementArray, DataError> {
    check_header(bytes)?;
    let mut rest = bytes;
    let header = NpyHeader::from_reader(&mut rest).map_err(|e| DataError::Npy(e.to_string()))?;
    let DType::Plain(ty) = header.dtype() else {
        return Err(DataError::Npy("it holds records".to_owned()));
    };
    let known = element_of(&ty).ok_or_else(|| DataError::Npy(format!("its type is {ty}")))?;
    let (element, is_complex) = known;
    let shape: Option<Vec<usize>> = header
        .shape()
        .iter()
        .map(|d| (*d).try_into().ok())
        .collect();
    let mut shape = shape.ok_or_else(|| DataError::Npy("its shape is beyond memory".to_owned()))?;
    let (items, mut item) = (shape.clone(), element.size());
    if is_complex {
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
    let mut data = match header.order() {
        Order::C => rest.to_vec(),
        Order::Fortran => transpose_elements(rest, item, &items),
    };
    if ty.endianness() == Endianness::Big {
        data.chunks_exact_mut(element.size())
            .for_each(<[u8]>::reverse);
    }
    ElementArray::new(element, shape, data)
}

/// Refuses headers on which a general reader of Python literals would overflow.
fn check_header(bytes: &[u8]) -> Result<(), DataError> {
    let bad = |message: &str| Err(DataError::Npy(message.to_owned()));
    if !bytes.starts_with(b"\x93NUMPY") {
        return bad("it does not begin with NumPy's magic number");
    }
    let length = match bytes.get(6..) {
        Some([1, _, a, b, ..]) => usize::from(u16::from_le_bytes([*a, *b])) + 10,
        Some([2 | 3, _, a, b, c, d, ..]) => {
            (u32::from_le_bytes([*a, *b, *c, *d]) as usize).saturating_add(12)
        }
        Some([_, _, ..]) => return bad("its version is not 1 to 3"),
        _ => return bad("it is truncated"),
    };
    if length > MOST_HEADER {
        return bad("its header is too long");
    }
    let Some(header) = bytes.get(12..length) else {
        return bad("it is truncated");
    };
    if header.iter().filter(|b| b"([{".contains(b)).count() > MOST_BRACKETS {
        return bad("its header is nested");
    }
    let numbers = header.split(|b| !b.is_ascii_digit());
    let sizes = numbers.filter_map(|n| match std::str::from_utf8(n) {
        Ok("") | Err(_) => None,
        Ok(digits) => Some(digits.parse::<u64>().ok()),
    });
    let product = sizes
        .map(|n| n.map(|n| n.max(1)))
        .try_fold(1_u64, |product, n| product.checked_mul(n?));
    match product {
        Some(_) => Ok(()),
        None => bad("its shape is beyond memory"),
    }
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

/// The type of the elements, and whether two of them are a complex number.
fn element_of(ty: &TypeStr) -> Option<(ElementType, bool)> {
    let element = match (ty.type_char(), ty.size_field()) {
        (TypeChar::Bool, 1) => ElementType::Bool,
        (TypeChar::Int, 1) => ElementType::I8,
        (TypeChar::Int, 2) => ElementType::I16,
        (TypeChar::Int, 4) => ElementType::I32,
        (TypeChar::Int, 8) => ElementType::I64,
        (TypeChar::Uint, 1) => ElementType::U8,
        (TypeChar::Uint, 2) => ElementType::U16,
        (TypeChar::Uint, 4) => ElementType::U32,
        (TypeChar::Uint, 8) => ElementType::U64,
        (TypeChar::Float, 2) => ElementType::F16,
        (TypeChar::Float, 4) | (TypeChar::Complex, 8) => ElementType::F32,
        (TypeChar::Float, 8) | (TypeChar::Complex, 16) => ElementType::F64,
        (TypeChar::RawData, 2) => ElementType::BF16,
        _ => return None,
    };
    Some((element, ty.type_char() == TypeChar::Complex))
}

fn type_text(element: ElementType) -> &'static str {
    match element {
        ElementType::Bool => "|b1",
        ElementType::I8 => "|i1",
        ElementType::I16 => "<i2",
        ElementType::I32 => "<i4",
        ElementType::I64 => "<i8",
        ElementType::U8 => "|u1",
        ElementType::U16 => "<u2",
        ElementType::U32 => "<u4",
        ElementType::U64 => "<u8",
        ElementType::F16 => "<f2",
        ElementType::BF16 => "|V2",
        ElementType::F32 => "<f4",
        ElementType::F64 => "<f8",
    }
}

/// An array as the bytes of a `.npy` file.
///
/// # Errors
/// When the file format refuses it, which no array of ours makes it do.
pub fn write_npy(array: &ElementArray) -> Result<Vec<u8>, DataError> {
    let refused = |e: &dyn std::fmt::Display| DataError::Npy(e.to_string());
    let ty: TypeStr = type_text(array.element())
        .parse()
        .map_err(|e| refused(&e))?;
    let shape: Vec<u64> = array.shape().iter().map(|d| *d as u64).collect();
    let mut out = WriteOptions::new_header_only()
        .dtype(DType::Plain(ty))
        .shape(&shape)
        .writer(Vec::new())
        .write_header_only()
        .map_err(|e| refused(&e))?;
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

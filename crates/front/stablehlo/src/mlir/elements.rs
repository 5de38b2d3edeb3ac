//! Elements of tensors as bytes.
//!
//! Elements follow each other in row-major order, little-endian, each in whole bytes. `i1` is a
//! byte of 0 or 1; `i4` and `ui4` are the low bits of a byte with the others zero; `index` is eight
//! bytes; complex numbers are real part, imaginary part. If all elements are equal, one of them is
//! stored. So a constant of a million zeros costs as much as one zero.

use super::types::{MlirType, MlirTypeKind, MlirTypes};

/// Constant elements of a shaped type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DenseElements {
    /// A tensor or vector of static shape.
    pub ty: MlirType,
    /// Whether [`DenseElements::data`] has one element for all.
    pub splat: bool,
    /// The bytes.
    pub data: Box<[u8]>,
}

impl DenseElements {
    /// Elements of `width` bytes each; becomes a splat if all are equal.
    pub fn new(ty: MlirType, width: usize, mut data: Vec<u8>) -> DenseElements {
        let splat = is_splat(&data, width);
        if splat {
            data.truncate(width);
        }
        DenseElements {
            ty,
            splat,
            data: data.into_boxed_slice(),
        }
    }

    /// One element for all of a type that has elements.
    pub fn from_splat(ty: MlirType, element: &[u8]) -> DenseElements {
        DenseElements {
            ty,
            splat: true,
            data: element.into(),
        }
    }
}

impl MlirTypes {
    /// Elements of a type from bytes as MLIR writes them: those of all elements, or one for all, even if there are
    /// none. Integers of 1, 2 or 4 bits have a byte each, as in text since LLVM 23. In bytecode they are packed from
    /// the lowest bit on.
    ///
    /// # Errors
    /// The fault.
    pub(crate) fn elements_of_bytes(
        &self,
        ty: MlirType,
        bytes: Vec<u8>,
    ) -> Result<DenseElements, String> {
        let element = self.element_type(ty);
        let (Some(count), Some(width)) = (self.element_count(ty), self.element_bytes(element))
        else {
            return Err("the type has no elements of a fixed number and size".to_owned());
        };
        let length = bytes.len() as u64;
        let needed = count.saturating_mul(width as u64);
        let bits = match *self.kind(element) {
            MlirTypeKind::Integer { width, .. } if width < 8 => u64::from(width),
            _ => 8 * width as u64,
        };
        let dense = count.saturating_mul(bits).div_ceil(8);
        let is_splat = length == width as u64;
        if is_splat && count == 0 {
            return Ok(DenseElements::new(ty, width, Vec::new()));
        }
        // Up to eight Booleans are one byte, in which equal bits are a splat as well.
        let is_splat = is_splat && !(bits == 1 && count <= 8 && !matches!(bytes[..], [0 | 0xFF]));
        match length {
            _ if is_splat => Ok(DenseElements::from_splat(
                ty,
                &self.clear_unused_bits(element, bytes),
            )),
            _ if length == needed => Ok(DenseElements::new(
                ty,
                width,
                self.clear_unused_bits(element, bytes),
            )),
            _ if length == dense => {
                let elements = unpack_bits(&bytes, bits as u32, count as usize);
                Ok(DenseElements::new(ty, width, elements))
            }
            _ => Err(format!("{length} bytes stand where {dense} should")),
        }
    }

    /// Clears the bits above those of an element narrower than its byte.
    fn clear_unused_bits(&self, element: MlirType, mut bytes: Vec<u8>) -> Vec<u8> {
        let width = match *self.kind(element) {
            MlirTypeKind::Integer { width, .. } => width,
            MlirTypeKind::Float(float) => float.width(),
            _ => 8,
        };
        if width < 8 {
            let mask = (1 << width) - 1;
            bytes.iter_mut().for_each(|byte| *byte &= mask);
        }
        bytes
    }
}

/// Whether there are elements and all are equal.
fn is_splat(data: &[u8], width: usize) -> bool {
    if data.is_empty() || width == 0 {
        return false;
    }
    let (first, rest) = data.split_at(width.min(data.len()));
    // A shifted comparison is one call of memcmp instead of one for each element.
    rest.is_empty() || (rest.starts_with(first) && data[width..] == data[..data.len() - width])
}

/// Unpacks elements of 1, 2 or 4 bits, which follow each other from the lowest bit on, into bytes.
fn unpack_bits(packed: &[u8], bits: u32, count: usize) -> Vec<u8> {
    let in_byte = (8 / bits.max(1)) as usize;
    let mask = u8::MAX >> (8 - bits);
    let element = |at: usize| packed[at / in_byte] >> (at % in_byte * bits as usize) & mask;
    (0..count).map(element).collect()
}

/// The bits of `i1` elements, eight to a byte: the reverse of [`unpack_bits`].
pub(crate) fn pack_bits(bytes: &[u8]) -> Vec<u8> {
    let pack = |chunk: &[u8]| {
        let bits = chunk.iter().enumerate();
        bits.fold(0, |all, (at, &byte)| all | (byte & 1) << at)
    };
    bytes.chunks(8).map(pack).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_elements_are_found() {
        assert!(is_splat(&[1, 2, 1, 2, 1, 2], 2));
        assert!(is_splat(&[1, 2], 2));
        assert!(!is_splat(&[1, 2, 2, 1], 2));
        assert!(!is_splat(&[], 2));
    }

    #[test]
    fn bits_are_packed_and_unpacked() {
        let bytes = [1, 0, 1, 1, 0, 0, 0, 1, 1];
        assert_eq!(pack_bits(&bytes), [0b1000_1101, 1]);
        assert_eq!(unpack_bits(&pack_bits(&bytes), 1, 9), bytes);
        assert_eq!(unpack_bits(&[0b0001_1011, 0b10], 2, 5), [3, 2, 1, 0, 2]);
        assert_eq!(unpack_bits(&[0x21, 0x43, 0x05], 4, 5), [1, 2, 3, 4, 5]);
    }

    /// Both forms of narrow integers, at every number of elements, and bytes that are neither.
    #[test]
    fn narrow_integers_have_a_byte_each_or_are_dense() {
        let mut types = MlirTypes::default();
        for bits in [1, 2, 4] {
            let element = types.integer_type(bits);
            for count in 0..40usize {
                let ty = types.tensor_type(&[count as u64], element);
                let wanted: Vec<u8> = (0..count)
                    .map(|at| (at * 7 / 3 % (1 << bits)) as u8)
                    .collect();
                let in_byte = 8 / bits as usize;
                let fold = |all, (at, v): (usize, &u8)| all | v << (at * bits as usize);
                let dense = wanted
                    .chunks(in_byte)
                    .map(|chunk| chunk.iter().enumerate().fold(0, fold));
                let dense: Vec<u8> = dense.collect();
                let is_ambiguous = dense.len() == 1 && wanted.len() > 1 && bits > 1;
                let mut forms = vec![wanted.clone()];
                forms.extend((!is_ambiguous).then_some(dense));
                for form in forms {
                    let length = form.len();
                    let found = types.elements_of_bytes(ty, form).unwrap();
                    let expected = DenseElements::new(ty, 1, wanted.clone());
                    assert_eq!(found, expected, "{count} of i{bits} in {length} bytes");
                }
                let splat = types.elements_of_bytes(ty, vec![0]).unwrap();
                assert_eq!(splat.splat, count > 0);
                assert!(types.elements_of_bytes(ty, vec![0; count + 2]).is_err());
            }
        }
        let real = types.float_type(crate::mlir::MlirFloat::F32);
        let ty = types.tensor_type(&[0, 3], real);
        let none = types.elements_of_bytes(ty, vec![0, 0, 128, 63]).unwrap();
        assert!(!none.splat && none.data.is_empty());
    }
}

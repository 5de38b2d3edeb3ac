//! Elements of tensors as bytes.
//!
//! Elements follow each other in row-major order, little-endian, each in whole bytes: `i1` is a
//! byte of 0 or 1, `i4` and `ui4` the low bits of a byte with the others zero, `index` is eight
//! bytes, complex numbers are real part, imaginary part. If all elements are equal, one of them
//! is stored: so a constant of a million zeros costs as much as one zero.

use super::types::{Type, TypeKind, Types};

/// Constant elements of a shaped type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Elements {
    /// A tensor or vector of static shape.
    pub ty: Type,
    /// Whether [`Elements::data`] has one element, which stands for all.
    pub splat: bool,
    /// The bytes.
    pub data: Box<[u8]>,
}

impl Elements {
    /// Elements of `width` bytes each; becomes a splat if all are equal.
    pub fn new(ty: Type, width: usize, mut data: Vec<u8>) -> Elements {
        let splat = is_splat(&data, width);
        if splat {
            data.truncate(width);
        }
        Elements {
            ty,
            splat,
            data: data.into_boxed_slice(),
        }
    }

    /// An element that stands for all of a type that has elements.
    pub fn splat(ty: Type, element: &[u8]) -> Elements {
        Elements {
            ty,
            splat: true,
            data: element.into(),
        }
    }
}

impl Types {
    /// Elements of a type from the bytes that MLIR keeps, in which `i1` is a bit: those of all
    /// elements, or of one that stands for all.
    ///
    /// # Errors
    /// What is wrong.
    pub(crate) fn elements_of_bytes(&self, ty: Type, bytes: Vec<u8>) -> Result<Elements, String> {
        let element = self.element(ty);
        let (Some(count), Some(width)) = (self.elements(ty), self.element_bytes(element)) else {
            return Err("the type has no elements of a fixed number and size".to_owned());
        };
        let length = bytes.len() as u64;
        if let TypeKind::Integer { width: 1, .. } = self.kind(element) {
            return match bytes.as_slice() {
                // One byte of equal bits stands for all elements.
                [all @ (0 | 0xFF)] if count > 0 => Ok(Elements::splat(ty, &[all & 1])),
                _ if length == count.div_ceil(8) => {
                    Ok(Elements::new(ty, 1, unpack_bits(&bytes, count as usize)))
                }
                _ => Err(format!(
                    "{length} bytes stand where {} should",
                    count.div_ceil(8)
                )),
            };
        }
        let needed = count.saturating_mul(width as u64);
        match length {
            _ if length == needed => Ok(Elements::new(ty, width, self.clean(element, bytes))),
            _ if length == width as u64 && count > 0 => {
                Ok(Elements::splat(ty, &self.clean(element, bytes)))
            }
            _ => Err(format!("{length} bytes stand where {needed} should")),
        }
    }

    /// Clears the bits above those of an element narrower than its byte.
    fn clean(&self, element: Type, mut bytes: Vec<u8>) -> Vec<u8> {
        let width = match *self.kind(element) {
            TypeKind::Integer { width, .. } => width,
            TypeKind::Float(float) => float.width(),
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

/// Puts bits of `i1` elements, eight to a byte from the lowest, into bytes.
fn unpack_bits(packed: &[u8], count: usize) -> Vec<u8> {
    (0..count)
        .map(|at| packed[at / 8] >> (at % 8) & 1)
        .collect()
}

/// The reverse of [`unpack_bits`].
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
        assert_eq!(unpack_bits(&pack_bits(&bytes), 9), bytes);
    }
}

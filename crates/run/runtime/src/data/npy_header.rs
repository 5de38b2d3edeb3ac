//! Headers of NumPy's file format: a magic number, a version, and a dictionary in Python's notation.
//!
//! Source: R. Kern, NumPy Enhancement Proposal 1, "A Simple File Format for NumPy Arrays".

use super::DataError;

/// The first bytes of a file.
const MAGIC: &[u8] = b"\x93NUMPY";
/// Largest header that is read, in bytes: NumPy's own are below 200.
const MOST_HEADER: usize = 1 << 16;
/// The elements begin at a multiple of this number of bytes.
const ALIGNMENT: usize = 64;
/// Bytes of the largest element, a pair of `f64`.
const MOST_ELEMENT: usize = 16;

/// The elements after a header: their type, order and shape.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NpyHeader<'a> {
    /// Byte order, class and size of an element, such as `<f4`.
    pub(super) type_text: &'a str,
    /// Whether the first dimension is the fastest.
    pub(super) is_fortran: bool,
    pub(super) shape: Vec<usize>,
}

/// Reads the header of a file. The second part of the result is the bytes after it.
pub(super) fn read_header(bytes: &[u8]) -> Result<(NpyHeader<'_>, &[u8]), DataError> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return Err(fail("it does not begin with NumPy's magic number"));
    };
    let (length, rest) = match rest {
        [1, _, a, b, rest @ ..] => (usize::from(u16::from_le_bytes([*a, *b])), rest),
        [2 | 3, _, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
        [] | [1..=3, ..] => return Err(fail("it is truncated")),
        _ => return Err(fail("its version is not 1 to 3")),
    };
    if length > MOST_HEADER {
        return Err(fail("its header is too long"));
    }
    let Some((header, data)) = rest.split_at_checked(length) else {
        return Err(fail("it is truncated"));
    };
    let text = std::str::from_utf8(header).map_err(|_| fail("its header is no text"))?;
    Ok((HeaderReader { rest: text }.read_dictionary()?, data))
}

/// The header of an array whose last dimension is the fastest. `None` if it has too many dimensions for one.
pub(super) fn write_header(type_text: &str, shape: &[usize]) -> Option<Vec<u8>> {
    let sizes: String = shape.iter().map(|size| format!("{size}, ")).collect();
    let mut text =
        format!("{{'descr': '{type_text}', 'fortran_order': False, 'shape': ({sizes}), }}");
    let begin = MAGIC.len() + 4;
    let padding = ALIGNMENT - 1 - (begin + text.len()) % ALIGNMENT;
    text.extend(std::iter::repeat_n(' ', padding));
    text.push('\n');
    let length = u16::try_from(text.len()).ok()?.to_le_bytes();
    Some([MAGIC, &[1, 0], &length, text.as_bytes()].concat())
}

fn fail(message: &str) -> DataError {
    DataError::Npy(message.to_owned())
}

/// Reader of the dictionary of a header.
struct HeaderReader<'a> {
    rest: &'a str,
}

impl<'a> HeaderReader<'a> {
    fn read_dictionary(mut self) -> Result<NpyHeader<'a>, DataError> {
        let (mut type_text, mut is_fortran, mut shape) = (None, None, None);
        self.expect("{")?;
        while !self.eat("}") {
            let key = self.read_string()?;
            self.expect(":")?;
            match key {
                "descr" => type_text = Some(self.read_type()?),
                "fortran_order" => is_fortran = Some(self.read_truth()?),
                "shape" => shape = Some(self.read_shape()?),
                _ => return Err(fail("its header has an unknown key")),
            }
            if !self.eat(",") {
                self.expect("}")?;
                break;
            }
        }
        if !self.rest.trim_ascii().is_empty() {
            return Err(fail("its header is malformed"));
        }
        match (type_text, is_fortran, shape) {
            (Some(type_text), Some(is_fortran), Some(shape)) => Ok(NpyHeader {
                type_text,
                is_fortran,
                shape,
            }),
            _ => Err(fail("its header lacks a key")),
        }
    }

    fn read_type(&mut self) -> Result<&'a str, DataError> {
        if self.eat("[") {
            return Err(fail("it holds records"));
        }
        self.read_string()
    }

    fn read_truth(&mut self) -> Result<bool, DataError> {
        if self.eat("True") {
            return Ok(true);
        }
        self.expect("False").map(|()| false)
    }

    /// A tuple or list of sizes. Their product fits memory even where a size is 0, so that strides do not overflow.
    fn read_shape(&mut self) -> Result<Vec<usize>, DataError> {
        let close = if self.eat("[") {
            "]"
        } else {
            self.expect("(")?;
            ")"
        };
        let mut shape = Vec::new();
        while !self.eat(close) {
            shape.push(self.read_size()?);
            if !self.eat(",") {
                self.expect(close)?;
                break;
            }
        }
        let mut sizes = shape.iter().map(|size: &usize| (*size).max(1));
        let bytes = sizes.try_fold(MOST_ELEMENT, usize::checked_mul);
        bytes.ok_or_else(|| fail("its shape is beyond memory"))?;
        Ok(shape)
    }

    fn read_size(&mut self) -> Result<usize, DataError> {
        let rest = self.rest.trim_ascii_start();
        let end = rest.find(|c: char| !c.is_ascii_digit());
        let (digits, rest) = rest.split_at(end.unwrap_or(rest.len()));
        if digits.is_empty() {
            return Err(fail("its header is malformed"));
        }
        self.rest = rest;
        digits
            .parse()
            .map_err(|_| fail("its shape is beyond memory"))
    }

    /// A string in quotes of either kind, without escapes.
    fn read_string(&mut self) -> Result<&'a str, DataError> {
        let rest = self.rest.trim_ascii_start();
        let quote = ['\'', '"'].into_iter().find(|c| rest.starts_with(*c));
        let parts = quote.and_then(|quote| rest[1..].split_once(quote));
        let (text, rest) = parts.ok_or_else(|| fail("its header is malformed"))?;
        self.rest = rest;
        Ok(text)
    }

    /// Takes a mark or word if it follows, after blanks.
    fn eat(&mut self, mark: &str) -> bool {
        match self.rest.trim_ascii_start().strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, mark: &str) -> Result<(), DataError> {
        if self.eat(mark) {
            Ok(())
        } else {
            Err(fail("its header is malformed"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<NpyHeader<'_>, DataError> {
        HeaderReader { rest: text }.read_dictionary()
    }

    #[test]
    fn headers_are_those_of_numpy() {
        let header = write_header("<f4", &[2, 3]).unwrap();
        assert_eq!(header.len(), 128);
        let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, ), }";
        assert!(header.starts_with(b"\x93NUMPY\x01\0\x76\0"));
        assert_eq!(header[10..10 + text.len()], *text.as_bytes());
        assert!(header.ends_with(b" \n"));
        let (read, rest) = read_header(&header).unwrap();
        assert_eq!((read.type_text, read.is_fortran), ("<f4", false));
        assert_eq!((read.shape, rest), (vec![2, 3], &[][..]));
    }

    #[test]
    fn keys_are_in_any_order() {
        let read = read_text("{ \"shape\":[ 7 ],'fortran_order':True , 'descr':'|u1'}\n").unwrap();
        assert_eq!((read.type_text, read.is_fortran), ("|u1", true));
        assert_eq!(read.shape, [7]);
    }

    #[test]
    fn later_versions_have_longer_headers() {
        let text = b"{'descr': '<i2', 'fortran_order': False, 'shape': ()}";
        let length = (text.len() as u32).to_le_bytes();
        let file = [MAGIC, &[2, 0], &length, text, &[1, 2]].concat();
        let (header, rest) = read_header(&file).unwrap();
        assert_eq!((header.shape.len(), rest), (0, &[1, 2][..]));
    }

    #[test]
    fn malformed_dictionaries_are_refused() {
        for text in [
            "",
            "{}",
            "{'descr': '<f4'",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
            "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 9223372036854775807)}",
        ] {
            assert!(read_text(text).is_err(), "{text}");
        }
    }
}

//! Byte cursor: a position in a part of the input, and the primitives of the format.

use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// Results of readers.
pub(crate) type BytecodeResult<T> = Result<T, Box<SourceDiagnostic>>;

/// A part of the input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BytecodeCursor<'a> {
    bytes: &'a [u8],
    pos: usize,
    /// Start of the part in the input.
    base: usize,
}

impl<'a> BytecodeCursor<'a> {
    pub fn new(bytes: &'a [u8], base: usize) -> Self {
        BytecodeCursor {
            bytes,
            pos: 0,
            base,
        }
    }

    pub fn source_location(&self) -> SourceLocation {
        SourceLocation::Byte((self.base + self.pos) as u64)
    }

    pub fn report_error<T>(&self, message: impl Into<String>) -> BytecodeResult<T> {
        Err(Box::new(SourceDiagnostic::error(
            self.source_location(),
            message,
        )))
    }

    pub fn is_empty(&self) -> bool {
        self.pos >= self.bytes.len()
    }

    /// Bytes that are left.
    pub fn remaining_bytes(&self) -> usize {
        self.bytes.len() - self.pos
    }

    pub fn read_byte(&mut self) -> BytecodeResult<u8> {
        Ok(self.take_bytes(1)?[0])
    }

    /// Reads `count` bytes.
    pub fn take_bytes(&mut self, count: usize) -> BytecodeResult<&'a [u8]> {
        match self.bytes[self.pos..].get(..count) {
            Some(bytes) => {
                self.pos += count;
                Ok(bytes)
            }
            None => self.report_error("the input ends too early"),
        }
    }

    /// Reads a part of `count` bytes.
    pub fn take_subcursor(&mut self, count: usize) -> BytecodeResult<BytecodeCursor<'a>> {
        let base = self.base + self.pos;
        Ok(BytecodeCursor::new(self.take_bytes(count)?, base))
    }

    /// A number of one to nine bytes; the trailing zeros of the first byte are the number of
    /// further bytes.
    pub fn read_varint(&mut self) -> BytecodeResult<u64> {
        let first = self.read_byte()?;
        let more = first.trailing_zeros().min(8) as usize;
        let mut bytes = [0; 8];
        bytes[..more].copy_from_slice(self.take_bytes(more)?);
        let rest = u64::from_le_bytes(bytes);
        Ok(match more {
            8 => rest,
            7 => rest,
            _ => u64::from(first >> (more + 1)) | rest << (7 - more),
        })
    }

    /// A number whose sign is its lowest bit.
    pub fn read_signed_varint(&mut self) -> BytecodeResult<i64> {
        let number = self.read_varint()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// A number and a flag in its lowest bit.
    pub fn read_flagged_varint(&mut self) -> BytecodeResult<(u64, bool)> {
        let number = self.read_varint()?;
        Ok((number >> 1, number & 1 == 1))
    }

    /// A number of entries that take at least one byte each.
    pub fn read_count(&mut self) -> BytecodeResult<usize> {
        let count = self.read_varint()?;
        self.check_count(count)
    }

    /// A number of entries that take at least one byte each.
    pub fn check_count(&self, count: u64) -> BytecodeResult<usize> {
        match usize::try_from(count) {
            Ok(count) if count <= self.remaining_bytes() => Ok(count),
            _ => self.report_error(format!(
                "{count} entries do not fit into {} bytes",
                self.remaining_bytes()
            )),
        }
    }

    pub fn read_blob(&mut self) -> BytecodeResult<&'a [u8]> {
        let count = self.read_count()?;
        self.take_bytes(count)
    }

    pub fn signed_list(&mut self) -> BytecodeResult<Vec<i64>> {
        let count = self.read_count()?;
        (0..count).map(|_| self.read_signed_varint()).collect()
    }

    /// Bytes up to a zero, which is skipped.
    pub fn read_terminated_bytes(&mut self) -> BytecodeResult<&'a [u8]> {
        let rest = &self.bytes[self.pos..];
        match rest.iter().position(|&byte| byte == 0) {
            Some(length) => {
                self.pos += length + 1;
                Ok(&rest[..length])
            }
            None => self.report_error("a text has no end"),
        }
    }

    /// Skips padding up to an address of this alignment.
    pub fn skip_padding(&mut self, alignment: u64) -> BytecodeResult<()> {
        let at = (self.base + self.pos) as u64;
        if !alignment.is_power_of_two() || alignment > 1 << 32 {
            return self.report_error("an alignment is a power of two");
        }
        let skipped = at.next_multiple_of(alignment) - at;
        self.take_bytes(skipped as usize).map(|_| ())
    }

    /// A section: its number and what is in it.
    pub fn read_section(&mut self) -> BytecodeResult<(u8, BytecodeCursor<'a>)> {
        let id = self.read_byte()?;
        let length = self.read_varint()?;
        if id & 0x80 != 0 {
            let alignment = self.read_varint()?;
            self.skip_padding(alignment)?;
        }
        let length = self.check_count(length)?;
        Ok((id & 0x7F, self.take_subcursor(length)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length() {
        let read = |bytes: &[u8]| {
            BytecodeCursor::new(bytes, 0)
                .read_varint()
                .expect("a number")
        };
        assert_eq!(read(&[0x0D]), 6);
        assert_eq!(read(&[0x02, 0x20]), 0x800);
        assert_eq!(read(&[0x80, 1, 2, 0, 0, 0, 0, 0]), 0x201);
        assert_eq!(read(&[0, 1, 0, 0, 0, 0, 0, 0, 0x80]), 1 << 63 | 1);
        assert_eq!(
            BytecodeCursor::new(&[0x07], 0)
                .read_signed_varint()
                .expect("a number"),
            -2
        );
    }
}

//! Bitstream reader: bitcode's container format, a stream of bits that is divided into blocks of
//! records.
//!
//! See "LLVM Bitcode File Format" in LLVM's documentation.
//!
//! Invariants: `pos <= end`, and `end` never passes the end of the data. Every count is checked
//! against the bits that remain before anything is allocated for it. All records are read into one
//! buffer, which is reused.

use crate::LlvmResult;
use crate::error_at;
use spirula_diagnostics::SourceLocation;

/// One operand of an abbreviation: it says how one field of a record is encoded.
#[derive(Clone, Copy, Debug)]
enum AbbreviationOp {
    Literal(u64),
    Fixed(u32),
    Vbr(u32),
    Char6,
    /// An array; the next operand encodes its elements.
    Array,
    Blob,
}

/// An abbreviation: a range of the pool of abbreviation operands.
#[derive(Clone, Copy, Debug)]
struct BitcodeAbbreviation {
    start: u32,
    len: u32,
}

/// The reader's state outside of a block, which is restored when the block ends.
#[derive(Clone, Copy, Debug)]
struct BitcodeBlockScope {
    width: u32,
    end: usize,
    abbreviations: usize,
}

/// A record. Its memory is reused for the next record.
#[derive(Debug, Default)]
pub struct BitcodeRecord<'a> {
    /// The meaning of the record, which depends on the block.
    pub code: u64,
    /// Its operands.
    pub ops: Vec<u64>,
    /// The record's blob; empty if its abbreviation has none.
    pub blob: &'a [u8],
    /// Position of the record's first bit.
    pub at: usize,
}

/// An entry of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitstreamEntry {
    /// A record, which is now in the buffer.
    Record,
    /// A block of this kind begins. The caller enters or skips it.
    Block(u64),
    /// The end of the block, or of the stream at the top level.
    End,
}

/// A reader of bits, blocks and records.
#[derive(Debug)]
pub struct BitstreamReader<'a> {
    data: &'a [u8],
    pos: usize,
    end: usize,
    width: u32,
    scopes: Vec<BitcodeBlockScope>,
    pieces: Vec<AbbreviationOp>,
    /// Abbreviations in force; those of outer blocks come first.
    abbreviations: Vec<BitcodeAbbreviation>,
    /// Abbreviations that `BLOCKINFO` gives to all blocks of a kind: kind, abbreviation.
    preset: Vec<(u64, BitcodeAbbreviation)>,
}

/// Greatest nesting depth of blocks. The files that LLVM writes stay below 5.
const MAX_NESTING: usize = 32;
/// Greatest width of a fixed field, of a VBR chunk, and of an abbreviation number.
const MAX_WIDTH: u64 = 32;

/// Number of bits that one read is sure to deliver: a 64-bit word begins within its first byte.
const WINDOW: u32 = 57;

const CHAR6: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";

impl<'a> BitstreamReader<'a> {
    /// A reader of a stream that starts after the first `skip` bits.
    pub fn new(data: &'a [u8], skip: usize) -> Self {
        BitstreamReader {
            data,
            pos: skip.min(data.len() * 8),
            end: data.len() * 8,
            width: 2,
            scopes: Vec::new(),
            pieces: Vec::new(),
            abbreviations: Vec::new(),
            preset: Vec::new(),
        }
    }

    /// The position of the next bit.
    pub fn place(&self) -> SourceLocation {
        SourceLocation::Bit(self.pos as u64)
    }

    /// Number of bits left in this block.
    pub fn remaining(&self) -> usize {
        self.end - self.pos
    }

    #[cold]
    fn fail_with<T>(&self, message: impl Into<String>) -> LlvmResult<T> {
        Err(error_at(self.place(), message))
    }

    /// Reads a number of fixed width, at most 64 bits.
    #[inline(always)]
    pub fn read_fixed(&mut self, width: u32) -> LlvmResult<u64> {
        if width > WINDOW {
            return self.read_two_words(width);
        }
        let bits = self.peek_window() & ((1 << width) - 1);
        self.skip_bits(width)?;
        Ok(bits)
    }

    /// Reads a number that may extend past one window.
    #[cold]
    fn read_two_words(&mut self, width: u32) -> LlvmResult<u64> {
        let mut half = |width: u32| -> LlvmResult<u64> {
            let bits = self.peek_window() & ((1 << width) - 1);
            self.skip_bits(width)?;
            Ok(bits)
        };
        let low = half(32)?;
        Ok(low | half(width - 32)? << 32)
    }

    /// The next [`WINDOW`] bits, and perhaps more. Bits past the end of the data are zero.
    #[inline(always)]
    fn peek_window(&self) -> u64 {
        let rest = self.data.get(self.pos / 8..).unwrap_or(&[]);
        let word = match rest.first_chunk::<8>() {
            Some(word) => u64::from_le_bytes(*word),
            None => last_word(rest),
        };
        word >> (self.pos % 8)
    }

    /// Skips this number of bits of the block.
    #[inline(always)]
    fn skip_bits(&mut self, bits: u32) -> LlvmResult<()> {
        let next = self.pos + bits as usize;
        if next > self.end {
            return self.fail_with("the bitcode ends early");
        }
        self.pos = next;
        Ok(())
    }

    /// Reads a variable-width number (VBR) in chunks of `width` bits, 2 to 32.
    #[inline(always)]
    pub fn read_vbr(&mut self, width: u32) -> LlvmResult<u64> {
        let more = 1 << (width - 1);
        let window = self.peek_window();
        if window & more != 0 {
            return self.read_long_vbr(width);
        }
        self.skip_bits(width)?;
        Ok(window & (more - 1))
    }

    /// Reads a VBR number of several chunks. Usually all of them are in one window.
    #[inline]
    fn read_long_vbr(&mut self, width: u32) -> LlvmResult<u64> {
        let more = 1 << (width - 1);
        let mut rest = self.peek_window();
        let (mut value, mut shift, mut taken) = (0, 0, 0);
        while taken + width <= WINDOW {
            value |= (rest & (more - 1)) << shift;
            taken += width;
            if rest & more == 0 {
                self.skip_bits(taken)?;
                return Ok(value);
            }
            rest >>= width;
            shift += width - 1;
        }
        self.skip_bits(taken)?;
        self.continue_long_vbr(width, value, shift)
    }

    /// Continues a VBR number that is longer than one window.
    #[cold]
    fn continue_long_vbr(&mut self, width: u32, mut value: u64, mut shift: u32) -> LlvmResult<u64> {
        let more = 1 << (width - 1);
        loop {
            if shift >= 64 {
                return self.fail_with("a number of more than 64 bits");
            }
            let chunk = self.read_fixed(width)?;
            value |= (chunk & (more - 1)) << shift;
            shift += width - 1;
            if chunk & more == 0 {
                return Ok(value);
            }
        }
    }

    fn align_to_word(&mut self) {
        self.pos = self.pos.next_multiple_of(32).min(self.end);
    }

    /// Whether only padding remains.
    pub fn at_end(&self) -> bool {
        self.remaining() < 32
    }

    /// Reads up to the next entry of the block. Definitions of abbreviations on the way are
    /// recorded.
    pub fn next_entry(&mut self, record: &mut BitcodeRecord<'a>) -> LlvmResult<BitstreamEntry> {
        loop {
            if self.scopes.is_empty() && self.at_end() {
                return Ok(BitstreamEntry::End);
            }
            record.at = self.pos;
            match self.read_fixed(self.width)? {
                0 => {
                    self.leave_block()?;
                    return Ok(BitstreamEntry::End);
                }
                1 => return Ok(BitstreamEntry::Block(self.read_vbr(8)?)),
                2 => {
                    let abbreviation = self.define_abbreviation()?;
                    self.abbreviations.push(abbreviation);
                }
                3 => {
                    self.read_unabbreviated(record)?;
                    return Ok(BitstreamEntry::Record);
                }
                number => {
                    self.read_abbreviated(number as usize - 4, record)?;
                    return Ok(BitstreamEntry::Record);
                }
            }
        }
    }

    /// Reads the next record of the block. Blocks in it are skipped. Returns whether there was one before the end of the block.
    pub fn next_record(&mut self, record: &mut BitcodeRecord<'a>) -> LlvmResult<bool> {
        loop {
            match self.next_entry(record)? {
                BitstreamEntry::End => return Ok(false),
                BitstreamEntry::Block(_) => self.skip_block()?,
                BitstreamEntry::Record => return Ok(true),
            }
        }
    }

    /// Enters the block of kind `kind` that [`BitstreamEntry::Block`] announced.
    pub fn enter_block(&mut self, kind: u64) -> LlvmResult<()> {
        let (width, end) = self.read_block_header()?;
        if self.scopes.len() >= MAX_NESTING {
            return self.fail_with("blocks nest too deeply");
        }
        let abbreviations = self.abbreviations.len();
        self.scopes.push(BitcodeBlockScope {
            width: self.width,
            end: self.end,
            abbreviations,
        });
        self.width = width;
        self.end = end;
        for index in 0..self.preset.len() {
            if self.preset[index].0 == kind {
                self.abbreviations.push(self.preset[index].1);
            }
        }
        Ok(())
    }

    /// Skips the block that [`BitstreamEntry::Block`] announced.
    pub fn skip_block(&mut self) -> LlvmResult<()> {
        self.pos = self.read_block_header()?.1;
        Ok(())
    }

    fn read_block_header(&mut self) -> LlvmResult<(u32, usize)> {
        let width = self.read_vbr(4)?;
        if !(2..=MAX_WIDTH).contains(&width) {
            return self.fail_with("abbreviation numbers of an impossible width");
        }
        self.align_to_word();
        let bits = self.read_fixed(32)? as usize * 32;
        if bits > self.remaining() {
            return self.fail_with("a block reaches past the end of the bitcode");
        }
        Ok((width as u32, self.pos + bits))
    }

    fn leave_block(&mut self) -> LlvmResult<()> {
        self.align_to_word();
        let Some(scope) = self.scopes.pop() else {
            return self.fail_with("the end of a block outside of any block");
        };
        self.width = scope.width;
        self.pos = self.end;
        self.end = scope.end;
        self.abbreviations.truncate(scope.abbreviations);
        Ok(())
    }

    fn in_scope(&self) -> usize {
        self.scopes.last().map_or(0, |scope| scope.abbreviations)
    }

    /// Reads a block of kind 0 (`BLOCKINFO`), which defines abbreviations for blocks of other
    /// kinds.
    pub fn read_block_info(&mut self) -> LlvmResult<()> {
        self.enter_block(0)?;
        let mut record = BitcodeRecord::default();
        let mut kind = None;
        loop {
            match self.read_fixed(self.width)? {
                0 => return self.leave_block(),
                1 => {
                    self.read_vbr(8)?;
                    self.skip_block()?;
                }
                2 => {
                    let abbreviation = self.define_abbreviation()?;
                    let Some(kind) = kind else {
                        return self.fail_with("an abbreviation without a kind of block");
                    };
                    self.preset.push((kind, abbreviation));
                }
                3 => {
                    self.read_unabbreviated(&mut record)?;
                    if record.code == 1 {
                        kind = record.ops.first().copied();
                    }
                }
                _ => return self.fail_with("an abbreviated record in the block of abbreviations"),
            }
        }
    }

    fn define_abbreviation(&mut self) -> LlvmResult<BitcodeAbbreviation> {
        let start = self.pieces.len();
        let count = self.read_vbr(5)? as usize;
        if count > self.remaining() {
            return self.fail_with("an abbreviation reaches past the end of its block");
        }
        for index in 0..count {
            let piece = self.define_abbreviation_op(index, count)?;
            self.pieces.push(piece);
        }
        self.check_abbreviation(start)?;
        Ok(BitcodeAbbreviation {
            start: start as u32,
            len: count as u32,
        })
    }

    fn define_abbreviation_op(&mut self, index: usize, count: usize) -> LlvmResult<AbbreviationOp> {
        if self.read_fixed(1)? == 1 {
            return Ok(AbbreviationOp::Literal(self.read_vbr(8)?));
        }
        let encoding = self.read_fixed(3)?;
        let width = match encoding {
            1 | 2 => self.read_vbr(5)?,
            _ => 1,
        };
        if width > MAX_WIDTH && !(encoding == 1 && width <= 64) {
            return self.fail_with("a field of an impossible width");
        }
        Ok(match encoding {
            1 | 2 if width == 0 => AbbreviationOp::Literal(0),
            1 => AbbreviationOp::Fixed(width as u32),
            2 if width == 1 => return self.fail_with("a field of an impossible width"),
            2 => AbbreviationOp::Vbr(width as u32),
            3 if index + 2 == count => AbbreviationOp::Array,
            4 => AbbreviationOp::Char6,
            5 if index + 1 == count => AbbreviationOp::Blob,
            _ => return self.fail_with("an abbreviation with an unknown encoding"),
        })
    }

    /// Checks an abbreviation. Array elements must take at least one bit each, so that counts can
    /// be checked. The code of a record must be a number.
    fn check_abbreviation(&self, start: usize) -> LlvmResult<()> {
        let pieces = &self.pieces[start..];
        let element_ok = match pieces {
            [.., AbbreviationOp::Array, last] => {
                matches!(
                    last,
                    AbbreviationOp::Fixed(_) | AbbreviationOp::Vbr(_) | AbbreviationOp::Char6
                )
            }
            _ => true,
        };
        match pieces.first() {
            Some(AbbreviationOp::Array | AbbreviationOp::Blob) | None => {
                self.fail_with("an abbreviation without a code")
            }
            _ if !element_ok => self.fail_with("an array of elements without a width"),
            _ => Ok(()),
        }
    }

    fn read_unabbreviated(&mut self, record: &mut BitcodeRecord<'a>) -> LlvmResult<()> {
        record.ops.clear();
        record.blob = &[];
        record.code = self.read_vbr(6)?;
        let count = self.read_vbr(6)?;
        if count > self.remaining() as u64 / 6 {
            return self.fail_with("a record reaches past the end of its block");
        }
        record.ops.reserve(count as usize);
        self.read_elements(count, &mut record.ops, |bits| bits.read_vbr(6))
    }

    fn read_abbreviated(
        &mut self,
        number: usize,
        record: &mut BitcodeRecord<'a>,
    ) -> LlvmResult<()> {
        let Some(&abbreviation) = self.abbreviations.get(self.in_scope() + number) else {
            return self.fail_with("a record with an abbreviation that is not defined");
        };
        record.ops.clear();
        record.blob = &[];
        let range = abbreviation.start as usize..(abbreviation.start + abbreviation.len) as usize;
        let pieces = std::mem::take(&mut self.pieces);
        let result = self.read_abbreviation_fields(&pieces[range], record);
        self.pieces = pieces;
        result
    }

    fn read_abbreviation_fields(
        &mut self,
        pieces: &[AbbreviationOp],
        record: &mut BitcodeRecord<'a>,
    ) -> LlvmResult<()> {
        let (mut pieces, Some(&code)) = (pieces.iter(), pieces.first()) else {
            return self.fail_with("an abbreviation without a code");
        };
        pieces.next();
        record.code = self.read_scalar(code)?;
        while let Some(&piece) = pieces.next() {
            match piece {
                AbbreviationOp::Array => {
                    let element = pieces.next().copied().unwrap_or(AbbreviationOp::Array);
                    self.read_array(element, &mut record.ops)?;
                }
                AbbreviationOp::Blob => record.blob = self.read_blob()?,
                piece => {
                    let op = self.read_scalar(piece)?;
                    record.ops.push(op);
                }
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn read_scalar(&mut self, piece: AbbreviationOp) -> LlvmResult<u64> {
        match piece {
            AbbreviationOp::Literal(value) => Ok(value),
            AbbreviationOp::Fixed(width) => self.read_fixed(width),
            AbbreviationOp::Vbr(width) => self.read_vbr(width),
            AbbreviationOp::Char6 => Ok(u64::from(CHAR6[self.read_fixed(6)? as usize])),
            AbbreviationOp::Array | AbbreviationOp::Blob => {
                self.fail_with("an array or blob where a number is expected")
            }
        }
    }

    fn read_array(&mut self, element: AbbreviationOp, ops: &mut Vec<u64>) -> LlvmResult<()> {
        let count = self.read_vbr(6)?;
        let bits = match element {
            AbbreviationOp::Fixed(width) | AbbreviationOp::Vbr(width) => width,
            _ => 6,
        };
        if count > self.remaining() as u64 / u64::from(bits) {
            return self.fail_with("an array reaches past the end of its block");
        }
        ops.reserve(count as usize);
        match element {
            AbbreviationOp::Fixed(width) => {
                self.read_elements(count, ops, |bits| bits.read_fixed(width))
            }
            AbbreviationOp::Vbr(width) => {
                self.read_elements(count, ops, |bits| bits.read_vbr(width))
            }
            _ => self.read_elements(count, ops, |bits| bits.read_scalar(element)),
        }
    }

    #[inline]
    fn read_elements(
        &mut self,
        count: u64,
        ops: &mut Vec<u64>,
        element: impl Fn(&mut Self) -> LlvmResult<u64>,
    ) -> LlvmResult<()> {
        for _ in 0..count {
            let op = element(self)?;
            ops.push(op);
        }
        Ok(())
    }

    fn read_blob(&mut self) -> LlvmResult<&'a [u8]> {
        let len = self.read_vbr(6)?;
        self.align_to_word();
        if len > self.remaining() as u64 / 8 {
            return self.fail_with("a blob reaches past the end of its block");
        }
        let start = self.pos / 8;
        let bytes = &self.data[start..start + len as usize];
        self.pos += bytes.len() * 8;
        self.align_to_word();
        Ok(bytes)
    }
}

/// The last word of the data, of fewer than eight bytes.
#[cold]
fn last_word(bytes: &[u8]) -> u64 {
    let bytes = bytes.iter().rev();
    bytes.fold(0, |word, &byte| word << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_across_bytes() {
        let data = [0b1010_0110, 0xff, 0x01, 0, 0, 0, 0, 0, 0x80];
        let mut bits = BitstreamReader::new(&data, 0);
        assert_eq!(bits.read_fixed(3).unwrap(), 0b110);
        assert_eq!(bits.read_fixed(9).unwrap(), 0b1111_10100);
        let mut bits = BitstreamReader::new(&data, 8);
        assert_eq!(bits.read_fixed(64).unwrap(), 0x8000_0000_0000_01ff);
        assert!(bits.read_fixed(1).is_err());
    }

    #[test]
    fn variable_width() {
        // 0b100001, then 0b000010: the low five bits are 1, plus 2 << 5.
        let mut bits = BitstreamReader::new(&[0b10_100001, 0b0000_0000], 0);
        assert_eq!(bits.read_vbr(6).unwrap(), 1 | 2 << 5);
        let endless = [0xff; 40];
        assert!(BitstreamReader::new(&endless, 0).read_vbr(6).is_err());
    }
}

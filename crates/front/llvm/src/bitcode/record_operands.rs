//! Record operands: a cursor over the operands of one record.

use super::bitstream::BitcodeRecord;
use crate::{LlvmResult, error_at};
use spirula_diagnostics::SourceLocation;

/// The operands of a record, read one by one.
#[derive(Clone, Copy, Debug)]
pub struct RecordOperands<'r> {
    rest: &'r [u64],
    place: SourceLocation,
}

impl<'r> RecordOperands<'r> {
    /// A cursor at the first operand of the record at `place`.
    pub fn new(ops: &'r [u64], place: SourceLocation) -> Self {
        RecordOperands { rest: ops, place }
    }

    /// A cursor at the first operand of a record.
    pub fn from_record(record: &'r BitcodeRecord<'_>) -> Self {
        RecordOperands::new(&record.ops, SourceLocation::Bit(record.at as u64))
    }

    /// The place of the record.
    pub fn place(&self) -> SourceLocation {
        self.place
    }

    /// An error about the record.
    #[cold]
    pub fn fail_with<T>(&self, message: impl Into<String>) -> LlvmResult<T> {
        Err(error_at(self.place, message))
    }

    /// The next operand.
    #[inline]
    pub fn next(&mut self) -> LlvmResult<u64> {
        match self.rest.split_first() {
            Some((&first, rest)) => {
                self.rest = rest;
                Ok(first)
            }
            None => self.fail_with("a record with too few operands"),
        }
    }

    /// The next operand as an index or count.
    pub fn next_index(&mut self) -> LlvmResult<usize> {
        match usize::try_from(self.next()?) {
            Ok(index) => Ok(index),
            Err(_) => self.fail_with("a number out of range"),
        }
    }

    /// The next operand as a 32-bit number.
    pub fn next_u32(&mut self) -> LlvmResult<u32> {
        match u32::try_from(self.next()?) {
            Ok(number) => Ok(number),
            Err(_) => self.fail_with("a number out of range"),
        }
    }

    /// The next operand, or 0 if there is none.
    pub fn or_zero(&mut self) -> u64 {
        match self.rest.split_first() {
            Some((&first, rest)) => {
                self.rest = rest;
                first
            }
            None => 0,
        }
    }

    /// Number of operands that remain.
    pub fn len(&self) -> usize {
        self.rest.len()
    }

    /// Whether no operand remains.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The operands that remain.
    pub fn remaining(&self) -> &'r [u64] {
        self.rest
    }

    /// Takes `count` operands at once.
    pub fn take(&mut self, count: usize) -> LlvmResult<&'r [u64]> {
        match self.rest.split_at_checked(count) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => self.fail_with("a record with too few operands"),
        }
    }
}

/// Decodes a signed number; bitcode keeps the sign in the lowest bit.
pub fn sign_rotated(bits: u64) -> i64 {
    match bits {
        1 => i64::MIN,
        bits if bits & 1 == 0 => (bits >> 1) as i64,
        bits => -((bits >> 1) as i64),
    }
}

/// Operands that are the bytes of a string.
pub fn bytes_of(ops: &[u64]) -> Vec<u8> {
    ops.iter().map(|&op| op as u8).collect()
}

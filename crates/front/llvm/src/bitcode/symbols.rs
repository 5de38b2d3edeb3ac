//! Names: tables of strings, symbol tables, and lists of tags.

use super::bitstream::{Bitstream, Entry, Record};
use super::ops::bytes_of;
use crate::Error;
use crate::ir::{LlvmSymbol, Strings};

/// Codes of the entries of a symbol table.
pub const VST_ENTRY: u64 = 1;
/// The name of a block.
pub const VST_BLOCK: u64 = 2;
/// The name of a function, with the place of its body.
pub const VST_FUNCTION: u64 = 3;

/// Reads a block of which every record of code 1 is a name; gives the names in order.
pub fn read_names(
    bits: &mut Bitstream<'_>,
    strings: &mut Strings,
) -> Result<Vec<LlvmSymbol>, Error> {
    let mut names = Vec::new();
    let mut record = Record::default();
    loop {
        match bits.next(&mut record)? {
            Entry::End => return Ok(names),
            Entry::Block(_) => bits.skip()?,
            Entry::Record if record.code == 1 => {
                names.push(strings.intern_bytes(&bytes_of(&record.ops)));
            }
            Entry::Record => {}
        }
    }
}

/// Reads a symbol table and calls `named` with the code of each entry, the number it names, and
/// the name.
pub fn read_table(
    bits: &mut Bitstream<'_>,
    strings: &mut Strings,
    mut named: impl FnMut(u64, u64, LlvmSymbol),
) -> Result<(), Error> {
    let mut record = Record::default();
    let mut bytes = Vec::new();
    loop {
        match bits.next(&mut record)? {
            Entry::End => return Ok(()),
            Entry::Block(_) => bits.skip()?,
            Entry::Record => {
                let skip = if record.code == VST_FUNCTION { 2 } else { 1 };
                let (Some(&number), Some(name)) = (record.ops.first(), record.ops.get(skip..))
                else {
                    continue;
                };
                bytes.clear();
                bytes.extend(name.iter().map(|&op| op as u8));
                named(record.code, number, strings.intern_bytes(&bytes));
            }
        }
    }
}

/// Reads a block that holds one blob: the table of strings.
pub fn read_blob<'a>(bits: &mut Bitstream<'a>) -> Result<&'a [u8], Error> {
    let mut blob: &[u8] = &[];
    let mut record = Record::default();
    loop {
        match bits.next(&mut record)? {
            Entry::End => return Ok(blob),
            Entry::Block(_) => bits.skip()?,
            Entry::Record if record.code == 1 => blob = record.blob,
            Entry::Record => {}
        }
    }
}

//! Symbol names: string tables, symbol tables, and lists of tags.

use super::bitstream::{BitcodeRecord, BitstreamReader};
use super::record_operands::bytes_of;
use crate::LlvmResult;
use crate::ir::{LlvmStrings, LlvmSymbol};

/// Code of a symbol table entry that names a value.
pub const VST_ENTRY: u64 = 1;
/// Code of an entry that names a block.
pub const VST_BLOCK: u64 = 2;
/// Code of an entry that names a function and has the position of its body.
pub const VST_FUNCTION: u64 = 3;

/// Reads a block whose records of code 1 are names. Returns the names in order.
pub fn read_names(
    bits: &mut BitstreamReader<'_>,
    strings: &mut LlvmStrings,
) -> LlvmResult<Vec<LlvmSymbol>> {
    let mut names = Vec::new();
    let mut record = BitcodeRecord::default();
    while bits.next_record(&mut record)? {
        if record.code == 1 {
            names.push(strings.intern_bytes(&bytes_of(&record.ops)));
        }
    }
    Ok(names)
}

/// Reads a symbol table. It calls `named` with the code of each entry, the number of the named
/// entity, and the name.
pub fn read_table(
    bits: &mut BitstreamReader<'_>,
    strings: &mut LlvmStrings,
    mut named: impl FnMut(u64, u64, LlvmSymbol),
) -> LlvmResult<()> {
    let mut record = BitcodeRecord::default();
    let mut bytes = Vec::new();
    while bits.next_record(&mut record)? {
        let skip = if record.code == VST_FUNCTION { 2 } else { 1 };
        let (Some(&number), Some(name)) = (record.ops.first(), record.ops.get(skip..)) else {
            continue;
        };
        bytes.clear();
        bytes.extend(name.iter().map(|&op| op as u8));
        named(record.code, number, strings.intern_bytes(&bytes));
    }
    Ok(())
}

/// Reads a block that holds one blob: the string table.
pub fn read_blob<'a>(bits: &mut BitstreamReader<'a>) -> LlvmResult<&'a [u8]> {
    let mut blob: &[u8] = &[];
    let mut record = BitcodeRecord::default();
    while bits.next_record(&mut record)? {
        if record.code == 1 {
            blob = record.blob;
        }
    }
    Ok(blob)
}

//! Bitcode files: the optional wrapper, and the module among the top-level blocks.

use super::bitstream::{BitcodeRecord, BitstreamEntry, BitstreamReader};
use super::module::{SOURCE_FILENAME, block};
use super::module_reader::BitcodeModuleReader;
use super::record_operands::bytes_of;
use super::symbols;
use crate::ir::LlvmModule;
use crate::{LlvmError, LlvmResult, error_at};
use spirula_diagnostics::SourceLocation;

const MAGIC: [u8; 4] = [0x42, 0x43, 0xc0, 0xde];
const WRAPPER_MAGIC: u32 = 0x0b17_c0de;

/// Whether the bytes start with bitcode's magic number, or with that of the wrapper some systems
/// put around it.
pub fn is_bitcode(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC) || bytes.starts_with(&WRAPPER_MAGIC.to_le_bytes())
}

/// Reads bitcode.
///
/// # Errors
/// The first fault in the bitcode, with its bit position.
pub fn read_bitcode(bytes: &[u8]) -> LlvmResult<LlvmModule> {
    let mut bits = BitstreamReader::new(strip_wrapper(bytes)?, 32);
    let mut reader = None;
    let mut strings: &[u8] = &[];
    let mut record = BitcodeRecord::default();
    loop {
        match bits.next_entry(&mut record)? {
            BitstreamEntry::End => break,
            BitstreamEntry::Record => {
                return Err(error_at(bits.place(), "a record outside of any block"));
            }
            BitstreamEntry::Block(block::IDENTIFICATION) => {
                bits.enter_block(block::IDENTIFICATION)?;
                check_epoch(&mut bits)?;
            }
            BitstreamEntry::Block(block::MODULE) => {
                if reader.is_some() {
                    return Err(refuse_several_modules(bytes, bits.place()));
                }
                bits.enter_block(block::MODULE)?;
                let mut new = BitcodeModuleReader::default();
                new.read_module(&mut bits)?;
                reader = Some(new);
            }
            BitstreamEntry::Block(block::STRINGS) => {
                bits.enter_block(block::STRINGS)?;
                strings = symbols::read_blob(&mut bits)?;
            }
            BitstreamEntry::Block(_) => bits.skip_block()?,
        }
    }
    match reader {
        Some(reader) => reader.finish_module(strings),
        None => Err(error_at(bits.place(), "the bitcode holds no module")),
    }
}

/// The error for bitcode that holds several modules. Each stands for a source file, and only the
/// user knows which one is meant or whether they belong together.
fn refuse_several_modules(bytes: &[u8], place: SourceLocation) -> Box<LlvmError> {
    let names = source_names(bytes).unwrap_or_default();
    let message = match names.len() {
        0 => "the bitcode holds several modules".to_owned(),
        count => format!("the bitcode holds {count} modules: {}", names.join(", ")),
    };
    let hint = "take one out with llvm-modextract -n NUMBER, or link them into one";
    error_at(place, message).with_hint(hint)
}

/// Longest module name in the error, and greatest number of names.
const MAX_LISTED: usize = 60;

/// The source file name of each module.
fn source_names(bytes: &[u8]) -> LlvmResult<Vec<String>> {
    let mut bits = BitstreamReader::new(strip_wrapper(bytes)?, 32);
    let mut record = BitcodeRecord::default();
    let mut names = Vec::new();
    let mut inside = false;
    while names.len() < MAX_LISTED {
        match bits.next_entry(&mut record)? {
            BitstreamEntry::End if inside => inside = false,
            BitstreamEntry::End => break,
            BitstreamEntry::Block(block::MODULE) if !inside => {
                bits.enter_block(block::MODULE)?;
                inside = true;
                names.push("one without a name".to_owned());
            }
            BitstreamEntry::Block(_) => bits.skip_block()?,
            BitstreamEntry::Record if inside && record.code == SOURCE_FILENAME => {
                let name = &record.ops[..record.ops.len().min(MAX_LISTED)];
                if let Some(last) = names.last_mut() {
                    *last = String::from_utf8_lossy(&bytes_of(name)).into_owned();
                }
            }
            BitstreamEntry::Record => {}
        }
    }
    Ok(names)
}

/// The bitstream without the wrapper that some systems put around it.
fn strip_wrapper(bytes: &[u8]) -> LlvmResult<&[u8]> {
    let stream = if bytes.starts_with(&WRAPPER_MAGIC.to_le_bytes()) {
        let field = |at: usize| {
            let word = bytes.get(at..at + 4)?;
            Some(u32::from_le_bytes([word[0], word[1], word[2], word[3]]) as usize)
        };
        let range = field(8)
            .zip(field(12))
            .map(|(offset, size)| offset..offset + size);
        match range.and_then(|range| bytes.get(range)) {
            Some(stream) => stream,
            None => {
                return Err(error_at(
                    SourceLocation::Byte(8),
                    "the wrapper reaches past its contents",
                ));
            }
        }
    } else {
        bytes
    };
    if stream.starts_with(&MAGIC) {
        Ok(stream)
    } else {
        Err(error_at(SourceLocation::Byte(0), "not LLVM bitcode"))
    }
}

fn check_epoch(bits: &mut BitstreamReader<'_>) -> LlvmResult<()> {
    let mut record = BitcodeRecord::default();
    while bits.next_record(&mut record)? {
        if record.code == 2 && record.ops.first() != Some(&0) {
            return Err(error_at(bits.place(), "bitcode of an incompatible format"));
        }
    }
    Ok(())
}

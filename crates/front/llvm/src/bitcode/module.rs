//! Module block: records and blocks outside of functions.

use super::bitstream::{BitcodeRecord, BitstreamEntry, BitstreamReader};
use super::constants::{self};
use super::function;
use super::module_reader::BitcodeModuleReader;
use super::record_operands::{RecordOperands, bytes_of};
use super::symbols::{self, VST_ENTRY, VST_FUNCTION};
use crate::ir::{ConstKind, DataLayout};
use crate::{LlvmResult, error_at};

/// Kinds of blocks.
pub(super) mod block {
    pub const BLOCK_INFO: u64 = 0;
    pub const MODULE: u64 = 8;
    pub const ATTRIBUTES: u64 = 9;
    pub const ATTRIBUTE_GROUPS: u64 = 10;
    pub const CONSTANTS: u64 = 11;
    pub const FUNCTION: u64 = 12;
    pub const IDENTIFICATION: u64 = 13;
    pub const SYMBOLS: u64 = 14;
    pub const METADATA: u64 = 15;
    pub const TYPES: u64 = 17;
    pub const BUNDLE_TAGS: u64 = 21;
    pub const METADATA_KINDS: u64 = 22;
    pub const STRINGS: u64 = 23;
    pub const SYNC_SCOPES: u64 = 26;
}

/// Code of the record with the source file name.
pub(super) const SOURCE_FILENAME: u64 = 16;

impl BitcodeModuleReader {
    /// Reads the block of a module, which was already entered.
    pub(super) fn read_module(&mut self, bits: &mut BitstreamReader<'_>) -> LlvmResult<()> {
        let mut record = BitcodeRecord::default();
        loop {
            match bits.next_entry(&mut record)? {
                BitstreamEntry::End => return Ok(()),
                BitstreamEntry::Block(kind) => self.read_block(kind, bits)?,
                BitstreamEntry::Record => {
                    let ops = RecordOperands::from_record(&record);
                    self.read_module_record(record.code, ops)?;
                }
            }
        }
    }

    fn read_block(&mut self, kind: u64, bits: &mut BitstreamReader<'_>) -> LlvmResult<()> {
        if kind == block::BLOCK_INFO {
            return bits.read_block_info();
        }
        if !matches!(kind, 9..=12 | 14 | 15 | 17 | 21 | 22 | 26) {
            return bits.skip_block();
        }
        bits.enter_block(kind)?;
        let module = &mut self.module;
        match kind {
            block::TYPES => self.types.read_block(bits, module),
            block::ATTRIBUTE_GROUPS => self.attributes.read_groups(bits, &self.types, module),
            block::ATTRIBUTES => self.attributes.read_lists(bits, module),
            block::CONSTANTS => {
                constants::read_constants(bits, module, &self.types, &mut self.slots)
            }
            block::METADATA => {
                self.metadata
                    .read_block(bits, module, &self.types, &self.slots, false)
            }
            block::METADATA_KINDS => self.metadata.read_kinds(bits, &mut module.strings),
            block::BUNDLE_TAGS => {
                self.bundle_tags = symbols::read_names(bits, &mut module.strings)?;
                Ok(())
            }
            block::SYNC_SCOPES => {
                self.sync_scopes = symbols::read_names(bits, &mut module.strings)?;
                Ok(())
            }
            block::SYMBOLS => self.read_symbols(bits),
            _ => {
                debug_assert_eq!(kind, block::FUNCTION);
                match self.bodies.pop_front() {
                    Some(func) => function::read_function_body(self, func, bits),
                    None => Err(error_at(bits.place(), "a body that belongs to no function")),
                }
            }
        }
    }

    /// Reads the symbol table of a module. It names globals in bitcode that is older than string
    /// tables.
    fn read_symbols(&mut self, bits: &mut BitstreamReader<'_>) -> LlvmResult<()> {
        let (consts, globals, slots) = (&self.module.consts, &mut self.module.globals, &self.slots);
        symbols::read_table(bits, &mut self.module.strings, |code, number, name| {
            let slot = usize::try_from(number)
                .ok()
                .and_then(|number| slots.get(number));
            let constant = slot
                .and_then(|slot| slot.0.as_const())
                .map(|id| consts.kind(id));
            if let (VST_ENTRY | VST_FUNCTION, Some(ConstKind::Global(global))) = (code, constant)
                && !name.is_empty()
            {
                globals[global.index()].name = name;
            }
        })
    }

    fn read_module_record(&mut self, code: u64, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let text = |ops: &RecordOperands<'_>| {
            String::from_utf8_lossy(&bytes_of(ops.remaining())).into_owned()
        };
        match code {
            1 => {
                self.version = ops.next()?;
                if !(1..=2).contains(&self.version) {
                    return ops.fail_with("bitcode of an unknown version");
                }
            }
            2 => self.module.triple = text(&ops),
            3 => match DataLayout::from_text(&text(&ops)) {
                Ok(layout) => self.module.layout = layout,
                Err(part) => {
                    return ops
                        .fail_with(format!("data layout component `{part}` is not supported"));
                }
            },
            4 => self.module.module_asm = text(&ops),
            5 => {
                let name = self.module.strings.intern_bytes(&bytes_of(ops.remaining()));
                self.sections.push(name);
            }
            7 => self.read_variable(ops)?,
            8 => self.read_function(ops)?,
            11 => {
                let name = self.module.strings.intern_bytes(&bytes_of(ops.remaining()));
                self.collectors.push(name);
            }
            12 => self.read_comdat(ops)?,
            14 => self.read_alias(ops)?,
            SOURCE_FILENAME => self.module.source_filename = text(&ops),
            18 => self.read_ifunc(ops)?,
            9 => return ops.fail_with("aliases of LLVM before 3.9 are not supported"),
            _ => {}
        }
        Ok(())
    }
}

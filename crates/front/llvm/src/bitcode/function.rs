//! Function bodies.
//!
//! Values are numbered in the order of definition. Operands are distances back from the next
//! number. A negative distance refers to a later value; a placeholder stands for such an operand
//! until the body ends.

use super::bitstream::{BitcodeRecord, BitstreamEntry, BitstreamReader};
use super::constants;
use super::module_reader::BitcodeModuleReader;
use super::record_operands::RecordOperands;
use super::symbols::{self, VST_BLOCK, VST_ENTRY};
use crate::ir::{
    DebugRecord, DebugRecordKind, InstructionExtra, LlvmBlock, LlvmBlockData, LlvmFunc,
    LlvmFunction, LlvmInst, LlvmInstFlags, LlvmInstruction, LlvmMetadata, LlvmOpcode,
    LlvmPoolRange, LlvmSymbol, LlvmType, LlvmValue, MetadataAttachment, OperandBundle,
};
use crate::{LlvmResult, error_at};
use spirula_diagnostics::SourceLocation;

const CONSTANTS: u64 = 11;
const SYMBOLS: u64 = 14;
const METADATA: u64 = 15;
const ATTACHMENTS: u64 = 16;

/// Locals from this number on are placeholders for values that are not defined yet: this base plus
/// their number.
const FORWARD: usize = 1 << 29;

/// A function body that is being read.
pub struct BitcodeBodyReader<'r> {
    pub reader: &'r mut BitcodeModuleReader,
    pub func: LlvmFunction,
    block_count: usize,
    block_start: usize,
    forward: bool,
    /// Operand bundles of the next call: their tags and numbers of operands.
    pub bundles: Vec<(LlvmSymbol, usize)>,
    pub bundle_operands: Vec<LlvmValue>,
    location: Option<LlvmMetadata>,
    dbg: LlvmSymbol,
}

/// Reads the body of a function.
pub fn read_function_body(
    reader: &mut BitcodeModuleReader,
    func: LlvmFunc,
    bits: &mut BitstreamReader<'_>,
) -> LlvmResult<()> {
    let slot = &mut reader.module.functions[func.index()];
    let empty = LlvmFunction::new(slot.global, slot.ty, Vec::new());
    let mut function = std::mem::replace(slot, empty);
    let mut room = (reader.room.take()).unwrap_or_else(|| {
        let no_params = Vec::new();
        LlvmFunction::new(function.global, function.ty, no_params)
    });
    function.swap_body(&mut room);
    let module_slots = reader.slots.len();
    for (index, &ty) in function.params.iter().enumerate() {
        reader.slots.push((LlvmValue::from_local(index), ty));
    }
    reader.metadata.begin_function(&reader.module);
    let dbg = reader.module.strings.intern_text("dbg");
    let mut body = BitcodeBodyReader {
        reader,
        func: function,
        block_count: 0,
        block_start: 0,
        forward: false,
        bundles: Vec::new(),
        bundle_operands: Vec::new(),
        location: None,
        dbg,
    };
    body.read_body(bits)?;
    let mut function = body.func;
    function.compact_body(&mut room);
    reader.room = Some(room);
    reader
        .metadata
        .end_function(&mut reader.module, &reader.slots)?;
    reader.slots.truncate(module_slots);
    reader.module.functions[func.index()] = function;
    Ok(())
}

impl BitcodeBodyReader<'_> {
    fn read_body(&mut self, bits: &mut BitstreamReader<'_>) -> LlvmResult<()> {
        let mut record = BitcodeRecord::default();
        loop {
            match bits.next_entry(&mut record)? {
                BitstreamEntry::End => return self.finish_body(bits.place()),
                BitstreamEntry::Block(kind) => self.read_nested_block(kind, bits)?,
                BitstreamEntry::Record => {
                    let ops = RecordOperands::from_record(&record);
                    self.read_record(record.code, ops, bits.remaining())?;
                }
            }
        }
    }

    fn read_nested_block(&mut self, kind: u64, bits: &mut BitstreamReader<'_>) -> LlvmResult<()> {
        if !matches!(kind, CONSTANTS | SYMBOLS | METADATA | ATTACHMENTS) {
            return bits.skip_block();
        }
        bits.enter_block(kind)?;
        let BitcodeModuleReader {
            module,
            types,
            metadata,
            slots,
            ..
        } = &mut *self.reader;
        match kind {
            CONSTANTS => constants::read_constants(bits, module, types, slots),
            METADATA => metadata.read_block(bits, module, types, slots, true),
            SYMBOLS => self.read_symbol_table(bits),
            _ => self.read_attachments(bits),
        }
    }

    fn read_symbol_table(&mut self, bits: &mut BitstreamReader<'_>) -> LlvmResult<()> {
        let func = &mut self.func;
        let slots = &self.reader.slots;
        func.names
            .resize(func.params.len() + func.insts.len(), LlvmSymbol::EMPTY);
        symbols::read_table(
            bits,
            &mut self.reader.module.strings,
            |code, number, name| {
                let Ok(number) = usize::try_from(number) else {
                    return;
                };
                match code {
                    VST_ENTRY => {
                        let local = slots.get(number).and_then(|slot| slot.0.as_local());
                        if let Some(slot) = local.and_then(|local| func.names.get_mut(local)) {
                            *slot = name;
                        }
                    }
                    VST_BLOCK => {
                        if let Some(block) = func.blocks.get_mut(number) {
                            block.name = name;
                        }
                    }
                    _ => {}
                }
            },
        )
    }

    fn read_attachments(&mut self, bits: &mut BitstreamReader<'_>) -> LlvmResult<()> {
        let BitcodeModuleReader {
            module, metadata, ..
        } = &mut *self.reader;
        let func = &mut self.func;
        metadata.read_attachments(bits, |inst, kind, node, place| {
            match inst.map(usize::try_from) {
                None => module.globals[func.global.index()]
                    .metadata
                    .push((kind, node)),
                Some(Ok(number)) if number < func.insts.len() => {
                    func.attachments.push(MetadataAttachment {
                        inst: LlvmInst::new(number),
                        kind,
                        node,
                    });
                }
                _ => {
                    return Err(error_at(
                        place,
                        "metadata of an instruction that does not exist",
                    ));
                }
            }
            Ok(())
        })
    }

    fn read_record(
        &mut self,
        code: u64,
        mut ops: RecordOperands<'_>,
        remaining: usize,
    ) -> LlvmResult<()> {
        match code {
            1 => {
                self.block_count = ops.next_index()?;
                if self.block_count == 0 || self.block_count > remaining {
                    return ops.fail_with("an impossible number of blocks");
                }
                self.func.blocks.reserve(self.block_count);
                Ok(())
            }
            33 | 35 => {
                if code == 35 {
                    let BitcodeModuleReader {
                        module, metadata, ..
                    } = &mut *self.reader;
                    self.location = metadata.read_location(ops, module)?;
                }
                self.attach_location(&ops)
            }
            55 => self.read_bundle(ops),
            60 => Ok(()),
            61..=66 => self.read_debug_record(code, ops),
            _ => self.read_instruction(code, ops),
        }
    }

    fn attach_location(&mut self, ops: &RecordOperands<'_>) -> LlvmResult<()> {
        let Some(last) = self.func.insts.len().checked_sub(1) else {
            return ops.fail_with("a debug location before the first instruction");
        };
        if let Some(node) = self.location {
            self.func.attachments.push(MetadataAttachment {
                inst: LlvmInst::new(last),
                kind: self.dbg,
                node,
            });
        }
        Ok(())
    }

    fn read_bundle(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let Some(&tag) = self.reader.bundle_tags.get(ops.next_index()?) else {
            return ops.fail_with("an operand bundle with a tag that is not defined");
        };
        let mut count = 0;
        while !ops.is_empty() {
            let (operand, _) = self.read_value(&mut ops)?;
            self.bundle_operands.push(operand);
            count += 1;
        }
        self.bundles.push((tag, count));
        Ok(())
    }

    fn read_debug_record(&mut self, code: u64, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        use DebugRecordKind::{Assign, Declare, DeclareValue, Label, Value as IsValue};
        let kind = match code {
            61 | 64 => IsValue,
            62 => Declare,
            63 => Assign,
            65 => Label,
            _ => DeclareValue,
        };
        let mut node = |reader: &BitcodeModuleReader| reader.metadata.get(ops.next()?, ops.place());
        let location = node(self.reader)?;
        let mut arguments = vec![Some(node(self.reader)?)];
        if code == 64 {
            arguments.push(Some(node(self.reader)?));
            let (operand, _) = self.read_value(&mut ops)?;
            let wrapped = super::metadata::wrap_value(operand);
            let value = self.reader.module.metadata.push(wrapped);
            arguments.insert(0, Some(value));
        } else if code != 65 {
            // The record has the variable and the expression before the value; assembly has the
            // value first.
            arguments.push(Some(node(self.reader)?));
            arguments.insert(0, Some(node(self.reader)?));
            if code == 63 {
                let (id, expression, address) =
                    (node(self.reader)?, node(self.reader)?, node(self.reader)?);
                arguments.extend([Some(id), Some(address), Some(expression)]);
            }
        }
        arguments.push(Some(location));
        // A record that belongs before an instruction follows that instruction in the bitcode.
        let Some(last) = self.func.insts.len().checked_sub(1) else {
            return ops.fail_with("a debug record before the first instruction");
        };
        let before = LlvmInst::new(last);
        self.func.debug_records.push(DebugRecord {
            before,
            kind,
            arguments,
        });
        Ok(())
    }

    /// Reads a value as a distance back. Its type follows in the record if the value is defined
    /// later.
    pub fn read_value(
        &mut self,
        ops: &mut RecordOperands<'_>,
    ) -> LlvmResult<(LlvmValue, LlvmType)> {
        let number = self.resolve_distance(ops.next()?);
        match self.reader.slots.get(number) {
            Some(&slot) => Ok(slot),
            None => {
                let ty = self.reader.types.read_type(ops)?;
                Ok((self.make_forward_value(number, ops)?, ty))
            }
        }
    }

    /// Reads a value of known type as a distance back.
    pub fn value_of(
        &mut self,
        ty: LlvmType,
        ops: &mut RecordOperands<'_>,
    ) -> LlvmResult<LlvmValue> {
        let distance = ops.next()?;
        self.value_at(ty, distance, ops)
    }

    /// The value of known type at a distance back.
    pub fn value_at(
        &mut self,
        ty: LlvmType,
        distance: u64,
        ops: &RecordOperands<'_>,
    ) -> LlvmResult<LlvmValue> {
        let number = self.resolve_distance(distance);
        if ty == LlvmType::METADATA {
            return Ok(LlvmValue::from_metadata(
                self.reader.metadata.get(number as u64, ops.place())?,
            ));
        }
        match self.reader.slots.get(number) {
            Some(&(value, found)) if found == ty => Ok(value),
            Some(_) => ops.fail_with("an operand of another type"),
            None => self.make_forward_value(number, ops),
        }
    }

    /// The value with an absolute number, for example a case of a `switch`.
    pub fn value_numbered(
        &mut self,
        ty: LlvmType,
        number: u64,
        ops: &RecordOperands<'_>,
    ) -> LlvmResult<LlvmValue> {
        let slot = usize::try_from(number)
            .ok()
            .and_then(|number| self.reader.slots.get(number));
        match slot {
            Some(&(value, found)) if found == ty => Ok(value),
            Some(_) => ops.fail_with("an operand of another type"),
            None => ops.fail_with(format!("value {number} is not defined")),
        }
    }

    /// Resolves a distance. Distances have 32 bits, and negative ones wrap around.
    fn resolve_distance(&self, distance: u64) -> usize {
        (self.reader.slots.len() as u32).wrapping_sub(distance as u32) as usize
    }

    fn make_forward_value(
        &mut self,
        number: usize,
        ops: &RecordOperands<'_>,
    ) -> LlvmResult<LlvmValue> {
        if number >= FORWARD {
            return ops.fail_with("an operand that is not defined");
        }
        self.forward = true;
        Ok(LlvmValue::from_local(FORWARD + number))
    }

    /// The block with this number.
    pub fn find_block(&self, number: u64, ops: &RecordOperands<'_>) -> LlvmResult<LlvmBlock> {
        match usize::try_from(number) {
            Ok(number) if number < self.block_count => Ok(LlvmBlock::new(number)),
            _ => ops.fail_with(format!("block {number} is not there")),
        }
    }

    /// Appends the operands of the collected bundles to those of the call, which are the last ones
    /// in the pool.
    pub fn take_bundles(&mut self) -> Vec<OperandBundle> {
        let mut operands = std::mem::take(&mut self.bundle_operands).into_iter();
        let mut bundles = Vec::new();
        for (tag, count) in std::mem::take(&mut self.bundles) {
            let start = self.func.value_pool.len();
            self.func.value_pool.extend(operands.by_ref().take(count));
            bundles.push(OperandBundle {
                tag,
                operands: LlvmPoolRange::from_start(start, &self.func.value_pool),
            });
        }
        bundles
    }

    /// Adds an instruction without flags.
    pub fn push_unflagged(
        &mut self,
        opcode: LlvmOpcode,
        ty: LlvmType,
        operands: &[LlvmValue],
        extra: InstructionExtra,
        place: SourceLocation,
    ) {
        let operands = self.func.add_operands(operands);
        self.push_inst(
            LlvmInstruction {
                opcode,
                flags: LlvmInstFlags::NONE,
                ty,
                operands,
                extra,
            },
            place,
        );
    }

    /// Adds an instruction and numbers its result. A terminator ends its block.
    pub fn push_inst(&mut self, inst: LlvmInstruction, place: SourceLocation) {
        let number = self.func.insts.len();
        self.func.insts.push(inst);
        self.func.places.push(place);
        if inst.opcode.is_terminator() {
            let insts = LlvmPoolRange::from_start(self.block_start, &self.func.insts);
            self.func.blocks.push(LlvmBlockData {
                name: LlvmSymbol::EMPTY,
                insts,
            });
            self.block_start = self.func.insts.len();
        }
        if inst.ty != LlvmType::VOID {
            let local = self.func.params.len() + number;
            self.reader
                .slots
                .push((LlvmValue::from_local(local), inst.ty));
        }
    }

    fn finish_body(&mut self, place: SourceLocation) -> LlvmResult<()> {
        let complete = self.block_start == self.func.insts.len();
        if self.block_count == 0 || self.func.blocks.len() != self.block_count || !complete {
            return Err(error_at(
                place,
                "a body with another number of blocks than announced",
            ));
        }
        if self.forward {
            for operand in &mut self.func.value_pool {
                let Some(number) = operand.as_local().and_then(|at| at.checked_sub(FORWARD)) else {
                    continue;
                };
                match self.reader.slots.get(number) {
                    Some(&(value, _)) => *operand = value,
                    None => return Err(error_at(place, "an operand that is never defined")),
                }
            }
        }
        self.func
            .attachments
            .sort_by_key(|attachment| attachment.inst);
        Ok(())
    }
}

//! Metadata blocks.
//!
//! The nodes of a block get consecutive ids in LLVM's own numbering, so a reference to a later node
//! is known at once. References past the last node are found when the block ends.

use super::bitstream::{BitcodeRecord, BitstreamReader};
use super::constants::BitcodeValues;
use super::record_operands::{RecordOperands, bytes_of, sign_rotated};
use super::specialised_metadata::{BOOLEAN, ROWS, RecordFieldForm};
use super::types::BitcodeTypeTable;
use crate::ir::{
    LlvmGlobal, LlvmMetadata, LlvmModule, LlvmPoolRange, LlvmStrings, LlvmSymbol, LlvmValue,
    MetadataArena, MetadataField, MetadataKind, NamedMetadata, ValueKind,
};
use crate::{LlvmResult, error_at};
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceLocation;

const STRING_OLD: u64 = 1;
const VALUE: u64 = 2;
const NODE: u64 = 3;
const NAME: u64 = 4;
const DISTINCT_NODE: u64 = 5;
const KIND: u64 = 6;
const LOCATION: u64 = 7;
const NAMED_NODE: u64 = 10;
const ATTACHMENT: u64 = 11;
const EXPRESSION: u64 = 29;
const STRINGS: u64 = 35;
const GLOBAL_ATTACHMENT: u64 = 36;
const INDEX_OFFSET: u64 = 38;
const INDEX: u64 = 39;
const ARG_LIST: u64 = 46;

/// Metadata by its numbers in the bitcode: first those of the module, then those of the current
/// function.
#[derive(Debug, Default)]
pub struct MetadataTable {
    kinds: FxHashMap<u64, LlvmSymbol>,
    /// Number of nodes of the module. Their numbers are also their ids in the arena.
    module_count: usize,
    /// Arena position of the current function's first node.
    function_start: usize,
    function_count: usize,
    /// The highest number that is referred to, and the place of that reference.
    highest: Option<(usize, SourceLocation)>,
    /// Metadata of local values, by the value's number. They are resolved when the function is
    /// complete.
    locals: Vec<(LlvmMetadata, usize)>,
    locations: FxHashMap<[u64; 5], LlvmMetadata>,
    names: Option<DebugLocationFields>,
}

/// Symbols of the field names of debug locations.
#[derive(Clone, Copy, Debug)]
struct DebugLocationFields {
    class: LlvmSymbol,
    line: LlvmSymbol,
    column: LlvmSymbol,
    scope: LlvmSymbol,
    inlined_at: LlvmSymbol,
    implicit: LlvmSymbol,
}

impl MetadataTable {
    /// The node with this number.
    pub fn get(&self, number: u64, place: SourceLocation) -> LlvmResult<LlvmMetadata> {
        match usize::try_from(number) {
            Ok(number) if number < self.module_count => Ok(LlvmMetadata::new(number)),
            Ok(number) if number - self.module_count < self.function_count => Ok(
                LlvmMetadata::new(self.function_start + number - self.module_count),
            ),
            _ => Err(error_at(place, format!("metadata {number} is not defined"))),
        }
    }

    /// The node with this number plus one; 0 stands for `None`.
    pub fn get_optional(
        &self,
        number: u64,
        place: SourceLocation,
    ) -> LlvmResult<Option<LlvmMetadata>> {
        match number.checked_sub(1) {
            Some(number) => self.get(number, place).map(Some),
            None => Ok(None),
        }
    }

    /// The attachment kind with this number.
    pub fn find_kind(&self, number: u64, place: SourceLocation) -> LlvmResult<LlvmSymbol> {
        match self.kinds.get(&number) {
            Some(&kind) => Ok(kind),
            None => Err(error_at(
                place,
                format!("metadata kind {number} is not defined"),
            )),
        }
    }

    /// Begins a function.
    pub fn begin_function(&mut self, module: &LlvmModule) {
        self.function_start = module.metadata.len();
        self.function_count = 0;
    }

    /// Ends a function: resolves metadata that is a local value. `slots` has all values of the
    /// function.
    pub fn end_function(
        &mut self,
        module: &mut LlvmModule,
        slots: &BitcodeValues,
    ) -> LlvmResult<()> {
        for (id, number) in self.locals.drain(..) {
            let Some(&(value, _)) = slots.get(number) else {
                return Err(error_at(
                    SourceLocation::Unknown,
                    "metadata of a value that is not defined",
                ));
            };
            module.metadata.replace_metadata(id, wrap_value(value));
        }
        self.function_count = 0;
        Ok(())
    }

    /// A number whose node may be defined later in the same block.
    fn get_or_forward(&mut self, number: u64, place: SourceLocation) -> LlvmResult<LlvmMetadata> {
        let Some(number) = usize::try_from(number)
            .ok()
            .filter(|&number| number < 1 << 29)
        else {
            return Err(error_at(place, format!("metadata {number} is not defined")));
        };
        if self.highest.is_none_or(|(highest, _)| highest < number) {
            self.highest = Some((number, place));
        }
        Ok(match number.checked_sub(self.module_count) {
            Some(rest) if self.function_count > 0 || self.function_start > 0 => {
                LlvmMetadata::new(self.function_start + rest)
            }
            _ => LlvmMetadata::new(number),
        })
    }

    fn optional_reference(
        &mut self,
        number: u64,
        place: SourceLocation,
    ) -> LlvmResult<Option<LlvmMetadata>> {
        match number.checked_sub(1) {
            Some(number) => self.get_or_forward(number, place).map(Some),
            None => Ok(None),
        }
    }

    /// Reads the block of attachment kinds.
    pub fn read_kinds(
        &mut self,
        bits: &mut BitstreamReader<'_>,
        strings: &mut LlvmStrings,
    ) -> LlvmResult<()> {
        let mut record = BitcodeRecord::default();
        while bits.next_record(&mut record)? {
            if record.code == KIND {
                self.define_kind(RecordOperands::new(&record.ops, bits.place()), strings)?;
            }
        }
        Ok(())
    }

    fn define_kind(
        &mut self,
        mut ops: RecordOperands<'_>,
        strings: &mut LlvmStrings,
    ) -> LlvmResult<()> {
        let number = ops.next()?;
        let name = strings.intern_bytes(&bytes_of(ops.remaining()));
        self.kinds.insert(number, name);
        Ok(())
    }

    /// Reads a metadata block of the module or of the current function.
    pub fn read_block(
        &mut self,
        bits: &mut BitstreamReader<'_>,
        module: &mut LlvmModule,
        types: &BitcodeTypeTable,
        slots: &BitcodeValues,
        in_function: bool,
    ) -> LlvmResult<()> {
        let mut record = BitcodeRecord::default();
        let mut name = LlvmSymbol::EMPTY;
        if !in_function {
            if module.metadata.len() != self.module_count {
                return Err(error_at(
                    bits.place(),
                    "module metadata after function bodies",
                ));
            }
            self.function_start = 0;
        }
        while bits.next_record(&mut record)? {
            let ops = RecordOperands::from_record(&record);
            match record.code {
                NAME => name = module.strings.intern_bytes(&bytes_of(ops.remaining())),
                NAMED_NODE => self.read_named_node(name, ops, module)?,
                KIND => self.define_kind(ops, &mut module.strings)?,
                GLOBAL_ATTACHMENT => self.read_global_attachment(ops, module, slots)?,
                INDEX_OFFSET | INDEX => {}
                STRINGS => self.read_strings(ops, record.blob, module)?,
                code => self.read_node(code, ops, module, types, slots)?,
            }
            self.record_count(module, in_function);
        }
        self.record_count(module, in_function);
        let count = self.module_count + self.function_count;
        match self.highest.take() {
            Some((highest, place)) if highest >= count => Err(error_at(
                place,
                format!("metadata {highest} is not defined"),
            )),
            _ => Ok(()),
        }
    }

    fn record_count(&mut self, module: &LlvmModule, in_function: bool) {
        if in_function {
            self.function_count = module.metadata.len() - self.function_start;
        } else {
            self.module_count = module.metadata.len();
        }
    }

    fn read_named_node(
        &mut self,
        name: LlvmSymbol,
        mut ops: RecordOperands<'_>,
        module: &mut LlvmModule,
    ) -> LlvmResult<()> {
        let mut operands = Vec::with_capacity(ops.len());
        while !ops.is_empty() {
            operands.push(self.get_or_forward(ops.next()?, ops.place())?);
        }
        module.named_metadata.push(NamedMetadata { name, operands });
        Ok(())
    }

    fn read_global_attachment(
        &mut self,
        mut ops: RecordOperands<'_>,
        module: &mut LlvmModule,
        slots: &BitcodeValues,
    ) -> LlvmResult<()> {
        let number = ops.next_index()?;
        let global = slots
            .get(number)
            .and_then(|slot| module.as_global(slot.0.as_const()?));
        let Some(global) = global else {
            return ops.fail_with("metadata attached to a value that is not a global");
        };
        while !ops.is_empty() {
            let kind = self.find_kind(ops.next()?, ops.place())?;
            let node = self.get_or_forward(ops.next()?, ops.place())?;
            module.globals[LlvmGlobal::index(global)]
                .metadata
                .push((kind, node));
        }
        Ok(())
    }

    /// Reads a record of several strings: their lengths, then their bytes.
    fn read_strings(
        &mut self,
        mut ops: RecordOperands<'_>,
        blob: &[u8],
        module: &mut LlvmModule,
    ) -> LlvmResult<()> {
        let (count, offset) = (ops.next_index()?, ops.next_index()?);
        let Some((lengths, mut bytes)) = blob.split_at_checked(offset) else {
            return ops.fail_with("strings past the end of their record");
        };
        if count > lengths.len() * 8 / 6 {
            return ops.fail_with("more strings than their record can hold");
        }
        let mut lengths = BitstreamReader::new(lengths, 0);
        for _ in 0..count {
            let len = lengths
                .read_vbr(6)
                .ok()
                .and_then(|len| usize::try_from(len).ok());
            let Some((text, rest)) = len.and_then(|len| bytes.split_at_checked(len)) else {
                return ops.fail_with("strings past the end of their record");
            };
            bytes = rest;
            let symbol = module.strings.intern_bytes(text);
            module.metadata.push(MetadataKind::String(symbol));
        }
        Ok(())
    }

    fn read_node(
        &mut self,
        code: u64,
        mut ops: RecordOperands<'_>,
        module: &mut LlvmModule,
        types: &BitcodeTypeTable,
        slots: &BitcodeValues,
    ) -> LlvmResult<()> {
        let kind = match code {
            STRING_OLD => {
                MetadataKind::String(module.strings.intern_bytes(&bytes_of(ops.remaining())))
            }
            VALUE => {
                types.read_type(&mut ops)?;
                let number = ops.next_index()?;
                match slots.get(number) {
                    Some(&(value, _)) => wrap_value(value),
                    None => {
                        // A local value that is defined later; it is filled in when the function
                        // ends.
                        let id = LlvmMetadata::new(module.metadata.len());
                        self.locals.push((id, number));
                        MetadataKind::Local(LlvmValue::from_local(0))
                    }
                }
            }
            NODE | DISTINCT_NODE => {
                let operands = self.read_operands(ops, 1, &mut module.metadata)?;
                MetadataKind::Node {
                    distinct: code == DISTINCT_NODE,
                    operands,
                }
            }
            ARG_LIST => MetadataKind::ArgList(self.read_operands(ops, 0, &mut module.metadata)?),
            EXPRESSION => {
                let distinct = ops.next()? & 1 != 0;
                let fields: Vec<_> = ops
                    .remaining()
                    .iter()
                    .map(|&op| (LlvmSymbol::EMPTY, MetadataField::Int(i128::from(op))))
                    .collect();
                let fields = module.metadata.push_fields(&fields);
                let class = module.strings.intern_text("DIExpression");
                MetadataKind::Specialised {
                    distinct,
                    class,
                    fields,
                }
            }
            LOCATION => return self.read_location_record(ops, module),
            code => self.read_specialised_node(code, ops, module)?,
        };
        module.metadata.push(kind);
        Ok(())
    }

    fn read_operands(
        &mut self,
        mut ops: RecordOperands<'_>,
        bias: u64,
        arena: &mut MetadataArena,
    ) -> LlvmResult<LlvmPoolRange> {
        let mut operands = Vec::with_capacity(ops.len());
        while !ops.is_empty() {
            let number = ops.next()?.saturating_add(1 - bias);
            operands.push(self.optional_reference(number, ops.place())?);
        }
        Ok(arena.push_operands(&operands))
    }

    fn read_specialised_node(
        &mut self,
        code: u64,
        mut ops: RecordOperands<'_>,
        module: &mut LlvmModule,
    ) -> LlvmResult<MetadataKind> {
        let Some(&(_, class, fields)) = ROWS.iter().find(|row| row.0 == code) else {
            return ops.fail_with(format!("metadata of code {code} is not supported"));
        };
        let distinct = ops.or_zero() & 1 != 0;
        let mut read = Vec::with_capacity(fields.len());
        for &(name, form) in fields {
            if ops.is_empty() {
                break;
            }
            let op = ops.next()?;
            let field = match form {
                RecordFieldForm::Skip => continue,
                RecordFieldForm::Ref if op == 0 => continue,
                RecordFieldForm::Int if op == 0 && !BOOLEAN.contains(&name) => continue,
                RecordFieldForm::Ref => {
                    MetadataField::Node(self.optional_reference(op, ops.place())?)
                }
                RecordFieldForm::Int => MetadataField::Int(i128::from(op)),
                RecordFieldForm::Signed => MetadataField::Int(i128::from(sign_rotated(op))),
            };
            read.push((module.strings.intern_text(name), field));
        }
        let fields = module.metadata.push_fields(&read);
        Ok(MetadataKind::Specialised {
            distinct,
            class: module.strings.intern_text(class),
            fields,
        })
    }

    fn read_location_record(
        &mut self,
        mut ops: RecordOperands<'_>,
        module: &mut LlvmModule,
    ) -> LlvmResult<()> {
        let distinct = ops.next()? & 1 != 0;
        let (line, column, scope) = (ops.next()?, ops.next()?, ops.next()?);
        let inlined_at = ops.or_zero();
        let implicit = ops.or_zero() != 0;
        let scope = self.get_or_forward(scope, ops.place())?;
        let inlined_at = self.optional_reference(inlined_at, ops.place())?;
        self.push_location(
            module,
            distinct,
            [line, column],
            scope,
            inlined_at,
            implicit,
        );
        Ok(())
    }

    fn push_location(
        &mut self,
        module: &mut LlvmModule,
        distinct: bool,
        [line, column]: [u64; 2],
        scope: LlvmMetadata,
        inlined_at: Option<LlvmMetadata>,
        implicit: bool,
    ) -> LlvmMetadata {
        let strings = &mut module.strings;
        let names = *self.names.get_or_insert_with(|| DebugLocationFields {
            class: strings.intern_text("DILocation"),
            line: strings.intern_text("line"),
            column: strings.intern_text("column"),
            scope: strings.intern_text("scope"),
            inlined_at: strings.intern_text("inlinedAt"),
            implicit: strings.intern_text("isImplicitCode"),
        });
        let mut fields = vec![(names.line, MetadataField::Int(i128::from(line)))];
        if column != 0 {
            fields.push((names.column, MetadataField::Int(i128::from(column))));
        }
        fields.push((names.scope, MetadataField::Node(Some(scope))));
        if inlined_at.is_some() {
            fields.push((names.inlined_at, MetadataField::Node(inlined_at)));
        }
        if implicit {
            fields.push((names.implicit, MetadataField::Int(1)));
        }
        let fields = module.metadata.push_fields(&fields);
        module.metadata.push(MetadataKind::Specialised {
            distinct,
            class: names.class,
            fields,
        })
    }

    /// The node of an instruction's debug location. The record has line, column, scope and
    /// inlined-at location (the last two plus one), and whether the location is implicit. The
    /// result is `None` if there is no scope.
    pub fn read_location(
        &mut self,
        mut ops: RecordOperands<'_>,
        module: &mut LlvmModule,
    ) -> LlvmResult<Option<LlvmMetadata>> {
        let key = [
            ops.next()?,
            ops.next()?,
            ops.next()?,
            ops.next()?,
            ops.or_zero(),
        ];
        let [line, column, scope, inlined_at, implicit] = key;
        let Some(scope) = self.get_optional(scope, ops.place())? else {
            return Ok(None);
        };
        // A function's numbers have another meaning in the next function.
        let inlined_at = self.get_optional(inlined_at, ops.place())?;
        let number = |id: Option<LlvmMetadata>| id.map_or(0, |id| id.index() as u64 + 1);
        let key = [
            line,
            column,
            number(Some(scope)),
            number(inlined_at),
            implicit,
        ];
        if let Some(&found) = self.locations.get(&key) {
            return Ok(Some(found));
        }
        let node = self.push_location(
            module,
            false,
            [line, column],
            scope,
            inlined_at,
            implicit != 0,
        );
        self.locations.insert(key, node);
        Ok(Some(node))
    }

    /// Reads a block of attachments. It calls `attach` with the number of the instruction (`None`
    /// for the function itself), the kind and the node.
    pub fn read_attachments(
        &mut self,
        bits: &mut BitstreamReader<'_>,
        mut attach: impl FnMut(Option<u64>, LlvmSymbol, LlvmMetadata, SourceLocation) -> LlvmResult<()>,
    ) -> LlvmResult<()> {
        let mut record = BitcodeRecord::default();
        while bits.next_record(&mut record)? {
            if record.code != ATTACHMENT {
                continue;
            }
            let mut ops = RecordOperands::from_record(&record);
            let place = ops.place();
            let inst = if ops.len() % 2 == 1 {
                Some(ops.next()?)
            } else {
                None
            };
            while !ops.is_empty() {
                let kind = self.find_kind(ops.next()?, place)?;
                attach(inst, kind, self.get(ops.next()?, place)?, place)?;
            }
        }
        Ok(())
    }
}

/// Wraps a value as metadata.
pub fn wrap_value(value: LlvmValue) -> MetadataKind {
    match value.kind() {
        ValueKind::Const(id) => MetadataKind::Constant(id),
        ValueKind::Local(_) | ValueKind::Metadata(_) => MetadataKind::Local(value),
    }
}

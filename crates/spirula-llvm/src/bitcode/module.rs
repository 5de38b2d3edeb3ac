//! The stream as a whole, and what a module has outside of functions.

use super::attributes::AttributeTable;
use super::bitstream::{Bitstream, Entry, Record};
use super::constants::{self, Slots};
use super::function;
use super::metadata::MetadataTable;
use super::ops::{Ops, bytes_of};
use super::symbols::{self, VST_ENTRY, VST_FUNCTION};
use super::types::TypeTable;
use crate::ir::{
    Aliasee, Align, AttrList, CallingConvention, Comdat, Const, ConstKind, DataLayout, Func,
    Function, Global, GlobalData, GlobalKind, Linkage, Module, Selection, Symbol, ThreadLocal,
    Type, TypeKind, UnnamedAddr, Value, Variable, Visibility,
};
use crate::upgrade;
use crate::{Error, fault};
use spirula_source::Place;

/// Kinds of blocks.
mod block {
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

/// The record that says what a module was made of.
const SOURCE_FILENAME: u64 = 16;

const MAGIC: [u8; 4] = [0x42, 0x43, 0xc0, 0xde];
const WRAPPER_MAGIC: u32 = 0x0b17_c0de;

/// Whether the bytes begin as bitcode does, with or without the wrapper of some systems.
pub fn is_bitcode(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC) || bytes.starts_with(&WRAPPER_MAGIC.to_le_bytes())
}

/// What is known while reading a module.
#[derive(Debug, Default)]
pub struct Reader {
    pub module: Module,
    pub types: TypeTable,
    pub attributes: AttributeTable,
    pub metadata: MetadataTable,
    /// Globals and constants of the module by number, then those of the function being read.
    pub slots: Slots,
    pub sync_scopes: Vec<Symbol>,
    pub bundle_tags: Vec<Symbol>,
    /// The memory that bodies are read in.
    pub room: Option<Function>,
    version: u64,
    sections: Vec<Symbol>,
    collectors: Vec<Symbol>,
    /// Functions with a body, in the order of the bodies.
    bodies: std::collections::VecDeque<Func>,
    /// Names as ranges of the table of strings.
    names: Vec<(Named, [u64; 2])>,
    /// Constants of globals by number, to be found when all are read.
    initializers: Vec<(Global, Part, usize)>,
}

#[derive(Clone, Copy, Debug)]
enum Named {
    Global(Global),
    Comdat(usize),
}

/// A part of a global that is a constant.
#[derive(Clone, Copy, Debug)]
enum Part {
    Initializer,
    Aliasee,
    Prefix,
    Prologue,
    Personality,
}

/// Reads bitcode.
///
/// # Errors
/// What is wrong, with the bit at which it was found.
pub fn read(bytes: &[u8]) -> Result<Module, Error> {
    let mut bits = Bitstream::new(unwrap(bytes)?, 32);
    let mut reader = None;
    let mut strings: &[u8] = &[];
    let mut record = Record::default();
    loop {
        match bits.next(&mut record)? {
            Entry::End => break,
            Entry::Record => return Err(fault(bits.place(), "a record outside of any block")),
            Entry::Block(block::IDENTIFICATION) => {
                bits.enter(block::IDENTIFICATION)?;
                check_epoch(&mut bits)?;
            }
            Entry::Block(block::MODULE) => {
                if reader.is_some() {
                    return Err(several(bytes, bits.place()));
                }
                bits.enter(block::MODULE)?;
                let mut new = Reader::default();
                new.read_module(&mut bits)?;
                reader = Some(new);
            }
            Entry::Block(block::STRINGS) => {
                bits.enter(block::STRINGS)?;
                strings = symbols::read_blob(&mut bits)?;
            }
            Entry::Block(_) => bits.skip()?,
        }
    }
    match reader {
        Some(reader) => reader.finish(strings),
        None => Err(fault(bits.place(), "the bitcode holds no module")),
    }
}

/// The refusal of bitcode that holds several modules, each of which stands for a file of its own:
/// which is meant, or that they belong together, only the user knows.
fn several(bytes: &[u8], place: Place) -> Error {
    let names = source_names(bytes).unwrap_or_default();
    let message = match names.len() {
        0 => "the bitcode holds several modules".to_owned(),
        count => format!("the bitcode holds {count} modules: {}", names.join(", ")),
    };
    let hint = "take one out with llvm-modextract -n NUMBER, or link them into one";
    Box::new((*fault(place, message)).with_hint(hint))
}

/// Longest name that is told of a module, and most of them.
const MAX_TOLD: usize = 60;

/// What each module says it was made of.
fn source_names(bytes: &[u8]) -> Result<Vec<String>, Error> {
    let mut bits = Bitstream::new(unwrap(bytes)?, 32);
    let mut record = Record::default();
    let mut names = Vec::new();
    let mut inside = false;
    while names.len() < MAX_TOLD {
        match bits.next(&mut record)? {
            Entry::End if inside => inside = false,
            Entry::End => break,
            Entry::Block(block::MODULE) if !inside => {
                bits.enter(block::MODULE)?;
                inside = true;
                names.push("one without a name".to_owned());
            }
            Entry::Block(_) => bits.skip()?,
            Entry::Record if inside && record.code == SOURCE_FILENAME => {
                let name = &record.ops[..record.ops.len().min(MAX_TOLD)];
                if let Some(last) = names.last_mut() {
                    *last = String::from_utf8_lossy(&bytes_of(name)).into_owned();
                }
            }
            Entry::Record => {}
        }
    }
    Ok(names)
}

/// The stream itself, without the wrapper of some systems.
fn unwrap(bytes: &[u8]) -> Result<&[u8], Error> {
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
                return Err(fault(
                    Place::Byte(8),
                    "the wrapper reaches past its contents",
                ));
            }
        }
    } else {
        bytes
    };
    match stream.starts_with(&MAGIC) {
        true => Ok(stream),
        false => Err(fault(Place::Byte(0), "not LLVM bitcode")),
    }
}

fn check_epoch(bits: &mut Bitstream<'_>) -> Result<(), Error> {
    let mut record = Record::default();
    loop {
        match bits.next(&mut record)? {
            Entry::End => return Ok(()),
            Entry::Block(_) => bits.skip()?,
            Entry::Record if record.code == 2 && record.ops.first() != Some(&0) => {
                return Err(fault(bits.place(), "bitcode of an incompatible format"));
            }
            Entry::Record => {}
        }
    }
}

impl Reader {
    fn read_module(&mut self, bits: &mut Bitstream<'_>) -> Result<(), Error> {
        let mut record = Record::default();
        loop {
            match bits.next(&mut record)? {
                Entry::End => return Ok(()),
                Entry::Block(kind) => self.read_block(kind, bits)?,
                Entry::Record => {
                    let ops = Ops::new(&record.ops, Place::Bit(record.at as u64));
                    self.module_record(record.code, ops)?;
                }
            }
        }
    }

    fn read_block(&mut self, kind: u64, bits: &mut Bitstream<'_>) -> Result<(), Error> {
        if kind == block::BLOCK_INFO {
            return bits.block_info();
        }
        if !matches!(kind, 9..=12 | 14 | 15 | 17 | 21 | 22 | 26) {
            return bits.skip();
        }
        bits.enter(kind)?;
        let module = &mut self.module;
        match kind {
            block::TYPES => self.types.read(bits, module),
            block::ATTRIBUTE_GROUPS => self.attributes.read_groups(bits, &self.types, module),
            block::ATTRIBUTES => self.attributes.read_lists(bits, module),
            block::CONSTANTS => constants::read(bits, module, &self.types, &mut self.slots),
            block::METADATA => self
                .metadata
                .read(bits, module, &self.types, &self.slots, false),
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
                    Some(func) => function::read(self, func, bits),
                    None => Err(fault(bits.place(), "a body that belongs to no function")),
                }
            }
        }
    }

    /// The symbol table of a module, which names globals before there was a table of strings.
    fn read_symbols(&mut self, bits: &mut Bitstream<'_>) -> Result<(), Error> {
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

    fn module_record(&mut self, code: u64, mut ops: Ops<'_>) -> Result<(), Error> {
        let text = |ops: &Ops<'_>| String::from_utf8_lossy(&bytes_of(ops.rest())).into_owned();
        match code {
            1 => {
                self.version = ops.next()?;
                if !(1..=2).contains(&self.version) {
                    return ops.error("bitcode of a version that is not known");
                }
            }
            2 => self.module.triple = text(&ops),
            3 => match DataLayout::parse(&text(&ops)) {
                Ok(layout) => self.module.layout = layout,
                Err(part) => return ops.error(format!("data layout part `{part}` is not known")),
            },
            4 => self.module.module_asm = text(&ops),
            5 => {
                let name = self.module.strings.intern_bytes(&bytes_of(ops.rest()));
                self.sections.push(name);
            }
            7 => self.variable(ops)?,
            8 => self.function(ops)?,
            11 => {
                let name = self.module.strings.intern_bytes(&bytes_of(ops.rest()));
                self.collectors.push(name);
            }
            12 => self.comdat(ops)?,
            14 => self.alias(ops)?,
            SOURCE_FILENAME => self.module.source_filename = text(&ops),
            18 => self.ifunc(ops)?,
            9 => return ops.error("aliases of LLVM before 3.9 are not supported"),
            _ => {}
        }
        Ok(())
    }

    /// The name at the beginning of a record, as a range of the table of strings.
    fn name_range(&self, ops: &mut Ops<'_>) -> Result<[u64; 2], Error> {
        if self.version < 2 {
            return Ok([0, 0]);
        }
        Ok([ops.next()?, ops.next()?])
    }

    fn comdat(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let range = self.name_range(&mut ops)?;
        let selection = Selection::from_code(ops.next()?).unwrap_or(Selection::Any);
        let mut name = Symbol::EMPTY;
        if self.version < 2 {
            let len = ops.index()?;
            name = self.module.strings.intern_bytes(&bytes_of(ops.take(len)?));
        } else {
            self.names
                .push((Named::Comdat(self.module.comdats.len()), range));
        }
        self.module.comdats.push(Comdat { name, selection });
        Ok(())
    }

    /// The next global, with what all have in common still to be filled in.
    fn new_global(
        &mut self,
        value_type: Type,
        space: u32,
        kind: GlobalKind,
        range: [u64; 2],
        place: Place,
    ) -> GlobalData {
        let pointee = self.types.typed_pointers.then_some(value_type);
        let ty = self
            .module
            .types
            .intern(TypeKind::Pointer { space, pointee });
        let global = Global::new(self.module.globals.len());
        self.names.push((Named::Global(global), range));
        GlobalData::new(value_type, ty, space, kind, place)
    }

    fn push_global(&mut self, mut data: GlobalData) {
        upgrade::infer_dso_local(&mut data);
        let global = Global::new(self.module.globals.len());
        let id = self
            .module
            .consts
            .intern(data.ty, ConstKind::Global(global));
        self.slots.push((Value::constant(id), data.ty));
        self.module.globals.push(data);
    }

    /// Remembers that a part of the next global is the constant of this number minus one.
    fn refer(&mut self, part: Part, number: u64) {
        if let Some(number) = number.checked_sub(1) {
            let global = Global::new(self.module.globals.len());
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            self.initializers.push((global, part, number));
        }
    }

    fn variable(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let range = self.name_range(&mut ops)?;
        let mut value_type = self.types.take(&mut ops)?;
        let flags = ops.next()?;
        let mut space = (flags >> 2) as u32;
        if flags & 2 == 0 {
            match *self.module.types.kind(value_type) {
                TypeKind::Pointer {
                    space: at,
                    pointee: Some(pointee),
                } => {
                    (value_type, space) = (pointee, at);
                }
                _ => return ops.error("a variable without a type"),
            }
        }
        let variable = Variable {
            initializer: None,
            constant: flags & 1 != 0,
            externally_initialized: false,
            attributes: crate::ir::AttrSet::EMPTY,
        };
        let kind = GlobalKind::Variable(variable);
        let mut data = self.new_global(value_type, space, kind, range, ops.place());
        self.refer(Part::Initializer, ops.next()?);
        data.linkage = linkage(ops.next()?);
        data.align = align(ops.or_zero(), &ops)?;
        data.section = self.section(ops.or_zero(), &ops)?;
        data.visibility = visibility(ops.or_zero(), data.linkage);
        data.thread_local = ThreadLocal::from_code(ops.or_zero()).unwrap_or(ThreadLocal::None);
        data.unnamed_addr = UnnamedAddr::from_code(ops.or_zero()).unwrap_or(UnnamedAddr::None);
        let externally_initialized = ops.or_zero() != 0;
        data.dll_storage = ops.or_zero() as u8;
        data.comdat = self.comdat_of(ops.or_zero(), &ops)?;
        let attributes = match ops.is_empty() {
            true => variable.attributes,
            false => self.attributes.get_set(&mut ops, &self.module)?,
        };
        data.kind = GlobalKind::Variable(Variable {
            externally_initialized,
            attributes,
            ..variable
        });
        data.dso_local = ops.or_zero() != 0;
        self.push_global(data);
        Ok(())
    }

    fn function(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let range = self.name_range(&mut ops)?;
        let mut ty = self.types.take(&mut ops)?;
        if let TypeKind::Pointer {
            pointee: Some(pointee),
            ..
        } = *self.module.types.kind(ty)
        {
            ty = pointee;
        }
        let Some((_, params, _)) = self.module.types.signature(ty) else {
            return ops.error("a function without a function type");
        };
        let params = params.to_vec();
        let convention = CallingConvention(ops.next_u32()?);
        let is_declaration = ops.next()? != 0;
        let link = linkage(ops.next()?);
        let attributes = if ops.is_empty() {
            AttrList::EMPTY
        } else {
            self.attributes.get(&mut ops)?
        };
        let func = Func::new(self.module.functions.len());
        let rest = ops.rest();
        // The type of the address depends on its space, which a later field says.
        let space = rest
            .get(11)
            .map_or(self.module.layout.program_space(), |&space| space as u32);
        let kind = GlobalKind::Function(func);
        let mut data = self.new_global(ty, space, kind, range, ops.place());
        data.linkage = link;
        data.align = align(ops.or_zero(), &ops)?;
        data.section = self.section(ops.or_zero(), &ops)?;
        data.visibility = visibility(ops.or_zero(), link);
        let global = Global::new(self.module.globals.len());
        let mut function = Function::new(global, ty, params);
        function.convention = convention;
        function.attributes = attributes;
        function.gc = named(&self.collectors, ops.or_zero(), &ops)?;
        data.unnamed_addr = UnnamedAddr::from_code(ops.or_zero()).unwrap_or(UnnamedAddr::None);
        self.refer(Part::Prologue, ops.or_zero());
        data.dll_storage = ops.or_zero() as u8;
        data.comdat = self.comdat_of(ops.or_zero(), &ops)?;
        self.refer(Part::Prefix, ops.or_zero());
        self.refer(Part::Personality, ops.or_zero());
        data.dso_local = ops.or_zero() != 0;
        self.push_global(data);
        self.module.functions.push(function);
        if !is_declaration {
            self.bodies.push_back(func);
        }
        Ok(())
    }

    fn alias(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let range = self.name_range(&mut ops)?;
        let (value_type, space) = (self.types.take(&mut ops)?, ops.next_u32()?);
        let kind = GlobalKind::Alias(Aliasee(None));
        let mut data = self.new_global(value_type, space, kind, range, ops.place());
        self.refer(Part::Aliasee, ops.next()?.saturating_add(1));
        data.linkage = linkage(ops.next()?);
        data.visibility = visibility(ops.or_zero(), data.linkage);
        data.dll_storage = ops.or_zero() as u8;
        data.thread_local = ThreadLocal::from_code(ops.or_zero()).unwrap_or(ThreadLocal::None);
        data.unnamed_addr = UnnamedAddr::from_code(ops.or_zero()).unwrap_or(UnnamedAddr::None);
        data.dso_local = ops.or_zero() != 0;
        self.push_global(data);
        Ok(())
    }

    fn ifunc(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let range = self.name_range(&mut ops)?;
        let (value_type, space) = (self.types.take(&mut ops)?, ops.next_u32()?);
        let kind = GlobalKind::Ifunc(Aliasee(None));
        let mut data = self.new_global(value_type, space, kind, range, ops.place());
        self.refer(Part::Aliasee, ops.next()?.saturating_add(1));
        data.linkage = linkage(ops.next()?);
        data.visibility = visibility(ops.or_zero(), data.linkage);
        self.push_global(data);
        Ok(())
    }

    fn section(&self, number: u64, ops: &Ops<'_>) -> Result<Symbol, Error> {
        named(&self.sections, number, ops)
    }

    fn comdat_of(&self, number: u64, ops: &Ops<'_>) -> Result<Option<u32>, Error> {
        match number {
            0 => Ok(None),
            number if number <= self.module.comdats.len() as u64 => Ok(Some(number as u32 - 1)),
            // Before LLVM 3.6 a mere flag.
            _ if self.version < 2 => Ok(None),
            _ => ops.error("a comdat that is not defined"),
        }
    }

    fn finish(mut self, strings: &[u8]) -> Result<Module, Error> {
        if !self.bodies.is_empty() {
            return Err(fault(Place::Unknown, "a function lacks its body"));
        }
        self.set_names(strings)?;
        for (global, part, number) in std::mem::take(&mut self.initializers) {
            let id = self.slots.get(number).and_then(|slot| slot.0.as_const());
            let place = self.module.global(global).place;
            let id = id.ok_or_else(|| fault(place, "a global made of what is no constant"))?;
            self.set_part(global, part, id);
        }
        Ok(self.module)
    }

    fn set_names(&mut self, strings: &[u8]) -> Result<(), Error> {
        for &(named, [start, len]) in &self.names {
            if len == 0 {
                continue;
            }
            let range = usize::try_from(start).ok().zip(usize::try_from(len).ok());
            let bytes = range
                .and_then(|(start, len)| strings.get(start..start.checked_add(len)?))
                .ok_or_else(|| fault(Place::Unknown, "a name past the end of the strings"))?;
            let name = self.module.strings.intern_bytes(bytes);
            match named {
                Named::Global(global) => self.module.globals[global.index()].name = name,
                Named::Comdat(index) => self.module.comdats[index].name = name,
            }
        }
        Ok(())
    }

    fn set_part(&mut self, global: Global, part: Part, id: Const) {
        let kind = &mut self.module.globals[global.index()].kind;
        match (part, kind) {
            (Part::Initializer, GlobalKind::Variable(variable)) => variable.initializer = Some(id),
            (Part::Aliasee, GlobalKind::Alias(aliasee) | GlobalKind::Ifunc(aliasee)) => {
                *aliasee = Aliasee(Some(id));
            }
            (_, GlobalKind::Function(func)) => {
                let function = &mut self.module.functions[func.index()];
                match part {
                    Part::Prefix => function.prefix = Some(id),
                    Part::Prologue => function.prologue = Some(id),
                    _ => function.personality = Some(id),
                }
            }
            _ => {}
        }
    }
}

/// The name with this number; 0 is no name.
fn named(names: &[Symbol], number: u64, ops: &Ops<'_>) -> Result<Symbol, Error> {
    match number {
        0 => Ok(Symbol::EMPTY),
        number => match usize::try_from(number - 1)
            .ok()
            .and_then(|at| names.get(at))
        {
            Some(&name) => Ok(name),
            None => ops.error("a section or collector that is not defined"),
        },
    }
}

/// An alignment written as its exponent plus one.
pub fn align(encoded: u64, ops: &Ops<'_>) -> Result<Align, Error> {
    match encoded {
        0 => Ok(Align::NONE),
        1..=33 => Ok(Align::from_exponent(encoded as u8 - 1)),
        _ => ops.error("an impossible alignment"),
    }
}

fn linkage(code: u64) -> Linkage {
    match code {
        1 => Linkage::Weak,
        4 => Linkage::LinkOnce,
        10 => Linkage::WeakOdr,
        11 => Linkage::LinkOnceOdr,
        13 | 14 => Linkage::Private,
        code => Linkage::from_code(code).unwrap_or(Linkage::External),
    }
}

fn visibility(code: u64, linkage: Linkage) -> Visibility {
    match linkage.is_local() {
        true => Visibility::Default,
        false => Visibility::from_code(code).unwrap_or(Visibility::Default),
    }
}

//! Records of globals: variables, functions, aliases and comdats. Their names and constants are
//! resolved at the end of the module.

use super::module_reader::{BitcodeModuleReader, GlobalConstantPart, NamedEntity};
use super::record_operands::{RecordOperands, bytes_of};
use crate::auto_upgrade;
use crate::ir::{
    AttrList, CallingConvention, ComdatGroup, ConstKind, GlobalAliasee, GlobalData, GlobalKind,
    Linkage, LlvmAlign, LlvmConst, LlvmFunc, LlvmFunction, LlvmGlobal, LlvmGlobalVariable,
    LlvmModule, LlvmSymbol, LlvmType, LlvmTypeKind, LlvmValue, Selection, ThreadLocal, UnnamedAddr,
    Visibility,
};
use crate::{LlvmResult, error_at};
use spirula_diagnostics::SourceLocation;

impl BitcodeModuleReader {
    /// The name at the beginning of a record, as a range of the string table.
    fn name_range(&self, ops: &mut RecordOperands<'_>) -> LlvmResult<[u64; 2]> {
        if self.version < 2 {
            return Ok([0, 0]);
        }
        Ok([ops.next()?, ops.next()?])
    }

    pub(super) fn read_comdat(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let range = self.name_range(&mut ops)?;
        let selection = Selection::from_code(ops.next()?).unwrap_or(Selection::Any);
        let mut name = LlvmSymbol::EMPTY;
        if self.version < 2 {
            let len = ops.next_index()?;
            name = self.module.strings.intern_bytes(&bytes_of(ops.take(len)?));
        } else {
            self.names
                .push((NamedEntity::Comdat(self.module.comdats.len()), range));
        }
        self.module.comdats.push(ComdatGroup { name, selection });
        Ok(())
    }

    /// Begins the next global. The fields that all kinds of globals share are filled in later.
    fn new_global(
        &mut self,
        value_type: LlvmType,
        space: u32,
        kind: GlobalKind,
        range: [u64; 2],
        place: SourceLocation,
    ) -> GlobalData {
        let pointee = self.types.typed_pointers.then_some(value_type);
        let ty = self
            .module
            .types
            .intern_type(LlvmTypeKind::Pointer { space, pointee });
        let global = LlvmGlobal::new(self.module.globals.len());
        self.names.push((NamedEntity::Global(global), range));
        GlobalData::new(value_type, ty, space, kind, place)
    }

    fn push_global(&mut self, mut data: GlobalData) {
        auto_upgrade::infer_dso_local(&mut data);
        let global = LlvmGlobal::new(self.module.globals.len());
        let id = self
            .module
            .consts
            .intern_constant(data.ty, ConstKind::Global(global));
        self.slots.push((LlvmValue::from_constant(id), data.ty));
        self.module.globals.push(data);
    }

    /// Records that an operand of the next global is a constant, given by its number plus one.
    fn defer_constant(&mut self, part: GlobalConstantPart, number: u64) {
        if let Some(number) = number.checked_sub(1) {
            let global = LlvmGlobal::new(self.module.globals.len());
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            self.initializers.push((global, part, number));
        }
    }

    pub(super) fn read_variable(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let range = self.name_range(&mut ops)?;
        let mut value_type = self.types.read_type(&mut ops)?;
        let flags = ops.next()?;
        let mut space = (flags >> 2) as u32;
        if flags & 2 == 0 {
            match *self.module.types.kind(value_type) {
                LlvmTypeKind::Pointer {
                    space: at,
                    pointee: Some(pointee),
                } => {
                    (value_type, space) = (pointee, at);
                }
                _ => return ops.fail_with("a variable without a type"),
            }
        }
        let variable = LlvmGlobalVariable {
            initializer: None,
            constant: flags & 1 != 0,
            externally_initialized: false,
            attributes: crate::ir::AttrSet::EMPTY,
        };
        let kind = GlobalKind::Variable(variable);
        let mut data = self.new_global(value_type, space, kind, range, ops.place());
        self.defer_constant(GlobalConstantPart::Initializer, ops.next()?);
        data.linkage = decode_linkage(ops.next()?);
        data.align = decode_alignment(ops.or_zero(), &ops)?;
        data.section = self.find_section(ops.or_zero(), &ops)?;
        data.visibility = decode_visibility(ops.or_zero(), data.linkage);
        data.thread_local = ThreadLocal::from_code(ops.or_zero()).unwrap_or(ThreadLocal::None);
        data.unnamed_addr = UnnamedAddr::from_code(ops.or_zero()).unwrap_or(UnnamedAddr::None);
        let externally_initialized = ops.or_zero() != 0;
        data.dll_storage = ops.or_zero() as u8;
        data.comdat = self.comdat_of(ops.or_zero(), &ops)?;
        let attributes = if ops.is_empty() {
            variable.attributes
        } else {
            self.attributes.get_set(&mut ops, &self.module)?
        };
        data.kind = GlobalKind::Variable(LlvmGlobalVariable {
            externally_initialized,
            attributes,
            ..variable
        });
        data.dso_local = ops.or_zero() != 0;
        self.push_global(data);
        Ok(())
    }

    pub(super) fn read_function(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let range = self.name_range(&mut ops)?;
        let mut ty = self.types.read_type(&mut ops)?;
        if let LlvmTypeKind::Pointer {
            pointee: Some(pointee),
            ..
        } = *self.module.types.kind(ty)
        {
            ty = pointee;
        }
        let Some((_, params, _)) = self.module.types.function_signature(ty) else {
            return ops.fail_with("a function without a function type");
        };
        let params = params.to_vec();
        let convention = CallingConvention(ops.next_u32()?);
        let is_declaration = ops.next()? != 0;
        let link = decode_linkage(ops.next()?);
        let attributes = if ops.is_empty() {
            AttrList::EMPTY
        } else {
            self.attributes.read_list_number(&mut ops)?
        };
        let func = LlvmFunc::new(self.module.functions.len());
        let rest = ops.remaining();
        // The type of the address depends on its address space, which is in a later field.
        let space = rest
            .get(11)
            .map_or(self.module.layout.program_space(), |&space| space as u32);
        let kind = GlobalKind::Function(func);
        let mut data = self.new_global(ty, space, kind, range, ops.place());
        data.linkage = link;
        data.align = decode_alignment(ops.or_zero(), &ops)?;
        data.section = self.find_section(ops.or_zero(), &ops)?;
        data.visibility = decode_visibility(ops.or_zero(), link);
        let global = LlvmGlobal::new(self.module.globals.len());
        let mut function = LlvmFunction::new(global, ty, params);
        function.convention = convention;
        function.attributes = attributes;
        function.gc = find_name(&self.collectors, ops.or_zero(), &ops)?;
        data.unnamed_addr = UnnamedAddr::from_code(ops.or_zero()).unwrap_or(UnnamedAddr::None);
        self.defer_constant(GlobalConstantPart::Prologue, ops.or_zero());
        data.dll_storage = ops.or_zero() as u8;
        data.comdat = self.comdat_of(ops.or_zero(), &ops)?;
        self.defer_constant(GlobalConstantPart::Prefix, ops.or_zero());
        self.defer_constant(GlobalConstantPart::Personality, ops.or_zero());
        data.dso_local = ops.or_zero() != 0;
        self.push_global(data);
        self.module.functions.push(function);
        if !is_declaration {
            self.bodies.push_back(func);
        }
        Ok(())
    }

    pub(super) fn read_alias(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let range = self.name_range(&mut ops)?;
        let (value_type, space) = (self.types.read_type(&mut ops)?, ops.next_u32()?);
        let kind = GlobalKind::Alias(GlobalAliasee(None));
        let mut data = self.new_global(value_type, space, kind, range, ops.place());
        self.defer_constant(GlobalConstantPart::Aliasee, ops.next()?.saturating_add(1));
        data.linkage = decode_linkage(ops.next()?);
        data.visibility = decode_visibility(ops.or_zero(), data.linkage);
        data.dll_storage = ops.or_zero() as u8;
        data.thread_local = ThreadLocal::from_code(ops.or_zero()).unwrap_or(ThreadLocal::None);
        data.unnamed_addr = UnnamedAddr::from_code(ops.or_zero()).unwrap_or(UnnamedAddr::None);
        data.dso_local = ops.or_zero() != 0;
        self.push_global(data);
        Ok(())
    }

    pub(super) fn read_ifunc(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let range = self.name_range(&mut ops)?;
        let (value_type, space) = (self.types.read_type(&mut ops)?, ops.next_u32()?);
        let kind = GlobalKind::Ifunc(GlobalAliasee(None));
        let mut data = self.new_global(value_type, space, kind, range, ops.place());
        self.defer_constant(GlobalConstantPart::Aliasee, ops.next()?.saturating_add(1));
        data.linkage = decode_linkage(ops.next()?);
        data.visibility = decode_visibility(ops.or_zero(), data.linkage);
        self.push_global(data);
        Ok(())
    }

    fn find_section(&self, number: u64, ops: &RecordOperands<'_>) -> LlvmResult<LlvmSymbol> {
        find_name(&self.sections, number, ops)
    }

    fn comdat_of(&self, number: u64, ops: &RecordOperands<'_>) -> LlvmResult<Option<u32>> {
        match number {
            0 => Ok(None),
            number if number <= self.module.comdats.len() as u64 => Ok(Some(number as u32 - 1)),
            // Before LLVM 3.6 this field is a flag.
            _ if self.version < 2 => Ok(None),
            _ => ops.fail_with("a comdat that is not defined"),
        }
    }

    /// Completes the module once everything was read and the names are known.
    pub(super) fn finish_module(mut self, strings: &[u8]) -> LlvmResult<LlvmModule> {
        if !self.bodies.is_empty() {
            return Err(error_at(
                SourceLocation::Unknown,
                "a function without its body",
            ));
        }
        self.set_names(strings)?;
        for (global, part, number) in std::mem::take(&mut self.initializers) {
            let id = self.slots.get(number).and_then(|slot| slot.0.as_const());
            let place = self.module.global(global).place;
            let id =
                id.ok_or_else(|| error_at(place, "a global whose operand is not a constant"))?;
            self.set_global_constant(global, part, id);
        }
        Ok(self.module)
    }

    fn set_names(&mut self, strings: &[u8]) -> LlvmResult<()> {
        for &(named, [start, len]) in &self.names {
            if len == 0 {
                continue;
            }
            let range = usize::try_from(start).ok().zip(usize::try_from(len).ok());
            let bytes = range
                .and_then(|(start, len)| strings.get(start..start.checked_add(len)?))
                .ok_or_else(|| {
                    error_at(
                        SourceLocation::Unknown,
                        "a name past the end of the string table",
                    )
                })?;
            let name = self.module.strings.intern_bytes(bytes);
            match named {
                NamedEntity::Global(global) => self.module.globals[global.index()].name = name,
                NamedEntity::Comdat(index) => self.module.comdats[index].name = name,
            }
        }
        Ok(())
    }

    fn set_global_constant(&mut self, global: LlvmGlobal, part: GlobalConstantPart, id: LlvmConst) {
        let kind = &mut self.module.globals[global.index()].kind;
        match (part, kind) {
            (GlobalConstantPart::Initializer, GlobalKind::Variable(variable)) => {
                variable.initializer = Some(id)
            }
            (
                GlobalConstantPart::Aliasee,
                GlobalKind::Alias(aliasee) | GlobalKind::Ifunc(aliasee),
            ) => {
                *aliasee = GlobalAliasee(Some(id));
            }
            (_, GlobalKind::Function(func)) => {
                let function = &mut self.module.functions[func.index()];
                match part {
                    GlobalConstantPart::Prefix => function.prefix = Some(id),
                    GlobalConstantPart::Prologue => function.prologue = Some(id),
                    _ => function.personality = Some(id),
                }
            }
            _ => {}
        }
    }
}

/// The name with this number; 0 stands for no name.
fn find_name(
    names: &[LlvmSymbol],
    number: u64,
    ops: &RecordOperands<'_>,
) -> LlvmResult<LlvmSymbol> {
    match number {
        0 => Ok(LlvmSymbol::EMPTY),
        number => match usize::try_from(number - 1)
            .ok()
            .and_then(|at| names.get(at))
        {
            Some(&name) => Ok(name),
            None => ops.fail_with("a section or collector that is not defined"),
        },
    }
}

/// Decodes an alignment, which is written as its exponent plus one.
pub(super) fn decode_alignment(encoded: u64, ops: &RecordOperands<'_>) -> LlvmResult<LlvmAlign> {
    match encoded {
        0 => Ok(LlvmAlign::NONE),
        1..=33 => Ok(LlvmAlign::from_exponent(encoded as u8 - 1)),
        _ => ops.fail_with("an impossible alignment"),
    }
}

fn decode_linkage(code: u64) -> Linkage {
    match code {
        1 => Linkage::Weak,
        4 => Linkage::LinkOnce,
        10 => Linkage::WeakOdr,
        11 => Linkage::LinkOnceOdr,
        13 | 14 => Linkage::Private,
        code => Linkage::from_code(code).unwrap_or(Linkage::External),
    }
}

fn decode_visibility(code: u64, linkage: Linkage) -> Visibility {
    if linkage.is_local() {
        Visibility::Default
    } else {
        Visibility::from_code(code).unwrap_or(Visibility::Default)
    }
}

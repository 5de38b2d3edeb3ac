//! The emulator: the module that is being changed, and the emission of instructions into it.

use super::access_chains::WordBufferPointer;
use super::type_shapes::{EmulatedScalar, EmulatedShape, compute_shapes};
use super::{MissingNumericTypes, is_gone};
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::analysis::{IdDecorations, IdDefinitions, TypeLayouts};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{
    Capability, Decoration, ExecutionMode, MemoryModel, Scope, StorageClass,
};
use spirula_spirv::ir::{IdWords, Inst, InstRef, ModuleSection, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// A module that is being changed. `source` is the original; instructions of both have the same handles and ids.
pub struct TypeEmulator<'a> {
    pub source: &'a SpirvModule,
    pub lacking: MissingNumericTypes,
    pub definitions: IdDefinitions,
    pub decorations: IdDecorations,
    pub layouts: TypeLayouts,
    pub ids: IdWords,
    pub shapes: IdMap<Option<EmulatedShape>>,
    pub m: SpirvModule,
    /// New instructions are inserted before this one.
    pub at: Inst,
    /// The first type of the source, before which new types are inserted.
    front: Option<Inst>,
    types: FxHashMap<(Op, Vec<u32>), Id>,
    numbers: FxHashMap<(Id, u32), Id>,
    glsl: Option<Id>,
    /// The division function.
    pub divider: Option<Id>,
    /// Pointers into buffers of words.
    pub chains: FxHashMap<Id, WordBufferPointer>,
    /// Buffers of words.
    pub packed: IdMap<bool>,
    /// Arrays that replace vectors of 64-bit integers, by their lengths.
    pub arrays: Vec<(u32, Id)>,
    /// Vector types that became equal to another type.
    pub same: Vec<(Inst, Id)>,
    /// Values that replace original ones.
    replaced: IdMap<bool>,
}

impl<'a> TypeEmulator<'a> {
    /// Analyses a module.
    pub fn new(
        source: &'a SpirvModule,
        lacking: MissingNumericTypes,
    ) -> Result<Self, SourceDiagnostic> {
        let definitions = IdDefinitions::from_module(source);
        let decorations = IdDecorations::from_module(source);
        let layouts = TypeLayouts::from_module(source, &definitions, &decorations, |id| {
            Some(definitions.default_value(source, id).unwrap_or(0))
        })?;
        let front = source.section_insts(ModuleSection::Globals).next();
        let front = front.map(InstRef::handle);
        let any = source.all_insts().next().map(InstRef::handle);
        let at = front.or(any);
        let at = at.ok_or_else(|| crate::error::diagnose_unsupported("an empty module"))?;
        Ok(TypeEmulator {
            shapes: compute_shapes(source, lacking),
            ids: IdWords::new(source),
            m: source.clone(),
            source,
            lacking,
            definitions,
            decorations,
            layouts,
            at,
            front,
            types: FxHashMap::default(),
            numbers: FxHashMap::default(),
            glsl: None,
            divider: None,
            chains: FxHashMap::default(),
            packed: IdMap::new(source.bound(), false),
            arrays: Vec::new(),
            same: Vec::new(),
            replaced: IdMap::new(source.bound(), false),
        })
    }

    /// Emulates the whole module.
    pub fn emulate_module(mut self) -> Result<SpirvModule, Vec<SourceDiagnostic>> {
        let mut faults = Vec::new();
        faults.extend(self.pack_variables().err());
        for func in self.source.functions() {
            for inst in self.source.function_insts(*func) {
                faults.extend(self.rewrite_instruction(inst).err());
            }
        }
        faults.extend(self.rewrite_globals().err());
        if !faults.is_empty() {
            return Err(faults);
        }
        self.remove_stale_declarations();
        self.join_types();
        Ok(self.m)
    }

    /// Drops declarations that are not needed any more, or refer to removed ids.
    fn remove_stale_declarations(&mut self) {
        let lacking = self.lacking;
        let capabilities = self.source.section_insts(ModuleSection::Capabilities);
        let capabilities = capabilities.filter(|c| is_gone(Capability(c.operand_word(0)), lacking));
        let modes = self.source.section_insts(ModuleSection::ExecutionModes);
        let modes = modes.filter(|m| {
            let of_halves = [
                ExecutionMode::SignedZeroInfNanPreserve.0,
                ExecutionMode::DenormPreserve.0,
                ExecutionMode::DenormFlushToZero.0,
                ExecutionMode::RoundingModeRTE.0,
                ExecutionMode::RoundingModeRTZ.0,
            ];
            lacking.narrow && of_halves.contains(&m.operand_word(1)) && m.operand_word(2) == 16
        });
        let stale = [
            Decoration::NoContraction,
            Decoration::FPRoundingMode,
            Decoration::FPFastMathMode,
            Decoration::RelaxedPrecision,
            Decoration::NoSignedWrap,
            Decoration::NoUnsignedWrap,
        ];
        let annotations = self.source.section_insts(ModuleSection::Annotations);
        let annotations = annotations.filter(|a| {
            a.op() == Op::Decorate
                && stale.contains(&Decoration(a.operand_word(1)))
                && self.replaced[a.id_operand(0)]
        });
        let gone = capabilities.chain(modes).chain(annotations);
        let mut gone: Vec<Inst> = gone.map(InstRef::handle).collect();
        let linkage = self
            .m
            .section_insts(ModuleSection::Annotations)
            .filter(|a| {
                a.op() == Op::Decorate
                    && a.operand_word(1) == Decoration::LinkageAttributes.0
                    && self.divider == Some(a.id_operand(0))
            });
        gone.extend(linkage.map(InstRef::handle));
        gone.into_iter().for_each(|inst| self.m.remove_inst(inst));
    }

    /// The definition of an id of the source.
    pub fn find_definition(&self, id: Id) -> Option<InstRef<'a>> {
        self.definitions.get(self.source, id)
    }

    /// The type of a value of the source.
    pub fn type_of(&self, value: Id) -> Option<Id> {
        self.find_definition(value)?.result_type()
    }

    /// The shape of a value of the source.
    pub fn find_shape(&self, value: Id) -> Option<EmulatedShape> {
        let ty = self.type_of(value)?;
        // Values that the source does not have, have no shape.
        (ty.word() < self.source.bound()).then(|| self.shapes[ty])?
    }

    /// The refusal of an instruction.
    pub fn diagnose_instruction(&self, inst: InstRef<'_>, construct: &str) -> SourceDiagnostic {
        let text = format!("{construct} cannot be done without what the device lacks");
        SourceDiagnostic::error(inst.place(), text)
    }

    /// Inserts a new instruction.
    pub fn insert_instruction(&mut self, op: Op, words: &[u32]) -> Inst {
        let inst = self.m.create_inst(op, words);
        self.m.insert_before(self.at, inst);
        inst
    }

    /// Emits a new value.
    pub fn emit_value(&mut self, op: Op, ty: Id, operands: &[Id]) -> Id {
        let operands: Vec<u32> = operands.iter().map(|id| id.word()).collect();
        self.op_words(op, ty, &operands)
    }

    /// Emits a new value, with words as operands.
    pub fn op_words(&mut self, op: Op, ty: Id, operands: &[u32]) -> Id {
        let id = self.m.fresh_id();
        self.insert_instruction(op, &[&[ty.word(), id.word()], operands].concat());
        id
    }

    /// Extracts a component of a composite.
    pub fn extract_component(&mut self, ty: Id, value: Id, n: u32) -> Id {
        self.op_words(Op::CompositeExtract, ty, &[value.word(), n])
    }

    /// Emits an instruction of GLSL.std.450.
    pub fn call_glsl(&mut self, number: u32, ty: Id, operands: &[Id]) -> Id {
        let set = self.import_glsl();
        let words = [set.word(), number].into_iter();
        let words: Vec<u32> = words.chain(operands.iter().map(|id| id.word())).collect();
        self.op_words(Op::ExtInst, ty, &words)
    }

    fn import_glsl(&mut self) -> Id {
        if let Some(known) = self.glsl {
            return known;
        }
        let mut imports = self.source.section_insts(ModuleSection::Imports);
        let own = imports.find(|i| i.string_operand(0) == "GLSL.std.450");
        let id = match own.and_then(InstRef::result) {
            Some(own) => own,
            None => {
                let id = self.m.fresh_id();
                let mut words = vec![id.word()];
                let (chunks, _) = b"GLSL.std.450\0\0\0\0".as_chunks::<4>();
                words.extend(chunks.iter().map(|c| u32::from_le_bytes(*c)));
                let inst = self.m.create_inst(Op::ExtInstImport, &words);
                self.m.append_inst(ModuleSection::Imports.list(), inst);
                id
            }
        };
        *self.glsl.insert(id)
    }

    /// Emits a declaration before those of the source.
    pub fn insert_declaration(&mut self, op: Op, words: &[u32]) {
        let inst = self.m.create_inst(op, words);
        match self.front {
            Some(front) => self.m.insert_before(front, inst),
            None => self.m.append_inst(ModuleSection::Globals.list(), inst),
        }
    }

    /// Declares a type; equal types of the source are merged with it later.
    pub fn make_type(&mut self, op: Op, operands: &[u32]) -> Id {
        let key = (op, operands.to_vec());
        if let Some(known) = self.types.get(&key) {
            return *known;
        }
        let id = self.m.fresh_id();
        self.insert_declaration(op, &[&[id.word()], operands].concat());
        self.types.insert(key, id);
        id
    }

    pub fn make_uint_type(&mut self) -> Id {
        self.make_type(Op::TypeInt, &[32, 0])
    }

    pub fn make_float_type(&mut self) -> Id {
        self.make_type(Op::TypeFloat, &[32])
    }

    pub fn make_bool_type(&mut self) -> Id {
        self.make_type(Op::TypeBool, &[])
    }

    /// Declares a vector type of a scalar.
    pub fn make_vector_type(&mut self, part: Id, count: u32) -> Id {
        match count {
            1 => part,
            _ => self.make_type(Op::TypeVector, &[part.word(), count]),
        }
    }

    pub fn make_uint_vector_type(&mut self, count: u32) -> Id {
        let part = self.make_uint_type();
        self.make_vector_type(part, count)
    }

    pub fn make_float_vector_type(&mut self, count: u32) -> Id {
        let part = self.make_float_type();
        self.make_vector_type(part, count)
    }

    pub fn make_bool_vector_type(&mut self, count: u32) -> Id {
        let part = self.make_bool_type();
        self.make_vector_type(part, count)
    }

    pub fn make_pointer_type(&mut self, class: StorageClass, pointee: Id) -> Id {
        self.make_type(Op::TypePointer, &[class.0, pointee.word()])
    }

    /// A word.
    pub fn make_uint_constant(&mut self, value: u32) -> Id {
        let ty = self.make_uint_type();
        self.make_constant(ty, value)
    }

    fn make_constant(&mut self, ty: Id, bits: u32) -> Id {
        if let Some(known) = self.numbers.get(&(ty, bits)) {
            return *known;
        }
        let id = self.m.fresh_id();
        self.insert_declaration(Op::Constant, &[ty.word(), id.word(), bits]);
        self.numbers.insert((ty, bits), id);
        id
    }

    /// A constant word in all components.
    pub fn splat_uint(&mut self, value: u32, count: u32) -> Id {
        let one = self.make_uint_constant(value);
        let ty = self.make_uint_vector_type(count);
        self.splat_constant(one, ty, count)
    }

    /// A constant float in all components.
    pub fn splat_float(&mut self, value: f32, count: u32) -> Id {
        let part = self.make_float_type();
        let one = self.make_constant(part, value.to_bits());
        let ty = self.make_float_vector_type(count);
        self.splat_constant(one, ty, count)
    }

    fn splat_constant(&mut self, one: Id, ty: Id, count: u32) -> Id {
        if count == 1 {
            return one;
        }
        let key = (Op::ConstantComposite, vec![ty.word(), one.word()]);
        if let Some(known) = self.types.get(&key) {
            return *known;
        }
        let id = self.m.fresh_id();
        let mut words = vec![ty.word(), id.word()];
        words.extend(std::iter::repeat_n(one.word(), count as usize));
        self.insert_declaration(Op::ConstantComposite, &words);
        self.types.insert(key, id);
        id
    }

    /// Emits an instruction again before itself, with other operands; returns the new result.
    pub fn duplicate_instruction(&mut self, inst: InstRef<'_>, map: &[(Id, Id)]) -> Id {
        let mut words = inst.words().to_vec();
        let fresh = self.m.fresh_id();
        words[1] = fresh.word();
        let copy = self.insert_instruction(inst.op(), &words);
        let ids = &self.ids;
        ids.rewrite_uses(&mut self.m, copy, |id| {
            let found = map.iter().find(|(old, _)| *old == id);
            found.map_or(id, |(_, new)| *new)
        });
        fresh
    }

    /// Replaces the result of an instruction by another value.
    pub fn replace_result(&mut self, inst: InstRef<'_>, value: Id) {
        if let (Some(ty), Some(result)) = (inst.result_type(), inst.result()) {
            self.replaced.set(result, true);
            let words = [ty.word(), result.word(), value.word()];
            self.m.replace_inst(inst.handle(), Op::CopyObject, &words);
        }
    }

    /// The scope of all invocations of the device.
    pub fn make_device_scope(&mut self) -> Id {
        let mut models = self.source.section_insts(ModuleSection::MemoryModel);
        let is_vulkan = models.any(|m| m.operand_word(1) == MemoryModel::Vulkan.0);
        let scope = if is_vulkan {
            Scope::QueueFamily
        } else {
            Scope::Device
        };
        self.make_uint_constant(scope.0)
    }

    /// Casts a value to unsigned words.
    pub fn cast_to_unsigned(&mut self, value: Id, shape: EmulatedShape) -> Id {
        match shape.kind {
            EmulatedScalar::Word { signed: true } => {
                let ty = self.make_uint_vector_type(shape.count);
                self.emit_value(Op::Bitcast, ty, &[value])
            }
            _ => value,
        }
    }

    /// Casts words to a type of the source.
    pub fn cast_to_signed(&mut self, value: Id, shape: EmulatedShape, ty: Id) -> Id {
        match shape.kind {
            EmulatedScalar::Word { signed: true } => self.emit_value(Op::Bitcast, ty, &[value]),
            _ => value,
        }
    }
}

//! The module under change, and new instructions in it.

use super::chains::WordBufferPointer;
use super::kinds::{EmulatedScalar, EmulatedShape, shapes};
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

/// A module under change. `source` is as it was; instructions of both have the same handles and ids.
pub struct TypeEmulator<'a> {
    pub source: &'a SpirvModule,
    pub lacking: MissingNumericTypes,
    pub definitions: IdDefinitions,
    pub decorations: IdDecorations,
    pub layouts: TypeLayouts,
    pub ids: IdWords,
    pub shapes: IdMap<Option<EmulatedShape>>,
    pub m: SpirvModule,
    /// New instructions go before this one.
    pub at: Inst,
    /// The first of the source's types, before which new ones go.
    front: Option<Inst>,
    types: FxHashMap<(Op, Vec<u32>), Id>,
    numbers: FxHashMap<(Id, u32), Id>,
    glsl: Option<Id>,
    /// The function that divides.
    pub divider: Option<Id>,
    /// Where pointers into buffers of words lead.
    pub chains: FxHashMap<Id, WordBufferPointer>,
    /// Buffers of words.
    pub packed: IdMap<bool>,
    /// Arrays that vectors of 64-bit integers became, by their lengths.
    pub arrays: Vec<(u32, Id)>,
    /// Vector types that are the same as another by now.
    pub same: Vec<(Inst, Id)>,
    /// Values that are computed in another way now.
    replaced: IdMap<bool>,
}

impl<'a> TypeEmulator<'a> {
    /// Analyses a module.
    pub fn new(
        source: &'a SpirvModule,
        lacking: MissingNumericTypes,
    ) -> Result<Self, SourceDiagnostic> {
        let definitions = IdDefinitions::compute(source);
        let decorations = IdDecorations::compute(source);
        let layouts = TypeLayouts::compute(source, &definitions, &decorations, |id| {
            Some(definitions.default_value(source, id).unwrap_or(0))
        })?;
        let front = source.section(ModuleSection::Globals).next();
        let front = front.map(InstRef::handle);
        let any = source.all_insts().next().map(InstRef::handle);
        let at = front.or(any);
        let at = at.ok_or_else(|| crate::facts::refusal("an empty module"))?;
        Ok(TypeEmulator {
            shapes: shapes(source, lacking),
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

    /// Changes everything.
    pub fn run(mut self) -> Result<SpirvModule, Vec<SourceDiagnostic>> {
        let mut faults = Vec::new();
        faults.extend(self.pack().err());
        for func in self.source.functions() {
            for inst in self.source.function_insts(*func) {
                faults.extend(self.instruction(inst).err());
            }
        }
        faults.extend(self.globals().err());
        if !faults.is_empty() {
            return Err(faults);
        }
        self.declarations();
        self.join_types();
        Ok(self.m)
    }

    /// Drops what is not needed, or said of what is not there any more.
    fn declarations(&mut self) {
        let lacking = self.lacking;
        let capabilities = self.source.section(ModuleSection::Capabilities);
        let capabilities = capabilities.filter(|c| is_gone(Capability(c.word(0)), lacking));
        let modes = self.source.section(ModuleSection::ExecutionModes);
        let modes = modes.filter(|m| {
            let of_halves = [
                ExecutionMode::SignedZeroInfNanPreserve.0,
                ExecutionMode::DenormPreserve.0,
                ExecutionMode::DenormFlushToZero.0,
                ExecutionMode::RoundingModeRTE.0,
                ExecutionMode::RoundingModeRTZ.0,
            ];
            lacking.narrow && of_halves.contains(&m.word(1)) && m.word(2) == 16
        });
        let stale = [
            Decoration::NoContraction,
            Decoration::FPRoundingMode,
            Decoration::FPFastMathMode,
            Decoration::RelaxedPrecision,
            Decoration::NoSignedWrap,
            Decoration::NoUnsignedWrap,
        ];
        let annotations = self.source.section(ModuleSection::Annotations);
        let annotations = annotations.filter(|a| {
            a.op() == Op::Decorate
                && stale.contains(&Decoration(a.word(1)))
                && self.replaced[a.id(0)]
        });
        let gone = capabilities.chain(modes).chain(annotations);
        let mut gone: Vec<Inst> = gone.map(InstRef::handle).collect();
        let linkage = self.m.section(ModuleSection::Annotations).filter(|a| {
            a.op() == Op::Decorate
                && a.word(1) == Decoration::LinkageAttributes.0
                && self.divider == Some(a.id(0))
        });
        gone.extend(linkage.map(InstRef::handle));
        gone.into_iter().for_each(|inst| self.m.remove(inst));
    }

    /// The definition of an id of the source.
    pub fn def(&self, id: Id) -> Option<InstRef<'a>> {
        self.definitions.get(self.source, id)
    }

    /// The type of a value of the source.
    pub fn type_of(&self, value: Id) -> Option<Id> {
        self.def(value)?.result_type()
    }

    /// The shape of a value of the source.
    pub fn shape(&self, value: Id) -> Option<EmulatedShape> {
        let ty = self.type_of(value)?;
        // Values that came after the source have no shape.
        (ty.word() < self.source.bound()).then(|| self.shapes[ty])?
    }

    /// The refusal of an instruction.
    pub fn refuse(&self, inst: InstRef<'_>, what: &str) -> SourceDiagnostic {
        let text = format!("{what} cannot be done without what the device lacks");
        SourceDiagnostic::error(inst.place(), text)
    }

    /// Puts a new instruction in its place.
    pub fn put(&mut self, op: Op, words: &[u32]) -> Inst {
        let inst = self.m.create(op, words);
        self.m.insert_before(self.at, inst);
        inst
    }

    /// A new value.
    pub fn op(&mut self, op: Op, ty: Id, operands: &[Id]) -> Id {
        let operands: Vec<u32> = operands.iter().map(|id| id.word()).collect();
        self.op_words(op, ty, &operands)
    }

    /// The same, of words.
    pub fn op_words(&mut self, op: Op, ty: Id, operands: &[u32]) -> Id {
        let id = self.m.fresh_id();
        self.put(op, &[&[ty.word(), id.word()], operands].concat());
        id
    }

    /// A part of a composite.
    pub fn extract(&mut self, ty: Id, value: Id, n: u32) -> Id {
        self.op_words(Op::CompositeExtract, ty, &[value.word(), n])
    }

    /// An instruction of GLSL.std.450.
    pub fn call_glsl(&mut self, number: u32, ty: Id, operands: &[Id]) -> Id {
        let set = self.glsl();
        let words = [set.word(), number].into_iter();
        let words: Vec<u32> = words.chain(operands.iter().map(|id| id.word())).collect();
        self.op_words(Op::ExtInst, ty, &words)
    }

    fn glsl(&mut self) -> Id {
        if let Some(known) = self.glsl {
            return known;
        }
        let mut imports = self.source.section(ModuleSection::Imports);
        let own = imports.find(|i| i.string(0) == "GLSL.std.450");
        let id = match own.and_then(InstRef::result) {
            Some(own) => own,
            None => {
                let id = self.m.fresh_id();
                let mut words = vec![id.word()];
                let (chunks, _) = b"GLSL.std.450\0\0\0\0".as_chunks::<4>();
                words.extend(chunks.iter().map(|c| u32::from_le_bytes(*c)));
                let inst = self.m.create(Op::ExtInstImport, &words);
                self.m.append(ModuleSection::Imports.list(), inst);
                id
            }
        };
        *self.glsl.insert(id)
    }

    /// A declaration before those of the source.
    pub fn declare(&mut self, op: Op, words: &[u32]) {
        let inst = self.m.create(op, words);
        match self.front {
            Some(front) => self.m.insert_before(front, inst),
            None => self.m.append(ModuleSection::Globals.list(), inst),
        }
    }

    /// A type; equal ones of the source become one with it later.
    pub fn ty(&mut self, op: Op, operands: &[u32]) -> Id {
        let key = (op, operands.to_vec());
        if let Some(known) = self.types.get(&key) {
            return *known;
        }
        let id = self.m.fresh_id();
        self.declare(op, &[&[id.word()], operands].concat());
        self.types.insert(key, id);
        id
    }

    pub fn uint(&mut self) -> Id {
        self.ty(Op::TypeInt, &[32, 0])
    }

    pub fn float(&mut self) -> Id {
        self.ty(Op::TypeFloat, &[32])
    }

    pub fn truth(&mut self) -> Id {
        self.ty(Op::TypeBool, &[])
    }

    /// So many of a scalar.
    pub fn vector(&mut self, part: Id, count: u32) -> Id {
        match count {
            1 => part,
            _ => self.ty(Op::TypeVector, &[part.word(), count]),
        }
    }

    pub fn uints(&mut self, count: u32) -> Id {
        let part = self.uint();
        self.vector(part, count)
    }

    pub fn floats(&mut self, count: u32) -> Id {
        let part = self.float();
        self.vector(part, count)
    }

    pub fn truths(&mut self, count: u32) -> Id {
        let part = self.truth();
        self.vector(part, count)
    }

    pub fn pointer(&mut self, class: StorageClass, pointee: Id) -> Id {
        self.ty(Op::TypePointer, &[class.0, pointee.word()])
    }

    /// A word.
    pub fn number(&mut self, value: u32) -> Id {
        let ty = self.uint();
        self.constant(ty, value)
    }

    fn constant(&mut self, ty: Id, bits: u32) -> Id {
        if let Some(known) = self.numbers.get(&(ty, bits)) {
            return *known;
        }
        let id = self.m.fresh_id();
        self.declare(Op::Constant, &[ty.word(), id.word(), bits]);
        self.numbers.insert((ty, bits), id);
        id
    }

    /// A word in all components.
    pub fn numbers(&mut self, value: u32, count: u32) -> Id {
        let one = self.number(value);
        let ty = self.uints(count);
        self.splat(one, ty, count)
    }

    /// A float in all components.
    pub fn reals(&mut self, value: f32, count: u32) -> Id {
        let part = self.float();
        let one = self.constant(part, value.to_bits());
        let ty = self.floats(count);
        self.splat(one, ty, count)
    }

    fn splat(&mut self, one: Id, ty: Id, count: u32) -> Id {
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
        self.declare(Op::ConstantComposite, &words);
        self.types.insert(key, id);
        id
    }

    /// The instruction again before itself, with other operands; its new result.
    pub fn again(&mut self, inst: InstRef<'_>, map: &[(Id, Id)]) -> Id {
        let mut words = inst.words().to_vec();
        let fresh = self.m.fresh_id();
        words[1] = fresh.word();
        let copy = self.put(inst.op(), &words);
        let ids = &self.ids;
        ids.rewrite(&mut self.m, copy, |id| {
            let found = map.iter().find(|(old, _)| *old == id);
            found.map_or(id, |(_, new)| *new)
        });
        fresh
    }

    /// Has an instruction's result be another value.
    pub fn becomes(&mut self, inst: InstRef<'_>, value: Id) {
        if let (Some(ty), Some(result)) = (inst.result_type(), inst.result()) {
            self.replaced.set(result, true);
            let words = [ty.word(), result.word(), value.word()];
            self.m.replace(inst.handle(), Op::CopyObject, &words);
        }
    }

    /// The scope that all invocations are in.
    pub fn everyone(&mut self) -> Id {
        let mut models = self.source.section(ModuleSection::MemoryModel);
        let is_vulkan = models.any(|m| m.word(1) == MemoryModel::Vulkan.0);
        let scope = if is_vulkan {
            Scope::QueueFamily
        } else {
            Scope::Device
        };
        self.number(scope.0)
    }

    /// A value of words without a sign.
    pub fn unsigned(&mut self, value: Id, shape: EmulatedShape) -> Id {
        match shape.kind {
            EmulatedScalar::Word { signed: true } => {
                let ty = self.uints(shape.count);
                self.op(Op::Bitcast, ty, &[value])
            }
            _ => value,
        }
    }

    /// Words as a value of a type of the source.
    pub fn signed(&mut self, value: Id, shape: EmulatedShape, ty: Id) -> Id {
        match shape.kind {
            EmulatedScalar::Word { signed: true } => self.op(Op::Bitcast, ty, &[value]),
            _ => value,
        }
    }
}

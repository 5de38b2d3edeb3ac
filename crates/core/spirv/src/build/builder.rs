//! The module builder: everything at module level except types and constants.

use crate::grammar::enumerants::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, LinkageType,
    MemoryModel, StorageClass,
};
use crate::grammar::{Op, SpirvVersion};
use crate::ir::{Block, Func, Inst, ModuleSection, SpirvModule};
use crate::{Id, IdMap};
use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// Builds a module.
#[derive(Debug)]
pub struct SpirvBuilder {
    pub(super) module: SpirvModule,
    /// Uniqued instructions, by opcode and operands without the result. They do not change while the module is
    /// built.
    unique: HashTable<Inst>,
    /// The type of every created value.
    value_types: IdMap<Option<Id>>,
    pub(super) current: Option<(Func, Option<Block>)>,
}

impl SpirvBuilder {
    /// A builder of a module of the given version.
    pub fn new(version: SpirvVersion) -> Self {
        SpirvBuilder {
            module: SpirvModule::new(version),
            unique: HashTable::new(),
            value_types: IdMap::new(0, None),
            current: None,
        }
    }

    /// Reserves room for this number of instructions and words. The numbers are estimates, not limits.
    pub fn reserve_capacity(&mut self, instructions: usize, words: usize) {
        self.module.reserve_insts(instructions, words);
    }

    /// The module so far.
    pub fn module(&self) -> &SpirvModule {
        &self.module
    }

    /// The finished module.
    pub fn into_module(self) -> SpirvModule {
        self.module
    }

    /// A new id.
    pub fn fresh_id(&mut self) -> Id {
        self.module.fresh_id()
    }

    /// The type of a value made by this builder.
    pub fn type_of(&self, value: Id) -> Option<Id> {
        self.value_types[value]
    }

    /// Sets the type of a value: required only for ids whose instruction comes later.
    pub fn set_type_of(&mut self, value: Id, ty: Id) {
        self.value_types.set(value, Some(ty));
    }

    /// Declares a capability, once.
    pub fn declare_capability(&mut self, capability: Capability) {
        self.push_once(ModuleSection::Capabilities, Op::Capability, &[capability.0]);
    }

    /// Declares an extension, once.
    pub fn declare_extension(&mut self, name: &str) {
        self.push_once(
            ModuleSection::Extensions,
            Op::Extension,
            &string_words(name),
        );
    }

    /// The id of an extended instruction set.
    pub fn import_set(&mut self, set: &str) -> Id {
        self.intern_untyped(
            ModuleSection::Imports,
            Op::ExtInstImport,
            &string_words(set),
        )
    }

    /// Sets addressing and memory model.
    pub fn memory_model(&mut self, addressing: AddressingModel, memory: MemoryModel) {
        self.push_once(
            ModuleSection::MemoryModel,
            Op::MemoryModel,
            &[addressing.0, memory.0],
        );
    }

    /// Declares an entry point.
    pub fn entry_point(
        &mut self,
        model: ExecutionModel,
        function: Id,
        name: &str,
        interface: &[Id],
    ) {
        let mut words = vec![model.0, function.word()];
        words.extend(string_words(name));
        words.extend(interface.iter().map(|id| id.word()));
        self.push_inst(ModuleSection::EntryPoints, Op::EntryPoint, &words);
    }

    /// Declares an execution mode of an entry point.
    pub fn execution_mode(&mut self, function: Id, mode: ExecutionMode, operands: &[u32]) {
        let mut words = vec![function.word(), mode.0];
        words.extend_from_slice(operands);
        self.push_once(ModuleSection::ExecutionModes, Op::ExecutionMode, &words);
    }

    /// Declares the language of the source, once.
    pub fn declare_source(&mut self, language: u32, version: u32) {
        self.push_once(ModuleSection::Sources, Op::Source, &[language, version]);
    }

    /// Names an id; an empty name is left out, and a long one is cut.
    pub fn set_name(&mut self, id: Id, name: &str) {
        if !name.is_empty() {
            self.push_parts(
                ModuleSection::Names,
                Op::Name,
                &[id.word()],
                &string_words(shorten_name(name)),
            );
        }
    }

    /// Decorates an id, once.
    pub fn decorate_id(&mut self, id: Id, decoration: Decoration, operands: &[u32]) {
        let head = [id.word(), decoration.0];
        self.once_parts(ModuleSection::Annotations, Op::Decorate, &head, operands);
    }

    /// Decorates a member of a structure, once.
    pub fn decorate_member(
        &mut self,
        id: Id,
        member: u32,
        decoration: Decoration,
        operands: &[u32],
    ) {
        let head = [id.word(), member, decoration.0];
        self.once_parts(
            ModuleSection::Annotations,
            Op::MemberDecorate,
            &head,
            operands,
        );
    }

    /// Gives an id a name for linking.
    pub fn set_linkage(&mut self, id: Id, name: &str, linkage: LinkageType) {
        let mut words = string_words(name);
        words.push(linkage.0);
        self.decorate_id(id, Decoration::LinkageAttributes, &words);
    }

    /// Makes a variable outside of functions; `pointer` is its pointer type.
    pub fn global_variable(
        &mut self,
        pointer: Id,
        class: StorageClass,
        initializer: Option<Id>,
    ) -> Id {
        let id = self.fresh_id();
        let mut words = vec![pointer.word(), id.word(), class.0];
        words.extend(initializer.map(Id::word));
        self.push_inst(ModuleSection::Globals, Op::Variable, &words);
        self.set_type_of(id, pointer);
        id
    }

    /// Makes an input variable that holds a built-in value.
    pub fn builtin_variable(&mut self, pointer: Id, builtin: BuiltIn) -> Id {
        let id = self.global_variable(pointer, StorageClass::Input, None);
        self.decorate_id(id, Decoration::BuiltIn, &[builtin.0]);
        id
    }

    /// Appends an instruction without a result to a section.
    pub fn push_inst(&mut self, section: ModuleSection, op: Op, words: &[u32]) {
        self.push_parts(section, op, words, &[]);
    }

    fn push_parts(&mut self, section: ModuleSection, op: Op, head: &[u32], tail: &[u32]) -> Inst {
        let inst = self.module.create_parts(op, head, tail);
        self.module.append_inst(section.list(), inst);
        inst
    }

    fn push_once(&mut self, section: ModuleSection, op: Op, words: &[u32]) {
        self.once_parts(section, op, words, &[]);
    }

    fn once_parts(&mut self, section: ModuleSection, op: Op, head: &[u32], tail: &[u32]) {
        let hash = hash_parts(op, &[head, tail]);
        if self.find_interned(hash, op, head, 0, tail).is_none() {
            let inst = self.push_parts(section, op, head, tail);
            self.record_interned(hash, inst);
        }
    }

    /// An instruction with a result and no type, once for equal operands.
    pub(super) fn intern_untyped(
        &mut self,
        section: ModuleSection,
        op: Op,
        operands: &[u32],
    ) -> Id {
        let hash = hash_parts(op, &[operands]);
        if let Some(inst) = self.find_interned(hash, op, &[], 1, operands) {
            return self.result_of(inst);
        }
        let id = self.fresh_id();
        let inst = self.push_parts(section, op, &[id.word()], operands);
        self.record_interned(hash, inst);
        id
    }

    /// A global instruction with a typed result, once for equal type and operands.
    pub(super) fn intern_typed(&mut self, op: Op, ty: Id, operands: &[u32]) -> Id {
        let head = [ty.word()];
        let hash = hash_parts(op, &[&head, operands]);
        if let Some(inst) = self.find_interned(hash, op, &head, 1, operands) {
            return self.result_of(inst);
        }
        let id = self.fresh_id();
        let head = [ty.word(), id.word()];
        let inst = self.push_parts(ModuleSection::Globals, op, &head, operands);
        self.record_interned(hash, inst);
        self.set_type_of(id, ty);
        id
    }

    /// The instruction with these words: `head`, then `results` of any value, then `tail`.
    fn find_interned(
        &self,
        hash: u64,
        op: Op,
        head: &[u32],
        results: usize,
        tail: &[u32],
    ) -> Option<Inst> {
        let is_it = |inst: &Inst| {
            let inst = self.module.inst(*inst);
            let words = inst.words();
            inst.op() == op
                && words.len() == head.len() + results + tail.len()
                && words.starts_with(head)
                && words.ends_with(tail)
        };
        self.unique.find(hash, is_it).copied()
    }

    fn result_of(&self, inst: Inst) -> Id {
        self.module.inst(inst).result().unwrap_or(Id::MAX)
    }

    fn record_interned(&mut self, hash: u64, inst: Inst) {
        let SpirvBuilder { module, unique, .. } = self;
        unique.insert_unique(hash, inst, |inst| hash_again(module, *inst));
    }
}

fn hash_parts(op: Op, parts: &[&[u32]]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u16(op.0);
    for word in parts.iter().copied().flatten() {
        hasher.write_u32(*word);
    }
    hasher.finish()
}

/// The hash under which an instruction is recorded.
fn hash_again(module: &SpirvModule, inst: Inst) -> u64 {
    let inst = module.inst(inst);
    let words = inst.words();
    match (inst.result(), inst.result_type()) {
        (None, _) => hash_parts(inst.op(), &[words]),
        (Some(_), None) => hash_parts(inst.op(), &[&words[1..]]),
        (Some(_), Some(_)) => hash_parts(inst.op(), &[&words[..1], &words[2..]]),
    }
}

/// Bytes of a name beyond which it is cut.
const MAX_NAME: usize = 4096;

/// The beginning of a name, which fits into an instruction.
pub fn shorten_name(name: &str) -> &str {
    let end = name.len().min(MAX_NAME);
    let end = (0..=end).rev().find(|at| name.is_char_boundary(*at));
    &name[..end.unwrap_or(0)]
}

/// A string as the words of a literal, NUL and padding included. Text after a NUL is dropped, because no literal
/// can contain it.
pub(crate) fn string_words(text: &str) -> Vec<u32> {
    let bytes = text.as_bytes();
    let bytes = bytes.split(|b| *b == 0).next().unwrap_or(bytes);
    let (whole, rest) = bytes.as_chunks::<4>();
    let mut words = Vec::with_capacity(whole.len() + 1);
    words.extend(whole.iter().map(|word| u32::from_le_bytes(*word)));
    let last = rest.iter().rev();
    words.push(last.fold(0, |word, byte| word << 8 | u32::from(*byte)));
    words
}

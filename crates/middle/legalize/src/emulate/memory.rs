//! Buffers with something smaller than a word in them, as arrays of words.
//!
//! Pointers into them are no values any more (`chains`); each load and store computes its words.

use super::chains::{WordBufferBase, WordBufferPointer};
use super::emitter::TypeEmulator;
use super::kinds::{EmulatedScalar, EmulatedShape};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, MemoryAccess, StorageClass};
use spirula_spirv::ir::{InstRef, ModuleSection, SpirvModule};

/// Storage classes whose memory has its places said.
const CLASSES: &[StorageClass] = &[
    StorageClass::StorageBuffer,
    StorageClass::Uniform,
    StorageClass::PushConstant,
];

/// Whether a function takes pointers to buffers, so that it has to be put in the place of its calls.
pub fn passes_pointers(module: &SpirvModule) -> bool {
    let pointers = module.section(ModuleSection::Globals).filter(|i| {
        let is_pointer = i.op() == Op::TypePointer;
        is_pointer
            && (CLASSES.contains(&StorageClass(i.word(0)))
                || StorageClass(i.word(0)) == StorageClass::PhysicalStorageBuffer)
    });
    let mut pointers: Vec<Id> = pointers.filter_map(InstRef::result).collect();
    pointers.sort_unstable();
    module.all_insts().any(|i| {
        let is_param = i.op() == Op::FunctionParameter;
        is_param
            && i.result_type()
                .is_some_and(|ty| pointers.binary_search(&ty).is_ok())
    })
}

impl<'a> TypeEmulator<'a> {
    /// Whether something in a type is smaller than a word and changes.
    fn has_small(&self, ty: Id) -> bool {
        let mut work = vec![ty];
        // Structures may have pointers in them, but no type has itself but through those.
        while let Some(ty) = work.pop() {
            if self.shapes[ty].is_some_and(|s| s.kind.is_small()) {
                return true;
            }
            let Some(def) = self.def(ty) else { continue };
            match def.op() {
                Op::TypeStruct => work.extend(def.ids(0)),
                Op::TypeArray | Op::TypeRuntimeArray | Op::TypeMatrix => work.push(def.id(0)),
                _ => {}
            }
        }
        false
    }

    /// Has variables with something small in them be arrays of words.
    pub fn pack(&mut self) -> Result<(), SourceDiagnostic> {
        if !self.lacking.narrow {
            return Ok(());
        }
        for inst in self.source.section(ModuleSection::Globals) {
            let (Some(id), Some(pointer)) = (inst.result(), inst.result_type()) else {
                continue;
            };
            if inst.op() != Op::Variable || !CLASSES.contains(&StorageClass(inst.word(0))) {
                continue;
            }
            let class = StorageClass(inst.word(0));
            let Some(pointee) = self.def(pointer).map(|p| p.id(1)) else {
                continue;
            };
            if !self.has_small(pointee) {
                continue;
            }
            self.packed.set(id, true);
            let made = self.words_type(class, pointee);
            let pointer = self.pointer(class, made);
            self.m.words_mut(inst.handle())[0] = pointer.word();
        }
        Ok(())
    }

    /// A block of words in the place of another, or an array of such.
    fn words_type(&mut self, class: StorageClass, pointee: Id) -> Id {
        let array = self.def(pointee).filter(|d| d.op() != Op::TypeStruct);
        let block = array.map_or(pointee, |a| a.id(0));
        let size = self.layouts.get(block).size as u32;
        let old = self
            .decorations
            .get(self.source, block, Decoration::BufferBlock);
        let is_uniform = class == StorageClass::Uniform && old.is_none();
        let (part, stride) = match is_uniform {
            true => (self.uints(4), 16),
            false => (self.uint(), 4),
        };
        let words = self.m.fresh_id();
        if is_uniform || class == StorageClass::PushConstant {
            let count = self.number(size.div_ceil(stride).max(1));
            self.declare(Op::TypeArray, &[words.word(), part.word(), count.word()]);
        } else {
            self.declare(Op::TypeRuntimeArray, &[words.word(), part.word()]);
        }
        let made = self.m.fresh_id();
        self.declare(Op::TypeStruct, &[made.word(), words.word()]);
        let kind = if old.is_some() {
            Decoration::BufferBlock
        } else {
            Decoration::Block
        };
        for (op, words) in [
            (
                Op::Decorate,
                vec![words.word(), Decoration::ArrayStride.0, stride],
            ),
            (Op::Decorate, vec![made.word(), kind.0]),
            (
                Op::MemberDecorate,
                vec![made.word(), 0, Decoration::Offset.0, 0],
            ),
        ] {
            let decoration = self.m.create(op, &words);
            self.m.append(ModuleSection::Annotations.list(), decoration);
        }
        match array {
            Some(array) => {
                let mut words = array.words().to_vec();
                let many = self.m.fresh_id();
                words[0] = many.word();
                words[1] = made.word();
                if words.len() > 2 {
                    // The length is declared behind the front.
                    let length = self.definitions.constant(self.source, array.id(1));
                    words[2] = self.number(length.unwrap_or(1) as u32).word();
                }
                self.declare(array.op(), &words);
                many
            }
            None => made,
        }
    }

    /// Where a pointer of the source leads, if that is to words.
    fn chain(&self, pointer: Id) -> Option<WordBufferPointer> {
        if let Some(known) = self.chains.get(&pointer) {
            return Some(*known);
        }
        if pointer.word() >= self.source.bound() || !self.packed[pointer] {
            return None;
        }
        let variable = self.def(pointer)?;
        let ty = self.def(variable.result_type()?)?.id(1);
        Some(WordBufferPointer {
            base: WordBufferBase::Variable {
                id: pointer,
                descriptor: None,
                class: StorageClass(variable.word(0)),
            },
            bytes: 0,
            more: None,
            align: 16,
            columns: 0,
            ty,
        })
    }

    /// Changes an instruction if it is given a pointer to words, or makes one.
    pub fn on_buffers(&mut self, inst: InstRef<'a>) -> Result<bool, SourceDiagnostic> {
        if !self.lacking.narrow {
            return Ok(false);
        }
        let first = inst.operands().first().and_then(|w| Id::new(*w));
        let first = first.filter(|id| id.word() < self.source.bound());
        let chain = first.and_then(|id| self.chain(id));
        let Some(chain) = chain else {
            return self.begins(inst);
        };
        match inst.op() {
            Op::AccessChain | Op::InBoundsAccessChain => {
                let indices: Vec<Id> = inst.ids(1).collect();
                let made = self.stepped(inst, chain, &indices)?;
                self.follow(inst, made);
            }
            Op::CopyObject => self.follow(inst, chain),
            Op::Load => {
                let access = inst.operands()[1..].to_vec();
                let ty = inst.result_type().unwrap_or(chain.ty);
                let value = self.loaded(inst, chain, ty, &access)?;
                self.becomes(inst, value);
            }
            Op::Store => {
                let access = inst.operands()[2..].to_vec();
                let ty = self.type_of(inst.id(1)).unwrap_or(chain.ty);
                self.stored(inst, chain, ty, inst.id(1), &access)?;
                self.m.remove(inst.handle());
            }
            Op::ArrayLength => self.length(inst, chain)?,
            op if (Op::AtomicLoad.0..=Op::AtomicXor.0).contains(&op.0) => {
                let pointer = self.word_pointer(chain, 0);
                self.ids.rewrite(&mut self.m, inst.handle(), |id| {
                    if Some(id) == first { pointer } else { id }
                });
            }
            op => {
                let text = format!("{op} of a pointer to something of 8 or 16 bits");
                return Err(self.refuse(inst, &text));
            }
        }
        Ok(true)
    }

    /// Notes where an instruction's pointer leads, and drops it.
    fn follow(&mut self, inst: InstRef<'a>, chain: WordBufferPointer) {
        if let Some(result) = inst.result() {
            self.chains.insert(result, chain);
        }
        self.m.remove(inst.handle());
    }

    /// Addresses of something small.
    fn begins(&mut self, inst: InstRef<'a>) -> Result<bool, SourceDiagnostic> {
        let pointer = inst.result_type().and_then(|ty| self.def(ty));
        let pointer = pointer.filter(|p| {
            let is_pointer = p.op() == Op::TypePointer;
            is_pointer && StorageClass(p.word(0)) == StorageClass::PhysicalStorageBuffer
        });
        let Some(pointee) = pointer.map(|p| p.id(1)).filter(|ty| self.has_small(*ty)) else {
            return Ok(false);
        };
        let pair = self.uints(2);
        let (words, stays) = match inst.op() {
            Op::ConvertUToPtr | Op::Bitcast => {
                let given = self.shape(inst.id(0)).map(|s| s.kind);
                let words = match given {
                    Some(EmulatedScalar::Long) => self.op(Op::Bitcast, pair, &[inst.id(0)]),
                    _ => inst.id(0),
                };
                (words, false)
            }
            Op::Load => {
                let Some(next) = self.m.next(inst.handle()) else {
                    return Ok(false);
                };
                let Some(result) = inst.result() else {
                    return Ok(false);
                };
                self.at = next;
                (self.op(Op::Bitcast, pair, &[result]), true)
            }
            op => {
                let text = format!("{op} of a pointer to something of 8 or 16 bits");
                return Err(self.refuse(inst, &text));
            }
        };
        let chain = WordBufferPointer {
            base: WordBufferBase::Address(self.halves(words)),
            bytes: 0,
            more: None,
            align: 1,
            columns: 0,
            ty: pointee,
        };
        match (stays, inst.result()) {
            (true, Some(result)) => {
                self.chains.insert(result, chain);
            }
            _ => self.follow(inst, chain),
        }
        Ok(true)
    }

    /// Memory operands for a word: without the alignment of what was there, which addresses need.
    fn access(&self, chain: WordBufferPointer, access: &[u32]) -> Vec<u32> {
        let flags = access.first().copied().unwrap_or(0);
        let aligned = MemoryAccess::Aligned.0;
        let rest = match flags & aligned {
            0 => access.get(1..).unwrap_or(&[]),
            _ => access.get(2..).unwrap_or(&[]),
        };
        let mut words = match chain.base {
            WordBufferBase::Address(_) => vec![flags | aligned, 4],
            WordBufferBase::Variable { .. } => vec![flags & !aligned],
        };
        if words == [0] {
            words.clear();
        }
        words.extend(rest);
        words
    }

    fn load_word(&mut self, chain: WordBufferPointer, add: u32, access: &[u32]) -> Id {
        let (word, pointer) = (self.uint(), self.word_pointer(chain, add));
        let mut words = vec![pointer.word()];
        words.extend(self.access(chain, access));
        self.op_words(Op::Load, word, &words)
    }

    /// How far something is from the beginning of its word, in bits.
    fn shift(&mut self, chain: WordBufferPointer, add: u32) -> Id {
        let (word, byte) = (self.uint(), self.byte(chain, add));
        let (three, eight) = (self.number(3), self.number(3));
        let at = self.op(Op::BitwiseAnd, word, &[byte, three]);
        self.op(Op::ShiftLeftLogical, word, &[at, eight])
    }

    /// Whether a value is whole words.
    fn is_whole(&self, chain: WordBufferPointer, shape: EmulatedShape) -> bool {
        let width = shape.kind.width();
        width >= 32 || chain.align >= 4 && (shape.count * width).is_multiple_of(32)
    }

    fn loaded(
        &mut self,
        inst: InstRef<'a>,
        chain: WordBufferPointer,
        ty: Id,
        access: &[u32],
    ) -> Result<Id, SourceDiagnostic> {
        let Some(shape) = self.shapes[ty] else {
            let mut parts = Vec::new();
            for (part, chain) in self.parts(inst, chain, ty)? {
                parts.push(self.loaded(inst, chain, part, access)?);
            }
            return Ok(self.op(Op::CompositeConstruct, ty, &parts));
        };
        let (width, count) = (shape.kind.width(), shape.count);
        if self.is_whole(chain, shape) {
            let words =
                (0..(count * width).div_ceil(32)).map(|n| self.load_word(chain, 4 * n, access));
            let words: Vec<Id> = words.collect();
            let parts = self.unpacked(&words, width, count);
            return Ok(self.of_bits(&parts, shape, ty));
        }
        let (word, mask) = (self.uint(), self.number(u32::MAX >> (32 - width)));
        let mut parts = Vec::new();
        for n in 0..count {
            let at = n * width / 8;
            let whole = self.load_word(chain, at, access);
            let by = self.shift(chain, at);
            let moved = self.op(Op::ShiftRightLogical, word, &[whole, by]);
            parts.push(self.op(Op::BitwiseAnd, word, &[moved, mask]));
        }
        Ok(self.of_bits(&parts, shape, ty))
    }

    fn stored(
        &mut self,
        inst: InstRef<'a>,
        chain: WordBufferPointer,
        ty: Id,
        value: Id,
        access: &[u32],
    ) -> Result<(), SourceDiagnostic> {
        let Some(shape) = self.shapes[ty] else {
            for (n, (part, chain)) in self.parts(inst, chain, ty)?.into_iter().enumerate() {
                let piece = self.extract(part, value, n as u32);
                self.stored(inst, chain, part, piece, access)?;
            }
            return Ok(());
        };
        let width = shape.kind.width();
        let parts = self.bits(value, shape);
        if self.is_whole(chain, shape) {
            let words = self.packed_words(&parts, width);
            for (n, value) in words.into_iter().enumerate() {
                let pointer = self.word_pointer(chain, 4 * n as u32);
                let mut words = vec![pointer.word(), value.word()];
                words.extend(self.access(chain, access));
                self.put(Op::Store, &words);
            }
            return Ok(());
        }
        let (word, mask) = (self.uint(), self.number(u32::MAX >> (32 - width)));
        let (scope, relaxed) = (self.everyone(), self.number(0));
        for (n, part) in parts.into_iter().enumerate() {
            let at = n as u32 * width / 8;
            let pointer = self.word_pointer(chain, at);
            let by = self.shift(chain, at);
            let hole = self.op(Op::ShiftLeftLogical, word, &[mask, by]);
            let hole = self.op(Op::Not, word, &[hole]);
            let new = self.op(Op::ShiftLeftLogical, word, &[part, by]);
            self.op(Op::AtomicAnd, word, &[pointer, scope, relaxed, hole]);
            self.op(Op::AtomicOr, word, &[pointer, scope, relaxed, new]);
        }
        Ok(())
    }

    /// The parts of a composite, and where they are.
    fn parts(
        &mut self,
        inst: InstRef<'a>,
        chain: WordBufferPointer,
        ty: Id,
    ) -> Result<Vec<(Id, WordBufferPointer)>, SourceDiagnostic> {
        let refused = || self.refuse(inst, "this type beside something of 8 or 16 bits");
        let def = self.def(ty).ok_or_else(refused)?;
        let mut columns = vec![chain.columns];
        let offsets: Vec<(Id, u32)> = match def.op() {
            Op::TypeMatrix => {
                let offset = |n| (def.id(0), n * chain.columns);
                (0..def.word(1)).map(offset).collect()
            }
            Op::TypeStruct => {
                let member = |n: usize| self.layouts.member(ty, n as u32);
                let members = def.ids(0).count();
                if (0..members).any(|n| member(n).row_major) {
                    return Err(refused());
                }
                let stride = |n| member(n).matrix_stride.unwrap_or(0) as u32;
                columns = (0..members).map(stride).collect();
                let offset = |n| member(n).offset as u32;
                def.ids(0)
                    .enumerate()
                    .map(|(n, part)| (part, offset(n)))
                    .collect()
            }
            Op::TypeArray => {
                let count = self
                    .definitions
                    .constant(self.source, def.id(1))
                    .unwrap_or(u64::MAX);
                if count > crate::facts::MOST_PARTS as u64 {
                    return Err(refused());
                }
                let stride = self.layouts.get(ty).stride as u32;
                (0..count as u32).map(|n| (def.id(0), n * stride)).collect()
            }
            _ => return Err(refused()),
        };
        let part = |(n, (ty, bytes)): (usize, (Id, u32))| {
            let columns = columns.get(n).or(columns.first()).copied().unwrap_or(0);
            let mut part = WordBufferPointer {
                ty,
                columns,
                ..chain
            };
            self.further(&mut part, bytes);
            (ty, part)
        };
        Ok(offsets.into_iter().enumerate().map(part).collect())
    }

    /// `OpArrayLength`, of the words.
    fn length(
        &mut self,
        inst: InstRef<'a>,
        chain: WordBufferPointer,
    ) -> Result<(), SourceDiagnostic> {
        let WordBufferBase::Variable {
            id,
            descriptor,
            class,
        } = chain.base
        else {
            return Err(self.refuse(inst, "the length of memory by address"));
        };
        let word = self.uint();
        let block = match descriptor {
            Some(n) => {
                let made = self.words_type_of(id);
                let pointer = self.pointer(class, made);
                let n = self.index(n);
                self.op(Op::AccessChain, pointer, &[id, n])
            }
            None => id,
        };
        let count = self.op_words(Op::ArrayLength, word, &[block.word(), 0]);
        let member = inst.word(1);
        let offset = self.layouts.member(chain.ty, member).offset as u32;
        let array = self.def(chain.ty).and_then(|d| d.get_id(member as usize));
        let stride = array
            .map_or(1, |a| self.layouts.get(a).stride as u32)
            .max(1);
        let (four, offset, stride) = (self.number(4), self.number(offset), self.number(stride));
        let bytes = self.op(Op::IMul, word, &[count, four]);
        let bytes = self.op(Op::ISub, word, &[bytes, offset]);
        let length = self.op(Op::UDiv, word, &[bytes, stride]);
        self.becomes(inst, length);
        Ok(())
    }

    /// The block that each descriptor of a variable is.
    fn words_type_of(&self, variable: Id) -> Id {
        let def = |id: Id| {
            let mut globals = self.m.section(ModuleSection::Globals);
            globals.find(|i| i.result() == Some(id))
        };
        let pointer = def(variable).and_then(|v| v.result_type()).and_then(def);
        let many = pointer.map(|p| p.id(1)).and_then(def);
        many.and_then(|m| m.get_id(0)).unwrap_or(variable)
    }
}

//! Word buffers: buffers whose types contain something smaller than a word, as arrays of words.
//!
//! Pointers into such buffers are no values any more (`access_chains`). Each load and store computes the words that it accesses.

use super::access_chains::{WordBufferBase, WordBufferPointer};
use super::emitter::TypeEmulator;
use super::type_shapes::{EmulatedScalar, EmulatedShape};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, MemoryAccess, StorageClass};
use spirula_spirv::ir::{InstRef, ModuleSection, SpirvModule};

/// Storage classes with an explicit layout.
const CLASSES: &[StorageClass] = &[
    StorageClass::StorageBuffer,
    StorageClass::Uniform,
    StorageClass::PushConstant,
];

/// Whether a function has pointers to buffers as parameters, so that it must be inlined.
pub fn has_pointer_parameters(module: &SpirvModule) -> bool {
    let pointers = module.section_insts(ModuleSection::Globals).filter(|i| {
        let is_pointer = i.op() == Op::TypePointer;
        is_pointer
            && (CLASSES.contains(&StorageClass(i.operand_word(0)))
                || StorageClass(i.operand_word(0)) == StorageClass::PhysicalStorageBuffer)
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
    /// Whether a type contains something smaller than a word that changes.
    fn has_small(&self, ty: Id) -> bool {
        let mut work = vec![ty];
        // Types are recursive through pointers in structures only.
        while let Some(ty) = work.pop() {
            if self.shapes[ty].is_some_and(|s| s.kind.is_small()) {
                return true;
            }
            let Some(def) = self.find_definition(ty) else {
                continue;
            };
            match def.op() {
                Op::TypeStruct => work.extend(def.id_operands(0)),
                Op::TypeArray | Op::TypeRuntimeArray | Op::TypeMatrix => {
                    work.push(def.id_operand(0))
                }
                _ => {}
            }
        }
        false
    }

    /// Turns variables with narrow members into arrays of words.
    pub fn pack_variables(&mut self) -> Result<(), SourceDiagnostic> {
        if !self.lacking.narrow {
            return Ok(());
        }
        for inst in self.source.section_insts(ModuleSection::Globals) {
            let (Some(id), Some(pointer)) = (inst.result(), inst.result_type()) else {
                continue;
            };
            if inst.op() != Op::Variable || !CLASSES.contains(&StorageClass(inst.operand_word(0))) {
                continue;
            }
            let class = StorageClass(inst.operand_word(0));
            let Some(pointee) = self.find_definition(pointer).map(|p| p.id_operand(1)) else {
                continue;
            };
            if !self.has_small(pointee) {
                continue;
            }
            self.packed.set(id, true);
            let made = self.words_type(class, pointee);
            let pointer = self.make_pointer_type(class, made);
            self.m.words_mut(inst.handle())[0] = pointer.word();
        }
        Ok(())
    }

    /// Declares a block of words that replaces another block, or an array of such blocks.
    fn words_type(&mut self, class: StorageClass, pointee: Id) -> Id {
        let array = self
            .find_definition(pointee)
            .filter(|d| d.op() != Op::TypeStruct);
        let block = array.map_or(pointee, |a| a.id_operand(0));
        let size = self.layouts.get(block).size as u32;
        let old = self
            .decorations
            .get(self.source, block, Decoration::BufferBlock);
        let is_uniform = class == StorageClass::Uniform && old.is_none();
        let (part, stride) = if is_uniform {
            (self.make_uint_vector_type(4), 16)
        } else {
            (self.make_uint_type(), 4)
        };
        let words = self.m.fresh_id();
        if is_uniform || class == StorageClass::PushConstant {
            let count = self.make_uint_constant(size.div_ceil(stride).max(1));
            self.insert_declaration(Op::TypeArray, &[words.word(), part.word(), count.word()]);
        } else {
            self.insert_declaration(Op::TypeRuntimeArray, &[words.word(), part.word()]);
        }
        let made = self.m.fresh_id();
        self.insert_declaration(Op::TypeStruct, &[made.word(), words.word()]);
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
            let decoration = self.m.create_inst(op, &words);
            self.m
                .append_inst(ModuleSection::Annotations.list(), decoration);
        }
        match array {
            Some(array) => {
                let mut words = array.words().to_vec();
                let many = self.m.fresh_id();
                words[0] = many.word();
                words[1] = made.word();
                if words.len() > 2 {
                    // The length is declared after the insertion point.
                    let length = self
                        .definitions
                        .constant_value(self.source, array.id_operand(1));
                    words[2] = self.make_uint_constant(length.unwrap_or(1) as u32).word();
                }
                self.insert_declaration(array.op(), &words);
                many
            }
            None => made,
        }
    }

    /// The position of a pointer of the source, if it points into words.
    fn find_chain(&self, pointer: Id) -> Option<WordBufferPointer> {
        if let Some(known) = self.chains.get(&pointer) {
            return Some(*known);
        }
        if pointer.word() >= self.source.bound() || !self.packed[pointer] {
            return None;
        }
        let variable = self.find_definition(pointer)?;
        let ty = self.find_definition(variable.result_type()?)?.id_operand(1);
        Some(WordBufferPointer {
            base: WordBufferBase::Variable {
                id: pointer,
                descriptor: None,
                class: StorageClass(variable.operand_word(0)),
            },
            bytes: 0,
            more: None,
            align: 16,
            columns: 0,
            ty,
        })
    }

    /// Emulates an instruction if it uses or computes a pointer to words.
    pub fn emulate_buffer_instruction(
        &mut self,
        inst: InstRef<'a>,
    ) -> Result<bool, SourceDiagnostic> {
        if !self.lacking.narrow {
            return Ok(false);
        }
        let first = inst.operands().first().and_then(|w| Id::new(*w));
        let first = first.filter(|id| id.word() < self.source.bound());
        let chain = first.and_then(|id| self.find_chain(id));
        let Some(chain) = chain else {
            return self.begin_address_chain(inst);
        };
        match inst.op() {
            op if op.is_plain_access_chain() => {
                let indices: Vec<Id> = inst.id_operands(1).collect();
                let made = self.follow_access_chain(inst, chain, &indices)?;
                self.record_chain(inst, made);
            }
            Op::CopyObject => self.record_chain(inst, chain),
            Op::Load => {
                let access = inst.operands()[1..].to_vec();
                let ty = inst.result_type().unwrap_or(chain.ty);
                let value = self.emit_load(inst, chain, ty, &access)?;
                self.replace_result(inst, value);
            }
            Op::Store => {
                let access = inst.operands()[2..].to_vec();
                let ty = self.type_of(inst.id_operand(1)).unwrap_or(chain.ty);
                self.emit_store(inst, chain, ty, inst.id_operand(1), &access)?;
                self.m.remove_inst(inst.handle());
            }
            Op::ArrayLength => self.emulate_array_length(inst, chain)?,
            op if (Op::AtomicLoad.0..=Op::AtomicXor.0).contains(&op.0) => {
                let pointer = self.word_pointer(chain, 0);
                self.ids.rewrite_uses(&mut self.m, inst.handle(), |id| {
                    if Some(id) == first { pointer } else { id }
                });
            }
            op => {
                let text = format!("{op} of a pointer to something of 8 or 16 bits");
                return Err(self.diagnose_instruction(inst, &text));
            }
        }
        Ok(true)
    }

    /// Notes the position of an instruction's pointer, and drops the instruction.
    fn record_chain(&mut self, inst: InstRef<'a>, chain: WordBufferPointer) {
        if let Some(result) = inst.result() {
            self.chains.insert(result, chain);
        }
        self.m.remove_inst(inst.handle());
    }

    /// Addresses of narrow types.
    fn begin_address_chain(&mut self, inst: InstRef<'a>) -> Result<bool, SourceDiagnostic> {
        let pointer = inst.result_type().and_then(|ty| self.find_definition(ty));
        let pointer = pointer.filter(|p| {
            let is_pointer = p.op() == Op::TypePointer;
            is_pointer && StorageClass(p.operand_word(0)) == StorageClass::PhysicalStorageBuffer
        });
        let Some(pointee) = pointer
            .map(|p| p.id_operand(1))
            .filter(|ty| self.has_small(*ty))
        else {
            return Ok(false);
        };
        let pair = self.make_uint_vector_type(2);
        let (words, stays) = match inst.op() {
            Op::ConvertUToPtr | Op::Bitcast => {
                let given = self.find_shape(inst.id_operand(0)).map(|s| s.kind);
                let words = match given {
                    Some(EmulatedScalar::Long) => {
                        self.emit_value(Op::Bitcast, pair, &[inst.id_operand(0)])
                    }
                    _ => inst.id_operand(0),
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
                (self.emit_value(Op::Bitcast, pair, &[result]), true)
            }
            op => {
                let text = format!("{op} of a pointer to something of 8 or 16 bits");
                return Err(self.diagnose_instruction(inst, &text));
            }
        };
        let chain = WordBufferPointer {
            base: WordBufferBase::Address(self.split_words(words)),
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
            _ => self.record_chain(inst, chain),
        }
        Ok(true)
    }

    /// Memory operands for a word, with the alignment of a word where addresses need one.
    fn make_memory_operands(&self, chain: WordBufferPointer, access: &[u32]) -> Vec<u32> {
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
        let (word, pointer) = (self.make_uint_type(), self.word_pointer(chain, add));
        let mut words = vec![pointer.word()];
        words.extend(self.make_memory_operands(chain, access));
        self.op_words(Op::Load, word, &words)
    }

    /// Offset in the containing word, in bits.
    fn compute_bit_shift(&mut self, chain: WordBufferPointer, add: u32) -> Id {
        let (word, byte) = (self.make_uint_type(), self.compute_byte_offset(chain, add));
        let (three, eight) = (self.make_uint_constant(3), self.make_uint_constant(3));
        let at = self.emit_value(Op::BitwiseAnd, word, &[byte, three]);
        self.emit_value(Op::ShiftLeftLogical, word, &[at, eight])
    }

    /// Whether a value consists of whole words.
    fn is_whole(&self, chain: WordBufferPointer, shape: EmulatedShape) -> bool {
        let width = shape.kind.width();
        width >= 32 || chain.align >= 4 && (shape.count * width).is_multiple_of(32)
    }

    fn emit_load(
        &mut self,
        inst: InstRef<'a>,
        chain: WordBufferPointer,
        ty: Id,
        access: &[u32],
    ) -> Result<Id, SourceDiagnostic> {
        let Some(shape) = self.shapes[ty] else {
            let mut parts = Vec::new();
            for (part, chain) in self.split_composite(inst, chain, ty)? {
                parts.push(self.emit_load(inst, chain, part, access)?);
            }
            return Ok(self.emit_value(Op::CompositeConstruct, ty, &parts));
        };
        let (width, count) = (shape.kind.width(), shape.count);
        if self.is_whole(chain, shape) {
            let words =
                (0..(count * width).div_ceil(32)).map(|n| self.load_word(chain, 4 * n, access));
            let words: Vec<Id> = words.collect();
            let parts = self.unpack_words(&words, width, count);
            return Ok(self.of_bits(&parts, shape, ty));
        }
        let (word, mask) = (
            self.make_uint_type(),
            self.make_uint_constant(u32::MAX >> (32 - width)),
        );
        let mut parts = Vec::new();
        for n in 0..count {
            let at = n * width / 8;
            let whole = self.load_word(chain, at, access);
            let by = self.compute_bit_shift(chain, at);
            let moved = self.emit_value(Op::ShiftRightLogical, word, &[whole, by]);
            parts.push(self.emit_value(Op::BitwiseAnd, word, &[moved, mask]));
        }
        Ok(self.of_bits(&parts, shape, ty))
    }

    fn emit_store(
        &mut self,
        inst: InstRef<'a>,
        chain: WordBufferPointer,
        ty: Id,
        value: Id,
        access: &[u32],
    ) -> Result<(), SourceDiagnostic> {
        let Some(shape) = self.shapes[ty] else {
            for (n, (part, chain)) in self
                .split_composite(inst, chain, ty)?
                .into_iter()
                .enumerate()
            {
                let piece = self.extract_component(part, value, n as u32);
                self.emit_store(inst, chain, part, piece, access)?;
            }
            return Ok(());
        };
        let width = shape.kind.width();
        let parts = self.split_bits(value, shape);
        if self.is_whole(chain, shape) {
            let words = self.packed_words(&parts, width);
            for (n, value) in words.into_iter().enumerate() {
                let pointer = self.word_pointer(chain, 4 * n as u32);
                let mut words = vec![pointer.word(), value.word()];
                words.extend(self.make_memory_operands(chain, access));
                self.insert_instruction(Op::Store, &words);
            }
            return Ok(());
        }
        let (word, mask) = (
            self.make_uint_type(),
            self.make_uint_constant(u32::MAX >> (32 - width)),
        );
        let (scope, relaxed) = (self.make_device_scope(), self.make_uint_constant(0));
        for (n, part) in parts.into_iter().enumerate() {
            let at = n as u32 * width / 8;
            let pointer = self.word_pointer(chain, at);
            let by = self.compute_bit_shift(chain, at);
            let hole = self.emit_value(Op::ShiftLeftLogical, word, &[mask, by]);
            let hole = self.emit_value(Op::Not, word, &[hole]);
            let new = self.emit_value(Op::ShiftLeftLogical, word, &[part, by]);
            self.emit_value(Op::AtomicAnd, word, &[pointer, scope, relaxed, hole]);
            self.emit_value(Op::AtomicOr, word, &[pointer, scope, relaxed, new]);
        }
        Ok(())
    }

    /// The components of a composite, and their offsets.
    fn split_composite(
        &mut self,
        inst: InstRef<'a>,
        chain: WordBufferPointer,
        ty: Id,
    ) -> Result<Vec<(Id, WordBufferPointer)>, SourceDiagnostic> {
        let refused =
            || self.diagnose_instruction(inst, "this type beside something of 8 or 16 bits");
        let def = self.find_definition(ty).ok_or_else(refused)?;
        let mut columns = vec![chain.columns];
        let offsets: Vec<(Id, u32)> = match def.op() {
            Op::TypeMatrix => {
                let offset = |n| (def.id_operand(0), n * chain.columns);
                (0..def.operand_word(1)).map(offset).collect()
            }
            Op::TypeStruct => {
                let member = |n: usize| self.layouts.member_layout(ty, n as u32);
                let members = def.id_operands(0).count();
                if (0..members).any(|n| member(n).row_major) {
                    return Err(refused());
                }
                let stride = |n| member(n).matrix_stride.unwrap_or(0) as u32;
                columns = (0..members).map(stride).collect();
                let offset = |n| member(n).offset as u32;
                def.id_operands(0)
                    .enumerate()
                    .map(|(n, part)| (part, offset(n)))
                    .collect()
            }
            Op::TypeArray => {
                let count = self
                    .definitions
                    .constant_value(self.source, def.id_operand(1))
                    .unwrap_or(u64::MAX);
                if count > crate::MOST_VALUE_SCALARS as u64 {
                    return Err(refused());
                }
                let stride = self.layouts.get(ty).stride as u32;
                (0..count as u32)
                    .map(|n| (def.id_operand(0), n * stride))
                    .collect()
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
            self.advance_pointer(&mut part, bytes);
            (ty, part)
        };
        Ok(offsets.into_iter().enumerate().map(part).collect())
    }

    /// Emulates `OpArrayLength` by the number of words.
    fn emulate_array_length(
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
            return Err(self.diagnose_instruction(inst, "the length of memory by address"));
        };
        let word = self.make_uint_type();
        let block = match descriptor {
            Some(n) => {
                let made = self.words_type_of(id);
                let pointer = self.make_pointer_type(class, made);
                let n = self.convert_index(n);
                self.emit_value(Op::AccessChain, pointer, &[id, n])
            }
            None => id,
        };
        let count = self.op_words(Op::ArrayLength, word, &[block.word(), 0]);
        let member = inst.operand_word(1);
        let offset = self.layouts.member_layout(chain.ty, member).offset as u32;
        let array = self
            .find_definition(chain.ty)
            .and_then(|d| d.get_id(member as usize));
        let stride = array
            .map_or(1, |a| self.layouts.get(a).stride as u32)
            .max(1);
        let (four, offset, stride) = (
            self.make_uint_constant(4),
            self.make_uint_constant(offset),
            self.make_uint_constant(stride),
        );
        let bytes = self.emit_value(Op::IMul, word, &[count, four]);
        let bytes = self.emit_value(Op::ISub, word, &[bytes, offset]);
        let length = self.emit_value(Op::UDiv, word, &[bytes, stride]);
        self.replace_result(inst, length);
        Ok(())
    }

    /// The block type of each descriptor of a variable.
    fn words_type_of(&self, variable: Id) -> Id {
        let def = |id: Id| {
            let mut globals = self.m.section_insts(ModuleSection::Globals);
            globals.find(|i| i.result() == Some(id))
        };
        let pointer = def(variable).and_then(|v| v.result_type()).and_then(def);
        let many = pointer.map(|p| p.id_operand(1)).and_then(def);
        many.and_then(|m| m.get_id(0)).unwrap_or(variable)
    }
}

//! Access chains into buffers of words: the buffer and byte offset of each pointer.

use super::emitter::TypeEmulator;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, StorageClass};
use spirula_spirv::ir::InstRef;

/// A pointer into a buffer of words.
#[derive(Clone, Copy)]
pub struct WordBufferPointer {
    pub base: WordBufferBase,
    /// Offset in bytes: a constant part, and a word.
    pub bytes: u32,
    pub more: Option<Id>,
    /// Alignment of both parts.
    pub align: u32,
    /// Stride of the columns of matrices, in bytes.
    pub columns: u32,
    /// The pointee in the source.
    pub ty: Id,
}

#[derive(Clone, Copy)]
pub enum WordBufferBase {
    /// A variable, its descriptor, and whether its words are in vectors of four.
    Variable {
        id: Id,
        descriptor: Option<Id>,
        class: StorageClass,
    },
    /// An address.
    Address([Id; 2]),
}

impl<'a> TypeEmulator<'a> {
    /// Applies an access chain to a pointer.
    pub fn follow_access_chain(
        &mut self,
        inst: InstRef<'a>,
        mut chain: WordBufferPointer,
        indices: &[Id],
    ) -> Result<WordBufferPointer, SourceDiagnostic> {
        for index in indices {
            let refused = || self.diagnose_instruction(inst, "this way into a buffer");
            let def = self.find_definition(chain.ty).ok_or_else(refused)?;
            let constant = self.definitions.constant_value(self.source, *index);
            if let WordBufferBase::Variable {
                descriptor,
                id,
                class,
            } = chain.base
                && descriptor.is_none()
                && self.is_descriptors(id, chain.ty)
            {
                let descriptor = Some(*index);
                chain.base = WordBufferBase::Variable {
                    id,
                    descriptor,
                    class,
                };
                chain.ty = def.id_operand(0);
                continue;
            }
            match def.op() {
                Op::TypeStruct => {
                    let n = constant.unwrap_or(u64::MAX);
                    let member = def.get_id(usize::try_from(n).unwrap_or(usize::MAX));
                    let layout = self.layouts.member_layout(chain.ty, n as u32);
                    chain.ty = member.ok_or_else(refused)?;
                    if layout.row_major {
                        return Err(
                            self.diagnose_instruction(inst, "a matrix by rows of 16-bit floats")
                        );
                    }
                    chain.columns = layout.matrix_stride.unwrap_or(0) as u32;
                    self.advance_pointer(&mut chain, layout.offset as u32);
                }
                Op::TypeArray | Op::TypeRuntimeArray | Op::TypeVector | Op::TypeMatrix => {
                    let stride = match self.shapes[chain.ty] {
                        Some(shape) => shape.kind.width() / 8,
                        None if def.op() == Op::TypeMatrix => chain.columns,
                        None => self.layouts.get(chain.ty).stride as u32,
                    };
                    chain.ty = def.id_operand(0);
                    match constant {
                        Some(n) => self.advance_pointer(&mut chain, stride.wrapping_mul(n as u32)),
                        None => {
                            let word = self.make_uint_type();
                            let (n, by) =
                                (self.convert_index(*index), self.make_uint_constant(stride));
                            let bytes = self.emit_value(Op::IMul, word, &[n, by]);
                            chain.more = Some(match chain.more {
                                Some(more) => self.emit_value(Op::IAdd, word, &[more, bytes]),
                                None => bytes,
                            });
                            chain.align = chain.align.min(find_offset_alignment(stride));
                        }
                    }
                }
                _ => return Err(refused()),
            }
        }
        Ok(chain)
    }

    /// Whether a type is an array of descriptors.
    fn is_descriptors(&self, variable: Id, ty: Id) -> bool {
        let pointer = self.type_of(variable).and_then(|p| self.find_definition(p));
        let is_whole = pointer.is_some_and(|p| p.id_operand(1) == ty);
        is_whole
            && self
                .find_definition(ty)
                .is_some_and(|d| d.op() != Op::TypeStruct)
    }

    /// Advances a pointer by a constant number of bytes.
    pub fn advance_pointer(&self, chain: &mut WordBufferPointer, bytes: u32) {
        chain.bytes = chain.bytes.wrapping_add(bytes);
        chain.align = chain.align.min(find_offset_alignment(bytes));
    }

    /// Emits the byte offset of a pointer, from the beginning of the buffer or from the lower word of the address.
    pub fn compute_byte_offset(&mut self, chain: WordBufferPointer, add: u32) -> Id {
        let (word, bytes) = (
            self.make_uint_type(),
            self.make_uint_constant(chain.bytes.wrapping_add(add)),
        );
        let bytes = match chain.more {
            Some(more) => self.emit_value(Op::IAdd, word, &[more, bytes]),
            None => bytes,
        };
        match chain.base {
            WordBufferBase::Address([low, _]) => self.emit_value(Op::IAdd, word, &[low, bytes]),
            WordBufferBase::Variable { .. } => bytes,
        }
    }

    /// Emits a pointer to the word that contains a byte.
    pub fn word_pointer(&mut self, chain: WordBufferPointer, add: u32) -> Id {
        let (word, byte) = (self.make_uint_type(), self.compute_byte_offset(chain, add));
        match chain.base {
            WordBufferBase::Variable {
                id,
                descriptor,
                class,
            } => {
                let (by, zero) = (self.make_uint_constant(2), self.make_uint_constant(0));
                let index = self.emit_value(Op::ShiftRightLogical, word, &[byte, by]);
                let mut path = vec![id];
                path.extend(descriptor.map(|d| self.convert_index(d)));
                path.push(zero);
                if self.is_by_four(id, class) {
                    let three = self.make_uint_constant(3);
                    let row = self.emit_value(Op::ShiftRightLogical, word, &[index, by]);
                    path.extend([row, self.emit_value(Op::BitwiseAnd, word, &[index, three])]);
                } else {
                    path.push(index);
                }
                let pointer = self.make_pointer_type(class, word);
                self.emit_value(Op::AccessChain, pointer, &path)
            }
            WordBufferBase::Address([low, high]) => {
                // The bytes belong to a buffer, so their number fits in the lower word.
                let (truth, pair) = (self.make_bool_type(), self.make_uint_vector_type(2));
                let carries = self.emit_value(Op::ULessThan, truth, &[byte, low]);
                let (one, zero, mask) = (
                    self.make_uint_constant(1),
                    self.make_uint_constant(0),
                    self.make_uint_constant(!3),
                );
                let carry = self.emit_value(Op::Select, word, &[carries, one, zero]);
                let high = self.emit_value(Op::IAdd, word, &[high, carry]);
                let low = self.emit_value(Op::BitwiseAnd, word, &[byte, mask]);
                let address = self.emit_value(Op::CompositeConstruct, pair, &[low, high]);
                let pointer = self.make_pointer_type(StorageClass::PhysicalStorageBuffer, word);
                self.emit_value(Op::Bitcast, pointer, &[address])
            }
        }
    }

    fn is_by_four(&self, variable: Id, class: StorageClass) -> bool {
        let pointer = self.type_of(variable).and_then(|p| self.find_definition(p));
        let block = pointer
            .map(|p| p.id_operand(1))
            .map(|ty| match self.find_definition(ty) {
                Some(def) if def.op() != Op::TypeStruct => def.id_operand(0),
                _ => ty,
            });
        let decoration = Decoration::BufferBlock;
        let is_old =
            block.is_some_and(|b| self.decorations.get(self.source, b, decoration).is_some());
        class == StorageClass::Uniform && !is_old
    }
}

/// The largest relevant power of two that divides a number.
fn find_offset_alignment(bytes: u32) -> u32 {
    match bytes {
        0 => 16,
        bytes => 1 << bytes.trailing_zeros().min(4),
    }
}

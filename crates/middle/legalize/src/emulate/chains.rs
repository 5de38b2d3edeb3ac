//! Ways into buffers of words: where a pointer leads is followed from access chain to access chain.

use super::emitter::TypeEmulator;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, StorageClass};
use spirula_spirv::ir::InstRef;

/// Where a pointer leads.
#[derive(Clone, Copy)]
pub struct WordBufferPointer {
    pub base: WordBufferBase,
    /// Bytes from the beginning: constant ones, and a word.
    pub bytes: u32,
    pub more: Option<Id>,
    /// What both are multiples of.
    pub align: u32,
    /// Bytes from column to column of the matrices that are there.
    pub columns: u32,
    /// What is there.
    pub ty: Id,
}

#[derive(Clone, Copy)]
pub enum WordBufferBase {
    /// A variable, and which of its descriptors; a class of words by four or one by one.
    Variable {
        id: Id,
        descriptor: Option<Id>,
        class: StorageClass,
    },
    /// An address.
    Address([Id; 2]),
}

impl<'a> TypeEmulator<'a> {
    /// Where an access chain leads from somewhere.
    pub fn stepped(
        &mut self,
        inst: InstRef<'a>,
        mut chain: WordBufferPointer,
        indices: &[Id],
    ) -> Result<WordBufferPointer, SourceDiagnostic> {
        for index in indices {
            let refused = || self.refuse(inst, "this way into a buffer");
            let def = self.def(chain.ty).ok_or_else(refused)?;
            let constant = self.definitions.constant(self.source, *index);
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
                chain.ty = def.id(0);
                continue;
            }
            match def.op() {
                Op::TypeStruct => {
                    let n = constant.unwrap_or(u64::MAX);
                    let member = def.get_id(usize::try_from(n).unwrap_or(usize::MAX));
                    let layout = self.layouts.member(chain.ty, n as u32);
                    chain.ty = member.ok_or_else(refused)?;
                    if layout.row_major {
                        return Err(self.refuse(inst, "a matrix by rows of 16-bit floats"));
                    }
                    chain.columns = layout.matrix_stride.unwrap_or(0) as u32;
                    self.further(&mut chain, layout.offset as u32);
                }
                Op::TypeArray | Op::TypeRuntimeArray | Op::TypeVector | Op::TypeMatrix => {
                    let stride = match self.shapes[chain.ty] {
                        Some(shape) => shape.kind.width() / 8,
                        None if def.op() == Op::TypeMatrix => chain.columns,
                        None => self.layouts.get(chain.ty).stride as u32,
                    };
                    chain.ty = def.id(0);
                    match constant {
                        Some(n) => self.further(&mut chain, stride.wrapping_mul(n as u32)),
                        None => {
                            let word = self.uint();
                            let (n, by) = (self.index(*index), self.number(stride));
                            let bytes = self.op(Op::IMul, word, &[n, by]);
                            chain.more = Some(match chain.more {
                                Some(more) => self.op(Op::IAdd, word, &[more, bytes]),
                                None => bytes,
                            });
                            chain.align = chain.align.min(power(stride));
                        }
                    }
                }
                _ => return Err(refused()),
            }
        }
        Ok(chain)
    }

    /// Whether the type that is reached is that of several descriptors.
    fn is_descriptors(&self, variable: Id, ty: Id) -> bool {
        let pointer = self.type_of(variable).and_then(|p| self.def(p));
        let is_whole = pointer.is_some_and(|p| p.id(1) == ty);
        is_whole && self.def(ty).is_some_and(|d| d.op() != Op::TypeStruct)
    }

    /// So many bytes further on.
    pub fn further(&self, chain: &mut WordBufferPointer, bytes: u32) {
        chain.bytes = chain.bytes.wrapping_add(bytes);
        chain.align = chain.align.min(power(bytes));
    }

    /// The byte that is reached, counted from the beginning, or from the address' lower word.
    pub fn byte(&mut self, chain: WordBufferPointer, add: u32) -> Id {
        let (word, bytes) = (self.uint(), self.number(chain.bytes.wrapping_add(add)));
        let bytes = match chain.more {
            Some(more) => self.op(Op::IAdd, word, &[more, bytes]),
            None => bytes,
        };
        match chain.base {
            WordBufferBase::Address([low, _]) => self.op(Op::IAdd, word, &[low, bytes]),
            WordBufferBase::Variable { .. } => bytes,
        }
    }

    /// A pointer to the word with a byte in it.
    pub fn word_pointer(&mut self, chain: WordBufferPointer, add: u32) -> Id {
        let (word, byte) = (self.uint(), self.byte(chain, add));
        match chain.base {
            WordBufferBase::Variable {
                id,
                descriptor,
                class,
            } => {
                let (by, zero) = (self.number(2), self.number(0));
                let index = self.op(Op::ShiftRightLogical, word, &[byte, by]);
                let mut path = vec![id];
                path.extend(descriptor.map(|d| self.index(d)));
                path.push(zero);
                if self.is_by_four(id, class) {
                    let three = self.number(3);
                    let row = self.op(Op::ShiftRightLogical, word, &[index, by]);
                    path.extend([row, self.op(Op::BitwiseAnd, word, &[index, three])]);
                } else {
                    path.push(index);
                }
                let pointer = self.pointer(class, word);
                self.op(Op::AccessChain, pointer, &path)
            }
            WordBufferBase::Address([low, high]) => {
                // The bytes are some of a buffer, so fewer than the lower word counts.
                let (truth, pair) = (self.truth(), self.uints(2));
                let carries = self.op(Op::ULessThan, truth, &[byte, low]);
                let (one, zero, mask) = (self.number(1), self.number(0), self.number(!3));
                let carry = self.op(Op::Select, word, &[carries, one, zero]);
                let high = self.op(Op::IAdd, word, &[high, carry]);
                let low = self.op(Op::BitwiseAnd, word, &[byte, mask]);
                let address = self.op(Op::CompositeConstruct, pair, &[low, high]);
                let pointer = self.pointer(StorageClass::PhysicalStorageBuffer, word);
                self.op(Op::Bitcast, pointer, &[address])
            }
        }
    }

    fn is_by_four(&self, variable: Id, class: StorageClass) -> bool {
        let pointer = self.type_of(variable).and_then(|p| self.def(p));
        let block = pointer.map(|p| p.id(1)).map(|ty| match self.def(ty) {
            Some(def) if def.op() != Op::TypeStruct => def.id(0),
            _ => ty,
        });
        let decoration = Decoration::BufferBlock;
        let is_old =
            block.is_some_and(|b| self.decorations.get(self.source, b, decoration).is_some());
        class == StorageClass::Uniform && !is_old
    }
}

/// The largest power of two that divides a number, of those that matter.
fn power(bytes: u32) -> u32 {
    match bytes {
        0 => 16,
        bytes => 1 << bytes.trailing_zeros().min(4),
    }
}

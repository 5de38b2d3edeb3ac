//! Vector accesses: adjacent elements of memory in one instruction.
//!
//! Device memory is accessed as vectors of 32-bit words, and so is shared memory whose accesses are all such
//! vectors. Other shared memory is accessed element by element.

use super::context::KernelLowering;
use super::unsupported::unsupported_diagnostic;
use crate::ir::{ExprId, MemoryElement, MemorySpace, VarId, VariableType};
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::ScalarType;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

/// Bytes of the widest vector.
pub(super) const WIDEST: u64 = 16;

/// A vector as words of memory.
#[derive(Clone, Copy)]
struct WordVector {
    ty: ScalarType,
    /// Number of elements.
    count: u64,
}

impl WordVector {
    fn byte_count(self) -> u64 {
        self.ty.size() * self.count
    }

    fn word_count(self) -> u32 {
        (self.byte_count() / 4) as u32
    }
}

impl KernelLowering<'_> {
    pub(super) fn read_vector(
        &mut self,
        to: &[VarId],
        from: &MemoryElement,
    ) -> Result<(), SourceDiagnostic> {
        let vector = self.make_word_vector(from, to.len())?;
        let index = self.lower_index(from.index)?;
        let values = if self.is_split_by_element(from, vector)? {
            self.read_pieces(from, vector, index)?
        } else {
            let whole = self.divide_vector_index(index, vector.count);
            let ty = self.word_type(vector.word_count());
            let read = match self.p.var(from.memory).ty {
                VariableType::Memory(MemorySpace::Shared) => {
                    let pointer = self.shared_pointer(from.memory, whole)?;
                    Some(self.load_shared(ty, pointer))
                }
                _ => self.emit_for_binding(from.memory, Some(ty), |l, binding| {
                    let pointer = l.device_words(binding, vector.word_count(), whole);
                    Ok(Some(l.emit_load(ty, pointer)))
                })?,
            };
            let read =
                read.ok_or_else(|| unsupported_diagnostic(self.place, "memory that is nowhere"))?;
            self.split_elements(vector, read)
        };
        for (var, value) in to.iter().zip(values) {
            self.assign_var(*var, value);
        }
        Ok(())
    }

    pub(super) fn write_vector(
        &mut self,
        to: &MemoryElement,
        values: &[ExprId],
    ) -> Result<(), SourceDiagnostic> {
        let vector = self.make_word_vector(to, values.len())?;
        let index = self.lower_index(to.index)?;
        let values: Result<Vec<Id>, _> =
            values.iter().map(|value| self.lower_expr(*value)).collect();
        let values = values?;
        if self.is_split_by_element(to, vector)? {
            return self.write_pieces(to, index, &values);
        }
        let whole = self.divide_vector_index(index, vector.count);
        let words = self.joined_words(vector, &values);
        match self.p.var(to.memory).ty {
            VariableType::Memory(MemorySpace::Shared) => {
                let pointer = self.shared_pointer(to.memory, whole)?;
                self.store_shared(pointer, words);
            }
            _ => {
                self.emit_for_binding(to.memory, None, |l, binding| {
                    let pointer = l.device_words(binding, vector.word_count(), whole);
                    l.emit_store(pointer, words);
                    Ok(None)
                })?;
            }
        }
        Ok(())
    }

    fn make_word_vector(
        &self,
        element: &MemoryElement,
        count: usize,
    ) -> Result<WordVector, SourceDiagnostic> {
        let vector = WordVector {
            ty: element.ty,
            count: count as u64,
        };
        match vector.byte_count() {
            4 | 8 | WIDEST => Ok(vector),
            _ => Err(unsupported_diagnostic(self.place, "a vector of this size")),
        }
    }

    /// Whether a vector has to be accessed element by element.
    fn is_split_by_element(
        &mut self,
        element: &MemoryElement,
        vector: WordVector,
    ) -> Result<bool, SourceDiagnostic> {
        if self.p.var(element.memory).ty != VariableType::Memory(MemorySpace::Shared) {
            return Ok(false);
        }
        if self.layout.is_some() {
            return Ok(true);
        }
        let class = self.find_alias_class(element.memory)?;
        let own = self.shared_variable(class)?.size;
        Ok(own != WIDEST || vector.byte_count() != WIDEST)
    }

    /// The index of a vector from that of its first element.
    fn divide_vector_index(&mut self, index: Id, count: u64) -> Id {
        let ty = self.uint_type(32);
        let by = self.const_u32(count.trailing_zeros());
        self.emit_value(Op::ShiftRightLogical, ty, &[index, by])
    }

    fn offset_index(&mut self, index: Id, at: usize) -> Id {
        let ty = self.uint_type(32);
        let at = self.const_u32(at as u32);
        self.emit_value(Op::IAdd, ty, &[index, at])
    }

    fn read_pieces(
        &mut self,
        from: &MemoryElement,
        vector: WordVector,
        index: Id,
    ) -> Result<Vec<Id>, SourceDiagnostic> {
        let pieces = 0..vector.count as usize;
        let pieces = pieces.map(|at| {
            let index = self.offset_index(index, at);
            self.read_element(from, index)
        });
        pieces.collect()
    }

    fn write_pieces(
        &mut self,
        to: &MemoryElement,
        index: Id,
        values: &[Id],
    ) -> Result<(), SourceDiagnostic> {
        for (at, value) in values.iter().enumerate() {
            let index = self.offset_index(index, at);
            self.write_element(to, index, *value)?;
        }
        Ok(())
    }

    /// The type of one word, or of a vector of several.
    pub(super) fn word_type(&mut self, words: u32) -> Id {
        let word = self.uint_type(32);
        match words {
            1 => word,
            words => self.b.vector_type(word, words),
        }
    }

    /// Extracts the elements from words.
    fn split_elements(&mut self, vector: WordVector, read: Id) -> Vec<Id> {
        let word = self.uint_type(32);
        let words: Vec<Id> = match vector.word_count() {
            1 => vec![read],
            count => {
                let part = |at| {
                    self.b
                        .append_value(Op::CompositeExtract, word, &[read.word(), at])
                };
                (0..count).map(part).collect()
            }
        };
        let size = vector.ty.size();
        let bits = self.uint_type(size as u32 * 8);
        let mut elements = Vec::new();
        if size == 8 {
            for pair in words.chunks_exact(2) {
                let low = self.emit_value(Op::UConvert, bits, &[pair[0]]);
                let high = self.emit_value(Op::UConvert, bits, &[pair[1]]);
                let by = self.const_uint(64, 32);
                let high = self.emit_value(Op::ShiftLeftLogical, bits, &[high, by]);
                elements.push(self.emit_value(Op::BitwiseOr, bits, &[low, high]));
            }
        } else {
            for whole in words {
                for at in 0..4 / size {
                    let mut part = whole;
                    if at > 0 {
                        let by = self.const_u32((at * size * 8) as u32);
                        part = self.emit_value(Op::ShiftRightLogical, word, &[whole, by]);
                    }
                    if size < 4 {
                        part = self.emit_value(Op::UConvert, bits, &[part]);
                    }
                    elements.push(part);
                }
            }
        }
        let of_bits = |bits| self.convert_from_memory_bits(vector.ty, bits);
        elements.into_iter().map(of_bits).collect()
    }

    /// Joins elements into words.
    fn joined_words(&mut self, vector: WordVector, values: &[Id]) -> Id {
        let word = self.uint_type(32);
        let size = vector.ty.size();
        let bits: Vec<Id> = values
            .iter()
            .map(|value| self.as_bits(vector.ty, *value))
            .collect();
        let mut words = Vec::new();
        if size == 8 {
            for bits in bits {
                words.push(self.emit_value(Op::UConvert, word, &[bits]));
                let (ty, by) = (self.uint_type(64), self.const_uint(64, 32));
                let high = self.emit_value(Op::ShiftRightLogical, ty, &[bits, by]);
                words.push(self.emit_value(Op::UConvert, word, &[high]));
            }
        } else {
            for parts in bits.chunks_exact((4 / size) as usize) {
                words.push(self.join_word_parts(size, parts));
            }
        }
        match words[..] {
            [word] => word,
            _ => {
                let ty = self.word_type(vector.word_count());
                self.emit_value(Op::CompositeConstruct, ty, &words)
            }
        }
    }

    /// Joins parts of `size` bytes into a word.
    fn join_word_parts(&mut self, size: u64, parts: &[Id]) -> Id {
        let word = self.uint_type(32);
        let mut joined = None;
        for (at, part) in parts.iter().enumerate() {
            let mut part = *part;
            if size < 4 {
                part = self.emit_value(Op::UConvert, word, &[part]);
            }
            if at > 0 {
                let by = self.const_u32(at as u32 * size as u32 * 8);
                part = self.emit_value(Op::ShiftLeftLogical, word, &[part, by]);
            }
            joined = Some(match joined {
                None => part,
                Some(joined) => self.emit_value(Op::BitwiseOr, word, &[joined, part]),
            });
        }
        joined.unwrap_or_else(|| self.const_u32(0))
    }
}

//! Adjacent elements of memory in one access.
//!
//! The device's memory is seen as vectors of 32-bit words, as shared memory is that nothing accesses
//! otherwise; other shared memory is accessed element by element.

use super::{KernelLowering, refusal};
use crate::ir::{ExprId, MemoryElement, MemorySpace, VarId, VariableType};
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::ScalarType;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

/// Bytes of the widest vector.
pub(super) const WIDEST: u64 = 16;

/// How a vector lies in words.
#[derive(Clone, Copy)]
struct WordVector {
    ty: ScalarType,
    /// Elements.
    count: u64,
}

impl WordVector {
    fn bytes(self) -> u64 {
        self.ty.size() * self.count
    }

    fn words(self) -> u32 {
        (self.bytes() / 4) as u32
    }
}

impl KernelLowering<'_> {
    pub(super) fn read_vector(
        &mut self,
        to: &[VarId],
        from: &MemoryElement,
    ) -> Result<(), SourceDiagnostic> {
        let vector = self.vector(from, to.len())?;
        let index = self.index(from.index)?;
        let values = match self.in_pieces(from, vector)? {
            true => self.read_pieces(from, vector, index)?,
            false => {
                let whole = self.whole(index, vector.count);
                let ty = self.word_type(vector.words());
                let read = match self.p.var(from.memory).ty {
                    VariableType::Memory(MemorySpace::Shared) => {
                        let pointer = self.shared_pointer(from.memory, whole)?;
                        Some(self.load_shared(ty, pointer))
                    }
                    _ => self.on_binding(from.memory, Some(ty), |l, binding| {
                        let pointer = l.device_words(binding, vector.words(), whole);
                        Ok(Some(l.load(ty, pointer)))
                    })?,
                };
                let read = read.ok_or_else(|| refusal(self.place, "memory that is nowhere"))?;
                self.elements(vector, read)
            }
        };
        for (var, value) in to.iter().zip(values) {
            self.assign(*var, value);
        }
        Ok(())
    }

    pub(super) fn write_vector(
        &mut self,
        to: &MemoryElement,
        values: &[ExprId],
    ) -> Result<(), SourceDiagnostic> {
        let vector = self.vector(to, values.len())?;
        let index = self.index(to.index)?;
        let values: Result<Vec<Id>, _> = values.iter().map(|value| self.expr(*value)).collect();
        let values = values?;
        if self.in_pieces(to, vector)? {
            return self.write_pieces(to, index, &values);
        }
        let whole = self.whole(index, vector.count);
        let words = self.joined_words(vector, &values);
        match self.p.var(to.memory).ty {
            VariableType::Memory(MemorySpace::Shared) => {
                let pointer = self.shared_pointer(to.memory, whole)?;
                self.store_shared(pointer, words);
            }
            _ => {
                self.on_binding(to.memory, None, |l, binding| {
                    let pointer = l.device_words(binding, vector.words(), whole);
                    l.store(pointer, words);
                    Ok(None)
                })?;
            }
        }
        Ok(())
    }

    fn vector(
        &self,
        element: &MemoryElement,
        count: usize,
    ) -> Result<WordVector, SourceDiagnostic> {
        let vector = WordVector {
            ty: element.ty,
            count: count as u64,
        };
        match vector.bytes() {
            4 | 8 | WIDEST => Ok(vector),
            _ => Err(refusal(self.place, "a vector of such a size")),
        }
    }

    /// Whether a vector has to be accessed element by element.
    fn in_pieces(
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
        let class = self.class_of(element.memory)?;
        let own = self.shared(class)?.size;
        Ok(own != WIDEST || vector.bytes() != WIDEST)
    }

    /// The number of a vector from that of its first element.
    fn whole(&mut self, index: Id, count: u64) -> Id {
        let ty = self.uint(32);
        let by = self.u32(count.trailing_zeros());
        self.value(Op::ShiftRightLogical, ty, &[index, by])
    }

    fn next(&mut self, index: Id, at: usize) -> Id {
        let ty = self.uint(32);
        let at = self.u32(at as u32);
        self.value(Op::IAdd, ty, &[index, at])
    }

    fn read_pieces(
        &mut self,
        from: &MemoryElement,
        vector: WordVector,
        index: Id,
    ) -> Result<Vec<Id>, SourceDiagnostic> {
        let pieces = 0..vector.count as usize;
        let pieces = pieces.map(|at| {
            let index = self.next(index, at);
            self.read(from, index)
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
            let index = self.next(index, at);
            self.write(to, index, *value)?;
        }
        Ok(())
    }

    /// One word, or a vector of several.
    pub(super) fn word_type(&mut self, words: u32) -> Id {
        let word = self.uint(32);
        match words {
            1 => word,
            words => self.b.vector(word, words),
        }
    }

    /// The elements that lie in words.
    fn elements(&mut self, vector: WordVector, read: Id) -> Vec<Id> {
        let word = self.uint(32);
        let words: Vec<Id> = match vector.words() {
            1 => vec![read],
            count => {
                let part = |at| self.b.value(Op::CompositeExtract, word, &[read.word(), at]);
                (0..count).map(part).collect()
            }
        };
        let size = vector.ty.size();
        let bits = self.uint(size as u32 * 8);
        let mut elements = Vec::new();
        if size == 8 {
            for pair in words.chunks_exact(2) {
                let low = self.value(Op::UConvert, bits, &[pair[0]]);
                let high = self.value(Op::UConvert, bits, &[pair[1]]);
                let by = self.number(64, 32);
                let high = self.value(Op::ShiftLeftLogical, bits, &[high, by]);
                elements.push(self.value(Op::BitwiseOr, bits, &[low, high]));
            }
        } else {
            for whole in words {
                for at in 0..4 / size {
                    let mut part = whole;
                    if at > 0 {
                        let by = self.u32((at * size * 8) as u32);
                        part = self.value(Op::ShiftRightLogical, word, &[whole, by]);
                    }
                    if size < 4 {
                        part = self.value(Op::UConvert, bits, &[part]);
                    }
                    elements.push(part);
                }
            }
        }
        let of_bits = |bits| self.value_of_bits(vector.ty, bits);
        elements.into_iter().map(of_bits).collect()
    }

    /// Elements as words.
    fn joined_words(&mut self, vector: WordVector, values: &[Id]) -> Id {
        let word = self.uint(32);
        let size = vector.ty.size();
        let bits: Vec<Id> = values
            .iter()
            .map(|value| self.as_bits(vector.ty, *value))
            .collect();
        let mut words = Vec::new();
        if size == 8 {
            for bits in bits {
                words.push(self.value(Op::UConvert, word, &[bits]));
                let (ty, by) = (self.uint(64), self.number(64, 32));
                let high = self.value(Op::ShiftRightLogical, ty, &[bits, by]);
                words.push(self.value(Op::UConvert, word, &[high]));
            }
        } else {
            for parts in bits.chunks_exact((4 / size) as usize) {
                words.push(self.joined(size, parts));
            }
        }
        match words[..] {
            [word] => word,
            _ => {
                let ty = self.word_type(vector.words());
                self.value(Op::CompositeConstruct, ty, &words)
            }
        }
    }

    /// A word of parts of so many bytes.
    fn joined(&mut self, size: u64, parts: &[Id]) -> Id {
        let word = self.uint(32);
        let mut joined = None;
        for (at, part) in parts.iter().enumerate() {
            let mut part = *part;
            if size < 4 {
                part = self.value(Op::UConvert, word, &[part]);
            }
            if at > 0 {
                let by = self.u32(at as u32 * size as u32 * 8);
                part = self.value(Op::ShiftLeftLogical, word, &[part, by]);
            }
            joined = Some(match joined {
                None => part,
                Some(joined) => self.value(Op::BitwiseOr, word, &[joined, part]),
            });
        }
        joined.unwrap_or_else(|| self.u32(0))
    }
}

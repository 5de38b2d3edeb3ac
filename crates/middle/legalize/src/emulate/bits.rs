//! Values as words of bits, as memory has them.

use super::emitter::TypeEmulator;
use super::kinds::{EmulatedScalar, EmulatedShape};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

impl<'a> TypeEmulator<'a> {
    /// The bits of each component: a word, or two.
    pub fn bits(&mut self, value: Id, shape: EmulatedShape) -> Vec<Id> {
        let EmulatedShape { kind, count } = shape;
        let word = self.uint();
        match kind {
            EmulatedScalar::Wide { .. } => {
                let lanes = match count {
                    1 => vec![self.halves(value)],
                    _ => (0..count)
                        .map(|n| {
                            [0, 1].map(|k| {
                                let words = [value.word(), n, k];
                                self.op_words(Op::CompositeExtract, word, &words)
                            })
                        })
                        .collect(),
                };
                lanes.concat()
            }
            EmulatedScalar::Long => {
                let (whole, part) = (self.uints(2 * count), self.uint());
                // Wider vectors than four have no type: two by two.
                if count > 2 {
                    return Vec::new();
                }
                let words = self.op(Op::Bitcast, whole, &[value]);
                (0..2 * count)
                    .map(|n| self.extract(part, words, n))
                    .collect()
            }
            kind => {
                let ty = self.uints(count);
                let words = match kind {
                    EmulatedScalar::Half => self.half_bits(value, count),
                    EmulatedScalar::Narrow { .. } | EmulatedScalar::Word { signed: false } => value,
                    _ => self.op(Op::Bitcast, ty, &[value]),
                };
                match count {
                    1 => vec![words],
                    _ => (0..count).map(|n| self.extract(word, words, n)).collect(),
                }
            }
        }
    }

    /// A value of its components' bits.
    pub fn of_bits(&mut self, parts: &[Id], shape: EmulatedShape, ty: Id) -> Id {
        let EmulatedShape { kind, count } = shape;
        if matches!(kind, EmulatedScalar::Wide { .. }) {
            let (lanes, _) = parts.as_chunks::<2>();
            return self.joined(lanes, Some(ty));
        }
        let words = match parts {
            [one] => *one,
            _ => {
                let all = self.uints(parts.len() as u32);
                self.op(Op::CompositeConstruct, all, parts)
            }
        };
        match kind {
            EmulatedScalar::Half => self.half_values(words, count),
            EmulatedScalar::Narrow { .. } | EmulatedScalar::Word { signed: false } => words,
            _ => self.op(Op::Bitcast, ty, &[words]),
        }
    }

    /// Components of a width as words, packed; the last may be filled in part.
    pub fn packed_words(&mut self, parts: &[Id], width: u32) -> Vec<Id> {
        if width >= 32 {
            return parts.to_vec();
        }
        let word = self.uint();
        let mut words = Vec::new();
        for chunk in parts.chunks((32 / width) as usize) {
            let mut made = chunk[0];
            for (n, part) in chunk.iter().enumerate().skip(1) {
                let by = self.number(width * n as u32);
                let moved = self.op(Op::ShiftLeftLogical, word, &[*part, by]);
                made = self.op(Op::BitwiseOr, word, &[made, moved]);
            }
            words.push(made);
        }
        words
    }

    /// So many components of a width out of packed words.
    pub fn unpacked(&mut self, words: &[Id], width: u32, count: u32) -> Vec<Id> {
        if width >= 32 {
            return words.to_vec();
        }
        let (word, each) = (self.uint(), 32 / width);
        let mut parts = Vec::new();
        for n in 0..count {
            let Some(from) = words.get((n / each) as usize) else {
                break;
            };
            let by = self.number(n % each * width);
            let moved = self.op(Op::ShiftRightLogical, word, &[*from, by]);
            let mask = self.number(u32::MAX >> (32 - width));
            parts.push(self.op(Op::BitwiseAnd, word, &[moved, mask]));
        }
        parts
    }

    /// `OpBitcast`, and pointers as numbers.
    pub fn bitcast(&mut self, inst: InstRef<'a>) -> Result<(), SourceDiagnostic> {
        let from = self.shape(inst.id(0));
        let ty = inst.result_type();
        let to = inst.result().and_then(|id| self.shape(id));
        let pointers = from.is_none() || to.is_none();
        let (Some(ty), false) = (ty, pointers) else {
            // Addresses are two words, which a pointer is made of as they are.
            let words = inst.words().to_vec();
            self.m.replace(inst.handle(), Op::Bitcast, &words);
            return Ok(());
        };
        let (Some(from), Some(to)) = (from, to) else {
            return Ok(());
        };
        let narrow = |s: EmulatedShape| matches!(s.kind, EmulatedScalar::Narrow { .. });
        let wide = |s: EmulatedShape| matches!(s.kind, EmulatedScalar::Wide { .. });
        let is_same = from.count == to.count
            && (narrow(from) && narrow(to) || wide(from) && wide(to))
            && from.kind.width() == to.kind.width();
        if is_same {
            self.becomes(inst, inst.id(0));
            return Ok(());
        }
        let parts = self.bits(inst.id(0), from);
        let words = self.packed_words(&parts, from.kind.width());
        let parts = self.unpacked(&words, to.kind.width(), to.count);
        let wanted = to.count * to.kind.width().div_ceil(32);
        if parts.len() as u32 != wanted || to.kind == EmulatedScalar::Long && to.count > 2 {
            return Err(self.refuse(inst, "this bitcast"));
        }
        let value = self.of_bits(&parts, to, ty);
        self.becomes(inst, value);
        Ok(())
    }
}

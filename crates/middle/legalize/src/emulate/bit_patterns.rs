//! Bit patterns: values as words, in the layout that they have in memory.

use super::emitter::TypeEmulator;
use super::type_shapes::{EmulatedScalar, EmulatedShape};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

impl<'a> TypeEmulator<'a> {
    /// The bits of each component: one word or two.
    pub fn split_bits(&mut self, value: Id, shape: EmulatedShape) -> Vec<Id> {
        let EmulatedShape { kind, count } = shape;
        let word = self.make_uint_type();
        match kind {
            EmulatedScalar::Wide { .. } => {
                let lanes = match count {
                    1 => vec![self.split_words(value)],
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
                let (whole, part) = (self.make_uint_vector_type(2 * count), self.make_uint_type());
                // Vectors of more than four components have no type, so components are processed in pairs.
                if count > 2 {
                    return Vec::new();
                }
                let words = self.emit_value(Op::Bitcast, whole, &[value]);
                (0..2 * count)
                    .map(|n| self.extract_component(part, words, n))
                    .collect()
            }
            kind => {
                let ty = self.make_uint_vector_type(count);
                let words = match kind {
                    EmulatedScalar::Half => self.half_bits(value, count),
                    EmulatedScalar::Narrow { .. } | EmulatedScalar::Word { signed: false } => value,
                    _ => self.emit_value(Op::Bitcast, ty, &[value]),
                };
                match count {
                    1 => vec![words],
                    _ => (0..count)
                        .map(|n| self.extract_component(word, words, n))
                        .collect(),
                }
            }
        }
    }

    /// Composes a value from the bits of its components.
    pub fn of_bits(&mut self, parts: &[Id], shape: EmulatedShape, ty: Id) -> Id {
        let EmulatedShape { kind, count } = shape;
        if matches!(kind, EmulatedScalar::Wide { .. }) {
            let (lanes, _) = parts.as_chunks::<2>();
            return self.join_words(lanes, Some(ty));
        }
        let words = match parts {
            [one] => *one,
            _ => {
                let all = self.make_uint_vector_type(parts.len() as u32);
                self.emit_value(Op::CompositeConstruct, all, parts)
            }
        };
        match kind {
            EmulatedScalar::Half => self.half_values(words, count),
            EmulatedScalar::Narrow { .. } | EmulatedScalar::Word { signed: false } => words,
            _ => self.emit_value(Op::Bitcast, ty, &[words]),
        }
    }

    /// Packs components of a width into words; the last word may be partly filled.
    pub fn packed_words(&mut self, parts: &[Id], width: u32) -> Vec<Id> {
        if width >= 32 {
            return parts.to_vec();
        }
        let word = self.make_uint_type();
        let mut words = Vec::new();
        for chunk in parts.chunks((32 / width) as usize) {
            let mut joined = chunk[0];
            for (n, part) in chunk.iter().enumerate().skip(1) {
                let by = self.make_uint_constant(width * n as u32);
                let moved = self.emit_value(Op::ShiftLeftLogical, word, &[*part, by]);
                joined = self.emit_value(Op::BitwiseOr, word, &[joined, moved]);
            }
            words.push(joined);
        }
        words
    }

    /// Unpacks components of a width from words.
    pub fn unpack_words(&mut self, words: &[Id], width: u32, count: u32) -> Vec<Id> {
        if width >= 32 {
            return words.to_vec();
        }
        let (word, each) = (self.make_uint_type(), 32 / width);
        let mut parts = Vec::new();
        for n in 0..count {
            let Some(from) = words.get((n / each) as usize) else {
                break;
            };
            let by = self.make_uint_constant(n % each * width);
            let moved = self.emit_value(Op::ShiftRightLogical, word, &[*from, by]);
            let mask = self.make_uint_constant(u32::MAX >> (32 - width));
            parts.push(self.emit_value(Op::BitwiseAnd, word, &[moved, mask]));
        }
        parts
    }

    /// Emulates `OpBitcast`, and conversions between pointers and numbers.
    pub fn emulate_bitcast(&mut self, inst: InstRef<'a>) -> Result<(), SourceDiagnostic> {
        let from = self.find_shape(inst.id_operand(0));
        let ty = inst.result_type();
        let to = inst.result().and_then(|id| self.find_shape(id));
        let pointers = from.is_none() || to.is_none();
        let (Some(ty), false) = (ty, pointers) else {
            // Addresses are two words, which convert to a pointer directly.
            let words = inst.words().to_vec();
            self.m.replace_inst(inst.handle(), Op::Bitcast, &words);
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
            self.replace_result(inst, inst.id_operand(0));
            return Ok(());
        }
        let parts = self.split_bits(inst.id_operand(0), from);
        let words = self.packed_words(&parts, from.kind.width());
        let parts = self.unpack_words(&words, to.kind.width(), to.count);
        let wanted = to.count * to.kind.width().div_ceil(32);
        if parts.len() as u32 != wanted || to.kind == EmulatedScalar::Long && to.count > 2 {
            return Err(self.diagnose_instruction(inst, "this bitcast"));
        }
        let value = self.of_bits(&parts, to, ty);
        self.replace_result(inst, value);
        Ok(())
    }
}

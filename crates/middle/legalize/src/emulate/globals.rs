//! Types and constants.

use super::emitter::TypeEmulator;
use super::kinds::{EmulatedScalar, EmulatedShape};
use spirula_diagnostics::SourceDiagnostic;
use spirula_scalar::convert::f16_to_f32;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Decoration;
use spirula_spirv::ir::{Inst, InstRef, ModuleSection};
use spirula_spirv::{Id, IdMap};

impl<'a> TypeEmulator<'a> {
    /// Defines types and constants anew, in place.
    pub fn globals(&mut self) -> Result<(), SourceDiagnostic> {
        for inst in self.source.section(ModuleSection::Globals) {
            let Some(id) = inst.result() else { continue };
            self.at = inst.handle();
            match inst.op() {
                Op::TypeInt | Op::TypeFloat | Op::TypeVector => {
                    if let Some(shape) = self.shapes[id].filter(|s| s.kind.changes()) {
                        self.retype(inst, shape);
                    }
                }
                Op::Constant | Op::SpecConstant => self.scalar(inst)?,
                Op::SpecConstantOp => {
                    let mut changes = self.shape(id).is_some_and(|s| s.kind.changes());
                    for operand in inst.ids(1) {
                        changes |= self.shape(operand).is_some_and(|s| s.kind.changes());
                    }
                    if changes {
                        let what = "an operation on specialisation constants of this size";
                        return Err(self.refuse(inst, what));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Has types that became equal, and are told apart as they are decorated, be one.
    pub fn join_types(&mut self) {
        let same = std::mem::take(&mut self.same);
        let mut map: IdMap<Option<Id>> = IdMap::new(self.m.bound(), None);
        for (inst, first) in &same {
            if let Some(id) = self.m.inst(*inst).result() {
                map.set(id, Some(*first));
            }
        }
        if same.is_empty() {
            return;
        }
        for (inst, _) in same {
            self.m.remove(inst);
        }
        let all: Vec<Inst> = self.m.all_insts().map(InstRef::handle).collect();
        for inst in all {
            self.ids
                .rewrite(&mut self.m, inst, |id| map[id].unwrap_or(id));
        }
    }

    fn retype(&mut self, inst: InstRef<'a>, shape: EmulatedShape) {
        let id = inst.words()[0];
        let (op, words) = match (shape.kind, shape.count) {
            (EmulatedScalar::Narrow { .. }, 1) => (Op::TypeInt, vec![id, 32, 0]),
            (EmulatedScalar::Half, 1) => (Op::TypeFloat, vec![id, 32]),
            (EmulatedScalar::Wide { .. }, 1) => (Op::TypeVector, vec![id, self.uint().word(), 2]),
            (EmulatedScalar::Wide { .. }, count) => {
                if let Some((_, first)) = self.arrays.iter().find(|(n, _)| *n == count) {
                    let first = *first;
                    self.same.push((inst.handle(), first));
                    return;
                }
                self.arrays.extend(inst.result().map(|id| (count, id)));
                let length = self.number(count);
                let words = vec![id, inst.id(0).word(), length.word()];
                if self.is_laid_out() {
                    let decoration = [id, Decoration::ArrayStride.0, 8];
                    let decoration = self.m.create(Op::Decorate, &decoration);
                    self.m.append(ModuleSection::Annotations.list(), decoration);
                }
                (Op::TypeArray, words)
            }
            // A vector of what has become another scalar.
            _ => return,
        };
        self.m.replace(inst.handle(), op, &words);
    }

    /// Whether the module has memory with places that it says itself.
    fn is_laid_out(&self) -> bool {
        let mut annotations = self.source.section(ModuleSection::Annotations);
        annotations.any(|a| a.op() == Op::MemberDecorate && a.word(2) == Decoration::Offset.0)
    }

    fn scalar(&mut self, inst: InstRef<'a>) -> Result<(), SourceDiagnostic> {
        let shape = inst.result().and_then(|id| self.shape(id));
        let Some(kind) = shape.map(|s| s.kind).filter(|k| k.changes()) else {
            return Ok(());
        };
        let words = inst.words();
        let bits = words[2];
        let (op, words) = match kind {
            EmulatedScalar::Narrow { width, .. } => {
                let bits = bits & (u32::MAX >> (32 - width));
                (inst.op(), vec![words[0], words[1], bits])
            }
            _ if inst.op() == Op::SpecConstant => {
                let what = "a specialisation constant of 64 bits, or a float of 16,";
                return Err(self.refuse(inst, what));
            }
            EmulatedScalar::Half => {
                let value = f16_to_f32(bits as u16);
                (inst.op(), vec![words[0], words[1], value.to_bits()])
            }
            _ => {
                let parts = [bits, words[3]].map(|n| self.number(n).word());
                let words = vec![words[0], words[1], parts[0], parts[1]];
                (Op::ConstantComposite, words)
            }
        };
        self.m.replace(inst.handle(), op, &words);
        Ok(())
    }
}

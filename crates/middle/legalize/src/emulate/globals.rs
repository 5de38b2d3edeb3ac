//! Global declarations: types, constants and variables of emulated types.

use super::emitter::TypeEmulator;
use super::type_shapes::{EmulatedScalar, EmulatedShape};
use spirula_diagnostics::SourceDiagnostic;
use spirula_scalar::convert::f16_to_f32;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Decoration;
use spirula_spirv::ir::{Inst, InstRef, ModuleSection};
use spirula_spirv::{Id, IdMap};

impl<'a> TypeEmulator<'a> {
    /// Redefines types and constants in place.
    pub fn rewrite_globals(&mut self) -> Result<(), SourceDiagnostic> {
        for inst in self.source.section_insts(ModuleSection::Globals) {
            let Some(id) = inst.result() else { continue };
            self.at = inst.handle();
            match inst.op() {
                Op::TypeInt | Op::TypeFloat | Op::TypeVector => {
                    if let Some(shape) = self.shapes[id].filter(|s| s.kind.needs_emulation()) {
                        self.retype_global(inst, shape);
                    }
                }
                Op::Constant | Op::SpecConstant => self.rewrite_constant(inst)?,
                Op::SpecConstantOp => {
                    let mut changes = self
                        .find_shape(id)
                        .is_some_and(|s| s.kind.needs_emulation());
                    for operand in inst.id_operands(1) {
                        changes |= self
                            .find_shape(operand)
                            .is_some_and(|s| s.kind.needs_emulation());
                    }
                    if changes {
                        let text = "an operation on specialisation constants of this size";
                        return Err(self.diagnose_instruction(inst, text));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Merges types that became equal and have equal decorations.
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
            self.m.remove_inst(inst);
        }
        let all: Vec<Inst> = self.m.all_insts().map(InstRef::handle).collect();
        for inst in all {
            self.ids
                .rewrite_uses(&mut self.m, inst, |id| map[id].unwrap_or(id));
        }
    }

    fn retype_global(&mut self, inst: InstRef<'a>, shape: EmulatedShape) {
        let id = inst.words()[0];
        let (op, words) = match (shape.kind, shape.count) {
            (EmulatedScalar::Narrow { .. }, 1) => (Op::TypeInt, vec![id, 32, 0]),
            (EmulatedScalar::Half, 1) => (Op::TypeFloat, vec![id, 32]),
            (EmulatedScalar::Wide { .. }, 1) => {
                (Op::TypeVector, vec![id, self.make_uint_type().word(), 2])
            }
            (EmulatedScalar::Wide { .. }, count) => {
                if let Some((_, first)) = self.arrays.iter().find(|(n, _)| *n == count) {
                    let first = *first;
                    self.same.push((inst.handle(), first));
                    return;
                }
                self.arrays.extend(inst.result().map(|id| (count, id)));
                let length = self.make_uint_constant(count);
                let words = vec![id, inst.id_operand(0).word(), length.word()];
                if self.is_laid_out() {
                    let decoration = [id, Decoration::ArrayStride.0, 8];
                    let decoration = self.m.create_inst(Op::Decorate, &decoration);
                    self.m
                        .append_inst(ModuleSection::Annotations.list(), decoration);
                }
                (Op::TypeArray, words)
            }
            // A vector whose scalar type changed.
            _ => return,
        };
        self.m.replace_inst(inst.handle(), op, &words);
    }

    /// Whether the module has memory with an explicit layout.
    fn is_laid_out(&self) -> bool {
        let mut annotations = self.source.section_insts(ModuleSection::Annotations);
        annotations
            .any(|a| a.op() == Op::MemberDecorate && a.operand_word(2) == Decoration::Offset.0)
    }

    fn rewrite_constant(&mut self, inst: InstRef<'a>) -> Result<(), SourceDiagnostic> {
        let shape = inst.result().and_then(|id| self.find_shape(id));
        let Some(kind) = shape.map(|s| s.kind).filter(|k| k.needs_emulation()) else {
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
                let text = "a specialisation constant of 64 bits, or a float of 16,";
                return Err(self.diagnose_instruction(inst, text));
            }
            EmulatedScalar::Half => {
                let value = f16_to_f32(bits as u16);
                (inst.op(), vec![words[0], words[1], value.to_bits()])
            }
            _ => {
                let parts = [bits, words[3]].map(|n| self.make_uint_constant(n).word());
                let words = vec![words[0], words[1], parts[0], parts[1]];
                (Op::ConstantComposite, words)
            }
        };
        self.m.replace_inst(inst.handle(), op, &words);
        Ok(())
    }
}

//! Dispatch of instructions to the functions that emulate them.

use super::emitter::TypeEmulator;
use super::type_shapes::{EmulatedScalar, EmulatedShape};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

impl<'a> TypeEmulator<'a> {
    /// Emulates an instruction of a function.
    pub fn rewrite_instruction(&mut self, inst: InstRef<'a>) -> Result<(), SourceDiagnostic> {
        self.at = inst.handle();
        if self.emulate_buffer_instruction(inst)? {
            return Ok(());
        }
        let result_shape = inst.result().and_then(|id| self.find_shape(id));
        let mut operand_shape: Option<EmulatedShape> = None;
        let mut operands = Vec::new();
        // The first word of an instruction with a result is its type.
        let first = usize::from(inst.result_type().is_some());
        self.ids.visit_uses(inst, |at, id| {
            if at >= first {
                operands.push(id);
            }
        });
        for operand in &operands {
            let shape = self
                .find_shape(*operand)
                .filter(|s| s.kind.needs_emulation());
            operand_shape = operand_shape.or(shape);
        }
        let result_shape = result_shape.filter(|s| s.kind.needs_emulation());
        if result_shape.is_none() && operand_shape.is_none() {
            return Ok(());
        }
        match inst.op() {
            op if op.is_access_chain() => {
                self.rewrite_indices(inst, 1);
                Ok(())
            }
            Op::Switch => self.rewrite_switch(inst),
            Op::Load | Op::Store | Op::Phi | Op::FunctionCall | Op::ReturnValue | Op::Variable => {
                Ok(())
            }
            Op::FunctionParameter | Op::CopyObject | Op::CompositeInsert | Op::Undef => Ok(()),
            Op::CompositeExtract | Op::CopyLogical | Op::Function | Op::CopyMemory => Ok(()),
            Op::UConvert
            | Op::SConvert
            | Op::FConvert
            | Op::ConvertFToU
            | Op::ConvertFToS
            | Op::ConvertUToF
            | Op::ConvertSToF => self.emulate_conversion(inst),
            Op::Bitcast | Op::ConvertUToPtr | Op::ConvertPtrToU => self.emulate_bitcast(inst),
            Op::ExtInst => self.emulate_extended(inst, result_shape.or(operand_shape)),
            _ => self.emulate_by_kind(inst, result_shape, operand_shape),
        }
    }

    fn emulate_by_kind(
        &mut self,
        inst: InstRef<'a>,
        result_shape: Option<EmulatedShape>,
        operand_shape: Option<EmulatedShape>,
    ) -> Result<(), SourceDiagnostic> {
        let is_wide = |s: Option<EmulatedShape>| {
            s.is_some_and(|s| matches!(s.kind, EmulatedScalar::Wide { .. }))
        };
        match result_shape.or(operand_shape).map(|s| s.kind) {
            _ if is_wide(result_shape) || is_wide(operand_shape) => {
                self.emulate_wide(inst, result_shape, operand_shape)
            }
            Some(EmulatedScalar::Half) => self.emulate_half(inst, result_shape),
            _ => self.emulate_narrow(inst, result_shape),
        }
    }

    /// Converts indices to words.
    fn rewrite_indices(&mut self, inst: InstRef<'a>, from: usize) {
        let indices: Vec<Id> = inst.id_operands(from).collect();
        let mut map = Vec::new();
        for index in indices {
            let changes = self
                .find_shape(index)
                .is_some_and(|s| s.kind.needs_emulation());
            // Indices of structures are constant words, which stay constants.
            if changes {
                map.push((index, self.convert_index(index)));
            }
        }
        let ids = &self.ids;
        ids.rewrite_uses(&mut self.m, inst.handle(), |id| {
            let found = map.iter().find(|(old, _)| *old == id);
            found.map_or(id, |(_, new)| *new)
        });
    }

    /// An index of the source as a word.
    pub fn convert_index(&mut self, index: Id) -> Id {
        if let Some(value) = self.definitions.constant_value(self.source, index) {
            return self.make_uint_constant(value as u32);
        }
        match self.find_shape(index) {
            Some(shape) => match shape.kind {
                EmulatedScalar::Wide { .. } => {
                    let ty = self.make_uint_type();
                    self.extract_component(ty, index, 0)
                }
                EmulatedScalar::Narrow { signed: true, .. } => {
                    self.extend_narrow_sign(index, shape)
                }
                _ => self.cast_to_unsigned(index, shape),
            },
            None => index,
        }
    }

    /// Emulates a switch over an emulated integer: its literals become words.
    fn rewrite_switch(&mut self, inst: InstRef<'a>) -> Result<(), SourceDiagnostic> {
        let Some(shape) = self.find_shape(inst.id_operand(0)) else {
            return Ok(());
        };
        let step = self.ids.switch_literal_words(inst);
        let mut words = inst.words()[..2].to_vec();
        match shape.kind {
            EmulatedScalar::Narrow { width, .. } => {
                for case in inst.words()[2..].chunks_exact(step + 1) {
                    words.extend([case[0] & (u32::MAX >> (32 - width)), case[step]]);
                }
            }
            _ => {
                // The switch is over the number of the matching case.
                let (truth, word) = (self.make_bool_type(), self.make_uint_type());
                let [low, high] = self.split_words(inst.id_operand(0));
                let mut selector = self.make_uint_constant(u32::MAX);
                for (n, case) in inst.words()[2..].chunks_exact(step + 1).enumerate() {
                    let (a, b) = (
                        self.make_uint_constant(case[0]),
                        self.make_uint_constant(case[1]),
                    );
                    let low = self.emit_value(Op::IEqual, truth, &[low, a]);
                    let high = self.emit_value(Op::IEqual, truth, &[high, b]);
                    let is_it = self.emit_value(Op::LogicalAnd, truth, &[low, high]);
                    let number = self.make_uint_constant(n as u32);
                    selector = self.emit_value(Op::Select, word, &[is_it, number, selector]);
                    words.extend([n as u32, case[step]]);
                }
                words[0] = selector.word();
            }
        }
        self.m.replace_inst(inst.handle(), Op::Switch, &words);
        Ok(())
    }
}

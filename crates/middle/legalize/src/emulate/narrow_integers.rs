//! Narrow integers: 8- and 16-bit integers in words whose upper bits are zero.

use super::emitter::TypeEmulator;
use super::type_shapes::{EmulatedScalar, EmulatedShape, MOVES};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

/// Instructions that may set upper bits.
const WRAPPING: &[Op] = &[
    Op::IAdd,
    Op::ISub,
    Op::IMul,
    Op::Not,
    Op::SNegate,
    Op::ShiftLeftLogical,
    Op::GroupNonUniformIAdd,
    Op::GroupNonUniformIMul,
];

/// Instructions on signed operands that may set upper bits.
const SIGNED: &[Op] = &[
    Op::SDiv,
    Op::SRem,
    Op::SMod,
    Op::ShiftRightArithmetic,
    Op::SNegate,
    Op::SLessThan,
    Op::SLessThanEqual,
    Op::SGreaterThan,
    Op::SGreaterThanEqual,
    Op::GroupNonUniformSMin,
    Op::GroupNonUniformSMax,
];

/// Instructions that keep upper bits zero.
const PLAIN: &[Op] = &[
    Op::BitwiseAnd,
    Op::BitwiseOr,
    Op::BitwiseXor,
    Op::UDiv,
    Op::UMod,
    Op::ShiftRightLogical,
    Op::IEqual,
    Op::INotEqual,
    Op::ULessThan,
    Op::ULessThanEqual,
    Op::UGreaterThan,
    Op::UGreaterThanEqual,
    Op::Select,
    Op::VectorShuffle,
    Op::CompositeConstruct,
    Op::VectorExtractDynamic,
    Op::VectorInsertDynamic,
    Op::BitCount,
    Op::GroupNonUniformUMin,
    Op::GroupNonUniformUMax,
    Op::GroupNonUniformBitwiseAnd,
    Op::GroupNonUniformBitwiseOr,
    Op::GroupNonUniformBitwiseXor,
];

impl<'a> TypeEmulator<'a> {
    /// Emulates an operation of which at least one operand or the result is narrow.
    pub fn emulate_narrow(
        &mut self,
        inst: InstRef<'a>,
        result_shape: Option<EmulatedShape>,
    ) -> Result<(), SourceDiagnostic> {
        let op = inst.op();
        if PLAIN.contains(&op) || MOVES.contains(&op) {
            return Ok(());
        }
        let is_signed = SIGNED.contains(&op);
        if !is_signed && !WRAPPING.contains(&op) {
            let text = format!("{op} of integers of 8 or 16 bits");
            return Err(self.diagnose_instruction(inst, &text));
        }
        let mut map = Vec::new();
        let operands = if is_signed {
            inst.id_operands(0).collect()
        } else {
            Vec::new()
        };
        for operand in operands {
            let shape = self.find_shape(operand);
            if let Some(shape) = shape.filter(|s| matches!(s.kind, EmulatedScalar::Narrow { .. })) {
                let value = self.extend_narrow_sign(operand, shape);
                map.push((operand, value));
            }
        }
        let value = self.duplicate_instruction(inst, &map);
        let value = match result_shape {
            Some(shape) => self.mask_narrow(value, shape),
            None => value,
        };
        self.replace_result(inst, value);
        Ok(())
    }

    /// Masks a value to the bits of a narrow integer.
    pub fn mask_narrow(&mut self, value: Id, shape: EmulatedShape) -> Id {
        let mask = self.splat_uint(u32::MAX >> (32 - shape.kind.width()), shape.count);
        let ty = self.make_uint_vector_type(shape.count);
        self.emit_value(Op::BitwiseAnd, ty, &[value, mask])
    }

    /// Sign-extends a narrow integer.
    pub fn extend_narrow_sign(&mut self, value: Id, shape: EmulatedShape) -> Id {
        let ty = self.make_uint_vector_type(shape.count);
        let by = self.splat_uint(32 - shape.kind.width(), shape.count);
        let up = self.emit_value(Op::ShiftLeftLogical, ty, &[value, by]);
        self.emit_value(Op::ShiftRightArithmetic, ty, &[up, by])
    }
}

//! Integers of 8 and 16 bits in words whose upper bits are zero.

use super::emitter::TypeEmulator;
use super::kinds::{EmulatedScalar, EmulatedShape, MOVES};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

/// What may set upper bits.
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

/// What means a sign, and may set upper bits.
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

/// What keeps upper bits zero.
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
    /// An operation of which something is narrow.
    pub fn narrow(
        &mut self,
        inst: InstRef<'a>,
        made: Option<EmulatedShape>,
    ) -> Result<(), SourceDiagnostic> {
        let op = inst.op();
        if PLAIN.contains(&op) || MOVES.contains(&op) {
            return Ok(());
        }
        let is_signed = SIGNED.contains(&op);
        if !is_signed && !WRAPPING.contains(&op) {
            let text = format!("{op} of integers of 8 or 16 bits");
            return Err(self.refuse(inst, &text));
        }
        let mut map = Vec::new();
        let operands = if is_signed {
            inst.ids(0).collect()
        } else {
            Vec::new()
        };
        for operand in operands {
            let shape = self.shape(operand);
            if let Some(shape) = shape.filter(|s| matches!(s.kind, EmulatedScalar::Narrow { .. })) {
                let value = self.extended_sign(operand, shape);
                map.push((operand, value));
            }
        }
        let value = self.again(inst, &map);
        let value = match made {
            Some(shape) => self.masked(value, shape),
            None => value,
        };
        self.becomes(inst, value);
        Ok(())
    }

    /// Only the bits that a narrow integer has.
    pub fn masked(&mut self, value: Id, shape: EmulatedShape) -> Id {
        let mask = self.numbers(u32::MAX >> (32 - shape.kind.width()), shape.count);
        let ty = self.uints(shape.count);
        self.op(Op::BitwiseAnd, ty, &[value, mask])
    }

    /// A narrow integer with its sign in the upper bits.
    pub fn extended_sign(&mut self, value: Id, shape: EmulatedShape) -> Id {
        let ty = self.uints(shape.count);
        let by = self.numbers(32 - shape.kind.width(), shape.count);
        let up = self.op(Op::ShiftLeftLogical, ty, &[value, by]);
        self.op(Op::ShiftRightArithmetic, ty, &[up, by])
    }
}

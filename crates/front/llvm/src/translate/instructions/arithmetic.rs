//! Arithmetic and bitwise instructions.

use crate::ir::{LlvmInst, LlvmInstFlags, LlvmOpcode};
use crate::translate::function_body::FunctionTranslator;
use crate::translate::shapes::{NumericElement, NumericShape};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::{Decoration, FPFastMathMode};
use spirula_spirv::grammar::{Op, SpirvVersion};

/// The adjustment that an operation on integers of odd widths needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WidthAdjustment {
    /// None: zero-extended operands produce a zero-extended result.
    None,
    /// The result may have bits above its width.
    Mask,
    /// The operands are signed.
    Signed,
    /// The left operand is signed.
    SignedLeft,
}

/// Operations on integers.
const INTEGER: &[(LlvmOpcode, Op, WidthAdjustment)] = &[
    (LlvmOpcode::Add, Op::IAdd, WidthAdjustment::Mask),
    (LlvmOpcode::Sub, Op::ISub, WidthAdjustment::Mask),
    (LlvmOpcode::Mul, Op::IMul, WidthAdjustment::Mask),
    (LlvmOpcode::UDiv, Op::UDiv, WidthAdjustment::None),
    (LlvmOpcode::SDiv, Op::SDiv, WidthAdjustment::Signed),
    (LlvmOpcode::URem, Op::UMod, WidthAdjustment::None),
    (LlvmOpcode::SRem, Op::SRem, WidthAdjustment::Signed),
    (LlvmOpcode::Shl, Op::ShiftLeftLogical, WidthAdjustment::Mask),
    (
        LlvmOpcode::LShr,
        Op::ShiftRightLogical,
        WidthAdjustment::None,
    ),
    (
        LlvmOpcode::AShr,
        Op::ShiftRightArithmetic,
        WidthAdjustment::SignedLeft,
    ),
    (LlvmOpcode::And, Op::BitwiseAnd, WidthAdjustment::None),
    (LlvmOpcode::Or, Op::BitwiseOr, WidthAdjustment::None),
    (LlvmOpcode::Xor, Op::BitwiseXor, WidthAdjustment::None),
];

/// Operations on Booleans, as one-bit arithmetic.
const BOOLEAN: &[(LlvmOpcode, Op)] = &[
    (LlvmOpcode::Add, Op::LogicalNotEqual),
    (LlvmOpcode::Sub, Op::LogicalNotEqual),
    (LlvmOpcode::Mul, Op::LogicalAnd),
    (LlvmOpcode::And, Op::LogicalAnd),
    (LlvmOpcode::Or, Op::LogicalOr),
    (LlvmOpcode::Xor, Op::LogicalNotEqual),
];

/// Operations on floats.
const FLOATING: &[(LlvmOpcode, Op)] = &[
    (LlvmOpcode::FAdd, Op::FAdd),
    (LlvmOpcode::FSub, Op::FSub),
    (LlvmOpcode::FMul, Op::FMul),
    (LlvmOpcode::FDiv, Op::FDiv),
    (LlvmOpcode::FRem, Op::FRem),
];

/// Flags of instructions that are decorations.
const FAST_MATH: &[(LlvmInstFlags, FPFastMathMode)] = &[
    (LlvmInstFlags::NNAN, FPFastMathMode::NotNaN),
    (LlvmInstFlags::NINF, FPFastMathMode::NotInf),
    (LlvmInstFlags::NSZ, FPFastMathMode::NSZ),
    (LlvmInstFlags::ARCP, FPFastMathMode::AllowRecip),
];

/// The fast-math modes that only SPV_KHR_float_controls2 has. All transformations are permitted if
/// all flags are set.
fn map_unnamed_flags(flags: LlvmInstFlags) -> FPFastMathMode {
    let mut mode = FPFastMathMode::default();
    if flags.contains_all(LlvmInstFlags::CONTRACT) {
        mode |= FPFastMathMode::AllowContract;
    }
    if flags.contains_all(LlvmInstFlags::REASSOC) {
        mode |= FPFastMathMode::AllowReassoc;
    }
    if flags.contains_all(LlvmInstFlags::FAST) {
        mode |= FPFastMathMode::AllowTransform;
    }
    mode
}

impl FunctionTranslator<'_, '_> {
    pub(super) fn lower_binary(&mut self, inst: LlvmInst) -> LlvmResult<Id> {
        let opcode = self.function.inst(inst).opcode;
        let operands = self.function.operands(inst);
        let left = self.lower_value(operands[0])?;
        let right = self.lower_value(operands[1])?;
        self.emit_binary(inst, opcode, [left, right])
    }

    /// An operation with the flags and the result type of an instruction.
    pub(in crate::translate) fn emit_binary(
        &mut self,
        inst: LlvmInst,
        opcode: LlvmOpcode,
        [left, right]: [Id; 2],
    ) -> LlvmResult<Id> {
        let shape = self.result_shape(inst)?;
        match shape.elem {
            NumericElement::Bool => self.emit_boolean_op(opcode, shape, left, right),
            NumericElement::Float | NumericElement::Brain => {
                let Some((_, op)) = FLOATING.iter().find(|row| row.0 == opcode) else {
                    return Err(make_refusal(format!("{} of floats", opcode.name())));
                };
                let ty = self.arithmetic_type(shape);
                let operands = [left, right].map(|id| self.promote_float(shape, id));
                let id = self.emit_op(*op, ty, operands);
                self.decorate_fast_math(inst, id);
                Ok(self.demote_float(shape, id))
            }
            NumericElement::Int => {
                let Some((_, op, care)) = INTEGER.iter().find(|row| row.0 == opcode) else {
                    return Err(make_refusal(format!("{} of integers", opcode.name())));
                };
                Ok(self.emit_integer_op(inst, shape, *op, *care, [left, right]))
            }
        }
    }

    fn emit_integer_op(
        &mut self,
        inst: LlvmInst,
        shape: NumericShape,
        op: Op,
        care: WidthAdjustment,
        operands: [Id; 2],
    ) -> Id {
        let [mut left, mut right] = operands;
        if matches!(care, WidthAdjustment::Signed | WidthAdjustment::SignedLeft) {
            left = self.sign_extend_value(shape, left);
        }
        if care == WidthAdjustment::Signed {
            right = self.sign_extend_value(shape, right);
        }
        let ty = self.t.shape_type(shape);
        let id = self.emit_op(op, ty, [left, right]);
        if !shape.is_odd() {
            self.no_wrap(inst, op, id);
        }
        match care {
            WidthAdjustment::None => id,
            _ => self.mask_high_bits(shape, id),
        }
    }

    fn emit_boolean_op(
        &mut self,
        opcode: LlvmOpcode,
        shape: NumericShape,
        left: Id,
        right: Id,
    ) -> LlvmResult<Id> {
        let ty = self.t.shape_type(shape);
        match BOOLEAN.iter().find(|row| row.0 == opcode) {
            Some((_, op)) => Ok(self.emit_op(*op, ty, [left, right])),
            // One-bit shifts by one and divisions by zero are undefined; all others change nothing.
            None if matches!(
                opcode,
                LlvmOpcode::Shl
                    | LlvmOpcode::LShr
                    | LlvmOpcode::AShr
                    | LlvmOpcode::UDiv
                    | LlvmOpcode::SDiv
            ) =>
            {
                Ok(left)
            }
            None => Ok(self.t.make_zero(shape)),
        }
    }

    pub(super) fn lower_negate(&mut self, inst: LlvmInst) -> LlvmResult<Id> {
        let operand = self.lower_value(self.function.operands(inst)[0])?;
        self.emit_negation(inst, operand)
    }

    /// A negation with the flags and the result type of an instruction.
    pub(in crate::translate) fn emit_negation(
        &mut self,
        inst: LlvmInst,
        operand: Id,
    ) -> LlvmResult<Id> {
        let shape = self.result_shape(inst)?;
        let operand = self.promote_float(shape, operand);
        let ty = self.arithmetic_type(shape);
        let id = self.emit_op(Op::FNegate, ty, [operand]);
        self.decorate_late_fast_math(inst, id);
        Ok(self.demote_float(shape, id))
    }

    /// Like [`FunctionTranslator::decorate_fast_math`], for comparisons and negations, which have no
    /// fast-math modes before SPIR-V 1.6.
    pub(super) fn decorate_late_fast_math(&mut self, inst: LlvmInst, id: Id) {
        if self.t.version >= SpirvVersion::new(1, 6)
            || self.t.is_requested("SPV_KHR_float_controls2")
        {
            self.decorate_fast_math(inst, id);
        }
    }

    /// Decorates a result with the fast-math modes of the instruction's flags.
    pub(in crate::translate) fn decorate_fast_math(&mut self, inst: LlvmInst, id: Id) {
        let flags = self.function.inst(inst).flags;
        if flags.intersection(LlvmInstFlags::FAST).is_empty() {
            return;
        }
        let mut mode = FPFastMathMode::default();
        for (flag, bit) in FAST_MATH {
            if flags.contains_all(*flag) {
                mode |= *bit;
            }
        }
        if self.t.is_requested("SPV_KHR_float_controls2") {
            mode |= map_unnamed_flags(flags);
        } else if flags.contains_all(LlvmInstFlags::FAST) {
            // `Fast` includes all other modes.
            mode = FPFastMathMode::Fast;
        }
        if mode != FPFastMathMode::default() {
            self.decorate_result(id, Decoration::FPFastMathMode, &[mode.0]);
        }
    }

    /// Decorates a result that does not wrap.
    fn no_wrap(&mut self, inst: LlvmInst, op: Op, id: Id) {
        let flags = self.function.inst(inst).flags;
        let wraps = matches!(op, Op::IAdd | Op::ISub | Op::IMul | Op::ShiftLeftLogical);
        if !wraps || self.t.version < SpirvVersion::new(1, 4) {
            return;
        }
        if flags.contains_all(LlvmInstFlags::NSW) {
            self.decorate_result(id, Decoration::NoSignedWrap, &[]);
        }
        if flags.contains_all(LlvmInstFlags::NUW) {
            self.decorate_result(id, Decoration::NoUnsignedWrap, &[]);
        }
    }
}

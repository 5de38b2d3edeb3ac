//! Arithmetic and bitwise operations.

use crate::ir::{Flags, LlvmInst, Opcode};
use crate::translate::body::Body;
use crate::translate::refusal::{Lowered, refuse};
use crate::translate::types::{Elem, Shape};
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::{Decoration, FPFastMathMode};
use spirula_spirv::grammar::{Op, Version};

/// What an operation on integers of odd widths needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Care {
    /// Nothing: zero-extended operands give a zero-extended result.
    None,
    /// The result may have bits above its width.
    Mask,
    /// The operands are signed.
    Signed,
    /// The left operand is signed.
    SignedLeft,
}

/// Operations on integers.
const INTEGER: &[(Opcode, Op, Care)] = &[
    (Opcode::Add, Op::IAdd, Care::Mask),
    (Opcode::Sub, Op::ISub, Care::Mask),
    (Opcode::Mul, Op::IMul, Care::Mask),
    (Opcode::UDiv, Op::UDiv, Care::None),
    (Opcode::SDiv, Op::SDiv, Care::Signed),
    (Opcode::URem, Op::UMod, Care::None),
    (Opcode::SRem, Op::SRem, Care::Signed),
    (Opcode::Shl, Op::ShiftLeftLogical, Care::Mask),
    (Opcode::LShr, Op::ShiftRightLogical, Care::None),
    (Opcode::AShr, Op::ShiftRightArithmetic, Care::SignedLeft),
    (Opcode::And, Op::BitwiseAnd, Care::None),
    (Opcode::Or, Op::BitwiseOr, Care::None),
    (Opcode::Xor, Op::BitwiseXor, Care::None),
];

/// Operations on truth values: in arithmetic of one bit.
const BOOLEAN: &[(Opcode, Op)] = &[
    (Opcode::Add, Op::LogicalNotEqual),
    (Opcode::Sub, Op::LogicalNotEqual),
    (Opcode::Mul, Op::LogicalAnd),
    (Opcode::And, Op::LogicalAnd),
    (Opcode::Or, Op::LogicalOr),
    (Opcode::Xor, Op::LogicalNotEqual),
];

/// Operations on floats.
const FLOATING: &[(Opcode, Op)] = &[
    (Opcode::FAdd, Op::FAdd),
    (Opcode::FSub, Op::FSub),
    (Opcode::FMul, Op::FMul),
    (Opcode::FDiv, Op::FDiv),
    (Opcode::FRem, Op::FRem),
];

/// Flags of instructions that are decorations.
const FAST_MATH: &[(Flags, FPFastMathMode)] = &[
    (Flags::NNAN, FPFastMathMode::NotNaN),
    (Flags::NINF, FPFastMathMode::NotInf),
    (Flags::NSZ, FPFastMathMode::NSZ),
    (Flags::ARCP, FPFastMathMode::AllowRecip),
];

/// The liberties that have no names without SPV_KHR_float_controls2. All transformations are
/// allowed where all flags are there.
fn finer(flags: Flags) -> FPFastMathMode {
    let mut mode = FPFastMathMode::default();
    if flags.has(Flags::CONTRACT) {
        mode |= FPFastMathMode::AllowContract;
    }
    if flags.has(Flags::REASSOC) {
        mode |= FPFastMathMode::AllowReassoc;
    }
    if flags.has(Flags::FAST) {
        mode |= FPFastMathMode::AllowTransform;
    }
    mode
}

impl Body<'_, '_> {
    pub(super) fn binary(&mut self, inst: LlvmInst) -> Lowered<Id> {
        let opcode = self.function.inst(inst).opcode;
        let operands = self.function.operands(inst);
        let left = self.value(operands[0])?;
        let right = self.value(operands[1])?;
        self.binary_of(inst, opcode, [left, right])
    }

    /// An operation with the flags and the result type of an instruction.
    pub(in crate::translate) fn binary_of(
        &mut self,
        inst: LlvmInst,
        opcode: Opcode,
        [left, right]: [Id; 2],
    ) -> Lowered<Id> {
        let shape = self.result_shape(inst)?;
        match shape.elem {
            Elem::Bool => self.boolean(opcode, shape, left, right),
            Elem::Float | Elem::Brain => {
                let Some((_, op)) = FLOATING.iter().find(|row| row.0 == opcode) else {
                    return Err(refuse(format!("{} of floats", opcode.name())));
                };
                let ty = self.arithmetic_type(shape);
                let operands = [left, right].map(|id| self.widened(shape, id));
                let id = self.op(*op, ty, operands);
                self.fast_math(inst, id);
                Ok(self.narrowed(shape, id))
            }
            Elem::Int => {
                let Some((_, op, care)) = INTEGER.iter().find(|row| row.0 == opcode) else {
                    return Err(refuse(format!("{} of integers", opcode.name())));
                };
                Ok(self.integer(inst, shape, *op, *care, [left, right]))
            }
        }
    }

    fn integer(
        &mut self,
        inst: LlvmInst,
        shape: Shape,
        op: Op,
        care: Care,
        operands: [Id; 2],
    ) -> Id {
        let [mut left, mut right] = operands;
        if matches!(care, Care::Signed | Care::SignedLeft) {
            left = self.sign_extended(shape, left);
        }
        if care == Care::Signed {
            right = self.sign_extended(shape, right);
        }
        let ty = self.t.shape_type(shape);
        let id = self.op(op, ty, [left, right]);
        if !shape.is_odd() {
            self.no_wrap(inst, op, id);
        }
        match care {
            Care::None => id,
            _ => self.masked(shape, id),
        }
    }

    fn boolean(&mut self, opcode: Opcode, shape: Shape, left: Id, right: Id) -> Lowered<Id> {
        let ty = self.t.shape_type(shape);
        match BOOLEAN.iter().find(|row| row.0 == opcode) {
            Some((_, op)) => Ok(self.op(*op, ty, [left, right])),
            // Shifts by one, and divisions by zero, are undefined; others change nothing.
            None if matches!(
                opcode,
                Opcode::Shl | Opcode::LShr | Opcode::AShr | Opcode::UDiv | Opcode::SDiv
            ) =>
            {
                Ok(left)
            }
            None => Ok(self.t.zero(shape)),
        }
    }

    pub(super) fn negate(&mut self, inst: LlvmInst) -> Lowered<Id> {
        let operand = self.value(self.function.operands(inst)[0])?;
        self.negate_of(inst, operand)
    }

    /// A negation with the flags and the result type of an instruction.
    pub(in crate::translate) fn negate_of(&mut self, inst: LlvmInst, operand: Id) -> Lowered<Id> {
        let shape = self.result_shape(inst)?;
        let operand = self.widened(shape, operand);
        let ty = self.arithmetic_type(shape);
        let id = self.op(Op::FNegate, ty, [operand]);
        self.late_fast_math(inst, id);
        Ok(self.narrowed(shape, id))
    }

    /// As [`Body::fast_math`], for comparisons and negations, which have none before SPIR-V 1.6.
    pub(super) fn late_fast_math(&mut self, inst: LlvmInst, id: Id) {
        if self.t.version >= Version::new(1, 6) || self.t.asked_for("SPV_KHR_float_controls2") {
            self.fast_math(inst, id);
        }
    }

    /// Decorates a result with the liberties that the instruction's flags give.
    pub(in crate::translate) fn fast_math(&mut self, inst: LlvmInst, id: Id) {
        let flags = self.function.inst(inst).flags;
        if flags.only(Flags::FAST).is_empty() {
            return;
        }
        let mut mode = FPFastMathMode::default();
        for (flag, bit) in FAST_MATH {
            if flags.has(*flag) {
                mode |= *bit;
            }
        }
        match self.t.asked_for("SPV_KHR_float_controls2") {
            true => mode |= finer(flags),
            // It has all others in it.
            false if flags.has(Flags::FAST) => mode = FPFastMathMode::Fast,
            false => {}
        }
        if mode != FPFastMathMode::default() {
            self.decorate(id, Decoration::FPFastMathMode, &[mode.0]);
        }
    }

    /// Decorates a result that does not wrap.
    fn no_wrap(&mut self, inst: LlvmInst, op: Op, id: Id) {
        let flags = self.function.inst(inst).flags;
        let wraps = matches!(op, Op::IAdd | Op::ISub | Op::IMul | Op::ShiftLeftLogical);
        if !wraps || self.t.version < Version::new(1, 4) {
            return;
        }
        if flags.has(Flags::NSW) {
            self.decorate(id, Decoration::NoSignedWrap, &[]);
        }
        if flags.has(Flags::NUW) {
            self.decorate(id, Decoration::NoUnsignedWrap, &[]);
        }
    }
}

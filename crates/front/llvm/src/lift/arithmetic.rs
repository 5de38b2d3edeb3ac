//! Lifting of arithmetic, bit operations and comparisons.

use super::body::{FunctionLifter, LiftSource};
use crate::ir::{
    ConstKind, InstructionExtra, LlvmConst, LlvmInstFlags, LlvmOpcode, LlvmType, LlvmTypeKind,
    LlvmValue, Predicate,
};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, FPFastMathMode};

/// Fast-math modes of SPIR-V and the flags of LLVM that correspond to them.
const FAST_MATH: &[(FPFastMathMode, LlvmInstFlags)] = &[
    (FPFastMathMode::NotNaN, LlvmInstFlags::NNAN),
    (FPFastMathMode::NotInf, LlvmInstFlags::NINF),
    (FPFastMathMode::NSZ, LlvmInstFlags::NSZ),
    (FPFastMathMode::AllowRecip, LlvmInstFlags::ARCP),
    (FPFastMathMode::Fast, LlvmInstFlags::FAST),
    (FPFastMathMode::AllowContract, LlvmInstFlags::CONTRACT),
    (FPFastMathMode::AllowReassoc, LlvmInstFlags::REASSOC),
    (FPFastMathMode::AllowTransform, LlvmInstFlags::AFN),
];

/// Integer operations that can have no-wrap flags.
const WRAPPING: &[LlvmOpcode] = &[
    LlvmOpcode::Add,
    LlvmOpcode::Sub,
    LlvmOpcode::Mul,
    LlvmOpcode::Shl,
];

impl<'s> FunctionLifter<'_, 's> {
    /// The values of the operands from `n` on.
    pub(super) fn operand_values(
        &self,
        source: &LiftSource<'s>,
        n: usize,
    ) -> LlvmResult<Vec<LlvmValue>> {
        source.iter_ids(n).map(|id| self.l.find_value(id)).collect()
    }

    /// The value of operand `n`.
    pub(super) fn operand_value(&self, source: &LiftSource<'s>, n: usize) -> LlvmResult<LlvmValue> {
        self.l.find_value(source.read_id(n)?)
    }

    /// The type of a value.
    pub(super) fn type_of(&self, value: LlvmValue) -> LlvmType {
        self.function.type_of(&self.l.out, value)
    }

    /// The type of the result.
    pub(super) fn result_type(&self, source: &LiftSource<'s>) -> LlvmResult<LlvmType> {
        self.l.find_type(source.result_type()?)
    }

    /// The fast-math flags that an operation's decorations permit.
    pub(super) fn fast_math(&self, source: &LiftSource<'s>) -> LlvmInstFlags {
        let mode = source.result.and_then(|id| {
            let words = self.l.find_decoration(id, Decoration::FPFastMathMode)?;
            words.first().copied()
        });
        let mode = FPFastMathMode(mode.unwrap_or(0));
        let set = FAST_MATH.iter().filter(|row| mode.contains(row.0));
        set.fold(LlvmInstFlags::NONE, |flags, row| flags | row.1)
    }

    fn arithmetic_flags(&self, opcode: LlvmOpcode, source: &LiftSource<'s>) -> LlvmInstFlags {
        let mut flags = LlvmInstFlags::NONE;
        if WRAPPING.contains(&opcode)
            && let Some(id) = source.result
        {
            if self
                .l
                .find_decoration(id, Decoration::NoSignedWrap)
                .is_some()
            {
                flags |= LlvmInstFlags::NSW;
            }
            if self
                .l
                .find_decoration(id, Decoration::NoUnsignedWrap)
                .is_some()
            {
                flags |= LlvmInstFlags::NUW;
            }
        }
        let floating = matches!(
            opcode,
            LlvmOpcode::FNeg
                | LlvmOpcode::FAdd
                | LlvmOpcode::FSub
                | LlvmOpcode::FMul
                | LlvmOpcode::FDiv
                | LlvmOpcode::FRem
                | LlvmOpcode::FCmp
        );
        if floating {
            flags |= self.fast_math(source);
        }
        flags
    }

    /// An instruction on the same operands.
    pub(super) fn lift_same_operands(
        &mut self,
        opcode: LlvmOpcode,
        source: &LiftSource<'s>,
    ) -> LlvmResult<LlvmValue> {
        let ty = self.result_type(source)?;
        let operands = self.operand_values(source, 0)?;
        let flags = self.arithmetic_flags(opcode, source);
        Ok(self.push_with(opcode, flags, ty, &operands, InstructionExtra::None))
    }

    /// Lifts a shift. LLVM requires both operands to have the same type.
    pub(super) fn lift_shift(
        &mut self,
        opcode: LlvmOpcode,
        source: &LiftSource<'s>,
    ) -> LlvmResult<LlvmValue> {
        let ty = self.result_type(source)?;
        let base = self.operand_value(source, 0)?;
        let by = self.operand_value(source, 1)?;
        let by = self.resize_integer(by, ty, LlvmOpcode::ZExt);
        let flags = self.arithmetic_flags(opcode, source);
        Ok(self.push_with(opcode, flags, ty, &[base, by], InstructionExtra::None))
    }

    /// An integer in the width of another type, extended by `extend`.
    pub(super) fn resize_integer(
        &mut self,
        value: LlvmValue,
        ty: LlvmType,
        extend: LlvmOpcode,
    ) -> LlvmValue {
        let from = self.type_of(value);
        let types = &self.l.out.types;
        let width = |ty| types.int_width(types.scalar_type(ty)).unwrap_or(0);
        match width(from).cmp(&width(ty)) {
            std::cmp::Ordering::Less => self.push_instruction(extend, ty, &[value]),
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Greater => self.push_instruction(LlvmOpcode::Trunc, ty, &[value]),
        }
    }

    /// A comparison of integers, floats or pointers.
    pub(super) fn lift_compare(
        &mut self,
        predicate: Predicate,
        source: &LiftSource<'s>,
    ) -> LlvmResult<LlvmValue> {
        let ty = self.result_type(source)?;
        let operands = self.operand_values(source, 0)?;
        let opcode = if predicate.is_integer() {
            LlvmOpcode::ICmp
        } else {
            LlvmOpcode::FCmp
        };
        let flags = self.arithmetic_flags(opcode, source);
        let extra = InstructionExtra::Compare(predicate);
        Ok(self.push_with(opcode, flags, ty, &operands, extra))
    }

    /// Whether a value is NaN: it is unordered with itself.
    pub(super) fn is_nan(&mut self, source: &LiftSource<'s>) -> LlvmResult<Option<LlvmValue>> {
        let ty = self.result_type(source)?;
        let value = self.operand_value(source, 0)?;
        let extra = InstructionExtra::Compare(Predicate::FUno);
        let operands = [value, value];
        Ok(Some(self.push_with(
            LlvmOpcode::FCmp,
            LlvmInstFlags::NONE,
            ty,
            &operands,
            extra,
        )))
    }

    /// The difference from zero.
    pub(super) fn lift_negate(&mut self, source: &LiftSource<'s>) -> LlvmResult<Option<LlvmValue>> {
        let ty = self.result_type(source)?;
        let value = self.operand_value(source, 0)?;
        let zero = self.l.out.consts.make_zero(&self.l.out.types, ty);
        let flags = self.arithmetic_flags(LlvmOpcode::Sub, source);
        let operands = [LlvmValue::from_constant(zero), value];
        Ok(Some(self.push_with(
            LlvmOpcode::Sub,
            flags,
            ty,
            &operands,
            InstructionExtra::None,
        )))
    }

    /// The bitwise complement, or the negation of a Boolean.
    pub(super) fn lift_complement(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let ty = self.result_type(source)?;
        let value = self.operand_value(source, 0)?;
        let ones = LlvmValue::from_constant(self.all_ones(ty)?);
        Ok(Some(self.push_instruction(
            LlvmOpcode::Xor,
            ty,
            &[value, ones],
        )))
    }

    fn all_ones(&mut self, ty: LlvmType) -> LlvmResult<LlvmConst> {
        let scalar = self.l.out.types.scalar_type(ty);
        let LlvmTypeKind::Int(width) = *self.l.out.types.kind(scalar) else {
            return Err(make_refusal(
                "its type is neither of integers nor of Booleans",
            ));
        };
        let words = vec![u64::MAX; width.div_ceil(64) as usize];
        let out = &mut self.l.out;
        let ones = match width {
            1 => out.consts.intern_constant(scalar, ConstKind::Int(1)),
            _ => out.consts.wide_int(&out.types, scalar, &words),
        };
        Ok(self.l.out.make_splat(ty, ones))
    }

    /// A specialisation constant: a call with its number and its default value.
    pub(super) fn spec_constant(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let ty = self.result_type(source)?;
        let default = match source.op {
            Op::SpecConstant => self.l.lift_scalar_constant(ty, source.operands)?,
            op => {
                let truth = u64::from(op == Op::SpecConstantTrue);
                self.l.out.consts.intern_constant(ty, ConstKind::Int(truth))
            }
        };
        let default = LlvmValue::from_constant(default);
        let number = source.result.and_then(|id| {
            let words = self.l.find_decoration(id, Decoration::SpecId)?;
            words.first().copied()
        });
        let Some(number) = number else {
            return Ok(Some(default));
        };
        let number = LlvmValue::from_constant(self.l.make_i32(number));
        let mut name = super::mangle::MangledNameBuilder::new("__spirv_SpecConstant");
        name.push_letters("i");
        name.push_param(&self.l.mangle_type(source.result_type()?));
        let args = [number, default];
        let func = self.l.declare_provided_function(
            &name.finish_name(),
            ty,
            &args.map(|a| self.type_of(a)),
            false,
        );
        Ok(Some(self.push_call(func, LlvmInstFlags::NONE, &args)))
    }
}

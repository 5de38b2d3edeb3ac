//! Arithmetic, bits and comparisons.

use super::body::{Body, Source};
use super::lifter::Lifted;
use crate::ir::{ConstKind, Extra, Flags, LlvmConst, LlvmType, Opcode, Predicate, TypeKind, Value};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, FPFastMathMode};

/// Liberties of floating-point operations that SPIR-V and LLVM have by other names.
const FAST_MATH: &[(FPFastMathMode, Flags)] = &[
    (FPFastMathMode::NotNaN, Flags::NNAN),
    (FPFastMathMode::NotInf, Flags::NINF),
    (FPFastMathMode::NSZ, Flags::NSZ),
    (FPFastMathMode::AllowRecip, Flags::ARCP),
    (FPFastMathMode::Fast, Flags::FAST),
    (FPFastMathMode::AllowContract, Flags::CONTRACT),
    (FPFastMathMode::AllowReassoc, Flags::REASSOC),
    (FPFastMathMode::AllowTransform, Flags::AFN),
];

/// Integer operations that may be said not to wrap.
const WRAPPING: &[Opcode] = &[Opcode::Add, Opcode::Sub, Opcode::Mul, Opcode::Shl];

impl<'s> Body<'_, 's> {
    /// The values of the operands from `n` on.
    pub(super) fn values(&self, source: &Source<'s>, n: usize) -> Lifted<Vec<Value>> {
        source.ids(n).map(|id| self.l.value(id)).collect()
    }

    /// The value of operand `n`.
    pub(super) fn operand(&self, source: &Source<'s>, n: usize) -> Lifted<Value> {
        self.l.value(source.id(n)?)
    }

    /// The type of a value.
    pub(super) fn type_of(&self, value: Value) -> LlvmType {
        self.function.type_of(&self.l.out, value)
    }

    /// The type of the result.
    pub(super) fn result_type(&self, source: &Source<'s>) -> Lifted<LlvmType> {
        self.l.ty(source.result_type()?)
    }

    /// The liberties that decorations give to an operation.
    pub(super) fn fast_math(&self, source: &Source<'s>) -> Flags {
        let mode = source.result.and_then(|id| {
            let words = self.l.decoration(id, Decoration::FPFastMathMode)?;
            words.first().copied()
        });
        let mode = FPFastMathMode(mode.unwrap_or(0));
        let set = FAST_MATH.iter().filter(|row| mode.contains(row.0));
        set.fold(Flags::NONE, |flags, row| flags | row.1)
    }

    fn flags(&self, opcode: Opcode, source: &Source<'s>) -> Flags {
        let mut flags = Flags::NONE;
        if WRAPPING.contains(&opcode)
            && let Some(id) = source.result
        {
            if self.l.decoration(id, Decoration::NoSignedWrap).is_some() {
                flags |= Flags::NSW;
            }
            if self.l.decoration(id, Decoration::NoUnsignedWrap).is_some() {
                flags |= Flags::NUW;
            }
        }
        let floating = matches!(
            opcode,
            Opcode::FNeg
                | Opcode::FAdd
                | Opcode::FSub
                | Opcode::FMul
                | Opcode::FDiv
                | Opcode::FRem
                | Opcode::FCmp
        );
        if floating {
            flags |= self.fast_math(source);
        }
        flags
    }

    /// An instruction on the same operands.
    pub(super) fn same(&mut self, opcode: Opcode, source: &Source<'s>) -> Lifted<Value> {
        let ty = self.result_type(source)?;
        let operands = self.values(source, 0)?;
        let flags = self.flags(opcode, source);
        Ok(self.push_with(opcode, flags, ty, &operands, Extra::None))
    }

    /// A shift: LLVM wants both operands of one type.
    pub(super) fn shift(&mut self, opcode: Opcode, source: &Source<'s>) -> Lifted<Value> {
        let ty = self.result_type(source)?;
        let base = self.operand(source, 0)?;
        let by = self.operand(source, 1)?;
        let by = self.resized(by, ty, Opcode::ZExt);
        let flags = self.flags(opcode, source);
        Ok(self.push_with(opcode, flags, ty, &[base, by], Extra::None))
    }

    /// An integer in the width of another type, extended by `extend`.
    pub(super) fn resized(&mut self, value: Value, ty: LlvmType, extend: Opcode) -> Value {
        let from = self.type_of(value);
        let types = &self.l.out.types;
        let width = |ty| types.int_width(types.scalar(ty)).unwrap_or(0);
        match width(from).cmp(&width(ty)) {
            std::cmp::Ordering::Less => self.push(extend, ty, &[value]),
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Greater => self.push(Opcode::Trunc, ty, &[value]),
        }
    }

    /// A comparison of integers, floats or pointers.
    pub(super) fn compare(&mut self, predicate: Predicate, source: &Source<'s>) -> Lifted<Value> {
        let ty = self.result_type(source)?;
        let operands = self.values(source, 0)?;
        let opcode = match predicate.is_integer() {
            true => Opcode::ICmp,
            false => Opcode::FCmp,
        };
        let flags = self.flags(opcode, source);
        let extra = Extra::Compare(predicate);
        Ok(self.push_with(opcode, flags, ty, &operands, extra))
    }

    /// Whether a value is no number: it does not compare with itself.
    pub(super) fn is_nan(&mut self, source: &Source<'s>) -> Lifted<Option<Value>> {
        let ty = self.result_type(source)?;
        let value = self.operand(source, 0)?;
        let extra = Extra::Compare(Predicate::FUno);
        let operands = [value, value];
        Ok(Some(self.push_with(
            Opcode::FCmp,
            Flags::NONE,
            ty,
            &operands,
            extra,
        )))
    }

    /// The difference from zero.
    pub(super) fn negate(&mut self, source: &Source<'s>) -> Lifted<Option<Value>> {
        let ty = self.result_type(source)?;
        let value = self.operand(source, 0)?;
        let zero = self.l.out.consts.zero(&self.l.out.types, ty);
        let flags = self.flags(Opcode::Sub, source);
        let operands = [Value::constant(zero), value];
        Ok(Some(self.push_with(
            Opcode::Sub,
            flags,
            ty,
            &operands,
            Extra::None,
        )))
    }

    /// All bits turned round, or the other truth.
    pub(super) fn complement(&mut self, source: &Source<'s>) -> Lifted<Option<Value>> {
        let ty = self.result_type(source)?;
        let value = self.operand(source, 0)?;
        let ones = Value::constant(self.all_ones(ty)?);
        Ok(Some(self.push(Opcode::Xor, ty, &[value, ones])))
    }

    fn all_ones(&mut self, ty: LlvmType) -> Lifted<LlvmConst> {
        let scalar = self.l.out.types.scalar(ty);
        let TypeKind::Int(width) = *self.l.out.types.kind(scalar) else {
            return Err("its type is none of integers or truth values".to_owned());
        };
        let words = vec![u64::MAX; width.div_ceil(64) as usize];
        let out = &mut self.l.out;
        let ones = match width {
            1 => out.consts.intern(scalar, ConstKind::Int(1)),
            _ => out.consts.wide_int(&out.types, scalar, &words),
        };
        Ok(self.l.out.splat(ty, ones))
    }

    /// A constant that can be specialised: a call with its number and what it is by default.
    pub(super) fn spec_constant(&mut self, source: &Source<'s>) -> Lifted<Option<Value>> {
        let ty = self.result_type(source)?;
        let default = match source.op {
            Op::SpecConstant => self.l.scalar(ty, source.operands)?,
            op => {
                let truth = u64::from(op == Op::SpecConstantTrue);
                self.l.out.consts.intern(ty, ConstKind::Int(truth))
            }
        };
        let default = Value::constant(default);
        let number = source.result.and_then(|id| {
            let words = self.l.decoration(id, Decoration::SpecId)?;
            words.first().copied()
        });
        let Some(number) = number else {
            return Ok(Some(default));
        };
        let number = Value::constant(self.l.i32(number));
        let mut name = super::mangle::Name::new("__spirv_SpecConstant");
        name.letters("i");
        name.push(&self.l.mangled(source.result_type()?));
        let args = [number, default];
        let func = self
            .l
            .provided(&name.finish(), ty, &args.map(|a| self.type_of(a)), false);
        Ok(Some(self.call(func, Flags::NONE, &args)))
    }
}

//! Arithmetic on integers. Nothing traps: a divisor that cannot be counts as 1, as in
//! `spirula_scalar`.

use super::lanes::LaneTypes;
use super::lowering::{ClifLowering, clif_type};
use super::{ClifResult, ClifScalars};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

/// `OpIAdd`.
pub(crate) fn emit_iadd(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().iadd(v[0], v[1])
}

/// `OpISub`.
pub(crate) fn emit_isub(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().isub(v[0], v[1])
}

/// `OpIMul`.
pub(crate) fn emit_imul(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().imul(v[0], v[1])
}

/// `OpSNegate`.
pub(crate) fn emit_ineg(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().ineg(v[0])
}

/// `OpUDiv`.
pub(crate) fn emit_udiv(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    let divisor = lower.unsigned_divisor(v[1]);
    lower.builder.ins().udiv(v[0], divisor)
}

/// `OpUMod`.
pub(crate) fn emit_urem(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    let divisor = lower.unsigned_divisor(v[1]);
    lower.builder.ins().urem(v[0], divisor)
}

/// `OpSDiv`.
pub(crate) fn emit_sdiv(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    let divisor = lower.signed_divisor(v[0], v[1]);
    lower.builder.ins().sdiv(v[0], divisor)
}

/// `OpSRem`: the sign of the dividend.
pub(crate) fn emit_srem(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    let divisor = lower.signed_divisor(v[0], v[1]);
    lower.builder.ins().srem(v[0], divisor)
}

/// `OpSMod`: the sign of the divisor.
pub(crate) fn emit_smod(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    let divisor = lower.signed_divisor(v[0], v[1]);
    let rest = lower.builder.ins().srem(v[0], divisor);
    let nonzero = lower.builder.ins().icmp_imm_s(IntCC::NotEqual, rest, 0);
    // Where the divisor was replaced, nothing is left, and nothing is added.
    let signs = lower.builder.ins().bxor(rest, v[1]);
    let less = IntCC::SignedLessThan;
    let differ = lower.builder.ins().icmp_imm_s(less, signs, 0);
    let turn = lower.builder.ins().band(nonzero, differ);
    let sum = lower.builder.ins().iadd(rest, v[1]);
    lower.builder.ins().select(turn, sum, rest)
}

impl ClifLowering<'_, '_, '_> {
    fn unsigned_divisor(&mut self, divisor: Value) -> Value {
        if self.find_integer_constant(divisor).is_some_and(|d| d != 0) {
            return divisor;
        }
        self.hooks().before_division(self, divisor);
        let one = self.make_integer_one(divisor);
        let zero = self.builder.ins().icmp_imm_s(IntCC::Equal, divisor, 0);
        self.builder.ins().select(zero, one, divisor)
    }

    fn signed_divisor(&mut self, dividend: Value, divisor: Value) -> Value {
        let ty = self.value_type(divisor);
        let ones = u64::MAX >> (64 - ty.bits());
        let known = self.find_integer_constant(divisor).map(|d| d as u64 & ones);
        if known.is_some_and(|d| d != 0 && d != ones) {
            return divisor;
        }
        self.hooks().before_division(self, divisor);
        let one = self.make_integer_one(divisor);
        let least = self.emit_iconst(ty, i64::MIN >> (64 - ty.bits()));
        // The first guard and its test of the second stay outside of loops where the divisor is the same for all.
        let zero = self.builder.ins().icmp_imm_s(IntCC::Equal, divisor, 0);
        let divisor = self.builder.ins().select(zero, one, divisor);
        let minus = self.builder.ins().icmp_imm_s(IntCC::Equal, divisor, -1);
        let lowest = self.builder.ins().icmp(IntCC::Equal, dividend, least);
        let wraps = self.builder.ins().band(minus, lowest);
        self.hooks().before_quotient(self, wraps);
        self.builder.ins().select(wraps, one, divisor)
    }

    fn make_integer_one(&mut self, value: Value) -> Value {
        let ty = self.value_type(value);
        self.emit_iconst(ty, 1)
    }

    /// Both halves of a product.
    pub fn wide_product(&mut self, a: Value, b: Value, signed: bool) -> (Value, Value) {
        let ty = self.value_type(a);
        let low = self.builder.ins().imul(a, b);
        if ty == types::I64 {
            let high = if signed {
                self.builder.ins().smulhi(a, b)
            } else {
                self.builder.ins().umulhi(a, b)
            };
            return (low, high);
        }
        let a = self.extend_to(a, types::I64, signed);
        let b = self.extend_to(b, types::I64, signed);
        let product = self.builder.ins().imul(a, b);
        let high = self.builder.ins().ushr_imm_u(product, i64::from(ty.bits()));
        (low, self.builder.ins().ireduce(ty, high))
    }
}

/// `OpUMulExtended`, `OpSMulExtended`, `OpIAddCarry`, `OpISubBorrow`: a structure of two.
pub(crate) fn lower_extended_arithmetic(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let (a, b) = (
        lower.read_values(inst.id_operand(0))?,
        lower.read_values(inst.id_operand(1))?,
    );
    let ty = clif_type(lower.scalar_of(inst.id_operand(0))?);
    let (mut low, mut high) = (ClifScalars::new(), ClifScalars::new());
    for (a, b) in a.iter().zip(&b) {
        let (l, h) = match inst.op() {
            Op::UMulExtended => lower.wide_product(*a, *b, false),
            Op::SMulExtended => lower.wide_product(*a, *b, true),
            Op::IAddCarry => {
                let sum = lower.builder.ins().iadd(*a, *b);
                let less = IntCC::UnsignedLessThan;
                let carry = lower.builder.ins().icmp(less, sum, *a);
                (sum, lower.extend_to(carry, ty, false))
            }
            _ => {
                let difference = lower.builder.ins().isub(*a, *b);
                let less = IntCC::UnsignedLessThan;
                let borrow = lower.builder.ins().icmp(less, *a, *b);
                (difference, lower.extend_to(borrow, ty, false))
            }
        };
        low.push(l);
        high.push(h);
    }
    low.extend(high);
    lower.set_result(inst.result(), &low)
}

/// The six dot products of integers. Vectors of bytes may come packed in 32-bit words.
pub(crate) fn integer_dot(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let (signed_a, signed_b, accumulate) = match inst.op() {
        Op::SDot => (true, true, false),
        Op::UDot => (false, false, false),
        Op::SUDot => (true, false, false),
        Op::SDotAccSat => (true, true, true),
        Op::UDotAccSat => (false, false, true),
        _ => (true, false, true),
    };
    let ty = lower.result_type(inst)?;
    let to = clif_type(lower.component_scalar(ty)?);
    let a = lower.unpack_components(inst.id_operand(0))?;
    let b = lower.unpack_components(inst.id_operand(1))?;
    let mut sum = lower.emit_iconst(types::I64, 0);
    for (a, b) in a.iter().zip(&b) {
        let a = lower.extend_to(*a, types::I64, signed_a);
        let b = lower.extend_to(*b, types::I64, signed_b);
        let product = lower.builder.ins().imul(a, b);
        sum = lower.builder.ins().iadd(sum, product);
    }
    if !accumulate {
        let sum = lower.resize_integer(sum, to, signed_a);
        return lower.set_result(inst.result(), &[sum]);
    }
    let start = lower.read_value(inst.id_operand(2))?;
    let result = lower.saturating_total(sum, start, to, signed_a);
    lower.set_result(inst.result(), &[result])
}

impl ClifLowering<'_, '_, '_> {
    /// The components of a vector, or the four bytes of a packed one.
    fn unpack_components(&mut self, id: Id) -> Result<ClifScalars, SourceDiagnostic> {
        let values = self.read_values(id)?;
        if let [word] = values[..] {
            return Ok((0..4)
                .map(|n| {
                    let byte = self.builder.ins().ushr_imm_u(word, 8 * n);
                    self.builder.ins().ireduce(types::I8, byte)
                })
                .collect());
        }
        Ok(values)
    }

    /// A sum cut to the range of a type.
    fn saturating_total(&mut self, sum: Value, start: Value, to: Type, signed: bool) -> Value {
        if to == types::I64 {
            return self.emit_saturating_sum(sum, start, signed, true);
        }
        let start = self.extend_to(start, types::I64, signed);
        let total = self.builder.ins().iadd(sum, start);
        let bits = to.bits();
        let (least, most) = if signed {
            (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits))
        } else {
            (0, (u64::MAX >> (64 - bits)) as i64)
        };
        let clamped = self.clamp_signed(total, least, most);
        self.builder.ins().ireduce(to, clamped)
    }

    /// A signed number cut to a range.
    pub fn clamp_signed(&mut self, value: Value, least: i64, most: i64) -> Value {
        let ty = self.value_type(value);
        let low = self.emit_iconst(ty, least);
        let high = self.emit_iconst(ty, most);
        let under = self.builder.ins().icmp(IntCC::SignedLessThan, value, low);
        let value = self.builder.ins().select(under, low, value);
        let over = self
            .builder
            .ins()
            .icmp(IntCC::SignedGreaterThan, value, high);
        self.builder.ins().select(over, high, value)
    }

    /// A sum or difference that stays at the ends of its type's range.
    pub fn emit_saturating_sum(&mut self, a: Value, b: Value, signed: bool, adds: bool) -> Value {
        let ty = self.value_type(a);
        let result = if adds {
            self.builder.ins().iadd(a, b)
        } else {
            self.builder.ins().isub(a, b)
        };
        if !signed {
            let less = IntCC::UnsignedLessThan;
            let (wraps, end) = if adds {
                (self.builder.ins().icmp(less, result, a), -1)
            } else {
                (self.builder.ins().icmp(less, a, b), 0)
            };
            let end = self.emit_iconst(ty, end);
            return self.builder.ins().select(wraps, end, result);
        }
        let x = self.builder.ins().bxor(a, result);
        let y = if adds {
            self.builder.ins().bxor(b, result)
        } else {
            self.builder.ins().bxor(a, b)
        };
        let both = self.builder.ins().band(x, y);
        let wraps = self
            .builder
            .ins()
            .icmp_imm_s(IntCC::SignedLessThan, both, 0);
        let bits = i64::from(ty.bits());
        let sign = self.builder.ins().sshr_imm_u(a, bits - 1);
        let most = self.emit_iconst(ty, i64::MAX >> (64 - bits));
        let end = self.builder.ins().bxor(sign, most);
        self.builder.ins().select(wraps, end, result)
    }
}

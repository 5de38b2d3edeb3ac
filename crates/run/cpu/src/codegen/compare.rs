//! Comparisons, tests of floating-point numbers and selections.

use super::lanes::LaneTypes;
use super::lowering::ClifLowering;
use super::{ClifResult, ClifScalars};
use crate::module::types::ScalarRepr;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

macro_rules! comparisons {
    ($($name:ident $instruction:ident $condition:expr;)*) => {
        $(
            pub(crate) fn $name(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
                lower.builder.ins().$instruction($condition, v[0], v[1])
            }
        )*
    };
}

comparisons! {
    equal icmp IntCC::Equal;
    not_equal icmp IntCC::NotEqual;
    unsigned_greater icmp IntCC::UnsignedGreaterThan;
    unsigned_greater_equal icmp IntCC::UnsignedGreaterThanOrEqual;
    unsigned_less icmp IntCC::UnsignedLessThan;
    unsigned_less_equal icmp IntCC::UnsignedLessThanOrEqual;
    signed_greater icmp IntCC::SignedGreaterThan;
    signed_greater_equal icmp IntCC::SignedGreaterThanOrEqual;
    signed_less icmp IntCC::SignedLessThan;
    signed_less_equal icmp IntCC::SignedLessThanOrEqual;
    ord_equal fcmp FloatCC::Equal;
    ord_not_equal fcmp FloatCC::OrderedNotEqual;
    ord_less fcmp FloatCC::LessThan;
    ord_less_equal fcmp FloatCC::LessThanOrEqual;
    ord_greater fcmp FloatCC::GreaterThan;
    ord_greater_equal fcmp FloatCC::GreaterThanOrEqual;
    unord_equal fcmp FloatCC::UnorderedOrEqual;
    unord_not_equal fcmp FloatCC::NotEqual;
    unord_less fcmp FloatCC::UnorderedOrLessThan;
    unord_less_equal fcmp FloatCC::UnorderedOrLessThanOrEqual;
    unord_greater fcmp FloatCC::UnorderedOrGreaterThan;
    unord_greater_equal fcmp FloatCC::UnorderedOrGreaterThanOrEqual;
    ordered fcmp FloatCC::Ordered;
    unordered fcmp FloatCC::Unordered;
}

/// `OpIsNan`.
pub(crate) fn is_nan(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().fcmp(FloatCC::Unordered, v[0], v[0])
}

/// `OpIsInf`.
pub(crate) fn is_infinite(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.compare_with_infinity(IntCC::Equal, v[0])
}

/// `OpIsFinite`.
pub(crate) fn is_finite(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.compare_with_infinity(IntCC::UnsignedLessThan, v[0])
}

/// `OpIsNormal`, on the bits: an exponent that is neither all zeros nor all ones.
pub(crate) fn is_normal(lower: &mut ClifLowering, lane: LaneTypes, v: &[Value]) -> Value {
    let (fraction, exponent) = match lane.from {
        ScalarRepr::E4M3 => (3, 4),
        ScalarRepr::E5M2 => (2, 5),
        ScalarRepr::F16 => (10, 5),
        ScalarRepr::BF16 => (7, 8),
        ScalarRepr::F32 => (23, 8),
        _ => (52, 11),
    };
    let bits = lower.bits_of(v[0]);
    let shifted = lower.builder.ins().ushr_imm_u(bits, fraction);
    let mask = (1i64 << exponent) - 1;
    let field = lower.builder.ins().band_imm_u(shifted, mask);
    let less = lower.builder.ins().iadd_imm_s(field, -1);
    let below = IntCC::UnsignedLessThan;
    lower.builder.ins().icmp_imm_u(below, less, mask - 1)
}

/// `OpSignBitSet`, on the bits.
pub(crate) fn sign_bit(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    let bits = lower.bits_of(v[0]);
    let less = IntCC::SignedLessThan;
    lower.builder.ins().icmp_imm_s(less, bits, 0)
}

/// `OpAny` and `OpAll`.
pub(crate) fn lower_any_all(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let values = lower.read_values(inst.id_operand(0))?;
    let all = inst.op() == Op::All;
    let mut result = lower.emit_iconst(types::I8, i64::from(all));
    for value in values {
        result = if all {
            lower.builder.ins().band(result, value)
        } else {
            lower.builder.ins().bor(result, value)
        };
    }
    lower.set_result(inst.result(), &[result])
}

/// `OpSelect`: the condition is one boolean, or one for each component.
pub(crate) fn lower_select(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let ty = lower.result_type(inst)?;
    let conditions = lower.read_values(inst.id_operand(0))?;
    if lower.is_large(ty) {
        let (a, b) = (
            lower.large_value_address(inst.id_operand(1))?,
            lower.large_value_address(inst.id_operand(2))?,
        );
        let from = lower.builder.ins().select(conditions[0], a, b);
        return lower.set_large(inst, ty, from);
    }
    let (a, b) = (
        lower.read_values(inst.id_operand(1))?,
        lower.read_values(inst.id_operand(2))?,
    );
    let mut out = ClifScalars::new();
    for (n, (a, b)) in a.iter().zip(&b).enumerate() {
        let condition = conditions[if conditions.len() == 1 { 0 } else { n }];
        out.push(lower.builder.ins().select(condition, *a, *b));
    }
    lower.set_result(inst.result(), &out)
}

impl ClifLowering<'_, '_, '_> {
    fn compare_with_infinity(&mut self, condition: IntCC, value: Value) -> Value {
        let infinity = match self.value_type(value) {
            types::F64 => 0x7ff0_0000_0000_0000,
            _ => 0x7f80_0000,
        };
        let bits = self.bits_of(value);
        let ty = self.value_type(bits);
        let mask = self.emit_iconst(ty, i64::MAX >> (64 - ty.bits()));
        let magnitude = self.builder.ins().band(bits, mask);
        let infinity = self.emit_iconst(ty, infinity);
        self.builder.ins().icmp(condition, magnitude, infinity)
    }
}

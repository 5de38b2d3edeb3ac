//! Shifts, bitwise operations and bit fields.

use super::lanes::LaneTypes;
use super::lowering::{ClifLowering, clif_type};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Opcode, Type, Value, ValueDef, types};

/// `OpShiftLeftLogical`; amounts are taken modulo the width.
pub(crate) fn emit_shl(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.hooks().before_shift(lower, v[0], v[1]);
    lower.builder.ins().ishl(v[0], v[1])
}

/// `OpShiftRightLogical`.
pub(crate) fn emit_lshr(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.hooks().before_shift(lower, v[0], v[1]);
    match lower.truncate_shifted(v[0], v[1]) {
        Some(low) => lower.extend_to(low, lower.value_type(v[0]), false),
        None => lower.builder.ins().ushr(v[0], v[1]),
    }
}

/// `OpShiftRightArithmetic`.
pub(crate) fn emit_ashr(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.hooks().before_shift(lower, v[0], v[1]);
    match lower.truncate_shifted(v[0], v[1]) {
        Some(low) => lower.extend_to(low, lower.value_type(v[0]), true),
        None => lower.builder.ins().sshr(v[0], v[1]),
    }
}

/// `OpBitwiseAnd`, `OpLogicalAnd`.
pub(crate) fn emit_and(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().band(v[0], v[1])
}

/// `OpBitwiseOr`, `OpLogicalOr`.
pub(crate) fn emit_or(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().bor(v[0], v[1])
}

/// `OpBitwiseXor`, `OpLogicalNotEqual`.
pub(crate) fn emit_xor(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().bxor(v[0], v[1])
}

/// `OpNot`.
pub(crate) fn emit_not(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().bnot(v[0])
}

/// `OpLogicalNot`.
pub(crate) fn logical_not(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().bxor_imm_u(v[0], 1)
}

/// `OpLogicalEqual`.
pub(crate) fn logical_equal(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().icmp(IntCC::Equal, v[0], v[1])
}

/// `OpBitReverse`.
pub(crate) fn emit_bit_reverse(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().bitrev(v[0])
}

/// `OpBitCount`.
pub(crate) fn emit_bit_count(lower: &mut ClifLowering, lane: LaneTypes, v: &[Value]) -> Value {
    let count = lower.builder.ins().popcnt(v[0]);
    lower.resize_integer(count, clif_type(lane.to), false)
}

/// `OpBitFieldInsert`: base, insert, offset, count.
pub(crate) fn emit_bitfield_insert(
    lower: &mut ClifLowering,
    lane: LaneTypes,
    v: &[Value],
) -> Value {
    lower.hooks().before_bit_field(lower, v[0], v[2], v[3]);
    let mask = lower.low_bits(lane, v[3]);
    let offset = lower.resize_integer(v[2], types::I32, false);
    let field = lower.builder.ins().band(v[1], mask);
    let field = lower.builder.ins().ishl(field, offset);
    let mask = lower.builder.ins().ishl(mask, offset);
    let rest = lower.builder.ins().band_not(v[0], mask);
    let all = lower.builder.ins().bor(rest, field);
    lower.select_inside_width(lane, v[2], all, v[0])
}

/// `OpBitFieldUExtract`: base, offset, count.
pub(crate) fn extract_unsigned(lower: &mut ClifLowering, lane: LaneTypes, v: &[Value]) -> Value {
    lower.hooks().before_bit_field(lower, v[0], v[1], v[2]);
    let mask = lower.low_bits(lane, v[2]);
    let offset = lower.resize_integer(v[1], types::I32, false);
    let shifted = lower.builder.ins().ushr(v[0], offset);
    let field = lower.builder.ins().band(shifted, mask);
    let zero = lower.emit_iconst(clif_type(lane.to), 0);
    lower.select_inside_width(lane, v[1], field, zero)
}

/// `OpBitFieldSExtract`: a field that reaches beyond the width ends there, its sign included.
pub(crate) fn extract_signed(lower: &mut ClifLowering, lane: LaneTypes, v: &[Value]) -> Value {
    lower.hooks().before_bit_field(lower, v[0], v[1], v[2]);
    let width = lower.emit_iconst(types::I32, lane.to.bits().into());
    let offset = lower.resize_integer(v[1], types::I32, false);
    let offset = lower.select_by_comparison(IntCC::UnsignedLessThan, offset, width);
    let room = lower.builder.ins().isub(width, offset);
    let count = lower.resize_integer(v[2], types::I32, false);
    let count = lower.select_by_comparison(IntCC::UnsignedLessThan, count, room);
    let above = lower.builder.ins().isub(room, count);
    let unused = lower.builder.ins().isub(width, count);
    let up = lower.builder.ins().ishl(v[0], above);
    let down = lower.builder.ins().sshr(up, unused);
    let zero = lower.emit_iconst(clif_type(lane.to), 0);
    let empty = lower.builder.ins().icmp_imm_s(IntCC::Equal, count, 0);
    lower.builder.ins().select(empty, zero, down)
}

impl ClifLowering<'_, '_, '_> {
    /// The low part of a number that was shifted left by the amount by which it is shifted right now, if a type has
    /// its width; none otherwise. Clang sign-extends indices in this way. The divergence analysis then finds
    /// neighbouring elements.
    fn truncate_shifted(&mut self, shifted: Value, amount: Value) -> Option<Value> {
        let dfg = &self.builder.func.dfg;
        let ValueDef::Result(inst, _) = dfg.value_def(dfg.resolve_aliases(shifted)) else {
            return None;
        };
        let &[whole, before] = dfg.inst_args(inst) else {
            return None;
        };
        let is_shift = dfg.insts[inst].opcode() == Opcode::Ishl;
        let bits = self.value_type(shifted).bits();
        let amounts =
            [before, amount].map(|amount| u32::try_from(self.find_integer_constant(amount)?).ok());
        let amount = amounts[0].filter(|n| is_shift && amounts[1] == Some(*n))?;
        let narrow = Type::int(bits.checked_sub(amount)?.try_into().ok()?)?;
        (narrow.bits() < bits).then(|| self.builder.ins().ireduce(narrow, whole))
    }

    /// A mask of `count` low bits, all bits where `count` is at least the width.
    fn low_bits(&mut self, lane: LaneTypes, count: Value) -> Value {
        let ty = clif_type(lane.to);
        let count = self.resize_integer(count, types::I32, false);
        let one = self.emit_iconst(ty, 1);
        let power = self.builder.ins().ishl(one, count);
        let mask = self.builder.ins().iadd_imm_s(power, -1);
        let all = self.emit_iconst(ty, -1);
        let at_least = IntCC::UnsignedGreaterThanOrEqual;
        let bits = i64::from(lane.to.bits());
        let full = self.builder.ins().icmp_imm_u(at_least, count, bits);
        self.builder.ins().select(full, all, mask)
    }

    /// A field that begins at the width or beyond has no bits.
    fn select_inside_width(
        &mut self,
        lane: LaneTypes,
        offset: Value,
        field: Value,
        empty: Value,
    ) -> Value {
        let offset = self.resize_integer(offset, types::I32, false);
        let less = IntCC::UnsignedLessThan;
        let bits = i64::from(lane.to.bits());
        let inside = self.builder.ins().icmp_imm_u(less, offset, bits);
        self.builder.ins().select(inside, field, empty)
    }
}

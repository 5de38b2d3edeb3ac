//! Vector division: quotients and remainders of 32-bit integers by vectors of `f64`.
//!
//! Processors divide vectors of floating-point numbers only. Integers `a` and `b` of 32 bits are exact in `f64`, and the
//! integral part of the rounded quotient is that of the exact one. An exact quotient below an integer `n` is at most
//! `n - 1/b`. Neighbouring numbers below `n` differ by at most `n / 2^52`, which is less than `1/b`: `n * b` is at most
//! `a + b`, which is below 2^33.

use super::lane_layout::LaneValues;
use super::vectorise::GangVectoriser;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{ConstantData, Inst, InstBuilder, Opcode, Value, ValueDef, types};

/// Bytes of the vector whose first half is the second half of the first operand.
const UPPER_HALF: [u8; 16] = [8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15];

/// Bytes of the vector of the first halves of both operands.
const LOWER_HALVES: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];

/// Whether the conversion of 2^31 to a signed integer is -2^31, so that the quotient of -2^31 and -1 wraps as that of
/// -2^31 and 1 is.
const WRAPS: bool = cfg!(target_arch = "x86_64");

impl GangVectoriser<'_> {
    /// A quotient or remainder of 32-bit integers. A known divisor is left to scalars, which multiply instead. The code
    /// for an invocation guards divisors, so that no quotient overflows.
    pub fn rewrite_division(&mut self, inst: Inst, result: Value, args: &[Value]) -> bool {
        if self.variance.integer_constant(args[1]).is_some() {
            return false;
        }
        let opcode = self.opcode(inst);
        let is_signed = matches!(opcode, Opcode::Sdiv | Opcode::Srem);
        let is_remainder = matches!(opcode, Opcode::Srem | Opcode::Urem);
        let dividends = self.extract_vectors(args[0], types::I32X4);
        let divisor = self.find_wrapping_divisor(args).unwrap_or(args[1]);
        let divisors = self.extract_vectors(divisor, types::I32X4);
        let held = dividends.iter().zip(&divisors).map(|(a, b)| {
            let quotient = self.divide_vectors(*a, *b, is_signed);
            if is_remainder {
                let whole = self.builder.ins().imul(quotient, *b);
                self.builder.ins().isub(*a, whole)
            } else {
                quotient
            }
        });
        let held: LaneValues = held.collect();
        self.set_lane_values(result, &held);
        true
    }

    /// The divisor before the guard that replaces -1 by 1 where the dividend is -2^31. Vectors do without it. The divisor is
    /// often the same for all lanes, and its guarded form is not.
    fn find_wrapping_divisor(&self, args: &[Value]) -> Option<Value> {
        let dfg = &self.old.dfg;
        let find = |value: Value, opcode: Opcode| match dfg.value_def(dfg.resolve_aliases(value)) {
            ValueDef::Result(inst, _) if self.opcode(inst) == opcode => Some(inst),
            _ => None,
        };
        let is_equal = |value: Value, to: Value, constant: i32| {
            find(value, Opcode::Icmp).is_some_and(|inst| {
                let sides = dfg.inst_args(inst);
                let known = self.variance.integer_constant(sides[1]);
                dfg.insts[inst].cond_code() == Some(IntCC::Equal)
                    && dfg.resolve_aliases(sides[0]) == dfg.resolve_aliases(to)
                    && known.is_some_and(|known| known as i32 == constant)
            })
        };
        let guard = find(args[1], Opcode::Select)?;
        let guard = dfg.inst_args(guard);
        let [dividend, divisor] = [args[0], guard[2]];
        let both = dfg.inst_args(find(guard[0], Opcode::Band)?);
        let is_guard = self.variance.integer_constant(guard[1]) == Some(1)
            && is_equal(both[0], divisor, -1)
            && is_equal(both[1], dividend, i32::MIN);
        (WRAPS && is_guard).then_some(divisor)
    }

    /// The quotients of four pairs of integers.
    fn divide_vectors(&mut self, dividend: Value, divisor: Value, is_signed: bool) -> Value {
        let lower = self.divide_lower_half(dividend, divisor, is_signed);
        let [a, b] = [dividend, divisor].map(|v| self.shuffle_bytes(v, v, UPPER_HALF));
        let upper = self.divide_lower_half(a, b, is_signed);
        self.shuffle_bytes(lower, upper, LOWER_HALVES)
    }

    /// The quotients of the first two pairs of integers. The others are 0.
    fn divide_lower_half(&mut self, dividend: Value, divisor: Value, is_signed: bool) -> Value {
        let [a, b] = [dividend, divisor].map(|number| {
            if is_signed {
                let wide = self.builder.ins().swiden_low(number);
                self.builder.ins().fcvt_from_sint(types::F64X2, wide)
            } else {
                let wide = self.builder.ins().uwiden_low(number);
                self.builder.ins().fcvt_from_uint(types::F64X2, wide)
            }
        });
        let quotient = self.builder.ins().fdiv(a, b);
        let zero = ConstantData::from(&[0; 16][..]);
        let zero = self.builder.func.dfg.constants.insert(zero);
        let zero = self.builder.ins().vconst(types::I64X2, zero);
        if is_signed {
            let whole = if WRAPS {
                self.builder.ins().x86_cvtt2dq(types::I64X2, quotient)
            } else {
                self.builder.ins().fcvt_to_sint_sat(types::I64X2, quotient)
            };
            self.builder.ins().snarrow(whole, zero)
        } else {
            let whole = self.builder.ins().fcvt_to_uint_sat(types::I64X2, quotient);
            self.builder.ins().uunarrow(whole, zero)
        }
    }

    /// A vector of integers of some bytes of two others.
    fn shuffle_bytes(&mut self, first: Value, second: Value, bytes: [u8; 16]) -> Value {
        let [first, second] = [first, second].map(|v| self.bitcast_vector(types::I8X16, v));
        let mask = ConstantData::from(&bytes[..]);
        let mask = self.builder.func.dfg.immediates.push(mask);
        let shuffled = self.builder.ins().shuffle(first, second, mask);
        self.bitcast_vector(types::I32X4, shuffled)
    }
}

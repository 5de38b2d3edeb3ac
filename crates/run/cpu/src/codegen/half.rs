//! Conversions between `f32` and the 16-bit formats, which Cranelift lacks.

use super::lowering::ClifLowering;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};

impl ClifLowering<'_, '_, '_> {
    /// Converts exactly. The exponent and fraction of a half are shifted to their position in an `f32`. They form a
    /// number that is too small by 2^112, also where it is subnormal. Multiplying by that is exact.
    pub fn f32_of_f16(&mut self, value: Value) -> Value {
        let wide = self.builder.ins().uextend(types::I32, value);
        let magnitude = self.builder.ins().band_imm_u(wide, 0x7fff);
        let shifted = self.builder.ins().ishl_imm_u(magnitude, 13);
        let number = self.bitcast_value(types::F32, shifted);
        let scale = self.emit_f32const(f32::from_bits(0x7780_0000));
        let scaled = self.builder.ins().fmul(number, scale);
        let scaled = self.bitcast_value(types::I32, scaled);
        let above = IntCC::UnsignedGreaterThanOrEqual;
        let special = self.builder.ins().icmp_imm_u(above, magnitude, 0x7c00);
        let infinite = self.builder.ins().bor_imm_u(shifted, 0x7f80_0000);
        let bits = self.builder.ins().select(special, infinite, scaled);
        let sign = self.builder.ins().band_imm_u(wide, 0x8000);
        let sign = self.builder.ins().ishl_imm_u(sign, 16);
        let bits = self.builder.ins().bor(bits, sign);
        self.bitcast_value(types::F32, bits)
    }

    /// Rounds to nearest even, by the additions of F. Giesen's "float->half variants" (2012). Adding half of the last
    /// kept unit, less one bit, carries into that unit. Where the result is subnormal, adding a large number rounds.
    pub fn f16_of_f32(&mut self, value: Value) -> Value {
        let bits = self.bitcast_value(types::I32, value);
        let sign = self.builder.ins().band_imm_u(bits, 0x8000_0000);
        let magnitude = self.builder.ins().bxor(bits, sign);
        let odd = self.builder.ins().ushr_imm_u(magnitude, 13);
        let odd = self.builder.ins().band_imm_u(odd, 1);
        let sum = self.builder.ins().iadd_imm_u(magnitude, 0xc800_0fff);
        let sum = self.builder.ins().iadd(sum, odd);
        let normal = self.builder.ins().ushr_imm_u(sum, 13);

        let magic = 0x3f00_0000_u32;
        let number = self.bitcast_value(types::F32, magnitude);
        let addend = self.emit_f32const(f32::from_bits(magic));
        let rounded = self.builder.ins().fadd(number, addend);
        let rounded = self.bitcast_value(types::I32, rounded);
        let small = self.builder.ins().iadd_imm_s(rounded, -i64::from(magic));

        let below = IntCC::UnsignedLessThan;
        let is_small = self.builder.ins().icmp_imm_u(below, magnitude, 113 << 23);
        let finite = self.builder.ins().select(is_small, small, normal);
        let infinity = self.emit_iconst(types::I32, 0x7c00);
        let nan = self.emit_iconst(types::I32, 0x7e00);
        let above = IntCC::UnsignedGreaterThan;
        let is_nan = self.builder.ins().icmp_imm_u(above, magnitude, 0x7f80_0000);
        let special = self.builder.ins().select(is_nan, nan, infinity);
        let last = ((127 + 16) << 23) - 1;
        let is_large = self.builder.ins().icmp_imm_u(above, magnitude, last);
        let half = self.builder.ins().select(is_large, special, finite);
        let sign = self.builder.ins().ushr_imm_u(sign, 16);
        let half = self.builder.ins().bor(half, sign);
        self.builder.ins().ireduce(types::I16, half)
    }

    /// Exact.
    pub fn f32_of_bf16(&mut self, value: Value) -> Value {
        let wide = self.builder.ins().uextend(types::I32, value);
        let bits = self.builder.ins().ishl_imm_u(wide, 16);
        self.bitcast_value(types::F32, bits)
    }

    /// Rounds to nearest even.
    pub fn bf16_of_f32(&mut self, value: Value) -> Value {
        let bits = self.bitcast_value(types::I32, value);
        let high = self.builder.ins().ushr_imm_u(bits, 16);
        let odd = self.builder.ins().band_imm_u(high, 1);
        let sum = self.builder.ins().iadd_imm_u(bits, 0x7fff);
        let sum = self.builder.ins().iadd(sum, odd);
        let rounded = self.builder.ins().ushr_imm_u(sum, 16);
        let quiet = self.builder.ins().bor_imm_u(high, 0x40);
        let is_nan = self.builder.ins().fcmp(FloatCC::Unordered, value, value);
        let bits = self.builder.ins().select(is_nan, quiet, rounded);
        self.builder.ins().ireduce(types::I16, bits)
    }
}

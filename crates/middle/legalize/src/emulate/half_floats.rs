//! Half floats: 16-bit floats as 32-bit floats whose values are representable in 16 bits.
//!
//! A result of `+ - * / sqrt` of halves, computed in 32 bits and rounded to 16, equals the result that is rounded once (Figueroa,
//! "When is double rounding innocuous?", 1995).

use super::emitter::TypeEmulator;
use super::type_shapes::{EmulatedShape, MOVES};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::{Op, glsl_std_450 as glsl};
use spirula_spirv::ir::InstRef;

/// Whether an instruction computes floats from floats.
fn is_rounded(op: Op) -> bool {
    op.is_float_arithmetic()
        || matches!(
            op,
            Op::Dot
                | Op::VectorTimesScalar
                | Op::MatrixTimesVector
                | Op::VectorTimesMatrix
                | Op::GroupNonUniformFAdd
                | Op::GroupNonUniformFMul
        )
}

/// Whether an instruction moves, compares or selects.
fn is_exact(op: Op) -> bool {
    op.is_float_comparison()
        || MOVES.contains(&op)
        || matches!(
            op,
            Op::FNegate
                | Op::IsNan
                | Op::IsInf
                | Op::Select
                | Op::VectorShuffle
                | Op::CompositeConstruct
                | Op::VectorExtractDynamic
                | Op::VectorInsertDynamic
                | Op::GroupNonUniformFMin
                | Op::GroupNonUniformFMax
        )
}

/// The smallest normal half, 2 to the power of -14, as a float.
const SMALLEST: u32 = 0x3880_0000;
/// 65520, from which on numbers round to an infinite half.
const LARGEST: u32 = 0x477f_f000;

impl<'a> TypeEmulator<'a> {
    /// Emulates an operation of which at least one operand or the result is a half.
    pub fn emulate_half(
        &mut self,
        inst: InstRef<'a>,
        result_shape: Option<EmulatedShape>,
    ) -> Result<(), SourceDiagnostic> {
        if is_exact(inst.op()) {
            return Ok(());
        }
        let Some(shape) = result_shape.filter(|_| is_rounded(inst.op())) else {
            let text = format!("{} of floats of 16 bits", inst.op());
            return Err(self.diagnose_instruction(inst, &text));
        };
        let value = self.duplicate_instruction(inst, &[]);
        let value = self.round_to_half(value, shape.count);
        self.replace_result(inst, value);
        Ok(())
    }

    /// Rounds floats to half precision.
    pub fn round_to_half(&mut self, value: Id, count: u32) -> Id {
        let bits = self.half_bits(value, count);
        self.half_values(bits, count)
    }

    /// The bits of the nearest halves of floats, ties to even.
    pub fn half_bits(&mut self, value: Id, count: u32) -> Id {
        let (words, floats) = (
            self.make_uint_vector_type(count),
            self.make_float_vector_type(count),
        );
        let truths = self.make_bool_vector_type(count);
        let n = |e: &mut Self, value| e.splat_uint(value, count);
        let bits = self.emit_value(Op::Bitcast, words, &[value]);
        let (mask, by) = (n(self, 0x7fff_ffff), n(self, 16));
        let size = self.emit_value(Op::BitwiseAnd, words, &[bits, mask]);
        let sign = self.emit_value(Op::ShiftRightLogical, words, &[bits, by]);
        let mask = n(self, 0x8000);
        let sign = self.emit_value(Op::BitwiseAnd, words, &[sign, mask]);
        // The exponent has another bias. Half a unit of the dropped bits is added, less one where the result is even.
        let (by, one) = (n(self, 13), n(self, 1));
        let odd = self.emit_value(Op::ShiftRightLogical, words, &[size, by]);
        let odd = self.emit_value(Op::BitwiseAnd, words, &[odd, one]);
        let bias = n(self, 0xfff_u32.wrapping_sub(112 << 23));
        let normal = self.emit_value(Op::IAdd, words, &[size, bias]);
        let normal = self.emit_value(Op::IAdd, words, &[normal, odd]);
        let normal = self.emit_value(Op::ShiftRightLogical, words, &[normal, by]);
        // Adding one half rounds to multiples of the smallest subnormal, which is its unit in the last place.
        let (half, bits_of_half) = (self.splat_float(0.5, count), n(self, 0.5_f32.to_bits()));
        let small = self.emit_value(Op::Bitcast, floats, &[size]);
        let small = self.emit_value(Op::FAdd, floats, &[small, half]);
        let small = self.emit_value(Op::Bitcast, words, &[small]);
        let small = self.emit_value(Op::ISub, words, &[small, bits_of_half]);
        let (least, most) = (n(self, SMALLEST), n(self, LARGEST));
        let is_small = self.emit_value(Op::ULessThan, truths, &[size, least]);
        let found = self.emit_value(Op::Select, words, &[is_small, small, normal]);
        let is_large = self.emit_value(Op::UGreaterThanEqual, truths, &[size, most]);
        let infinite = n(self, 0x7c00);
        let found = self.emit_value(Op::Select, words, &[is_large, infinite, found]);
        let infinity = n(self, f32::INFINITY.to_bits());
        let is_nan = self.emit_value(Op::UGreaterThan, truths, &[size, infinity]);
        let nan = n(self, 0x7e00);
        let found = self.emit_value(Op::Select, words, &[is_nan, nan, found]);
        self.emit_value(Op::BitwiseOr, words, &[found, sign])
    }

    /// Halves from their bits.
    pub fn half_values(&mut self, bits: Id, count: u32) -> Id {
        let (words, floats) = (
            self.make_uint_vector_type(count),
            self.make_float_vector_type(count),
        );
        let truths = self.make_bool_vector_type(count);
        let n = |e: &mut Self, value| e.splat_uint(value, count);
        let (mask, by) = (n(self, 0x7fff), n(self, 13));
        let size = self.emit_value(Op::BitwiseAnd, words, &[bits, mask]);
        let up = self.emit_value(Op::ShiftLeftLogical, words, &[size, by]);
        let bias = n(self, 112 << 23);
        let normal = self.emit_value(Op::IAdd, words, &[up, bias]);
        let (infinite, least) = (n(self, 0x7c00), n(self, 0x400));
        let more = self.emit_value(Op::IAdd, words, &[normal, bias]);
        let is_infinite = self.emit_value(Op::UGreaterThanEqual, truths, &[size, infinite]);
        let found = self.emit_value(Op::Select, words, &[is_infinite, more, normal]);
        let unit = self.splat_float(f32::from_bits(0x3380_0000), count);
        let small = self.emit_value(Op::ConvertUToF, floats, &[size]);
        let small = self.emit_value(Op::FMul, floats, &[small, unit]);
        let small = self.emit_value(Op::Bitcast, words, &[small]);
        let is_small = self.emit_value(Op::ULessThan, truths, &[size, least]);
        let found = self.emit_value(Op::Select, words, &[is_small, small, found]);
        let (mask, by) = (n(self, 0x8000), n(self, 16));
        let sign = self.emit_value(Op::BitwiseAnd, words, &[bits, mask]);
        let sign = self.emit_value(Op::ShiftLeftLogical, words, &[sign, by]);
        let found = self.emit_value(Op::BitwiseOr, words, &[found, sign]);
        self.emit_value(Op::Bitcast, floats, &[found])
    }
}

/// Functions of GLSL.std.450 whose results need no rounding if operands are halves.
pub const EXACT: &[u32] = &[
    glsl::FABS,
    glsl::FSIGN,
    glsl::FLOOR,
    glsl::CEIL,
    glsl::TRUNC,
    glsl::ROUND,
    glsl::ROUND_EVEN,
    glsl::FMIN,
    glsl::FMAX,
    glsl::NMIN,
    glsl::NMAX,
    glsl::FCLAMP,
    glsl::NCLAMP,
    glsl::STEP,
];

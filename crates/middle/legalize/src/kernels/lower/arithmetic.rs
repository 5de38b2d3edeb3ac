//! Arithmetic, logical and comparison instructions.

use super::ShaderLowering;
use super::composites::expect_result;
use crate::kernels::module_info::MemoryScalar;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Decoration;
use spirula_spirv::grammar::glsl_std_450 as glsl;
use spirula_spirv::ir::InstRef;

/// Instructions that Vulkan has, applied component by component.
pub fn lower_componentwise(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    if let Some(made) = super::bfloat16::lower_bfloat_arithmetic(l, inst) {
        return made;
    }
    let op = inst.op();
    let operands: Vec<Id> = inst.id_operands(0).collect();
    let info = l.info;
    let decoration = Decoration::NoContraction;
    let is_exact = info
        .decorations
        .get(info.module, expect_result(inst), decoration)
        .is_some();
    let around = l.kernel.is_exact;
    l.kernel.is_exact |= is_exact;
    let made = l.map_components(inst, &operands, |l, ty, v| l.emit_value(op, ty, v));
    l.kernel.is_exact = around;
    made
}

/// `OpSRem` and `OpSMod`: in Vulkan their results are undefined for negative operands (specification, "Precision and Operation of
/// SPIR-V Instructions").
pub fn lower_signed_remainder(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let op = inst.op();
    let (scalar, _) = l.find_component_scalar(inst.id_operand(0))?;
    let width = scalar.size() * 8;
    let operands: Vec<Id> = inst.id_operands(0).collect();
    l.each_scalar(inst, &operands, |l, ty, v| {
        let (a, b) = (v[0], v[1]);
        let quotient = l.emit_value(Op::SDiv, ty, &[a, b]);
        let product = l.emit_value(Op::IMul, ty, &[quotient, b]);
        let rest = l.emit_value(Op::ISub, ty, &[a, product]);
        if op == Op::SRem {
            return rest;
        }
        // The sign is that of the divisor: the divisor is added to a remainder of the other sign.
        let (zero, truth) = (l.make_uint_constant(width, 0), l.b.bool_type());
        let inexact = l.emit_value(Op::INotEqual, truth, &[rest, zero]);
        let signs = l.emit_value(Op::BitwiseXor, ty, &[rest, b]);
        let differ = l.emit_value(Op::SLessThan, truth, &[signs, zero]);
        let moves = l.emit_value(Op::LogicalAnd, truth, &[inexact, differ]);
        let moved = l.emit_value(Op::IAdd, ty, &[rest, b]);
        l.emit_value(Op::Select, ty, &[moves, moved, rest])
    })
}

/// Comparisons of integers; some producers apply them to pointers.
pub fn lower_integer_comparison(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    if l.info.is_pointer(inst.id_operand(0)) {
        super::pointers::lower_pointer_comparison(l, inst)
    } else {
        lower_componentwise(l, inst)
    }
}

/// `OpVectorTimesScalar` and `OpDot`, which Vulkan has for up to four components.
pub fn lower_vector_product(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let (a, b) = (inst.id_operand(0), inst.id_operand(1));
    let ty = l.result_type(expect_result(inst))?;
    let (a, b) = (l.lower_operand(a)?, l.lower_operand(b)?);
    Ok(l.emit_value(inst.op(), ty, &[a, b]))
}

/// `OpAny` and `OpAll`.
pub fn lower_any_all(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let lanes = l.lanes_of(inst.id_operand(0))?;
    let truth = l.b.bool_type();
    let op = match inst.op() {
        Op::Any => Op::LogicalOr,
        _ => Op::LogicalAnd,
    };
    let joined = lanes
        .into_iter()
        .reduce(|a, b| l.emit_value(op, truth, &[a, b]));
    joined.ok_or_else(|| crate::error::diagnose_instruction(inst, "an empty vector"))
}

/// Classifications of floats that Vulkan lacks.
pub fn lower_float_test(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let op = inst.op();
    let (scalar, _) = l.find_component_scalar(inst.id_operand(0))?;
    let operands: Vec<Id> = inst.id_operands(0).collect();
    l.each_scalar(inst, &operands, |l, truth, v| match op {
        Op::IsFinite => {
            let (nan, infinite) = (
                l.emit_value(Op::IsNan, truth, v),
                l.emit_value(Op::IsInf, truth, v),
            );
            let either = l.emit_value(Op::LogicalOr, truth, &[nan, infinite]);
            l.emit_value(Op::LogicalNot, truth, &[either])
        }
        Op::IsNormal => {
            let width = scalar.size() * 8;
            let ty = l.make_scalar_type(scalar);
            let least = match width {
                16 => -14.0,
                32 => -126.0,
                _ => -1022.0,
            };
            let least = l.make_float_constant(width, f64::exp2(least));
            let positive = l.emit_glsl(glsl::FABS, ty, v);
            let infinite = l.emit_value(Op::IsInf, truth, v);
            let large = l.emit_value(Op::FOrdGreaterThanEqual, truth, &[positive, least]);
            let finite = l.emit_value(Op::LogicalNot, truth, &[infinite]);
            l.emit_value(Op::LogicalAnd, truth, &[large, finite])
        }
        Op::SignBitSet => {
            let width = scalar.size() * 8;
            let (ty, zero) = (l.make_int_type(width), l.make_uint_constant(width, 0));
            let bits = l.emit_value(Op::Bitcast, ty, v);
            l.emit_value(Op::SLessThan, truth, &[bits, zero])
        }
        Op::LessOrGreater => l.emit_value(Op::FOrdNotEqual, truth, v),
        _ => {
            let (a, b) = (
                l.emit_value(Op::IsNan, truth, &v[..1]),
                l.emit_value(Op::IsNan, truth, &v[1..]),
            );
            let either = l.emit_value(Op::LogicalOr, truth, &[a, b]);
            match op {
                Op::Unordered => either,
                _ => l.emit_value(Op::LogicalNot, truth, &[either]),
            }
        }
    })
}

impl ShaderLowering<'_> {
    /// The upper half of a product.
    pub fn high_product(&mut self, v: &[Id], scalar: MemoryScalar, is_signed: bool) -> Id {
        let width = scalar.size() * 8;
        let ty = self.make_int_type(width);
        if width < 32 {
            let word = self.make_int_type(32);
            let widen = if is_signed {
                Op::SConvert
            } else {
                Op::UConvert
            };
            let (a, b) = (
                self.emit_value(widen, word, &v[..1]),
                self.emit_value(widen, word, &v[1..2]),
            );
            let product = self.emit_value(Op::IMul, word, &[a, b]);
            let shift = self.make_uint_constant(32, width.into());
            let high = self.emit_value(Op::ShiftRightLogical, word, &[product, shift]);
            return self.emit_value(Op::UConvert, ty, &[high]);
        }
        if width == 32 {
            let op = if is_signed {
                Op::SMulExtended
            } else {
                Op::UMulExtended
            };
            let pair = self.b.struct_type(&[ty, ty]);
            let product = self.emit_value(op, pair, &v[..2]);
            return self
                .b
                .append_value(Op::CompositeExtract, ty, &[product.word(), 1]);
        }
        self.high_product_of_words(v, is_signed)
    }

    /// The upper half of a 64-bit product, by the halves of the factors.
    fn high_product_of_words(&mut self, v: &[Id], is_signed: bool) -> Id {
        let long = self.make_int_type(64);
        let (half, mask) = (
            self.make_uint_constant(64, 32),
            self.make_uint_constant(64, u64::from(u32::MAX)),
        );
        let halves = |l: &mut Self, x: Id| {
            let low = l.emit_value(Op::BitwiseAnd, long, &[x, mask]);
            (low, l.emit_value(Op::ShiftRightLogical, long, &[x, half]))
        };
        let ((a, b), (c, d)) = (halves(self, v[0]), halves(self, v[1]));
        let low = self.emit_value(Op::IMul, long, &[a, c]);
        let (cross, other) = (
            self.emit_value(Op::IMul, long, &[b, c]),
            self.emit_value(Op::IMul, long, &[a, d]),
        );
        let high = self.emit_value(Op::IMul, long, &[b, d]);
        let carry = self.emit_value(Op::ShiftRightLogical, long, &[low, half]);
        let sum = self.emit_value(Op::IAdd, long, &[cross, carry]);
        let (sum_low, sum_high) = halves(self, sum);
        let middle = self.emit_value(Op::IAdd, long, &[sum_low, other]);
        let carry = self.emit_value(Op::ShiftRightLogical, long, &[middle, half]);
        let high = self.emit_value(Op::IAdd, long, &[high, sum_high]);
        let mut high = self.emit_value(Op::IAdd, long, &[high, carry]);
        if is_signed {
            // The unsigned value of a negative factor is 2^64 too large.
            let sign = self.make_uint_constant(64, 63);
            for (x, y) in [(v[0], v[1]), (v[1], v[0])] {
                let negative = self.emit_value(Op::ShiftRightArithmetic, long, &[x, sign]);
                let excess = self.emit_value(Op::BitwiseAnd, long, &[negative, y]);
                high = self.emit_value(Op::ISub, long, &[high, excess]);
            }
        }
        high
    }
}

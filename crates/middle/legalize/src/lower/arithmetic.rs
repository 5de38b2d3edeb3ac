//! Arithmetic, logic and comparisons.

use super::ShaderLowering;
use super::composites::result;
use crate::facts::MemoryScalar;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Decoration;
use spirula_spirv::grammar::glsl_std_450 as glsl;
use spirula_spirv::ir::InstRef;

/// What Vulkan has as it is, component by component.
pub fn same(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    if let Some(made) = super::brains::computed(l, inst) {
        return made;
    }
    let op = inst.op();
    let operands: Vec<Id> = inst.ids(0).collect();
    let facts = l.facts;
    let what = Decoration::NoContraction;
    let is_exact = facts
        .decorations
        .get(facts.module, result(inst), what)
        .is_some();
    let around = l.kernel.is_exact;
    l.kernel.is_exact |= is_exact;
    let made = l.each(inst, &operands, |l, ty, v| l.op(op, ty, v));
    l.kernel.is_exact = around;
    made
}

/// `OpSRem` and `OpSMod`: on Vulkan what they give is undefined where an operand is negative
/// (specification, "Precision and Operation of SPIR-V Instructions").
pub fn remainder(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let op = inst.op();
    let (scalar, _) = l.scalars(inst.id(0))?;
    let width = scalar.size() * 8;
    let operands: Vec<Id> = inst.ids(0).collect();
    l.each_scalar(inst, &operands, |l, ty, v| {
        let (a, b) = (v[0], v[1]);
        let quotient = l.op(Op::SDiv, ty, &[a, b]);
        let product = l.op(Op::IMul, ty, &[quotient, b]);
        let rest = l.op(Op::ISub, ty, &[a, product]);
        if op == Op::SRem {
            return rest;
        }
        // The sign is that of the divisor: one more of it where there is a rest of the other sign.
        let (zero, truth) = (l.number(width, 0), l.b.bool());
        let inexact = l.op(Op::INotEqual, truth, &[rest, zero]);
        let signs = l.op(Op::BitwiseXor, ty, &[rest, b]);
        let differ = l.op(Op::SLessThan, truth, &[signs, zero]);
        let moves = l.op(Op::LogicalAnd, truth, &[inexact, differ]);
        let moved = l.op(Op::IAdd, ty, &[rest, b]);
        l.op(Op::Select, ty, &[moves, moved, rest])
    })
}

/// Comparisons of integers, which some producers give pointers.
pub fn compare(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    match l.facts.is_pointer(inst.id(0)) {
        true => super::pointers::compare(l, inst),
        false => same(l, inst),
    }
}

/// `OpVectorTimesScalar` and `OpDot`, which only vectors of up to four components have.
pub fn vector(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let (a, b) = (inst.id(0), inst.id(1));
    let ty = l.result_type(result(inst))?;
    let (a, b) = (l.value(a)?, l.value(b)?);
    Ok(l.op(inst.op(), ty, &[a, b]))
}

/// `OpAny` and `OpAll`.
pub fn reduce(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let lanes = l.lanes_of(inst.id(0))?;
    let truth = l.b.bool();
    let op = match inst.op() {
        Op::Any => Op::LogicalOr,
        _ => Op::LogicalAnd,
    };
    let joined = lanes.into_iter().reduce(|a, b| l.op(op, truth, &[a, b]));
    joined.ok_or_else(|| crate::facts::refuse(inst, "an empty vector"))
}

/// Questions about floats that Vulkan lacks.
pub fn class(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let op = inst.op();
    let (scalar, _) = l.scalars(inst.id(0))?;
    let operands: Vec<Id> = inst.ids(0).collect();
    l.each_scalar(inst, &operands, |l, truth, v| match op {
        Op::IsFinite => {
            let (nan, infinite) = (l.op(Op::IsNan, truth, v), l.op(Op::IsInf, truth, v));
            let either = l.op(Op::LogicalOr, truth, &[nan, infinite]);
            l.op(Op::LogicalNot, truth, &[either])
        }
        Op::IsNormal => {
            let width = scalar.size() * 8;
            let ty = l.scalar(scalar);
            let least = match width {
                16 => -14.0,
                32 => -126.0,
                _ => -1022.0,
            };
            let least = l.real(width, f64::exp2(least));
            let positive = l.glsl(glsl::FABS, ty, v);
            let infinite = l.op(Op::IsInf, truth, v);
            let large = l.op(Op::FOrdGreaterThanEqual, truth, &[positive, least]);
            let finite = l.op(Op::LogicalNot, truth, &[infinite]);
            l.op(Op::LogicalAnd, truth, &[large, finite])
        }
        Op::SignBitSet => {
            let width = scalar.size() * 8;
            let (ty, zero) = (l.int(width), l.number(width, 0));
            let bits = l.op(Op::Bitcast, ty, v);
            l.op(Op::SLessThan, truth, &[bits, zero])
        }
        Op::LessOrGreater => l.op(Op::FOrdNotEqual, truth, v),
        _ => {
            let (a, b) = (
                l.op(Op::IsNan, truth, &v[..1]),
                l.op(Op::IsNan, truth, &v[1..]),
            );
            let either = l.op(Op::LogicalOr, truth, &[a, b]);
            match op {
                Op::Unordered => either,
                _ => l.op(Op::LogicalNot, truth, &[either]),
            }
        }
    })
}

impl ShaderLowering<'_> {
    /// The upper half of a product.
    pub fn high_product(&mut self, v: &[Id], scalar: MemoryScalar, is_signed: bool) -> Id {
        let width = scalar.size() * 8;
        let ty = self.int(width);
        if width < 32 {
            let word = self.int(32);
            let widen = if is_signed {
                Op::SConvert
            } else {
                Op::UConvert
            };
            let (a, b) = (
                self.op(widen, word, &v[..1]),
                self.op(widen, word, &v[1..2]),
            );
            let product = self.op(Op::IMul, word, &[a, b]);
            let shift = self.number(32, width.into());
            let high = self.op(Op::ShiftRightLogical, word, &[product, shift]);
            return self.op(Op::UConvert, ty, &[high]);
        }
        if width == 32 {
            let op = match is_signed {
                true => Op::SMulExtended,
                false => Op::UMulExtended,
            };
            let pair = self.b.structure(&[ty, ty]);
            let product = self.op(op, pair, &v[..2]);
            return self.b.value(Op::CompositeExtract, ty, &[product.word(), 1]);
        }
        self.high_product_of_words(v, is_signed)
    }

    /// The same of 64 bits, by the halves of the factors.
    fn high_product_of_words(&mut self, v: &[Id], is_signed: bool) -> Id {
        let long = self.int(64);
        let (half, mask) = (self.number(64, 32), self.number(64, u64::from(u32::MAX)));
        let halves = |l: &mut Self, x: Id| {
            let low = l.op(Op::BitwiseAnd, long, &[x, mask]);
            (low, l.op(Op::ShiftRightLogical, long, &[x, half]))
        };
        let ((a, b), (c, d)) = (halves(self, v[0]), halves(self, v[1]));
        let low = self.op(Op::IMul, long, &[a, c]);
        let (cross, other) = (
            self.op(Op::IMul, long, &[b, c]),
            self.op(Op::IMul, long, &[a, d]),
        );
        let high = self.op(Op::IMul, long, &[b, d]);
        let carry = self.op(Op::ShiftRightLogical, long, &[low, half]);
        let sum = self.op(Op::IAdd, long, &[cross, carry]);
        let (sum_low, sum_high) = halves(self, sum);
        let middle = self.op(Op::IAdd, long, &[sum_low, other]);
        let carry = self.op(Op::ShiftRightLogical, long, &[middle, half]);
        let high = self.op(Op::IAdd, long, &[high, sum_high]);
        let mut high = self.op(Op::IAdd, long, &[high, carry]);
        if is_signed {
            // A negative factor counts 2^64 too many.
            let sign = self.number(64, 63);
            for (x, y) in [(v[0], v[1]), (v[1], v[0])] {
                let negative = self.op(Op::ShiftRightArithmetic, long, &[x, sign]);
                let excess = self.op(Op::BitwiseAnd, long, &[negative, y]);
                high = self.op(Op::ISub, long, &[high, excess]);
            }
        }
        high
    }
}

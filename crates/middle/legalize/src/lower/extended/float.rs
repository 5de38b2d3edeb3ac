//! Functions of floats.

use super::{ScalarBuiltinCall, ShaderLowering};
use crate::facts::MemoryScalar;
use spirula_spirv::Id;
use spirula_spirv::grammar::{Op, glsl_std_450 as glsl, opencl_std as cl};
use std::f64::consts;

/// `exp10`.
pub fn exp10(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let factor = l.real(c.width(), consts::LOG2_10);
    let power = l.op(Op::FMul, c.ty, &[v[0], factor]);
    l.glsl(glsl::EXP2, c.ty, &[power])
}

/// `log10`.
pub fn log10(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let (log, factor) = (
        l.glsl(glsl::LOG2, c.ty, v),
        l.real(c.width(), consts::LOG10_2),
    );
    l.op(Op::FMul, c.ty, &[log, factor])
}

/// `native_recip`.
pub fn reciprocal(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let one = l.real(c.width(), 1.0);
    l.op(Op::FDiv, c.ty, &[one, v[0]])
}

/// `mad`.
pub fn mad(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let product = l.op(Op::FMul, c.ty, &v[..2]);
    l.op(Op::FAdd, c.ty, &[product, v[2]])
}

/// `mix`.
pub fn mix(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let difference = l.op(Op::FSub, c.ty, &[v[1], v[0]]);
    let part = l.op(Op::FMul, c.ty, &[difference, v[2]]);
    l.op(Op::FAdd, c.ty, &[v[0], part])
}

/// `round`: halves away from zero.
pub fn round(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let width = c.width();
    let truth = l.b.bool();
    let whole = l.glsl(glsl::TRUNC, c.ty, v);
    let rest = l.op(Op::FSub, c.ty, &[v[0], whole]);
    let rest = l.glsl(glsl::FABS, c.ty, &[rest]);
    let [half, one, zero] = [0.5, 1.0, 0.0].map(|x| l.real(width, x));
    let is_more = l.op(Op::FOrdGreaterThanEqual, truth, &[rest, half]);
    let step = l.op(Op::Select, c.ty, &[is_more, one, zero]);
    let step = copy_sign(l, c, &[step, v[0]]);
    l.op(Op::FAdd, c.ty, &[whole, step])
}

/// `copysign`.
pub fn copy_sign(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let width = c.width();
    let (bits, ty) = (MemoryScalar::Int(width), l.int(width));
    let sign = l.number(width, 1 << (width - 1));
    let rest = l.number(width, u64::MAX >> (65 - width));
    let a = l.join_pieces(vec![v[0]], c.scalar, bits);
    let b = l.join_pieces(vec![v[1]], c.scalar, bits);
    let (a, b) = (
        l.op(Op::BitwiseAnd, ty, &[a, rest]),
        l.op(Op::BitwiseAnd, ty, &[b, sign]),
    );
    let both = l.op(Op::BitwiseOr, ty, &[a, b]);
    l.join_pieces(vec![both], bits, c.scalar)
}

/// `fdim`.
pub fn positive_difference(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let (truth, zero) = (l.b.bool(), l.real(c.width(), 0.0));
    let is_less = l.op(Op::FOrdLessThanEqual, truth, v);
    let difference = l.op(Op::FSub, c.ty, v);
    l.op(Op::Select, c.ty, &[is_less, zero, difference])
}

/// `maxmag` and `minmag`.
pub fn by_magnitude(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let truth = l.b.bool();
    let (a, b) = (
        l.glsl(glsl::FABS, c.ty, &v[..1]),
        l.glsl(glsl::FABS, c.ty, &v[1..]),
    );
    let (op, other) = match c.number {
        cl::MAXMAG => (Op::FOrdGreaterThan, glsl::NMAX),
        _ => (Op::FOrdLessThan, glsl::NMIN),
    };
    let (first, second) = (l.op(op, truth, &[a, b]), l.op(op, truth, &[b, a]));
    let neither = l.glsl(other, c.ty, v);
    let second = l.op(Op::Select, c.ty, &[second, v[1], neither]);
    l.op(Op::Select, c.ty, &[first, v[0], second])
}

/// `nan`.
pub fn nan(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let width = c.width();
    let quiet: u64 = match width {
        16 => 0x7e00,
        32 => 0x7fc0_0000,
        _ => 0x7ff8_0000_0000_0000,
    };
    let (ty, quiet) = (l.int(width), l.number(width, quiet));
    let bits = l.op(Op::BitwiseOr, ty, &[v[0], quiet]);
    l.join_pieces(vec![bits], MemoryScalar::Int(width), c.scalar)
}

/// `degrees` and `radians`.
pub fn scale(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let factor = match c.number {
        cl::DEGREES => 180.0 / consts::PI,
        _ => consts::PI / 180.0,
    };
    let factor = l.real(c.width(), factor);
    l.op(Op::FMul, c.ty, &[v[0], factor])
}

/// `ldexp`.
pub fn ldexp(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    l.glsl(glsl::LDEXP, c.ty, v)
}

/// `hypot`: scaled by the larger operand.
pub fn hypot(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let (a, b) = (
        l.glsl(glsl::FABS, c.ty, &v[..1]),
        l.glsl(glsl::FABS, c.ty, &v[1..]),
    );
    let (large, small) = (
        l.glsl(glsl::FMAX, c.ty, &[a, b]),
        l.glsl(glsl::FMIN, c.ty, &[a, b]),
    );
    let [one, zero] = [1.0, 0.0].map(|x| l.real(c.width(), x));
    let truth = l.b.bool();
    let ratio = l.op(Op::FDiv, c.ty, &[small, large]);
    let square = l.op(Op::FMul, c.ty, &[ratio, ratio]);
    let sum = l.op(Op::FAdd, c.ty, &[square, one]);
    let root = l.glsl(glsl::SQRT, c.ty, &[sum]);
    let product = l.op(Op::FMul, c.ty, &[large, root]);
    let is_plain = l.op(Op::FOrdNotEqual, truth, &[small, zero]);
    l.op(Op::Select, c.ty, &[is_plain, product, large])
}

/// `pow` and `pown`: negative bases by the parity of the exponent.
pub fn pow(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let truth = l.b.bool();
    let width = c.width();
    let exponent = match c.number {
        cl::POWN => l.op(Op::ConvertSToF, c.ty, &v[1..]),
        _ => v[1],
    };
    let base = l.glsl(glsl::FABS, c.ty, &v[..1]);
    let power = l.glsl(glsl::POW, c.ty, &[base, exponent]);
    let [half, one, zero] = [0.5, 1.0, 0.0].map(|x| l.real(width, x));
    // The exponent is odd where its half is not whole.
    let halved = l.op(Op::FMul, c.ty, &[exponent, half]);
    let floor = l.glsl(glsl::FLOOR, c.ty, &[halved]);
    let is_odd = l.op(Op::FOrdNotEqual, truth, &[halved, floor]);
    let negated = l.op(Op::FNegate, c.ty, &[power]);
    let signed = l.op(Op::Select, c.ty, &[is_odd, negated, power]);
    let whole = l.glsl(glsl::FLOOR, c.ty, &[exponent]);
    let is_whole = l.op(Op::FOrdEqual, truth, &[whole, exponent]);
    let quiet = l.number(
        width,
        match width {
            16 => 0x7e00,
            32 => 0x7fc0_0000,
            _ => 0x7ff8_0000_0000_0000,
        },
    );
    let nothing = l.join_pieces(vec![quiet], MemoryScalar::Int(width), c.scalar);
    let of_negative = l.op(Op::Select, c.ty, &[is_whole, signed, nothing]);
    let is_negative = l.op(Op::FOrdLessThan, truth, &[v[0], zero]);
    let chosen = l.op(Op::Select, c.ty, &[is_negative, of_negative, power]);
    let is_zero = l.op(Op::FOrdEqual, truth, &[exponent, zero]);
    l.op(Op::Select, c.ty, &[is_zero, one, chosen])
}

/// `cbrt`: by logarithm, and a step of Newton's.
pub fn cbrt(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let truth = l.b.bool();
    let width = c.width();
    let [third, zero] = [1.0 / 3.0, 0.0].map(|x| l.real(width, x));
    let base = l.glsl(glsl::FABS, c.ty, v);
    let first = l.glsl(glsl::POW, c.ty, &[base, third]);
    let square = l.op(Op::FMul, c.ty, &[first, first]);
    let quotient = l.op(Op::FDiv, c.ty, &[base, square]);
    let error = l.op(Op::FSub, c.ty, &[quotient, first]);
    let step = l.op(Op::FMul, c.ty, &[error, third]);
    let root = l.op(Op::FAdd, c.ty, &[first, step]);
    let is_plain = l.op(Op::FOrdNotEqual, truth, &[base, zero]);
    let root = l.op(Op::Select, c.ty, &[is_plain, root, base]);
    copy_sign(l, c, &[root, v[0]])
}

/// `log1p`: the logarithm of the sum as it is rounded, put right by what was lost.
pub fn log1p(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let (truth, one) = (l.b.bool(), l.real(c.width(), 1.0));
    let sum = l.op(Op::FAdd, c.ty, &[v[0], one]);
    let rounded = l.op(Op::FSub, c.ty, &[sum, one]);
    let log = l.glsl(glsl::LOG, c.ty, &[sum]);
    let ratio = l.op(Op::FDiv, c.ty, &[v[0], rounded]);
    let log = l.op(Op::FMul, c.ty, &[log, ratio]);
    let is_small = l.op(Op::FOrdEqual, truth, &[sum, one]);
    l.op(Op::Select, c.ty, &[is_small, v[0], log])
}

/// `expm1`, in the same way.
pub fn expm1(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let truth = l.b.bool();
    let [one, half] = [1.0, 0.5].map(|x| l.real(c.width(), x));
    let power = l.glsl(glsl::EXP, c.ty, v);
    let less = l.op(Op::FSub, c.ty, &[power, one]);
    let log = l.glsl(glsl::LOG, c.ty, &[power]);
    let ratio = l.op(Op::FDiv, c.ty, &[v[0], log]);
    let right = l.op(Op::FMul, c.ty, &[less, ratio]);
    let size = l.glsl(glsl::FABS, c.ty, v);
    let is_near = l.op(Op::FOrdLessThan, truth, &[size, half]);
    let near = l.op(Op::Select, c.ty, &[is_near, right, less]);
    let is_small = l.op(Op::FOrdEqual, truth, &[power, one]);
    l.op(Op::Select, c.ty, &[is_small, v[0], near])
}

/// `sinpi`, `cospi` and `tanpi`: of what is left of whole turns.
pub fn of_half_turns(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let width = c.width();
    let [half, two, pi] = [0.5, 2.0, consts::PI].map(|x| l.real(width, x));
    let turns = l.op(Op::FMul, c.ty, &[v[0], half]);
    let turns = l.glsl(glsl::ROUND_EVEN, c.ty, &[turns]);
    let whole = l.op(Op::FMul, c.ty, &[turns, two]);
    let rest = l.op(Op::FSub, c.ty, &[v[0], whole]);
    let angle = l.op(Op::FMul, c.ty, &[rest, pi]);
    let function = match c.number {
        cl::SINPI => glsl::SIN,
        cl::COSPI => glsl::COS,
        _ => glsl::TAN,
    };
    l.glsl(function, c.ty, &[angle])
}

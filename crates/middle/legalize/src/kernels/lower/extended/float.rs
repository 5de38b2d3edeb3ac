//! Extended instructions on floats.

use super::{ScalarBuiltinCall, ShaderLowering};
use crate::kernels::module_info::MemoryScalar;
use spirula_spirv::Id;
use spirula_spirv::grammar::{Op, glsl_std_450 as glsl, opencl_std as cl};
use std::f64::consts;

/// `exp10`.
pub fn lower_exp10(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let factor = l.make_float_constant(c.width(), consts::LOG2_10);
    let power = l.emit_value(Op::FMul, c.ty, &[v[0], factor]);
    l.emit_glsl(glsl::EXP2, c.ty, &[power])
}

/// `log10`.
pub fn lower_log10(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let (log, factor) = (
        l.emit_glsl(glsl::LOG2, c.ty, v),
        l.make_float_constant(c.width(), consts::LOG10_2),
    );
    l.emit_value(Op::FMul, c.ty, &[log, factor])
}

/// `native_recip`.
pub fn lower_reciprocal(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let one = l.make_float_constant(c.width(), 1.0);
    l.emit_value(Op::FDiv, c.ty, &[one, v[0]])
}

/// `mad`, which allows contraction by its definition. Clang also writes it for each product and sum that it may contract.
pub fn lower_mad(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    l.emit_multiply_add(c.ty, [v[0], v[1], v[2]])
}

/// `mix`, which allows contraction by its definition.
pub fn lower_mix(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let difference = l.emit_value(Op::FSub, c.ty, &[v[1], v[0]]);
    l.emit_multiply_add(c.ty, [difference, v[2], v[0]])
}

/// `round`: halves away from zero.
pub fn lower_round(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let width = c.width();
    let truth = l.b.bool_type();
    let whole = l.emit_glsl(glsl::TRUNC, c.ty, v);
    let rest = l.emit_value(Op::FSub, c.ty, &[v[0], whole]);
    let rest = l.emit_glsl(glsl::FABS, c.ty, &[rest]);
    let [half, one, zero] = [0.5, 1.0, 0.0].map(|x| l.make_float_constant(width, x));
    let is_more = l.emit_value(Op::FOrdGreaterThanEqual, truth, &[rest, half]);
    let step = l.emit_value(Op::Select, c.ty, &[is_more, one, zero]);
    let step = copy_sign(l, c, &[step, v[0]]);
    l.emit_value(Op::FAdd, c.ty, &[whole, step])
}

/// `copysign`.
pub fn copy_sign(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let width = c.width();
    let (bits, ty) = (MemoryScalar::Int(width), l.make_int_type(width));
    let sign = l.make_uint_constant(width, 1 << (width - 1));
    let rest = l.make_uint_constant(width, u64::MAX >> (65 - width));
    let a = l.join_pieces(vec![v[0]], c.scalar, bits);
    let b = l.join_pieces(vec![v[1]], c.scalar, bits);
    let (a, b) = (
        l.emit_value(Op::BitwiseAnd, ty, &[a, rest]),
        l.emit_value(Op::BitwiseAnd, ty, &[b, sign]),
    );
    let both = l.emit_value(Op::BitwiseOr, ty, &[a, b]);
    l.join_pieces(vec![both], bits, c.scalar)
}

/// `fdim`.
pub fn positive_difference(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let (truth, zero) = (l.b.bool_type(), l.make_float_constant(c.width(), 0.0));
    let is_less = l.emit_value(Op::FOrdLessThanEqual, truth, v);
    let difference = l.emit_value(Op::FSub, c.ty, v);
    l.emit_value(Op::Select, c.ty, &[is_less, zero, difference])
}

/// `maxmag` and `minmag`.
pub fn select_by_magnitude(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let truth = l.b.bool_type();
    let (a, b) = (
        l.emit_glsl(glsl::FABS, c.ty, &v[..1]),
        l.emit_glsl(glsl::FABS, c.ty, &v[1..]),
    );
    let (op, other) = match c.number {
        cl::MAXMAG => (Op::FOrdGreaterThan, glsl::NMAX),
        _ => (Op::FOrdLessThan, glsl::NMIN),
    };
    let (first, second) = (
        l.emit_value(op, truth, &[a, b]),
        l.emit_value(op, truth, &[b, a]),
    );
    let neither = l.emit_glsl(other, c.ty, v);
    let second = l.emit_value(Op::Select, c.ty, &[second, v[1], neither]);
    l.emit_value(Op::Select, c.ty, &[first, v[0], second])
}

/// `nan`.
pub fn lower_nan(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let width = c.width();
    let quiet: u64 = match width {
        16 => 0x7e00,
        32 => 0x7fc0_0000,
        _ => 0x7ff8_0000_0000_0000,
    };
    let (ty, quiet) = (l.make_int_type(width), l.make_uint_constant(width, quiet));
    let bits = l.emit_value(Op::BitwiseOr, ty, &[v[0], quiet]);
    l.join_pieces(vec![bits], MemoryScalar::Int(width), c.scalar)
}

/// `degrees` and `radians`.
pub fn lower_angle_conversion(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let factor = match c.number {
        cl::DEGREES => 180.0 / consts::PI,
        _ => consts::PI / 180.0,
    };
    let factor = l.make_float_constant(c.width(), factor);
    l.emit_value(Op::FMul, c.ty, &[v[0], factor])
}

/// `ldexp`.
pub fn lower_ldexp(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    l.emit_glsl(glsl::LDEXP, c.ty, v)
}

/// `hypot`: scaled by the larger operand.
pub fn lower_hypot(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let (a, b) = (
        l.emit_glsl(glsl::FABS, c.ty, &v[..1]),
        l.emit_glsl(glsl::FABS, c.ty, &v[1..]),
    );
    let (large, small) = (
        l.emit_glsl(glsl::FMAX, c.ty, &[a, b]),
        l.emit_glsl(glsl::FMIN, c.ty, &[a, b]),
    );
    let [one, zero] = [1.0, 0.0].map(|x| l.make_float_constant(c.width(), x));
    let truth = l.b.bool_type();
    let ratio = l.emit_value(Op::FDiv, c.ty, &[small, large]);
    let square = l.emit_value(Op::FMul, c.ty, &[ratio, ratio]);
    let sum = l.emit_value(Op::FAdd, c.ty, &[square, one]);
    let root = l.emit_glsl(glsl::SQRT, c.ty, &[sum]);
    let product = l.emit_value(Op::FMul, c.ty, &[large, root]);
    let is_plain = l.emit_value(Op::FOrdNotEqual, truth, &[small, zero]);
    l.emit_value(Op::Select, c.ty, &[is_plain, product, large])
}

/// `pow` and `pown`: negative bases by the parity of the exponent.
pub fn lower_pow(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let truth = l.b.bool_type();
    let width = c.width();
    let exponent = match c.number {
        cl::POWN => l.emit_value(Op::ConvertSToF, c.ty, &v[1..]),
        _ => v[1],
    };
    let base = l.emit_glsl(glsl::FABS, c.ty, &v[..1]);
    let power = l.emit_glsl(glsl::POW, c.ty, &[base, exponent]);
    let [half, one, zero] = [0.5, 1.0, 0.0].map(|x| l.make_float_constant(width, x));
    // The exponent is odd if its half is not an integer.
    let halved = l.emit_value(Op::FMul, c.ty, &[exponent, half]);
    let floor = l.emit_glsl(glsl::FLOOR, c.ty, &[halved]);
    let is_odd = l.emit_value(Op::FOrdNotEqual, truth, &[halved, floor]);
    let negated = l.emit_value(Op::FNegate, c.ty, &[power]);
    let signed = l.emit_value(Op::Select, c.ty, &[is_odd, negated, power]);
    let whole = l.emit_glsl(glsl::FLOOR, c.ty, &[exponent]);
    let is_whole = l.emit_value(Op::FOrdEqual, truth, &[whole, exponent]);
    let quiet = l.make_uint_constant(
        width,
        match width {
            16 => 0x7e00,
            32 => 0x7fc0_0000,
            _ => 0x7ff8_0000_0000_0000,
        },
    );
    let nothing = l.join_pieces(vec![quiet], MemoryScalar::Int(width), c.scalar);
    let of_negative = l.emit_value(Op::Select, c.ty, &[is_whole, signed, nothing]);
    let is_negative = l.emit_value(Op::FOrdLessThan, truth, &[v[0], zero]);
    let chosen = l.emit_value(Op::Select, c.ty, &[is_negative, of_negative, power]);
    let is_zero = l.emit_value(Op::FOrdEqual, truth, &[exponent, zero]);
    l.emit_value(Op::Select, c.ty, &[is_zero, one, chosen])
}

/// `cbrt`: by logarithm, and one step of Newton's method.
pub fn lower_cbrt(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let truth = l.b.bool_type();
    let width = c.width();
    let [third, zero] = [1.0 / 3.0, 0.0].map(|x| l.make_float_constant(width, x));
    let base = l.emit_glsl(glsl::FABS, c.ty, v);
    let first = l.emit_glsl(glsl::POW, c.ty, &[base, third]);
    let square = l.emit_value(Op::FMul, c.ty, &[first, first]);
    let quotient = l.emit_value(Op::FDiv, c.ty, &[base, square]);
    let error = l.emit_value(Op::FSub, c.ty, &[quotient, first]);
    let step = l.emit_value(Op::FMul, c.ty, &[error, third]);
    let root = l.emit_value(Op::FAdd, c.ty, &[first, step]);
    let is_plain = l.emit_value(Op::FOrdNotEqual, truth, &[base, zero]);
    let root = l.emit_value(Op::Select, c.ty, &[is_plain, root, base]);
    copy_sign(l, c, &[root, v[0]])
}

/// `log1p`: the logarithm of the rounded sum, corrected by the rounding error.
pub fn lower_log1p(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let (truth, one) = (l.b.bool_type(), l.make_float_constant(c.width(), 1.0));
    let sum = l.emit_value(Op::FAdd, c.ty, &[v[0], one]);
    let rounded = l.emit_value(Op::FSub, c.ty, &[sum, one]);
    let log = l.emit_glsl(glsl::LOG, c.ty, &[sum]);
    let ratio = l.emit_value(Op::FDiv, c.ty, &[v[0], rounded]);
    let log = l.emit_value(Op::FMul, c.ty, &[log, ratio]);
    let is_small = l.emit_value(Op::FOrdEqual, truth, &[sum, one]);
    l.emit_value(Op::Select, c.ty, &[is_small, v[0], log])
}

/// `expm1`, with the same correction.
pub fn lower_expm1(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let truth = l.b.bool_type();
    let [one, half] = [1.0, 0.5].map(|x| l.make_float_constant(c.width(), x));
    let power = l.emit_glsl(glsl::EXP, c.ty, v);
    let less = l.emit_value(Op::FSub, c.ty, &[power, one]);
    let log = l.emit_glsl(glsl::LOG, c.ty, &[power]);
    let ratio = l.emit_value(Op::FDiv, c.ty, &[v[0], log]);
    let right = l.emit_value(Op::FMul, c.ty, &[less, ratio]);
    let size = l.emit_glsl(glsl::FABS, c.ty, v);
    let is_near = l.emit_value(Op::FOrdLessThan, truth, &[size, half]);
    let near = l.emit_value(Op::Select, c.ty, &[is_near, right, less]);
    let is_small = l.emit_value(Op::FOrdEqual, truth, &[power, one]);
    l.emit_value(Op::Select, c.ty, &[is_small, v[0], near])
}

/// `sinpi`, `cospi` and `tanpi`: of the remainder of whole turns.
pub fn lower_half_turns(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let width = c.width();
    let [half, two, pi] = [0.5, 2.0, consts::PI].map(|x| l.make_float_constant(width, x));
    let turns = l.emit_value(Op::FMul, c.ty, &[v[0], half]);
    let turns = l.emit_glsl(glsl::ROUND_EVEN, c.ty, &[turns]);
    let whole = l.emit_value(Op::FMul, c.ty, &[turns, two]);
    let rest = l.emit_value(Op::FSub, c.ty, &[v[0], whole]);
    let angle = l.emit_value(Op::FMul, c.ty, &[rest, pi]);
    let function = match c.number {
        cl::SINPI => glsl::SIN,
        cl::COSPI => glsl::COS,
        _ => glsl::TAN,
    };
    l.emit_glsl(function, c.ty, &[angle])
}

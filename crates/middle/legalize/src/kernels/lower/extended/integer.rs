//! Extended instructions on integers.

use super::{ScalarBuiltinCall, ShaderLowering};
use crate::kernels::module_info::MemoryScalar;
use spirula_spirv::Id;
use spirula_spirv::grammar::{Op, glsl_std_450 as glsl, opencl_std as cl};

impl ShaderLowering<'_> {
    /// The sum of two integers, or the bound that it exceeds.
    pub fn add_saturated(&mut self, scalar: MemoryScalar, is_signed: bool, v: [Id; 2]) -> Id {
        let call = ScalarBuiltinCall {
            number: if is_signed {
                cl::S_ADD_SAT
            } else {
                cl::U_ADD_SAT
            },
            ty: self.make_scalar_type(scalar),
            scalar,
            from: scalar,
        };
        lower_add_sat(self, call, &v)
    }

    /// The bound of an overflowing signed sum or difference, by the first operand's sign.
    fn select_saturation_bound(&mut self, c: ScalarBuiltinCall, a: Id) -> Id {
        let width = c.width();
        let shift = self.make_uint_constant(width, u64::from(width - 1));
        let most = self.make_uint_constant(width, u64::MAX >> (65 - width));
        let sign = self.emit_value(Op::ShiftRightArithmetic, c.ty, &[a, shift]);
        self.emit_value(Op::BitwiseXor, c.ty, &[sign, most])
    }

    /// Whether two numbers have equal sign bits.
    fn has_equal_signs(&mut self, c: ScalarBuiltinCall, a: Id, b: Id) -> Id {
        let (both, zero) = (
            self.emit_value(Op::BitwiseAnd, c.ty, &[a, b]),
            self.make_uint_constant(c.width(), 0),
        );
        let truth = self.b.bool_type();
        self.emit_value(Op::SLessThan, truth, &[both, zero])
    }
}

/// `abs_diff`.
pub fn lower_abs_diff(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let op = match c.number {
        cl::S_ABS_DIFF => Op::SGreaterThan,
        _ => Op::UGreaterThan,
    };
    let truth = l.b.bool_type();
    let greater = l.emit_value(op, truth, v);
    let (down, up) = (
        l.emit_value(Op::ISub, c.ty, v),
        l.emit_value(Op::ISub, c.ty, &[v[1], v[0]]),
    );
    l.emit_value(Op::Select, c.ty, &[greater, down, up])
}

/// `add_sat`.
pub fn lower_add_sat(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let (a, b) = (v[0], v[1]);
    let sum = l.emit_value(Op::IAdd, c.ty, &[a, b]);
    if c.number == cl::S_ADD_SAT || c.number == cl::S_MAD_SAT {
        let (x, y) = (
            l.emit_value(Op::BitwiseXor, c.ty, &[a, sum]),
            l.emit_value(Op::BitwiseXor, c.ty, &[b, sum]),
        );
        let overflows = l.has_equal_signs(c, x, y);
        let bound = l.select_saturation_bound(c, a);
        return l.emit_value(Op::Select, c.ty, &[overflows, bound, sum]);
    }
    let (truth, most) = (l.b.bool_type(), l.make_uint_constant(c.width(), u64::MAX));
    let overflows = l.emit_value(Op::ULessThan, truth, &[sum, a]);
    l.emit_value(Op::Select, c.ty, &[overflows, most, sum])
}

/// `sub_sat`.
pub fn lower_sub_sat(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let (a, b) = (v[0], v[1]);
    let difference = l.emit_value(Op::ISub, c.ty, &[a, b]);
    if c.number == cl::S_SUB_SAT {
        let x = l.emit_value(Op::BitwiseXor, c.ty, &[a, b]);
        let y = l.emit_value(Op::BitwiseXor, c.ty, &[a, difference]);
        let overflows = l.has_equal_signs(c, x, y);
        let bound = l.select_saturation_bound(c, a);
        return l.emit_value(Op::Select, c.ty, &[overflows, bound, difference]);
    }
    let (truth, zero) = (l.b.bool_type(), l.make_uint_constant(c.width(), 0));
    let overflows = l.emit_value(Op::ULessThan, truth, &[a, b]);
    l.emit_value(Op::Select, c.ty, &[overflows, zero, difference])
}

fn half_difference(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let op = match c.number {
        cl::S_HADD | cl::S_RHADD => Op::ShiftRightArithmetic,
        _ => Op::ShiftRightLogical,
    };
    let (different, one) = (
        l.emit_value(Op::BitwiseXor, c.ty, v),
        l.make_uint_constant(c.width(), 1),
    );
    l.emit_value(op, c.ty, &[different, one])
}

/// `hadd`.
pub fn half_sum(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let half = half_difference(l, c, v);
    let common = l.emit_value(Op::BitwiseAnd, c.ty, v);
    l.emit_value(Op::IAdd, c.ty, &[common, half])
}

/// `rhadd`.
pub fn rounded_half_sum(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let half = half_difference(l, c, v);
    let either = l.emit_value(Op::BitwiseOr, c.ty, v);
    l.emit_value(Op::ISub, c.ty, &[either, half])
}

/// `mad_hi`.
pub fn high_mad(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let high = l.high_product(v, c.scalar, c.number == cl::S_MAD_HI);
    l.emit_value(Op::IAdd, c.ty, &[high, v[2]])
}

/// `mad24`.
pub fn lower_mad24(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let product = l.emit_value(Op::IMul, c.ty, &v[..2]);
    l.emit_value(Op::IAdd, c.ty, &[product, v[2]])
}

/// `mad_sat`.
pub fn saturated_mad(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let is_signed = c.number == cl::S_MAD_SAT;
    let width = c.width();
    if width < 64 {
        let double = width.max(16) * 2;
        let ty = l.make_int_type(double);
        let widen = if is_signed {
            Op::SConvert
        } else {
            Op::UConvert
        };
        let wide: Vec<Id> = v.iter().map(|x| l.emit_value(widen, ty, &[*x])).collect();
        let product = l.emit_value(Op::IMul, ty, &wide[..2]);
        let sum = l.emit_value(Op::IAdd, ty, &[product, wide[2]]);
        let (clamp, low, high) = if is_signed {
            (
                glsl::SCLAMP,
                u64::MAX << (width - 1),
                u64::MAX >> (65 - width),
            )
        } else {
            (glsl::UCLAMP, 0, u64::MAX >> (64 - width))
        };
        let (low, high) = (
            l.make_uint_constant(double, low),
            l.make_uint_constant(double, high),
        );
        let clamped = l.emit_glsl(clamp, ty, &[sum, low, high]);
        return l.emit_value(Op::UConvert, c.ty, &[clamped]);
    }
    let (truth, zero) = (l.b.bool_type(), l.make_uint_constant(64, 0));
    let low = l.emit_value(Op::IMul, c.ty, &v[..2]);
    let high = l.high_product(v, c.scalar, is_signed);
    let sum = l.emit_value(Op::IAdd, c.ty, &[low, v[2]]);
    let carries = l.emit_value(Op::ULessThan, truth, &[sum, low]);
    let one = l.make_uint_constant(64, 1);
    let carry = l.emit_value(Op::Select, c.ty, &[carries, one, zero]);
    let high = l.emit_value(Op::IAdd, c.ty, &[high, carry]);
    if !is_signed {
        let (fits, most) = (
            l.emit_value(Op::IEqual, truth, &[high, zero]),
            l.make_uint_constant(64, u64::MAX),
        );
        return l.emit_value(Op::Select, c.ty, &[fits, sum, most]);
    }
    let shift = l.make_uint_constant(64, 63);
    let above = l.emit_value(Op::ShiftRightArithmetic, c.ty, &[v[2], shift]);
    let high = l.emit_value(Op::IAdd, c.ty, &[high, above]);
    let sign = l.emit_value(Op::ShiftRightArithmetic, c.ty, &[sum, shift]);
    let fits = l.emit_value(Op::IEqual, truth, &[high, sign]);
    let bound = l.select_saturation_bound(c, high);
    l.emit_value(Op::Select, c.ty, &[fits, sum, bound])
}

/// `rotate`.
pub fn lower_rotate(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let width = c.width();
    let (mask, zero) = (
        l.make_uint_constant(width, u64::from(width - 1)),
        l.make_uint_constant(width, 0),
    );
    let left = l.emit_value(Op::BitwiseAnd, c.ty, &[v[1], mask]);
    let back = l.emit_value(Op::ISub, c.ty, &[zero, v[1]]);
    let right = l.emit_value(Op::BitwiseAnd, c.ty, &[back, mask]);
    let high = l.emit_value(Op::ShiftLeftLogical, c.ty, &[v[0], left]);
    let low = l.emit_value(Op::ShiftRightLogical, c.ty, &[v[0], right]);
    l.emit_value(Op::BitwiseOr, c.ty, &[high, low])
}

/// `upsample`.
pub fn lower_upsample(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let half = MemoryScalar::Int(c.width() / 2);
    l.join_pieces(vec![v[1], v[0]], half, c.scalar)
}

/// `bitselect`.
pub fn bit_select(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let bits = MemoryScalar::Int(c.width());
    let ty = l.make_scalar_type(bits);
    let v: Vec<Id> = v
        .iter()
        .map(|x| l.join_pieces(vec![*x], c.from, bits))
        .collect();
    let not = l.emit_value(Op::Not, ty, &v[2..3]);
    let (a, b) = (
        l.emit_value(Op::BitwiseAnd, ty, &[v[0], not]),
        l.emit_value(Op::BitwiseAnd, ty, &v[1..3]),
    );
    let selected = l.emit_value(Op::BitwiseOr, ty, &[a, b]);
    l.join_pieces(vec![selected], bits, c.scalar)
}

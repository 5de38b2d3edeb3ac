//! Functions of integers.

use super::{ScalarBuiltinCall, ShaderLowering};
use crate::facts::MemoryScalar;
use spirula_spirv::Id;
use spirula_spirv::grammar::{Op, glsl_std_450 as glsl, opencl_std as cl};

impl ShaderLowering<'_> {
    /// What an overflowing signed sum or difference is bounded to, by the first operand's sign.
    fn bound(&mut self, c: ScalarBuiltinCall, a: Id) -> Id {
        let width = c.width();
        let shift = self.number(width, u64::from(width - 1));
        let most = self.number(width, u64::MAX >> (65 - width));
        let sign = self.op(Op::ShiftRightArithmetic, c.ty, &[a, shift]);
        self.op(Op::BitwiseXor, c.ty, &[sign, most])
    }

    /// Whether two numbers have the sign bit in common.
    fn both_signs(&mut self, c: ScalarBuiltinCall, a: Id, b: Id) -> Id {
        let (both, zero) = (
            self.op(Op::BitwiseAnd, c.ty, &[a, b]),
            self.number(c.width(), 0),
        );
        let truth = self.b.bool();
        self.op(Op::SLessThan, truth, &[both, zero])
    }
}

/// `abs_diff`.
pub fn difference(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let op = match c.number {
        cl::S_ABS_DIFF => Op::SGreaterThan,
        _ => Op::UGreaterThan,
    };
    let truth = l.b.bool();
    let greater = l.op(op, truth, v);
    let (down, up) = (l.op(Op::ISub, c.ty, v), l.op(Op::ISub, c.ty, &[v[1], v[0]]));
    l.op(Op::Select, c.ty, &[greater, down, up])
}

/// `add_sat`.
pub fn add(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let (a, b) = (v[0], v[1]);
    let sum = l.op(Op::IAdd, c.ty, &[a, b]);
    if c.number == cl::S_ADD_SAT || c.number == cl::S_MAD_SAT {
        let (x, y) = (
            l.op(Op::BitwiseXor, c.ty, &[a, sum]),
            l.op(Op::BitwiseXor, c.ty, &[b, sum]),
        );
        let overflows = l.both_signs(c, x, y);
        let bound = l.bound(c, a);
        return l.op(Op::Select, c.ty, &[overflows, bound, sum]);
    }
    let (truth, most) = (l.b.bool(), l.number(c.width(), u64::MAX));
    let overflows = l.op(Op::ULessThan, truth, &[sum, a]);
    l.op(Op::Select, c.ty, &[overflows, most, sum])
}

/// `sub_sat`.
pub fn subtract(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let (a, b) = (v[0], v[1]);
    let difference = l.op(Op::ISub, c.ty, &[a, b]);
    if c.number == cl::S_SUB_SAT {
        let x = l.op(Op::BitwiseXor, c.ty, &[a, b]);
        let y = l.op(Op::BitwiseXor, c.ty, &[a, difference]);
        let overflows = l.both_signs(c, x, y);
        let bound = l.bound(c, a);
        return l.op(Op::Select, c.ty, &[overflows, bound, difference]);
    }
    let (truth, zero) = (l.b.bool(), l.number(c.width(), 0));
    let overflows = l.op(Op::ULessThan, truth, &[a, b]);
    l.op(Op::Select, c.ty, &[overflows, zero, difference])
}

fn half_difference(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let op = match c.number {
        cl::S_HADD | cl::S_RHADD => Op::ShiftRightArithmetic,
        _ => Op::ShiftRightLogical,
    };
    let (different, one) = (l.op(Op::BitwiseXor, c.ty, v), l.number(c.width(), 1));
    l.op(op, c.ty, &[different, one])
}

/// `hadd`.
pub fn half_sum(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let half = half_difference(l, c, v);
    let common = l.op(Op::BitwiseAnd, c.ty, v);
    l.op(Op::IAdd, c.ty, &[common, half])
}

/// `rhadd`.
pub fn rounded_half_sum(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let half = half_difference(l, c, v);
    let either = l.op(Op::BitwiseOr, c.ty, v);
    l.op(Op::ISub, c.ty, &[either, half])
}

/// `mad_hi`.
pub fn high_mad(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let high = l.high_product(v, c.scalar, c.number == cl::S_MAD_HI);
    l.op(Op::IAdd, c.ty, &[high, v[2]])
}

/// `mad24`.
pub fn mad(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let product = l.op(Op::IMul, c.ty, &v[..2]);
    l.op(Op::IAdd, c.ty, &[product, v[2]])
}

/// `mad_sat`.
pub fn saturated_mad(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let is_signed = c.number == cl::S_MAD_SAT;
    let width = c.width();
    if width < 64 {
        let double = width.max(16) * 2;
        let ty = l.int(double);
        let widen = if is_signed {
            Op::SConvert
        } else {
            Op::UConvert
        };
        let wide: Vec<Id> = v.iter().map(|x| l.op(widen, ty, &[*x])).collect();
        let product = l.op(Op::IMul, ty, &wide[..2]);
        let sum = l.op(Op::IAdd, ty, &[product, wide[2]]);
        let (clamp, low, high) = match is_signed {
            true => (
                glsl::SCLAMP,
                u64::MAX << (width - 1),
                u64::MAX >> (65 - width),
            ),
            false => (glsl::UCLAMP, 0, u64::MAX >> (64 - width)),
        };
        let (low, high) = (l.number(double, low), l.number(double, high));
        let clamped = l.glsl(clamp, ty, &[sum, low, high]);
        return l.op(Op::UConvert, c.ty, &[clamped]);
    }
    let (truth, zero) = (l.b.bool(), l.number(64, 0));
    let low = l.op(Op::IMul, c.ty, &v[..2]);
    let high = l.high_product(v, c.scalar, is_signed);
    let sum = l.op(Op::IAdd, c.ty, &[low, v[2]]);
    let carries = l.op(Op::ULessThan, truth, &[sum, low]);
    let one = l.number(64, 1);
    let carry = l.op(Op::Select, c.ty, &[carries, one, zero]);
    let high = l.op(Op::IAdd, c.ty, &[high, carry]);
    if !is_signed {
        let (fits, most) = (
            l.op(Op::IEqual, truth, &[high, zero]),
            l.number(64, u64::MAX),
        );
        return l.op(Op::Select, c.ty, &[fits, sum, most]);
    }
    let shift = l.number(64, 63);
    let above = l.op(Op::ShiftRightArithmetic, c.ty, &[v[2], shift]);
    let high = l.op(Op::IAdd, c.ty, &[high, above]);
    let sign = l.op(Op::ShiftRightArithmetic, c.ty, &[sum, shift]);
    let fits = l.op(Op::IEqual, truth, &[high, sign]);
    let bound = l.bound(c, high);
    l.op(Op::Select, c.ty, &[fits, sum, bound])
}

/// `rotate`.
pub fn rotate(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let width = c.width();
    let (mask, zero) = (l.number(width, u64::from(width - 1)), l.number(width, 0));
    let left = l.op(Op::BitwiseAnd, c.ty, &[v[1], mask]);
    let back = l.op(Op::ISub, c.ty, &[zero, v[1]]);
    let right = l.op(Op::BitwiseAnd, c.ty, &[back, mask]);
    let high = l.op(Op::ShiftLeftLogical, c.ty, &[v[0], left]);
    let low = l.op(Op::ShiftRightLogical, c.ty, &[v[0], right]);
    l.op(Op::BitwiseOr, c.ty, &[high, low])
}

/// `upsample`.
pub fn upsample(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let half = MemoryScalar::Int(c.width() / 2);
    l.join_pieces(vec![v[1], v[0]], half, c.scalar)
}

/// `bitselect`.
pub fn bit_select(l: &mut ShaderLowering<'_>, c: ScalarBuiltinCall, v: &[Id]) -> Id {
    let bits = MemoryScalar::Int(c.width());
    let ty = l.scalar(bits);
    let v: Vec<Id> = v
        .iter()
        .map(|x| l.join_pieces(vec![*x], c.from, bits))
        .collect();
    let not = l.op(Op::Not, ty, &v[2..3]);
    let (a, b) = (
        l.op(Op::BitwiseAnd, ty, &[v[0], not]),
        l.op(Op::BitwiseAnd, ty, &v[1..3]),
    );
    let selected = l.op(Op::BitwiseOr, ty, &[a, b]);
    l.join_pieces(vec![selected], bits, c.scalar)
}

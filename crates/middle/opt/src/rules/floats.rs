//! Simplification of floating-point operations: only rules that give the same bits. The exception are subnormal
//! numbers in shaders that do not promise to preserve them.

use super::{SimplifyRule, reuse_operand};
use crate::values::{ModuleValues, SimplifyOutcome};
use spirula_scalar::FloatEncoding;
use spirula_scalar::fold::{FoldConstant, FoldType};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Inst, SpirvModule};

pub const RULES: &[(Op, SimplifyRule)] = &[
    (Op::FNegate, cancel_double_negation),
    (Op::FAdd, simplify_fadd),
    (Op::FSub, simplify_fsub),
    (Op::FMul, simplify_fmul),
    (Op::FDiv, simplify_fdiv),
    (Op::VectorTimesScalar, simplify_vector_scale),
];

fn is_float_constant(value: Option<FoldConstant>, wanted: f64) -> bool {
    let Some(FoldConstant {
        ty: FoldType::Float(format),
        bits,
    }) = value
    else {
        return false;
    };
    let known = spirula_scalar::convert::float_to_float(
        bits,
        format,
        FloatEncoding::F64,
        spirula_scalar::FloatRounding::NearestEven,
    );
    known == wanted.to_bits()
}

fn cancel_double_negation(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let inner = facts.def_of(module, module.inst(inst).id_operand(0), Op::FNegate)?;
    let value = inner.id_operand(0);
    reuse_operand(facts, module, inst, value)
}

/// `x + -0` is `x`; `x + -y` is `x - y`.
fn simplify_fadd(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    for (x, y) in [(a, b), (b, a)] {
        if is_float_constant(facts.splat_bits(module, y), -0.0) {
            return reuse_operand(facts, module, inst, x);
        }
        if let Some(negated) = facts.def_of(module, y, Op::FNegate) {
            let words = [x.word(), negated.operand_word(0)];
            return Some(facts.rewrite_inst(module, inst, Op::FSub, &words));
        }
    }
    None
}

/// `x - 0` is `x`; `x - -y` is `x + y`.
fn simplify_fsub(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    if is_float_constant(facts.splat_bits(module, b), 0.0) {
        return reuse_operand(facts, module, inst, a);
    }
    let negated = facts.def_of(module, b, Op::FNegate)?;
    let words = [a.word(), negated.operand_word(0)];
    Some(facts.rewrite_inst(module, inst, Op::FAdd, &words))
}

/// `x * 1` is `x`; `-x * -y` is `x * y`.
fn simplify_fmul(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    for (x, y) in [(a, b), (b, a)] {
        if is_float_constant(facts.splat_bits(module, y), 1.0) {
            return reuse_operand(facts, module, inst, x);
        }
    }
    let (x, y) = (
        facts.def_of(module, a, Op::FNegate)?,
        facts.def_of(module, b, Op::FNegate)?,
    );
    let words = [x.operand_word(0), y.operand_word(0)];
    Some(facts.rewrite_inst(module, inst, Op::FMul, &words))
}

/// `x / 1` is `x`; `x * f / c` is `x / (c / f)` for `f` of 1/2, 1/4, ..., which is exact.
fn simplify_fdiv(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    let divisor = facts.splat_bits(module, b);
    if is_float_constant(divisor, 1.0) {
        return reuse_operand(facts, module, inst, a);
    }
    let product = facts.def_of(module, a, Op::FMul)?;
    let (x, y) = (product.id_operand(0), product.id_operand(1));
    let (factor, other) = match [x, y].map(|id| facts.splat_bits(module, id)) {
        [Some(factor), _] => (factor, y),
        [_, Some(factor)] => (factor, x),
        _ => return None,
    };
    let (result, ty) = (i.result()?, i.result_type()?);
    let fits = facts.may_contract(a) && facts.may_contract(result);
    let bits = scale_divisor(divisor?, factor).filter(|_| fits)?;
    let lanes = facts.scalar_shape(module, ty)?.1 as usize;
    let divisor = facts.intern_lanes(module, ty, &vec![bits; lanes])?;
    let words = [other, divisor].map(Id::word);
    Some(facts.rewrite_inst(module, inst, Op::FDiv, &words))
}

/// A divisor divided by a power of two below 1, if the result is a normal number.
fn scale_divisor(divisor: FoldConstant, factor: FoldConstant) -> Option<u64> {
    let both = (divisor.ty, factor.ty);
    let (FoldType::Float(FloatEncoding::F32), FoldType::Float(FloatEncoding::F32)) = both else {
        return None;
    };
    let number = |value: FoldConstant| f32::from_bits(value.bits as u32);
    let (divisor, factor) = (number(divisor), number(factor));
    let is_power = factor.is_normal() && factor.to_bits().trailing_zeros() >= 23;
    let scaled = divisor / factor;
    let fits = is_power && factor > 0.0 && factor < 1.0 && scaled.is_normal();
    (fits && divisor.is_normal()).then(|| scaled.to_bits().into())
}

fn simplify_vector_scale(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    if is_float_constant(facts.scalar_constant_bits(module, b), 1.0) {
        return reuse_operand(facts, module, inst, a);
    }
    None
}

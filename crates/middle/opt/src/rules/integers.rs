//! Simplification of integer operations, at every width.

use super::{SimplifyRule, reuse_operand};
use crate::values::{ModuleValues, SimplifyOutcome};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Inst, SpirvModule};

pub const RULES: &[(Op, SimplifyRule)] = &[
    (Op::IAdd, move_constant_last),
    (Op::IAdd, simplify_iadd),
    (Op::IAdd, reassociate_constants),
    (Op::ISub, simplify_isub),
    (Op::IMul, move_constant_last),
    (Op::IMul, simplify_imul),
    (Op::IMul, reassociate_constants),
    (Op::UDiv, fold_zero_dividend),
    (Op::UDiv, simplify_integer_division),
    (Op::SDiv, fold_zero_dividend),
    (Op::SDiv, simplify_integer_division),
    (Op::UMod, fold_zero_dividend),
    (Op::UMod, simplify_remainder),
    (Op::SRem, fold_zero_dividend),
    (Op::SMod, fold_zero_dividend),
    (Op::BitwiseAnd, move_constant_last),
    (Op::BitwiseAnd, simplify_bitwise_and),
    (Op::BitwiseAnd, reassociate_constants),
    (Op::BitwiseOr, move_constant_last),
    (Op::BitwiseOr, simplify_bitwise_or),
    (Op::BitwiseOr, reassociate_constants),
    (Op::BitwiseXor, move_constant_last),
    (Op::BitwiseXor, simplify_bitwise_xor),
    (Op::BitwiseXor, reassociate_constants),
    (Op::ShiftLeftLogical, simplify_shift),
    (Op::ShiftRightLogical, simplify_shift),
    (Op::ShiftRightArithmetic, simplify_shift),
    (Op::Not, cancel_involution),
    (Op::SNegate, cancel_involution),
];

/// Whether decorations state that the operation does not overflow; the rewritten operation might.
fn is_wrapping(facts: &ModuleValues, module: &SpirvModule, inst: Inst) -> bool {
    let result = module.inst(inst).result();
    result.and_then(|id| facts.decoration_marks(id)) == Some(0)
}

/// A value of the operand's type with all bits set.
fn all_ones_bits(facts: &ModuleValues, module: &SpirvModule, id: Id) -> Option<u64> {
    let ty = facts.type_of(module, id)?;
    let (scalar, _) = facts.scalar_shape(module, ty)?;
    Some(u64::MAX >> (64 - scalar.width()))
}

/// The zero of the type of an instruction.
fn fold_to_zero(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let ty = module.inst(inst).result_type()?;
    facts
        .intern_lanes(module, ty, &[0])
        .map(SimplifyOutcome::Value)
}

/// `c + x` is `x + c`.
fn move_constant_last(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    if facts.is_constant(module, a) && !facts.is_constant(module, b) {
        let op = i.op();
        return Some(facts.rewrite_inst(module, inst, op, &[b.word(), a.word()]));
    }
    None
}

fn simplify_iadd(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    if facts.splat_bits(module, b).is_some_and(|v| v.bits == 0) {
        return reuse_operand(facts, module, inst, a);
    }
    // (x - b) + b, a + (y - a), a + -b
    for (one, other) in [(a, b), (b, a)] {
        if let Some(sub) = facts.def_of(module, one, Op::ISub)
            && sub.id_operand(1) == other
        {
            let value = sub.id_operand(0);
            return reuse_operand(facts, module, inst, value);
        }
        if let Some(negated) = facts.def_of(module, one, Op::SNegate) {
            let value = negated.id_operand(0);
            if is_wrapping(facts, module, inst) {
                let words = [other.word(), value.word()];
                return Some(facts.rewrite_inst(module, inst, Op::ISub, &words));
            }
        }
    }
    None
}

/// `(x op c) op d` is `x op (c op d)`.
fn reassociate_constants(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let op = i.op();
    let (a, outer, ty) = (i.id_operand(0), i.id_operand(1), i.result_type()?);
    if !facts.is_constant(module, outer) || !is_wrapping(facts, module, inst) {
        return None;
    }
    let inner = facts.def_of(module, a, op)?;
    let (x, c) = (inner.id_operand(0), inner.id_operand(1));
    if !facts.is_constant(module, c) {
        return None;
    }
    let (mut left, mut right) = (Vec::new(), Vec::new());
    facts.read_constant_lanes(module, c, &mut left)?;
    facts.read_constant_lanes(module, outer, &mut right)?;
    let (scalar, _) = facts.scalar_shape(module, ty)?;
    let mut joined = Vec::with_capacity(left.len());
    for (l, r) in left.iter().zip(&right) {
        joined.push(spirula_scalar::fold::eval_core(
            op.0.into(),
            scalar,
            &[*l, *r],
        )?);
    }
    let constant = facts.intern_lanes(module, ty, &joined)?;
    Some(facts.rewrite_inst(module, inst, op, &[x.word(), constant.word()]))
}

fn simplify_isub(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b, ty) = (i.id_operand(0), i.id_operand(1), i.result_type()?);
    if a == b {
        return fold_to_zero(facts, module, inst);
    }
    if let Some(value) = facts.splat_bits(module, b) {
        if value.bits == 0 {
            return reuse_operand(facts, module, inst, a);
        }
        if is_wrapping(facts, module, inst) {
            let ones = all_ones_bits(facts, module, b)?;
            let negated = facts.intern_lanes(module, ty, &[value.bits.wrapping_neg() & ones])?;
            return Some(facts.rewrite_inst(module, inst, Op::IAdd, &[a.word(), negated.word()]));
        }
    }
    // (x + b) - b, (b + x) - b, a - (a - x)
    if let Some(sum) = facts.def_of(module, a, Op::IAdd) {
        for (one, other) in [
            (sum.id_operand(0), sum.id_operand(1)),
            (sum.id_operand(1), sum.id_operand(0)),
        ] {
            if one == b {
                return reuse_operand(facts, module, inst, other);
            }
        }
    }
    if let Some(sub) = facts.def_of(module, b, Op::ISub)
        && sub.id_operand(0) == a
    {
        let value = sub.id_operand(1);
        return reuse_operand(facts, module, inst, value);
    }
    None
}

fn simplify_imul(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    let value = facts.splat_bits(module, b)?.bits;
    match value {
        0 => fold_to_zero(facts, module, inst),
        1 => reuse_operand(facts, module, inst, a),
        _ => None,
    }
}

/// Zero divided by any number; division by zero is undefined.
fn fold_zero_dividend(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let divided = facts.splat_bits(module, module.inst(inst).id_operand(0))?;
    (divided.bits == 0)
        .then(|| fold_to_zero(facts, module, inst))
        .flatten()
}

fn simplify_integer_division(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b, op) = (i.id_operand(0), i.id_operand(1), i.op());
    let ty = facts.type_of(module, b)?;
    let value = facts.splat_bits(module, b)?.bits;
    if value == 1 {
        return reuse_operand(facts, module, inst, a);
    }
    if op == Op::UDiv && value.is_power_of_two() {
        let by = facts.intern_lanes(module, ty, &[u64::from(value.trailing_zeros())])?;
        let words = [a.word(), by.word()];
        return Some(facts.rewrite_inst(module, inst, Op::ShiftRightLogical, &words));
    }
    None
}

fn simplify_remainder(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    let ty = facts.type_of(module, b)?;
    let value = facts.splat_bits(module, b)?.bits;
    if value == 1 {
        return fold_to_zero(facts, module, inst);
    }
    if value.is_power_of_two() {
        let mask = facts.intern_lanes(module, ty, &[value - 1])?;
        let words = [a.word(), mask.word()];
        return Some(facts.rewrite_inst(module, inst, Op::BitwiseAnd, &words));
    }
    None
}

fn simplify_bitwise_and(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    if a == b {
        return reuse_operand(facts, module, inst, a);
    }
    let value = facts.splat_bits(module, b)?.bits;
    if value == 0 {
        return fold_to_zero(facts, module, inst);
    }
    if value == all_ones_bits(facts, module, b)? {
        return reuse_operand(facts, module, inst, a);
    }
    None
}

fn simplify_bitwise_or(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    if a == b {
        return reuse_operand(facts, module, inst, a);
    }
    let value = facts.splat_bits(module, b)?.bits;
    if value == 0 {
        return reuse_operand(facts, module, inst, a);
    }
    if value == all_ones_bits(facts, module, b)? {
        return reuse_operand(facts, module, inst, b);
    }
    None
}

fn simplify_bitwise_xor(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    if a == b {
        return fold_to_zero(facts, module, inst);
    }
    if facts.splat_bits(module, b)?.bits == 0 {
        return reuse_operand(facts, module, inst, a);
    }
    None
}

fn simplify_shift(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    if facts.splat_bits(module, b).is_some_and(|v| v.bits == 0) {
        return reuse_operand(facts, module, inst, a);
    }
    if facts.splat_bits(module, a).is_some_and(|v| v.bits == 0) {
        return reuse_operand(facts, module, inst, a);
    }
    None
}

/// An operation that is its own inverse.
fn cancel_involution(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let inner = facts.def_of(module, i.id_operand(0), i.op())?;
    let value = inner.id_operand(0);
    reuse_operand(facts, module, inst, value)
}

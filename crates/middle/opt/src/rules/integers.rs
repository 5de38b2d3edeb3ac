//! Integers, at every width.

use super::SimplifyRule;
use crate::values::{ModuleValues, SimplifyOutcome};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Inst, SpirvModule};

pub const RULES: &[(Op, SimplifyRule)] = &[
    (Op::IAdd, constant_last),
    (Op::IAdd, add),
    (Op::IAdd, chained),
    (Op::ISub, subtract),
    (Op::IMul, constant_last),
    (Op::IMul, multiply),
    (Op::IMul, chained),
    (Op::UDiv, of_nothing),
    (Op::UDiv, divide),
    (Op::SDiv, of_nothing),
    (Op::SDiv, divide),
    (Op::UMod, of_nothing),
    (Op::UMod, remainder),
    (Op::SRem, of_nothing),
    (Op::SMod, of_nothing),
    (Op::BitwiseAnd, constant_last),
    (Op::BitwiseAnd, and),
    (Op::BitwiseAnd, chained),
    (Op::BitwiseOr, constant_last),
    (Op::BitwiseOr, or),
    (Op::BitwiseOr, chained),
    (Op::BitwiseXor, constant_last),
    (Op::BitwiseXor, xor),
    (Op::BitwiseXor, chained),
    (Op::ShiftLeftLogical, shift),
    (Op::ShiftRightLogical, shift),
    (Op::ShiftRightArithmetic, shift),
    (Op::Not, twice),
    (Op::SNegate, twice),
];

/// Whether decorations say that the operation does not overflow: what it becomes might.
fn is_wrapping(facts: &ModuleValues, module: &SpirvModule, inst: Inst) -> bool {
    let result = module.inst(inst).result();
    result.and_then(|id| facts.marks(id)) == Some(0)
}

/// All bits of the type of a value.
fn ones(facts: &ModuleValues, module: &SpirvModule, id: Id) -> Option<u64> {
    let ty = facts.type_of(module, id)?;
    let (scalar, _) = facts.shape(module, ty)?;
    Some(u64::MAX >> (64 - scalar.width()))
}

/// The zero of an instruction's type.
fn zero(facts: &mut ModuleValues, module: &mut SpirvModule, inst: Inst) -> Option<SimplifyOutcome> {
    let ty = module.inst(inst).result_type()?;
    facts.numbers(module, ty, &[0]).map(SimplifyOutcome::Value)
}

/// A value of the operand in the type of the result, which may differ in sign.
fn same(facts: &ModuleValues, module: &SpirvModule, inst: Inst, id: Id) -> Option<SimplifyOutcome> {
    (facts.type_of(module, id) == module.inst(inst).result_type())
        .then_some(SimplifyOutcome::Value(id))
}

/// `c + x` is `x + c`.
fn constant_last(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    if facts.is_constant(module, a) && !facts.is_constant(module, b) {
        let op = i.op();
        return Some(facts.become_(module, inst, op, &[b.word(), a.word()]));
    }
    None
}

fn add(facts: &mut ModuleValues, module: &mut SpirvModule, inst: Inst) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    if facts.splat(module, b).is_some_and(|v| v.bits == 0) {
        return same(facts, module, inst, a);
    }
    // (x - b) + b, a + (y - a), a + -b
    for (one, other) in [(a, b), (b, a)] {
        if let Some(sub) = facts.def_of(module, one, Op::ISub)
            && sub.id_operand(1) == other
        {
            let value = sub.id_operand(0);
            return same(facts, module, inst, value);
        }
        if let Some(negated) = facts.def_of(module, one, Op::SNegate) {
            let value = negated.id_operand(0);
            if is_wrapping(facts, module, inst) {
                let words = [other.word(), value.word()];
                return Some(facts.become_(module, inst, Op::ISub, &words));
            }
        }
    }
    None
}

/// `(x op c) op d` is `x op (c op d)`.
fn chained(
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
    facts.lanes(module, c, &mut left)?;
    facts.lanes(module, outer, &mut right)?;
    let (scalar, _) = facts.shape(module, ty)?;
    let mut joined = Vec::with_capacity(left.len());
    for (l, r) in left.iter().zip(&right) {
        joined.push(spirula_scalar::fold::eval_core(
            op.0.into(),
            scalar,
            &[*l, *r],
        )?);
    }
    let constant = facts.numbers(module, ty, &joined)?;
    Some(facts.become_(module, inst, op, &[x.word(), constant.word()]))
}

fn subtract(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b, ty) = (i.id_operand(0), i.id_operand(1), i.result_type()?);
    if a == b {
        return zero(facts, module, inst);
    }
    if let Some(value) = facts.splat(module, b) {
        if value.bits == 0 {
            return same(facts, module, inst, a);
        }
        if is_wrapping(facts, module, inst) {
            let ones = ones(facts, module, b)?;
            let negated = facts.numbers(module, ty, &[value.bits.wrapping_neg() & ones])?;
            return Some(facts.become_(module, inst, Op::IAdd, &[a.word(), negated.word()]));
        }
    }
    // (x + b) - b, (b + x) - b, a - (a - x)
    if let Some(sum) = facts.def_of(module, a, Op::IAdd) {
        for (one, other) in [
            (sum.id_operand(0), sum.id_operand(1)),
            (sum.id_operand(1), sum.id_operand(0)),
        ] {
            if one == b {
                return same(facts, module, inst, other);
            }
        }
    }
    if let Some(sub) = facts.def_of(module, b, Op::ISub)
        && sub.id_operand(0) == a
    {
        let value = sub.id_operand(1);
        return same(facts, module, inst, value);
    }
    None
}

fn multiply(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    let value = facts.splat(module, b)?.bits;
    match value {
        0 => zero(facts, module, inst),
        1 => same(facts, module, inst, a),
        _ => None,
    }
}

/// Zero divided by anything: to divide by zero is undefined.
fn of_nothing(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let divided = facts.splat(module, module.inst(inst).id_operand(0))?;
    (divided.bits == 0)
        .then(|| zero(facts, module, inst))
        .flatten()
}

fn divide(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b, op) = (i.id_operand(0), i.id_operand(1), i.op());
    let ty = facts.type_of(module, b)?;
    let value = facts.splat(module, b)?.bits;
    if value == 1 {
        return same(facts, module, inst, a);
    }
    if op == Op::UDiv && value.is_power_of_two() {
        let by = facts.numbers(module, ty, &[u64::from(value.trailing_zeros())])?;
        let words = [a.word(), by.word()];
        return Some(facts.become_(module, inst, Op::ShiftRightLogical, &words));
    }
    None
}

fn remainder(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    let ty = facts.type_of(module, b)?;
    let value = facts.splat(module, b)?.bits;
    if value == 1 {
        return zero(facts, module, inst);
    }
    if value.is_power_of_two() {
        let mask = facts.numbers(module, ty, &[value - 1])?;
        let words = [a.word(), mask.word()];
        return Some(facts.become_(module, inst, Op::BitwiseAnd, &words));
    }
    None
}

fn and(facts: &mut ModuleValues, module: &mut SpirvModule, inst: Inst) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    if a == b {
        return same(facts, module, inst, a);
    }
    let value = facts.splat(module, b)?.bits;
    if value == 0 {
        return zero(facts, module, inst);
    }
    if value == ones(facts, module, b)? {
        return same(facts, module, inst, a);
    }
    None
}

fn or(facts: &mut ModuleValues, module: &mut SpirvModule, inst: Inst) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    if a == b {
        return same(facts, module, inst, a);
    }
    let value = facts.splat(module, b)?.bits;
    if value == 0 {
        return same(facts, module, inst, a);
    }
    if value == ones(facts, module, b)? {
        return same(facts, module, inst, b);
    }
    None
}

fn xor(facts: &mut ModuleValues, module: &mut SpirvModule, inst: Inst) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    if a == b {
        return zero(facts, module, inst);
    }
    if facts.splat(module, b)?.bits == 0 {
        return same(facts, module, inst, a);
    }
    None
}

fn shift(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    if facts.splat(module, b).is_some_and(|v| v.bits == 0) {
        return same(facts, module, inst, a);
    }
    if facts.splat(module, a).is_some_and(|v| v.bits == 0) {
        return same(facts, module, inst, a);
    }
    None
}

/// An operation that undoes itself.
fn twice(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let inner = facts.def_of(module, i.id_operand(0), i.op())?;
    let value = inner.id_operand(0);
    same(facts, module, inst, value)
}

//! Booleans, selections and comparisons.

use super::SimplifyRule;
use crate::values::{ModuleValues, SimplifyOutcome};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Inst, SpirvModule};

pub const RULES: &[(Op, SimplifyRule)] = &[
    (Op::LogicalNot, not),
    (Op::LogicalAnd, and_or),
    (Op::LogicalOr, and_or),
    (Op::LogicalEqual, equal),
    (Op::LogicalNotEqual, equal),
    (Op::Select, select),
    (Op::IEqual, reflexive),
    (Op::INotEqual, reflexive),
    (Op::ULessThan, reflexive),
    (Op::ULessThan, bounds),
    (Op::ULessThanEqual, reflexive),
    (Op::UGreaterThan, reflexive),
    (Op::UGreaterThanEqual, reflexive),
    (Op::UGreaterThanEqual, bounds),
    (Op::SLessThan, reflexive),
    (Op::SLessThanEqual, reflexive),
    (Op::SGreaterThan, reflexive),
    (Op::SGreaterThanEqual, reflexive),
    (Op::IEqual, extended),
    (Op::INotEqual, extended),
    (Op::SLessThan, extended),
    (Op::SLessThanEqual, extended),
    (Op::SGreaterThan, extended),
    (Op::SGreaterThanEqual, extended),
];

/// Comparisons and what holds when they do not.
const OPPOSITES: &[(Op, Op)] = &[
    (Op::IEqual, Op::INotEqual),
    (Op::ULessThan, Op::UGreaterThanEqual),
    (Op::ULessThanEqual, Op::UGreaterThan),
    (Op::SLessThan, Op::SGreaterThanEqual),
    (Op::SLessThanEqual, Op::SGreaterThan),
    (Op::FOrdEqual, Op::FUnordNotEqual),
    (Op::FOrdNotEqual, Op::FUnordEqual),
    (Op::FOrdLessThan, Op::FUnordGreaterThanEqual),
    (Op::FOrdLessThanEqual, Op::FUnordGreaterThan),
    (Op::FOrdGreaterThan, Op::FUnordLessThanEqual),
    (Op::FOrdGreaterThanEqual, Op::FUnordLessThan),
    (Op::LogicalEqual, Op::LogicalNotEqual),
];

fn opposite(op: Op) -> Option<Op> {
    let found = OPPOSITES.iter().find(|(a, b)| *a == op || *b == op);
    found.map(|(a, b)| if *a == op { *b } else { *a })
}

fn truth(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
    value: bool,
) -> Option<SimplifyOutcome> {
    let ty = module.inst(inst).result_type()?;
    facts
        .numbers(module, ty, &[u64::from(value)])
        .map(SimplifyOutcome::Value)
}

/// Numbers that were extended with their signs are compared as they were, also with constants that fit.
fn extended(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let op = module.inst(inst).op();
    let operands = [0, 1].map(|at| module.inst(inst).id_operand(at));
    let own =
        |facts: &ModuleValues, id| Some(facts.def_of(module, id, Op::SConvert)?.id_operand(0));
    let [a, b] = operands.map(|id| own(facts, id));
    let ty = facts.type_of(module, a.or(b)?)?;
    let width = facts.scalar_type(module, ty)?.width();
    let widened = facts.type_of(module, operands[0])?;
    if width >= facts.scalar_type(module, widened)?.width() {
        return None;
    }
    let mut words = [0; 2];
    for ((own, given), word) in [a, b].into_iter().zip(operands).zip(&mut words) {
        let narrow = match own {
            Some(id) => id,
            None => {
                let bits = facts.scalar(module, given)?.bits;
                let whole = facts.scalar_type(module, widened)?.width();
                let value = ((bits << (64 - whole)) as i64) >> (64 - whole);
                let fits = value << (64 - width) >> (64 - width) == value;
                let mask = u64::MAX >> (64 - width);
                facts
                    .number(module, ty, value as u64 & mask)
                    .filter(|_| fits)?
            }
        };
        if facts.type_of(module, narrow) != Some(ty) {
            return None;
        }
        *word = narrow.word();
    }
    Some(facts.become_(module, inst, op, &words))
}

/// `!!x` is `x`; the opposite of a comparison that has no other use is the opposite comparison.
fn not(facts: &mut ModuleValues, module: &mut SpirvModule, inst: Inst) -> Option<SimplifyOutcome> {
    let operand = module.inst(inst).id_operand(0);
    let inner = facts.def(module, operand)?;
    if inner.op() == Op::LogicalNot {
        return Some(SimplifyOutcome::Value(inner.id_operand(0)));
    }
    let op = opposite(inner.op())?;
    let words = inner.operands().to_vec();
    (facts.uses(operand) == 1).then(|| facts.become_(module, inst, op, &words))
}

fn and_or(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    // The operand that the other one does not change anything about.
    let neutral = u64::from(i.op() == Op::LogicalAnd);
    if a == b {
        return Some(SimplifyOutcome::Value(a));
    }
    for (x, y) in [(a, b), (b, a)] {
        if let Some(value) = facts.splat(module, y) {
            return Some(SimplifyOutcome::Value(if value.bits == neutral {
                x
            } else {
                y
            }));
        }
        if let Some(negated) = facts.def_of(module, y, Op::LogicalNot)
            && negated.id_operand(0) == x
        {
            return truth(facts, module, inst, neutral == 0);
        }
    }
    None
}

fn equal(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    let wanted = u64::from(i.op() == Op::LogicalEqual);
    if a == b {
        return truth(facts, module, inst, wanted == 1);
    }
    for (x, y) in [(a, b), (b, a)] {
        if let Some(value) = facts.splat(module, y) {
            if value.bits == wanted {
                return Some(SimplifyOutcome::Value(x));
            }
            return Some(facts.become_(module, inst, Op::LogicalNot, &[x.word()]));
        }
    }
    None
}

fn select(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (c, a, b, ty) = (
        i.id_operand(0),
        i.id_operand(1),
        i.id_operand(2),
        i.result_type()?,
    );
    if a == b {
        return Some(SimplifyOutcome::Value(a));
    }
    if let Some(value) = facts.splat(module, c) {
        return Some(SimplifyOutcome::Value(if value.bits != 0 { a } else { b }));
    }
    if let Some(negated) = facts.def_of(module, c, Op::LogicalNot) {
        let words = [negated.operand_word(0), b.word(), a.word()];
        return Some(facts.become_(module, inst, Op::Select, &words));
    }
    // A choice of yes and no is the condition.
    if facts.type_of(module, c) == Some(ty) {
        let values = (facts.splat(module, a), facts.splat(module, b));
        let bits = |v: Option<spirula_scalar::fold::FoldConstant>| v.map(|v| v.bits);
        return match (bits(values.0), bits(values.1)) {
            (Some(1), Some(0)) => Some(SimplifyOutcome::Value(c)),
            (Some(0), Some(1)) => Some(facts.become_(module, inst, Op::LogicalNot, &[c.word()])),
            (Some(1), None) => {
                let words = [c.word(), b.word()];
                Some(facts.become_(module, inst, Op::LogicalOr, &words))
            }
            (None, Some(0)) => {
                let words = [c.word(), a.word()];
                Some(facts.become_(module, inst, Op::LogicalAnd, &words))
            }
            _ => None,
        };
    }
    None
}

/// A number compared with itself.
fn reflexive(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let holds = matches!(
        i.op(),
        Op::IEqual
            | Op::ULessThanEqual
            | Op::UGreaterThanEqual
            | Op::SLessThanEqual
            | Op::SGreaterThanEqual
    );
    let same = i.id_operand(0) == i.id_operand(1);
    same.then(|| truth(facts, module, inst, holds)).flatten()
}

/// Nothing is below zero, everything is at or above it.
fn bounds(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (b, holds) = (i.id_operand(1), i.op() == Op::UGreaterThanEqual);
    let zero = facts.splat(module, b)?.bits == 0;
    zero.then(|| truth(facts, module, inst, holds)).flatten()
}

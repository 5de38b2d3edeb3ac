//! Simplification of Boolean operations, selections and comparisons.

use super::SimplifyRule;
use crate::values::{ModuleValues, SimplifyOutcome};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Inst, SpirvModule};

pub const RULES: &[(Op, SimplifyRule)] = &[
    (Op::LogicalNot, simplify_logical_not),
    (Op::LogicalAnd, and_or),
    (Op::LogicalOr, and_or),
    (Op::LogicalEqual, simplify_logical_equal),
    (Op::LogicalNotEqual, simplify_logical_equal),
    (Op::Select, simplify_select),
    (Op::IEqual, fold_self_comparison),
    (Op::INotEqual, fold_self_comparison),
    (Op::ULessThan, fold_self_comparison),
    (Op::ULessThan, fold_unsigned_bounds),
    (Op::ULessThanEqual, fold_self_comparison),
    (Op::UGreaterThan, fold_self_comparison),
    (Op::UGreaterThanEqual, fold_self_comparison),
    (Op::UGreaterThanEqual, fold_unsigned_bounds),
    (Op::SLessThan, fold_self_comparison),
    (Op::SLessThanEqual, fold_self_comparison),
    (Op::SGreaterThan, fold_self_comparison),
    (Op::SGreaterThanEqual, fold_self_comparison),
    (Op::IEqual, simplify_extended_comparison),
    (Op::INotEqual, simplify_extended_comparison),
    (Op::SLessThan, simplify_extended_comparison),
    (Op::SLessThanEqual, simplify_extended_comparison),
    (Op::SGreaterThan, simplify_extended_comparison),
    (Op::SGreaterThanEqual, simplify_extended_comparison),
];

/// Comparisons and their negations.
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

fn opposite_comparison(op: Op) -> Option<Op> {
    let found = OPPOSITES.iter().find(|(a, b)| *a == op || *b == op);
    found.map(|(a, b)| if *a == op { *b } else { *a })
}

fn fold_to_truth(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
    value: bool,
) -> Option<SimplifyOutcome> {
    let ty = module.inst(inst).result_type()?;
    facts
        .intern_lanes(module, ty, &[u64::from(value)])
        .map(SimplifyOutcome::Value)
}

/// A comparison of sign-extended numbers is one of the original numbers, also with constants that fit.
fn simplify_extended_comparison(
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
                let bits = facts.scalar_constant_bits(module, given)?.bits;
                let whole = facts.scalar_type(module, widened)?.width();
                let value = ((bits << (64 - whole)) as i64) >> (64 - whole);
                let fits = value << (64 - width) >> (64 - width) == value;
                let mask = u64::MAX >> (64 - width);
                facts
                    .intern_scalar(module, ty, value as u64 & mask)
                    .filter(|_| fits)?
            }
        };
        if facts.type_of(module, narrow) != Some(ty) {
            return None;
        }
        *word = narrow.word();
    }
    Some(facts.rewrite_inst(module, inst, op, &words))
}

/// `!!x` is `x`. The negation of a comparison without other uses is the opposite comparison.
fn simplify_logical_not(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let operand = module.inst(inst).id_operand(0);
    let inner = facts.definition(module, operand)?;
    if inner.op() == Op::LogicalNot {
        return Some(SimplifyOutcome::Value(inner.id_operand(0)));
    }
    let op = opposite_comparison(inner.op())?;
    let words = inner.operands().to_vec();
    (facts.use_count(operand) == 1).then(|| facts.rewrite_inst(module, inst, op, &words))
}

fn and_or(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    // The operand that is the neutral element.
    let neutral = u64::from(i.op() == Op::LogicalAnd);
    if a == b {
        return Some(SimplifyOutcome::Value(a));
    }
    for (x, y) in [(a, b), (b, a)] {
        if let Some(value) = facts.splat_bits(module, y) {
            return Some(SimplifyOutcome::Value(if value.bits == neutral {
                x
            } else {
                y
            }));
        }
        if let Some(negated) = facts.def_of(module, y, Op::LogicalNot)
            && negated.id_operand(0) == x
        {
            return fold_to_truth(facts, module, inst, neutral == 0);
        }
    }
    None
}

fn simplify_logical_equal(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    let wanted = u64::from(i.op() == Op::LogicalEqual);
    if a == b {
        return fold_to_truth(facts, module, inst, wanted == 1);
    }
    for (x, y) in [(a, b), (b, a)] {
        if let Some(value) = facts.splat_bits(module, y) {
            if value.bits == wanted {
                return Some(SimplifyOutcome::Value(x));
            }
            return Some(facts.rewrite_inst(module, inst, Op::LogicalNot, &[x.word()]));
        }
    }
    None
}

fn simplify_select(
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
    if let Some(value) = facts.splat_bits(module, c) {
        return Some(SimplifyOutcome::Value(if value.bits != 0 { a } else { b }));
    }
    if let Some(negated) = facts.def_of(module, c, Op::LogicalNot) {
        let words = [negated.operand_word(0), b.word(), a.word()];
        return Some(facts.rewrite_inst(module, inst, Op::Select, &words));
    }
    // A selection of true and false is the condition.
    if facts.type_of(module, c) == Some(ty) {
        let values = (facts.splat_bits(module, a), facts.splat_bits(module, b));
        let bits = |v: Option<spirula_scalar::fold::FoldConstant>| v.map(|v| v.bits);
        return match (bits(values.0), bits(values.1)) {
            (Some(1), Some(0)) => Some(SimplifyOutcome::Value(c)),
            (Some(0), Some(1)) => {
                Some(facts.rewrite_inst(module, inst, Op::LogicalNot, &[c.word()]))
            }
            (Some(1), None) => {
                let words = [c.word(), b.word()];
                Some(facts.rewrite_inst(module, inst, Op::LogicalOr, &words))
            }
            (None, Some(0)) => {
                let words = [c.word(), a.word()];
                Some(facts.rewrite_inst(module, inst, Op::LogicalAnd, &words))
            }
            _ => None,
        };
    }
    None
}

/// A comparison of a number with itself.
fn fold_self_comparison(
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
    same.then(|| fold_to_truth(facts, module, inst, holds))
        .flatten()
}

/// No unsigned number is below zero, all are at or above it.
fn fold_unsigned_bounds(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (b, holds) = (i.id_operand(1), i.op() == Op::UGreaterThanEqual);
    let zero = facts.splat_bits(module, b)?.bits == 0;
    zero.then(|| fold_to_truth(facts, module, inst, holds))
        .flatten()
}

//! Simplification of copies and conversions.

use super::SimplifyRule;
use crate::values::{ModuleValues, SimplifyOutcome};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Inst, SpirvModule};

pub const RULES: &[(Op, SimplifyRule)] = &[
    (Op::CopyObject, simplify_copy),
    (Op::CopyLogical, to_same_type),
    (Op::Bitcast, to_same_type),
    (Op::Bitcast, merge_conversions),
    (Op::UConvert, to_same_type),
    (Op::SConvert, to_same_type),
    (Op::FConvert, to_same_type),
    (Op::FConvert, cancel_float_round_trip),
    (Op::UConvert, merge_conversions),
    (Op::SConvert, merge_conversions),
    (Op::UConvert, simplify_integer_truncation),
    (Op::SConvert, simplify_integer_truncation),
];

fn simplify_copy(
    _facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    Some(SimplifyOutcome::Value(module.inst(inst).id_operand(0)))
}

fn to_same_type(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let operand = i.id_operand(0);
    (facts.type_of(module, operand) == i.result_type()).then_some(SimplifyOutcome::Value(operand))
}

/// Two conversions of the same kind are one: bitcasts, or conversions to ever wider or ever narrower numbers.
fn merge_conversions(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let op = i.op();
    let inner = facts.def_of(module, i.id_operand(0), op)?;
    let value = inner.id_operand(0);
    if op != Op::Bitcast {
        let width = |facts: &ModuleValues, ty| Some(facts.scalar_shape(module, ty)?.0.width());
        let from = width(facts, facts.type_of(module, value)?)?;
        let through = width(facts, inner.result_type()?)?;
        let to = width(facts, i.result_type()?)?;
        let monotonous = from <= through && through <= to || from >= through && through >= to;
        if !monotonous || from == to {
            return None;
        }
    }
    Some(facts.rewrite_inst(module, inst, op, &[value.word()]))
}

/// An integer that was extended and is truncated to its former width or less.
fn simplify_integer_truncation(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    // Both conversions truncate alike; only OpSConvert has signed results.
    let (op, to) = (i.op(), i.result_type()?);
    let inner = facts.definition(module, i.id_operand(0))?;
    let is_widened = matches!(inner.op(), Op::UConvert | Op::SConvert);
    let value = inner.get_id(0).filter(|_| is_widened)?;
    let from = facts.type_of(module, value)?;
    let width = |ty| Some(facts.scalar_shape(module, ty)?.0.width());
    let (whole, through, left) = (width(from)?, width(inner.result_type()?)?, width(to)?);
    if whole > through || left > whole {
        return None;
    }
    match (from == to, left < whole) {
        (true, _) => Some(SimplifyOutcome::Value(value)),
        (_, true) => Some(facts.rewrite_inst(module, inst, op, &[value.word()])),
        _ => None,
    }
}

/// A number that was extended and is converted back.
fn cancel_float_round_trip(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let ty = i.result_type()?;
    let inner = facts.def_of(module, i.id_operand(0), Op::FConvert)?;
    let value = inner.id_operand(0);
    let through = facts.scalar_shape(module, inner.result_type()?)?.0.width();
    let wider = through > facts.scalar_shape(module, ty)?.0.width();
    (wider && facts.type_of(module, value) == Some(ty)).then_some(SimplifyOutcome::Value(value))
}

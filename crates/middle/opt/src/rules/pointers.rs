//! Simplification of access chains.

use super::SimplifyRule;
use crate::values::{ModuleValues, SimplifyOutcome};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Inst, SpirvModule};

pub const RULES: &[(Op, SimplifyRule)] = &[
    (Op::AccessChain, simplify_empty_chain),
    (Op::InBoundsAccessChain, simplify_empty_chain),
    (Op::AccessChain, merge_chains),
    (Op::InBoundsAccessChain, merge_chains),
    (Op::PtrAccessChain, drop_zero_element),
    (Op::InBoundsPtrAccessChain, drop_zero_element),
];

/// An access chain without indices is its base.
fn simplify_empty_chain(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let base = i.id_operand(0);
    let same = facts.type_of(module, base) == i.result_type();
    (i.operands().len() == 1 && same).then_some(SimplifyOutcome::Value(base))
}

/// An access chain on an access chain is a single one, if the module does not grow.
fn merge_chains(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let base = i.id_operand(0);
    let inner = facts.definition(module, base)?;
    let inner_form = inner.op().access_chain_form()?;
    let through = inner.operands().len();
    if inner_form.is_untyped || facts.use_count(base) as usize * (through - 1) >= through + 3 {
        return None;
    }
    let is_inbounds = inner_form.is_inbounds && i.op().is_inbounds_access_chain();
    let joined = inner_form.with_inbounds(is_inbounds).opcode();
    let id = i.result()?;
    if facts.decoration_marks(base).is_none() || facts.decoration_marks(id).is_none() {
        return None;
    }
    let words: Vec<u32> = inner
        .operands()
        .iter()
        .chain(&i.operands()[1..])
        .copied()
        .collect();
    Some(facts.rewrite_inst(module, inst, joined, &words))
}

/// An element index of zero is dropped.
fn drop_zero_element(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (form, base) = (i.op().access_chain_form()?, i.id_operand(0));
    let element = facts.scalar_constant_bits(module, i.id_operand(1))?;
    if element.bits != 0 {
        return None;
    }
    if i.operands().len() == 2 {
        return (facts.type_of(module, base) == i.result_type())
            .then_some(SimplifyOutcome::Value(base));
    }
    let words: Vec<u32> = [&i.operands()[..1], &i.operands()[2..]].concat();
    let op = form.with_element(false).opcode();
    Some(facts.rewrite_inst(module, inst, op, &words))
}

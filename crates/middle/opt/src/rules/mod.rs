//! Simplification rules of single instructions: a table from opcodes to rules, one file for each kind.
//!
//! A rule looks at an instruction and the definitions of its operands. It returns the value that the result equals,
//! or rewrites the instruction to a simpler one. It adds at most one instruction. Rules on floating-point numbers
//! give the same bits for every operand, infinities and zeros of either sign included. The identities are those of
//! Warren, "Hacker's Delight", 2012, chapter 2, and of the specification's descriptions of composites.

mod composites;
mod conversions;
mod floats;
mod integers;
mod logic;
mod pointers;

use crate::values::{ModuleValues, SimplifyOutcome};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Inst, SpirvModule};
use std::sync::OnceLock;

/// Simplifies an instruction if it can.
pub type SimplifyRule = fn(&mut ModuleValues, &mut SpirvModule, Inst) -> Option<SimplifyOutcome>;

/// The rules of all files: an opcode and the rule that is tried, in order.
const TABLES: &[&[(Op, SimplifyRule)]] = &[
    composites::RULES,
    conversions::RULES,
    floats::RULES,
    integers::RULES,
    logic::RULES,
    pointers::RULES,
];

/// A value of the operand in the type of the result, which may have another sign.
fn reuse_operand(
    facts: &ModuleValues,
    module: &SpirvModule,
    inst: Inst,
    id: Id,
) -> Option<SimplifyOutcome> {
    (facts.type_of(module, id) == module.inst(inst).result_type())
        .then_some(SimplifyOutcome::Value(id))
}

fn rules_for_opcode(op: Op) -> &'static [SimplifyRule] {
    static BY_OPCODE: OnceLock<Vec<Vec<SimplifyRule>>> = OnceLock::new();
    let all = BY_OPCODE.get_or_init(|| {
        let mut all: Vec<Vec<SimplifyRule>> = Vec::new();
        for (op, rule) in TABLES.iter().copied().flatten() {
            let at = usize::from(op.0);
            if at >= all.len() {
                all.resize(at + 1, Vec::new());
            }
            all[at].push(*rule);
        }
        all
    });
    all.get(usize::from(op.0)).map_or(&[], |r| &r[..])
}

/// Simplifies an instruction once: folds it, or applies the first rule that matches.
pub fn simplify_inst(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let op = module.inst(inst).op();
    let result = module.inst(inst).result()?;
    if op == Op::Phi || op == Op::Load || op == Op::Variable {
        return None;
    }
    if let Some(constant) = facts.fold_inst(module, inst) {
        return Some(SimplifyOutcome::Value(constant));
    }
    let rules = rules_for_opcode(op);
    if facts.decoration_marks(result).is_none() || facts.is_non_uniform(result) {
        return None;
    }
    let ruled = rules.iter().find_map(|rule| rule(facts, module, inst));
    ruled.or_else(|| distribute_over_select(facts, module, inst))
}

/// An operation on a selection of constants is a selection of its results.
fn distribute_over_select(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let (condition, [first, second]) = facts.fold_select_operand(module, inst)?;
    if first == second {
        return Some(SimplifyOutcome::Value(first));
    }
    let words = [condition, first, second].map(Id::word);
    Some(facts.rewrite_inst(module, inst, Op::Select, &words))
}

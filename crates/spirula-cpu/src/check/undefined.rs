//! Which values may be undefined, as something of them comes from `OpUndef`.
//!
//! Only what is computed within a function is followed: what goes through memory or calls counts as defined, so
//! that nothing is told that may be meant so. Cost: linear in the instructions of modules that have `OpUndef` at
//! all, nothing otherwise.

use crate::program::Program;
use crate::promote::{MAX_SCALARS, operand_ids};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::Section;
use spirula_spirv::{Id, IdMap};

/// How the components of a result follow from those of the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// `OpUndef`.
    Nothing,
    /// What is assigned where blocks are left.
    Phi,
    /// Components go from place to place.
    Moved,
    /// One operand or another, by the first.
    Chosen,
    /// Zeros of one side make the result known, whatever the other is.
    Masked,
    /// Ones of one side do.
    Filled,
    /// Each from those at the same place.
    Each,
    /// From all components.
    All,
}

/// What an instruction does with undefined operands; none where its result counts as defined.
pub(crate) fn flow(op: Op) -> Option<Flow> {
    Some(match op {
        Op::Undef => Flow::Nothing,
        Op::Phi => Flow::Phi,
        Op::CompositeConstruct
        | Op::CompositeExtract
        | Op::CompositeInsert
        | Op::VectorShuffle
        | Op::CopyLogical => Flow::Moved,
        Op::Select => Flow::Chosen,
        Op::LogicalAnd | Op::BitwiseAnd | Op::IMul => Flow::Masked,
        Op::LogicalOr | Op::BitwiseOr => Flow::Filled,
        Op::Dot | Op::Any | Op::All => Flow::All,
        // Conversions; arithmetic but for matrices; comparisons; operations on bits.
        Op(109..=116 | 126..=141 | 156..=168 | 170..=191 | 194..=205) => Flow::Each,
        _ => return None,
    })
}

/// By value: whether it may be undefined. None where the module has nothing that is.
pub(crate) fn undefined_values(program: &Program<'_>) -> Option<IdMap<bool>> {
    let module = program.module;
    let mut found = IdMap::new(module.bound(), false);
    let mut pending: Vec<Id> = Vec::new();
    for inst in module.section(Section::Globals) {
        let is_one = inst.op() == Op::Undef
            || (inst.op() == Op::ConstantComposite && inst.ids(0).any(|id| found[id]));
        if let Some(id) = inst.result().filter(|_| is_one) {
            found.set(id, true);
            pending.push(id);
        }
    }
    let insts = || {
        let functions = program.functions.bottom_up.iter();
        functions.flat_map(|func| module.function_insts(*func))
    };
    let undefined = insts().filter(|inst| inst.op() == Op::Undef);
    for id in undefined.filter_map(|inst| inst.result()) {
        found.set(id, true);
        pending.push(id);
    }
    if pending.is_empty() {
        return None;
    }
    let mut uses: Vec<(Id, Id)> = Vec::new();
    for inst in insts().filter(|inst| flow(inst.op()).is_some()) {
        let is_small = |ty: &Id| program.types.scalars(*ty) <= MAX_SCALARS;
        if let (Some(id), true) = (
            inst.result(),
            inst.result_type().as_ref().is_some_and(is_small),
        ) {
            uses.extend(operand_ids(inst).map(|operand| (operand, id)));
        }
    }
    uses.sort_unstable();
    while let Some(id) = pending.pop() {
        let first = uses.partition_point(|(operand, _)| *operand < id);
        for (_, user) in uses[first..]
            .iter()
            .take_while(|(operand, _)| *operand == id)
        {
            if !found[*user] {
                found.set(*user, true);
                pending.push(*user);
            }
        }
    }
    Some(found)
}

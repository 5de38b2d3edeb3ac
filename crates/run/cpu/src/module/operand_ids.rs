//! Operand ids: the ids that an instruction uses.

use spirula_spirv::Id;
use spirula_spirv::grammar::{Op, OperandCategory};
use spirula_spirv::ir::InstRef;

/// The ids among an instruction's operands. The labels of the cases of an `OpSwitch` are left out.
pub(crate) fn operand_ids(inst: InstRef<'_>) -> impl Iterator<Item = Id> + '_ {
    let typed = inst.result_type().is_some();
    // Each label of a case follows a literal, whose width the grammar does not know.
    let most = if inst.op() == Op::Switch {
        2
    } else {
        usize::MAX
    };
    inst.parse_operands()
        .filter_map(Result::ok)
        .filter(|o| o.kind.info().category == OperandCategory::Id)
        .skip(usize::from(typed) + usize::from(inst.result().is_some()))
        .take(most)
        .filter_map(|o| Id::new(o.words[0]))
}

//! Debug information of promoted variables: declarations become value records.

use super::VariablePromoter;
use crate::Id;
use crate::grammar::Op;
use crate::ir::{Inst, SpirvModule};

/// Inserts a `DebugValue` before `at` that replaces a `DebugDeclare`, for a value. Other declarations have no
/// counterpart.
pub(super) fn insert_debug_value(
    promoter: &VariablePromoter,
    module: &mut SpirvModule,
    declaration: Inst,
    value: Id,
    at: Inst,
) -> Option<()> {
    let inst = module.inst(declaration);
    let set = promoter.ids.ext_inst_set(inst)?;
    let number = set.instruction_by_name("DebugValue")?.number;
    let declares = set.instruction_by_name("DebugDeclare")?.number;
    let mut words = inst.words().to_vec();
    if words.len() < 7 || words[3] != declares {
        return None;
    }
    words[1] = module.fresh_id().word();
    words[3] = number;
    words[5] = value.word();
    let record = module.create_inst(Op::ExtInst, &words);
    module.insert_before(at, record);
    Some(())
}
